//! Soundness, exhaustively: every start that a scheme skips has a smaller number on a trajectory that meets its own.
//!
//! The checker knows nothing of residues, tables or rules' histories: it follows the start a few steps, and looks at the direct
//! predecessors of what it meets.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use rayon::prelude::*;
use warpmp_collatz::{
    alpha::{Plan as AlphaPlan, Sieve},
    cpu::Cpu,
    dfs::{self, Jumps, log2_up},
    number::Affine,
    tables::Mandatory,
    window::Window,
};

fn map(n: u64) -> u64 {
    if n.is_multiple_of(2) { n / 2 } else { n + n / 2 + 1 }
}

/// Do the trajectories meet within so many steps each?
fn meet(a: u64, b: u64, steps: usize) -> bool {
    let walk = |start| std::iter::successors(Some(start), |n| Some(map(*n))).take(steps);
    walk(a).any(|a| walk(b).any(|b| a == b))
}

/// Is there a smaller number whose trajectory meets that of `n` within `steps` steps of `n`?
fn justified(n: u64, steps: u32) -> bool {
    // Backwards from n itself: predecessors of the predecessors of 2n and n.
    for m in [(2 * n).checked_sub(1), (8 * n).checked_sub(5)].into_iter().flatten() {
        let divisor = if m == 2 * n - 1 { 3 } else { 9 };
        if m.is_multiple_of(divisor) && m / divisor < n && meet(m / divisor, n, 6) {
            return true;
        }
    }
    let mut value = n;
    for _ in 0..=steps {
        if value < n {
            return true;
        }
        if (2 * value) % 3 == 1 && (2 * value - 1) / 3 < n && map((2 * value - 1) / 3) == value {
            return true;
        }
        if value % 2 == 1 && value / 2 < n {
            let run = (value + 1).trailing_zeros() as usize;
            if meet_at(value, run + 2, value / 2, run + 1) {
                return true;
            }
        }
        value = map(value);
    }
    false
}

fn meet_at(a: u64, steps_a: usize, b: u64, steps_b: usize) -> bool {
    let after = |start, steps| (0..steps).fold(start, |n, _| map(n));
    after(a, steps_a) == after(b, steps_b)
}

fn bitmap(limit: u64) -> Vec<u64> {
    vec![0; (limit / 64) as usize]
}

fn unjustified(tested: &[u64], steps: u32) -> Vec<u64> {
    let all = tested.par_iter().enumerate().flat_map_iter(|(word, bits)| {
        let bits = *bits;
        (0..64).filter(move |bit| bits >> bit & 1 == 0).map(move |bit| word as u64 * 64 + bit)
    });
    all.filter(|n| *n > 0 && !justified(*n, steps)).collect()
}

fn depth_first(limit: u64, plan: &dfs::Plan) {
    let mut tested = bitmap(limit);
    let window = Window::new(1, u128::from(limit) - 1).unwrap();
    let mut count = 0u64;
    Cpu::tested(plan, &window, |n| {
        let bit = 1 << (n & 63);
        assert_eq!(tested[(n >> 6) as usize] & bit, 0, "{n} twice");
        tested[(n >> 6) as usize] |= bit;
        count += 1;
    })
    .unwrap();
    assert!(count < limit / 4, "nothing was skipped");
    let steps = plan.leaf_bits + plan.lookahead_bits.max(plan.rare_lookahead_bits);
    assert_eq!(unjustified(&tested, steps), Vec::<u64>::new(), "{plan:?}");
}

#[test]
fn the_depth_first_scheme_skips_with_reason() {
    for (leaf, main, rare, classes) in [(10, 18, 12, 3), (3, 24, 24, 3), (16, 12, 6, 64)] {
        depth_first(1 << 23, &dfs::Plan::new(leaf, main, rare, classes).unwrap());
    }
}

#[test]
#[ignore = "a minute: all numbers below 2^28"]
fn the_depth_first_scheme_skips_with_reason_to_2_28() {
    for (leaf, main, rare, classes) in [(18, 24, 18, 5), (4, 28, 20, 4), (24, 20, 18, 3)] {
        depth_first(1 << 28, &dfs::Plan::new(leaf, main, rare, classes).unwrap());
    }
}

#[test]
#[ignore = "two minutes of a core and 560 MB: all numbers below 2^32"]
fn the_depth_first_scheme_skips_with_reason_to_2_32() {
    depth_first(1 << 32, &dfs::Plan::new(22, 26, 18, 5).unwrap());
}

fn dissertation(limit: u64, sieve_bits: u32) {
    let mut tested = bitmap(limit);
    // Starts below the floor are followed.
    tested[..(1 << 20) / 64].fill(u64::MAX);
    let table = Mandatory::new(sieve_bits).unwrap();
    for residue in (0..table.blocks().0).flat_map(|block| table.block(block)) {
        for n in (residue..limit).step_by(1 << sieve_bits) {
            tested[(n >> 6) as usize] |= 1 << (n & 63);
        }
    }
    assert_eq!(unjustified(&tested, sieve_bits), Vec::<u64>::new());
}

#[test]
fn the_dissertations_scheme_skips_with_reason() {
    for sieve_bits in [3, 13, 22] {
        dissertation(1 << 23, sieve_bits);
    }
}

#[test]
#[ignore = "a minute: all numbers below 2^28"]
fn the_dissertations_scheme_skips_with_reason_to_2_28() {
    dissertation(1 << 28, 27);
}

/// Of `2^bits` neighbouring numbers, those whose value after `bits` steps a smaller one of them has, too.
fn merging(first: u64, bits: u32) -> Vec<u64> {
    let after = |n| (0..bits).fold(n, |n, _| map(n));
    let mut ends: Vec<(u64, u64)> = (first..first + (1 << bits)).map(|n| (after(n), n)).collect();
    ends.sort_unstable();
    let mut merging: Vec<u64> = ends.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1).collect();
    merging.sort_unstable();
    merging
}

/// The scheme of the published checksum: descent, same-level merge, and a modulus.
fn published(limit: u64, sieve_bits: u32, modulus: u32) {
    let sieve = Sieve::new(&AlphaPlan::new(sieve_bits, modulus).unwrap()).unwrap();
    let tested = |n: u64| {
        let removed: &[u64] = if modulus == 9 { &[2, 4, 5, 8] } else { &[2] };
        let left = modulus == 1 || !removed.contains(&(n % u64::from(modulus)));
        left && sieve.residues().binary_search(&(n & ((1 << sieve_bits) - 1))).is_ok()
    };
    let blocks: Vec<u64> = ((1 << 20)..limit).step_by(1 << sieve_bits).collect();
    let (unjustified, skipped): (Vec<u64>, usize) = blocks
        .into_par_iter()
        .map(|first| {
            let merging = merging(first, sieve_bits);
            let skipped: Vec<u64> = (first..first + (1 << sieve_bits)).filter(|n| !tested(*n)).collect();
            let count = skipped.len();
            let reason = |n: &u64| justified(*n, sieve_bits) || merging.binary_search(n).is_ok();
            (skipped.into_iter().filter(|n| !reason(n)).collect(), count)
        })
        .reduce(Default::default, |a, b| ([a.0, b.0].concat(), a.1 + b.1));
    assert_eq!(unjustified, Vec::<u64>::new(), "{sieve_bits} bits, mod {modulus}");
    assert!(skipped as u64 > (limit - (1 << 20)) / 10 * 9, "nothing was skipped");
}

#[test]
fn the_published_scheme_skips_with_reason() {
    for (sieve_bits, modulus) in [(12, 9), (16, 3), (20, 1)] {
        published(1 << 22, sieve_bits, modulus);
    }
}

#[test]
#[ignore = "half a minute of a core: all numbers below 2^28"]
fn the_published_scheme_skips_with_reason_to_2_28() {
    published(1 << 28, 20, 9);
}

/// Thresholds end a walk early: each of the ends is justified by what the next jump would have shown.
#[test]
fn the_thresholds_stop_with_reason() {
    for base_bits in [8, 11, 12, 13] {
        let jumps = Jumps::new(base_bits);
        let mask = (1u64 << base_bits) - 1;
        for start in (1u64 << 20..1 << 24).filter(|n| n % 4 == 3).step_by(97) {
            let first = Affine::of(start.into(), 20).unwrap();
            let (mut value, mut rho, mut steps) = (first.value as u64, log2_up(first.odd_steps, 20), 20);
            if rho < 0 {
                continue;
            }
            loop {
                let jump = jumps.entries()[(value & mask) as usize];
                steps += base_bits;
                if rho < jump.threshold() {
                    break;
                }
                value = (value >> base_bits) * jump.factor() + jump.addend();
                rho += log2_up(jump.odd_steps(), base_bits);
            }
            assert!(justified(start, steps), "{start} after {steps} steps of jumps by {base_bits}");
        }
    }
}

/// The checker can fail: a start that no rule removes so early is not justified.
#[test]
fn the_checker_refuses() {
    assert!(!justified(27, 30));
    assert!(justified(27, 59));
    assert!(!justified((1 << 21) - 1, 21));
    let refused = (1u64 << 20..(1 << 20) + 1000).filter(|n| !justified(*n, 10)).count();
    assert!(refused > 10, "{refused}");
}
