//! Signals and pipes: nothing half-written, no noise.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::common::{Dir, catches_interrupts, finish, ignores, interrupt, is_writing, signal, wait_until};

#[test]
fn ctrl_c_while_writing_leaves_nothing() {
    for name in ["out.txt", "out.npy"] {
        let dir = Dir::new();
        let child = dir.command(&["gen", "--bits", "65536", "--count", "1000000000", "-o", name]).spawn().unwrap();
        wait_until(|| is_writing(&child));
        interrupt(&child);
        finish(child).fails(130, &["interrupted"]);
        assert!(dir.names().is_empty());
    }
}

#[test]
fn ctrl_c_while_multiplying_leaves_the_older_output() {
    let dir = Dir::new();
    dir.write("b.txt", "3\n").write("out.txt", "older");
    let args = ["mul", "--device", "cpu", "-", "b.txt", "-o", "out.txt", "--chunk-bytes", "1000"];
    let mut child = dir.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("12345\n".repeat(10_000).as_bytes()).unwrap();
    wait_until(|| is_writing(&child));
    // It now waits for more input, which does not come.
    interrupt(&child);
    finish(child).fails(130, &["interrupted"]);
    assert_eq!((dir.text("out.txt"), dir.names().len()), ("older".into(), 2));
}

#[test]
fn ctrl_c_before_the_first_byte_of_input() {
    let dir = Dir::new();
    dir.write("b.txt", "3\n");
    let mut command = dir.command(&["mul", "--device", "cpu", "-", "b.txt", "-o", "out.txt"]);
    let child = command.stdin(Stdio::piped()).spawn().unwrap();
    wait_until(|| catches_interrupts(&child));
    interrupt(&child);
    finish(child).fails(130, &["interrupted"]);
    assert_eq!(dir.names(), ["b.txt"]);
}

#[test]
fn a_request_to_end_and_a_lost_terminal_are_interruptions_too() {
    for name in ["-TERM", "-HUP"] {
        if name == "-HUP" && (ignores(name) || cfg!(not(target_os = "linux"))) {
            continue;
        }
        let dir = Dir::new();
        let child = dir.command(&["gen", "--bits", "65536", "--count", "1000000000", "-o", "a.txt"]).spawn().unwrap();
        wait_until(|| is_writing(&child));
        signal(&child, name);
        finish(child).fails(130, &["interrupted"]);
        assert!(dir.names().is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nohup_outlives_the_terminal() {
    let dir = Dir::new();
    dir.write("b.txt", "3\n");
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_warpmp")).args(["mul", "--device", "cpu", "-", "b.txt"]);
    command.current_dir(dir.path("."));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(|| catches_interrupts(&child));
    signal(&child, "-HUP");
    // Longer than an interrupted program would live.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    child.stdin.take().unwrap().write_all(b"5\n").unwrap();
    assert_eq!(finish(child).ok(), "15\n");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = Dir::new();
    dir.write("a.txt", "7\n".repeat(1_000_000)).write("b.txt", "3\n");
    let quiet = ["mul", "--device", "cpu", "a.txt", "b.txt", "--quiet", "--chunk-bytes", "100000"];
    for args in [&["gen", "--bits", "512", "--count", "1000000"][..], &quiet] {
        let mut child = dir.command(args).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.ends_with('\n'));
        let run = finish(child);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    }
    for args in [&["--help"][..], &["devices"], &["explain", "mul", "--bits", "64", "--count", "1"]] {
        let mut child = dir.command(args).spawn().unwrap();
        drop(child.stdout.take());
        assert!(!finish(child).stderr.contains("panicked"));
    }
}

/// What a command finds out does not depend on who reads along.
#[test]
fn a_verdict_is_found_without_a_reader() {
    let dir = Dir::new();
    dir.write("a", "7\n".repeat(100_000)).write("nines", "49\n".repeat(99_999) + "48\n");
    let args = ["sqr", "a", "--device", "cpu", "--chunk-bytes", "10000", "-q", "--expect", "nines"];
    let mut child = dir.command(&args).spawn().unwrap();
    drop(child.stdout.take());
    finish(child).fails(1, &["nines:100000: 48 is expected, found 49"]);
    dir.write("nines", "49\n".repeat(100_000));
    let mut child = dir.command(&args).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(finish(child).code, 0);
    // A wrong certificate, found by a check that nobody listens to.
    dir.run(&["collatz", "verify", "--device", "cpu", "--from", "1", "--count", "2^16", "--out", "camp", "-q"]).ok();
    let mut files = std::fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path());
    std::fs::write(files.find(|path| path.to_string_lossy().ends_with("5.json")).unwrap(), "{}").unwrap();
    let mut child = dir.command(&["collatz", "check", "camp"]).spawn().unwrap();
    drop(child.stdout.take());
    finish(child).fails(1, &["wrong"]);
}

/// People have a terminal, tests have none: a helper of the system's makes one.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal() {
    let dir = Dir::new();
    dir.write("a.txt", "7\n").write("wrong.txt", "x\n");
    let on_terminal = |words: &str| {
        let mut command = Command::new("script");
        command.args(["-qec", &format!("{} {words}", env!("CARGO_BIN_EXE_warpmp")), "/dev/null"]);
        command.current_dir(dir.path(".")).stdin(Stdio::null()).output().ok()
    };
    let Some(output) = on_terminal("mul a.txt a.txt --device cpu") else {
        eprintln!("skipped: no `script`");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert!(output.status.success() && text.starts_with("49\n1 product of 3 × 3 bits"), "{text}");
    let output = on_terminal("mul wrong.txt a.txt --device cpu").unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert_eq!((output.status.code(), text.as_str()), (Some(1), "error: wrong.txt:1: not a number: \"x\"\n"));
}

#[test]
fn closed_standard_error_is_no_error() {
    let dir = Dir::new();
    dir.write("a.txt", "7\n");
    let mut child = dir.command(&["mul", "--device", "cpu", "a.txt", "a.txt"]).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(finish(child).ok(), "49\n");
}

#[test]
fn devices_as_output_stay_devices() {
    let dir = Dir::new();
    dir.write("a.txt", "7\n");
    dir.mul("a.txt a.txt -o /dev/null").ok();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    assert_eq!(dir.mul("a.txt a.txt -o /dev/stdout").ok(), "49\n");
    assert_eq!(dir.mul("a.txt a.txt -o -").ok(), "49\n");
}

#[test]
fn a_link_as_output_stays_a_link() {
    let dir = Dir::new();
    dir.write("a.txt", "7\n").write("target.txt", "older");
    std::os::unix::fs::symlink("target.txt", dir.path("link.txt")).unwrap();
    dir.mul("a.txt a.txt -o link.txt").ok();
    assert_eq!(dir.text("target.txt"), "49\n");
    assert!(dir.path("link.txt").is_symlink());
    std::fs::create_dir(dir.path("folder")).unwrap();
    std::os::unix::fs::symlink("new.txt", dir.path("folder/link.txt")).unwrap();
    dir.mul("a.txt a.txt -o folder/link.txt").ok();
    assert_eq!(dir.text("folder/new.txt"), "49\n");
    assert!(dir.path("folder/link.txt").is_symlink());
}

#[test]
fn a_temporary_file_that_cannot_be_made_is_named() {
    let dir = Dir::new();
    dir.write("a.txt", "7\n");
    let args = ["mul", "a.txt", "a.txt", "--device", "cpu", "--format", "npy"];
    dir.run_where("TMPDIR", "/nowhere", &args).fails(1, &["a temporary file in /nowhere: No such file"]);
}

#[test]
fn new_files_have_the_usual_permissions_and_old_ones_keep_theirs() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Dir::new();
    dir.write("a.txt", "7\n").write("old.txt", "older");
    std::fs::set_permissions(dir.path("old.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let mode = |name: &str| std::fs::metadata(dir.path(name)).unwrap().permissions().mode() & 0o777;
    dir.mul("a.txt a.txt -o new.txt").ok();
    dir.mul("a.txt a.txt -o old.txt").ok();
    assert_eq!((mode("new.txt"), mode("old.txt")), (mode("a.txt"), 0o640));
}
