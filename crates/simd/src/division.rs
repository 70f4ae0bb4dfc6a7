//! Long division of vectors of digits: one independent quotient and remainder for each lane.
//!
//! computes   `u = q·v + r`, `r < v`, for `v > 0` of any length up to [`MAX_DIGITS`] digits
//! cost       `2n` multiply-adds for each digit of the quotient, with `n` digits of the divisor
//!
//! Digits have at least 51 bits. Each lane is shifted so that its divisor has one bit less than its digits. With
//! `x = 2^DIGIT_BITS`, a step subtracts `q·v` by adding `q·w` with
//! `w = xⁿ − v` and subtracting `q` from the digit above. Columns are carried only at the top, where the two highest digits and
//! a reciprocal of two digits give a digit of the quotient.
//!
//! bound: let `r` be below `v·x·(1 + δ)`. A digit is `⌊r/v⌋` from numbers that are too small by these parts of a unit:
//! `4/x` for the digits below the highest two (carries of columns included), `12/x` for three products that are left
//! out, and for the reciprocal, which is at most 300 units of its lower digit too small, `600/x`. So it is `⌊r/v⌋` or one
//! less, and the latter only if the quotient's fraction is below `δ = 2^10/x`: the new remainder is in `[0, v·(1 + δ))`, and the
//! next quotient below `x + 2^10`. Its digit may have one bit more. That bit is rare, a row of its own, and
//! carried into the quotient's next digit in the end. The last remainder is below `2v`: one subtraction corrects it.
//! Long divisors make digits in strips, with the divisor's highest digits; the others follow as a strip of a product. What
//! they add is below the three digits that an estimate looks at, by two digits at least: as with carries of columns, it
//! is not negative, and less than the bound allows.
//! Signed columns: the columns below the highest three may be negative, together above `−n` units of the third. The
//! two highest digits may seem too large by that, which is `4n/x² < 4/x` of the quotient. So a unit of `4/x` is taken from the
//! estimate first; an estimate below zero is the digit 0. It is at most `8/x` smaller than the bound above takes it for.
//! A column gets two halves of a product for each of at most `n` digits, a row's digit in a rare case, and its own
//! beginning: below `(3n + 2)·x`, which `n ≤ 1300` keeps below `2^64`, and below `2^63` for signed columns of 51 bits. The digit at the top is a two's complement: it
//! lacks the carry that the columns below still hold, at most `2^12`. Where they hold it further down the two
//! digits seem negative; then `r` is far below `v`, and the digit is 0.
//!
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; columns as in [`product`](crate::product).

use crate::product::{STRIP, reduce, strips, subtract_if_not_less};
use crate::shift::Distances;
use crate::simd::{MAX_LANES, Simd};

/// Digits of the longest divisor.
pub const MAX_DIGITS: usize = 1300;
/// Divisors of this number of digits or more make digits of the quotient by strips (measured).
const STRIP_DIGITS: usize = 24;
/// Digits of the divisor that a strip's own digits are made with.
const HEAD: usize = 12;

/// Digits of a divisor of `limbs` limbs: a bit is left free.
pub const fn count<S: Simd>(limbs: usize) -> usize {
    (32 * limbs + 1).div_ceil(S::DIGIT_BITS)
}

/// A divisor for each lane, and the numbers that are made from it once.
#[derive(Clone, Debug)]
pub struct Divisors<S: Simd> {
    s: S,
    /// `v`, shifted.
    shifted: Vec<S::Vector>,
    /// `xⁿ − v`.
    complement: Vec<S::Vector>,
    /// `x^(n+2)/4v`, two digits, and a little less.
    reciprocal: [S::Vector; 2],
    distances: Distances<S>,
}

impl<S: Simd> Divisors<S> {
    /// Memory for divisors of so many digits.
    pub fn new(s: S, digits: usize) -> Self {
        const { assert!(S::DIGIT_BITS >= 51, "estimates need long digits") };
        let (shifted, complement) = (vec![s.zero(); digits], vec![s.zero(); digits]);
        Self { s, shifted, complement, reciprocal: [s.zero(); 2], distances: Distances::new(s, &[0; MAX_LANES]) }
    }

    /// Digits of a divisor.
    pub const fn count(&self) -> usize {
        self.shifted.len()
    }

    /// Takes divisors: their digits, and their numbers of bits, which are not zero.
    pub fn set(&mut self, divisors: &[S::Vector], bits: &[usize; MAX_LANES]) {
        let (s, n) = (self.s, self.shifted.len());
        self.distances = Distances::new(s, &bits.map(|bits| S::DIGIT_BITS * n - 1 - bits));
        self.distances.up(divisors, &mut self.shifted);
        s.vectorize(
            #[inline(always)]
            || {
                for (w, v) in self.complement.iter_mut().zip(&self.shifted) {
                    *w = s.sub(s.splat(S::DIGIT), *v);
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
        let steps = (bits + self.distances.longest() + 2).saturating_sub(S::DIGIT_BITS * n).div_ceil(S::DIGIT_BITS);
        (n + steps, steps + 1)
    }

    /// Divides reduced digits of at most so many bits. Scratch has the first, `quotients` the second number of
    /// [`digits`](Self::digits). The remainders, reduced, are the first digits of the scratch: as many as are returned.
    pub fn divide(
        &self,
        dividends: &[S::Vector],
        bits: usize,
        quotients: &mut [S::Vector],
        scratch: &mut [S::Vector],
    ) -> usize {
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
    fn step(&self, columns: &mut [S::Vector], q: &mut [S::Vector], below: usize) -> S::Vector {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                let (r, complement) = (&mut columns[below..], &self.complement[below..]);
                let n = complement.len();
                let [high, low] = highest(s, &mut r[..=n]);
                let (digit, over) = quotient(s, self.reciprocal, high, low, u64::from(S::SIGNED_COLUMNS));
                s.strip(&[digit], complement, r);
                r[n] = s.sub(r[n], digit);
                q[0] = digit;
                let one_digit = s.splat(S::DIGIT_BITS as u64);
                let is_over = s.except(s.mask(u8::MAX), s.equal(over, s.zero()));
                if s.any(is_over) {
                    // It is 1 there.
                    for (r, w) in columns[1..].iter_mut().zip(&self.complement) {
                        *r = s.add_where(is_over, *r, *w);
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
}

/// Carries the highest three columns, of two at least, and returns the highest two: the upper one with its sign.
#[inline(always)]
pub(crate) fn highest<S: Simd>(s: S, r: &mut [S::Vector]) -> [S::Vector; 2] {
    let n = r.len() - 1;
    if n > 1 {
        r[n - 1] = s.add(r[n - 1], s.carry(r[n - 2]));
        r[n - 2] = s.digit(r[n - 2]);
    }
    r[n] = s.add(r[n], s.carry(r[n - 1]));
    r[n - 1] = s.digit(r[n - 1]);
    [r[n], r[n - 1]]
}

/// `(high·x + low)·4·reciprocal / x³`, from below: a digit, and what is above it. So many units of `4/x` are taken from it before it is
/// rounded.
#[inline(always)]
pub(crate) fn quotient<S: Simd>(
    s: S,
    [m1, m0]: [S::Vector; 2],
    high: S::Vector,
    low: S::Vector,
    units: u64,
) -> (S::Vector, S::Vector) {
    let (zero, two) = (s.zero(), s.splat(2));
    let whole = s.mul_high(zero, high, m1);
    let part = s.mul_low(zero, high, m1);
    let part = s.mul_high(s.mul_high(part, high, m0), low, m1);
    let part = if units > 0 { s.sub(part, s.splat(units)) } else { part };
    let digit = s.add(s.shl(whole, two), s.signed_carry(s.shl(part, two)));
    let digit = s.select(s.is_negative(s.or(high, digit)), zero, digit);
    (s.digit(digit), s.carry(digit))
}
