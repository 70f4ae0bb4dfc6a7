//! `cpu-words`: square roots of numbers of up to eight words, a lane at a time.
//!
//! computes   `s = ⌊√a⌋` and `a − s²`
//! cost       a division of the processor for each word of the root, and word products of a square of its length
//!
//! A number of `2n` words is shifted up by an even distance `2h`, until one of its two highest bits is set. The first word of the root is that
//! of two words. With `x = 2^64`, the upper words `S` of the root and their remainder `R`, the next word `q` is the largest with
//! `(2S·x + q)·q ≤ R·x² + a₁·x + a₀`. In the end the lowest `h` bits `e` of the root go: `r + (2s − e)·e` remains then.
//!
//! bound: `q ≤ (R·x + a₁)/2S`, since `a₀ < x`, and `q` is less than this by less than `q²/2S·x + 1 < 2`. The quotient is estimated by three words
//! of its dividend and two of `S`, whose highest bit is set: it is right or 1 too large. So the estimate is cut down three times at most.
//! `R ≤ 2S` has one bit more than `S`, and `r + (2s − e)·e` has `h` bits more than `2s`: a word each.
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D, for quotients; Zimmermann, Karatsuba Square Root, 1999.

use warpmp_simd::words::{add_row, shift_down, shift_up};

use crate::cpu::rows::{Piece, load, store};
use crate::cpu::word;

/// Words of the longest number.
const WORDS: usize = 8;

/// Bits of the widest operand.
pub(in crate::cpu) const LIMIT_BITS: usize = 64 * WORDS;

/// A number, with the words that it gets on the way.
type Words = [u64; WORDS + 1];

/// Computes a piece.
pub(in crate::cpu) fn run(mut piece: Piece<'_>) {
    for lane in 0..piece.lanes() {
        let mut a = [0; WORDS + 1];
        load(piece.operands[0].row(lane), &mut a);
        let (mut s, mut r) = ([0; WORDS + 1], [0; WORDS + 1]);
        any_root(&mut a, &mut s, &mut r);
        for (result, words) in piece.results.iter_mut().zip([&s, &r]) {
            store(words, &mut result.words[lane * result.limbs..][..result.limbs]);
        }
    }
}

/// The root and the remainder, into zeros, of a number of up to [`WORDS`] words, which is destroyed.
#[inline(always)]
fn any_root(a: &mut Words, s: &mut Words, r: &mut Words) {
    let words = a.iter().rposition(|word| *word != 0).map_or(0, |top| top + 1);
    match words.div_ceil(2) {
        0 | 1 => {
            let [root, rest] = word::root(pair(a[1], a[0]));
            s[0] = root as u64;
            (r[0], r[1]) = (rest as u64, (rest >> 64) as u64);
        }
        2 => root::<2>(a, s, r),
        3 => root::<3>(a, s, r),
        _ => root::<4>(a, s, r),
    }
}

/// The root of `N` words, and the remainder, of a number of `2N` words or one less, which is destroyed.
fn root<const N: usize>(a: &mut Words, s: &mut Words, r: &mut Words) {
    let half = pair(a[2 * N - 1], a[2 * N - 2]).leading_zeros() as usize / 2;
    shift_up(&mut a[..2 * N], 2 * half);
    let [first, rest] = word::root(pair(a[2 * N - 1], a[2 * N - 2]));
    s[N - 1] = first as u64;
    (r[0], r[1]) = (rest as u64, (rest >> 64) as u64);
    for known in 1..N {
        let place = N - 1 - known;
        for i in (0..=known).rev() {
            r[i + 2] = r[i];
        }
        (r[0], r[1]) = (a[2 * place], a[2 * place + 1]);
        next(&mut s[place..=N], &mut r[..known + 3]);
    }
    let last = s[0] & ((1 << half) - 1);
    for _ in 0..2 {
        // Once by s, then by s − e.
        let mut carry = add_row(last, &s[..N], &mut r[..N]);
        for word in &mut r[N..N + 2] {
            let (sum, over) = word.overflowing_add(carry);
            (*word, carry) = (sum, over.into());
        }
        s[0] = s[0] >> half << half;
    }
    shift_down(&mut s[..N], half);
    shift_down(&mut r[..N + 2], 2 * half);
}

/// The next word of a root, its lowest one so far: `r ← r − (2S·x + q)·q`. The root has a zero above it, the remainder two words more than the root.
///
/// Where the lengths are known its loops are unrolled, which halves the time.
#[inline(always)]
fn next(s: &mut [u64], r: &mut [u64]) {
    // The root's words with the new one, and the remainder's with the two new ones.
    let (n, top) = (s.len() - 1, r.len() - 1);
    let half = |i: usize| r[i] >> 1 | r.get(i + 1).map_or(0, |above| above << 63);
    let (n2, n1) = (half(top - 1), half(top - 2));
    let (d1, d0, n0) = if n > 2 { (s[n - 1], s[n - 2], half(top - 3)) } else { (s[n - 1], 0, 0) };
    let mut q = if n2 >= d1 {
        u64::MAX
    } else {
        // The remainder by a product: the compiler divides twice otherwise.
        let number = pair(n2, n1);
        let mut q = number / u128::from(d1);
        let mut rest = number - q * u128::from(d1);
        while rest >> 64 == 0 && q * u128::from(d0) > pair(rest as u64, n0) {
            q -= 1;
            rest += u128::from(d1);
        }
        q as u64
    };
    // The divisor: 2S, and the word q below it.
    let mut carry = 0;
    for i in 0..=n {
        let below = if i > 1 { s[i - 1] >> 63 } else { 0 };
        let digit = if i == 0 { q } else { s[i] << 1 | below };
        let product = u128::from(q) * u128::from(digit) + u128::from(carry);
        let (rest, borrow) = r[i].overflowing_sub(product as u64);
        r[i] = rest;
        carry = (product >> 64) as u64 + u64::from(borrow);
    }
    r[top] = r[top].wrapping_sub(carry);
    s[0] = q;
    while r[top] >> 63 == 1 {
        q -= 1;
        s[0] = q;
        let mut carry = 1;
        for i in 0..=n {
            let below = if i > 0 { s[i - 1] >> 63 } else { 0 };
            let sum = u128::from(r[i]) + u128::from(s[i] << 1 | below) + carry;
            (r[i], carry) = (sum as u64, sum >> 64);
        }
        r[top] = r[top].wrapping_add(carry as u64);
    }
}

const fn pair(high: u64, low: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    fn number(words: &[u64]) -> BigUint {
        words.iter().rev().fold(BigUint::default(), |number, word| (number << 64_u32) + *word)
    }

    /// Roots whose words are at their limits, with remainders at theirs: every correction happens. Of one word, too.
    #[test]
    fn roots_at_the_limits() {
        let words = [0, 1, 2, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        let check = |a: &BigUint| {
            let mut row = [0; WORDS + 1];
            let digits = a.to_u64_digits();
            row[..digits.len()].copy_from_slice(&digits);
            let (mut s, mut r) = ([0; WORDS + 1], [0; WORDS + 1]);
            any_root(&mut row, &mut s, &mut r);
            let root = a.sqrt();
            assert_eq!(number(&s), root, "the root of {a:#x}");
            assert_eq!(number(&r), a - &root * &root, "the remainder of {a:#x}");
        };
        for i in 0..words.len().pow(4) {
            let at = |place: u32| words[i / words.len().pow(place) % words.len()];
            let root = number(&[at(0), at(1), at(2), at(3)]);
            for (less, more) in [(1_u32, 0_u32), (0, 0), (0, 1)] {
                let square = &root * &root + more;
                if square > less.into() {
                    check(&(&square - less));
                }
                check(&(square + 2_u32 * &root).min((BigUint::from(1_u32) << LIMIT_BITS) - 1_u32));
            }
        }
    }
}
