//! The checksum of work units on the simulator against the iteration's words.

use crate::common::{Bench, powers};
use num_bigint::BigUint;
use warpmp_collatz::kernels::alpha::{Alpha, RESULT_WORDS, THREADS};

const CAPACITY: usize = 3000;

/// The sum of all α of a start, the highest value, and whether a value exceeds 128 bits.
fn iterate(start: u128) -> (u64, BigUint, bool) {
    let start = BigUint::from(start);
    let (mut n, mut sum, mut highest, mut wide) = (start.clone(), 0, BigUint::ZERO, false);
    while n >= start {
        n += 1_u32;
        let twos = n.trailing_zeros().unwrap();
        sum += twos;
        n = (n >> twos) * BigUint::from(3_u32).pow(twos as u32);
        wide |= n.bits() > 128;
        n -= 1_u32;
        highest = highest.max(n.clone());
        let twos = n.trailing_zeros().unwrap();
        n >>= twos;
    }
    (sum, highest, wide)
}

fn check(spec: Alpha, unit: u128, residues: &[u64]) -> usize {
    // A third of the unit, from an odd place on.
    let range = [(1_u64 << spec.unit_bits) / 5 + 1, (1 << spec.unit_bits) / 2 + 3];
    let base = unit << spec.unit_bits;
    let mut bench = Bench::new();
    let grid = Alpha::grid(2);
    let threads = (grid.blocks * THREADS) as usize;
    let (residue_address, places, powers) =
        (bench.pairs(residues), bench.words(&spec.starts().places()), bench.pairs(&powers()));
    let (sum, results, report) =
        (bench.pairs(&[0, 0]), bench.empty(threads * RESULT_WORDS as usize), bench.report(CAPACITY));
    let mut args = vec![
        residue_address,
        residues.len() as u64,
        base as u64,
        (base >> 64) as u64,
        (base % 9) as u64,
        places,
        powers,
        sum,
        results,
        report,
        CAPACITY as u64,
    ];
    if spec.ranged {
        args.extend(range);
    }
    bench.run(&spec.build(), grid, &args);
    let (mut total, mut count, mut reports, mut highest) = (0_u64, 0, Vec::new(), (BigUint::ZERO, 0));
    for upper in 0..1_u128 << (spec.unit_bits - spec.sieve_bits) {
        for &residue in residues {
            let start = base + (upper << spec.sieve_bits) + u128::from(residue);
            let tested = match spec.kept {
                9 => true,
                6 => start % 3 != 2,
                _ => !matches!(start % 9, 2 | 4 | 5 | 8),
            };
            if !tested || spec.ranged && !(range[0]..range[1]).contains(&((start - base) as u64)) {
                continue;
            }
            count += 1;
            let (sum, high, wide) = iterate(start);
            if wide {
                reports.push(start);
            } else {
                total += sum;
                highest = highest.max((high, start));
            }
        }
    }
    reports.sort_unstable();
    let (reported, overflowed) = bench.reported(report, CAPACITY);
    assert_eq!((reported, overflowed), (reports.clone(), reports.len()), "{}", spec.name());
    assert_eq!(bench.read_pairs(sum, 2), [total, count]);
    let words = bench.read(results, threads * RESULT_WORDS as usize);
    let number = |words: &[u32]| words.iter().rev().fold(0_u128, |n, &word| n << 32 | u128::from(word));
    let found = words.chunks(8).map(|w| (number(&w[..4]), number(&w[4..]))).max().unwrap();
    // A reported start's values before it was reported may be the highest; in truth it has higher ones.
    if !reports.contains(&found.1) {
        assert_eq!((BigUint::from(found.0), found.1), highest);
    }
    overflowed
}

#[test]
fn sums_are_those_of_the_iteration() {
    let residues: Vec<u64> = [27, 31, 47, 71, 91, 103, 111, 127, 155, 159, 167, 1023].into();
    for kept in [5, 6, 9] {
        for unit in [1 << 20, 98_999_215, (1 << 31) - 1, (1 << 51) + 12_345] {
            assert_eq!(check(Alpha { sieve_bits: 20, unit_bits: 26, kept, ranged: false }, unit, &residues), 0);
            assert_eq!(check(Alpha { sieve_bits: 20, unit_bits: 26, kept, ranged: true }, unit, &residues), 0);
        }
    }
    // 64 ones at the end, and more.
    check(
        Alpha { sieve_bits: 24, unit_bits: 30, kept: 9, ranged: false },
        (1 << 34) - 1,
        &[(1 << 24) - 1, (1 << 24) - 5],
    );
    // Near 2^127 many values exceed 128 bits.
    assert!(check(Alpha { sieve_bits: 20, unit_bits: 25, kept: 9, ranged: false }, (1 << 101) + 99, &residues) > 50);
    assert!(check(Alpha { sieve_bits: 20, unit_bits: 25, kept: 9, ranged: false }, (1 << 102) - 1, &residues) > 50);
}
