//! Campaigns of version 0.1, which every later version reads, checks and continues. Their files never change.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::{fs, path::Path};

use common::Dir;

/// Each campaign with the command that wrote it.
const CAMPAIGNS: [(&str, &str); 3] = [
    ("default", "--from 2^40 --count 2^22 --window 2^20"),
    ("alpha", "--from 2^50 --count 2^22 --window 2^21 --checksum alpha --sieve-bits 16 --sieve-mod 9"),
    ("honda", "--from 2^60 --count 2^20 --scheme honda --sieve-bits 12 --base-bits 8"),
];

fn collatz(dir: &Dir, args: &str) -> common::Run {
    dir.run(&[&["collatz"], &args.split_whitespace().collect::<Vec<_>>()[..]].concat())
}

#[test]
fn campaigns_of_0_1_are_read_for_ever() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/campaigns-0.1");
    for (name, options) in CAMPAIGNS {
        let dir = Dir::new();
        fs::create_dir(dir.path(name)).unwrap();
        let mut certificates = Vec::new();
        for file in fs::read_dir(stored.join(name)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), dir.path(name).join(file.file_name())).unwrap();
            if file.file_name() != "campaign.json" {
                certificates.push(file.file_name());
            }
        }
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
    }
}
