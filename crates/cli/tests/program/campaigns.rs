//! Campaigns that grow, and campaigns that go on by their directory alone.

use std::{collections::BTreeMap, fs, time::SystemTime};

use crate::common::{Dir, object, run};
use serde_json::Value;

/// The certificates and the times at which they were written.
fn certificates(dir: &Dir) -> BTreeMap<String, SystemTime> {
    let files = fs::read_dir(dir.path("camp")).unwrap().map(|entry| entry.unwrap());
    let certificates = files.filter(|file| file.file_name().to_str().unwrap().starts_with('0'));
    certificates
        .map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().modified().unwrap()))
        .collect()
}

#[test]
fn a_finished_campaign_is_extended_at_both_ends() {
    let dir = Dir::new();
    // Its ends are no multiples of its windows: the first and the last are short, and stay so.
    run(&dir, "collatz verify --device cpu --from 2^40+7 --to 2^40+40_000 --window 2^14 -o camp -q").ok();
    let before = certificates(&dir);
    assert_eq!(before.len(), 3);
    // Another plan suits the longer range, and the end alone says how long it is.
    let longer = run(&dir, "collatz verify --device cpu --to 2^40+2^18 --window 2^16 --leaf-bits 8 -o camp --json");
    assert!(longer.stderr.contains("camp is extended: 39993 numbers from"), "{}", longer.stderr);
    let longer = object(&longer);
    assert_eq!((&longer["windows"], &longer["verified_before"]), (&4.into(), &"39993".into()));
    // To lower starts, too.
    let lower = object(&run(&dir, "collatz verify --device cpu --from 2^40-100 --to 2^40+2^18 -o camp --json"));
    assert_eq!((&lower["windows"], &lower["verified"]), (&2.into(), &"107".into()));
    let after = certificates(&dir);
    assert_eq!(after.len(), 9);
    assert!(before.iter().all(|certificate| after.get(certificate.0) == Some(certificate.1)), "{after:?}");
    let status = run(&dir, "collatz status camp --complete");
    for words in
        ["range      262244 numbers from 1099511627676 to 1099511889919", "9 of 9 windows", "complete: no gaps"]
    {
        assert!(status.ok().contains(words), "{words}: {}", status.text());
    }
    assert_eq!(status.text().matches("scheme     ").count(), 3);
    assert!(run(&dir, "collatz check camp --complete").ok().starts_with("9 certificates: 9 recomputed whole"));
    // A window of any part that is lost is done again with the plan of its part.
    for lost in [before.keys().next(), after.keys().last()].map(Option::unwrap) {
        let sealed = |text: String| serde_json::from_str::<Value>(&text).unwrap()["content"].clone();
        let was = sealed(dir.text(&format!("camp/{lost}")));
        fs::remove_file(dir.path("camp").join(lost)).unwrap();
        run(&dir, "resume camp --device cpu -q").ok();
        let again = sealed(dir.text(&format!("camp/{lost}")));
        for figure in ["figures", "scheme", "window"] {
            assert_eq!(again[figure], was[figure], "{figure}");
        }
    }
    // The figures are those of the range in one piece.
    let whole = "collatz verify --device cpu --from 2^40-100 --to 2^40+2^18 --leaf-bits 8 --json";
    let (whole, parts) = (object(&run(&dir, whole)), object(&run(&dir, "resume camp --device cpu --json")));
    assert_eq!((&parts["windows"], &parts["verified_before"]), (&0.into(), &whole["verified"]));
    assert_eq!((&parts["from"], &parts["count"]), (&whole["from"], &whole["count"]));
    // Neither a part of the range nor another scheme.
    for other in ["--from 2^40+7 --to 2^40+2^18", "--to 2^50 --scheme honda", "--from 2^40-200 --to 2^40"] {
        let run = run(&dir, &format!("collatz verify --device cpu -o camp {other}"));
        run.fails(1, &["of another campaign", "262244 numbers from"]);
    }
    assert_eq!(certificates(&dir).len(), 9);
}

/// A specification that was changed by hand has parts with a gap between them, or parts that overlap.
#[test]
fn parts_that_do_not_meet_are_not_trusted() {
    let dir = Dir::new();
    run(&dir, "collatz verify --device cpu --from 2^40 --to 2^40+2^14 -o camp -q").ok();
    run(&dir, "collatz verify --device cpu --to 2^40+2^15 -o camp -q").ok();
    let path = dir.path("camp/campaign.json");
    let specification = warpmp_collatz::campaign::Campaign::open(&dir.path("camp")).unwrap().specification().clone();
    for from in [(1_u128 << 40) + (1 << 14) + 1, (1 << 40) + (1 << 14) - 1] {
        let mut wrong = specification.clone();
        wrong.extensions[0].range = warpmp_collatz::window::Window::new(from, 1 << 14).unwrap();
        warpmp_campaign::seal(&path, &wrong).unwrap();
        run(&dir, "collatz status camp").fails(1, &["campaign.json", "of another kind: extension"]);
    }
}

#[test]
fn ranges_have_an_end_or_a_count() {
    let dir = Dir::new();
    let (end, count) = ["--from 25 --to 28", "--from 25 --count 3"]
        .map(|range| run(&dir, &format!("collatz delay --device cpu {range} -q")).ok().to_owned())
        .into();
    assert_eq!((end.as_str(), count), ("n,delay\n25,23\n26,10\n27,111\n", end.clone()));
    run(&dir, "collatz delay --from 25").fails(2, &["--to"]);
    run(&dir, "collatz delay --from 25 --to 30 --count 5").fails(2, &["--to", "--count"]);
    run(&dir, "collatz delay --from 25 --to 25").fails(2, &["the range is empty"]);
    run(&dir, "collatz verify --to 25").fails(2, &["--from"]);
    run(&dir, "collatz verify --to 25 -o camp").fails(1, &["camp: no campaign"]);
    run(&dir, "collatz verify --from 5 -o camp").fails(1, &["camp: no campaign"]);
    let verified = run(&dir, "collatz verify --device cpu --from 1 --to 1001");
    assert!(verified.stderr.contains("1000 numbers from 1 to 1000 converge"), "{}", verified.stderr);
}

#[test]
fn campaigns_go_on_by_their_directory() {
    let dir = Dir::new();
    let alpha = "--from 2^40 --count 2^16 --window 2^14 --checksum alpha --sieve-bits 12 --sieve-mod 9";
    for options in [alpha, "--from 2^60 --count 2^16 --window 2^14 --scheme honda --sieve-bits 12 --base-bits 8"] {
        let dir = Dir::new();
        let whole = run(&dir, &format!("collatz verify --device cpu {options} -o camp"));
        let lost = certificates(&dir).into_keys().nth(1).unwrap();
        fs::remove_file(dir.path("camp").join(lost)).unwrap();
        let again = run(&dir, "resume camp --device cpu");
        assert_eq!(again.ok(), whole.ok());
        assert!(again.stderr.contains(": 1 window, "), "{}", again.stderr);
    }
    run(&dir, "resume none").fails(1, &["none: no campaign", "-o none"]);
    fs::create_dir(dir.path("broken")).unwrap();
    dir.write("broken/campaign.json", "{");
    run(&dir, "resume broken").fails(1, &["broken/campaign.json is broken"]);
    // The search for a logarithm: a random curve of 32 bits.
    let data = include_str!("../../../curves/tests/data/curves.csv");
    let numbers: Vec<&str> = data.lines().nth(9).unwrap().split(',').collect();
    let [p, a, b, n, px, py, qx, qy, k] = numbers.try_into().unwrap();
    let text = format!(r#"{{"p": {p}, "a": {a}, "b": {b}, "n": {n}, "P": [{px}, {py}], "Q": [{qx}, {qy}]}}"#);
    dir.write("curve.json", text);
    let solve = "ecdlp solve --curve curve.json --device cpu -o search";
    assert_eq!(run(&dir, solve).ok(), format!("{k}\n"));
    fs::remove_file(dir.path("curve.json")).unwrap();
    assert_eq!(run(&dir, "resume search --device cpu -q").ok(), format!("{k}\n"));
}

#[test]
fn records_are_printed_or_written() {
    let dir = Dir::new();
    let printed = run(&dir, "collatz records --kind delay --below 100 --device cpu");
    let written = run(&dir, "collatz records --kind delay --below 100 --device cpu -o records.csv");
    assert_eq!((written.ok(), dir.text("records.csv").as_str()), ("", printed.ok()));
    run(&dir, "collatz records --kind delay --below 100 -o x --json").fails(2, &["--json"]);
}
