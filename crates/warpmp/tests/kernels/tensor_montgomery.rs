//! Montgomery's arithmetic by `tensor` on the simulator: every number of panels, moduli and residues at the edges, faults, powers.

use num_bigint::BigUint;
use warpmp::kernels::Settings;
use warpmp::{Operation, Status};
use warpmp_kernel::ir::Op;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{below, numbers, odd_moduli};
use warpmp_testkit::kernels::residues::{Ring, edge_moduli};
use warpmp_testkit::kernels::{PATTERNS, operations};

const NAME: &str = "tensor";

fn settings(warps: u32, products: u32) -> Settings {
    Settings { warps: Some(warps), products: Some(products), ..Settings::default() }
}

fn ring(settings: Settings) -> Ring {
    Ring { name: NAME, settings }
}

#[test]
fn every_number_of_panels() {
    for panels in 1..=7 {
        let bits = 2048 * panels;
        let r = BigUint::from(1_u32) << bits;
        ring(settings(1, 3)).check_products(&(r - 1_u32), bits, 1, 1);
    }
}

/// Every number of strips: products modulo the greatest number and one that is carry-prone.
#[test]
fn every_number_of_strips() {
    for strips in (3..=13).step_by(2) {
        let bits = 1024 * strips;
        let greatest = (BigUint::from(1_u32) << bits) - 1_u32;
        for m in [&greatest, &odd_moduli(3, bits, strips as u64)[2]] {
            ring(settings(1, 3)).check_products(m, bits, 2, 1);
        }
    }
}

#[test]
fn edges() {
    for bits in [2048, 3072, 4096] {
        for m in edge_moduli(bits) {
            ring(Settings::default()).check_products(&m, bits, 3, 2);
        }
    }
}

#[test]
fn carry_prone_moduli() {
    for seed in [5, 9] {
        for m in odd_moduli(21, 2048, seed) {
            ring(settings(2, 7)).check_products(&m, 2048, 5, seed);
        }
    }
}

#[test]
fn faults_are_statuses() {
    ring(settings(2, 4)).check_faults(2048);
}

#[test]
fn powers() {
    // A modulus that fills its panels, shorter ones, a longer and a shorter base, windows of several widths.
    for (bits, lanes) in [
        ([2048, 9, 2048], 5),
        ([2048, 33, 1000], 3),
        ([3000, 7, 2100], 3),
        ([500, 130, 1500], 2),
        ([4096, 12, 4096], 2),
    ] {
        let [base, exponent, modulus] = bits;
        let moduli = odd_moduli(lanes, modulus, 3);
        let bases = numbers(Pattern::Carry, lanes, base, 4);
        let mut exponents = numbers(Pattern::Carry, lanes, exponent, 11);
        exponents[0] = BigUint::ZERO;
        exponents[1] = (BigUint::from(1_u32) << exponent) - 1_u32;
        for common in [false, true] {
            let first = if common { 1 } else { lanes };
            let (e, m) = (&exponents[lanes - first..], &moduli[lanes - first..]);
            let found = ring(Settings::default()).outcome(Operation::PowMod, &bits, &[&bases, e, m]);
            for lane in 0..lanes {
                let [e, m] = [e, m].map(|it| &it[if common { 0 } else { lane }]);
                assert_eq!(found.results[0][lane], bases[lane].modpow(e, m), "{bits:?} bits, lane {lane}, m = {m:x}");
            }
            assert!(found.statuses.iter().all(|&it| it == Status::Fine.code()));
        }
    }
}

/// Every number of panels, the last one not full. With more than two panels results become columns on another way.
#[test]
fn powers_of_every_number_of_panels() {
    for panels in 3..=8 {
        let (bits, exponent) = (2048 * panels - 31, 5);
        let (m, base) = (odd_moduli(1, bits, panels as u64), numbers(Pattern::Carry, 1, bits, 4));
        let e = [BigUint::from(29_u32)];
        let found = ring(Settings::default()).outcome(Operation::PowMod, &[bits, exponent, bits], &[&base, &e, &m]);
        assert_eq!(found.results[0][0], base[0].modpow(&e[0], &m[0]), "{bits} bits");
    }
}

/// Powers in every number of strips: lengths that fill them, that end within a limb, and the shortest one.
#[test]
fn powers_of_every_number_of_strips() {
    for strips in (3..=13).step_by(2) {
        for (bits, pattern) in [
            (1024 * strips, Pattern::Ones),
            (1024 * strips - 31, Pattern::Carry),
            (1024 * (strips - 1) + 1, Pattern::Runs),
        ] {
            let (exponent, lanes) = (6, 2);
            let (moduli, bases) = (odd_moduli(lanes, bits, strips as u64), numbers(pattern, lanes, bits, 4));
            let exponents = [45, 63].map(|it: u32| BigUint::from(it));
            let found = ring(Settings::default()).outcome(
                Operation::PowMod,
                &[bits, exponent, bits],
                &[&bases, &exponents, &moduli],
            );
            for lane in 0..lanes {
                let expected = bases[lane].modpow(&exponents[lane], &moduli[lane]);
                assert_eq!(found.results[0][lane], expected, "{bits} bits, lane {lane}");
            }
        }
    }
}

/// Exponents of every form that windows meet: all of one length, one bit, ones, runs of zeros longer than a word, zeros at both ends.
#[test]
fn windows() {
    let one = || BigUint::from(1_u32);
    let short: Vec<BigUint> = (0..128_u32).map(BigUint::from).collect();
    let bits = 200;
    let mut long: Vec<BigUint> = [0, 1, 31, 32, 33, 63, 64, 95, 96, 128, 199].map(|bit| one() << bit).to_vec();
    long.extend([4, 31, 32, 65, 200].map(|length| (one() << length) - one()));
    long.extend([40, 97, 160].map(|gap| (one() << 199) + (one() << (199 - gap)) + one()));
    long.extend((0..6).map(|shift| (((one() << 200) - one()) / BigUint::from(85_u32)) >> shift));
    long.push((one() << 199) - (one() << 70));
    for (exponents, bits) in [(short, 7), (long, bits)] {
        let lanes = exponents.len();
        let (moduli, bases) = (odd_moduli(lanes, 1000, 3), numbers(Pattern::Random, lanes, 1000, 4));
        let found =
            ring(Settings::default()).outcome(Operation::PowMod, &[1000, bits, 1000], &[&bases, &exponents, &moduli]);
        for lane in 0..lanes {
            let (e, m) = (&exponents[lane], &moduli[lane]);
            assert_eq!(found.results[0][lane], bases[lane].modpow(e, m), "exponent {e:x}, m = {m:x}");
        }
    }
}

/// Even moduli and zero take the same ways as in the other algorithms.
#[test]
fn powers_modulo_any_number() {
    for pattern in PATTERNS {
        operations::check(Operation::PowMod, NAME, &[1100, 6, 1100], &[5, 5, 5], pattern);
    }
    let moduli = [BigUint::ZERO, BigUint::from(6_u32) << 900_u32, BigUint::from(1_u32) << 1023_u32];
    let bases = numbers(Pattern::Random, 3, 1024, 1);
    let found =
        ring(settings(1, 1)).outcome(Operation::PowMod, &[1024, 5, 1024], &[&bases, &[BigUint::from(19_u32)], &moduli]);
    assert_eq!(found.statuses, [Status::DivisionByZero.code(), Status::Fine.code(), Status::Fine.code()]);
    for lane in 1..3 {
        assert_eq!(found.results[0][lane], bases[lane].modpow(&BigUint::from(19_u32), &moduli[lane]));
    }
}

/// The low half of a product meets no block of zeros only.
#[test]
fn matrix_products() {
    for (bits, expected) in [
        (2048, 18 + 16 + 16),
        (3072, 39 + 24 + 30),
        (4096, 68 + 48 + 52),
        (5120, 105 + 60 + 70),
        (8192, 264 + 160 + 168),
    ] {
        let moduli = odd_moduli(1, bits, 3);
        let all = vec![moduli[0].clone(); 2];
        let found = ring(settings(1, 1)).outcome(Operation::MontSqr, &[bits; 2], &[&below(&all, bits, 1), &moduli]);
        assert_eq!(found.counters.op(Op::MmaU8).warps, 2 * expected, "{bits} bits");
    }
}

/// Instructions of a product modulo one number for all lanes. Half of the differences are negative: those take some more.
#[test]
fn costs() {
    let found = [2048, 3072, 4096, 5120, 8192].map(|bits| {
        let moduli = odd_moduli(12, bits, 3)[11..].to_vec();
        let all = vec![moduli[0].clone(); 16];
        let [a, b] = [1, 2].map(|seed| below(&all, bits, seed));
        let count = |lanes: usize| {
            let operands: [&[BigUint]; 3] = [&a[..lanes], &b[..lanes], &moduli];
            ring(settings(1, 16)).outcome(Operation::MontMul, &[bits; 3], &operands).counters.instructions().warps
        };
        (count(16) - count(8)) / 8
    });
    assert_eq!(found, [534, 851, 1110, 1218, 2347]);
}

/// Instructions, and wavefronts of shared memory with how many of them waited for banks, of a square in a power whose exponent has a single one. Entries of two panels
/// wait where they are stored.
#[test]
fn costs_of_squares() {
    let found = [2048, 3072, 4096, 5120].map(|bits| {
        let (m, base) = (odd_moduli(1, bits, 3), numbers(Pattern::Random, 1, bits, 1));
        let count = |squares: usize| {
            let e = [BigUint::from(1_u32) << squares];
            let counters =
                ring(settings(1, 1)).outcome(Operation::PowMod, &[bits, 31, bits], &[&base, &e, &m]).counters;
            let waits = counters.shared_wavefronts() - counters.minimum_shared_wavefronts();
            [counters.instructions().warps, counters.shared_wavefronts(), waits]
        };
        let [more, fewer] = [24, 8].map(count);
        [0, 1, 2].map(|i| (more[i] - fewer[i]) / 16)
    });
    assert_eq!(found, [[468, 173, 1], [773, 297, 20], [1032, 428, 24], [1114, 565, 34]]);
}
