//! Delays on the simulator against plain iteration.

use crate::common::{Bench, Dice, delay, step};
use num_bigint::BigUint;
use warpmp_collatz::gpu::tables;
use warpmp_collatz::kernels::delay::{Delay, Source};
use warpmp_collatz::kernels::delay_pools::DelayPools;
use warpmp_collatz::kernels::honda::Place;
use warpmp_kernel::ir::Kernel;
use warpmp_kernel::sim::{Counters, Grid};

const CAPACITY: usize = 2000;
/// In words that no kernel has written.
const UNTOUCHED: u32 = 0xDEAD_BEEF;

/// Starts of all sizes, among them such as grow past 96 bits.
fn starts(count: usize) -> Vec<u64> {
    let mut dice = Dice(11);
    let mut starts: Vec<u64> =
        (1..40).chain([27, 703, 837_799, u64::MAX, u64::MAX >> 1, u64::MAX >> 2, u64::MAX - 1]).collect();
    starts.extend((20..64).flat_map(|bits| [1 << bits, (1 << bits) - 1, (1 << bits) + 1]));
    // 2^k·m − 1 goes up k times.
    starts.extend((40..63).flat_map(|k| [3, 5, 7, 21].map(|m: u64| m.wrapping_mul(1 << k).wrapping_sub(1))));
    while starts.len() < count {
        let number = dice.next();
        starts.push((number >> (number % 50)).max(1));
    }
    starts.truncate(count);
    starts
}

/// Does a value at the end of some jump exceed 96 bits?
fn overflows(start: u64, jump: u32, ceiling: u32) -> [bool; 2] {
    let (mut n, mut highest, mut at_jumps) = (BigUint::from(start), 0, 0);
    for steps in 0_u64.. {
        highest = highest.max(n.bits());
        if steps % u64::from(jump) == 0 {
            at_jumps = at_jumps.max(n.bits());
        }
        if n.bits() <= u64::from(ceiling) {
            break;
        }
        n = step(&n);
    }
    [at_jumps > 96, highest > 96]
}

#[allow(clippy::too_many_arguments, reason = "what the kernels' parameters are")]
/// Runs a kernel; every delay and every report must be right.
fn check(
    kernel: &Kernel,
    grid: Grid,
    tables: &[u32],
    known: u32,
    source: Source,
    starts: &[u64],
    pools: bool,
    jump: u32,
) -> Counters {
    let mut bench = Bench::new();
    let array = bench.pairs(starts);
    let (tables, known_delays) = (bench.words(tables), bench.words(&tables::known_delays(known).unwrap()));
    let out = bench.words(&vec![UNTOUCHED; starts.len()]);
    let (next, report) = (bench.words(&[0]), bench.report(CAPACITY));
    let from = if source == Source::Array { array } else { starts[0] };
    let mut args = vec![from, starts.len() as u64, tables, known_delays, out];
    if pools {
        args.push(next);
    }
    args.extend([report, CAPACITY as u64]);
    let counters = bench.run(kernel, grid, &args);
    let out = bench.read(out, starts.len());
    let (reported, count) = bench.reported(report, CAPACITY);
    assert_eq!(reported.len(), count);
    let mut seen = 0;
    for (index, (&start, &found)) in starts.iter().zip(&out).enumerate() {
        let record = u128::from(start) | (index as u128) << 64;
        if reported.contains(&record) {
            seen += 1;
            assert_eq!(found, UNTOUCHED);
            assert!(overflows(start, jump, known)[1], "{}: {start} was reported", kernel.name);
        } else {
            assert_eq!(found, delay(&start.into()), "{}: delay of {start}", kernel.name);
            assert!(!overflows(start, jump, known)[0], "{}: {start} was not reported", kernel.name);
        }
    }
    assert_eq!(seen, count);
    counters
}

#[test]
fn algorithm_6() {
    for (base_bits, place, known_bits, threads) in [
        (9, Place::Shared, 12, 256),
        (11, Place::Shared, 11, 64),
        (12, Place::Global, 12, 128),
        (5, Place::Global, 12, 32),
    ] {
        let spec = Delay { base_bits, place, known_bits, source: Source::Array, threads };
        let starts = starts(1000);
        check(
            &spec.build(),
            spec.grid(3),
            &tables::delay(base_bits),
            known_bits,
            Source::Array,
            &starts,
            false,
            base_bits,
        );
        let spec = Delay { source: Source::Range, ..spec };
        for first in [1, u64::MAX - 700] {
            let starts: Vec<u64> = (0..300).map(|i| first + i).collect();
            check(
                &spec.build(),
                spec.grid(1),
                &tables::delay(base_bits),
                known_bits,
                Source::Range,
                &starts,
                false,
                base_bits,
            );
        }
    }
}

#[test]
fn pools() {
    for (base_bits, known_bits, large_jumps, small_jumps, chunk, warps) in
        [(12, 12, 2, 5, 256, 4), (14, 14, 1, 1, 64, 2), (11, 14, 3, 7, 4096, 1), (10, 16, 2, 3, 128, 3)]
    {
        let spec = DelayPools {
            base_bits,
            known_bits,
            large_jumps,
            small_jumps,
            source: Source::Array,
            chunk,
            warps,
            blocks: 1,
        };
        let tables = tables::delay_pools(base_bits);
        for count in [1, 31, 33, 500, 1100] {
            check(&spec.build(), spec.grid(2), &tables, known_bits, Source::Array, &starts(count), true, base_bits);
        }
        let spec = DelayPools { source: Source::Range, ..spec };
        let starts: Vec<u64> = (0..300).map(|i| u64::MAX - 400 + i).collect();
        check(&spec.build(), spec.grid(1), &tables, known_bits, Source::Range, &starts, true, base_bits);
    }
}

#[test]
fn jumps_are_of_full_warps() {
    let spec = DelayPools {
        base_bits: 14,
        known_bits: 16,
        large_jumps: 2,
        small_jumps: 5,
        source: Source::Array,
        chunk: 2048,
        warps: 1,
        blocks: 1,
    };
    let mut dice = Dice(3);
    let starts: Vec<u64> = (0..2048).map(|_| dice.next()).collect();
    let tables = tables::delay_pools(14);
    let counters = check(&spec.build(), spec.grid(1), &tables, 16, Source::Array, &starts, true, 14);
    let all = counters.instructions();
    // Deterministic twins of the rate: the text's instructions a start, and how full the warps are.
    let rate = all.warps as f64 / starts.len() as f64;
    assert!((29.0..30.5).contains(&rate), "{rate}");
    let lanes = all.threads as f64 / all.warps as f64;
    assert!(lanes > 25.0, "{lanes}");
}
