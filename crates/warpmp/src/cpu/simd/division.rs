//! Long division of vectors of digits: eight independent quotients and remainders at once.
//!
//! computes   `u = q·v + r`, `r < v`, for `v > 0` of any length up to [`limit`](MAX_DIGITS) digits
//! cost       `2n` multiply-adds for each digit of the quotient, with `n` digits of the divisor
//!
//! Each lane is shifted so that its divisor has `52n − 1` bits. With `x = 2^52`, taking `q·v` away is adding `q·w` with
//! `w = xⁿ − v` and taking `q` from the digit above: columns are never carried but at the top, where a digit of the
//! quotient is made from the two highest digits and a reciprocal of two digits.
//!
//! bound: let `r` be below `v·x·(1 + δ)`. A digit is `⌊r/v⌋` from numbers that are too small by these parts of a unit:
//! `4/x` for what the two digits leave out (carries of columns below included), `12/x` for three products that are left
//! out, and for the reciprocal, which is at most 300 units of its lower digit too small, `600/x`. So it is `⌊r/v⌋` or one
//! less, and the latter only if the quotient's fraction is below `δ = 2^10/x`: what remains is in `[0, v·(1 + δ))`, and the
//! next quotient below `x + 2^10`. Its digit may have one bit more than 52. That bit is rare, a row of its own, and
//! carried into the quotient's next digit in the end. The last remainder is below `2v`: one subtraction corrects it.
//! Long divisors make digits in strips, with the divisor's highest digits; the others follow as a strip of a product. What
//! they add is below the three digits that an estimate looks at, by two digits at least: as with carries of columns, it
//! is not negative, and less than what the bound allows.
//! A column gets two halves of a product for each of at most `n` digits, a row's digit in a rare case, and its own
//! beginning: below `(3n + 2)·x`, which `n ≤ 1300` keeps below `2^64`. The digit at the top is a two's complement: what
//! it lacks is the carry that the columns below still hold, at most `2^12`. Where they hold it further down the two
//! digits seem negative; then `r` is far below `v`, and the digit is 0.
//!
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; columns as in `product.rs`.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpge_epi64_mask, _mm512_cvtepi64_pd, _mm512_cvttpd_epi64,
    _mm512_div_pd, _mm512_fmadd_pd, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_maskz_mov_epi64,
    _mm512_mul_pd, _mm512_set1_epi64, _mm512_set1_pd, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srai_epi64,
    _mm512_srli_epi64, _mm512_sub_epi64, _mm512_test_epi64_mask,
};

use super::digits::MASK;
use super::product::{STRIP, reduce, strips, subtract_if_not_less};
use super::shift::Distances;
use super::{DIGIT_BITS, LANES};

/// Digits of the longest divisor.
pub(super) const MAX_DIGITS: usize = 1300;
/// From so many digits of the divisor on digits of the quotient are made by strips (measured).
const STRIP_DIGITS: usize = 24;
/// Digits of the divisor that a strip's own digits are made with.
const HEAD: usize = 12;
const DIGIT: u32 = DIGIT_BITS as u32;

/// Digits of a divisor of so many limbs: a bit is left free.
pub(super) const fn count(limbs: usize) -> usize {
    (32 * limbs + 1).div_ceil(DIGIT_BITS)
}

/// Eight divisors, and what is made from them once.
pub(super) struct Divisors {
    /// `v`, shifted.
    shifted: Vec<__m512i>,
    /// `xⁿ − v`.
    complement: Vec<__m512i>,
    /// `x^(n+2)/4v`, two digits, and a little less.
    reciprocal: [__m512i; 2],
    distances: Distances,
}

impl Divisors {
    /// Memory for divisors of so many digits.
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(digits: usize) -> Self {
        let zero = _mm512_setzero_si512();
        let (shifted, complement) = (vec![zero; digits], vec![zero; digits]);
        Self { shifted, complement, reciprocal: [zero; 2], distances: Distances::new(&[0; LANES]) }
    }

    /// Takes divisors: their digits, and their numbers of bits, which are not zero.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn set(&mut self, divisors: &[__m512i], bits: &[usize; LANES]) {
        let n = self.shifted.len();
        self.distances = Distances::new(&bits.map(|bits| DIGIT_BITS * n - 1 - bits));
        self.distances.up(divisors, &mut self.shifted);
        for (w, v) in self.complement.iter_mut().zip(&self.shifted) {
            *w = _mm512_sub_epi64(_mm512_set1_epi64(MASK), *v);
        }
        // xⁿ − 1 − v, and 1: it carries on through digits that are all ones.
        self.complement[0] = _mm512_add_epi64(self.complement[0], _mm512_set1_epi64(1));
        reduce(&mut self.complement);
        let below = if n > 1 { self.shifted[n - 2] } else { _mm512_setzero_si512() };
        self.reciprocal = reciprocal(self.shifted[n - 1], below);
    }

    /// Digits of the remainder, and of the quotient, for dividends of so many bits.
    pub(super) fn digits(&self, bits: usize) -> (usize, usize) {
        let n = self.shifted.len();
        // The dividend must be below v·x^steps, and v has 52n − 1 bits.
        let steps = (bits + self.distances.longest() + 2).saturating_sub(DIGIT_BITS * n).div_ceil(DIGIT_BITS);
        (n + steps, steps + 1)
    }

    /// Divides reduced digits of at most so many bits. Scratch has the first, `quotients` the second number of
    /// [`digits`](Self::digits). The remainders, reduced, are the first digits of the scratch: as many as are returned.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn divide(
        &self,
        dividends: &[__m512i],
        bits: usize,
        quotients: &mut [__m512i],
        scratch: &mut [__m512i],
    ) -> usize {
        let n = self.shifted.len();
        let (digits, count) = self.digits(bits);
        let (r, q) = (&mut scratch[..digits], &mut quotients[..count]);
        self.distances.up(dividends, r);
        q.fill(_mm512_setzero_si512());
        let mut steps = count - 1;
        while steps >= STRIP && n >= STRIP_DIGITS {
            let below = n - HEAD;
            let mut digits = [_mm512_setzero_si512(); STRIP];
            steps -= STRIP;
            for (i, digit) in digits.iter_mut().enumerate().rev() {
                *digit = self.step(&mut r[steps + i..], &mut q[steps + i..], below);
            }
            strips(&digits, &self.complement[..below], &mut r[steps..]);
        }
        for step in (0..steps).rev() {
            self.step(&mut r[step..], &mut q[step..], 0);
        }
        let r = &mut scratch[..n];
        reduce(r);
        let corrected = subtract_if_not_less(r, &self.shifted);
        q[0] = _mm512_add_epi64(q[0], _mm512_maskz_mov_epi64(corrected, _mm512_set1_epi64(1)));
        reduce(q);
        self.distances.down(r);
        n
    }

    /// One digit: `r ← r − q·v`, for the `n + 1` lowest columns of `r`. What the digit does to so many columns below is left
    /// to be done; returns the digit.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn step(&self, columns: &mut [__m512i], q: &mut [__m512i], below: usize) -> __m512i {
        let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
        let (r, complement) = (&mut columns[below..], &self.complement[below..]);
        let n = complement.len();
        // The two highest digits, with the carry of the third.
        if n > 1 {
            r[n - 1] = _mm512_add_epi64(r[n - 1], _mm512_srli_epi64::<DIGIT>(r[n - 2]));
            r[n - 2] = _mm512_and_si512(r[n - 2], mask);
        }
        let high = _mm512_add_epi64(r[n], _mm512_srli_epi64::<DIGIT>(r[n - 1]));
        let low = _mm512_and_si512(r[n - 1], mask);
        (r[n], r[n - 1]) = (high, low);
        // (high·x + low)·4·reciprocal / x³.
        let [m1, m0] = self.reciprocal;
        let whole = _mm512_madd52hi_epu64(zero, high, m1);
        let part = _mm512_madd52lo_epu64(zero, high, m1);
        let part = _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(part, high, m0), low, m1);
        let digit = _mm512_add_epi64(_mm512_slli_epi64::<2>(whole), _mm512_srli_epi64::<{ DIGIT - 2 }>(part));
        let digit = _mm512_maskz_mov_epi64(_mm512_cmpge_epi64_mask(high, zero), digit);
        let over = _mm512_srli_epi64::<DIGIT>(digit);
        let digit = _mm512_and_si512(digit, mask);
        let mut upper = zero;
        for (r, w) in r.iter_mut().zip(complement) {
            *r = _mm512_add_epi64(_mm512_madd52lo_epu64(*r, digit, *w), upper);
            upper = _mm512_madd52hi_epu64(zero, digit, *w);
        }
        r[n] = _mm512_sub_epi64(_mm512_add_epi64(r[n], upper), digit);
        q[0] = digit;
        if _mm512_test_epi64_mask(over, over) != 0 {
            for (r, w) in columns[1..].iter_mut().zip(&self.complement) {
                *r = _mm512_madd52lo_epu64(*r, over, *w);
            }
            let r = &mut columns[below..];
            r[n] = _mm512_sub_epi64(r[n], _mm512_slli_epi64::<DIGIT>(over));
            q[1] = _mm512_add_epi64(q[1], over);
        }
        // What remains is below xⁿ: the digit above goes with the carry that it lacks.
        let r = &mut columns[below..];
        r[n - 1] = _mm512_add_epi64(r[n - 1], _mm512_slli_epi64::<DIGIT>(r[n]));
        digit
    }
}

/// `x⁴/4d` from below for `d = high·x + low` in `[x²/4, x²/2)`, at most 300 too small with the digits below `d`.
///
/// bound: the doubles `y ≈ x³/4d ≤ x` and `z ≈ rest·x/d < 2^55` err by less than 2^-51 of themselves. So `y − 4` is below
/// the quotient and by at most 8, and `z` errs by less than 2^4, and by 4 for the digits below `d`.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn reciprocal(high: __m512i, low: __m512i) -> [__m512i; 2] {
    let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
    let x = (1_u64 << DIGIT_BITS) as f64;
    let d = _mm512_fmadd_pd(_mm512_cvtepi64_pd(high), _mm512_set1_pd(x), _mm512_cvtepi64_pd(low));
    let y = _mm512_cvttpd_epi64(_mm512_div_pd(_mm512_set1_pd(x * x * x / 4.0), d));
    let y = _mm512_sub_epi64(y, _mm512_set1_epi64(4));
    // The rest x³/4 − y·d, without its lowest digit: two digits that make one signed word.
    let above = _mm512_sub_epi64(_mm512_set1_epi64(1 << (DIGIT_BITS - 2)), _mm512_madd52hi_epu64(zero, y, high));
    let taken = _mm512_madd52hi_epu64(_mm512_madd52lo_epu64(zero, y, high), y, low);
    let rest = _mm512_sub_epi64(_mm512_slli_epi64::<DIGIT>(above), taken);
    let z = _mm512_div_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(rest), _mm512_set1_pd(x * x)), d);
    let z = _mm512_sub_epi64(_mm512_cvttpd_epi64(z), _mm512_set1_epi64(128));
    [_mm512_add_epi64(y, _mm512_srai_epi64::<DIGIT>(z)), _mm512_and_si512(z, mask)]
}
