//! Campaigns of version 0.1, which every later version reads, checks, continues and extends. Their files never change.

use std::{ffi::OsString, fs, path::Path};

use crate::common::{Dir, collatz, run};

/// Each campaign with the command that wrote it.
const CAMPAIGNS: [(&str, &str); 4] = [
    ("default", "--from 2^40 --count 2^22 --window 2^20"),
    ("alpha", "--from 2^50 --count 2^22 --window 2^21 --checksum alpha --sieve-bits 16 --sieve-mod 9"),
    ("honda", "--from 2^60 --count 2^20 --scheme honda --sieve-bits 12 --base-bits 8"),
    // Its certificates name the host.
    ("hosts", "--from 2^41 --count 2^21 --window 2^20"),
];

/// The searches for logarithms, with the logarithms: one that is solved, one that was killed after a part of the work, and one whose
/// session names the host.
const SEARCHES: [(&str, &str); 3] =
    [("ecdlp-solved", "99874876989\n"), ("ecdlp-begun", "56626405374898\n"), ("ecdlp-hosts", "8382032826\n")];

/// Copies a stored campaign; gives the names of its files.
fn copied(dir: &Dir, name: &str) -> Vec<OsString> {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/campaigns-0.1");
    fs::create_dir(dir.path(name)).unwrap();
    let files = fs::read_dir(stored.join(name)).unwrap().map(|file| file.unwrap());
    files
        .map(|file| {
            fs::copy(file.path(), dir.path(name).join(file.file_name())).unwrap();
            file.file_name()
        })
        .collect()
}

#[test]
fn campaigns_of_0_1_are_read_for_ever() {
    for (name, options) in CAMPAIGNS {
        let dir = Dir::new();
        let mut certificates = copied(&dir, name);
        certificates.retain(|file| file != "campaign.json");
        collatz(&dir, &format!("status {name} --complete")).ok();
        collatz(&dir, &format!("check {name} --complete")).ok();
        // It goes on: a window that is lost is done again, with the same figures.
        let lost = dir.path(name).join(certificates.iter().max().unwrap());
        let figures = |text: &str| -> serde_json::Value {
            serde_json::from_str::<serde_json::Value>(text).unwrap()["content"]["figures"].clone()
        };
        let before = figures(&fs::read_to_string(&lost).unwrap());
        assert!(before.is_object(), "{name}");
        fs::remove_file(&lost).unwrap();
        collatz(&dir, &format!("status {name} --complete")).fails(1, &["error"]);
        collatz(&dir, &format!("verify {options} --device cpu --out {name} -q")).ok();
        assert_eq!(figures(&fs::read_to_string(&lost).unwrap()), before, "{name}");
        collatz(&dir, &format!("status {name} --complete")).ok();
        // Without a word about the range, too; and it grows.
        fs::remove_file(&lost).unwrap();
        run(&dir, &format!("resume {name} --device cpu -q")).ok();
        assert_eq!(figures(&fs::read_to_string(&lost).unwrap()), before, "{name}");
        let end = warpmp_collatz::campaign::Campaign::open(&dir.path(name)).unwrap().specification().whole().end();
        collatz(&dir, &format!("verify --to {end}+2^16 --device cpu -o {name} -q")).ok();
        collatz(&dir, &format!("check {name} --complete --sample 0")).ok();
    }
}

#[test]
fn searches_of_0_1_are_read_for_ever() {
    for (name, logarithm) in SEARCHES {
        let dir = Dir::new();
        let is_solved = copied(&dir, name).iter().any(|file| file == "solution.json");
        assert!(run(&dir, &format!("ecdlp check {name} --sample 20")).ok().contains("; 0 wrong"), "{name}");
        let status = || -> serde_json::Value {
            serde_json::from_str(run(&dir, &format!("ecdlp status {name} --json")).ok()).unwrap()
        };
        let before = status();
        assert_eq!(before["solved"].is_string(), is_solved, "{before}");
        assert!(before["points"].as_u64().unwrap() > 500, "{before}");
        assert_eq!(run(&dir, &format!("resume {name} --device cpu -q")).ok(), logarithm, "{name}");
        let after = status();
        assert_eq!(after["solved"], logarithm.trim(), "{after}");
        assert_eq!(after["sessions"].as_array().unwrap().len(), if is_solved { 1 } else { 2 }, "{after}");
        // Its walks, and the points of both programs, meet in a joined directory.
        run(&dir, &format!("ecdlp join all {name}")).ok();
    }
}

#[test]
fn curves_of_0_1_are_read_for_ever() {
    let dir = Dir::new();
    copied(&dir, "curves-hosts");
    let status =
        || -> serde_json::Value { serde_json::from_str(run(&dir, "status curves-hosts --json").ok()).unwrap() };
    let before = status();
    assert_eq!(
        (&before["units_done"], &before["units"], &before["attempts"]),
        (&2.into(), &2.into(), &4.into()),
        "{before}"
    );
    let divisors = |status: &serde_json::Value| status["numbers"][0].clone();
    let line = "158456325028528675187087900673 = 3 * 31817 * (1507963) * 1100876018364883721\n";
    // A unit that is lost is made again, with the same divisors.
    fs::remove_file(dir.path("curves-hosts/n0-c2.json")).unwrap();
    assert_eq!(status()["units_done"], 1);
    assert_eq!(run(&dir, "resume curves-hosts --device cpu -q").ok(), line);
    assert_eq!(divisors(&status()), divisors(&before));
}
