//! `is-prime`: known primes and composites of many widths, pseudoprimes, formats and bad input.

use crate::common::{Dir, lines, npy, npy_of, read_npy};
use num_bigint::BigUint;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The program's verdicts of a file.
#[track_caller]
fn verdicts(dir: &Dir, file: &str, options: &str) -> Vec<bool> {
    let args: Vec<&str> = ["is-prime", file, "--device", "cpu"].into_iter().chain(options.split_whitespace()).collect();
    let run = dir.run(&args);
    let verdict = |line: &str| match line {
        "0" => false,
        "1" => true,
        other => panic!("{other}"),
    };
    run.ok().lines().map(verdict).collect()
}

#[track_caller]
fn of(numbers: &[BigUint], options: &str) -> Vec<bool> {
    let dir = Dir::new();
    dir.write("n", lines(numbers));
    verdicts(&dir, "n", options)
}

fn power(exponent: u32) -> BigUint {
    BigUint::from(1u8) << exponent
}

/// `true` at primes, up to `limit`.
fn sieve(limit: usize) -> Vec<bool> {
    let mut primes = vec![true; limit];
    primes[..2].fill(false);
    for p in 2..limit {
        if primes[p] {
            (p * p..limit).step_by(p).for_each(|multiple| primes[multiple] = false);
        }
    }
    primes
}

#[test]
fn small_integers_are_those_of_the_sieve() {
    let numbers: Vec<BigUint> = (0..20_000u32).map(BigUint::from).collect();
    assert_eq!(of(&numbers, "-q"), sieve(20_000));
}

#[test]
fn mersenne_numbers() {
    let exponents: Vec<u32> = (2..=700).collect();
    let numbers: Vec<BigUint> = exponents.iter().map(|exponent| power(*exponent) - 1u8).collect();
    let found = exponents.iter().zip(of(&numbers, "-q --bases 5")).filter(|(_, prime)| *prime);
    let primes: Vec<u32> = found.map(|(exponent, _)| *exponent).collect();
    assert_eq!(primes, [2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607]);
}

#[test]
fn many_factors_two_below_the_integer() {
    // Fermat's numbers pass the test to base 2 and have up to 2048 squarings; Proth's primes are 3·2^k + 1.
    let fermat: Vec<BigUint> = (0..=11).map(|k| power(1 << k) + 1u8).collect();
    // F₅ = 641·6700417 ends at trial division.
    assert_eq!(of(&fermat, "-q --bases 1"), [true, true, true, true, true, false, true, true, true, true, true, true]);
    assert_eq!(of(&fermat, "-q").iter().filter(|prime| **prime).count(), 5);
    let exponents: Vec<u32> = (1..=360).collect();
    let proth: Vec<BigUint> = exponents.iter().map(|k| 3u8 * power(*k) + 1u8).collect();
    let found = exponents.iter().zip(of(&proth, "-q --bases 4")).filter(|(_, prime)| *prime);
    let primes: Vec<u32> = found.map(|(k, _)| *k).collect();
    // OEIS A002253.
    assert_eq!(primes, [1, 2, 5, 6, 8, 12, 18, 30, 36, 41, 66, 189, 201, 209, 276, 353]);
}

#[test]
fn rsa_numbers_and_their_factors() {
    let dir = Dir::new();
    for file in ["rsa/p.txt", "rsa/q.txt"] {
        assert_eq!(verdicts(&dir, &example(file), "-q --bases 3"), [true; 23], "{file}");
    }
    assert_eq!(verdicts(&dir, &example("rsa/n.txt"), "-q"), [false; 23]);
}

#[test]
fn pseudoprimes_of_the_literature() {
    let dir = Dir::new();
    let file = example("primes/pseudoprimes.txt");
    // 2047 = 23·89 ends at trial division.
    let one = verdicts(&dir, &file, "-q --bases 1");
    assert_eq!((one[0], &one[1..]), (false, &[true; 9][..]));
    assert_eq!(verdicts(&dir, &file, "-q"), [false; 10]);
    // The least for k prime bases shows its face at base k + 1, of runs of equal terms the last.
    for (place, bases) in [1, 2, 3, 4, 5, 6, 8, 11, 12].into_iter().enumerate().skip(1) {
        assert!(verdicts(&dir, &file, &format!("-q --bases {bases}"))[place], "{bases}");
        assert!(!verdicts(&dir, &file, &format!("-q --bases {}", bases + 1))[place], "{bases}");
    }
    assert_eq!(verdicts(&dir, &example("primes/carmichael.txt"), "-q"), [false; 16]);
}

#[test]
fn strong_pseudoprimes_to_base_2_below_a_million() {
    // Odd composites above 101², by the sieve: those that pass to base 2 alone are known, and none passes in the end.
    let primes = sieve(1_000_000);
    let odd: Vec<BigUint> = (10_201..1_000_000usize).step_by(2).filter(|n| !primes[*n]).map(BigUint::from).collect();
    let dir = Dir::new();
    dir.write("n", lines(&odd));
    let one = verdicts(&dir, "n", "-q --bases 1");
    let passing: Vec<BigUint> = odd.iter().zip(&one).filter(|(_, passed)| **passed).map(|(n, _)| n.clone()).collect();
    // 46 below a million (Pomerance, Selfridge, Wagstaff 1980). Trial division finds those with a factor below 100.
    assert!(passing.contains(&BigUint::from(42_799u32)), "{passing:?}");
    assert!(passing.len() > 20 && passing.len() < 46, "{}", passing.len());
    assert_eq!(of(&passing, "-q --bases 2"), vec![false; passing.len()]);
    assert!(verdicts(&dir, "n", "-q").iter().all(|prime| !prime));
}

#[test]
fn widths_and_chunks_keep_their_order() {
    let (one, two) = (power(127) - 1u8, power(521) - 1u8);
    let cycle = [one.clone(), BigUint::from(7u8), two.clone(), power(3000), &one * &two, BigUint::from(65_537u32)];
    let numbers: Vec<BigUint> = cycle.iter().cycle().take(600).cloned().collect();
    let expected: Vec<bool> = [true, true, true, false, false, true].into_iter().cycle().take(600).collect();
    assert_eq!(of(&numbers, "-q --bases 2"), expected);
    assert_eq!(of(&numbers, "-q --bases 2 --chunk-bytes 3000 --seed 5"), expected);
}

#[test]
fn arrays_and_the_summary() {
    let dir = Dir::new();
    let numbers = [power(127) - 1u8, power(127) + 1u8, power(61) - 1u8];
    dir.write("n.npy", npy_of(&numbers, 8, 2));
    let run = dir.run(&["is-prime", "n.npy", "--device", "cpu", "-o", "out.npy", "--json"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!((&object["lanes"], &object["primes"], &object["composites"]), (&3.into(), &2.into(), &1.into()));
    // 2^127 + 1 is a multiple of 3; 33 bases for the one, 9 prove the other.
    let tests =
        |object: &serde_json::Value| ["candidates", "strong_tests", "lucas_tests"].map(|key| object[key].clone());
    assert_eq!(tests(&object), [2, 2, 2]);
    let (header, verdicts) = read_npy(&dir.read("out.npy"));
    assert!(header.contains("'|b1'") && header.contains("(3,)"), "{header}");
    assert_eq!(verdicts, [1u8, 0, 1].map(BigUint::from));
    let run = dir.run(&["is-prime", "n.npy", "--device", "cpu", "-o", "out.npy", "--json", "--bases", "33"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!(tests(&object), [2, 42, 0]);
}

#[test]
fn primes_or_composites_alone() {
    let dir = Dir::new();
    let numbers = [power(127) - 1u8, BigUint::from(7u8), power(300), BigUint::from(1u8), power(61) - 1u8];
    dir.write("n", lines(&numbers));
    for chunk in ["1", "100000"] {
        let print = |kind: &str, more: &[&str]| {
            let words = ["is-prime", "n", "--print", kind, "-q", "--device", "cpu", "--chunk-bytes", chunk];
            dir.run(&[&words[..], more].concat())
        };
        assert_eq!(print("primes", &[]).ok(), lines(&[numbers[0].clone(), numbers[1].clone(), numbers[4].clone()]));
        assert_eq!(print("composites", &["--hex"]).ok(), format!("{:#x}\n0x1\n", power(300)));
        print("primes", &["-o", "p.npy"]).ok();
        let (_, primes) = read_npy(&dir.read("p.npy"));
        assert_eq!(primes, [numbers[0].clone(), numbers[1].clone(), numbers[4].clone()]);
    }
}

/// NumPy's arrays of one dimension: an element is an integer.
#[test]
fn arrays_of_words() {
    let dir = Dir::new();
    let words = |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    dir.write("u.npy", npy("'<u8'", "False", "(3,)", &words(&[(1 << 61) - 1, 91, 97])));
    assert_eq!(dir.run(&["is-prime", "u.npy", "-q"]).ok(), "1\n0\n1\n");
    dir.write("i.npy", npy("'<i8'", "False", "(3,)", &words(&[-7, 5, i64::MIN])));
    assert_eq!(dir.run(&["mul", "i.npy", "3", "-q"]).ok(), "-21\n15\n-27670116110564327424\n");
    dir.write("f.npy", npy("'<f8'", "False", "(3,)", &words(&[1, 2, 3])));
    dir.run(&["is-prime", "f.npy", "-q"]).fails(1, &["f.npy: dtype '<f8'", "may have lost digits"]);
}

#[test]
fn verdicts_are_checked_by_another_test() {
    let dir = Dir::new();
    dir.write("n", lines(&[power(127) - 1u8, BigUint::from(341_550_071_728_321u64), power(89) - 1u8]));
    let run = dir.run(&["is-prime", "n", "-q", "--check", "3", "--device", "cpu"]);
    assert_eq!(run.ok(), "1\n0\n1\n");
    // A strong pseudoprime to base 2, 10670053·32010157.
    let run = dir.run(&["is-prime", "n", "--bases", "1", "--check", "3", "--device", "cpu", "-o", "out"]);
    run.fails(1, &["integer 2", "0x136a352b2c8c1", "prime by at most 1 strong test,", "composite by Baillie"]);
    let run = dir.run(&["is-prime", "n", "--check", "2", "--json", "--device", "cpu", "-o", "out"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!((&object["checked"], &object["base_2_tests"]), (&2.into(), &3.into()));
}

#[test]
fn bad_input() {
    let dir = Dir::new();
    dir.write("empty", "").write("negative", "7\n-3\n").write("letters", "7\n11\nx\n");
    dir.run(&["is-prime", "empty", "-q"]).fails(1, &["no numbers"]);
    dir.run(&["is-prime", "negative", "-q", "-o", "out"]).fails(1, &["negative:2", "negative numbers"]);
    dir.run(&["is-prime", "letters", "-q", "-o", "out"]).fails(1, &["letters:3", "not a number"]);
    dir.run(&["is-prime", "letters", "-o", "letters"]).fails(2, &["both input and output"]);
    dir.run(&["is-prime", "letters", "--bases", "0"]).fails(2, &["--bases"]);
    assert_eq!(dir.names(), ["empty", "letters", "negative"]);
}
