//! The roots of a table against cosines and sines in long integers.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::trace::half_spacing;

/// Fixed-point numbers have this many bits after the point.
const BITS: u32 = 200;

/// The error of a cosine or sine here, in units of the last bit: far below half the distance between doubles.
const ERROR: u32 = 1 << 20;

/// Is every entry of the table the nearest double of its cosine or sine over its divisor? The number of the first that is not.
pub(crate) fn check(roots: &[(u64, u32)], table: &[u64]) -> Result<(), usize> {
    assert_eq!(table.len(), 2 * roots.len());
    let pi = pi();
    let mut known: HashMap<u64, [BigInt; 2]> = HashMap::new();
    for (i, &(angle, divisor)) in roots.iter().enumerate() {
        let exact = known.entry(angle).or_insert_with(|| cosine_and_sine(&pi, angle)).clone();
        for (part, exact) in exact.into_iter().enumerate() {
            let entry = f64::from_bits(table[2 * i + part]);
            let distance = fixed(entry) - exact / divisor;
            if distance.magnitude() > (fixed(half_spacing(entry)) + ERROR).magnitude() {
                return Err(2 * i + part);
            }
        }
    }
    Ok(())
}

/// The smaller one of cosine and sine of an angle below a quarter of a turn over the greater one, and the greater one over a divisor: are
/// these the nearest doubles?
pub(crate) fn are_nearest([ratio, scale]: [f64; 2], angle: u64, divisor: u32) -> [bool; 2] {
    let [cosine, sine] = cosine_and_sine(&pi(), angle);
    let [greater, less] = if cosine > sine { [cosine, sine] } else { [sine, cosine] };
    let is_nearest = |value: f64, numerator: &BigInt, denominator: &BigInt| {
        let distance = fixed(value) * denominator - (numerator << BITS);
        distance.magnitude() <= ((fixed(half_spacing(value)) + ERROR) * denominator).magnitude()
    };
    [is_nearest(ratio, &less, &greater), is_nearest(scale, &greater, &(BigInt::from(divisor) << BITS))]
}

/// A double that is a multiple of 2⁻²⁰⁰.
fn fixed(value: f64) -> BigInt {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    if exponent == 0 {
        return BigInt::ZERO;
    }
    let shift = exponent - 1075 + i64::from(BITS);
    let magnitude = BigInt::from(fraction | 1 << 52);
    let magnitude = if shift >= 0 { magnitude << shift } else { magnitude >> -shift };
    if value < 0.0 { -magnitude } else { magnitude }
}

/// π by Machin's formula.
fn pi() -> BigInt {
    let inverse_tangent = |n: u32| {
        let mut power: BigInt = (BigInt::from(1) << BITS) / n;
        let mut sum = BigInt::ZERO;
        for k in 0_u32.. {
            if power == BigInt::ZERO {
                break;
            }
            let term = &power / (2 * k + 1);
            sum += if k % 2 == 0 { term } else { -term };
            power /= n * n;
        }
        sum
    };
    (inverse_tangent(5) * 4 - inverse_tangent(239)) * 4
}

/// A turn in the units of the table's angles.
pub(crate) const TURN: u64 = 315 << 40;

/// Cosine and sine of an angle, by their series and by symmetry.
fn cosine_and_sine(pi: &BigInt, angle: u64) -> [BigInt; 2] {
    let (quarter, within) = (4 * angle / TURN, angle % (TURN / 4));
    let x: BigInt = pi * 2 * within / TURN;
    let square = (&x * &x) >> BITS;
    let mut sums = [BigInt::ZERO, BigInt::ZERO];
    for (sum, (mut term, first)) in sums.iter_mut().zip([(BigInt::from(1) << BITS, 1_u32), (x, 2)]) {
        for k in (first..).step_by(2) {
            if term == BigInt::ZERO {
                break;
            }
            *sum += &term;
            term = -((term * &square) >> BITS) / (k * (k + 1));
        }
    }
    let [c, s] = sums;
    match quarter {
        0 => [c, s],
        1 => [-s, c],
        2 => [-c, -s],
        _ => [s, -c],
    }
}
