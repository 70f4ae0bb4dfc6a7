//! Long division by a number of `N` words.
//!
//! computes   `⌊a·2^k / m⌋` and `a·2^k mod m`
//! requires   `m` from 1 on, of at most `N` words, `N` at least 2; `a` of any length
//! cost       `N + 2` word products a word of the quotient, and some 10 for the reciprocal of a divisor
//!
//! Everything is shifted so that the divisor `v` has its top bit at the top of `N` words. `d` are its upper two words. A word of the quotient is
//! estimated as the quotient of the upper three words of the rest by `d`, exactly, with `w = ⌊(2¹⁹² − 1)/d⌋ − 2⁶⁴`.
//!
//! bound: the upper words of the rest over `d` are not below the quotient, and exceed it by less than
//! `2⁶⁴/d·2⁶⁴ ≤ 2`, so that the estimate is right or one too large; then the rest is negative, and `v` is added once. Where the upper
//! two words equal `d`, the quotient is `2⁶⁴ − 1`: the rest, below `2⁶⁴·v`, over `v` is above `2⁶⁴·d/(d + 1) > 2⁶⁴ − 1`.
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; N. Möller, T. Granlund, Improved division by invariant
//! integers, 2011, algorithms 2, 4 and 6.

use super::residues::{add, difference};

/// Words that a division works with beside those of the dividend and the shift: a carry.
const EXTRA_WORDS: usize = 1;

/// A divisor of up to `N` words, at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor<const N: usize> {
    /// `m·2^shift`, whose top bit is set.
    words: [u64; N],
    shift: usize,
    reciprocal: u64,
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
        let shift = 64 * zeros + words[N - 1 - zeros].leading_zeros() as usize;
        let mut shifted = [0; N];
        shift_up(&words, shift, &mut shifted);
        Self { words: shifted, shift, reciprocal: reciprocal([shifted[N - 2], shifted[N - 1]]) }
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
            let lower = words_at::<N>(t, next);
            let (less, borrow) = difference(&lower, &self.words);
            let keep = borrow.wrapping_neg();
            rest = std::array::from_fn(|i| lower[i] & keep | less[i] & !keep);
            t[next] = 1 - borrow;
        }
        for word in t[..next].iter_mut().rev() {
            *word = self.step(&mut rest, *word);
        }
        (self.shift_down(&rest), &t[..length - N])
    }

    /// Divides `rest·2⁶⁴ + next` for a rest below the divisor: the quotient, and the new rest.
    #[inline(always)]
    fn step(&self, rest: &mut [u64; N], next: u64) -> u64 {
        let [d0, d1] = [self.words[N - 2], self.words[N - 1]];
        // The rest without its upper word, and the next one below.
        let lower: [u64; N] = std::array::from_fn(|i| if i == 0 { next } else { rest[i - 1] });
        let upper = [lower[N - 2], lower[N - 1], rest[N - 1]];
        if upper[1..] == [d0, d1] {
            // lower − 2⁶⁴·v + v, modulo 2^(64N).
            let raised = std::array::from_fn(|i| if i == 0 { 0 } else { self.words[i - 1] });
            *rest = sum(&difference(&lower, &raised).0, &self.words);
            return u64::MAX;
        }
        let (mut quotient, top) = divide_three_by_two(upper, [d0, d1], self.reciprocal);
        let (mut carry, mut borrow) = (0, false);
        for i in 0..N - 2 {
            let product = u128::from(quotient) * u128::from(self.words[i]) + u128::from(carry);
            (rest[i], borrow) = subtract(lower[i], product as u64, borrow);
            carry = (product >> 64) as u64;
        }
        let (low, borrow) = subtract(top as u64, carry, borrow);
        let (high, borrow) = subtract((top >> 64) as u64, 0, borrow);
        (rest[N - 2], rest[N - 1]) = (low, high);
        if borrow {
            *rest = sum(rest, &self.words);
            quotient -= 1;
        }
        quotient
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

/// `x + y` modulo `2^(64N)`.
#[inline(always)]
fn sum<const N: usize>(x: &[u64; N], y: &[u64; N]) -> [u64; N] {
    let mut carry = false;
    std::array::from_fn(|i| {
        let word;
        (word, carry) = add(x[i], y[i], carry);
        word
    })
}

/// A difference of two words and a borrow, and the borrow out of it.
#[inline(always)]
fn subtract(x: u64, y: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = x.overflowing_sub(y);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}

/// A word of all ones where something is true, else zero: a mask where the processor could not predict a branch.
#[inline(always)]
fn mask(is_true: bool) -> u64 {
    u64::from(is_true).wrapping_neg()
}

/// The two words of a divisor as one number.
#[inline(always)]
fn join([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

/// The quotient and the remainder of three words by two, lowest word first. The upper two words are below `d`, whose top bit is set.
///
/// Algorithm 4 of Möller and Granlund, who prove that the estimate is one too large or right, but for a rare case, in which it is one too
/// small.
#[inline(always)]
fn divide_three_by_two([u0, u1, u2]: [u64; 3], d: [u64; 2], reciprocal: u64) -> (u64, u128) {
    // At most (2¹²⁸ − 1) by the definition of the reciprocal.
    let estimate = u128::from(reciprocal) * u128::from(u2) + join([u1, u2]);
    let (below, quotient) = (estimate as u64, (estimate >> 64) as u64);
    let high = u1.wrapping_sub(quotient.wrapping_mul(d[1]));
    let product = u128::from(quotient) * u128::from(d[0]);
    let rest = join([u0, high]).wrapping_sub(product).wrapping_sub(join(d));
    // The quotient is one more, unless the rest is negative.
    let negative = mask((rest >> 64) as u64 >= below);
    let quotient = quotient.wrapping_add(1).wrapping_add(negative);
    let rest = rest.wrapping_add(join(d.map(|word| word & negative)));
    if rest >= join(d) {
        return (quotient.wrapping_add(1), rest - join(d));
    }
    (quotient, rest)
}

/// `⌊(2¹⁹² − 1)/d⌋ − 2⁶⁴` for two words whose top bit is set: algorithm 6 of Möller and Granlund.
#[inline(always)]
fn reciprocal([d0, d1]: [u64; 2]) -> u64 {
    let mut v = word_reciprocal(d1);
    // The reciprocal of d1 alone is at most two too large for what d0 adds, here and below.
    let (mut p, carry) = d1.wrapping_mul(v).overflowing_add(d0);
    let once = mask(carry);
    let twice = once & mask(p >= d1);
    v = v.wrapping_add(once).wrapping_add(twice);
    p = p.wrapping_sub(d1 & once).wrapping_sub(d1 & twice);
    let t = u128::from(v) * u128::from(d0);
    let (p, carry) = p.overflowing_add((t >> 64) as u64);
    let once = mask(carry);
    let twice = once & mask(join([t as u64, p]) >= join([d0, d1]));
    v.wrapping_add(once).wrapping_add(twice)
}

/// `⌊(2¹²⁸ − 1)/d⌋ − 2⁶⁴` for a word whose top bit is set: algorithm 2 of Möller and Granlund, which doubles the bits of a table's entry
/// three times.
#[inline(always)]
fn word_reciprocal(d: u64) -> u64 {
    let (odd, d40, d63) = (d & 1, (d >> 24) + 1, (d >> 1) + (d & 1));
    let v0 = u64::from(TABLE[(d >> 55) as usize & 0xff]);
    let v1 = (v0 << 11) - (v0 * v0 * d40 >> 40) - 1;
    let v2 = (v1 << 13) + (v1 * ((1 << 60) - v1 * d40) >> 47);
    let e = (v2 >> 1 & odd.wrapping_neg()).wrapping_sub(v2.wrapping_mul(d63));
    let v3 = (v2 << 31).wrapping_add((u128::from(v2) * u128::from(e) >> 65) as u64);
    let product = (u128::from(v3) + 1) * u128::from(d);
    v3.wrapping_sub((product >> 64) as u64).wrapping_sub(d)
}

/// `⌊(2¹⁹ − 3·2⁸)/d⌋` for `d` from 256 to 511: reciprocals of 11 bits.
const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = ((0x80000 - 0x300) / (256 + i)) as u16;
        i += 1;
    }
    table
};

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
    fn reciprocals_of_words_are_exact() {
        for d in words().into_iter().map(|word| word | 1 << 63) {
            assert_eq!(word_reciprocal(d), (u128::MAX / u128::from(d) - (1 << 64)) as u64, "{d:#x}");
        }
    }

    #[test]
    fn reciprocals_of_two_words_are_exact() {
        let top = (BigUint::from(1_u32) << 192) - 1_u32;
        for d1 in words().into_iter().map(|word| word | 1 << 63) {
            for d0 in words().into_iter().step_by(5) {
                let exact = &top / join([d0, d1]) - (BigUint::from(1_u32) << 64);
                assert_eq!(BigUint::from(reciprocal([d0, d1])), exact, "{d1:#x} {d0:#x}");
            }
        }
    }

    /// Just above and below multiples of the divisor, where the estimate is corrected.
    #[test]
    fn three_words_by_two_around_multiples() {
        let words: Vec<u64> = words().into_iter().step_by(11).chain([0, 1, u64::MAX]).collect();
        for &d1 in &words {
            for &d0 in &words {
                let d = [d0, d1 | 1 << 63];
                let reciprocal = reciprocal(d);
                for &quotient in &words {
                    for rest in [0, 1, join(d) - 1, join(d) / 2] {
                        let u = BigUint::from(quotient) * join(d) + rest;
                        let mut digits = u.to_u64_digits();
                        digits.resize(3, 0);
                        let u = [digits[0], digits[1], digits[2]];
                        assert_eq!(divide_three_by_two(u, d, reciprocal), (quotient, rest), "{u:#x?} by {d:#x?}");
                    }
                }
            }
        }
    }
}
