//! Montgomery's reduction of vectors of digits: one odd modulus for each lane.
//!
//! computes   `t/R mod m` with `R = x^n` for `n` digits of `m`, `x = 2^DIGIT_BITS`, `R ≥ 4m`
//! cost       `n² + n` digit products; a product or a square before it as in [`product`] and [`square`]
//!
//! Digits of the quotient are made in strips. A strip's digits clear the strip's own columns one after the other, in registers.
//! The columns above get one strip of a product.
//!
//! bound: `t < 4m²` gives `(t + q·m)/R < (4m² + R·m)/R ≤ 2m`: residues below `2m` are never subtracted from within a
//! power. `t < R·m` gives the same, and one subtraction reduces it. A column gets at most `n` products with the quotient,
//! a digit and a carry: `n ≤ MAX_DIGITS` keeps it below `2^64`. A product below Karatsuba's threshold is not carried before: its columns
//! have at most `n` products more.
//! source: Montgomery 1985; by columns as in Gueron, Krasnov 2012.

use crate::product::{self, STRIP, reduce, strips, subtract_if_not_less};
use crate::simd::Simd;
use crate::square;

/// Digits of a modulus of `limbs` limbs: `R ≥ 4m`.
pub const fn count<S: Simd>(limbs: usize) -> usize {
    (32 * limbs + 2).div_ceil(S::DIGIT_BITS)
}

/// `−m⁻¹ mod 2^DIGIT_BITS` for odd digits `m`.
#[inline(always)]
pub(crate) fn negative_inverse<S: Simd>(s: S, m: S::Vector) -> S::Vector {
    let (zero, two) = (s.zero(), s.splat(2));
    // m·m = 1 modulo 8; each step doubles the bits that are right: 3, 6, 12, 24, 48, 96.
    let mut inverse = m;
    for _ in 0..5 {
        inverse = s.low_digit(inverse, s.digit(s.sub(two, s.low_digit(m, inverse))));
    }
    s.digit(s.sub(zero, inverse))
}

/// An odd modulus for each lane.
#[derive(Clone, Debug)]
pub struct Moduli<S: Simd> {
    s: S,
    digits: Vec<S::Vector>,
    /// `−m⁻¹ mod 2^DIGIT_BITS`.
    inverse: S::Vector,
}

impl<S: Simd> Moduli<S> {
    /// Vectors of scratch for products of `n` digits.
    pub const fn scratch(n: usize) -> usize {
        let (product, square) = (product::scratch::<S>(n, n), square::scratch::<S>(n));
        2 * n + if product < square { square } else { product }
    }

    /// Memory for moduli of so many digits.
    pub fn new(s: S, digits: usize) -> Self {
        const { assert!(S::MAX_DIGITS == 0 || 2 * S::KARATSUBA_DIGITS <= S::MAX_DIGITS) };
        const { assert!(S::MAX_DIGITS == 0 || 2 * S::SQUARE_KARATSUBA_DIGITS <= S::MAX_DIGITS) };
        Self { s, digits: vec![s.zero(); digits], inverse: s.zero() }
    }

    /// Takes moduli.
    ///
    /// # Panics
    /// With another number of digits than the memory is for.
    pub fn set(&mut self, digits: &[S::Vector]) {
        let s = self.s;
        self.digits.copy_from_slice(digits);
        self.inverse = s.vectorize(
            #[inline(always)]
            || negative_inverse(s, digits[0]),
        );
    }

    /// `−m⁻¹ mod 2^DIGIT_BITS`.
    pub(crate) const fn inverse(&self) -> S::Vector {
        self.inverse
    }

    /// The moduli's digits.
    pub fn digits(&self) -> &[S::Vector] {
        &self.digits
    }

    /// `c = a·b/R`, below `2m` for `a, b < 2m`.
    pub fn multiply(&self, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
        let (t, scratch) = scratch.split_at_mut(2 * self.digits.len());
        product::columns(self.s, a, b, t, scratch);
        self.divide(t, c);
    }

    /// `x ← x²/R`, below `2m` for `x < 2m`.
    pub fn square(&self, x: &mut [S::Vector], scratch: &mut [S::Vector]) {
        let (t, scratch) = scratch.split_at_mut(2 * self.digits.len());
        square::columns(self.s, x, t, scratch);
        self.divide(t, x);
    }

    /// `c = t/R`, below `2m` for `t` below `4m²` or `R·m`; `t` has twice as many digits as the modulus, and is destroyed.
    pub fn divide(&self, t: &mut [S::Vector], c: &mut [S::Vector]) {
        let n = self.digits.len();
        self.s.vectorize(
            #[inline(always)]
            || {
                for start in (0..n).step_by(STRIP) {
                    let t = &mut t[start..];
                    match n - start {
                        1 => self.strip::<1>(t),
                        2 => self.strip::<2>(t),
                        3 => self.strip::<3>(t),
                        4 => self.strip::<4>(t),
                        5 => self.strip::<5>(t),
                        6 => self.strip::<6>(t),
                        7 => self.strip::<7>(t),
                        _ => self.strip::<STRIP>(t),
                    }
                }
                c.copy_from_slice(&t[n..2 * n]);
                reduce(self.s, c);
            },
        );
    }

    /// Makes the `T` lowest columns zero, and carries out of them.
    #[inline(always)]
    fn strip<const T: usize>(&self, t: &mut [S::Vector]) {
        let s = self.s;
        let zero = s.zero();
        let (Some(m), Some(below)) = (self.digits.first_chunk::<T>(), t.first_chunk::<T>()) else { return };
        let (mut low, mut high) = (*below, [zero; T]);
        let mut quotient = [zero; T];
        let mut carry = zero;
        for q in &mut quotient {
            let column = s.add(low[0], carry);
            *q = s.low_digit(column, self.inverse);
            // Column i of the window in low[i] and high[i − 1]; it slides by one.
            carry = s.add(s.carry(s.mul_low(column, *q, m[0])), high[0]);
            carry = s.mul_high(carry, *q, m[0]);
            for i in 1..T {
                low[i - 1] = s.mul_low(low[i], *q, m[i]);
                high[i - 1] = s.mul_high(high[i], *q, m[i]);
            }
            low[T - 1] = zero;
            high[T - 1] = zero;
        }
        let above = &mut t[T..];
        above[0] = s.add(above[0], carry);
        for (i, above) in above[..T].iter_mut().enumerate() {
            *above = s.add(*above, low[i]);
        }
        for (i, above) in above[1..].iter_mut().take(T - 1).enumerate() {
            *above = s.add(*above, high[i]);
        }
        strips(s, &quotient, &self.digits[T..], above);
    }

    /// The least residue of one below `2m`.
    pub fn reduce(&self, x: &mut [S::Vector]) {
        subtract_if_not_less(self.s, x, &self.digits);
    }
}
