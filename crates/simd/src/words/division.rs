//! Long division by a number of `N` words.
//!
//! computes   `⌊a·2^k / m⌋` and `a·2^k mod m`
//! requires   `m` from 1 on, of at most `N` words, `N` at least 2; `a` of any length
//! cost       `N + 3` word products a word of the quotient; a division of doubles and 4 products for the reciprocal of a divisor
//!
//! Everything is shifted so that the divisor `v` has its top bit at the top of `N` words, and `x = 2⁶⁴`. Subtracting `q·v` is adding
//! `q·(x^N − v)` and taking `q` from the word above. Let `d` be the upper two words of `v`, and `u` those of the rest. The quotient of the rest
//! times `x` by `v` is estimated as `⌊u·W/x³⌋` with a reciprocal `W` of `d`, a little below `x⁴/(d + 1)`: at most this, and less by at most `2³⁰`.
//!
//! bound: the rest is below `v`, so `u ≤ d`. The quotient is at least `u·x/(d + 1)`, and so at least the estimate: it is never too large, and nothing
//! overflows. The quotient is at most `(u + 1)·x/d`. This exceeds `u·x/(d + 1)` by at most `2x/d ≤ 4/x`, the reciprocal takes `2³⁰·u/x³ ≤ 2³⁰/x`
//! from it, and three products that are cut off take less than `3/x`: the estimate is the quotient, or one less where the quotient's fraction is
//! below `2⁻³³`. Then the new rest is not below `v`, and its upper word not below the divisor's: `v` is subtracted once.
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; the estimate and its bound are ours, as with vectors.

use super::residues::{add_short_row, difference};

/// Words that a division works with beside those of the dividend and the shift: a carry.
const EXTRA_WORDS: usize = 1;

/// A divisor of up to `N` words, at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor<const N: usize> {
    /// `m·2^shift`, whose top bit is set.
    words: [u64; N],
    /// `2^(64N)` less these.
    negative: [u64; N],
    shift: usize,
    /// `W − x²`.
    reciprocal: [u64; 2],
}

/// Words that [`Divisor::divide`] needs for dividends of so many words and shifts by less than so many words, divisors of `n` words.
pub const fn scratch_words(dividend: usize, raised: usize, n: usize) -> usize {
    dividend + raised + n + EXTRA_WORDS
}

impl<const N: usize> Divisor<N> {
    /// Takes the words of a number that is not zero.
    #[inline(always)]
    pub fn new(words: [u64; N]) -> Self {
        let zeros = words.iter().rev().take_while(|word| **word == 0).count().min(N - 1);
        let full = if zeros == 0 { words } else { moved_up(&words, zeros) };
        let bits = full[N - 1].leading_zeros() as usize;
        let words = std::array::from_fn(|i| full[i] << bits | if i == 0 { 0 } else { full[i - 1] >> 1 >> (63 - bits) });
        let negative = difference(&[0; N], &words).0;
        Self { words, negative, shift: 64 * zeros + bits, reciprocal: reciprocal([words[N - 2], words[N - 1]]) }
    }

    /// The remainder and the quotient of `a·2^raised`.
    ///
    /// # Panics
    /// With less than [`scratch_words`].
    #[inline(always)]
    pub fn divide<'t>(&self, a: &[u64], raised: usize, scratch: &'t mut [u64]) -> ([u64; N], &'t [u64]) {
        let shift = self.shift + raised;
        let length = (a.len() + shift / 64 + EXTRA_WORDS).max(N + 1);
        let t = &mut scratch[..length];
        shift_up(a, shift, t);
        // The top word is less than half of all, the divisor's is not: these words are below the divisor.
        let mut next = length - N;
        let mut rest = words_at::<N>(t, next);
        if t[length - 1] == 0 {
            // One word less, which are below twice the divisor: the word of the quotient is 0 or 1.
            next -= 1;
            rest = words_at(t, next);
            t[next] = self.reduce_once(&mut rest);
        }
        for word in t[..next].iter_mut().rev() {
            *word = self.step(&mut rest, *word);
        }
        (self.shift_down(&rest), &t[..length - N])
    }

    /// Has the divisor `N` words? [`divide_pair`](Self::divide_pair) takes no others.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.shift < 64
    }

    /// The remainder and the quotient of `2N` words, all in registers.
    ///
    /// # Panics
    /// In a debug build, unless [`is_full`](Self::is_full).
    #[inline(always)]
    pub fn divide_pair(&self, a: &[[u64; N]; 2]) -> ([u64; N], [[u64; N]; 2]) {
        debug_assert!(self.is_full(), "a divisor of {} bits", 64 * N - self.shift);
        let bits = self.shift % 64;
        let joined = |low: u64, high: u64| high << bits | low >> 1 >> (63 - bits);
        let [low, high] = a;
        let top = joined(high[N - 1], 0);
        let high: [u64; N] = std::array::from_fn(|i| joined(if i == 0 { low[N - 1] } else { high[i - 1] }, high[i]));
        let mut quotient = [[0; N]; 2];
        let mut rest = high;
        quotient[1][0] = if top == 0 {
            self.reduce_once(&mut rest)
        } else {
            rest = std::array::from_fn(|i| if i + 1 < N { high[i + 1] } else { top });
            self.step(&mut rest, high[0])
        };
        for i in (0..N).rev() {
            let next = joined(if i == 0 { 0 } else { low[i - 1] }, low[i]);
            quotient[0][i] = self.step(&mut rest, next);
        }
        (self.shift_down(&rest), quotient)
    }

    /// Divides a number below twice the divisor: the quotient, 0 or 1, and the rest. Without a branch, which the processor could not predict.
    #[inline(always)]
    fn reduce_once(&self, rest: &mut [u64; N]) -> u64 {
        let (less, borrow) = difference(rest, &self.words);
        let keep = borrow.wrapping_neg();
        *rest = std::array::from_fn(|i| rest[i] & keep | less[i] & !keep);
        1 - borrow
    }

    /// Divides `rest·2⁶⁴ + next` for a rest below the divisor: the quotient, and the new rest.
    #[inline(always)]
    fn step(&self, rest: &mut [u64; N], next: u64) -> u64 {
        let [u1, u2] = [rest[N - 2], rest[N - 1]];
        let [w1, w2] = self.reciprocal;
        let estimate = wide(w2, u2) + u128::from(u1) + (wide(w2, u1) >> 64) + (wide(w1, u2) >> 64);
        let quotient = u2 + (estimate >> 64) as u64;
        *rest = std::array::from_fn(|i| if i == 0 { next } else { rest[i - 1] });
        let carry = add_short_row(quotient, &self.negative, rest);
        let above = u2.wrapping_add(carry).wrapping_sub(quotient);
        if above != 0 || rest[N - 1] >= self.words[N - 1] {
            return quotient + self.correct(rest, above);
        }
        quotient
    }

    /// Subtracts the divisor from `above·2^(64N) + rest` where it is not below: how often, once at most.
    #[cold]
    fn correct(&self, rest: &mut [u64; N], above: u64) -> u64 {
        let (less, borrow) = difference(rest, &self.words);
        if borrow > above {
            return 0;
        }
        *rest = less;
        1
    }

    /// `⌊x / 2^shift⌋`.
    #[inline(always)]
    fn shift_down(&self, x: &[u64; N]) -> [u64; N] {
        let (words, bits) = (self.shift / 64, self.shift % 64);
        let shifted: [u64; N] =
            std::array::from_fn(|i| x[i] >> bits | if i + 1 < N { x[i + 1] << 1 << (63 - bits) } else { 0 });
        if words == 0 {
            return shifted;
        }
        std::array::from_fn(|i| shifted.get(i + words).copied().unwrap_or(0))
    }
}

/// `out = x·2^by`, as many words as `out` has.
#[inline(always)]
fn shift_up(x: &[u64], by: usize, out: &mut [u64]) {
    let (words, bits) = (by / 64, by % 64);
    let (zeros, out) = out.split_at_mut(words);
    zeros.fill(0);
    let mut below = 0;
    let kept = x.len().min(out.len());
    for (out, &word) in out.iter_mut().zip(x) {
        *out = word << bits | below >> 1 >> (63 - bits);
        below = word;
    }
    if let Some((above, rest)) = out[kept..].split_first_mut() {
        *above = below >> 1 >> (63 - bits);
        rest.fill(0);
    }
}

/// `N` words from one on.
#[inline(always)]
fn words_at<const N: usize>(t: &[u64], first: usize) -> [u64; N] {
    let words = &t[first..first + N];
    std::array::from_fn(|i| words[i])
}

/// `x·2^(64·by)` modulo `2^(64N)`.
#[cold]
fn moved_up<const N: usize>(x: &[u64; N], by: usize) -> [u64; N] {
    std::array::from_fn(|i| i.checked_sub(by).map_or(0, |i| x[i]))
}

/// The product of two words.
#[inline(always)]
fn wide(x: u64, y: u64) -> u128 {
    u128::from(x) * u128::from(y)
}

/// Bits of a double behind its point.
const FRACTION_BITS: u32 = 52;

/// `W − x²` for the upper two words of a divisor.
///
/// bound: `x²/d1` has its point behind the same bit always. `d1` is rounded up, and a unit is taken from the quotient of doubles, so that `r = x + v`
/// is below `x³/d`, by one part in `2⁵⁰`. Then `e = x³ − r·d` is positive, and `x⁴/d` is `r·x·(1 + e/x³ + (e/x³)² + …)`. What is cut off after
/// `e/x³` is below `2²⁹`. `W` is the rest less `x⁴/d − x⁴/(d + 1) ≤ 4`, but not below `x²`, which is at most `x⁴/(d + 1)`.
#[inline(always)]
fn reciprocal([d0, d1]: [u64; 2]) -> [u64; 2] {
    let rounded_up = (d1 >> (63 - FRACTION_BITS)) + 1;
    let quotient = (1_u128 << (65 + FRACTION_BITS)) as f64 / rounded_up as i64 as f64;
    let fraction = quotient.to_bits() & ((1 << FRACTION_BITS) - 1);
    let v = fraction.saturating_sub(1) << (64 - FRACTION_BITS);
    // The upper words of r·d, modulo x³. Their complement is what lacks to x³, or a unit less.
    let product = wide(v, d1) + (wide(v, d0) >> 64);
    let lacks = !product.wrapping_add(u128::from(d1) << 64 | u128::from(d0));
    let (e1, e2) = (lacks as u64, (lacks >> 64) as u64);
    let sum = (u128::from(v + e2) << 64) + u128::from(e1) + wide(v, e2) + (wide(v, e1) >> 64);
    let w = sum.saturating_sub(4);
    [w as u64, (w >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    /// Words at the ends, next to powers of two, and mixed ones.
    fn words() -> Vec<u64> {
        let mut words: Vec<u64> =
            (0..64).flat_map(|i| [1 << i, (1 << i) - 1, (1 << i) + 1, !(1 << i), !0 << i]).collect();
        let mut x = 1_u64;
        words.extend((0..200).map(|_| {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            x
        }));
        words
    }

    #[test]
    fn reciprocals_are_below_and_close() {
        let one = BigUint::from(1_u32);
        for d1 in words().into_iter().map(|word| word | 1 << 63) {
            for d0 in words().into_iter().step_by(5) {
                let d = BigUint::from(u128::from(d1) << 64 | u128::from(d0));
                let [low, high] = reciprocal([d0, d1]);
                let w = (&one << 128) + (u128::from(high) << 64 | u128::from(low));
                let least = (&one << 256) / (&d + 1_u32);
                assert!(w <= least && least - w <= &one << 30, "{d1:#x} {d0:#x}");
            }
        }
    }
}
