//! Long division of vectors of digits: one independent quotient and remainder for each lane, with AVX-512 IFMA.
//!
//! computes   `u = q·v + r`, `r < v`, for `v > 0` of any length up to [`MAX_DIGITS`] digits
//! cost       `2n` multiply-adds for each digit of the quotient, with `n` digits of the divisor
//!
//! Each lane is shifted so that its divisor has `52n − 1` bits. With `x = 2^52`, a step subtracts `q·v` by adding `q·w` with
//! `w = xⁿ − v` and subtracting `q` from the digit above. Columns are carried only at the top, where the two highest digits and
//! a reciprocal of two digits give a digit of the quotient.
//!
//! bound: let `r` be below `v·x·(1 + δ)`. A digit is `⌊r/v⌋` from numbers that are too small by these parts of a unit:
//! `4/x` for the digits below the highest two (carries of columns included), `12/x` for three products that are left
//! out, and for the reciprocal, which is at most 300 units of its lower digit too small, `600/x`. So it is `⌊r/v⌋` or one
//! less, and the latter only if the quotient's fraction is below `δ = 2^10/x`: the new remainder is in `[0, v·(1 + δ))`, and the
//! next quotient below `x + 2^10`. Its digit may have one bit more than 52. That bit is rare, a row of its own, and
//! carried into the quotient's next digit in the end. The last remainder is below `2v`: one subtraction corrects it.
//! Long divisors make digits in strips, with the divisor's highest digits; the others follow as a strip of a product. What
//! they add is below the three digits that an estimate looks at, by two digits at least: as with carries of columns, it
//! is not negative, and less than the bound allows.
//! A column gets two halves of a product for each of at most `n` digits, a row's digit in a rare case, and its own
//! beginning: below `(3n + 2)·x`, which `n ≤ 1300` keeps below `2^64`. The digit at the top is a two's complement: it
//! lacks the carry that the columns below still hold, at most `2^12`. Where they hold it further down the two
//! digits seem negative; then `r` is far below `v`, and the digit is 0.
//!
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; columns as in [`product`](crate::product).

use crate::Ifma;
use crate::product::{STRIP, reduce, strips, subtract_if_not_less};
use crate::shift::Distances;
use crate::simd::{MAX_LANES, Simd};

type Vector = <Ifma as Simd>::Vector;

/// Digits of the longest divisor.
pub const MAX_DIGITS: usize = 1300;
const DIGIT_BITS: usize = Ifma::DIGIT_BITS;
/// Divisors of this number of digits or more make digits of the quotient by strips (measured).
const STRIP_DIGITS: usize = 24;
/// Digits of the divisor that a strip's own digits are made with.
const HEAD: usize = 12;

/// Digits of a divisor of `limbs` limbs: a bit is left free.
pub const fn count(limbs: usize) -> usize {
    (32 * limbs + 1).div_ceil(DIGIT_BITS)
}

/// A divisor for each lane, and the numbers that are made from it once.
#[derive(Clone, Debug)]
pub struct Divisors {
    s: Ifma,
    /// `v`, shifted.
    shifted: Vec<Vector>,
    /// `xⁿ − v`.
    complement: Vec<Vector>,
    /// `x^(n+2)/4v`, two digits, and a little less.
    reciprocal: [Vector; 2],
    distances: Distances<Ifma>,
}

impl Divisors {
    /// Memory for divisors of so many digits.
    pub fn new(s: Ifma, digits: usize) -> Self {
        let (shifted, complement) = (vec![s.zero(); digits], vec![s.zero(); digits]);
        Self { s, shifted, complement, reciprocal: [s.zero(); 2], distances: Distances::new(s, &[0; MAX_LANES]) }
    }

    /// Takes divisors: their digits, and their numbers of bits, which are not zero.
    pub fn set(&mut self, divisors: &[Vector], bits: &[usize; MAX_LANES]) {
        let (s, n) = (self.s, self.shifted.len());
        self.distances = Distances::new(s, &bits.map(|bits| DIGIT_BITS * n - 1 - bits));
        self.distances.up(divisors, &mut self.shifted);
        s.vectorize(
            #[inline(always)]
            || {
                for (w, v) in self.complement.iter_mut().zip(&self.shifted) {
                    *w = s.sub(s.splat(Ifma::DIGIT), *v);
                }
                // xⁿ − 1 − v, and 1: it carries on through digits that are all ones.
                self.complement[0] = s.add(self.complement[0], s.splat(1));
            },
        );
        reduce(s, &mut self.complement);
        let below = if n > 1 { self.shifted[n - 2] } else { s.zero() };
        self.reciprocal = s.reciprocal(self.shifted[n - 1], below);
    }

    /// Digits of the remainder, and of the quotient, for dividends of so many bits.
    pub fn digits(&self, bits: usize) -> (usize, usize) {
        let n = self.shifted.len();
        // The dividend must be below v·x^steps, and v has 52n − 1 bits.
        let steps = (bits + self.distances.longest() + 2).saturating_sub(DIGIT_BITS * n).div_ceil(DIGIT_BITS);
        (n + steps, steps + 1)
    }

    /// Divides reduced digits of at most so many bits. Scratch has the first, `quotients` the second number of
    /// [`digits`](Self::digits). The remainders, reduced, are the first digits of the scratch: as many as are returned.
    pub fn divide(&self, dividends: &[Vector], bits: usize, quotients: &mut [Vector], scratch: &mut [Vector]) -> usize {
        let (s, n) = (self.s, self.shifted.len());
        let (digits, count) = self.digits(bits);
        let (r, q) = (&mut scratch[..digits], &mut quotients[..count]);
        self.distances.up(dividends, r);
        q.fill(s.zero());
        let mut steps = count - 1;
        while steps >= STRIP && n >= STRIP_DIGITS {
            let below = n - HEAD;
            let mut digits = [s.zero(); STRIP];
            steps -= STRIP;
            for (i, digit) in digits.iter_mut().enumerate().rev() {
                *digit = self.step(&mut r[steps + i..], &mut q[steps + i..], below);
            }
            strips(s, &digits, &self.complement[..below], &mut r[steps..]);
        }
        for step in (0..steps).rev() {
            self.step(&mut r[step..], &mut q[step..], 0);
        }
        let r = &mut scratch[..n];
        reduce(s, r);
        let corrected = subtract_if_not_less(s, r, &self.shifted);
        q[0] = s.add_where(corrected, q[0], s.splat(1));
        reduce(s, q);
        self.distances.down(r);
        n
    }

    /// One digit: `r ← r − q·v`, for the `n + 1` lowest columns of `r`. The lowest `below` columns are left to be done; returns
    /// the digit.
    #[inline]
    fn step(&self, columns: &mut [Vector], q: &mut [Vector], below: usize) -> Vector {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                let (r, complement) = (&mut columns[below..], &self.complement[below..]);
                let n = complement.len();
                // The two highest digits, with the carry of the third.
                if n > 1 {
                    r[n - 1] = s.add(r[n - 1], s.carry(r[n - 2]));
                    r[n - 2] = s.digit(r[n - 2]);
                }
                let high = s.add(r[n], s.carry(r[n - 1]));
                let low = s.digit(r[n - 1]);
                (r[n], r[n - 1]) = (high, low);
                let (digit, over) = self.quotient(high, low);
                let mut upper = s.zero();
                for (r, w) in r.iter_mut().zip(complement) {
                    *r = s.add(s.mul_low(*r, digit, *w), upper);
                    upper = s.mul_high(s.zero(), digit, *w);
                }
                r[n] = s.sub(s.add(r[n], upper), digit);
                q[0] = digit;
                let one_digit = s.splat(DIGIT_BITS as u64);
                if s.lanes(s.equal(over, s.zero())) != u8::MAX {
                    for (r, w) in columns[1..].iter_mut().zip(&self.complement) {
                        *r = s.mul_low(*r, over, *w);
                    }
                    let r = &mut columns[below..];
                    r[n] = s.sub(r[n], s.shl(over, one_digit));
                    q[1] = s.add(q[1], over);
                }
                // The remainder is below xⁿ: the digit above goes with the carry that it lacks.
                let r = &mut columns[below..];
                r[n - 1] = s.add(r[n - 1], s.shl(r[n], one_digit));
                digit
            },
        )
    }

    /// `(high·x + low)·4·reciprocal / x³`: a digit, and what is above it.
    #[inline(always)]
    fn quotient(&self, high: Vector, low: Vector) -> (Vector, Vector) {
        let (s, zero) = (self.s, self.s.zero());
        let [m1, m0] = self.reciprocal;
        let whole = s.mul_high(zero, high, m1);
        let part = s.mul_low(zero, high, m1);
        let part = s.mul_high(s.mul_high(part, high, m0), low, m1);
        let digit = s.add(s.shl(whole, s.splat(2)), s.shr(part, s.splat(DIGIT_BITS as u64 - 2)));
        let digit = s.select(s.is_negative(high), zero, digit);
        (s.digit(digit), s.carry(digit))
    }
}
