//! Kernels of modular arithmetic and division whose numbers lie in all threads of a block, against num-bigint: on the
//! simulator with few limbs a thread, whatever the numbers' lengths.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::division::{Division, Parts};
use warpmp::kernels::modular::gcd::Gcd;
use warpmp::kernels::modular::inverse::InvMod;
use warpmp::kernels::modular::power::{Exponent, PowMod};
use warpmp::kernels::modular::product::{Function, MontgomeryProduct};
use warpmp::kernels::modular::sqrt::Sqrt;
use warpmp_kernel::build::Glue;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{below, limbs, numbers, odd_moduli, run, run_plain};

use crate::montgomery::check_function;

/// A number a block of `group` threads.
const fn block(group: u32, length: u32) -> Layout {
    Layout { group, length, warps: group / 32, glue: Glue::None }
}

/// Numbers of any length up to `bits`, each pattern in turn.
fn mixed(lanes: usize, bits: usize, seed: u64) -> Vec<BigUint> {
    let patterns = [Pattern::Carry, Pattern::Ones, Pattern::Runs, Pattern::Edge];
    let full: Vec<_> = patterns.iter().map(|&pattern| numbers(pattern, lanes, bits, seed)).collect();
    (0..lanes)
        .map(|lane| &full[lane % 4][lane] >> if lane.is_multiple_of(3) { 0 } else { (lane * 97) % bits })
        .collect()
}

#[test]
fn montgomery_functions() {
    for (bits, layout) in [(2048, block(64, 1)), (2017, block(64, 2)), (5000, block(64, 3)), (1000, block(128, 1))] {
        let (l, lanes) = (limbs(bits), 9);
        let r = BigUint::from(1_u32) << (32 * l as usize);
        let moduli = odd_moduli(lanes, bits, 5);
        let (a, c) = (below(&moduli, bits, 1), below(&moduli, bits, 2));
        let wide: Vec<BigUint> = moduli.iter().map(|m| m * &r - 1_u32).collect();
        let own = OperandShape::each(32 * l);
        for function in Function::ALL {
            check_function(function, layout, [&a, &c, &wide], (own, &moduli));
        }
    }
}

#[test]
fn montgomery_faults() {
    let (bits, lanes) = (2500, 7);
    let l = limbs(bits);
    let mut moduli = odd_moduli(lanes, bits, 5);
    let (mut a, mut c) = (below(&moduli, bits, 1), below(&moduli, bits, 2));
    moduli[1] = BigUint::ZERO;
    moduli[2] = BigUint::from(1_u32) << (bits - 1);
    a[3] = moduli[3].clone();
    c[4] = &moduli[4] + 1_u32;
    // Above the limbs of the modulus, and above those that the block holds.
    a[5] = BigUint::from(1_u32) << (32 * 200);
    let (wide, own) = (OperandShape::each(6432), OperandShape::each(32 * l));
    let operands = vec![wide, own, own];
    let spec = MontgomeryProduct { function: Function::Mul, operands, layout: block(64, 2), chain: 1 };
    let outcome = run(&spec, &[(wide, &a), (own, &c), (own, &moduli)], &[l], lanes);
    assert_eq!(outcome.statuses, [0, 1, 2, 3, 3, 3, 0]);
    assert!(outcome.results[0][1..6].iter().all(|result| *result == BigUint::ZERO));
}

#[test]
fn quotients() {
    for ([p, q], layout) in [
        ([4096, 6144], block(64, 3)),
        ([9000, 3000], block(64, 3)),
        ([40000, 5000], block(64, 3)),
        ([3000, 100], block(128, 3)),
    ] {
        let lanes = 13;
        let mut divisors = mixed(lanes, q, 5);
        divisors[4] = BigUint::ZERO;
        let mut dividends = numbers(Pattern::Carry, lanes, p, 6);
        for (lane, (a, d)) in dividends.iter_mut().zip(&divisors).enumerate().skip(1) {
            if *d > BigUint::ZERO {
                let multiple = &*a / d * d;
                *a = if lane.is_multiple_of(2) || multiple == BigUint::ZERO { multiple } else { multiple - 1_u32 };
            }
        }
        for common in [false, true] {
            let divisor = if common { OperandShape::common(q as u32) } else { OperandShape::each(q as u32) };
            let rows = if common { &divisors[5..6] } else { &divisors[..] };
            let dividend = OperandShape::each(p as u32);
            let spec = Division { layout, ..Division::new(dividend, divisor, Parts::Both) };
            let operands = [(dividend, &dividends[..]), (divisor, rows)];
            let outcome = run(&spec, &operands, &[limbs(p), limbs(q)], lanes);
            for (lane, a) in dividends.iter().enumerate() {
                let d = &rows[if common { 0 } else { lane }];
                let zero = *d == BigUint::ZERO;
                let expected = if zero { [BigUint::ZERO, BigUint::ZERO] } else { [a / d, a % d] };
                assert_eq!([0, 1].map(|i| outcome.results[i][lane].clone()), expected, "{} {lane}", spec.name());
                assert_eq!(outcome.statuses[lane], u32::from(zero));
            }
        }
    }
}

/// Of which the digit's estimate is one too large, at the top of a block.
#[test]
fn digits_that_are_corrected() {
    let one = BigUint::from(1_u32);
    let b = |n: usize| &one << (32 * n);
    let pairs: Vec<(BigUint, BigUint)> = [u32::MAX, u32::MAX - 1, 1 << 31, 3]
        .into_iter()
        .flat_map(|q| [1_u32, u32::MAX, 1 << 31].map(|low| (q, low)))
        .map(|(q, low)| ((b(191) >> 1) + low, q))
        .map(|(d, q)| (&d * q - 1_u32, d))
        .collect();
    let (dividends, divisors): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let (dividend, divisor) = (OperandShape::each(6144), OperandShape::each(6112));
    let spec = Division { layout: block(64, 3), ..Division::new(dividend, divisor, Parts::Both) };
    let outcome = run(&spec, &[(dividend, &dividends), (divisor, &divisors)], &[192, 191], dividends.len());
    for (lane, (a, d)) in dividends.iter().zip(&divisors).enumerate() {
        assert_eq!([0, 1].map(|i| outcome.results[i][lane].clone()), [a / d, a % d], "lane {lane}");
    }
}

#[test]
fn divisors_and_inverses() {
    for ([p, q], layout) in [([500, 900], block(64, 1)), ([900, 500], block(128, 1)), ([2100, 2000], block(64, 2))] {
        let lanes = 9;
        let (a, mut m) = (mixed(lanes, p, 7), mixed(lanes, q, 8));
        m[2] = BigUint::ZERO;
        m[3] = BigUint::from(1_u32) << (q - 1);
        m[5].set_bit(0, true);
        m[6].set_bit(0, true);
        let (first, second) = (OperandShape::each(p as u32), OperandShape::each(q as u32));
        let operands = [(first, &a[..]), (second, &m[..])];
        let spec = Gcd { layout, ..Gcd::new(first, second) };
        let outcome = run_plain(&spec, &operands, &[limbs(p.max(q))], lanes);
        for lane in 0..lanes {
            let (mut x, mut y) = (a[lane].clone(), m[lane].clone());
            while y != BigUint::ZERO {
                (x, y) = (y.clone(), x % y);
            }
            assert_eq!(outcome.results[0][lane], x, "{} lane {lane}: {:x}, {:x}", spec.name(), a[lane], m[lane]);
        }
        let spec = InvMod { layout, ..InvMod::new(first, second) };
        let outcome = run(&spec, &operands, &[limbs(q)], lanes);
        for (lane, (a, m)) in a.iter().zip(&m).enumerate() {
            let expected = if *m == BigUint::ZERO { Err(1) } else { a.modinv(m).ok_or(4) };
            let expected = if m.bits() == 1 { Ok(BigUint::ZERO) } else { expected };
            assert_eq!(outcome.statuses[lane], expected.clone().err().unwrap_or(0), "{} lane {lane}", spec.name());
            assert_eq!(outcome.results[0][lane], expected.unwrap_or(BigUint::ZERO), "{} lane {lane}", spec.name());
        }
    }
}

#[test]
fn powers() {
    for (base, exponent, modulus, layout) in
        [(2000, 40, 2048, block(64, 1)), (4500, 9, 2000, block(64, 2)), (300, 12, 900, block(128, 1))]
    {
        let lanes = 5;
        let moduli = odd_moduli(lanes, modulus, 3);
        let bases = numbers(Pattern::Carry, lanes, base, 4);
        let exponents = numbers(Pattern::Runs, lanes, exponent, 5);
        let [a, e, m] = [base, exponent, modulus].map(|bits| OperandShape::each(bits as u32));
        let kinds = [
            (Exponent::Operand(e), vec![(a, &bases[..]), (e, &exponents), (m, &moduli)]),
            (Exponent::Secret(e), vec![(a, &bases[..]), (e, &exponents), (m, &moduli)]),
            (Exponent::Public(17), vec![(a, &bases[..]), (m, &moduli)]),
        ];
        for (kind, operands) in kinds {
            let spec = PowMod { layout, ..PowMod::new(a, kind, m) };
            let outcome = run(&spec, &operands, &[m.limbs()], lanes);
            for lane in 0..lanes {
                let exponent = if operands.len() == 2 { BigUint::from(17_u32) } else { exponents[lane].clone() };
                let expected = bases[lane].modpow(&exponent, &moduli[lane]);
                assert_eq!(outcome.results[0][lane], expected, "{} lane {lane}", spec.name());
            }
        }
    }
}

#[test]
fn square_roots() {
    for (bits, layout) in [(4000, block(64, 2)), (12000, block(64, 3)), (1001, block(128, 2))] {
        let lanes = 6;
        let mut values = mixed(lanes, bits, 3);
        let root = values[1].sqrt();
        values[2] = &root * &root;
        let value = OperandShape::each(bits as u32);
        let spec = Sqrt { layout, ..Sqrt::new(value) };
        let half = bits.div_ceil(2);
        let outcome = run_plain(&spec, &[(value, &values)], &[limbs(half), limbs(half + 1)], lanes);
        for (lane, a) in values.iter().enumerate() {
            let root = a.sqrt();
            assert_eq!(outcome.results[0][lane], root, "{} lane {lane}", spec.name());
            assert_eq!(outcome.results[1][lane], a - &root * &root, "{} lane {lane}", spec.name());
        }
    }
}
