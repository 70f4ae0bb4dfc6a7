//! The directory of a campaign as a person leaves it: strange files in it, files that are lost, broken or of another version, and what
//! scripts are told.

use std::{fs, path::PathBuf};

use crate::common::{Dir, Run, collatz};
use warpmp_collatz::certificate::{load, store};

/// Without a size of windows: 2^38, or what the directory has.
const ASKED: &str = "verify --device cpu --from 2^50+7 --count 2^18 --out camp";

fn begun() -> Dir {
    let dir = Dir::new();
    collatz(&dir, &format!("{ASKED} --window 2^16")).ok();
    assert_eq!(certificates(&dir).len(), 5);
    dir
}

fn certificates(dir: &Dir) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "json") && name(path).starts_with('0'));
    paths.sort();
    paths
}

fn name(path: &std::path::Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(run.text()).unwrap()
}

#[test]
fn strange_files_are_left_alone() {
    let dir = begun();
    fs::remove_file(&certificates(&dir)[2]).unwrap();
    dir.write("camp/notes.json", "{\"mine\": true}").write("camp/notes.txt", "mine").write("camp/0-1.json", "");
    fs::copy(&certificates(&dir)[0], dir.path("camp/copy.json")).unwrap();
    let again = collatz(&dir, &format!("{ASKED} --json"));
    assert_eq!(json(&again)["windows"], 1, "{}", again.stderr);
    assert_eq!(json(&again)["left_alone"], serde_json::json!(["camp/0-1.json", "camp/copy.json", "camp/notes.json"]));
    assert!(again.stderr.contains("camp/notes.json is no certificate of this campaign, and is left alone"));
    assert!(!again.stderr.contains("notes.txt"));
    let status = collatz(&dir, "status camp");
    assert!(status.ok().contains("left alone  camp/notes.json") && status.text().contains("complete: no gaps"));
    assert_eq!(json(&collatz(&dir, "status camp --json"))["left_alone"].as_array().unwrap().len(), 3);
    let check = collatz(&dir, "check camp --sample 0");
    assert!(check.ok().contains("0 wrong") && check.stderr.contains("notes.json"), "{}", check.stderr);
    assert_eq!((dir.text("camp/notes.json"), dir.text("camp/0-1.json")), ("{\"mine\": true}".into(), String::new()));
    // Many are not all named.
    for number in 0..30 {
        dir.write(&format!("camp/{number}.json"), "");
    }
    let again = collatz(&dir, ASKED);
    assert!(again.stderr.contains("… and 13 more files") && again.stderr.lines().count() < 26, "{}", again.stderr);
}

#[test]
fn broken_certificates_are_done_again_and_kept() {
    let dir = begun();
    let paths = certificates(&dir);
    let whole: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let wrong = whole[1].replacen("\"tested\": ", "\"tested\": 1", 1);
    fs::write(&paths[1], &wrong).unwrap();
    fs::write(&paths[2], "").unwrap();
    fs::remove_file(&paths[3]).unwrap();
    fs::create_dir(&paths[3]).unwrap();
    let status = collatz(&dir, "status camp");
    assert!(status.ok().contains("not trusted") && status.text().contains("missing    196608 numbers from"));
    let check = collatz(&dir, "check camp");
    assert_eq!(check.code, 1);
    assert!(check.text().contains("damaged: its SHA-256"), "{}", check.text());
    let again = collatz(&dir, &format!("{ASKED} --json"));
    assert_eq!(json(&again)["windows"], 3, "{}", again.stderr);
    for path in &paths[1..4] {
        let aside = format!("camp/{}.aside", name(path));
        assert!(again.stderr.contains(&format!("it is now {aside}, and its window is done again")), "{}", again.stderr);
        assert!(json(&again)["set_aside"].as_array().unwrap().contains(&aside.into()));
    }
    assert_eq!(dir.text(&format!("camp/{}.aside", name(&paths[1]))), wrong);
    assert!(collatz(&dir, "check camp").ok().contains("0 wrong"));
    // A second one of the same window has another name.
    fs::write(&paths[1], "{").unwrap();
    collatz(&dir, ASKED).ok();
    assert_eq!(dir.text(&format!("camp/{}.aside-2", name(&paths[1]))), "{");
    assert_eq!(json(&collatz(&dir, "status camp --json"))["complete"], true);
}

/// Somebody's work, in good order, which does not count here.
#[test]
fn other_versions_stop_the_command() {
    let dir = begun();
    let path = &certificates(&dir)[1];
    let mut certificate = load(path).unwrap().unwrap();
    certificate.program = "warpmp-collatz 9.0.0".into();
    store(path, &certificate).unwrap();
    fs::write(&certificates(&dir)[0], "").unwrap();
    let before = dir.text(&format!("camp/{}", name(path)));
    let refused = collatz(&dir, ASKED);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("of another kind: program warpmp-collatz 9.0.0"), "{}", refused.stderr);
    assert!(refused.stderr.contains("1 certificate is not trusted") && refused.stderr.contains("--redo"));
    // Nothing has changed, not even what could have been done without.
    assert!(!dir.path(&format!("camp/{}.aside", name(&certificates(&dir)[0]))).exists());
    let again = collatz(&dir, &format!("{ASKED} --redo --json"));
    assert_eq!(json(&again)["windows"], 2, "{}", again.stderr);
    assert_eq!(dir.text(&format!("camp/{}.aside", name(path))), before);
    collatz(&dir, "status camp --complete").ok();
}

/// The advice for an extended campaign without its description, and how it goes when one follows it.
#[test]
fn a_lost_description_of_an_extended_campaign() {
    let dir = begun();
    let first = certificates(&dir);
    let extend = "verify --device cpu --to 2^50+2^19 --out camp";
    collatz(&dir, extend).ok();
    let later: Vec<PathBuf> = certificates(&dir).into_iter().filter(|it| !first.contains(it)).collect();
    assert!(!later.is_empty());
    fs::remove_file(dir.path("camp/campaign.json")).unwrap();
    let advice = "If it was extended, move the certificates of later ranges to another directory, give its first range";
    collatz(&dir, "status camp").fails(1, &[advice]);
    collatz(&dir, ASKED).fails(1, &[advice]);
    fs::create_dir(dir.path("away")).unwrap();
    let away = |path: &PathBuf| dir.path("away").join(name(path));
    for path in &later {
        fs::rename(path, away(path)).unwrap();
    }
    collatz(&dir, ASKED).ok();
    for path in &later {
        fs::rename(away(path), path).unwrap();
    }
    let run = collatz(&dir, &format!("{extend} --json"));
    assert_eq!(json(&run)["windows"], 0, "{}", run.stderr);
    collatz(&dir, "status camp --complete").ok();
}

#[test]
fn a_lost_description_is_written_anew() {
    let dir = begun();
    let description = dir.text("camp/campaign.json");
    for lost in [None, Some(""), Some(&description[..100])] {
        fs::remove_file(&certificates(&dir)[1]).unwrap();
        match lost {
            Some(text) => drop(dir.write("camp/campaign.json", text)),
            None => fs::remove_file(dir.path("camp/campaign.json")).unwrap(),
        }
        // Who only looks is told how to go on.
        for command in ["status camp", "check camp"] {
            collatz(&dir, command).fails(1, &[
                "camp/campaign.json: ",
                "4 certificates are there, for starts from 1125899906842631 to 1125899907104774 in windows of 65536",
            ]);
        }
        // Another range, size or scheme is another campaign's.
        for other in [
            "--from 2^50 --count 2^18",
            "--from 2^50+7 --count 2^18 --window 2^17",
            "--from 2^50+7 --count 2^18 --leaf-bits 5",
            "--from 2^50+7 --count 2^18 --scheme honda --sieve-bits 8",
        ] {
            let words = ["campaign.json is lost, and camp/0", "give what the campaign had"];
            collatz(&dir, &format!("verify --device cpu --out camp {other}")).fails(1, &words);
        }
        // The window that is missing, of the size that the certificates tell, and by their plan.
        let again = collatz(&dir, &format!("{ASKED} --json"));
        assert_eq!(
            (&json(&again)["windows"], &json(&again)["verified"]),
            (&1.into(), &"65536".into()),
            "{}",
            again.stderr
        );
        assert!(again.stderr.contains("written anew, 4 certificates fit it"), "{}", again.stderr);
        assert_eq!(dir.text("camp/campaign.json"), description);
        collatz(&dir, "status camp --complete").ok();
    }
    assert_eq!(
        [dir.text("camp/campaign.json.aside"), dir.text("camp/campaign.json.aside-2")],
        ["", &description[..100]]
    );
}

#[test]
fn scripts_are_told_what_is_missing() {
    let dir = begun();
    for command in ["status camp --complete", "check camp --complete --sample 0"] {
        collatz(&dir, command).ok();
    }
    fs::remove_file(&certificates(&dir)[4]).unwrap();
    for command in ["status camp", "check camp --sample 0"] {
        collatz(&dir, command).ok();
        let object = json(&collatz(&dir, &format!("{command} --json")));
        assert_eq!(object["complete"], false, "{object}");
        let failed = collatz(&dir, &format!("{command} --complete"));
        failed.fails(1, &["error: camp: 7 numbers of the range have no certificate"]);
        assert!(failed.text().contains("7 numbers"), "{}", failed.text());
    }
}

/// The same command continues, wherever it runs: what suits another engine better is no other campaign.
#[test]
fn another_engine_goes_on() {
    let dir = begun();
    fs::remove_file(&certificates(&dir)[1]).unwrap();
    let asked = ASKED.replace("--device cpu", "--device sim");
    let again = collatz(&dir, &format!("{asked} --window 2^16 --json"));
    assert_eq!(json(&again)["windows"], 1, "{}", again.stderr);
    collatz(&dir, "status camp --complete").ok();
    for other in ["--window 2^15", "--window 2^16 --lookahead-bits 9", "--leaf-bits 7"] {
        collatz(&dir, &format!("{asked} {other}")).fails(1, &["of another campaign"]);
    }
}

/// A plan that a GPU's memory allows, on a CPU without as much: an error in time, not the end by the system.
#[cfg(target_os = "linux")]
#[test]
fn a_plan_that_is_too_large() {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    let available: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    // Five classes of 2^37 bits.
    if available * 1024 > 5 << 34 {
        println!("skipped: there is memory for it");
        return;
    }
    let dir = Dir::new();
    let large = "verify --device cpu --from 2^70 --count 2^20 --leaf-bits 37 --lookahead-bits 37 --out camp";
    collatz(&dir, large).fails(1, &["the look-ahead of this plan takes 8", "bytes of memory"]);
    assert!(!dir.path("camp").exists());
}
