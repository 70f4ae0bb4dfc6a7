//! Input that cannot be served: what the program says, its exit code, and that nothing is left behind.

use crate::common::{self, Dir, npy, npy_of, parse};
use num_bigint::BigUint;

/// Runs `mul` to a file; nothing may be left beside `inputs`.
#[track_caller]
fn refused(dir: &Dir, args: &str, code: i32, words: &[&str]) {
    let before = dir.names();
    dir.mul(&format!("{args} -o out.txt")).fails(code, words);
    assert_eq!(dir.names(), before);
}

/// An expression whose value, or a number on the way to it, is too long; a negative value of an option, for which clap knows no way.
#[test]
fn long_expressions_and_negative_options() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n");
    for expression in ["2^40000-1", "2^40000-2^40000"] {
        let words = ["the expression has a number that is too long: column 7: a number of more than 128 bits"];
        dir.mul(&format!("a.txt {expression} --bits 33")).fails(1, &words);
    }
    let run = dir.mul("a.txt a.txt --bits -1");
    assert!(!run.stderr.contains("tip:"), "{}", run.stderr);
    run.fails(2, &["unexpected argument '-1' found"]);
}

#[test]
fn different_counts() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n2\n3\n").write("b.txt", "1\n2\n").write("one.txt", "5\n");
    refused(&dir, "a.txt b.txt", 1, &["a.txt has 3 numbers, b.txt has 2"]);
    refused(&dir, "b.txt a.txt", 1, &["b.txt has 2 numbers, a.txt has 3"]);
    // Seen only at the end, with the rest of the longer file counted.
    let many = |count: u64| (0..count).map(|k| format!("{k}\n")).collect::<String>();
    dir.write("a.txt", many(20_001)).write("b.txt", many(30_000));
    refused(&dir, "a.txt b.txt --chunk-bytes 1000", 1, &["a.txt has 20001 numbers, b.txt has 30000"]);
    refused(&dir, "b.txt a.txt --chunk-bytes 1000", 1, &["b.txt has 30000 numbers, a.txt has 20001"]);
}

#[test]
fn different_rows_of_arrays() {
    let dir = Dir::new();
    let numbers = parse("1\n2\n3\n");
    dir.write("a.npy", npy_of(&numbers, 4, 1)).write("b.npy", npy_of(&numbers[..2], 4, 1)).write("b.txt", "1\n2\n");
    refused(&dir, "a.npy b.npy", 1, &["a.npy has 3 numbers, b.npy has 2"]);
    refused(&dir, "a.npy b.txt", 1, &["a.npy has 3 numbers, b.txt has 2"]);
}

#[test]
fn not_a_number() {
    let dir = Dir::new();
    dir.write("b.txt", "7\n");
    for (line, words) in [
        ("12x4", "a.txt:4: not a number: \"12x4\""),
        ("--5", "a.txt:4: not a number: \"--5\""),
        ("+5", "a.txt:4: write numbers without '+'"),
        ("1_000", "a.txt:4: write numbers without '_'"),
        ("1e9", "a.txt:4: not a number"),
        ("0xfg", "a.txt:4: not a number"),
        ("0x", "a.txt:4: not a number"),
        ("1,2", "a.txt:4: not a number: \"1,2\"; one number a line is needed"),
        ("-----BEGIN PUBLIC KEY-----", "`batch-gcd` reads keys"),
        ("\u{0661}", "a.txt:4: not a number"),
    ] {
        dir.write("a.txt", format!("1\n# comment\n2\n{line}\nalso wrong\n"));
        refused(&dir, "a.txt b.txt", 1, &[words]);
        refused(&dir, "a.txt b.txt --chunk-bytes 1", 1, &[words]);
    }
    dir.write("a.txt", b"1\n\xff\xfe2\n");
    refused(&dir, "a.txt b.txt", 1, &["a.txt:2: not UTF-8 text"]);
    dir.write("a.txt", "1\n\n2\n");
    refused(&dir, "a.txt b.txt", 1, &["a.txt:2: a blank line between numbers"]);
    dir.write("a.txt", "1\n2\n").write("b.txt", "1\nx\n");
    refused(&dir, "a.txt b.txt", 1, &["b.txt:2: not a number: \"x\""]);
}

#[test]
fn not_compressed() {
    let dir = Dir::new();
    for (name, form) in [("a.txt.gz", "gzip"), ("a.txt.zst", "Zstandard")] {
        for content in ["", "1\n", "100\n200\n"] {
            dir.write(name, content).write("b.txt", "1\n");
            let words = format!("{name}: not compressed by {form}, whatever its name says");
            refused(&dir, &format!("{name} b.txt"), 1, &[&words]);
        }
    }
}

#[test]
fn neither_text_nor_an_array() {
    let dir = Dir::new();
    dir.write("b.txt", "1\n").write("utf16.txt", b"\xff\xfe7\0\n\0").write("program", b"\x7fELF\x02\0\n\n7\n\0\0");
    for name in ["utf16.txt", "program"] {
        refused(&dir, &format!("{name} b.txt"), 1, &[name, ":1: a zero byte: neither text nor an .npy array"]);
    }
    // Lines of such a file are no numbers, so their count is not the fault.
    let many = "7\n".repeat(200_000) + "\0\n";
    dir.write("two.txt", "1\n2\n").write("three.bin", "7\n8\n\0\n").write("many.bin", many);
    for (name, line) in [("three.bin", 3), ("many.bin", 200_001)] {
        for files in [format!("two.txt {name}"), format!("{name} two.txt")] {
            let words = format!("{name}:{line}: a zero byte: neither text nor an .npy array");
            refused(&dir, &files, 1, &[&words]);
        }
    }
    dir.run(&["mul", "", "b.txt"]).fails(1, &["'': No such file"]);
    dir.run(&["mul", "b.txt", "b.txt", "-o", ""]).fails(1, &["'': invalid"]);
}

#[test]
fn the_first_of_many_faults_is_named() {
    let dir = Dir::new();
    let text: String = (0..50_000).map(|k| if k >= 20_000 { format!("x{k}\n") } else { format!("{k}\n") }).collect();
    dir.write("a.txt", text).write("b.txt", "1\n");
    refused(&dir, "a.txt b.txt", 1, &["a.txt:20001: not a number: \"x20000\""]);
}

#[test]
fn nothing_in_it() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n").write("b.txt", "");
    refused(&dir, "a.txt b.txt", 1, &["b.txt: no numbers in it"]);
    refused(&dir, "b.txt a.txt", 1, &["b.txt: no numbers in it"]);
    dir.write("b.txt", "# only this\n\n");
    refused(&dir, "a.txt b.txt", 1, &["b.txt: no numbers in it"]);
    dir.write("b.npy", npy("'<u4'", "False", "(0, 4)", b""));
    refused(&dir, "a.txt b.npy", 1, &["b.npy: no numbers in it: its shape is (0, 4)"]);
    dir.write("b.npy", npy("'<u4'", "False", "(4, 0)", b""));
    refused(&dir, "a.txt b.npy", 1, &["b.npy: no numbers in it"]);
}

#[test]
fn more_bits_than_the_limit() {
    let dir = Dir::new();
    let number: BigUint = BigUint::from(1u8) << 16_777_216;
    dir.write("b.txt", "1\n");
    dir.write("a.txt", format!("3\n{number:#x}\n"));
    refused(&dir, "a.txt b.txt", 1, &["a.txt:2: a number of 16777217 bits; at most 16777216 are supported"]);
    dir.write("a.txt", "9".repeat(20_000_000));
    refused(&dir, "a.txt b.txt", 1, &["a.txt:1: a line of more than 16777216 bytes"]);
    dir.write("a.npy", npy("'<u8'", "False", "(1, 262145)", &vec![0; 8 * 262_145]));
    refused(&dir, "a.npy b.txt", 1, &["a.npy: numbers of 16777280 bits; at most 16777216 are supported"]);
}

#[test]
fn arrays_of_another_kind() {
    let dir = Dir::new();
    dir.write("b.txt", "1\n");
    for (descr, order, shape, words) in [
        ("'<f8'", "False", "(2, 1)", "a.npy: dtype '<f8'"),
        ("'<i2'", "False", "(2, 1)", "a.npy: dtype '<i2'"),
        ("'>u8'", "False", "(2, 1)", "a.npy: dtype '>u8'"),
        ("'|O'", "False", "(2, 1)", "a.npy: dtype '|O'"),
        ("[('x', '<u4'), ('y', '<u4')]", "False", "(2,)", "a.npy: dtype of a structured array"),
        ("'<u8'", "True", "(2, 1)", "a.npy: Fortran order"),
        ("'<u8'", "False", "()", "a.npy: an array of shape (); one dimension"),
        ("'<u8'", "False", "(2, 1, 1)", "a.npy: an array of shape (2, 1, 1); one dimension"),
        ("'<u8'", "False", "(2, x)", "a.npy: the .npy header is damaged"),
    ] {
        dir.write("a.npy", npy(descr, order, shape, &[0; 16]));
        refused(&dir, "a.npy b.txt", 1, &[words]);
    }
    dir.write("a.npy", "1\n2\n");
    refused(&dir, "a.npy b.txt", 1, &["a.npy: not an .npy file"]);
    dir.write("a.npy", b"\x93NUMPY\x09\x00\x00\x00");
    refused(&dir, "a.npy b.txt", 1, &["a.npy: format version 9.0"]);
    dir.write("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff");
    refused(&dir, "a.npy b.txt", 1, &["a.npy: the .npy header is damaged"]);
}

#[test]
fn arrays_too_short_or_too_long() {
    let dir = Dir::new();
    let whole = npy_of(&parse("1\n2\n3\n"), 8, 2);
    dir.write("b.txt", "1\n").write("cut.npy", &whole[..whole.len() - 1]).write("head.npy", &whole[..40]);
    dir.write("long.npy", [&whole[..], b"x"].concat());
    refused(&dir, "cut.npy b.txt", 1, &["cut.npy: truncated: 175 bytes where its shape needs 176"]);
    refused(&dir, "head.npy b.txt", 1, &["head.npy: truncated within its header"]);
    refused(&dir, "long.npy b.txt", 1, &["long.npy: more bytes than its shape needs"]);
    // The same from a pipe, whose length shows only at the end.
    let args = ["mul", "--device", "cpu", "-", "b.txt", "-o", "out.txt"];
    dir.run_with(&args, &whole[..whole.len() - 1]).fails(1, &["standard input: truncated: it ends in row 2 of 3"]);
    dir.run_with(&args, &[&whole[..], b"x"].concat()).fails(1, &["standard input: more bytes than its shape needs"]);
    assert!(!dir.path("out.txt").exists());
}

#[test]
fn input_that_cannot_be_read() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n");
    refused(&dir, "missing.txt a.txt", 1, &["missing.txt: No such file"]);
    refused(&dir, "a.txt a.txt/b.txt", 1, &["a.txt/b.txt: Not a directory"]);
    refused(&dir, "a.txt .", 1, &[". is a directory"]);
    dir.mul("- -").fails(2, &["standard input can be read only once"]);
}

#[test]
fn input_as_output() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n2\n").write("b.txt", "3\n");
    std::os::unix::fs::symlink(dir.path("a.txt"), dir.path("link.txt")).unwrap();
    std::fs::hard_link(dir.path("b.txt"), dir.path("hard.txt")).unwrap();
    for output in ["a.txt", "b.txt", "./a.txt", "link.txt", "hard.txt"] {
        dir.mul(&format!("a.txt b.txt -o {output}")).fails(2, &["is both input and output"]);
    }
    let append = std::fs::OpenOptions::new().append(true).open(dir.path("a.txt")).unwrap();
    let mut command = dir.command(&["mul", "--device", "cpu", "a.txt", "b.txt"]);
    common::finish(command.stdout(append).spawn().unwrap()).fails(2, &["a.txt is both input and output"]);
    assert_eq!((dir.text("a.txt"), dir.text("b.txt")), ("1\n2\n".into(), "3\n".into()));
}

#[test]
fn output_that_cannot_be_written() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n");
    dir.mul("a.txt a.txt -o none/out.txt").fails(1, &["none/out.txt: No such file or directory"]);
    dir.mul("a.txt a.txt -o a.txt/out.txt").fails(1, &["a.txt/out.txt: Not a directory"]);
    dir.mul("a.txt a.txt -o .").fails(1, &[". is a directory"]);
    assert_eq!(dir.names(), ["a.txt"]);
}

#[test]
fn a_full_disk() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: no /dev/full");
        return;
    }
    let dir = Dir::new();
    dir.write("a.txt", "1\n");
    dir.mul("a.txt a.txt -o /dev/full").fails(1, &["/dev/full: No space left on device"]);
    dir.mul("a.txt a.txt -o /dev/full --format npy").fails(1, &["/dev/full: No space left on device"]);
    let device = std::fs::OpenOptions::new().write(true).open(full).unwrap();
    let mut command = dir.command(&["mul", "--device", "cpu", "a.txt", "a.txt"]);
    common::finish(command.stdout(device).spawn().unwrap()).fails(1, &["standard output: No space left on device"]);
    assert!(full.exists());
}

#[test]
fn a_failed_run_leaves_an_older_output_as_it_was() {
    let dir = Dir::new();
    dir.write("a.txt", "1\nx\n").write("b.txt", "1\n").write("out.txt", "older");
    dir.mul("a.txt b.txt -o out.txt --chunk-bytes 1").fails(1, &["a.txt:2"]);
    assert_eq!((dir.text("out.txt"), dir.names().len()), ("older".into(), 3));
    dir.write("a.txt", "1\n");
    dir.mul("a.txt b.txt -o out.txt").ok();
    assert_eq!((dir.text("out.txt"), dir.names().len()), ("1\n".into(), 3));
}

#[test]
fn algorithms_that_are_unknown_or_unfit() {
    let dir = Dir::new();
    dir.write("a.txt", format!("{}\n", BigUint::from(1u8) << 60_000));
    refused(
        &dir,
        "a.txt a.txt --algorithm nonsense",
        2,
        &["this engine has no algorithm 'nonsense'", "cpu-schoolbook"],
    );
    refused(
        &dir,
        "a.txt a.txt --algorithm cpu-schoolbook",
        2,
        &["'cpu-schoolbook' does not do 'mul' of", "what fits: ", "cpu-dashu"],
    );
}

#[test]
fn a_gpu_that_is_not_there() {
    let dir = Dir::new();
    dir.write("a.txt", "1\n");
    let run = dir.run(&["mul", "a.txt", "a.txt", "--device", "cuda:999"]);
    run.fails(1, &["error: "]);
    let run = dir.run(&["mul", "a.txt", "a.txt", "--device", "cuda", "-o", "out.txt"]);
    if run.code == 0 {
        eprintln!("skipped: there is a GPU");
        return;
    }
    run.fails(1, &["error: "]);
    assert_eq!(dir.names(), ["a.txt"]);
    // Short work needs none.
    for (args, result) in [
        (&["mul", "a.txt", "a.txt"][..], "1\n"),
        (&["is-prime", "a.txt"], "0\n"),
        (&["next-prime", "a.txt"], "2\n"),
        (&["pow", "a.txt", "5"], "1\n"),
    ] {
        let run = dir.run(args);
        assert_eq!(run.ok(), result);
        assert!(run.stderr.contains("(less time than a GPU takes to start)"), "{}", run.stderr);
        assert!(!run.stderr.contains("the CPU engine serves"), "{}", run.stderr);
    }
    let short = "(less time than a GPU takes to start)";
    for (args, result, reason) in [
        (&["product", "a.txt", "a.txt"][..], "1\n", short),
        (&["batch-gcd", "a.txt"], "one\t1\n", short),
        (&["sum", "a.txt", "a.txt"], "2\n", "(the cores do this alone)"),
        (&["lcm-all", "a.txt"], "1\n", "(the cores do this alone)"),
    ] {
        let run = dir.run(args);
        assert_eq!(run.ok(), result);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
        assert!(!run.stderr.contains("the CPU engine serves"), "{}", run.stderr);
    }
    // Where the size is not known and none is named, the CPU serves and says so in one line.
    let run = dir.run_with(&["is-prime", "-"], b"1\n");
    assert_eq!(run.ok(), "0\n");
    assert_eq!(run.stderr.lines().filter(|line| line.contains("the CPU engine serves")).count(), 1, "{}", run.stderr);
}

#[test]
fn usage() {
    let dir = Dir::new();
    for args in [
        &["mul"][..],
        &["mul", "a.txt"],
        &["mul", "a", "b", "--device", "gpu"],
        &["mul", "a", "b", "--format", "csv"],
        &["mul", "a", "b", "--check", "-1"],
        &["gen", "--bits", "64"],
        &["gen", "--bits", "0", "--count", "1"],
        &["gen", "--bits", "16777217", "--count", "1"],
        &["gen", "--bits", "64", "--count", "0"],
        &["gen", "--bits", "64", "--count", "1", "--pattern", "nice"],
        &["bench", "mul", "--bits", "64,0"],
        &["bench", "mul", "--bits", "64", "--count", "0"],
        &["explain", "mul", "--bits", "64", "--count", "0"],
        &["nonsense"],
    ] {
        dir.run(args).fails(2, &["error: "]);
    }
}
