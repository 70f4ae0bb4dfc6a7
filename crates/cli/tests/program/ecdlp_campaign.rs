//! `ecdlp solve --out` and the commands on its directory: killed processes, several at once, limits of time, damage.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use crate::common::{Dir, catches_interrupts, finish, interrupt, wait_until};
use serde_json::Value;

/// A random curve with a known logarithm as a file, and the logarithm: row 9 has 32 bits, row 17 has 40.
fn curve(dir: &Dir, row: usize) -> String {
    let data = include_str!("../../../curves/tests/data/curves.csv");
    let numbers: Vec<&str> = data.lines().nth(row).unwrap().split(',').collect();
    let [p, a, b, n, px, py, qx, qy, k] = numbers.try_into().unwrap();
    let text = format!(r#"{{"p": {p}, "a": {a}, "b": {b}, "n": {n}, "P": [{px}, {py}], "Q": [{qx}, {qy}]}}"#);
    dir.write(&format!("curve-{row}.json"), text);
    format!("{k}\n")
}

const SOLVE: [&str; 9] =
    ["ecdlp", "solve", "--curve", "curve-17.json", "--out", "camp", "--device", "cpu", "--distinguished-bits=7"];

/// A campaign that has no logarithm soon.
const LONG: [&str; 8] = ["ecdlp", "solve", "--curve", "eccp-131", "--out", "camp", "--device", "cpu"];

/// The files of points.
fn files(dir: &Dir) -> Vec<PathBuf> {
    let names = fs::read_dir(dir.path("camp")).into_iter().flatten().map(|entry| entry.unwrap().path());
    names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("points-")).collect()
}

fn bytes(dir: &Dir) -> u64 {
    files(dir).iter().map(|path| fs::metadata(path).map_or(0, |it| it.len())).sum()
}

/// Waits until there are more bytes of points, or the process has ended.
fn grows(dir: &Dir, child: &mut Child, more: u64) {
    let before = bytes(dir);
    wait_until(|| bytes(dir) > before + more || child.try_wait().unwrap().is_some());
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn killed_and_resumed() {
    let dir = Dir::new();
    let k = curve(&dir, 17);
    for _ in 0..4 {
        let mut child = dir.command(&SOLVE).spawn().unwrap();
        grows(&dir, &mut child, 1000);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let run = dir.run(&["ecdlp", "solve", "--out", "camp", "--device", "cpu"]);
    assert_eq!(run.ok(), k, "{}", run.stderr);
    let status = object(dir.run(&["ecdlp", "status", "camp", "--json"]).ok());
    assert_eq!(format!("{}\n", status["solved"].as_str().unwrap()), k);
    assert!(status["sessions"].as_array().unwrap().len() >= 2, "{status}");
    let run = dir.run(&["ecdlp", "check", "camp", "--sample", "10"]);
    assert!(run.ok().contains("10 walks made again"), "{}", run.text());
    // It is known now.
    assert_eq!(dir.run(&SOLVE).ok(), k);
}

#[test]
fn two_processes_at_once() {
    let dir = Dir::new();
    let k = curve(&dir, 17);
    let children = [(); 2].map(|()| dir.command(&SOLVE).spawn().unwrap());
    for child in children {
        let run = finish(child);
        assert_eq!(run.ok(), k, "{}", run.stderr);
    }
    dir.run(&["ecdlp", "check", "camp", "--sample", "5"]).ok();
    // Nothing is in the way of the other.
    let dir = Dir::new();
    let long = [&LONG[..], &["--for", "2", "--distinguished-bits", "6", "-q"]].concat();
    for child in [(); 2].map(|()| dir.command(&long).spawn().unwrap()) {
        finish(child).fails(3, &["no logarithm yet"]);
    }
    let status = object(dir.run(&["ecdlp", "status", "camp", "--json"]).ok());
    assert_eq!(status["sessions"].as_array().unwrap().len(), 2, "{status}");
}

#[test]
fn limits_of_time_and_signals() {
    let dir = Dir::new();
    let run = dir.run(&[&LONG[..], &["--for", "1", "--distinguished-bits", "6"]].concat());
    run.fails(3, &["no logarithm yet", "goes on"]);
    assert_eq!(run.text(), "");
    // A killed process has left a block that it was writing.
    let path = files(&dir).remove(0);
    fs::write(&path, [&fs::read(&path).unwrap()[..], b"warpmpB1\x10"].concat()).unwrap();
    let mut child = dir.command(&["ecdlp", "solve", "--out", "camp", "--device", "cpu"]).spawn().unwrap();
    wait_until(|| catches_interrupts(&child));
    grows(&dir, &mut child, 100);
    interrupt(&child);
    let run = finish(child);
    assert_eq!(run.code, 130, "{}", run.stderr);
    for words in ["9 bytes of an unfinished block", "steps now", "error: interrupted; `warpmp resume camp` goes on"] {
        assert!(run.stderr.contains(words), "no {words:?} in {}", run.stderr);
    }
    assert!(dir.run(&["ecdlp", "check", "camp", "--sample", "2"]).ok().contains("torn   camp/points-"));
    let text = dir.run(&["ecdlp", "status", "camp", "--plot", "camp.svg"]);
    // The walks of the first session went on in the second one, whose walks wait for the next.
    let words = [
        "eccp-131, 131 bits",
        " years on average",
        "probability of 0.9",
        "2, 0 of them at work or killed; 1 file of walks that wait",
    ];
    for word in words {
        assert!(text.ok().contains(word), "no {word:?} in {}", text.text());
    }
    assert!(dir.text("camp.svg").contains("Rayleigh"));
    // Another curve, another walk.
    curve(&dir, 9);
    let other = ["ecdlp", "solve", "--curve", "curve-9.json", "--out", "camp", "--device", "cpu"];
    dir.run(&other).fails(1, &["camp/campaign.json", "of another campaign: eccp-131, seed 0"]);
    dir.run(&[&LONG[..], &["--seed", "1"]].concat()).fails(1, &["of another campaign"]);
    // Joined with a directory of the same walk, not with another one.
    dir.run(&["ecdlp", "join", "all", "camp"]).ok();
    let known = object(dir.run(&["ecdlp", "join", "all", "camp", "--json"]).ok());
    assert_eq!((&known[0]["copied"], &known[0]["known"]), (&0.into(), &2.into()));
    dir.run(&[&other[..5], &["other", "--device", "cpu"]].concat()).ok();
    dir.run(&["ecdlp", "join", "all", "other"]).fails(1, &["other/campaign.json", "of another campaign"]);
    // A damaged block is found.
    let path = files(&dir).remove(0);
    let mut damaged = fs::read(&path).unwrap();
    damaged[50] ^= 1;
    fs::write(&path, damaged).unwrap();
    let run = dir.run(&["ecdlp", "check", "camp", "--sample", "2"]);
    run.fails(1, &["camp: the check found 2 faults"]);
    assert!(run.text().contains("are damaged"), "{}", run.text());
    // A search that goes on tells it, too, even if it is to be quiet.
    let run = dir.run(&["ecdlp", "solve", "--out", "camp", "--device", "cpu", "--for", "1", "-q"]);
    run.fails(3, &["warning: camp/points-", "are damaged; their points are lost"]);
}

#[test]
fn directories_that_are_none() {
    let dir = Dir::new();
    for command in [&["status", "none"][..], &["check", "none"], &["join", "new", "none"], &["solve", "--out", "none"]]
    {
        let run = dir.run(&[&["ecdlp"], command].concat());
        run.fails(1, &["none: no campaign"]);
    }
    dir.run(&["ecdlp", "solve"]).fails(2, &["--curve"]);
    dir.run(&["ecdlp", "solve", "--curve", "eccp-79", "--for", "5"]).fails(2, &["--out"]);
    let run = dir.run(&["ecdlp", "solve", "--curve", "eccp-79", "--distinguished-bits", "33", "--device", "cpu"]);
    run.fails(2, &["0 to 32"]);
}

#[test]
fn plans_are_explained() {
    let dir = Dir::new();
    let run = dir.run(&["ecdlp", "explain", "--curve", "eccp-89", "--device", "sim", "--distinguished-bits", "20"]);
    for word in [
        "eccp-89, 89 bits, 3 limbs",
        "20 zero bits",
        "108 wide products and 72 bytes of memory",
        "2048 points",
        "bytes of points",
    ] {
        assert!(run.ok().contains(word), "no {word:?} in {}", run.text());
    }
}
