//! `warpmp factor`, `ecm`, `pm1` and `pp1`.

use std::process::Command;

use crate::common::Dir;
use serde_json::Value;

/// Of the known answers: found in the first stage, in the second stage, not at all; and both primes at once.
const FIRST: &str = "15329478340397551129";
const SECOND: &str = "14517577769892627371";

#[test]
fn finds_in_both_stages() {
    let dir = Dir::new();
    let ecm = |n: &str, sigma: &str, b1: &str, b2: &str| dir.run(&["ecm", n, "--b1", b1, "--b2", b2, "--sigma", sigma]);
    let first = ecm(FIRST, "3:974277738", "200", "10000");
    assert_eq!(first.ok(), format!("{FIRST} = 261833641 * 58546633969\n"));
    assert!(first.stderr.contains("found 261833641 (9 digits) by ECM, sigma 3:974277738, B1 200, B2 10000, stage 1"));
    assert!(first.stderr.contains("1 integer, 1 factored completely; 1 attempt in"), "{}", first.stderr);
    let second = ecm(SECOND, "3:2227979599", "2e2", "10^4");
    assert_eq!(second.ok(), format!("{SECOND} = 858109519 * 16918094309\n"));
    assert!(second.stderr.contains("stage 2"));
    // Without a second stage nothing is found: the integer stands in brackets.
    assert_eq!(ecm(SECOND, "3:2227979599", "200", "0").ok(), format!("{SECOND} = ({SECOND})\n"));
    let both = ecm("13236625571615095049", "3:3913650916", "500", "50000");
    assert_eq!(both.ok(), "13236625571615095049 = (13236625571615095049)\n");
    assert!(both.stderr.contains("all primes of 13236625571615095049 at once"), "{}", both.stderr);
    assert_eq!(
        dir.run(&["pm1", "2^67-1", "--b1", "3000", "-q"]).ok(),
        "147573952589676412927 = 193707721 * 761838257287\n"
    );
    let pp1 = ["pp1", "304328559663589584905753312658037004309", "--b1", "1000", "--b2", "100000", "--x0", "5", "-q"];
    let n = 304_328_559_663_589_584_905_753_312_658_037_004_309_u128;
    let (p, q) = (1_064_397_596_731_973_879, n / 1_064_397_596_731_973_879);
    assert_eq!(dir.run(&pp1).ok(), format!("{n} = {} * {}\n", p.min(q), p.max(q)));
}

/// The device changes no result of P−1 and P+1.
#[test]
fn sequences_on_the_simulator() {
    let dir = Dir::new();
    dir.write("n", "2^67-1\n1014118489123\n304328559663589584905753312658037004309\n");
    for (method, start) in [("pm1", "3"), ("pp1", "5")] {
        let of = |device: &str| {
            let run = dir.run(&[method, "n", "--b1", "300", "--b2", "6000", "--x0", start, "--device", device]);
            let finds: Vec<String> = run.stderr.lines().filter(|it| it.contains("found")).map(str::to_owned).collect();
            (run.ok().to_owned(), finds)
        };
        let [cpu, sim] = ["cpu", "sim"].map(of);
        assert_eq!(cpu, sim);
        assert!(!cpu.1.is_empty(), "{method} finds something");
    }
}

#[test]
fn integers_of_every_kind() {
    let dir = Dir::new();
    dir.write("n", "# a comment\n\n0\n1\n2\n97\n1024\n2^10*3^5*1000003^2\n(2^61-1)^3\n");
    let run = dir.run(&["ecm", "n", "--b1", "100", "--curves", "3", "--seed", "1", "-q"]);
    let lines: Vec<&str> = run.ok().lines().collect();
    assert_eq!(lines[..4], ["0 = 0", "1 = 1", "2 = 2", "97 = 97"]);
    assert_eq!(lines[4], format!("1024 = {}", ["2"; 10].join(" * ")));
    assert!(lines[5].ends_with("* 3 * 3 * 3 * 3 * 3 * 1000003 * 1000003"), "{}", lines[5]);
    assert!(lines[6].ends_with("= 2305843009213693951 * 2305843009213693951 * 2305843009213693951"), "{}", lines[6]);
}

#[test]
fn a_level_of_digits_factors_completely() {
    let dir = Dir::new();
    // Primes of 12 digits, two by two; the same seed gives the same curves.
    dir.write("n", "1000000000039*1000000000061\n1000000000063*1000000000091\n2^128+1\n");
    let object = |seed: &str| -> Value {
        let run = dir.run(&["ecm", "n", "--b1", "2000", "--curves", "60", "--seed", seed, "--json"]);
        serde_json::from_str(run.ok()).unwrap()
    };
    let (one, again) = (object("7"), object("7"));
    assert_eq!(one["numbers"], again["numbers"]);
    assert_eq!(one["numbers"][0]["complete"], Value::Bool(true), "{one}");
    assert_eq!(one["numbers"][0]["primes"][0]["method"], "ECM");
    // The find can be repeated.
    let found = &one["numbers"][0]["primes"][0];
    let [sigma, factor] = ["sigma", "prime"].map(|name| found[name].as_str().unwrap());
    let again = dir.run(&["ecm", "1000000000039*1000000000061", "--b1", "2000", "--sigma", sigma]);
    assert!(again.stderr.contains(&format!("found {factor} ")), "{}", again.stderr);
}

#[test]
fn save_lines_go_on() {
    let dir = Dir::new();
    let args = ["ecm", SECOND, "--b1", "100", "--b2", "0", "--sigma", "3:2227979599", "--save", "saved", "-q"];
    dir.run(&args).ok();
    assert!(
        dir.text("saved").starts_with("METHOD=ECM; PARAM=3; SIGMA=2227979599; B1=100; N=14517577769892627371; X=0x")
    );
    // The file is not overwritten.
    dir.run(&args).fails(1, &["saved: File exists"]);
    let run = dir.run(&["ecm", "--resume", "saved", "--b1", "200", "--b2", "10000", "-q"]);
    assert_eq!(run.ok(), format!("{SECOND} = 858109519 * 16918094309\n"));
    let spoiled = dir.text("saved").replace("B1=100", "B1=101");
    dir.write("spoiled", format!("# a comment\n{spoiled}"));
    dir.run(&["ecm", "--resume", "spoiled"]).fails(1, &["spoiled:2: no save line: CHECKSUM="]);
    dir.write("torn", "METHOD=ECM; SIGMA=17; B1=100; N=1001; X=0x5");
    dir.run(&["ecm", "--resume", "torn"]).fails(1, &["torn:1: no save line: there is neither CHECKSUM= nor a ';'"]);
    dir.write("marked", "\u{feff}15347\n");
    assert_eq!(dir.run(&["factor", "marked", "-q"]).ok(), "15347 = 103 * 149\n");
    dir.write("even", "METHOD=ECM; SIGMA=17; B1=100; N=1000; X=0x5;\n");
    let even = dir.run(&["ecm", "--resume", "even"]);
    assert_eq!(even.ok(), "1000 = 2 * 2 * 2 * 5 * 5 * 5\n");
    assert!(even.stderr.contains("1000 is even or below 3: nothing was tried"), "{}", even.stderr);
    // A device has a longest integer.
    let long = (num_bigint::BigUint::from(1_u32) << 16_400) + 1_u32;
    dir.write("long", format!("METHOD=ECM; PARAM=3; SIGMA=7; B1=3; N={}; X=0x5;\n", long * 15_u32));
    let run = dir.run(&["ecm", "--resume", "long", "--b1", "5", "--b2", "0", "--device", "sim"]);
    assert!(run.stderr.contains("integers with more than 16384 bits: 1; the CPU"), "{}", run.stderr);
    dir.write("torn", "METHOD=ECM; PARAM=3; SIG");
    dir.run(&["ecm", "--resume", "torn"]).fails(1, &["torn:1: no save line: 'SIG' is not NAME=VALUE"]);
}

#[test]
fn wrong_arguments() {
    let dir = Dir::new();
    dir.write("n", "15\n2^\n");
    dir.run(&["ecm", "n", "--b1", "100"]).fails(1, &["n:2: neither a number nor an expression: column 3"]);
    dir.run(&["ecm", "15"]).fails(2, &["give --b1 B1, the bound of the first stage, or --digits D"]);
    dir.run(&["pm1", "15"]).fails(2, &["give --b1 B1"]);
    dir.run(&["ecm", "15", "--b1", "2"]).fails(2, &["B1 is 3 or more, not 2"]);
    dir.run(&["ecm", "15", "--b1", "1e11"]).fails(2, &["B1 is at most 2^34"]);
    dir.run(&["ecm", "15", "--b1", "1e6", "--b2", "1e14"]).fails(2, &["B2 is at most 2^44"]);
    dir.run(&["ecm", "15", "--b1", "100", "--sigma", "3:4294967295", "--curves", "2"]).fails(2, &["1 to 2^32 - 1"]);
    dir.run(&["ecm", "15", "--b1", "1e"]).fails(2, &["'1e' is no bound"]);
    dir.run(&["ecm", "no-file", "--b1", "100"]).fails(1, &["no-file: there is no such file, and it is no number"]);
    dir.write("empty", "# nothing\n");
    dir.run(&["ecm", "empty", "--b1", "100"]).fails(1, &["empty: no numbers in it"]);
}

#[test]
fn whole_factorisations() {
    let dir = Dir::new();
    dir.write("n", "# cofactors\n2^67-1\n1000003^2*12\n14517577769892627371\n0\n97\n");
    let run = dir.run(&["factor", "n", "2^32+1", "--digits", "15", "--seed", "1"]);
    let lines: Vec<&str> = run.ok().lines().collect();
    let plain: Vec<&str> = lines.iter().map(|line| line.split("  #").next().unwrap()).collect();
    let expected = [
        "147573952589676412927 = 193707721 * 761838257287",
        "12000072000108 = 2 * 2 * 3 * 1000003 * 1000003",
        "14517577769892627371 = 858109519 * 16918094309",
        "0 = 0",
        "97 = 97",
        "4294967297 = 641 * 6700417",
    ];
    assert_eq!(plain, expected);
    assert!(run.stderr.contains("6 integers, 6 factored completely"), "{}", run.stderr);
    // Each find can be repeated by what its line says.
    let note = lines[2].split("  # ").nth(1).unwrap();
    let [prime, sigma, b1, b2] = {
        let (prime, rest) = note.split_once(": ECM, sigma ").unwrap();
        let fields: Vec<&str> = rest.split(", ").collect();
        [prime, fields[0], &fields[1][3..], &fields[2][3..]]
    };
    let again = dir.run(&["ecm", "14517577769892627371", "--b1", b1, "--b2", b2, "--sigma", sigma]);
    assert!(again.stderr.contains(&format!("found {prime} ")), "{}", again.stderr);
    // The same seed, the same lines; the file is as expected, or not.
    dir.run(&["factor", "n", "--digits", "15", "--seed", "1", "-o", "factors", "-q"]).ok();
    assert_eq!(dir.text("factors").lines().collect::<Vec<_>>(), lines[..5]);
    dir.run(&["factor", "n", "--digits", "15", "--expect", "factors", "-q"]).ok();
    dir.write("wrong", "147573952589676412927 = 193707721 * 761838257287\n# a comment\n12 = 3 * 4\n");
    dir.run(&["factor", "n", "--expect", "wrong", "-q"])
        .fails(1, &["wrong:3: 12 = 3 * 4 is expected, found 12000072000108 = 2 * 2 * 3"]);
    dir.run(&["factor", "2^67-1", "--expect", "wrong", "-q"]).fails(1, &["wrong:3: too many; there is 1 result"]);
    dir.run(&["factor", "n", "97", "--expect", "factors", "-q"]).fails(1, &["factors:6: missing"]);
}

#[test]
fn composites_of_whole_factorisations() {
    let dir = Dir::new();
    let n = "1000000000000000000000000000057*1000000000000000000000000000099*7";
    let run = dir.run(&["factor", n, "--digits", "10", "--seed", "1", "--json"]);
    let object: Value = serde_json::from_str(run.ok()).unwrap();
    let number = &object["numbers"][0];
    assert_eq!((&number["complete"], &number["primes"][0]["method"]), (&Value::Bool(false), &"trial division".into()));
    let composite = &number["composites"][0];
    assert_eq!((composite["digits"].as_u64(), composite["curves"].as_u64()), (Some(61), Some(10)));
    let run = dir.run(&["factor", n, "--digits", "10", "--seed", "1", "-q"]);
    assert!(run.ok().contains(" = 7 * (1000"), "{}", run.ok());
    assert!(run.ok().ends_with("61 digits): composite, t10.1\n"), "{}", run.ok());
}

/// The first rows of the example: composites whose factors are published.
#[test]
fn cunningham_numbers() {
    let dir = Dir::new();
    let first = |text: &str, lines: usize| text.split_inclusive('\n').take(lines).collect::<String>();
    dir.write("numbers", first(include_str!("../../../../examples/factors/numbers.txt"), 20));
    let factors = first(include_str!("../../../../examples/factors/factors.txt"), 10);
    dir.write("factors", &factors);
    let run = dir.run(&["factor", "numbers", "--expect", "factors", "--seed", "1"]);
    assert_eq!(run.ok().lines().count(), 10);
    assert!(run.stderr.contains("10 integers, 10 factored completely"), "{}", run.stderr);
    // The factors multiply to the numbers.
    for line in factors.lines() {
        let (number, product) = line.split_once(" = ").unwrap();
        let product: num_bigint::BigUint =
            product.split(" * ").map(|it| it.parse::<num_bigint::BigUint>().unwrap()).product();
        assert_eq!(product.to_string(), number);
    }
    dir.write("wrong", factors.replacen(" * ", " * 1", 1));
    dir.run(&["factor", "numbers", "--expect", "wrong", "-q"]).fails(1, &["wrong:1: ", " is expected, found "]);
}

#[test]
fn arrays_of_integers() {
    let dir = Dir::new();
    dir.write("n", "14517577769892627371\n15\n");
    dir.run(&["mul", "n", "1", "-o", "n.npy", "-q"]).ok();
    let run = dir.run(&["factor", "n.npy", "--digits", "15", "--seed", "1", "-q"]);
    assert!(run.ok().starts_with("14517577769892627371 = 858109519 * 16918094309  #"), "{}", run.ok());
    assert!(run.ok().ends_with("\n15 = 3 * 5\n"), "{}", run.ok());
    let ecm = ["ecm", "n.npy", "--b1", "200", "--b2", "10000", "--sigma", "3:2227979599", "-q"];
    assert_eq!(dir.run(&ecm).ok(), "14517577769892627371 = 858109519 * 16918094309\n15 = (15)\n");
    dir.run(&["sub", "n", "20", "-o", "n.npy", "-q"]).ok();
    dir.run(&["factor", "n.npy"]).fails(1, &["n.npy: row 1 is negative; this command takes no negative numbers"]);
    dir.write("bad.npy", "no array");
    dir.run(&["factor", "bad.npy"]).fails(1, &["bad.npy: "]);
    dir.run(&["factor", "no-file"]).fails(1, &["no-file: there is no such file, and it is no number"]);
    dir.run(&["factor"]).fails(2, &["FILE|EXPRESSION"]);
    dir.run(&["factor", "15", "--digits", "66"]).fails(2, &["a number from 1 to 65"]);
}

/// Debian's `ecm` reads our save lines and we read its.
#[test]
fn save_lines_of_gmp_ecm() {
    if Command::new("ecm").arg("-printconfig").output().is_err() {
        eprintln!("skipped: GMP-ECM's program ecm is not installed");
        return;
    }
    let dir = Dir::new();
    for (sigma, n, factor) in [
        ("3:2227979599", SECOND, "858109519"),
        (
            "0:3378666656",
            "85327478848237365388219433335302945981562983455532610123320135468215645187523",
            "3655122152955733680529",
        ),
    ] {
        let (b1, b2) = if sigma.starts_with('3') { ("200", "10000") } else { ("11000", "1100000") };
        let theirs = |args: &[&str]| {
            let mut command = Command::new("sh");
            command.args(["-c", "n=$1; shift; echo \"$n\" | ecm \"$@\"", "sh"]).args(args).current_dir(dir.path(""));
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        dir.run(&["ecm", n, "--b1", b1, "--b2", "0", "--sigma", sigma, "--save", "ours", "-q"]).ok();
        let found = theirs(&["", "-resume", "ours", b1, b2]);
        assert!(found.contains(&format!("Factor found in step 2: {factor}")), "{found}");
        theirs(&[n, "-sigma", sigma, "-save", "theirs", b1, "1"]);
        let run = dir.run(&["ecm", "--resume", "theirs", "--b2", b2, "-q"]);
        assert!(run.ok().contains(factor), "{}", run.ok());
        for name in ["ours", "theirs"] {
            std::fs::remove_file(dir.path(name)).unwrap();
        }
    }
}
