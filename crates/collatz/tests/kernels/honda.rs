//! Algorithm 5 on the simulator against plain iteration.

use crate::common::{Bench, Dice, powers, small_steps, steps, table};
use num_bigint::BigUint;
use warpmp_collatz::kernels::honda::{Begin, Honda, Place};
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::Counters;

/// Some residues and a constant.
struct Case {
    spec: Honda,
    residues: Vec<u64>,
    constant: u64,
}

const CAPACITY: usize = 20_000;

/// Runs the kernel, holds its reports against big integers; the counts, the jumps made.
fn check(case: &Case) -> (Counters, u64) {
    let Case { spec, residues, constant } = case;
    let mut bench = Bench::new();
    let successors: Vec<(u32, u64)> = residues.iter().map(|&s| small_steps(s, spec.sieve_bits)).collect();
    let rows: Vec<u64> = residues.iter().zip(&successors).flat_map(|(&s, &(_, v))| [s, v]).collect();
    // The bytes above the odd steps are the rules' business.
    let odd: Vec<u32> = successors.iter().map(|&(odd, _)| odd | 0xABC0_0100).collect();
    let (rows, odd, powers) = (bench.pairs(&rows), bench.words(&odd), bench.pairs(&powers()));
    let (table, report) = (bench.words(&table(spec.base_bits)), bench.report(CAPACITY));
    let sum = bench.pairs(&[0]);
    let args = [rows, odd, residues.len() as u64, *constant, 56, powers, table, sum, report, CAPACITY as u64];
    let counters = bench.run(&spec.build(), spec.grid(3), &args);
    let found_sum = bench.read_pairs(sum, 1)[0];
    let (reported, _) = bench.reported(report, CAPACITY);

    let limit = BigUint::from(1_u32) << 96;
    let (mut expected, mut jumps, mut sum) = (Vec::new(), 0, 0_u64);
    for top in 0..256_u64 {
        for (&s, &(odd, v)) in residues.iter().zip(&successors) {
            let number = top << 56 | constant | s;
            let n = BigUint::from(number);
            let mut z = match spec.begin {
                Begin::Start => n.clone(),
                Begin::AfterSieve => BigUint::from(3_u32).pow(odd) * (number >> spec.sieve_bits) + v,
            };
            loop {
                z = steps(&z, spec.base_bits);
                jumps += 1;
                if z >= limit {
                    expected.push(u128::from(number));
                    break;
                }
                if z < n {
                    sum = sum.wrapping_add(z.iter_u64_digits().next().unwrap_or(0));
                    break;
                }
            }
        }
    }
    expected.sort_unstable();
    assert_eq!(reported, expected, "{}", spec.name());
    assert_eq!(found_sum, sum, "{}", spec.name());
    (counters, jumps)
}

const BASE: Honda = Honda { base_bits: 11, place: Place::Shared, begin: Begin::Start, sieve_bits: 32, threads: 256 };

/// Residues that climb, and random ones.
fn residues(bits: u32, count: usize) -> Vec<u64> {
    let mut dice = Dice(5);
    let random = (2..count).map(|_| dice.next() >> (64 - bits) | 7);
    [(1 << bits) - 1, (1 << (bits - 1)) - 1].into_iter().chain(random).collect()
}

#[test]
fn reports_exactly_what_exceeds_96_bits() {
    for begin in [Begin::Start, Begin::AfterSieve] {
        for (place, base_bits, threads) in [
            (Place::Shared, 10, 256),
            (Place::Shared, 11, 64),
            (Place::Shared, 12, 512),
            (Place::Global, 5, 128),
            (Place::Global, 14, 1024),
        ] {
            for sieve_bits in [32, 37] {
                let spec = Honda { base_bits, place, begin, sieve_bits, threads };
                // All ones below the top bits: 3^56·(t + 1) − 1 after 56 steps, beyond 2^96 for large t.
                let ones = (1 << 56) - (1 << sieve_bits);
                for constant in [ones, 0x5A_5A5A_0000_0000 & ones] {
                    check(&Case { spec, residues: residues(sieve_bits, 5), constant });
                }
            }
        }
    }
}

#[test]
fn there_are_starts_beyond_96_bits_among_them() {
    let ones = (1 << 56) - (1 << 32);
    let mut bench = Bench::new();
    let spec = BASE;
    let rows = bench.pairs(&[(1 << 32) - 1, 0]);
    let (odd, powers, table) = (bench.words(&[0]), bench.pairs(&powers()), bench.words(&table(11)));
    let (report, sum) = (bench.report(CAPACITY), bench.pairs(&[0]));
    bench.run(&spec.build(), spec.grid(1), &[rows, odd, 1, ones, 56, powers, table, sum, report, CAPACITY as u64]);
    let (reported, count) = bench.reported(report, CAPACITY);
    assert!(reported.contains(&u128::from(u64::MAX)) && count > 50, "{count}");
    // A report without room counts what it cannot list.
    let short = bench.report(3);
    bench.run(&spec.build(), spec.grid(1), &[rows, odd, 1, ones, 56, powers, table, sum, short, 3]);
    assert_eq!(bench.read(short, 1)[0] as usize, count);
}

#[test]
fn starts_near_nothing() {
    // All but 1, whose trajectory never falls below it.
    let spec = Honda { sieve_bits: 32, ..BASE };
    for residues in [vec![3, 7, 27, 31], vec![0xFFFF_FFFF, 0xFFFF_FFFE, 2]] {
        check(&Case { spec, residues, constant: 1 << 32 });
    }
    check(&Case { spec, residues: vec![2, 3, 27, 703, 0xFFFF_FFFF], constant: 0 });
}

#[test]
fn look_ups_are_shared() {
    let spec = BASE;
    let (counters, jumps) = check(&Case { spec, residues: residues(32, 9), constant: 0x12_3456_0000_0000 });
    let section = counters.section("jump").unwrap();
    // Three wide products a jump.
    let wide = section.op(Op::MadWide(Int::U32)).threads;
    assert_eq!(wide, 3 * jumps);
    // Instructions of a lane a jump.
    // The branch back is not taken after the last.
    assert_eq!(section.instructions().threads, INSTRUCTIONS_A_JUMP * jumps - 256 * 9);
    // Lanes that differ in the top bits read the same entry for four jumps.
    assert!(section.bank_conflicts() < section.op(load()).warps * 2);
}

/// In the text; the machine code has fewer.
const INSTRUCTIONS_A_JUMP: u64 = 27;

fn load() -> Op {
    Op::Ld(warpmp_kernel::ir::Space::Shared, warpmp_kernel::ir::Vector::V2, warpmp_kernel::ir::Elem::U32)
}
