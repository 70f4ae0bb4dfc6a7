//! Campaigns that are killed, stopped, started twice, or run out of disk, again and again: in the end the directory has what an undisturbed
//! run leaves, and at no moment anything that is not to be trusted.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::ExitStatusExt as _,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{Dir, catches_interrupts, finish, signal, wait_until};
use serde_json::Value;
use warpmp_collatz::campaign::Campaign;

/// Windows that take less time than writing their certificates.
fn verify(windows: u32) -> Vec<String> {
    let args = format!("collatz verify --device cpu --from 2^70-5 --count {windows}*2^12 --window 2^12 --out camp -q");
    args.split_whitespace().map(Into::into).collect()
}

fn start(dir: &Dir, args: &[String]) -> Child {
    dir.command(&args.iter().map(String::as_str).collect::<Vec<_>>()).spawn().unwrap()
}

/// A reproducible number below `bound`.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// What every run must leave: all files of a campaign, but for times and the places of the samples.
fn left(dir: &Dir) -> BTreeMap<String, Value> {
    let mut left = BTreeMap::new();
    for entry in fs::read_dir(dir.path("camp")).unwrap().map(Result::unwrap) {
        let mut content = Value::Null;
        let name = entry.file_name().into_string().unwrap();
        if entry.path().extension().is_some_and(|it| it == "json") {
            let mut file: Value = serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap();
            content = file["content"].take();
            for field in ["at", "microseconds", "samples"] {
                content.as_object_mut().unwrap().remove(field);
            }
        }
        left.insert(name, content);
    }
    left
}

fn undisturbed(windows: u32) -> BTreeMap<String, Value> {
    let dir = Dir::new();
    let run = finish(start(&dir, &verify(windows)));
    assert_eq!(run.code, 0, "{}", run.stderr);
    left(&dir)
}

/// Certificates that are there; nothing else is but what a killed process had begun to write.
fn done(dir: &Dir) -> usize {
    let Ok(campaign) = Campaign::open(&dir.path("camp")) else {
        // Killed before it had described what it does.
        let names = fs::read_dir(dir.path("camp")).map(|names| names.map(|entry| entry.unwrap().file_name()));
        let strange = |name: &std::ffi::OsString| name != "lock" && !name.to_str().unwrap().starts_with(".unfinished-");
        assert!(names.is_err() || !names.unwrap().any(|name| strange(&name)));
        return 0;
    };
    let contents = campaign.contents().unwrap();
    assert_eq!((&contents.damaged, &contents.others), (&Vec::new(), &Vec::new()));
    contents.done.len()
}

/// How many certificates there are by name, while others are being written.
fn certificates(dir: &Dir) -> usize {
    let entries = fs::read_dir(dir.path("camp")).into_iter().flatten();
    entries.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with('0')).count()
}

/// Lets a campaign run for a random while: some milliseconds, or until it has written some certificates.
fn let_run(dir: &Dir, child: &mut Child, dice: &mut u64) {
    if below(dice, 2) == 0 {
        thread::sleep(Duration::from_micros(below(dice, 60_000)));
        return;
    }
    let enough = certificates(dir) + 1 + below(dice, 8) as usize;
    wait_until(|| certificates(dir) + 1 >= enough || child.try_wait().unwrap().is_some());
    // The moment at which a name appears is the one at which half a file would.
    let end = Instant::now() + Duration::from_millis(below(dice, 100));
    while certificates(dir) < enough && Instant::now() < end {}
}

/// Sends a signal; to kill, without a detour.
fn end(child: &mut Child, name: &str) {
    match name {
        "-KILL" => child.kill().unwrap(),
        _ => signal(child, name),
    }
}

/// Killed by each of the signals in turn, so often, or until it is done.
fn killed(windows: u32, rounds: u32, signals: &[&str]) {
    let expected = undisturbed(windows);
    let dir = Dir::new();
    let mut dice = u64::from(windows);
    let (mut before, mut kills) = (0, 0);
    for round in 0..rounds {
        let mut child = start(&dir, &verify(windows));
        let_run(&dir, &mut child, &mut dice);
        let name = signals[round as usize % signals.len()];
        if name != "-KILL" {
            // Until then Ctrl-C means what it means to the process that started the tests: nothing, in the background.
            wait_until(|| catches_interrupts(&child) || child.try_wait().unwrap().is_some());
        }
        if child.try_wait().unwrap().is_none() {
            end(&mut child, name);
            kills += 1;
        }
        let begin = Instant::now();
        let output = child.wait_with_output().unwrap();
        let told = || format!("{name}: {:?}, {}", output.status, String::from_utf8_lossy(&output.stderr));
        // In order, if the handler was there already; and soon.
        assert!([None, Some(0), Some(130)].contains(&output.status.code()), "{}", told());
        assert!(output.status.code().is_some() || output.status.signal().is_some(), "{}", told());
        assert!(begin.elapsed() < Duration::from_secs(20), "{}", told());
        let now = done(&dir);
        assert!(now >= before, "{now} certificates, {before} before; {}", told());
        before = now;
        if before == windows as usize + 1 {
            break;
        }
    }
    assert!(kills > 0);
    println!("{kills} kills by {signals:?}, {before} of {} certificates", windows + 1);
    let run = finish(start(&dir, &verify(windows)));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(left(&dir), expected);
}

#[test]
fn killed_at_any_moment() {
    killed(150, 12, &["-KILL"]);
}

#[test]
fn stopped_at_any_moment() {
    killed(300, 6, &["-INT", "-TERM"]);
}

#[test]
#[ignore = "minutes: hundreds of kills"]
fn killed_hundreds_of_times() {
    killed(4000, 400, &["-KILL"]);
    killed(6000, 100, &["-INT", "-TERM", "-KILL"]);
}

/// Several processes at a time, one of which is killed now and then: one works, the others are told who does.
fn together(windows: u32, rounds: u32, processes: usize) {
    let expected = undisturbed(windows);
    let dir = Dir::new();
    let mut dice = 7;
    let mut refused = 0;
    let mut check = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            None | Some(0) => {}
            Some(code) => {
                assert!(code == 1 && text.contains("lock is held by "), "{text}");
                assert_eq!(text.lines().count(), 1, "{text}");
                refused += 1;
            }
        }
    };
    for _ in 0..rounds {
        let mut all: Vec<Child> = (0..processes).map(|_| start(&dir, &verify(windows))).collect();
        let chosen = below(&mut dice, processes as u64) as usize;
        let mut killed = all.swap_remove(chosen);
        let_run(&dir, &mut killed, &mut dice);
        if killed.try_wait().unwrap().is_none() {
            end(&mut killed, "-KILL");
        }
        check(&killed.wait_with_output().unwrap());
        // Of the others at most one works; it is stopped, too.
        for mut child in all {
            let_run(&dir, &mut child, &mut dice);
            if child.try_wait().unwrap().is_none() {
                end(&mut child, "-KILL");
            }
            check(&child.wait_with_output().unwrap());
        }
        done(&dir);
    }
    assert!(refused > 0);
    println!("{refused} refused in {rounds} rounds of {processes} processes");
    assert_eq!(finish(start(&dir, &verify(windows))).code, 0);
    assert_eq!(left(&dir), expected);
}

#[test]
fn two_at_a_time() {
    together(100, 4, 3);
}

#[test]
#[ignore = "a minute: hundreds of processes"]
fn many_at_a_time() {
    together(3000, 60, 6);
}

/// A certificate that cannot get its name, as on a broken file system: it is named, the others stay, and with the obstacle moved aside
/// the campaign goes on.
#[test]
fn a_certificate_that_cannot_be_renamed() {
    let expected = undisturbed(60);
    let dir = Dir::new();
    let last = expected.keys().rfind(|name| name.starts_with('0')).unwrap();
    let child = start(&dir, &verify(60));
    wait_until(|| certificates(&dir) > 0);
    fs::create_dir(dir.path(&format!("camp/{last}"))).unwrap();
    let run = finish(child);
    run.fails(1, &[last]);
    assert_eq!(fs::read_dir(dir.path("camp")).unwrap().count(), expected.len(), "all but one, and the obstacle");
    let run = finish(start(&dir, &verify(60)));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("it is now camp/") && dir.path(&format!("camp/{last}.aside")).is_dir(),
        "{}",
        run.stderr
    );
    let mut left = left(&dir);
    left.remove(&format!("{last}.aside"));
    assert_eq!(left, expected);
}

/// A shell where `camp` is a disk of its own, which goes with the shell; none where the system does not allow that.
fn on_a_disk(dir: &Dir, size: &str, script: &str) -> Option<Output> {
    fs::create_dir(dir.path("camp")).unwrap();
    let mounted = |script: &str| {
        let mut command = Command::new("unshare");
        command.current_dir(dir.path("")).stdin(Stdio::null());
        let script = format!("mount -t tmpfs -o size={size} none camp || exit 99\n{script}");
        command.args(["-rm", "sh", "-c", &script, env!("CARGO_BIN_EXE_warpmp")]).output()
    };
    match mounted("exit 0") {
        Ok(output) if output.status.success() => Some(mounted(script).unwrap()),
        other => {
            println!("skipped: no file system can be mounted: {other:?}");
            None
        }
    }
}

/// The disk is full after some certificates; with more room it goes on. A disk that can only be read can be looked at.
#[test]
fn a_disk_that_is_full_or_read_only() {
    let expected = undisturbed(60);
    let dir = Dir::new();
    let verify = verify(60).join(" ");
    let script = format!(
        r#"
        "$0" {verify}; echo "full $?"
        for name in camp/.unfinished-*; do [ -e "$name" ] && echo "left $name"; done
        "$0" collatz status camp --json > status.json || exit
        mount -o remount,ro,size=64k camp
        "$0" {verify}; echo "read-only $?"
        "$0" collatz status camp --json | diff - status.json || exit
        "$0" collatz check camp -q --sample 0 || exit
        mount -o remount,rw,size=4m camp
        "$0" {verify}; echo "room $?"
        "$0" collatz check camp -q || exit
        mkdir copy && cp camp/* copy
        "#
    );
    let Some(output) = on_a_disk(&dir, "64k", &script) else { return };
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stdout}{stderr}");
    for words in ["full 1", "read-only 1", "room 0", "0 wrong"] {
        assert!(stdout.contains(words), "{stdout}{stderr}");
    }
    assert!(!stdout.contains("left "), "{stdout}");
    assert!(stderr.contains("No space left") && stderr.contains("Read-only file system"), "{stderr}");
    let status: Value = serde_json::from_slice(&dir.read("status.json")).unwrap();
    assert!(status["windows_done"].as_u64().unwrap() > 2 && status["not_trusted"] == serde_json::json!([]), "{status}");
    fs::remove_dir(dir.path("camp")).unwrap();
    fs::rename(dir.path("copy"), dir.path("camp")).unwrap();
    assert_eq!(left(&dir), expected);
}
