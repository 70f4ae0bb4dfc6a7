//! Montgomery's arithmetic by `tensor` on the simulator: every number of panels, moduli and residues at the edges, faults, powers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigUint;
use warpmp::kernels::{OperationShape, Settings, Spec};
use warpmp::{Operation, Shape, Status};
use warpmp_kernel::ir::Op;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{Outcome, below, limbs, numbers, odd_moduli, run};
use warpmp_testkit::kernels::{PATTERNS, algorithm, operations};

const NAME: &str = "tensor";

fn settings(warps: u32, products: u32) -> Settings {
    Settings { warps: Some(warps), products: Some(products), ..Settings::default() }
}

/// Runs an operation on numbers. Operands of one number serve all lanes.
fn outcome(operation: Operation, bits: &[usize], operands: &[&[BigUint]], settings: &Settings) -> Outcome {
    let shapes: Vec<Shape> = bits.iter().zip(operands).map(|(bits, it)| Shape::new(it.len(), *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = algorithm(operation, NAME);
    assert!((algorithm.fits)(shape));
    let spec: Box<dyn Spec> = algorithm.spec(shape, settings, true).unwrap();
    let operands: Vec<_> = shape.operands().iter().copied().zip(operands.iter().copied()).collect();
    let lanes = operands.iter().map(|it| it.1.len()).max().unwrap();
    run(&*spec, &operands, &[limbs(bits[bits.len() - 1])], lanes)
}

/// Products and squares of residues modulo a number of 2048·k bits.
fn check(m: &BigUint, bits: usize, lanes: usize, seed: u64, settings: &Settings) {
    let r = BigUint::from(1_u32) << bits;
    let moduli = vec![m.clone(); lanes];
    let (mut a, mut b) = (below(&moduli, bits, seed), below(&moduli, bits, seed + 1));
    let edges = [BigUint::ZERO, BigUint::from(1_u32) % m, m - 1_u32, m >> 1_u32, (&r - 1_u32) % m, &r % m];
    for x in &edges {
        a.extend(vec![x.clone(); edges.len()]);
        b.extend(edges.clone());
    }
    let product = outcome(Operation::MontMul, &[bits; 3], &[&a, &b, &moduli[..1]], settings);
    let square = outcome(Operation::MontSqr, &[bits; 2], &[&a, &moduli[..1]], settings);
    for (lane, (x, y)) in a.iter().zip(&b).enumerate() {
        let over_r = |x: BigUint| if m.bits() == 1 { BigUint::ZERO } else { x * r.modinv(m).unwrap() % m };
        assert_eq!(product.results[0][lane], over_r(x * y), "{bits} bits, a = {x:x}, b = {y:x}, m = {m:x}");
        assert_eq!(square.results[0][lane], over_r(x * x), "{bits} bits, a = {x:x}, m = {m:x}");
    }
    assert!(product.statuses.iter().chain(&square.statuses).all(|&it| it == Status::Fine.code()));
}

/// The numbers beside the powers of two: their inverses, their quotients and the forms of zero modulo `R − 1` are at the edges.
fn edge_moduli(bits: usize) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let r = &one << bits;
    vec![&r - 1_u32, &r - 3_u32, one, BigUint::from(3_u32), (&r >> 1) + 1_u32, (&r >> 1_u32) - 1_u32]
}

#[test]
fn every_number_of_panels() {
    for panels in 1..=7 {
        let bits = 2048 * panels;
        let r = BigUint::from(1_u32) << bits;
        check(&(r - 1_u32), bits, 1, 1, &settings(1, 3));
    }
}

#[test]
fn edges() {
    for bits in [2048, 4096] {
        for m in edge_moduli(bits) {
            check(&m, bits, 3, 2, &Settings::default());
        }
    }
}

#[test]
fn carry_prone_moduli() {
    for seed in [5, 9] {
        for m in odd_moduli(21, 2048, seed) {
            check(&m, 2048, 5, seed, &settings(2, 7));
        }
    }
}

#[test]
fn faults_are_statuses() {
    let bits = 2048;
    let odd = (BigUint::from(1_u32) << 2000_u32) + 1_u32;
    let (zero, even) = (BigUint::ZERO, &odd + 1_u32);
    let small = BigUint::from(7_u32);
    for (m, statuses) in [
        (&odd, [Status::Fine, Status::NotReduced, Status::NotReduced]),
        (&even, [Status::EvenModulus; 3]),
        (&zero, [Status::DivisionByZero; 3]),
    ] {
        let [a, b] = [[&small, m, &small], [&small, &small, &even]].map(|it| it.map(Clone::clone));
        let found = outcome(Operation::MontMul, &[bits; 3], &[&a, &b, std::slice::from_ref(m)], &settings(2, 4));
        for (lane, status) in statuses.iter().enumerate() {
            assert_eq!(found.statuses[lane], status.code(), "m = {m:x}, lane {lane}");
            assert_eq!(found.results[0][lane] == zero, *status != Status::Fine, "m = {m:x}, lane {lane}");
        }
    }
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
            let found = outcome(Operation::PowMod, &bits, &[&bases, e, m], &Settings::default());
            for lane in 0..lanes {
                let [e, m] = [e, m].map(|it| &it[if common { 0 } else { lane }]);
                assert_eq!(found.results[0][lane], bases[lane].modpow(e, m), "{bits:?} bits, lane {lane}, m = {m:x}");
            }
            assert!(found.statuses.iter().all(|&it| it == Status::Fine.code()));
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
        outcome(Operation::PowMod, &[1024, 5, 1024], &[&bases, &[BigUint::from(19_u32)], &moduli], &settings(1, 1));
    assert_eq!(found.statuses, [Status::DivisionByZero.code(), Status::Fine.code(), Status::Fine.code()]);
    for lane in 1..3 {
        assert_eq!(found.results[0][lane], bases[lane].modpow(&BigUint::from(19_u32), &moduli[lane]));
    }
}

/// The low half of a product meets no block of zeros only.
#[test]
fn matrix_products() {
    for (panels, expected) in [(1, 18 + 16 + 16), (2, 68 + 48 + 64), (4, 264 + 160 + 256)] {
        let bits = 2048 * panels;
        let moduli = odd_moduli(1, bits, 3);
        let all = vec![moduli[0].clone(); 2];
        let found = outcome(Operation::MontSqr, &[bits; 2], &[&below(&all, bits, 1), &moduli], &settings(1, 1));
        assert_eq!(found.counters.op(Op::MmaU8).warps, 2 * expected, "{bits} bits");
    }
}

/// Instructions of a product modulo one number for all lanes. Half of the differences are negative: those take some more.
#[test]
fn costs() {
    for (bits, expected) in [(2048, 713), (4096, 1373), (8192, 2872)] {
        let moduli = odd_moduli(12, bits, 3)[11..].to_vec();
        let all = vec![moduli[0].clone(); 16];
        let [a, b] = [1, 2].map(|seed| below(&all, bits, seed));
        let count = |lanes: usize| {
            let operands: [&[BigUint]; 3] = [&a[..lanes], &b[..lanes], &moduli];
            outcome(Operation::MontMul, &[bits; 3], &operands, &settings(1, 16)).counters.instructions().warps
        };
        assert_eq!((count(16) - count(8)) / 8, expected, "{bits} bits");
    }
}
