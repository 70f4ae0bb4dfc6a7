//! Outputs of every kind: pipes, closed and full streams, files with hard names. What cannot be delivered is an error, and nothing
//! unfinished is left behind.

use std::{
    ffi::OsStr,
    fs::{self, OpenOptions},
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    process::{Command, Stdio},
};

use crate::common::{Dir, Run, finish, ignores, is_writing, signal, wait_until};

/// Runs the program in a shell, which applies `redirection`.
fn redirected(dir: &Dir, redirection: &str, args: &[&str]) -> Run {
    shell(dir, &format!("exec \"$0\" \"$@\" {redirection}"), args)
}

/// Runs a script for the shell, to which the program is `$0`.
fn shell(dir: &Dir, script: &str, args: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_warpmp")]).args(args);
    command.current_dir(dir.path(".")).env_remove("WARPMP_LOG").env("XDG_CONFIG_HOME", dir.path("config"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

#[test]
fn a_descriptor_of_a_pipe_is_an_output() {
    let dir = Dir::new();
    dir.write("a", "7\n");
    let run = redirected(&dir, "3>&1 >/dev/null", &["sqr", "a", "--device", "cpu", "-q", "-o", "/dev/fd/3"]);
    assert_eq!(run.ok(), "49\n");
    // A file that has lost its name.
    let script = "exec 3<>gone 4<gone; rm gone; \"$0\" sqr a --device cpu -q -o /dev/fd/3 && cat <&4";
    assert_eq!(shell(&dir, script, &[]).ok(), "49\n");
}

#[test]
fn one_file_is_not_both_ends() {
    let dir = Dir::new();
    let numbers = "7\n".repeat(1000);
    dir.write("a", &numbers);
    for command in ["sqr", "is-prime", "batch-gcd"] {
        let run = redirected(&dir, "<a >>a", &[command, "-", "--device", "cpu", "-q"]);
        run.fails(2, &["standard input and standard output are the same file"]);
        let run = redirected(&dir, "<a", &[command, "-", "--device", "cpu", "-q", "-o", "a"]);
        run.fails(2, &["a is both input and output"]);
    }
    assert_eq!(dir.text("a"), numbers);
}

#[test]
fn a_closed_standard_output_is_an_error() {
    let dir = Dir::new();
    dir.write("a", "7\n");
    for args in [
        &["sqr", "a", "--device", "cpu"][..],
        &["sqr", "a", "--device", "cpu", "-o", "/dev/stdout"],
        &["gen", "--bits", "64", "--count", "3"],
        &["sqr", "a", "--device", "cpu", "-o", "out", "--json"],
        &["collatz", "trace", "27"],
        &["devices"],
        &["help"],
        &["sqr", "--help"],
        &["--version"],
    ] {
        redirected(&dir, ">&-", args).fails(1, &["closed"]);
    }
    // Years of work do not begin.
    for args in [
        "ecdlp solve --curve eccp-131 --device cpu",
        "ecdlp solve --curve eccp-131 --device cpu -o search",
        "collatz records --kind delay --below 2^70 --device cpu",
        "bench mul --bits 65536 --count 2^20 --runs 1000 --device cpu",
        "bench collatz --count 2^60 --device cpu",
    ] {
        redirected(&dir, ">&-", &args.split(' ').collect::<Vec<_>>()).fails(1, &["closed"]);
    }
    // What does not need it is done.
    redirected(&dir, ">&-", &["sqr", "a", "--device", "cpu", "-q", "-o", "new"]).ok();
    assert_eq!(dir.text("new"), "49\n");
    // Who wants no output gets none.
    redirected(&dir, "<>/dev/null >&0", &["sqr", "a", "--device", "cpu", "-q"]).ok();
}

#[test]
fn a_full_device_is_an_error() {
    let dir = Dir::new();
    for args in
        [&["help"][..], &["--version"], &["sqr", "--help"], &["devices"], &["gen", "--bits", "64", "--count", "3"]]
    {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        finish(dir.command(args).stdout(full).spawn().unwrap()).fails(1, &["standard output: No space left"]);
    }
}

/// However the program ends, no unfinished file is left.
#[test]
fn every_end_leaves_nothing() {
    for name in ["-QUIT", "-XCPU", "-KILL"] {
        if ignores(name) {
            println!("skipped: {name} is ignored");
            continue;
        }
        let dir = Dir::new();
        if name == "-KILL" && !has_unnamed_files(&dir) {
            println!("skipped: files of this file system have names");
            continue;
        }
        dir.write("out", "older");
        let mut child = dir.command(&["gen", "--bits", "65536", "--count", "1000000000", "-o", "out"]).spawn().unwrap();
        wait_until(|| is_writing(&child));
        signal(&child, name);
        if name == "-KILL" {
            child.wait().unwrap();
        } else {
            finish(child).fails(130, &["interrupted"]);
        }
        assert_eq!((dir.names(), dir.text("out")), (vec!["out".to_owned()], "older".to_owned()));
    }
}

/// Does a file under way have no name here?
fn has_unnamed_files(dir: &Dir) -> bool {
    let mut child = dir.command(&["gen", "--bits", "65536", "--count", "1000000000", "-o", "probe"]).spawn().unwrap();
    wait_until(|| is_writing(&child));
    let is_empty = dir.names().is_empty();
    child.kill().unwrap();
    child.wait().unwrap();
    for name in dir.names() {
        fs::remove_file(dir.path(&name)).unwrap();
    }
    is_empty
}

#[test]
fn names_as_long_as_a_directory_takes() {
    let dir = Dir::new();
    dir.write("a", "7\n");
    for length in [200, 244, 245, 255] {
        let name = "n".repeat(length);
        for _ in 0..2 {
            dir.run(&["sqr", "a", "--device", "cpu", "-q", "-o", &name]).ok();
            assert_eq!(dir.text(&name), "49\n");
        }
    }
    dir.run(&["sqr", "a", "--device", "cpu", "-q", "-o", &"n".repeat(256)]).fails(1, &["name too long"]);
    dir.run(&["sqr", "a", "--device", "cpu", "-q", "-o", "folder/"]).fails(1, &["folder/: there is no such directory"]);
}

#[test]
fn names_that_are_no_text() {
    let dir = Dir::new();
    let (input, output) = (OsStr::from_bytes(b"in\xff"), OsStr::from_bytes(b"out\xfe.txt"));
    fs::write(dir.path(".").join(input), "7\n").unwrap();
    let run = |args: &[&str], names: &[&OsStr]| finish(dir.command(args).args(names).spawn().unwrap());
    run(&["sqr", "--device", "cpu", "-q"], &[input, "-o".as_ref(), output]).ok();
    assert_eq!(fs::read(dir.path(".").join(output)).unwrap(), b"49\n");
    assert_eq!(run(&["is-prime", "--device", "cpu", "-q"], &[input]).ok(), "1\n");
    run(&["sqr", "--device", "cpu", "-q"], &[OsStr::from_bytes(b"none\xff")]).fails(1, &["none\u{fffd}: No such file"]);
    let folder = OsStr::from_bytes(b"camp\xff");
    run(&["collatz", "verify", "--from", "1", "--count", "1000", "--device", "cpu", "-q", "--out"], &[folder]).ok();
    run(&["collatz", "check"], &[folder]).ok();
}

#[test]
fn links_that_lead_nowhere() {
    let dir = Dir::new();
    dir.write("a", "7\n");
    symlink("two", dir.path("one")).unwrap();
    symlink("one", dir.path("two")).unwrap();
    dir.run(&["sqr", "a", "--device", "cpu", "-q", "-o", "one"]).fails(1, &["one: Too many levels of symbolic links"]);
    assert!(dir.path("one").is_symlink() && dir.path("two").is_symlink());
    // A chain: only its end is made.
    symlink("middle", dir.path("start")).unwrap();
    symlink("end", dir.path("middle")).unwrap();
    dir.run(&["sqr", "a", "--device", "cpu", "-q", "-o", "start"]).ok();
    assert!(dir.path("start").is_symlink() && dir.path("middle").is_symlink());
    assert_eq!(dir.text("end"), "49\n");
}

#[test]
fn comments_of_any_length() {
    let dir = Dir::new();
    let long = "x".repeat(3 << 20);
    dir.write("a", format!("# {long}\n7\n  #{long}\n\u{a0}\n"));
    dir.run(&["sqr", "a", "--device", "cpu", "-q"]).fails(1, &["a:4: "]);
    dir.write("a", format!("# {long}\n7\n  #{long}\n8\n#{long}"));
    assert_eq!(dir.run(&["sqr", "a", "--device", "cpu", "-q"]).ok(), "49\n64\n");
    let number = "1".repeat((1 << 22) + 1);
    dir.write("a", format!("0x{number}\n"));
    dir.run(&["sqr", "a", "--device", "cpu", "-q"]).fails(1, &["a:1: a number of "]);
}

/// A tuning table that cannot be read is none: nobody asked for it.
#[test]
fn a_configuration_that_cannot_be_read() {
    let dir = Dir::new();
    dir.write("a", "7\n").write("file", "");
    // A loop fails for every user, as a forbidden directory does for most.
    symlink("config", dir.path("config")).unwrap();
    let args = ["sqr", "a", "--device", "sim", "-q"];
    let run = dir.run(&args);
    assert_eq!(run.ok(), "49\n");
    assert!(run.stderr.contains("config/warpmp/tuning/sm_") && run.stderr.contains("shipped"), "{}", run.stderr);
    // No directory, no table.
    let path = dir.path("file");
    let run = dir.run_where("XDG_CONFIG_HOME", path.to_str().unwrap(), &args);
    assert_eq!((run.ok(), run.stderr.as_str()), ("49\n", ""));
    // One that was named is needed.
    dir.run_where("WARPMP_TUNING", path.to_str().unwrap(), &args).fails(1, &["file: not a tuning table"]);
}

/// The end of a name says whether a file is compressed. The first files are from gzip, zstd (two frames) and NumPy.
#[test]
fn compressed_files() {
    let dir = Dir::new();
    let bytes = |hex: &str| -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    };
    let fifty = "28b52ffd246445000010370a0100dfe4b01f79fcfc";
    dir.write("a.gz", bytes("1f8b080000000000020333e7b2e0020037cf65b604000000"));
    dir.write("a.zst", bytes(&format!("{fifty}28b52ffd2002110000380a")));
    dir.write("bad.zst", bytes(&fifty.replace("79fcfc", "79fcfd")));
    dir.write(
        "a.npz",
        bytes(concat!(
            "504b03042d00000008000000210081185c81ffffffffffffffff05001400612e6e70790100100090000000000000004a000000",
            "000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e536aa1aea3a09e965f54529498179f5f94920a12774bcc294e",
            "058a17672416a402f91a463a9a3a0ab50a14002e760608e080d200504b03042d0000000800000021006989f1daffffffffffff",
            "ffff05001400622e6e70790100100088000000000000004c000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5",
            "a06e536aa2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a863a0a469a3a0ab50a64032e4606",
            "0606100600504b01022d032d00000008000000210081185c814a00000090000000050000000000000000000000800100000000",
            "612e6e7079504b01022d032d0000000800000021006989f1da4c00000088000000050000000000000000000000800181000000",
            "622e6e7079504b0506000000000200020066000000040100000000",
        )),
    );
    assert_eq!(dir.mul("a.gz 1 -q").ok(), "7\n8\n");
    assert_eq!(dir.mul("a.zst 1 -q").ok(), "7\n".repeat(50) + "8\n");
    assert_eq!(
        dir.mul("a.npz:a a.npz:b -q").ok(),
        format!("{}\n{}\n", 7 * ((1_u128 << 32) + 1), 8 * ((1_u128 << 32) + 1))
    );
    dir.mul("bad.zst 1").fails(1, &["bad.zst: damaged"]);
    dir.mul("a.npz 1").fails(1, &["a.npz: its arrays are a, b: name one as FILE.npz:NAME"]);
    for name in ["o.gz", "o.zst", "o.npy.gz", "o.npy.zst", "o.npz"] {
        dir.mul(&format!("a.npz:a a.gz -q -o {name}")).ok();
        assert_eq!(dir.mul(&format!("{name} 1 -q")).ok(), "49\n64\n", "{name}");
    }
    // Of arrays with a header from the start, too.
    dir.mul("a.npz:a a.npz:a -q -o p.npz").ok();
    assert_eq!(dir.mul("p.npz 1 -q").ok(), "49\n64\n");
}
