//! The published checksum.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use warpmp_collatz::{
    alpha::{Plan, Sieve, run},
    engine::Control,
    scheme::Method as _,
    window::Window,
};

/// Rows of `barina_workunits.csv`: sieve bits, modulus, unit, checksum, offset of the start with the highest value.
fn published() -> Vec<[u64; 5]> {
    let text = include_str!("../data/barina_workunits.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let cells: Vec<u64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        cells.try_into().unwrap()
    })
    .collect()
}

#[test]
fn sieves_have_the_published_sizes() {
    for (bits, count) in [(16, 1720), (20, 22244), (21, 38019), (24, 234_156)] {
        assert_eq!(Sieve::new(&Plan::new(bits, 1).unwrap()).unwrap().residues().len(), count, "{bits}");
    }
    assert!(Plan::new(35, 1).is_err() && Plan::new(24, 2).is_err());
}

#[test]
#[ignore = "a minute: 27 and 29 bits"]
fn larger_sieves_have_the_published_sizes() {
    for (bits, count) in [(27, 1_442_349), (29, 5_226_985)] {
        assert_eq!(Sieve::new(&Plan::new(bits, 1).unwrap()).unwrap().residues().len(), count, "{bits}");
    }
}

#[test]
fn the_scheme_agrees_with_the_independent_path() {
    let control = Control::default();
    for (bits, modulus) in [(5, 1), (12, 3), (20, 9), (24, 9)] {
        let plan = Plan::new(bits, modulus).unwrap();
        let sieve = Sieve::new(&plan).unwrap();
        for from in [(1u128 << 20) + 3, (1 << 64) - 7000, 98_999_215 << 40, (1 << 90) - 20_000, (1 << 126) - 9000] {
            let window = Window::new(from, 20_011).unwrap();
            let mut found = run(&sieve, &window, &control).unwrap();
            assert_eq!(found.overflowed, found.finished);
            (found.overflowed, found.finished) = (0, 0);
            assert_eq!(found, plan.recompute(&window, &control).unwrap(), "{plan:?} {window}");
        }
    }
    let low = Window::new(1, 100).unwrap();
    assert!(run(&Sieve::new(&Plan::new(5, 1).unwrap()).unwrap(), &low, &control).is_err());
}

/// Around the published start with the highest value of a unit: it is tested, and nothing near it rises higher.
#[test]
fn published_starts_are_the_highest_around() {
    let sieve = Sieve::new(&Plan::new(24, 9).unwrap()).unwrap();
    for [_, _, unit, _, offset] in published().into_iter().filter(|row| row[0] == 24) {
        let start = (u128::from(unit) << 40) + u128::from(offset);
        let window = Window::new(start - (1 << 19), 1 << 20).unwrap();
        let found = run(&sieve, &window, &Control::default()).unwrap();
        assert_eq!(found.heights.highest().unwrap().start, start);
    }
}

#[test]
#[ignore = "half an hour of a core: a whole unit"]
fn a_published_work_unit() {
    let [bits, modulus, unit, checksum, offset] = published()[0];
    let sieve = Sieve::new(&Plan::new(bits as u32, modulus as u32).unwrap()).unwrap();
    let window = Window::new(u128::from(unit) << 40, 1 << 40).unwrap();
    let found = run(&sieve, &window, &Control::default()).unwrap();
    assert_eq!(found.checksum, checksum);
    assert_eq!(found.heights.highest().unwrap().start, window.from() + u128::from(offset));
}
