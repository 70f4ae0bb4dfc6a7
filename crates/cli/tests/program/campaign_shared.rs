//! Several processes in one directory, parts for tasks, copies of directories, and requests to terminate.

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{Dir, catches_interrupts, finish, object, run, signal, wait_until};
use serde_json::Value;

fn start(dir: &Dir, args: &str) -> Child {
    dir.command(&args.split_whitespace().collect::<Vec<_>>()).spawn().unwrap()
}

/// Files whose names begin so.
fn count(dir: &Dir, folder: &str, begin: &str) -> usize {
    let names = fs::read_dir(dir.path(folder)).into_iter().flatten().map(|it| it.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().starts_with(begin)).count()
}

const COLLATZ: &str = "collatz verify --device cpu --from 2^70 --count 240*2^12 --window 2^12 -q -o";
const CURVES: &str = "ecm 2^251-1 --b1 300 --b2 30000 --curves 96 --unit 8 --device cpu -q --campaign";

/// The figures of a Collatz campaign, by window.
fn figures(dir: &Dir, folder: &str) -> BTreeMap<String, Value> {
    let files = fs::read_dir(dir.path(folder)).unwrap().map(|it| it.unwrap().path());
    let is_certificate = |name: &str| name.starts_with('0') && name.ends_with(".json");
    let windows = files.filter(|path| is_certificate(path.file_name().unwrap().to_str().unwrap()));
    windows
        .map(|path| {
            let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), file["content"]["figures"].clone())
        })
        .collect()
}

/// Processes begin a campaign at the same time, two are killed, a third one comes late: in the end everything is there, once.
#[test]
fn processes_share_a_collatz_campaign() {
    let dir = Dir::new();
    run(&dir, &format!("{COLLATZ} alone")).ok();
    let mut children: Vec<Child> = (0..4).map(|_| start(&dir, &format!("{COLLATZ} camp --shared"))).collect();
    wait_until(|| count(&dir, "camp", "0") > 20);
    for child in &mut children[..2] {
        child.kill().unwrap();
    }
    // Somebody who wants the directory alone is told, and changes nothing.
    let alone = run(&dir, &format!("{COLLATZ} camp"));
    if alone.code != 0 {
        alone.fails(1, &["camp/lock", "is held by"]);
    }
    children.push(start(&dir, "resume camp --shared --device cpu -q"));
    for (number, child) in children.into_iter().enumerate() {
        let run = finish_any(child);
        assert!(number < 2 || run.0 == Some(0), "{run:?}");
    }
    assert_eq!(figures(&dir, "camp"), figures(&dir, "alone"));
    run(&dir, "collatz status camp --complete").ok();
    assert_eq!(count(&dir, "camp", "."), 0);
    // A process that was killed between its certificate and its claim leaves the claim, of a unit that nobody asks for again.
    for entry in fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path()) {
        assert!(entry.extension().is_none_or(|it| it != "claim") || entry.with_extension("json").exists(), "{entry:?}");
    }
    let again = object(&run(&dir, "resume camp --shared --device cpu --json"));
    assert_eq!((&again["windows"], &again["missing"]), (&0.into(), &"0".into()), "{again}");
}

/// How a process ended that may have been killed.
fn finish_any(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn processes_share_curves() {
    let dir = Dir::new();
    let mut children: Vec<Child> = (0..3).map(|_| start(&dir, &format!("{CURVES} camp --shared"))).collect();
    wait_until(|| count(&dir, "camp", "n0-") > 1 || children[0].try_wait().unwrap().is_some());
    children[0].kill().unwrap();
    let ends: Vec<_> = children.into_iter().map(finish_any).collect();
    assert!(ends[1..].iter().all(|end| end.0 == Some(0)), "{ends:?}");
    let status = object(&run(&dir, "status camp --json"));
    // 2^251 - 1 = 503 · 54217 · a composite of 228 bits: curves go on until it is factored, or all are done.
    let is_done = status["complete"] == 1 || status["units_done"] == status["units"];
    assert!(is_done && status["disputed"] == serde_json::json!([]), "{status}");
    assert_eq!(status["units"], 12);
}

#[test]
fn files_in_the_way_of_others_are_named() {
    let dir = Dir::new();
    run(&dir, &format!("{COLLATZ} camp")).ok();
    let name = figures(&dir, "camp").into_keys().next().unwrap();
    dir.write(&format!("camp/{name}"), "{");
    let refused = run(&dir, "resume camp --shared --device cpu -q");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains(&name) && refused.stderr.contains("without --shared"), "{}", refused.stderr);
    assert_eq!(dir.text(&format!("camp/{name}")), "{");
    run(&dir, "resume camp --device cpu -q").ok();
    run(&dir, "resume camp --shared --device cpu -q").ok();
    for args in ["collatz verify --from 1 --to 9 --shared", "collatz verify --from 1 --to 9 --part 0/2"] {
        run(&dir, args).fails(2, &["give --output DIR"]);
    }
    run(&dir, "ecm 91 --b1 100 --shared").fails(2, &["give --campaign DIR"]);
    run(&dir, "resume camp --part 2/2").fails(2, &["I/N with I below N"]);
}

/// The lines of `shards` are commands that do everything, each once; a task that comes again has nothing to do.
#[test]
fn shards_are_commands() {
    let dir = Dir::new();
    run(&dir, &format!("{COLLATZ} camp --part 0/240")).ok();
    let shards = object(&run(&dir, "campaign shards camp --tasks 7 --json"));
    let shards = shards.as_array().unwrap();
    let number = |shard: &Value, name: &str| shard[name].as_str().unwrap().parse::<u32>().unwrap();
    assert_eq!(shards.iter().map(|it| number(it, "units")).sum::<u32>(), 240);
    assert_eq!(shards.iter().map(|it| number(it, "missing")).sum::<u32>(), 239);
    assert_eq!((number(&shards[0], "units"), number(&shards[0], "missing")), (35, 34));
    let text = run(&dir, "campaign shards camp --tasks 7");
    assert_eq!(text.ok().lines().count(), 7);
    assert!(
        text.text().starts_with("task 0  34 of 35 units  warpmp resume camp --shared --part 0/7"),
        "{}",
        text.text()
    );
    let mut done = 1;
    for task in 0..7 {
        let line = run(&dir, &format!("campaign shards camp --tasks 7 --task {task}"));
        let command = line.ok().trim().strip_prefix("warpmp ").unwrap();
        let result = object(&run(&dir, &format!("{command} --device cpu --json")));
        done += result["windows"].as_u64().unwrap();
        assert_eq!(result["missing"] == "0", task == 6, "{result}");
    }
    assert_eq!(done, 240);
    run(&dir, "campaign shards camp --tasks 7 --task 7").fails(2, &["the last one is 6"]);
    run(&dir, "campaign shards none --tasks 7").fails(1, &["none: no campaign"]);
    // A directory whose name a shell would take apart.
    fs::rename(dir.path("camp"), dir.path("it's $HOME")).unwrap();
    let line = dir.run(&["campaign", "shards", "it's $HOME", "--tasks", "1", "--task", "0"]);
    let script = format!("eval \"$1\"; {}", r#"printf '%s' "$here""#);
    let command = line.ok().replacen("warpmp resume", "here=", 1).replacen("= ", "=", 1);
    let command = command.split_once(" --shared").unwrap().0;
    let output = Command::new("sh").args(["-c", &script, "sh", command]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "it's $HOME");
    // Every process of a search draws its own starts.
    run(&dir, "ecdlp solve --curve eccp-131 -o search --device cpu --for 1 --distinguished-bits 6")
        .fails(3, &["no logarithm"]);
    assert_eq!(run(&dir, "campaign shards search --tasks 3 --task 2").ok(), "warpmp resume search\n");
    run(&dir, "resume search --part 0/2").fails(1, &["no parts"]);
}

/// Two machines without a common directory: each does a part on its own copy; the parts come together, by `rsync` where it is installed.
#[test]
fn copies_of_a_directory_come_together() {
    let dir = Dir::new();
    run(&dir, &format!("{COLLATZ} alone")).ok();
    for part in 0..2 {
        run(&dir, &format!("{COLLATZ} host{part} --part {part}/2")).ok();
    }
    let copied = object(&run(&dir, "campaign sync host0 all --json"));
    assert_eq!((&copied["copied"], &copied["known"]), (&120.into(), &0.into()));
    // A process works there at the same time.
    let other = start(&dir, "resume all --shared --part 1/2 --device cpu -q");
    run(&dir, "campaign sync host1 all").ok();
    assert_eq!(finish_any(other).0, Some(0));
    assert_eq!(figures(&dir, "all"), figures(&dir, "alone"));
    assert_eq!(object(&run(&dir, "campaign sync host1 all --json"))["known"], 120);
    // Other figures for a window: an alarm, both kept, once.
    let name = figures(&dir, "host1").into_keys().next().unwrap();
    let text = dir.text(&format!("host1/{name}"));
    let mut content: Value = serde_json::from_str::<Value>(&text).unwrap()["content"].take();
    content["figures"]["tested"] = 7.into();
    let sum = sha2::Sha256::digest(content.to_string().as_bytes());
    let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    dir.write(&format!("host1/{name}"), serde_json::json!({"content": content, "sha256": sum}).to_string());
    for _ in 0..2 {
        run(&dir, "campaign sync host1 all").fails(1, &[&format!("all/{name}.differs: host1 has another result")]);
    }
    assert!(!dir.text(&format!("all/{name}")).contains("\"tested\": 7"));
    assert_eq!(
        fs::read_dir(dir.path("all"))
            .unwrap()
            .filter(|it| it.as_ref().unwrap().file_name().to_str().unwrap().contains(".differs"))
            .count(),
        1
    );
    assert!(run(&dir, "collatz status all").ok().contains("disputed   all/"));
    // A file that is not trusted is not copied.
    dir.write(&format!("host0/{}", figures(&dir, "host0").into_keys().next().unwrap()), "{");
    let synced = run(&dir, "campaign sync host0 fresh");
    assert!(
        synced.ok().starts_with("119 certificates copied") && synced.stderr.contains("it is not copied"),
        "{}",
        synced.stderr
    );
    // Another campaign is refused.
    run(&dir, "collatz verify --device cpu --from 2^60 --count 2^12 -o other -q").ok();
    run(&dir, "campaign sync other all").fails(1, &["of another campaign"]);
    run(&dir, "campaign sync none all").fails(1, &["none: no campaign"]);
}

use sha2::Digest as _;

#[test]
fn rsync_copies_directories_in_use() {
    let found = Command::new("rsync").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no rsync");
        return;
    }
    let dir = Dir::new();
    let copy = |from: &str, to: &str| {
        let options = ["-a", "--exclude", "lock", "--exclude", "*.claim", "--exclude", ".unfinished-*"];
        let mut command = Command::new("rsync");
        command.args(options).args([format!("{from}/"), to.into()]).current_dir(dir.path(""));
        let status = command.status().unwrap();
        // 24: a file went while it was read, as a claim does.
        assert!([Some(0), Some(24)].contains(&status.code()), "{status}");
    };
    let mut child = start(&dir, &format!("{COLLATZ} camp --shared"));
    wait_until(|| count(&dir, "camp", "0") > 5);
    let mut copied = 0;
    while child.try_wait().unwrap().is_none() {
        copy("camp", "from-host");
        // Whatever was copied is whole.
        run(&dir, "collatz check from-host --sample 0").ok();
        let synced = object(&run(&dir, "campaign sync from-host all --json"));
        copied += synced["copied"].as_u64().unwrap();
        assert_eq!((&synced["not_trusted"], &synced["disputed"]), (&serde_json::json!([]), &serde_json::json!([])));
    }
    copy("camp", "from-host");
    copied += object(&run(&dir, "campaign sync from-host all --json"))["copied"].as_u64().unwrap();
    assert_eq!(copied, 240);
    assert_eq!(figures(&dir, "all"), figures(&dir, "camp"));
    run(&dir, "collatz status all --complete").ok();
    // Points of a search are appended: a second copy has more of them, and joins what is there.
    let solve = "resume search --device cpu -q";
    run(&dir, "ecdlp solve --curve eccp-131 -o search --device cpu --for 1 --distinguished-bits 6")
        .fails(3, &["no logarithm"]);
    copy("search", "search-copy");
    run(&dir, "campaign sync search-copy points").ok();
    let mut child = start(&dir, solve);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(50));
    }
    signal(&child, "-TERM");
    assert_eq!(finish(child).code, 130);
    copy("search", "search-copy");
    run(&dir, "campaign sync search-copy points").ok();
    assert!(run(&dir, "ecdlp check points --sample 4").ok().contains("; 0 wrong"));
    let points = |folder: &str| object(&run(&dir, &format!("status {folder} --json")))["points"].as_u64().unwrap();
    assert_eq!(points("points"), points("search"));
}

/// A request to terminate ends every campaign within five seconds, in order: what was stored is trusted, and the campaign goes on.
#[test]
fn requests_to_terminate_are_obeyed() {
    let dir = Dir::new();
    for (folder, command, begun) in [
        (
            "collatz",
            "collatz verify --device cpu --from 2^70 --count 64*2^34 --window 2^34 -q -o collatz --shared",
            "lock",
        ),
        (
            "collatz-alone",
            "collatz verify --device cpu --from 2^70 --count 64*2^34 --window 2^34 -q -o collatz-alone",
            "lock",
        ),
        ("curves", "ecm 2^1061-1 --b1 1e7 --curves 4096 --device cpu -q --campaign curves --shared", "n0-"),
        ("search", "ecdlp solve --curve eccp-131 --device cpu -q -o search", "points-"),
    ] {
        let child = start(&dir, command);
        wait_until(|| catches_interrupts(&child) && count(&dir, folder, begun) > 0);
        thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        signal(&child, "-TERM");
        let run = finish(child);
        let seconds = begin.elapsed().as_secs_f64();
        assert_eq!(run.code, 130, "{folder}: {}", run.stderr);
        assert!(seconds < 5.0, "{folder}: {seconds} s");
        println!("{folder}: {seconds:.2} s");
        let status = self::run(&dir, &format!("status {folder} --json"));
        assert_eq!(object(&status)["not_trusted"].as_array().map_or(0, Vec::len), 0, "{folder}: {}", status.text());
        assert_eq!(count(&dir, folder, ".unfinished"), 0, "{folder}");
    }
}
