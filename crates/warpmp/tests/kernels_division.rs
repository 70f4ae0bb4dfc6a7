//! Quotients and remainders on the simulator, against num-bigint.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod modular_common;

use modular_common::{limbs, numbers, run};
use num_bigint::BigUint;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::division::{Division, Parts};
use warpmp::kernels::modular::{Layout, Operand};
use warpmp_kernel::build::Glue;
use warpmp_testkit::Pattern;

/// Divides and compares every lane.
fn check(spec: &Division, dividends: &[BigUint], divisors: &[BigUint]) {
    let lanes = dividends.len();
    let operands = [(spec.dividend, dividends), (spec.divisor, divisors)];
    let sizes = [spec.dividend.limbs, spec.divisor.limbs];
    let both = spec.parts == Parts::Both;
    let outcome = run(spec, &operands, if both { &sizes } else { &sizes[1..] }, lanes);
    for (lane, a) in dividends.iter().enumerate() {
        let d = &divisors[if divisors.len() == 1 { 0 } else { lane }];
        let zero = *d == BigUint::ZERO;
        let (q, r) = if zero { (BigUint::ZERO, BigUint::ZERO) } else { (a / d, a % d) };
        assert_eq!(outcome.results.last().unwrap()[lane], r, "{} lane {lane}: {a:x} by {d:x}", spec.name());
        if both {
            assert_eq!(outcome.results[0][lane], q, "{} lane {lane}: {a:x} by {d:x}", spec.name());
        }
        assert_eq!(outcome.statuses[lane], u32::from(zero));
    }
}

/// Divisors of every length up to `bits`, zeros among them.
fn divisors(lanes: usize, bits: usize) -> Vec<BigUint> {
    let patterns = [Pattern::Carry, Pattern::Ones, Pattern::Edge, Pattern::Runs];
    let full: Vec<_> = patterns.iter().map(|&pattern| numbers(pattern, lanes, bits, 5)).collect();
    (0..lanes).map(|lane| &full[lane % 4][lane] >> if lane % 3 == 0 { 0 } else { (lane * 29) % bits }).collect()
}

/// Dividends that bring the estimates of the digits to their edges: multiples of the divisors, and one off.
fn dividends(divisors: &[BigUint], bits: usize) -> Vec<BigUint> {
    let carry = numbers(Pattern::Carry, divisors.len(), bits, 6);
    let limit = BigUint::from(1_u32) << bits;
    let near = |(lane, a): (usize, BigUint)| {
        let d = &divisors[lane];
        if *d == BigUint::ZERO || lane % 4 == 0 {
            return a;
        }
        let multiple = &a / d * d;
        match lane % 4 {
            1 => multiple,
            2 if multiple > BigUint::ZERO => multiple - 1_u32,
            _ => (multiple + d - 1_u32) % &limit,
        }
    };
    carry.into_iter().enumerate().map(near).collect()
}

fn check_bits(bits: [usize; 2], lanes: usize, layout: Option<Layout>) {
    let divisors = divisors(lanes, bits[1]);
    let dividends = dividends(&divisors, bits[0]);
    let (a, d) = (Operand::each(limbs(bits[0])), Operand::each(limbs(bits[1])));
    let mut spec = Division::new(a, d, Parts::Both);
    spec.layout = layout.unwrap_or(spec.layout);
    check(&spec, &dividends, &divisors);
    let spec = Division { divisor: Operand::common(d.limbs), parts: Parts::Remainder, ..spec };
    check(&spec, &dividends, &divisors[lanes - 1..]);
}

#[test]
fn by_one_lane_at_many_lengths() {
    for bits in [1, 2, 31, 32, 33, 63, 64, 65, 96, 109, 128, 131, 163, 191, 239, 256, 257, 384, 512] {
        check_bits([bits, bits], 65, None);
        check_bits([2 * bits, bits], 65, None);
    }
    for bits in [[32, 256], [1024, 33], [3000, 64], [64, 65]] {
        check_bits(bits, 65, None);
    }
}

#[test]
fn by_groups() {
    for bits in [[1024, 1024], [2048, 1024], [1000, 521], [40, 640], [4096, 2048], [3000, 3000]] {
        check_bits(bits, 17, None);
    }
    for (bits, group, length) in [([400, 192], 2, 3), ([300, 640], 8, 3), ([900, 500], 4, 4), ([3100, 3000], 32, 3)] {
        check_bits(bits, 33, Some(Layout { group, length, warps: 2, glue: Glue::None }));
    }
}

/// The operands of which one in 2³¹ random ones is: the digit's estimate is one too large.
#[test]
fn digits_that_are_corrected() {
    let one = BigUint::from(1_u32);
    let b = |n: usize| &one << (32 * n);
    let mut pairs = vec![
        (b(4) * 3_u32 / 4_u32, b(3) / 2_u32 + 1_u32),
        ((b(4) >> 1) - 1_u32, (b(3) >> 1) + b(1) - 1_u32),
        ((b(6) - 1_u32) >> 1, (b(3) >> 1) + 1_u32),
    ];
    // a = q·d − 1 with d = B³/2 + B − 1 and like it, for which three limbs by two give q.
    for q in [u32::MAX, u32::MAX - 1, 1 << 31, 3] {
        for low in [1_u32, u32::MAX, 1 << 31] {
            let d: BigUint = (b(3) >> 1) + low;
            pairs.push((&d * q - 1_u32, d.clone()));
            pairs.push((((&d * q - 1_u32) << 32) + low, d));
        }
    }
    let (dividends, divisors): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let spec = Division::new(Operand::each(6), Operand::each(3), Parts::Both);
    check(&spec, &dividends, &divisors);
    let layout = Layout { group: 2, length: 3, warps: 1, glue: Glue::None };
    check(&Division { layout, ..spec }, &dividends, &divisors);
}
