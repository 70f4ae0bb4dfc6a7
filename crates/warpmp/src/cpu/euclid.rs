//! Inverses and cofactors by Lehmer's method.
//!
//! computes   `g = gcd(a, b)` and the least `x ≥ 0` with `a·x = g mod b`
//! cost       about `n²/2` word products of numbers of `n` words for the remainders, and as many for the cofactors
//!
//! Euclid's algorithm on the upper 62 bits of both numbers gives quotients as long as they are those of the whole numbers
//! for certain; what they come to is done to the whole numbers at once. Where not even the first one is certain, the
//! numbers are divided.
//!
//! bound: a matrix has entries below 2⁶² (Knuth), two of opposite signs a row; so a word of `A·x + B·y` and what is
//! carried into it stay within 127 bits and a sign, and of the cofactors, all signs taken as one, within 128 bits.
//! Cofactors never exceed `b`.
//!
//! source: Lehmer 1938; Knuth, The Art of Computer Programming 2, 4.5.2, algorithm L. It is our own since dashu-int 0.6
//! ends some of its inverses of 49 words and more with a panic, or with a wrong number.

use std::mem;

use dashu_int::UBig;
use dashu_int::ops::DivRem;

/// Bits of the numbers that stand for the whole ones.
const HEAD_BITS: usize = 62;

/// `g = gcd(a, b)`, and the least `x ≥ 0` with `a·x = g` modulo `b`, which is not zero.
pub(super) fn cofactor(a: &UBig, b: &UBig) -> (UBig, UBig) {
    let mut state = State { x: words(b), y: words(&(a % b)), s: vec![0], t: vec![1], odd: false };
    state.trim();
    while !state.y.is_empty() {
        match state.head() {
            Some(matrix) => state.combine(matrix),
            None => state.divide(),
        }
    }
    let g = number(&state.x);
    let period = b / &g;
    let x = number(&state.s) % &period;
    // After an odd number of steps it is the cofactor, else its negative.
    let x = if state.odd || x.is_zero() { x } else { period - x };
    (g, x)
}

/// What some quotients come to: `x, y ← A·x + B·y, C·x + D·y`.
struct Matrix {
    entries: [i64; 4],
    /// Is the number of quotients odd?
    odd: bool,
}

/// Two numbers on the way to their common divisor, no zero words on top, and by what multiples of `a` they are equal
/// modulo `b`: `x = ∓s·a` and `y = ±t·a`, the upper signs after an even number of quotients.
struct State {
    x: Vec<u64>,
    y: Vec<u64>,
    /// As long as `t`.
    s: Vec<u64>,
    t: Vec<u64>,
    odd: bool,
}

impl State {
    fn trim(&mut self) {
        for number in [&mut self.x, &mut self.y] {
            number.truncate(number.iter().rposition(|word| *word != 0).map_or(0, |top| top + 1));
        }
    }

    /// The quotients that the upper bits tell for certain; none if there is no such one.
    fn head(&self) -> Option<Matrix> {
        let bits = bit_length(&self.x);
        let low = bits.saturating_sub(HEAD_BITS);
        let [mut x, mut y] = [&self.x, &self.y].map(|number| bits_from(number, low) as i64);
        let [mut a, mut b, mut c, mut d] = [1, 0, 0, 1];
        let mut odd = false;
        // Whole numbers know all their quotients.
        let unknown = i64::from(low > 0);
        loop {
            // The numbers lie between `x` and `x + 1`, `y` and `y + 1`, which the steps make `x + a`, `x + b` and so on.
            let [least, most] = [y + unknown * c, y + unknown * d];
            if least == 0 || most == 0 {
                break;
            }
            let q = ((x + unknown * a) as u64 / least as u64) as i64;
            // The other end's quotient is the same if what it leaves is a remainder.
            let rest = i128::from(x + unknown * b) - i128::from(q) * i128::from(most);
            if !(0..i128::from(most)).contains(&rest) {
                break;
            }
            [a, b, c, d] = [c, d, a - q * c, b - q * d];
            [x, y] = [y, x - q * y];
            odd = !odd;
        }
        (b != 0).then_some(Matrix { entries: [a, b, c, d], odd })
    }

    fn combine(&mut self, Matrix { entries, odd }: Matrix) {
        let Self { x, y, s, t, .. } = self;
        y.resize(x.len(), 0);
        let [a, b, c, d] = entries.map(|entry| u128::from(entry.unsigned_abs()));
        // After an odd number of quotients `a` and `d` are the negative ones.
        let [plus, minus] = if odd { [[b, c], [a, d]] } else { [[a, d], [b, c]] };
        let mut carries = [0_i128; 2];
        for (x, y) in x.iter_mut().zip(y) {
            let [u, v] = [*x, *y].map(u128::from);
            let [from, other] = if odd { [v, u] } else { [u, v] };
            let sum = |plus: u128, from: u128, minus: u128, other: u128, carry: i128| {
                (plus * from) as i128 - (minus * other) as i128 + carry
            };
            let sums =
                [sum(plus[0], from, minus[0], other, carries[0]), sum(plus[1], other, minus[1], from, carries[1])];
            [*x, *y] = sums.map(|sum| sum as u64);
            carries = sums.map(|sum| sum >> 64);
        }
        let mut carries = [0_u128; 2];
        for (s, t) in s.iter_mut().zip(&mut *t) {
            let [u, v] = [*s, *t].map(u128::from);
            let sums = [a * u + b * v + carries[0], c * u + d * v + carries[1]];
            [*s, *t] = sums.map(|sum| sum as u64);
            carries = sums.map(|sum| sum >> 64);
        }
        if carries != [0; 2] {
            s.push(carries[0] as u64);
            t.push(carries[1] as u64);
        }
        self.odd ^= odd;
        self.trim();
    }

    /// One quotient of the whole numbers.
    fn divide(&mut self) {
        let (quotient, rest) = number(&self.x).div_rem(number(&self.y));
        self.x = mem::replace(&mut self.y, words(&rest));
        let t = number(&self.s) + quotient * number(&self.t);
        self.s = mem::replace(&mut self.t, words(&t));
        self.s.resize(self.t.len(), 0);
        self.odd = !self.odd;
        self.trim();
    }
}

/// The words of a number, those of 64 bits, whatever the library's are.
fn words(number: &UBig) -> Vec<u64> {
    let bytes: Vec<u8> = number.as_words().iter().flat_map(|word| word.to_le_bytes()).collect();
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(8).map(word).collect()
}

/// A number from words without zeros on top, or with them.
fn number(words: &[u64]) -> UBig {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    UBig::from_le_bytes(&bytes)
}

fn bit_length(words: &[u64]) -> usize {
    words.last().map_or(0, |top| 64 * words.len() - top.leading_zeros() as usize)
}

/// The word that begins at a bit.
fn bits_from(words: &[u64], bit: usize) -> u64 {
    let word = |i: usize| words.get(i).copied().unwrap_or(0);
    let pair = u128::from(word(bit / 64)) | u128::from(word(bit / 64 + 1)) << 64;
    (pair >> (bit % 64)) as u64
}

#[cfg(test)]
mod tests {
    use dashu_int::ops::BitTest;

    use super::*;

    /// Against the definition, for all small numbers and for those whose quotients are hard to tell.
    #[test]
    fn cofactors_are_the_least() {
        let check = |a: &UBig, b: &UBig| {
            let (g, x) = cofactor(a, b);
            assert!((a % &g).is_zero() && (b % &g).is_zero(), "{a} and {b}: {g}");
            assert!(x < b / &g, "{a} and {b}: {x}");
            assert_eq!(a * &x % b, &g % b, "{a} and {b}");
        };
        for a in 0_u32..60 {
            for b in 1_u32..60 {
                check(&a.into(), &b.into());
            }
        }
        let one = UBig::ONE;
        let mut fibonacci = [one.clone(), one.clone()];
        for bits in (2..3400).step_by(61) {
            while fibonacci[1].bit_len() < bits {
                fibonacci = [fibonacci[1].clone(), &fibonacci[0] + &fibonacci[1]];
            }
            let power = &one << (bits - 1);
            check(&fibonacci[0], &fibonacci[1]);
            check(&power, &(&power + &one));
            check(&(&power - &one), &power);
            check(&(&power * 6_u32), &(&power * 15_u32));
            check(&(&one << (bits / 2)), &((&one << bits) - &one));
        }
    }
}
