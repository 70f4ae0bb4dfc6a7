//! Roots of unity as the nearest doubles, but for a part of 2⁻⁴⁰ of the rounding.
//!
//! Sums of two doubles have an error below 2⁻¹⁰⁰. A root is the product of one of `√n` roots and one of `√n` others, both as
//! such sums. So a table costs some twenty operations an entry, and few series.

use crate::double_double::{DoubleDouble, cosine_and_sine};

/// A complex number of such sums.
#[derive(Clone, Copy, Debug)]
struct Point {
    re: DoubleDouble,
    im: DoubleDouble,
}

impl Point {
    /// `e^(2πi·number/of)`.
    fn root(number: u64, of: u64) -> Self {
        let [re, im] = cosine_and_sine(number, of);
        Self { re, im }
    }

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re + -(self.im * other.im), im: self.re * other.im + self.im * other.re }
    }
}

/// The roots of unity of one order.
#[derive(Debug)]
pub(super) struct Roots {
    order: u64,
    step: u64,
    coarse: Vec<Point>,
    fine: Vec<Point>,
}

impl Roots {
    /// `e^(2πi·n/order)` for `n` below `order`, which is below 2^48.
    pub(super) fn new(order: u64) -> Self {
        let step = order.isqrt().max(1);
        let coarse = (0..order.div_ceil(step)).map(|n| Point::root(n * step, order)).collect();
        let fine = (0..step).map(|n| Point::root(n, order)).collect();
        Self { order, step, coarse, fine }
    }

    /// Cosine and sine of `number/order` turns.
    #[inline]
    pub(super) fn get(&self, number: u64) -> [f64; 2] {
        let number = number % self.order;
        let (coarse, fine) = (number / self.step, number % self.step);
        let point = self.coarse[coarse as usize].mul(self.fine[fine as usize]);
        [point.re.nearest(), point.im.nearest()]
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    /// Bits behind the point of the long integers.
    const BITS: usize = 200;

    /// Cosine and sine of `number/order` turns in units of 2⁻²⁰⁰, by their series in long integers.
    fn exactly(number: u64, order: u64) -> [BigInt; 2] {
        // Machin: π = 16·atan(1/5) − 4·atan(1/239).
        let atan = |n: i64| {
            let (mut sum, mut power, mut k) = (BigInt::ZERO, (BigInt::from(1) << (BITS + 40)) / n, 1_i64);
            while power != BigInt::ZERO {
                sum += &power / k * if k % 4 == 1 { 1 } else { -1 };
                power /= n * n;
                k += 2;
            }
            sum
        };
        let turn: BigInt = 2 * (16 * atan(5) - 4 * atan(239));
        let x: BigInt = turn * number / order;
        let [mut c, mut s] = [BigInt::ZERO; 2];
        let (mut term, mut n) = (BigInt::from(1) << (BITS + 40), 0_i64);
        while term != BigInt::ZERO {
            let sign = if n % 4 < 2 { 1 } else { -1 };
            *(if n % 2 == 0 { &mut c } else { &mut s }) += &term * sign;
            n += 1;
            term = ((term * &x) >> (BITS + 40)) / n;
        }
        [c >> 40, s >> 40]
    }

    /// A double in units of 2⁻²⁰⁰.
    fn units(x: f64) -> BigInt {
        let bits = x.abs().to_bits();
        if bits == 0 {
            return BigInt::ZERO;
        }
        let (exponent, digits) = ((bits >> 52) as i64 - 1075, (bits & ((1 << 52) - 1)) | 1 << 52);
        let up = exponent + BITS as i64;
        let size = if up >= 0 { BigInt::from(digits) << up } else { BigInt::from(digits) >> -up };
        if x < 0.0 { -size } else { size }
    }

    #[test]
    fn roots_are_the_nearest_doubles() {
        for order in [1_u64, 2, 3, 7, 8, 32, 480, 1920, 30 << 23, 1 << 29] {
            let roots = Roots::new(order);
            for i in 0..200_u64 {
                let number = if i < 30 { i } else { i.wrapping_mul(0x9e37_79b9_7f4a_7c15) } % order;
                for (found, exact) in roots.get(number).into_iter().zip(exactly(number, order)) {
                    let error = units(found) - &exact;
                    // Half a unit in the last place, and 2⁻⁴⁰ of it; what should be zero is below 2⁻⁹⁸.
                    let ulp = units(found.abs().next_up() - found.abs());
                    let most = (&ulp >> 1) + (ulp >> 41) + (BigInt::from(1) << (BITS - 98));
                    assert!(BigInt::from(error.magnitude().clone()) <= most, "{number}/{order}");
                }
            }
        }
    }
}
