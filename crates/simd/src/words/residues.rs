//! Products, and residues modulo an odd number, of `N` words in registers or on the stack.
//!
//! computes   `x·y`, `x²`; `x·y/R mod m`, `x²/R mod m`, `t/R mod m` with `R = 2^(64N)`, and `2x mod m`, all below `m`
//! requires   `m` odd, of at most `N` words; residues below `m`, and `t < R·m`
//! cost       `N²` word products for a product, `N(N + 1)/2` for a square, `N² + N` more for the reduction. Small `N` are meant: the
//!            compiler unrolls all loops
//!
//! bound: a row of a product adds `x·y` to `t`, both of `N` words: with the carry this is at most `(2⁶⁴−1)·(R−1) + R−1 < 2⁶⁴·R`, so
//! the word above does not overflow. The rows of the reduction leave `t + q·m < 2·R·m`, whose top bit is a carry of its own; over
//! `R` it is below `2m`, and one subtraction reduces it.
//! source: Montgomery 1985, by words as in Koç, Acar and Kaliski 1996. Product and reduction one after the other measured
//! faster than rows of both in turn.

use super::{add_row, inverse};

/// An odd modulus of up to `N` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odd<const N: usize> {
    words: [u64; N],
    /// `−m⁻¹ mod 2⁶⁴`.
    inverse: u64,
}

impl<const N: usize> Odd<N> {
    /// Takes the words of an odd number.
    #[inline(always)]
    pub fn new(words: [u64; N]) -> Self {
        Self { words, inverse: inverse(words[0]).wrapping_neg() }
    }

    /// Its words.
    #[inline(always)]
    pub fn words(&self) -> &[u64; N] {
        &self.words
    }

    /// `x·y/R mod m`.
    #[inline(always)]
    pub fn product(&self, x: &[u64; N], y: &[u64; N]) -> [u64; N] {
        self.reduce(&product(x, y))
    }

    /// `x²/R mod m`.
    #[inline(always)]
    pub fn square(&self, x: &[u64; N]) -> [u64; N] {
        self.reduce(&square(x))
    }

    /// `t/R mod m`.
    #[inline(always)]
    pub fn reduce(&self, t: &[[u64; N]; 2]) -> [u64; N] {
        let [mut low, high] = *t;
        let mut over = 0_u64;
        for word in high {
            let quotient = low[0].wrapping_mul(self.inverse);
            let carry = add_short_row(quotient, &self.words, &mut low);
            let sum = u128::from(word) + u128::from(carry) + u128::from(over);
            // The lowest word has become zero.
            low = moved_down(&low, sum as u64);
            over = (sum >> 64) as u64;
        }
        self.reduce_once(&low, over)
    }

    /// `2x mod m`.
    #[inline(always)]
    pub fn double(&self, x: &[u64; N]) -> [u64; N] {
        let twice = std::array::from_fn(|i| x[i] << 1 | if i == 0 { 0 } else { x[i - 1] >> 63 });
        self.reduce_once(&twice, x[N - 1] >> 63)
    }

    /// `above·R + t mod m` for a number below `2m`.
    #[inline(always)]
    fn reduce_once(&self, t: &[u64; N], above: u64) -> [u64; N] {
        let (less, borrow) = difference(t, &self.words);
        // The number stays as it is where there is a borrow that `above` does not cover. A mask, not a branch: the processor could not
        // predict it.
        let keep = ((above.wrapping_sub(borrow) as i64) >> 63) as u64;
        std::array::from_fn(|i| t[i] & keep | less[i] & !keep)
    }
}

/// [`add_row`] for few words: products first, then two chains of carries, which the compiler keeps in the flag.
#[inline(always)]
pub(super) fn add_short_row<const N: usize>(x: u64, y: &[u64; N], z: &mut [u64; N]) -> u64 {
    let products = y.map(|y| u128::from(x) * u128::from(y));
    let high = |i: usize| (products[i] >> 64) as u64;
    let mut row = [products[0] as u64; N];
    let mut carry = false;
    for i in 1..N {
        (row[i], carry) = add(products[i] as u64, high(i - 1), carry);
    }
    let top = high(N - 1) + u64::from(carry);
    carry = false;
    for i in 0..N {
        (z[i], carry) = add(z[i], row[i], carry);
    }
    top + u64::from(carry)
}

/// A sum of two words and a carry, and the carry out of it.
#[inline(always)]
fn add(x: u64, y: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = x.overflowing_add(y);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

/// `⌊x / 2⁶⁴⌋` with another word at the top.
#[inline(always)]
fn moved_down<const N: usize>(x: &[u64; N], top: u64) -> [u64; N] {
    std::array::from_fn(|i| if i + 1 < N { x[i + 1] } else { top })
}

/// `x − y` modulo `2^(64N)`, and the borrow.
#[inline(always)]
pub fn difference<const N: usize>(x: &[u64; N], y: &[u64; N]) -> ([u64; N], u64) {
    let mut borrow = false;
    let words = std::array::from_fn(|i| {
        let (word, first) = x[i].overflowing_sub(y[i]);
        let (word, second) = word.overflowing_sub(u64::from(borrow));
        borrow = first | second;
        word
    });
    (words, u64::from(borrow))
}

/// `x·y`.
#[inline(always)]
pub fn product<const N: usize>(x: &[u64; N], y: &[u64; N]) -> [[u64; N]; 2] {
    let (mut low, mut high) = ([0; N], [0; N]);
    for i in 0..N {
        let carry = add_short_row(x[i], y, &mut high);
        low[i] = high[0];
        high = moved_down(&high, carry);
    }
    [low, high]
}

/// `x²`.
#[inline(always)]
pub fn square<const N: usize>(x: &[u64; N]) -> [[u64; N]; 2] {
    let mut z = [[0; N]; 2];
    add_square(x, z.as_flattened_mut());
    z
}

/// `z = x²` for zeros in `z`, which has twice as many words: the products of different words once, doubled, and the squares of words.
///
/// bound: twice the sum of the products of different words is below `x² < 2^(128n)`: nothing is shifted out.
#[inline(always)]
pub fn add_square(x: &[u64], z: &mut [u64]) {
    let n = x.len();
    for i in 0..n {
        z[i + n] = add_row(x[i], &x[i + 1..], &mut z[2 * i + 1..i + n]);
    }
    let (mut shifted, mut carry) = (0, false);
    for (pair, &x) in z.as_chunks_mut::<2>().0.iter_mut().zip(x) {
        let square = u128::from(x) * u128::from(x);
        let [low, high] = *pair;
        (pair[0], carry) = add(low << 1 | shifted, square as u64, carry);
        (pair[1], carry) = add(high << 1 | low >> 63, (square >> 64) as u64, carry);
        shifted = high >> 63;
    }
}
