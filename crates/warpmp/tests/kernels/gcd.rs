//! Greatest common divisors and inverses on the simulator, against num-bigint.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::gcd::Gcd;
use warpmp::kernels::modular::inverse::InvMod;
use warpmp_kernel::build::Glue;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{limbs, numbers, odd_moduli, run, run_plain};

/// Euclid's.
fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Numbers with common factors, powers of two among them, zeros, equal ones.
fn pairs(lanes: usize, bits: [usize; 2]) -> (Vec<BigUint>, Vec<BigUint>) {
    let short = bits[0].min(bits[1]);
    let draw = |pattern, bits, seed| numbers(pattern, lanes, bits, seed);
    let (a, b) = (draw(Pattern::Carry, bits[0], 1), draw(Pattern::Runs, bits[1], 2));
    let (c, d) = (draw(Pattern::Random, bits[0], 3), draw(Pattern::Ones, bits[1], 4));
    let factor = draw(Pattern::Carry, short.div_ceil(2), 5);
    let pair = |lane: usize| {
        let (a, b, c, d, f) = (&a[lane], &b[lane], &c[lane], &d[lane], &factor[lane]);
        match lane % 9 {
            0 => (a.clone(), b.clone()),
            1 => ((c >> short.div_ceil(2)) * f, (d >> short.div_ceil(2)) * f),
            2 => (a.clone(), BigUint::ZERO),
            3 => (BigUint::ZERO, b.clone()),
            4 => (BigUint::from(1_u32) << (lane * 7 % bits[0]), BigUint::from(1_u32) << (lane * 5 % bits[1])),
            5 => (BigUint::ZERO, BigUint::ZERO),
            6 => ((BigUint::from(1_u32) << bits[0]) - 1_u32, d.clone()),
            7 => (f.clone(), f.clone()),
            _ => (c.clone(), b >> (lane * 3 % bits[1])),
        }
    };
    (0..lanes).map(pair).unzip()
}

fn check_gcd(bits: [usize; 2], lanes: usize, layout: Option<Layout>) {
    let (a, b) = pairs(lanes, bits);
    for common in [false, true] {
        let second = limbs(bits[1]);
        let second = if common { OperandShape::common(32 * second) } else { OperandShape::each(32 * second) };
        let mut spec = Gcd::new(OperandShape::each(bits[0] as u32), second);
        spec.layout = layout.unwrap_or(spec.layout);
        let other = if common { &b[..1] } else { &b[..] };
        let width = limbs(bits[0]).max(limbs(bits[1]));
        let outcome = run_plain(&spec, &[(spec.operands[0], &a), (second, other)], &[width], lanes);
        for lane in 0..lanes {
            let (a, b) = (&a[lane], &other[if common { 0 } else { lane }]);
            assert_eq!(outcome.results[0][lane], gcd(a, b), "{} lane {lane}: {a:x}, {b:x}", spec.name());
        }
    }
}

fn check_inverse(bits: [usize; 2], lanes: usize, layout: Option<Layout>) {
    let mut moduli = odd_moduli(lanes, bits[1], 9);
    let even = numbers(Pattern::Carry, lanes, bits[1], 8);
    for lane in (0..lanes).filter(|lane| lane % 5 == 4) {
        moduli[lane].clone_from(&even[lane]);
    }
    if bits[1] > 1 {
        moduli[9] = BigUint::from(2_u32);
        moduli[10] = BigUint::from(1_u32) << (bits[1] - 1);
    }
    let mut values = numbers(Pattern::Carry, lanes, bits[0], 7);
    for (lane, value) in values.iter_mut().enumerate() {
        match lane % 7 {
            0 if moduli[lane] > BigUint::ZERO && bits[0] >= bits[1] => *value = &moduli[lane] - 1_u32,
            1 => *value = BigUint::from(1_u32),
            2 | 3 => value.set_bit(0, true),
            4 if lane % 2 == 0 => *value = BigUint::ZERO,
            _ => {}
        }
    }
    for common in [false, true] {
        let modulus = limbs(bits[1]);
        let operand = if common { OperandShape::common(32 * modulus) } else { OperandShape::each(32 * modulus) };
        let mut spec = InvMod::new(OperandShape::each(bits[0] as u32), operand);
        spec.layout = layout.unwrap_or(spec.layout);
        let moduli = if common { &moduli[10..11] } else { &moduli[..] };
        let outcome = run(&spec, &[(spec.value, &values), (operand, moduli)], &[modulus], lanes);
        for (lane, a) in values.iter().enumerate() {
            let m = &moduli[if common { 0 } else { lane }];
            let expected = if *m == BigUint::ZERO { Err(1) } else { a.modinv(m).ok_or(4) };
            let expected = if *m == BigUint::from(1_u32) { Ok(BigUint::ZERO) } else { expected };
            let status = expected.clone().err().unwrap_or(0);
            assert_eq!(outcome.statuses[lane], status, "{} lane {lane}: {a:x} mod {m:x}", spec.name());
            let expected = expected.unwrap_or(BigUint::ZERO);
            assert_eq!(outcome.results[0][lane], expected, "{} lane {lane}: {a:x} mod {m:x}", spec.name());
        }
    }
}

const fn layout(group: u32, length: u32) -> Layout {
    Layout { group, length, warps: 2, glue: Glue::None }
}

#[test]
fn divisors_by_one_lane() {
    for bits in [1, 2, 31, 32, 33, 63, 64, 65, 109, 128, 131, 163, 191, 239, 255, 256, 257, 480] {
        check_gcd([bits, bits], 40, None);
    }
    check_gcd([300, 64], 40, None);
    check_gcd([33, 400], 40, None);
}

/// A number that has a warp takes quotients from its highest bits: 0.6 quotients a bit, and 26 bits a batch.
#[test]
fn instructions_of_a_number_a_warp() {
    let spec = Gcd::new(OperandShape::each(16384), OperandShape::each(16384));
    assert_eq!(spec.layout.group, 32);
    let [a, b] = [1, 2].map(|seed| numbers(Pattern::Random, 2, 16384, seed));
    let outcome = run_plain(&spec, &[(spec.operands[0], &a), (spec.operands[1], &b)], &[512], 2);
    assert_eq!(outcome.results[0], [gcd(&a[0], &b[0]), gcd(&a[1], &b[1])]);
    let a_bit = outcome.counters.instructions().warps as f64 / (2.0 * 16384.0);
    assert!(a_bit < 33.0, "{a_bit}");
}

#[test]
fn divisors_by_groups() {
    check_gcd([1024, 1024], 10, None);
    check_gcd([1000, 2048], 10, None);
    check_gcd([160, 130], 33, Some(layout(2, 3)));
    check_gcd([160, 130], 33, Some(layout(8, 1)));
    check_gcd([500, 900], 10, Some(layout(32, 1)));
}

/// Pairs that are hard for quotients from the highest bits: quotients of many sizes one after the other, numbers of Fibonacci, nearly
/// equal numbers, a common factor of half the bits, and numbers far apart.
fn quotients(bits: usize) -> Vec<(BigUint, BigUint)> {
    let one = BigUint::from(1_u32);
    let limit = &one << bits;
    let chain = |size: &dyn Fn(u64) -> u64| {
        let (mut a, mut b, mut i) = (BigUint::from(3_u32), BigUint::from(2_u32), 0);
        loop {
            let next = &a * ((1_u64 << size(i)) + i % 3) + &b;
            if next >= limit {
                return (a, b);
            }
            (a, b, i) = (next, a, i + 1);
        }
    };
    let random = numbers(Pattern::Random, 4, bits, 11);
    let half = &random[0] >> (bits / 2);
    let mut pairs = vec![chain(&|_| 0), chain(&|i| i % 20), chain(&|i| [0, 1, 15, 16, 17][i as usize % 5])];
    pairs.extend([chain(&|i| i % 37), chain(&|i| 26 + i % 5), chain(&|_| 14), chain(&|_| 31), chain(&|_| 50)]);
    pairs.push((random[1].clone(), &random[1] - &one));
    pairs.push((&half * (&random[2] >> (bits / 2)), &half * (&random[3] >> (bits / 2))));
    pairs.push((random[1].clone(), &random[1] - (&one << (bits / 3))));
    pairs.push((random[1].clone(), &random[1] - (&one << (bits - 40))));
    pairs.push((&limit - &one, &limit - (&one << 1)));
    pairs.push((&one << (bits - 1), (&one << (bits - 1)) - &one));
    pairs.push((random[2].clone(), &random[3] >> (bits / 2)));
    pairs.push((random[2].clone(), BigUint::from(12_u32)));
    pairs
}

/// Numbers that have whole warps take Lehmer's steps first.
#[test]
fn divisors_by_lehmers_steps() {
    check_gcd([5000, 8000], 9, None);
    check_gcd([16384, 16384], 9, None);
    for (layout, bits) in [(layout(32, 4), 4000), (layout(32, 5), 5000), (layout(64, 4), 8100), (layout(32, 7), 200)] {
        check_gcd([bits, bits], 9, Some(layout));
        let pairs = quotients(bits);
        let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().flat_map(|(a, b)| [(a.clone(), b.clone()), (b, a)]).unzip();
        let width = limbs(bits);
        let operand = OperandShape::each(32 * width);
        let spec = Gcd { layout, ..Gcd::new(operand, operand) };
        let outcome = run_plain(&spec, &[(operand, &a), (operand, &b)], &[width], a.len());
        for (lane, (a, b)) in a.iter().zip(&b).enumerate() {
            assert_eq!(outcome.results[0][lane], gcd(a, b), "{} lane {lane}: {a:x}, {b:x}", spec.name());
        }
    }
}

#[test]
fn inverses_by_lehmers_steps() {
    check_inverse([32768, 32700], 11, None);
    for (layout, bits) in [(layout(32, 4), 4000), (layout(64, 4), 8100), (layout(32, 7), 200)] {
        check_inverse([bits, bits], 15, Some(layout));
        let pairs = quotients(bits);
        let (a, m): (Vec<_>, Vec<_>) = pairs.into_iter().flat_map(|(a, b)| [(a.clone(), b.clone()), (b, a)]).unzip();
        let width = limbs(bits);
        let operand = OperandShape::each(32 * width);
        let spec = InvMod { layout, ..InvMod::new(operand, operand) };
        let outcome = run(&spec, &[(operand, &a), (operand, &m)], &[width], a.len());
        for (lane, (a, m)) in a.iter().zip(&m).enumerate() {
            let expected = a.modinv(m);
            assert_eq!(outcome.statuses[lane] == 0, expected.is_some(), "{} lane {lane}: {a:x} mod {m:x}", spec.name());
            let expected = expected.unwrap_or(BigUint::ZERO);
            assert_eq!(outcome.results[0][lane], expected, "{} lane {lane}: {a:x} mod {m:x}", spec.name());
        }
    }
}

#[test]
fn inverses_by_one_lane() {
    for bits in [1, 2, 31, 32, 33, 63, 64, 65, 109, 128, 131, 163, 191, 239, 255, 256, 257, 480] {
        check_inverse([bits, bits], 40, None);
    }
    check_inverse([300, 64], 40, None);
    check_inverse([33, 400], 40, None);
}

#[test]
fn inverses_by_groups() {
    check_inverse([1024, 1024], 15, None);
    check_inverse([1000, 2048], 11, None);
    check_inverse([160, 130], 33, Some(layout(2, 3)));
    check_inverse([160, 130], 33, Some(layout(8, 1)));
    check_inverse([500, 900], 11, Some(layout(32, 1)));
}
