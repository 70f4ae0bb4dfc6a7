//! `warpmp collatz` as a person meets it.

use std::fs;

use crate::common::{self, Dir, catches_interrupts, collatz, finish, interrupt, signal, wait_until};

const VERIFY: &[&str] = &["collatz", "verify", "--device", "cpu", "--out", "camp"];

fn verify(dir: &Dir, args: &str) -> common::Run {
    let mut all = VERIFY.to_vec();
    all.extend(args.split_whitespace());
    dir.run(&all)
}

fn certificates(dir: &Dir) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(dir.path("camp")) else { return Vec::new() };
    let mut paths: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with('0'))
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_campaign_from_verify_to_check() {
    let dir = Dir::new();
    let range = "--from 2^64-2^22 --count 2^22 --window 2^20";
    verify(&dir, range).ok();
    assert_eq!(certificates(&dir).len(), 4);
    let status = collatz(&dir, "status camp");
    assert!(status.ok().contains("covered    4194304 numbers (100.0000 %), 4 of 4 windows"), "{}", status.text());
    assert!(status.text().contains("complete: no gaps"));
    assert!(collatz(&dir, "check camp").ok().starts_with("4 certificates: 4 recomputed whole"));
    assert!(collatz(&dir, "check camp --sample 0").ok().starts_with("4 certificates: 0 recomputed whole"));
    // Again: nothing left to do.
    let again = verify(&dir, &format!("{range} --json"));
    let object: serde_json::Value = serde_json::from_str(again.ok()).unwrap();
    assert_eq!((&object["windows"], &object["verified_before"]), (&0.into(), &"4194304".into()));
    // A window without a certificate is a gap in the picture.
    let name = certificates(&dir)[1].file_name().unwrap().to_owned();
    fs::rename(&certificates(&dir)[1], dir.path("aside")).unwrap();
    collatz(&dir, "status camp --plot status.svg").ok();
    let svg = dir.text("status.svg");
    for words in ["% of the range", "numbers/s of a window", "numbers/s of all", "missing", "75.0000 % covered"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    // The missing window is shaded, and lines that mean different things have different colours.
    assert_eq!(svg.matches("opacity=\"0.25\"").count(), 2, "{svg}");
    let colours: std::collections::BTreeSet<&str> =
        svg.split("<polyline").skip(1).filter_map(|line| line.split("stroke=\"").nth(1)?.get(..7)).collect();
    assert!(colours.contains("#0072B2") && colours.contains("#D55E00"), "{colours:?}");
    // The line is in two pieces, and named once.
    assert_eq!(svg.matches("\nnumbers/s of a window\n").count(), 1);
    fs::rename(dir.path("aside"), dir.path("camp").join(name)).unwrap();
    collatz(&dir, "status camp --plot status.svg").ok();
    assert!(!dir.text("status.svg").contains("missing"));
    // Another range does not go there.
    verify(&dir, "--from 2^64 --count 2^22").fails(1, &["of another campaign"]);
}

#[test]
fn a_killed_campaign_goes_on() {
    let dir = Dir::new();
    let range = ["--from", "2^70", "--count", "2^40", "--window", "2^26"];
    for (end, code) in [("-KILL", None), ("-INT", Some(130))] {
        let before = certificates(&dir).len();
        let mut args = VERIFY.to_vec();
        args.extend(range);
        let child = dir.command(&args).spawn().unwrap();
        wait_until(|| certificates(&dir).len() > before + 2 && catches_interrupts(&child));
        if end == "-KILL" {
            signal(&child, end);
            child.wait_with_output().unwrap();
        } else {
            // One at a time works there.
            dir.run(&args).fails(1, &["is held by process"]);
            interrupt(&child);
            let run = finish(child);
            assert_eq!(Some(run.code), code, "{}", run.stderr);
        }
    }
    let status = collatz(&dir, "status camp --json");
    let object: serde_json::Value = serde_json::from_str(status.ok()).unwrap();
    assert_eq!(object["not_trusted"], serde_json::json!([]));
    assert_eq!(object["windows_done"], certificates(&dir).len());
}

#[test]
fn delays_to_files() {
    let dir = Dir::new();
    let out = collatz(&dir, "delay --device cpu --from 25 --count 3 -q");
    assert_eq!(out.ok(), "n,delay\n25,23\n26,10\n27,111\n");
    collatz(&dir, "delay --device cpu --from 2^20 --count 1000 -o d.npy -q").ok();
    let file = dir.read("d.npy");
    let (_, delays) = common::read_npy(&file);
    assert_eq!((delays.len(), delays[0].to_string()), (1000, "20".into()));
    assert_eq!(collatz(&dir, "delay --device cpu --from 1 --count 999999 --max -q").ok(), "837799,524\n");
    // Of equally long ones the first, on any engine; past 2^64 the CPU does what a GPU does not.
    for device in ["cpu", "sim"] {
        let longest = |range: &str| collatz(&dir, &format!("delay --device {device} {range} --max -q")).ok().to_owned();
        assert_eq!(longest("--from 25 --count 74"), "97,118\n");
        assert_eq!(longest("--from 12 --count 2"), "12,9\n");
        assert_eq!(longest("--from 2^64-1 --count 2"), longest("--from 2^64-1 --count 1"));
    }
}

#[test]
fn records_and_traces() {
    let dir = Dir::new();
    let out = collatz(&dir, "records --kind delay --below 100");
    assert!(out.ok().ends_with("\n73,115\n97,118\n"), "{}", out.text());
    assert!(collatz(&dir, "records --kind path --below 1000").ok().ends_with("\n703,250504\n"));
    assert_eq!(collatz(&dir, "records --kind delay --below 100 --device sim").text(), out.text());
    let by_cpu = collatz(&dir, "records --kind path --below 100");
    assert_eq!(collatz(&dir, "records --kind path --below 100 --device sim").text(), by_cpu.text());
    assert!(collatz(&dir, "trace 93571393692802302").ok().contains("delay    2091 steps"));
    // Every step counts, in the figures, in the values and in the chart; long trajectories are a line without dots.
    let trace = collatz(&dir, "trace 27 --values --plot 27.svg");
    let values: Vec<&str> = trace.ok().lines().take(111).collect();
    assert_eq!((&values[..3], values[110]), (&["82", "41", "124"][..], "1"));
    for words in ["delay    111 steps", "glide    96 steps until below the start\n", "highest  9232\n"] {
        assert!(trace.text().contains(words), "{words}: {}", trace.text());
    }
    let svg = dir.text("27.svg");
    let marks = ["start 27", "peak 9232 after 77 steps", "glide: 96 steps until below the start", "delay: 111 steps"];
    for words in
        ["The trajectory of 27: 111 steps", "steps, 3n+1 and n/2", "value", "\n10\n", "\n1000\n"].iter().chain(&marks)
    {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    // A filled and an empty circle for each value and each end of the start's line, and one for each mark.
    assert_eq!(svg.matches("<circle").count(), 2 * 112 + 2 * 2 + 4);
    collatz(&dir, "trace 93571393692802302 --plot long.svg").ok();
    assert_eq!(dir.text("long.svg").matches("<circle").count(), 2 * 2 + 4);
    // An even start is below itself at once, and the start 8 is its own peak.
    assert_eq!(collatz(&dir, "trace 6 --values").ok().lines().next(), Some("3"));
    collatz(&dir, "trace 8 --plot 8.svg").ok();
    assert!(!dir.text("8.svg").contains("peak"));
}

#[test]
fn the_published_checksum() {
    let dir = Dir::new();
    let args = "verify --checksum alpha --sieve-bits 12 --sieve-mod 9 --from 98999215*2^40 --count 2^16 --json";
    let object: serde_json::Value = serde_json::from_str(collatz(&dir, args).ok()).unwrap();
    let plan = warpmp_collatz::alpha::Plan::new(12, 9).unwrap();
    let window = warpmp_collatz::window::Window::new(98_999_215 << 40, 1 << 16).unwrap();
    let control = warpmp_collatz::engine::Control::default();
    let found = warpmp_collatz::scheme::Scheme::Alpha(plan).recompute(&window, &control).unwrap();
    let highest = found.heights.highest().unwrap();
    assert_eq!(object["alpha"], found.checksum);
    assert_eq!(object["highest_start"], highest.start.to_string());
    assert_eq!(object["highest"], highest.value.to_string());
    let simulated: serde_json::Value =
        serde_json::from_str(collatz(&dir, &format!("{args} --device sim")).ok()).unwrap();
    assert!(simulated["device"].to_string().contains("simulator"), "{simulated}");
    for same in ["alpha", "tested", "highest", "highest_start"] {
        assert_eq!(object[same], simulated[same], "{same}");
    }
}

#[test]
fn a_campaign_of_the_published_checksum() {
    let dir = Dir::new();
    let args = "--checksum alpha --sieve-bits 12 --sieve-mod 9 --from 98999215*2^40+5 --count 2^16 --window 2^14";
    let run = verify(&dir, args);
    let alpha = run.ok().lines().next().unwrap().strip_prefix("alpha    ").unwrap().to_owned();
    let highest = run.text().lines().nth(1).unwrap().strip_prefix("highest  ").unwrap().to_owned();
    assert_eq!(certificates(&dir).len(), 5);
    let status = collatz(&dir, "status camp");
    assert!(status.ok().contains(&format!("alpha      {alpha}\n")), "{}", status.text());
    let start = highest.split(',').next().unwrap();
    assert!(status.text().contains(&format!("highest    {start}, after steps of T")), "{highest}: {}", status.text());
    assert!(collatz(&dir, "check camp").ok().starts_with("5 certificates: 5 recomputed whole"));
    // What is missing is done again, and the sum is the range's; on another engine, too.
    fs::remove_file(&certificates(&dir)[2]).unwrap();
    assert!(collatz(&dir, "check camp").ok().contains("incomplete: "));
    assert!(!collatz(&dir, "status camp").ok().contains(&format!("alpha      {alpha}\n")));
    let again = collatz(&dir, &format!("verify --device sim --out camp {args}"));
    assert!(again.ok().starts_with(&format!("alpha    {alpha}\n")), "{}", again.text());
    assert!(again.stderr.contains(": 1 window, "), "{}", again.stderr);
    // Another sieve is another campaign.
    verify(&dir, &args.replace("bits 12", "bits 13")).fails(1, &["of another campaign"]);
}

#[test]
fn what_cannot_be_served() {
    let dir = Dir::new();
    let refused = |args: &str, code, words: &str| {
        let before = dir.names();
        collatz(&dir, args).fails(code, &[words]);
        assert_eq!(dir.names(), before, "{args}");
    };
    refused("verify --from 0 --count 5", 2, "at least 1");
    refused("verify --from 5 --count 0", 2, "at least 1");
    refused("verify --from 2^127 --count 1", 2, "past 2^127");
    refused("verify --from 3-7 --count 1", 2, "-4 is negative");
    refused("verify --from 2^ --count 1", 2, "column 3");
    refused("verify --from 1 --count 2^100 --window 16 --out camp", 2, "windows");
    refused("verify --from 1 --count 9 --scheme honda --sieve-bits 38", 2, "sieve bits must be from 3 to 37, not 38");
    refused("verify --from 2^60 --count 9 --checksum alpha --sieve-mod 5", 2, "1, 3 or 9");
    refused("verify --from 5 --count 9 --checksum alpha", 2, "the first start must be at least 2^20, not 5");
    refused("trace 0", 2, "at least 1");
    refused(
        "verify --from 1 --count 9 --scheme honda --leaf-bits 9",
        2,
        "--leaf-bits has no meaning with --scheme honda",
    );
    refused("verify --from 1 --count 9 --sieve-bits 9", 2, "--sieve-bits has no meaning with --scheme dfs");
    let alpha = "--checksum alpha --base-bits 9";
    refused(&format!("verify --from 1 --count 9 {alpha}"), 2, "--base-bits has no meaning with --checksum alpha");
    refused("delay --from 0 --count 5", 2, "at least 1");
    refused("status nowhere", 1, "nowhere: no campaign");
    refused("check nowhere", 1, "nowhere: no campaign");
    refused("records --kind delay --below 1", 2, "no starts below 1");
    refused("records --kind delay --below 2^40 --out none/x.csv", 1, "none/x.csv: No such file");
    dir.write("file", "");
    refused("verify --device cpu --from 1 --count 5 --out file", 1, "file");
}

#[test]
fn measured_in_words_and_as_an_object() {
    let dir = Dir::new();
    let bench = |words: &str| {
        let words = format!("bench collatz --device cpu --runs 1 {words}");
        dir.run(&words.split(' ').collect::<Vec<_>>())
    };
    let run = bench("--from 2^40 --count 2^16");
    assert!(run.ok().contains("65536 numbers from 1099511627776, dfs: leaf bits "), "{}", run.text());
    let run = bench("--operation delay-records --from 1 --count 2^12 --json");
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!(object["operation"], "delay-records");
}

/// A start beyond every word: 2^1000 − 1 has 1000 odd steps at once, and then 3^1000 − 1.
#[test]
fn long_starts_are_traced() {
    let dir = Dir::new();
    let run = dir.run(&["collatz", "trace", "2^1000-1", "--json", "--plot", "t.svg"]);
    let trace: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!(trace["start"].as_str().unwrap().len(), 302);
    let (delay, odd, even) = ["delay", "odd_steps", "even_steps"].map(|key| trace[key].as_u64().unwrap()).into();
    assert!(delay == odd + even && odd > 1000, "{trace}");
    // The first thousand steps of T are odd and reach 3^1000 − 1; before it is halved the last of them is twice that.
    let three = num_bigint::BigUint::from(3_u8).pow(1000) - 1_u8;
    assert!(trace["highest"].as_str().unwrap().parse::<num_bigint::BigUint>().unwrap() >= three * 2_u8);
    assert!(dir.text("t.svg").contains("a number of 302 digits"));
}
