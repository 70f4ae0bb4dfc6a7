//! `batch-gcd`: planted factors, against all pairs, and bad input.

use crate::common::{Dir, lines, mixed, npy_of};
use num_bigint::BigUint;

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Lines of a kind, without it.
fn of_kind<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t')).collect()
}

#[test]
fn exactly_the_planted_pairs() {
    let example = |name: &str| format!("{}/../../examples/batch-gcd/{name}", env!("CARGO_MANIFEST_DIR"));
    let planted = std::fs::read_to_string(example("planted.txt")).unwrap();
    let planted: Vec<&str> = planted.lines().skip(1).collect();
    let dir = Dir::new();
    let run = dir.run(&["batch-gcd", &example("moduli.txt"), "--hex"]);
    assert_eq!(of_kind(run.ok(), "pair"), planted);
    let shared = of_kind(run.ok(), "shared");
    let affected: Vec<&str> = shared.iter().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(affected, ["5", "10", "13", "18", "23", "31", "36", "42"]);
    assert!(run.stderr.contains("8 share a factor, in 6 pairs"), "{}", run.stderr);
}

#[test]
fn as_all_pairs_have_it() {
    let mut numbers: Vec<BigUint> = [5, 33, 64, 200, 1000].into_iter().flat_map(|bits| mixed(9, bits, bits)).collect();
    numbers.retain(|number| *number > BigUint::from(1u8));
    numbers.sort();
    numbers.dedup();
    assert!(numbers.len() > 20);
    let (mut pairs, mut shared) = (Vec::new(), Vec::new());
    for (i, number) in numbers.iter().enumerate() {
        let others = numbers.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, other)| other);
        let common = gcd(number.clone(), others.product());
        if common > BigUint::from(1u8) {
            shared.push(format!("{}\t{common}\t{}", i + 1, number / &common));
        }
        for (j, other) in numbers.iter().enumerate().skip(i + 1) {
            let common = gcd(number.clone(), other.clone());
            if common > BigUint::from(1u8) {
                pairs.push(format!("{}\t{}\t{common}", i + 1, j + 1));
            }
        }
    }
    let dir = Dir::new();
    dir.write("n", lines(&numbers)).write("n.npy", npy_of(&numbers, 4, 32));
    for file in ["n", "n.npy"] {
        let run = dir.run(&["batch-gcd", file, "-q"]);
        assert_eq!(
            (of_kind(run.ok(), "shared"), of_kind(run.ok(), "pair")),
            (shared.iter().map(String::as_str).collect(), pairs.iter().map(String::as_str).collect())
        );
    }
}

#[test]
fn the_result_is_checked_and_stages_are_timed() {
    let dir = Dir::new();
    let example = format!("{}/../../examples/batch-gcd/moduli.txt", env!("CARGO_MANIFEST_DIR"));
    for device in ["cpu", "sim"] {
        let run = dir.run(&["batch-gcd", &example, "--device", device, "--check", "20", "--json", "-o", "out"]);
        let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
        assert_eq!((&object["checked"], &object["affected"]), (&20.into(), &8.into()), "{device}");
        for stage in
            ["read_seconds", "prepare_seconds", "product_seconds", "remainder_seconds", "gcd_seconds", "pair_seconds"]
        {
            assert!(object[stage].as_f64().is_some_and(|seconds| seconds > 0.0), "{stage}");
        }
        let seconds = object.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("_seconds"));
        let (totals, stages): (Vec<_>, Vec<_>) = seconds.partition(|(name, _)| *name == "total_seconds");
        let sum =
            |fields: Vec<(&String, &serde_json::Value)>| fields.iter().filter_map(|it| it.1.as_f64()).sum::<f64>();
        assert!(stages.len() == 9 && sum(stages) <= sum(totals), "{object}");
    }
}

#[test]
fn what_is_no_modulus_is_named() {
    let dir = Dir::new();
    dir.write("n", "# a comment\n15\n0\n21\n1\n15\n22\n0x15\n15\n");
    let run = dir.run(&["batch-gcd", "n", "-o", "out", "--json"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    let text = "zero\t3\none\t5\nduplicate\t6\t2\nduplicate\t8\t4\nduplicate\t9\t2\nshared\t2\t3\t5\nshared\t4\t3\t7\npair\t2\t4\t3\n";
    assert_eq!(dir.text("out"), text);
    for (name, count) in [("lanes", 8), ("affected", 2), ("pairs", 1), ("duplicates", 3), ("left_out", 2)] {
        assert_eq!(object[name], count, "{name}");
    }
}

#[test]
fn few_integers_and_bad_input() {
    let dir = Dir::new();
    dir.write("one", "15\n").write("zeros", "0\n0\n").write("empty", "# nothing\n").write("bad", "15\n-5\n");
    assert_eq!(dir.run(&["batch-gcd", "one", "-q"]).ok(), "");
    assert_eq!(dir.run(&["batch-gcd", "zeros", "-q"]).ok(), "zero\t1\nzero\t2\n");
    dir.run(&["batch-gcd", "empty"]).fails(1, &["no numbers"]);
    dir.run(&["batch-gcd", "bad", "-o", "out"]).fails(1, &["bad:2", "negative numbers"]);
    assert_eq!(dir.names(), ["bad", "empty", "one", "zeros"]);
}

/// Keys in every form that people have, and a table; results name files and labels.
#[test]
fn keys_in_and_findings_out() {
    let folder = format!("{}/../../examples/batch-gcd/keys/", env!("CARGO_MANIFEST_DIR"));
    let dir = Dir::new();
    let names = [
        "certificate.pem",
        "request.pem",
        "public.pem",
        "authorized_keys",
        "modulus.txt",
        "moduli.csv",
        "certificate.der",
    ];
    for name in names {
        dir.write(name, std::fs::read(folder.clone() + name).unwrap());
    }
    let find = |more: &[&str]| dir.run(&[&["batch-gcd", "--device", "cpu", "--check", "9"], more].concat());
    let run =
        find(&["certificate.pem", "certificate.der", "request.pem", "public.pem", "authorized_keys", "modulus.txt"]);
    let labels = |kind| -> Vec<String> {
        of_kind(run.ok(), kind).iter().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(
        labels("duplicate"),
        ["certificate.der certificate.pem", "request.pem certificate.pem", "public.pem#3 certificate.pem"]
    );
    let shared: Vec<&str> = of_kind(run.ok(), "shared").iter().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(shared, ["certificate.pem", "public.pem#1", "authorized_keys:2", "authorized_keys:4", "modulus.txt:1"]);
    for line in of_kind(run.ok(), "shared") {
        let numbers: Vec<BigUint> = line.split('\t').skip(1).map(|number| number.parse().unwrap()).collect();
        assert_eq!((&numbers[0] * &numbers[1]).bits(), 512, "{line}");
    }
    for note in ["warning: public.pem#2: a key that is not RSA", "warning: authorized_keys:3: a key", "2 keys left out"]
    {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
    let table = find(&["moduli.csv", "--column", "modulus", "--label", "host", "--json", "--no-pairs", "--hex"]);
    let object: serde_json::Value = serde_json::from_str(table.ok()).unwrap();
    let finding = &object["findings"][1];
    assert_eq!((&finding["kind"], &finding["label"]), (&"shared".into(), &"beta, old".into()));
    assert!(
        finding["p"].as_str().unwrap().starts_with("0x")
            && finding["q"].is_string()
            && object["findings"].as_array().unwrap().len() == 2
    );
    dir.run(&["batch-gcd", "moduli.csv", "--column", "n"])
        .fails(1, &["no column is called n; there are host, bits, modulus"]);
    dir.write("k.pem", "-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----\n");
    dir.run(&["batch-gcd", "k.pem"]).fails(1, &["k.pem: a private key; `openssl pkey -pubout` writes"]);
    dir.write("wide.csv", format!("n\n15\n{}\n", "9".repeat(20_000)));
    dir.run(&["batch-gcd", "wide.csv", "--column", "n"])
        .fails(1, &["wide.csv:3: a number of 66439 bits; at most 65536 are supported"]);
    dir.run(&["batch-gcd", "moduli.csv", "--column", "host"]).fails(1, &["moduli.csv:2: not a number: \"alpha\""]);
}

#[test]
fn small_factors_and_pairs_may_be_left_out() {
    let dir = Dir::new();
    dir.write("a", "15\n21\n").write("b", "7001\n49007\n");
    assert_eq!(
        dir.run(&["batch-gcd", "a", "b", "-q", "--min-factor", "10^2"]).ok(),
        "shared\tb:1\t7001\t1\nshared\tb:2\t49007\t1\npair\tb:1\tb:2\t7001\n"
    );
    let all = "shared\ta:1\t3\t5\nshared\ta:2\t21\t1\nshared\tb:1\t7001\t1\nshared\tb:2\t49007\t1\n";
    assert_eq!(dir.run(&["batch-gcd", "a", "b", "-q", "--no-pairs", "--check", "4"]).ok(), all);
    dir.run(&["batch-gcd", "a", "-", "-"]).fails(2, &["standard input"]);
}
