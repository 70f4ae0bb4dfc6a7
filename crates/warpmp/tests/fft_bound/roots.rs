//! The roots of a table against cosines and sines in long integers.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::trace::half_spacing;

/// Fixed-point numbers have this many bits after the point.
const BITS: u32 = 200;

/// The error of a cosine or sine here, in units of the last bit: far below half the distance between doubles.
const ERROR: u32 = 1 << 20;

/// Is every entry of the table the nearest double of its cosine or sine times its scale? The number of the first that is not.
pub(crate) fn check(roots: &[(u32, f64)], table: &[u64]) -> Result<(), usize> {
    assert_eq!(table.len(), 2 * roots.len());
    let pi = pi();
    let mut known: HashMap<u32, [BigInt; 2]> = HashMap::new();
    for (i, &(angle, scale)) in roots.iter().enumerate() {
        let exact = known.entry(angle).or_insert_with(|| cosine_and_sine(&pi, angle)).clone();
        for (part, exact) in exact.into_iter().enumerate() {
            let entry = f64::from_bits(table[2 * i + part]);
            // Scales are powers of two.
            let value = entry / scale;
            let distance = fixed(value) - exact;
            if distance.magnitude() > (fixed(half_spacing(value)) + ERROR).magnitude() {
                return Err(2 * i + part);
            }
        }
    }
    Ok(())
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

/// Cosine and sine of an angle in units of 2⁻³² turns, by their series and by symmetry.
fn cosine_and_sine(pi: &BigInt, angle: u32) -> [BigInt; 2] {
    let (quarter, within) = (angle >> 30, angle % (1 << 30));
    let x: BigInt = (pi * within) >> 31;
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
