//! The look-ahead kernel on the simulator: which numbers it tests, how they end, what it reports.

use crate::common::{self, Bench, dead, need, small_steps};
use num_bigint::BigUint;
use warpmp_collatz::kernels::lookahead::{Lookahead, RHO_BIAS, RHO_SHIFT};
use warpmp_collatz::kernels::vector::BitVector;
use warpmp_collatz::{gpu::tables, power::LOG2_3};
use warpmp_kernel::ir::Op;
use warpmp_kernel::sim::Counters;

const CAPACITY: usize = 60_000;

/// A window: its size is 2^(L + 10), its number counts such windows from 0.
#[derive(Clone, Copy)]
struct Case {
    spec: Lookahead,
    steps: u32,
    window: u128,
    /// ρ may be at most this, as the kernel has it; none: what the limbs allow.
    limit: Option<u32>,
}

/// What a run said, over all groups.
#[derive(Default)]
struct Outcome {
    tested: u64,
    checksum: u64,
    reported: Vec<u128>,
    counters: Counters,
}

impl Case {
    fn base(&self) -> u128 {
        self.window << (self.spec.leaf_bits + 10)
    }

    fn limit(&self) -> u32 {
        let own = tables::rho_limit(self.base() + (1 << (self.spec.leaf_bits + 10)), self.spec.limbs);
        self.limit.unwrap_or(own).min(own)
    }

    /// Leaves by their odd steps.
    fn groups(&self) -> Vec<(u32, Vec<u64>)> {
        let bits = self.spec.leaf_bits;
        let mut groups = vec![Vec::new(); bits as usize + 1];
        for residue in 0..1_u64 << bits {
            if !dead(residue, bits, true, (0, 0)) {
                groups[small_steps(residue, bits).0 as usize].push(residue);
            }
        }
        (0..).zip(groups).filter(|(_, leaves)| !leaves.is_empty()).collect()
    }

    fn run(&self) -> Outcome {
        let spec = self.spec;
        let mut bench = Bench::new();
        let mut outcome = Outcome::default();
        let tables_address = bench.words(&tables::lookahead(spec.jump_bits, spec.leaf_bits));
        for (odd, leaves) in self.groups() {
            let mask = (1_u64 << self.steps) - 1;
            let mut vector = self.vector(&mut bench, odd);
            vector.extend_from_within(..64.min(vector.len()));
            while vector.len() < (mask as usize + 1) / 32 + 64 {
                vector.extend_from_within(..64);
            }
            let inverse = (0..odd).fold(1_u64, |p, _| p.wrapping_mul(0xAAAA_AAAA_AAAA_AAAB));
            let mut records: Vec<u64> = leaves
                .iter()
                .flat_map(|&leaf| {
                    let value = small_steps(leaf, spec.leaf_bits).1;
                    let index = value.wrapping_mul(inverse) & mask;
                    [value, index >> 5 | (index & 31) << 32 | (leaf % 9) << 60]
                })
                .collect();
            records.extend([0; 4]);
            let power = 3_u128.pow(odd);
            let offset = power * (self.window << 10);
            let base = self.base();
            let [records, residues, vector] = [bench.pairs(&records), bench.pairs(&leaves), bench.words(&vector)];
            let (next, tested, report) = (bench.words(&[0]), bench.pairs(&[0, 0]), bench.report(CAPACITY));
            let args = [
                records,
                residues,
                leaves.len() as u64,
                vector,
                mask >> 5,
                (self.window as u64) << 5 & mask >> 5,
                power as u64,
                offset as u64,
                (offset >> 64) as u64,
                base as u64,
                (base >> 64) as u64,
                (base % 9) as u64,
                tables::leaf_rho(spec.leaf_bits, odd).into(),
                self.limit().into(),
                tables_address,
                next,
                tested,
                report,
                CAPACITY as u64,
            ];
            outcome.counters += bench.run(&spec.build(), spec.grid(2), &args);
            let sums = bench.read_pairs(tested, 2);
            outcome.tested += sums[0];
            outcome.checksum = outcome.checksum.wrapping_add(sums[1]);
            let (starts, count) = bench.reported(report, CAPACITY);
            assert_eq!(starts.len(), count);
            outcome.reported.extend(starts);
        }
        outcome.reported.sort_unstable();
        outcome
    }

    fn vector(&self, bench: &mut Bench, odd: u32) -> Vec<u32> {
        let spec = BitVector { steps: self.steps };
        let done = self.spec.leaf_bits;
        let needs: Vec<u32> = (done..=done + self.steps).map(need).collect();
        let (needs, filter) = (bench.words(&needs), bench.words(&[u32::MAX]));
        let vector = bench.empty(spec.words() as usize);
        bench.run(&spec.build(), spec.grid(), &[vector, filter, 0, needs, odd.into(), 3_u64.pow(odd)]);
        bench.read(vector, spec.words() as usize)
    }

    /// The numbers that have to be tested, by the rules, with the odd steps of their leaf.
    fn candidates(&self) -> Vec<(u128, u32)> {
        let bits = self.spec.leaf_bits;
        let mut found = Vec::new();
        for (odd, leaves) in self.groups() {
            for (leaf, a) in leaves.iter().flat_map(|leaf| (0..1024_u128).map(move |a| (leaf, a))) {
                let n = self.base() + u128::from(*leaf) + (a << bits);
                let value = (BigUint::from(n) >> bits) * 3_u32.pow(odd) + small_steps(*leaf, bits).1;
                let low = (value % (1_u64 << self.steps)).iter_u64_digits().next().unwrap_or(0);
                let alive = !dead(low, self.steps, true, (odd, bits));
                if alive && !matches!(n % 9, 2 | 4 | 5 | 8) {
                    found.push((n, odd));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Does the kernel report this start, by the contract? Its jumps, too.
    fn model(&self, n: u128, odd: u32, table: &[u32]) -> (bool, u64) {
        let (spec, limit) = (&self.spec, self.limit());
        let mut rho = f64::from(odd) * LOG2_3 - f64::from(spec.leaf_bits);
        let round = |x: f64| (x * 256.0 + 1.0 / 16.0).ceil() / 256.0;
        rho = round(rho);
        let most = f64::from((limit >> RHO_SHIFT) - RHO_BIAS) / 256.0;
        let mut z = common::steps(&BigUint::from(n), spec.leaf_bits);
        for jumps in 1.. {
            let low = (&z % (1_u32 << spec.jump_bits)).iter_u64_digits().next().unwrap_or(0);
            let (odd, _) = small_steps(low, spec.jump_bits);
            z = common::steps(&z, spec.jump_bits);
            rho += round(f64::from(odd) * LOG2_3 - f64::from(spec.jump_bits));
            let checked = jumps > spec.sure_jumps || spec.watched;
            // A tag of zeros is at the limit, not above it: no leaf of number 0 comes so close in these tests.
            if checked && rho >= most {
                return (true, jumps.into());
            }
            let low = (&z % (1_u32 << spec.jump_bits)).iter_u64_digits().next().unwrap_or(0);
            if jumps >= spec.sure_jumps && (rho * 1024.0) < threshold(low, spec.jump_bits, table) {
                return (false, jumps.into());
            }
        }
        unreachable!()
    }
}

/// The kernel's threshold in 1/1024, from its table.
fn threshold(low: u64, bits: u32, table: &[u32]) -> f64 {
    let word = table[(1 << bits) + low as usize / 2];
    f64::from(word >> (16 * (low % 2)) & 0xFFFF) - 1024.0
}

const BASE: Lookahead = Lookahead {
    jump_bits: 6,
    sure_jumps: 2,
    watched: true,
    limbs: 3,
    leaf_bits: 8,
    warps: 2,
    blocks: 1,
    ranged: false,
};

/// Windows at places where words end.
fn windows(leaf_bits: u32) -> Vec<u128> {
    let size = leaf_bits + 10;
    vec![
        1 << (42 - size),
        (1 << (64 - size)) - 1,
        1 << (64 - size),
        (1 << (68 - size)) + 12_345,
        (1 << (71 - size)) - 3,
    ]
}

#[test]
fn tests_exactly_what_the_rules_leave() {
    // A limit below the start: every candidate is reported after its first jump.
    for (leaf_bits, steps, jump_bits, sure_jumps, limbs) in
        [(8, 12, 6, 2, 3), (7, 17, 8, 2, 4), (9, 13, 13, 1, 3), (8, 15, 5, 3, 3)]
    {
        for window in windows(leaf_bits) {
            let spec = Lookahead { leaf_bits, jump_bits, sure_jumps, limbs, ..BASE };
            let case = Case { spec, steps, window, limit: Some(0) };
            let outcome = case.run();
            let expected: Vec<u128> = case.candidates().iter().map(|&(n, _)| n).collect();
            assert_eq!(outcome.tested, expected.len() as u64);
            let successor =
                |&n: &u128| common::steps(&BigUint::from(n), leaf_bits).iter_u64_digits().next().unwrap_or(0);
            assert_eq!(outcome.checksum, expected.iter().map(successor).fold(0, u64::wrapping_add));
            assert!(outcome.reported == expected, "{} window {window}", spec.name());
        }
    }
}

#[test]
fn ends_and_reports_by_the_contract() {
    for (leaf_bits, steps, jump_bits, sure_jumps, limbs) in
        [(7, 12, 6, 2, 3), (8, 16, 8, 2, 4), (6, 12, 12, 1, 3), (7, 15, 5, 3, 4)]
    {
        for (window, bits) in windows(leaf_bits).into_iter().zip([8_u32, 9, 7, 10, 11]) {
            for watched in [true, false] {
                let spec = Lookahead { leaf_bits, jump_bits, sure_jumps, limbs, watched, ..BASE };
                // Low enough to be passed, high enough for the leaves.
                let case = Case { spec, steps, window, limit: Some((bits * 256 + RHO_BIAS) << RHO_SHIFT) };
                let outcome = case.run();
                let table = tables::lookahead(jump_bits, leaf_bits);
                let mut expected = Vec::new();
                for (n, odd) in case.candidates() {
                    if case.model(n, odd, &table).0 {
                        expected.push(n);
                    }
                }
                assert!(!expected.is_empty());
                assert!(outcome.reported == expected, "{} window {window}", spec.name());
            }
        }
    }
}

/// What the rate depends on, of the text: instructions of a warp for a leaf, a batch, a turn of the tail.
#[test]
fn instructions_are_counted() {
    let spec = Lookahead { jump_bits: 12, sure_jumps: 1, watched: false, leaf_bits: 12, warps: 1, ..BASE };
    let case = Case { spec, steps: 12, window: (1 << 42) - 1, limit: None };
    let outcome = case.run();
    // 2^64 − 1 goes up to 3^64 − 1, beyond 2^101.
    assert_eq!(outcome.reported, [u128::from(u64::MAX)]);
    let section = |name: &str| outcome.counters.section(name).unwrap();
    let (batch, tail) = (section("batch"), section("tail"));
    // A batch reads 32 candidates and 32 thresholds; a turn of the tail reads thresholds.
    let batches = batch.op(Op::LdSharedHalf).warps / 2;
    let turns = tail.op(Op::LdSharedHalf).warps;
    let leaves = case.groups().iter().map(|group| group.1.len() as u64).sum::<u64>();
    assert!(batches >= outcome.tested / 32 && batches <= outcome.tested / 32 + leaves / 32 + 20);
    let each = |section: &Counters, count: u64| section.instructions().warps as f64 / count as f64;
    let figures =
        [each(batch, batches), each(tail, turns), each(section("leaf"), leaves), each(section("queue"), leaves)];
    let expected = [65.0, 53.4, 76.9, 92.0];
    for (figure, expected) in figures.into_iter().zip(expected) {
        assert!((figure / expected - 1.0_f64).abs() < 0.02, "{figures:?}");
    }
}

/// A lane is dropped only if a rule ends it within the next d steps, whatever came before; and hardly ever kept without need.
#[test]
fn thresholds_are_justified() {
    for jump_bits in [5, 8, 11] {
        let table = tables::lookahead(jump_bits, 10);
        let (mut dropped, mut ended) = (0, 0);
        for done in [20, 34, 47, 63] {
            for odd in need(done)..(need(done) + 9).min(done) {
                let rho = f64::from((tables::leaf_rho(done, odd) >> RHO_SHIFT) - RHO_BIAS) / 256.0;
                for low in 0..1 << jump_bits {
                    let drops = rho * 1024.0 < threshold(low, jump_bits, &table);
                    let ends = dead(low, jump_bits, true, (odd, done));
                    assert!(ends || !drops, "{low} of {jump_bits} bits after {done} steps, {odd} odd");
                    dropped += u32::from(drops);
                    ended += u32::from(ends);
                }
            }
        }
        assert!(dropped * 100 > ended * 97, "{dropped} of {ended}");
    }
}
