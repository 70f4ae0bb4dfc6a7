//! `warpmp collatz` where something is wrong with the disk, or with what others certified.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Dir, Run, collatz, finish};
use warpmp_collatz::certificate::{Highest, load, store};

/// Runs the program where no file may become longer than some blocks of 512 or 1024 bytes: what a full disk is to it.
fn limited(dir: &Dir, blocks: u32, args: &str) -> Run {
    let mut command = Command::new("sh");
    command.current_dir(dir.path("")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The signal that comes with it would end a program that knows nothing of it.
    command.args(["-c", "ulimit -f \"$0\"; exec \"$@\"", &blocks.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_warpmp")).args(["collatz"]).args(args.split_whitespace());
    finish(command.spawn().unwrap())
}

const VERIFY: &str = "verify --device cpu --from 2^50 --count 2^18 --window 2^17 --out camp";

#[cfg(unix)]
#[test]
fn a_full_directory_is_named_and_nothing_half_written() {
    let dir = Dir::new();
    // Nothing can be written: not even what the campaign is about.
    limited(&dir, 0, VERIFY).fails(1, &["camp"]);
    assert!(fs::read_dir(dir.path("camp")).unwrap().all(|entry| entry.unwrap().file_name() == "lock"));
    // That can; a certificate is longer.
    collatz(&dir, VERIFY).ok();
    let mut certificates: Vec<_> = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    certificates.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with('0'));
    assert_eq!(certificates.len(), 2);
    certificates.sort();
    for path in &certificates {
        fs::remove_file(path).unwrap();
    }
    limited(&dir, 1, VERIFY).fails(1, &[certificates[0].file_name().unwrap().to_str().unwrap()]);
    let mut names: Vec<_> = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["campaign.json", "lock"]);
    assert!(collatz(&dir, "status camp").ok().contains("missing    262144 numbers"));
    // With room again it goes on.
    collatz(&dir, VERIFY).ok();
    assert!(collatz(&dir, "status camp").ok().contains("complete: no gaps"));
    // Delays, too, say where they could not go.
    limited(&dir, 4, "delay --device cpu --from 1 --count 9999 -o delays.npy -q").fails(1, &["delays.npy"]);
}

/// Where nothing can be written, what is there can be looked at.
#[cfg(unix)]
#[test]
fn a_directory_that_is_read_only() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = Dir::new();
    collatz(&dir, VERIFY).ok();
    let mode = |mode| fs::set_permissions(dir.path("camp"), fs::Permissions::from_mode(mode)).unwrap();
    let paths = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path());
    let last = paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with('0')).max().unwrap();
    fs::remove_file(&last).unwrap();
    mode(0o555);
    if fs::write(dir.path("camp/probe"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    assert!(collatz(&dir, "status camp").ok().contains("missing"));
    collatz(&dir, "check camp --complete").fails(1, &["have no certificate"]);
    collatz(&dir, VERIFY).fails(1, &["camp"]);
    mode(0o755);
    collatz(&dir, VERIFY).ok();
    collatz(&dir, "check camp --complete").ok();
}

/// Certificates in good order whose figures a wrong program found: only computing them again tells.
#[test]
fn check_finds_figures_that_are_wrong() {
    let dir = Dir::new();
    collatz(&dir, VERIFY).ok();
    assert!(collatz(&dir, "check camp").ok().contains("0 wrong"));
    let path = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path());
    let path = path.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with('0')).min().unwrap();
    let good = load(&path).unwrap().unwrap();
    // A rule that removes one start too many; a checksum that is off; a highest value that is none.
    let mut fewer = good.clone();
    fewer.figures.tested -= 1;
    let mut other = good.clone();
    other.figures.checksum = format!("{:016x}", u64::from_str_radix(&good.figures.checksum, 16).unwrap() ^ 1 << 63);
    let mut higher = good.clone();
    higher.highest = Highest::Value { start: good.window.from().to_string(), value: "16".into() };
    for wrong in [fewer, other, higher] {
        store(&path, &wrong).unwrap();
        assert!(collatz(&dir, "status camp").ok().contains("complete: no gaps"));
        let check = collatz(&dir, "check camp");
        assert_eq!(check.code, 1, "{}", check.text());
        assert!(
            check.text().contains("1 wrong") && check.text().contains(&good.window.to_string()),
            "{}",
            check.text()
        );
    }
}

/// What a check leaves out it says, and a certificate without samples is none.
#[test]
fn check_says_what_it_does_not_check() {
    let dir = Dir::new();
    collatz(&dir, VERIFY).ok();
    let check = collatz(&dir, "check camp --sample 0");
    assert!(check.ok().contains("not checked: the figures of 2 windows"), "{}", check.text());
    assert!(!collatz(&dir, "check camp").ok().contains("not checked"));
    let path = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path());
    let path = path.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with('0')).min().unwrap();
    let mut certificate = load(&path).unwrap().unwrap();
    certificate.samples.clear();
    store(&path, &certificate).unwrap();
    let check = collatz(&dir, "check camp --sample 0");
    assert_eq!(check.code, 1);
    assert!(
        check.text().contains("1 not readable; 1 wrong") && check.text().contains("samples: 0"),
        "{}",
        check.text()
    );
}
