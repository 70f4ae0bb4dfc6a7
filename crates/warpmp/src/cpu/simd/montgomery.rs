//! Montgomery's reduction of vectors of digits: eight odd moduli at once.
//!
//! computes   `t/R mod m` with `R = 2^(52n)` for `n` digits of `m`, `R ≥ 4m`
//! cost       `2n² + 2n` multiply-adds; a product or a square before it as in `product.rs` and `square.rs`
//!
//! Digits of the quotient are made in strips. What a strip's digits do to its own columns is done one after the other in
//! registers; what they do above is one strip of a product.
//!
//! bound: `t < 4m²` gives `(t + q·m)/R < (4m² + R·m)/R ≤ 2m`: residues below `2m` are never subtracted from within a
//! power. `t < R·m` gives the same, and one subtraction reduces it. A column gets at most `n` low and `n` high halves of
//! products with the quotient, and a digit and a carry: `n ≤ 2047` keeps it below `2^64`, as in `product.rs`.
//! source: Montgomery 1985; by columns as in Gueron, Krasnov 2012.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mullo_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_sub_epi64,
};

use super::DIGIT_BITS;
use super::digits::MASK;
use super::product::{self, STRIP, reduce, strips, subtract_if_not_less};
use super::square;

/// Digits of a modulus of so many limbs: `R ≥ 4m`.
pub(super) const fn count(limbs: usize) -> usize {
    (32 * limbs + 2).div_ceil(DIGIT_BITS)
}

/// Eight odd moduli.
pub(super) struct Moduli {
    digits: Vec<__m512i>,
    /// `−m⁻¹ mod 2^52`.
    inverse: __m512i,
}

impl Moduli {
    /// Vectors of scratch for products of `n` digits.
    pub(super) fn scratch(n: usize) -> usize {
        2 * n + product::scratch(n, n).max(square::scratch(n))
    }

    /// Memory for moduli of so many digits.
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(digits: usize) -> Self {
        let zero = _mm512_setzero_si512();
        Self { digits: vec![zero; digits], inverse: zero }
    }

    /// Takes moduli.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn set(&mut self, digits: &[__m512i]) {
        self.digits.copy_from_slice(digits);
        let m = digits[0];
        // m·m = 1 modulo 8; each step doubles the bits that are right: 3, 6, 12, 24, 48, 96.
        let two = _mm512_set1_epi64(2);
        let step = |x, _| _mm512_mullo_epi64(x, _mm512_sub_epi64(two, _mm512_mullo_epi64(m, x)));
        let inverse = _mm512_sub_epi64(_mm512_setzero_si512(), (0..5).fold(m, step));
        self.inverse = _mm512_and_si512(inverse, _mm512_set1_epi64(MASK));
    }

    /// `−m⁻¹ mod 2^52`.
    pub(super) const fn inverse(&self) -> __m512i {
        self.inverse
    }

    /// The moduli's digits.
    pub(super) fn digits(&self) -> &[__m512i] {
        &self.digits
    }

    /// `c = a·b/R`, below `2m` for `a, b < 2m`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn multiply(&self, a: &[__m512i], b: &[__m512i], c: &mut [__m512i], scratch: &mut [__m512i]) {
        let (t, scratch) = scratch.split_at_mut(2 * self.digits.len());
        product::mul(a, b, t, scratch);
        self.divide(t, c);
    }

    /// `x ← x²/R`, below `2m` for `x < 2m`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self, x: &mut [__m512i], scratch: &mut [__m512i]) {
        let (t, scratch) = scratch.split_at_mut(2 * self.digits.len());
        square::sqr(x, t, scratch);
        self.divide(t, x);
    }

    /// `c = t/R`, below `2m` for `t` below `4m²` or `R·m`; `t` has twice as many digits as the modulus, and is destroyed.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn divide(&self, t: &mut [__m512i], c: &mut [__m512i]) {
        let m = &self.digits[..];
        let n = m.len();
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
        reduce(c);
    }

    /// Makes the `T` lowest columns zero, and carries out of them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn strip<const T: usize>(&self, t: &mut [__m512i]) {
        let zero = _mm512_setzero_si512();
        let (Some(m), Some(below)) = (self.digits.first_chunk::<T>(), t.first_chunk::<T>()) else { return };
        let (mut low, mut high) = (*below, [zero; T]);
        let mut quotient = [zero; T];
        let mut carry = zero;
        for q in &mut quotient {
            let column = _mm512_add_epi64(low[0], carry);
            *q = _mm512_madd52lo_epu64(zero, column, self.inverse);
            // Column i of the window in low[i] and high[i − 1]; it slides by one.
            let first = _mm512_madd52lo_epu64(column, *q, m[0]);
            carry = _mm512_add_epi64(_mm512_srli_epi64::<{ DIGIT_BITS as u32 }>(first), high[0]);
            carry = _mm512_madd52hi_epu64(carry, *q, m[0]);
            for i in 1..T {
                low[i - 1] = _mm512_madd52lo_epu64(low[i], *q, m[i]);
                high[i - 1] = _mm512_madd52hi_epu64(high[i], *q, m[i]);
            }
            low[T - 1] = zero;
            high[T - 1] = zero;
        }
        let above = &mut t[T..];
        above[0] = _mm512_add_epi64(above[0], carry);
        for (i, above) in above[..T].iter_mut().enumerate() {
            *above = _mm512_add_epi64(*above, low[i]);
        }
        for (i, above) in above[1..].iter_mut().take(T - 1).enumerate() {
            *above = _mm512_add_epi64(*above, high[i]);
        }
        strips(&quotient, &self.digits[T..], above);
    }

    /// The least residue of one below `2m`.
    #[target_feature(enable = "avx512f")]
    pub(super) fn reduce(&self, x: &mut [__m512i]) {
        subtract_if_not_less(x, &self.digits);
    }
}
