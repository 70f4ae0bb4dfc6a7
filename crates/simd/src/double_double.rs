//! Cosine and sine of a fraction of a turn in pairs of doubles, for tables of roots of unity.
//!
//! computes   sums of two doubles with an error below 2⁻⁹⁵ for angles; the first double of a sum is the nearest one of its value
//! source     Dekker 1971 for sums and products without error; tests compare tables with long integers

use std::f64::consts::TAU;
use std::ops::{Add, Div, Mul, Neg};

/// Terms of the series of cosine and sine for an eighth of a turn: the next term is below 2⁻¹⁰⁵.
const TERMS: u32 = 14;

/// The unevaluated sum of two doubles, the first of which is the nearest double of the sum.
#[derive(Clone, Copy, Debug)]
pub struct DoubleDouble(f64, f64);

impl DoubleDouble {
    const ZERO: Self = Self(0.0, 0.0);
    const ONE: Self = Self(1.0, 0.0);
    /// 2π.
    const TURN: Self = Self(TAU, 2.449_293_598_294_706_4e-16);

    /// `a + b`, where `|a| ≥ |b|` or `a = 0`.
    #[inline]
    fn ordered(a: f64, b: f64) -> Self {
        let sum = a + b;
        Self(sum, b - (sum - a))
    }

    /// The quotient by a double.
    #[must_use]
    pub fn divide(self, n: f64) -> Self {
        let quotient = self.0 / n;
        let rest = (-quotient).mul_add(n, self.0) + self.1;
        Self::ordered(quotient, rest / n)
    }

    /// The nearest double.
    #[inline]
    pub fn nearest(self) -> f64 {
        self.0
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let part = sum - self.0;
        let error = (self.0 - (sum - part)) + (other.0 - part);
        Self::ordered(sum, error + (self.1 + other.1))
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let error = self.0.mul_add(other.0, -product);
        Self::ordered(product, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    #[inline]
    fn div(self, other: Self) -> Self {
        let quotient = self.0 / other.0;
        let rest = (-quotient).mul_add(other.0, self.0) + (-quotient).mul_add(other.1, self.1);
        Self::ordered(quotient, rest / other.0)
    }
}

/// Cosine and sine of `number/of` turns; `of` is below 2⁵⁰.
pub fn cosine_and_sine(number: u64, of: u64) -> [DoubleDouble; 2] {
    let number = number % of;
    // An eighth of a turn and a rest of at most an eighth: the rest is mirrored in odd eighths.
    let eighth = (u128::from(number) * 8 / u128::from(of)) as u64;
    let rest = 8 * u128::from(number) - u128::from(eighth) * u128::from(of);
    let rest = if eighth.is_multiple_of(2) { rest } else { u128::from(of) - rest };
    // Both are below 2^53.
    let x = (DoubleDouble::TURN * DoubleDouble(rest as f64, 0.0)).divide(8.0 * of as f64);
    let minus_square = x * -x;
    let (c, s) = (series(DoubleDouble::ONE, minus_square, 1), series(x, minus_square, 2));
    match eighth {
        0 => [c, s],
        1 => [s, c],
        2 => [-s, c],
        3 => [-c, s],
        4 => [-c, -s],
        5 => [-s, -c],
        6 => [s, -c],
        _ => [c, -s],
    }
}

/// `first·(1 + z/(k(k+1)) + z²/(k(k+1)(k+2)(k+3)) + …)`.
fn series(first: DoubleDouble, z: DoubleDouble, k: u32) -> DoubleDouble {
    let mut terms = [first; TERMS as usize + 1];
    for i in 0..TERMS {
        let divisor = f64::from((k + 2 * i) * (k + 2 * i + 1));
        terms[i as usize + 1] = (terms[i as usize] * z).divide(divisor);
    }
    // The smallest terms first.
    terms.into_iter().rev().fold(DoubleDouble::ZERO, DoubleDouble::add)
}
