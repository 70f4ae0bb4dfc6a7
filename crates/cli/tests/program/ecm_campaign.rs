//! `ecm --campaign`: killed processes, resuming, more curves, damage, and `status`.

use std::fs;

use crate::common::{Dir, catches_interrupts, finish, interrupt, wait_until};
use serde_json::Value;

/// Two primes of 31 digits: no curve here finds one.
const HARD: &str = "1000000000000000000000000000057*1000000000000000000000000000099";

fn begin(curves: &'static str) -> [&'static str; 11] {
    ["ecm", HARD, "--b1", "2000", "--curves", curves, "--sigma", "3:17", "--unit", "4", "--campaign=camp"]
}

fn certificates(dir: &Dir) -> usize {
    let names = fs::read_dir(dir.path("camp")).into_iter().flatten();
    names.filter(|it| it.as_ref().unwrap().file_name().to_str().unwrap().starts_with("n0-c")).count()
}

fn status(dir: &Dir) -> Value {
    serde_json::from_str(dir.run(&["status", "camp", "--json"]).ok()).unwrap()
}

#[test]
fn killed_and_resumed() {
    let dir = Dir::new();
    for _ in 0..3 {
        let before = certificates(&dir);
        let mut child = dir.command(&begin("60")).spawn().unwrap();
        wait_until(|| certificates(&dir) > before || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let middle = status(&dir);
    assert!(middle["curves_done"].as_u64().unwrap() >= 12, "{middle}");
    assert!(middle["seconds_left"].as_f64().is_some_and(|left| left >= 0.0), "{middle}");
    let run = dir.run(&["resume", "camp"]);
    assert!(run.ok().contains(" = (1000000000000000000000000000156"), "{}", run.ok());
    assert!(run.stderr.contains("60 in all"), "{}", run.stderr);
    // The whole of it is as an undisturbed run: each curve once.
    let end = status(&dir);
    assert_eq!((end["attempts"].as_u64(), end["curves_done"].as_u64()), (Some(60), Some(60)), "{end}");
    assert_eq!((end["units"].as_u64(), certificates(&dir)), (Some(15), 15));
    let text = dir.run(&["status", "camp"]);
    for word in
        ["60 of 60 on each integer", "from sigma 3:17 on, B1 2000, B2 200000", "level      t1", "expected   curves"]
    {
        assert!(text.ok().contains(word), "no {word} in {}", text.ok());
    }
    // More curves; a damaged certificate is made again; another campaign is refused.
    fs::write(dir.path("camp/n0-c8.json"), "{").unwrap();
    let run = dir.run(&begin("70"));
    run.ok();
    assert!(run.stderr.contains("n0-c8.json.aside, and its curves are made again"), "{}", run.stderr);
    assert!(
        run.stderr.contains("camp is extended: 60 curves on each integer before, 72 from now on"),
        "{}",
        run.stderr
    );
    assert_eq!(status(&dir)["curves_done"].as_u64(), Some(72));
    // A specification that is broken is written anew, and is kept.
    fs::write(dir.path("camp/campaign.json"), "{").unwrap();
    let run = dir.run(&begin("72"));
    run.ok();
    let broken = "camp/campaign.json was broken (now camp/campaign.json.aside); written anew, 18 certificates fit it";
    assert!(run.stderr.contains(broken), "{}", run.stderr);
    // A certificate in good order under another name is left alone, and named.
    fs::copy(dir.path("camp/n0-c4.json"), dir.path("camp/n0-c8.json")).unwrap();
    dir.run(&begin("72")).fails(1, &["move them to another directory: n0-c8.json (of another campaign: n0-c4)"]);
    let other = ["ecm", "2^67-1", "--b1", "2000", "--curves", "4", "--campaign", "camp"];
    dir.run(&other).fails(1, &["campaign.json is of another campaign: 72 curves from sigma 3:17 on"]);
}

#[test]
fn finds_are_kept() {
    let dir = Dir::new();
    dir.write("n", format!("2^67-1\n14517577769892627371*7\n{HARD}\n97\n"));
    let args = ["ecm", "n", "--b1", "2000", "--curves", "40", "--seed", "5", "--unit", "20", "--campaign", "camp"];
    let run = dir.run(&args);
    let lines: Vec<&str> = run.ok().lines().collect();
    assert_eq!(lines[0], "147573952589676412927 = 193707721 * 761838257287");
    assert!(lines[1].ends_with(" = 7 * 858109519 * 16918094309") || lines[1].contains("7 * (145"), "{}", lines[1]);
    assert!(lines[2].contains(" = (1000") && lines[3] == "97 = 97", "{lines:?}");
    let status = dir.run(&["status", "camp"]);
    assert!(status.ok().contains("found      193707721 by sigma 0:"), "{}", status.ok());
    // All is done: the same lines at once.
    assert_eq!(dir.run(&args).ok(), run.ok());
    assert_eq!(dir.run(&["resume", "camp", "-q"]).ok(), run.ok());
    // Another seed has other curves.
    let other = ["ecm", "n", "--b1", "2000", "--curves", "40", "--seed", "6", "--campaign", "camp"];
    dir.run(&other).fails(1, &["campaign.json is of another campaign"]);
    // What divides nothing is no find: a certificate is sealed, and not trusted otherwise.
    let name = fs::read_dir(dir.path("camp")).unwrap().map(|it| it.unwrap().path());
    let name = name.filter(|it| it.to_str().unwrap().ends_with("-c0.json")).min().unwrap();
    let text = fs::read_to_string(&name).unwrap().replace("193707721", "193707723");
    fs::write(&name, text).unwrap();
    assert!(dir.run(&["status", "camp"]).ok().contains("damaged: its SHA-256"), "{}", name.display());
}

/// A search that ends early without a find leaves the file of before.
#[test]
fn interrupted_without_a_find() {
    let dir = Dir::new();
    dir.write("before", "precious\n");
    let args = ["ecm", HARD, "--b1", "2000", "--curves", "1000000", "--sigma", "3:17", "-o", "before", "-q"];
    let child = dir.command(&args).spawn().unwrap();
    wait_until(|| catches_interrupts(&child));
    interrupt(&child);
    finish(child).fails(130, &["interrupted"]);
    assert_eq!(dir.text("before"), "precious\n");
    assert_eq!(dir.names(), ["before"]);
}

#[test]
fn interrupted() {
    let dir = Dir::new();
    let child = dir.command(&begin("4000")).spawn().unwrap();
    wait_until(|| certificates(&dir) > 0 && catches_interrupts(&child));
    interrupt(&child);
    finish(child).fails(130, &["interrupted; `warpmp resume camp` goes on"]);
    dir.run(&["status", "no-campaign"]).fails(1, &["no-campaign: no campaign; `warpmp ecm` begins one"]);
    dir.run(&["ecm", "15", "--campaign", "x"]).fails(2, &["give --b1 B1"]);
    dir.run(&["ecm", "15", "--b1", "100", "--campaign", "x", "--save", "y"]).fails(2, &["cannot be used with"]);
}
