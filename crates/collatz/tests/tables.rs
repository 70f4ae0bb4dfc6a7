//! Sizes and counts of the dissertation's tables and of the published sieves.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;

use warpmp_collatz::{
    alpha::{Plan as AlphaPlan, Sieve},
    number::{Affine, trace},
    power::pow3,
    rules::{RuleSet, count_survivors},
    tables::{Base, Loaded, Mandatory, SmallDelays, open_mandatory},
};

/// Rows of a file in `data/`: comments and the header left out.
fn rows(name: &str) -> Vec<Vec<String>> {
    let path = format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn survivors(deepest: usize) {
    let mut counted = 0;
    for row in rows("sieve_survivors.csv") {
        let bits: usize = row[0].parse().unwrap();
        if bits > deepest {
            continue;
        }
        assert_eq!(count_survivors(bits, RuleSet::DESCENT).to_string(), row[1], "A {bits}");
        if !row[3].is_empty() {
            assert_eq!(count_survivors(bits, RuleSet::ALL).to_string(), row[3], "C {bits}");
        }
        // With merges a number is needed for every residue: memory in proportion.
        if !row[2].is_empty() && bits <= 29 {
            let sieve = Sieve::new(&AlphaPlan::new(bits as u32, 1).unwrap()).unwrap();
            assert_eq!(sieve.residues().len().to_string(), row[2], "B {bits}");
        }
        counted += 1;
    }
    assert!(counted >= 5);
}

#[test]
fn survivors_of_the_rules_to_27_bits() {
    survivors(27);
}

#[test]
#[ignore = "minutes: 34 to 40 bits"]
fn survivors_of_the_rules_to_40_bits() {
    survivors(40);
}

/// Table 4.3, and its one misprint.
const TABLE_4_3: [u64; 35] = [
    2,
    3,
    4,
    8,
    13,
    19,
    38,
    64,
    128,
    226,
    367,
    734,
    1295,
    2114,
    4228,
    7495,
    14990,
    27328,
    46611,
    93222,
    168_807,
    286_581,
    573_162,
    1_037_374,
    1_762_293,
    3_524_586,
    6_385_637,
    12_771_274,
    23_642_078,
    41_347_483,
    82_694_966,
    151_917_639,
    263_841_377,
    527_682_754,
    967_378_591,
];

#[test]
fn table_s_has_the_dissertations_sizes() {
    for (place, count) in TABLE_4_3[..25].iter().enumerate() {
        let table = Mandatory::new(place as u32 + 3).unwrap();
        assert_eq!(table.count(), *count);
        let residues: Vec<u64> = (0..table.blocks().0).flat_map(|block| table.block(block)).collect();
        assert_eq!(residues.len() as u64, *count);
        assert!(residues.is_sorted_by(|a, b| a < b));
        assert!(residues.iter().all(|residue| *residue < 1 << table.sieve_bits()));
    }
    assert_eq!(Mandatory::new(4).unwrap().block(0).collect::<Vec<_>>(), [7, 11, 15]);
    assert!(Mandatory::new(2).is_err() && Mandatory::new(38).is_err());
}

#[test]
#[ignore = "minutes and a gigabyte: 28 to 37 bits"]
fn table_s_has_the_dissertations_sizes_to_37_bits() {
    for (place, count) in TABLE_4_3.iter().enumerate().skip(25) {
        let misprint = if place + 3 == 34 { 3 } else { 0 };
        assert_eq!(Mandatory::new(place as u32 + 3).unwrap().count(), count - misprint);
    }
}

/// The residues themselves, against the definition: never below while the first `k` steps are taken.
#[test]
fn table_s_holds_what_is_mandatory() {
    for sieve_bits in [3, 10, 17] {
        let table = Mandatory::new(sieve_bits).unwrap();
        let expected = (0..1u64 << sieve_bits).filter(|residue| {
            (1..=sieve_bits).all(|steps| {
                let low = u128::from(*residue) & ((1 << steps) - 1);
                pow3(Affine::of(low, steps).unwrap().odd_steps as usize) > 1 << steps
            })
        });
        assert!(table.block(0).eq(expected));
    }
}

#[test]
fn tables_b_and_c_are_the_dissertations() {
    // Table 4.1.
    let four = Base::new(4).unwrap();
    assert_eq!(four.factors(), [1, 9, 9, 9, 3, 3, 9, 27, 3, 27, 3, 27, 9, 9, 27, 81]);
    assert_eq!(four.addends(), [0, 1, 2, 2, 1, 1, 4, 13, 2, 17, 2, 20, 8, 8, 26, 80]);
    let two = Base::new(2).unwrap();
    assert_eq!((two.factors(), two.addends(), two.steps()), (&[1, 3, 3, 9][..], &[0, 1, 2, 8][..], &[2, 3, 3, 4][..]));
    // Table 4.2: words, and 1.5 operations a base bit.
    for base_bits in 4..=20 {
        let base = Base::new(base_bits).unwrap();
        let operations: u64 = base.steps().iter().map(|steps| u64::from(*steps)).sum();
        assert_eq!(base.factors().len(), 1 << base_bits);
        assert_eq!(operations * 2, (3 * u64::from(base_bits)) << base_bits);
    }
    assert!(Base::new(21).is_err());
}

#[test]
fn table_a_holds_delays() {
    let table = SmallDelays::new(12).unwrap();
    for (number, delay) in table.delays().iter().enumerate().skip(1) {
        assert_eq!(u64::from(*delay), trace(number as u128, |_| true).unwrap().delay());
    }
    // The longest delays below powers of ten.
    let table = SmallDelays::new(24).unwrap();
    for row in rows("delay_max_below_power_of_10.csv").iter().take(7) {
        let limit = 10usize.pow(row[0].parse().unwrap());
        let longest = table.delays()[..limit].iter().max().unwrap();
        assert_eq!(longest.to_string(), row[2]);
        assert_eq!(table.delays().iter().position(|delay| delay == longest).unwrap().to_string(), row[1]);
    }
}

#[test]
fn a_cached_table_is_trusted_only_if_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mandatory-26.bin");
    let open = || open_mandatory(26, folder.path()).unwrap();
    let (made, loaded) = open();
    assert_eq!(loaded, Loaded::Written(path.clone()));
    assert_eq!(open(), (made.clone(), Loaded::Read(path.clone())));
    let whole = fs::read(&path).unwrap();
    for damage in [0, 40, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[damage] ^= 0x10;
        fs::write(&path, bytes).unwrap();
        assert_eq!(open(), (made.clone(), Loaded::Replaced(path.clone())), "byte {damage}");
    }
    fs::write(&path, &whole[..whole.len() / 3]).unwrap();
    assert_eq!(open().1, Loaded::Replaced(path.clone()));
    fs::write(&path, "").unwrap();
    assert_eq!(open().1, Loaded::Replaced(path.clone()));
    // Another size under this name.
    fs::copy(&path, folder.path().join("mandatory-25.bin")).unwrap();
    assert_eq!(open_mandatory(25, folder.path()).unwrap().1, Loaded::Replaced(folder.path().join("mandatory-25.bin")));
    // A folder that cannot be: the table is made all the same.
    assert!(matches!(open_mandatory(20, &path).unwrap().1, Loaded::NotStored(_)));
}
