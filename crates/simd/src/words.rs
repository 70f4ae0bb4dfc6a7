//! Arithmetic in words of 64 bits, without vectors: rows of products, and Montgomery's products modulo one odd number.
//!
//! computes   `t/R mod m` with `R = 2^(64n)` for `n` words of `m`
//! cost       `2n² + n` word products for a product of two residues
//!
//! No branch and no address depends on a number's value, only on its length. A comparison's result is a mask, and the
//! compiler is not told that it is one, so it makes no branch of it. [`residues`] and [`division`], for few words, are faster and do not
//! promise this.
//!
//! bound: a step of a row computes `x·y + z + carry ≤ (2⁶⁴−1)² + 2·(2⁶⁴−1) = 2¹²⁸ − 1`: no carry is lost. Rows of the quotient
//! leave `t + q·m < 2·R·m`, whose top bit is a carry of its own; over `R` it is below `2m`, and one subtraction reduces it.
//! source: Montgomery 1985, by words as in Koç, Acar and Kaliski 1996.

pub mod division;
pub mod residues;

use std::hint::black_box;

/// Calls a function that is compiled for `mulx` where the processor has it. Only a closure marked `#[inline(always)]` gains by it.
#[inline]
pub fn compiled<R>(function: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(mulx) = crate::mulx::Mulx::detect() {
        return mulx.vectorize(function);
    }
    function()
}

/// `z += x·y`, as many words as both have; returns the carry.
#[inline(always)]
pub fn add_row(x: u64, y: &[u64], z: &mut [u64]) -> u64 {
    let mut carry = 0;
    for (z, y) in z.iter_mut().zip(y) {
        let sum = u128::from(x) * u128::from(*y) + u128::from(*z) + u128::from(carry);
        *z = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// `z = x·y`; `z` has as many words as both together.
pub fn multiply(x: &[u64], y: &[u64], z: &mut [u64]) {
    z.fill(0);
    for (i, &x) in x.iter().enumerate() {
        z[i + y.len()] = add_row(x, y, &mut z[i..i + y.len()]);
    }
}

/// `x ← x·2^by`, as many words as `x` has.
#[inline(always)]
pub fn shift_up(x: &mut [u64], by: usize) {
    let (words, bits) = ((by / 64).min(x.len()), by % 64);
    if words > 0 {
        x.copy_within(..x.len() - words, words);
        x[..words].fill(0);
    }
    for i in (1..x.len()).rev() {
        x[i] = x[i] << bits | x[i - 1] >> 1 >> (63 - bits);
    }
    if let Some(lowest) = x.first_mut() {
        *lowest <<= bits;
    }
}

/// `x ← ⌊x / 2^by⌋`.
#[inline(always)]
pub fn shift_down(x: &mut [u64], by: usize) {
    let (words, bits) = ((by / 64).min(x.len()), by % 64);
    if words > 0 {
        let kept = x.len() - words;
        x.copy_within(words.., 0);
        x[kept..].fill(0);
    }
    for i in 1..x.len() {
        x[i - 1] = x[i - 1] >> bits | x[i] << 1 << (63 - bits);
    }
    if let Some(top) = x.last_mut() {
        *top >>= bits;
    }
}

/// All ones where two words are equal, else zero: a mask whose nature the compiler does not see.
pub fn equal_mask(a: u64, b: u64) -> u64 {
    let other = a ^ b;
    black_box(((other | other.wrapping_neg()) >> 63).wrapping_sub(1))
}

/// `m⁻¹ mod 2⁶⁴` for an odd `m`.
#[inline]
pub fn inverse(m: u64) -> u64 {
    // m·m = 1 modulo 8; each step doubles the bits that are right: 3, 6, 12, 24, 48, 96.
    (0..5).fold(m, |x, _| x.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(x))))
}

/// An odd modulus of `n` words.
#[derive(Clone, Debug)]
pub struct Modulus {
    words: Vec<u64>,
    /// `−m⁻¹ mod 2⁶⁴`.
    inverse: u64,
}

impl Modulus {
    /// Takes the words of an odd number.
    ///
    /// # Panics
    /// Without words.
    pub fn new(words: Vec<u64>) -> Self {
        let inverse = inverse(words[0]).wrapping_neg();
        Self { words, inverse }
    }

    /// Its words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// `x ← x·y/R mod m` for `x·y < R·m`. Scratch has `2n` words.
    pub fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        multiply(x, y, scratch);
        self.divide(scratch, x);
    }

    /// `x ← x²/R mod m` for `x² < R·m`. Scratch has `2n` words.
    pub fn square(&self, x: &mut [u64], scratch: &mut [u64]) {
        multiply(x, x, scratch);
        self.divide(scratch, x);
    }

    /// `x = t/R mod m` for `t < R·m` of `2n` words, which are destroyed.
    pub fn divide(&self, t: &mut [u64], x: &mut [u64]) {
        let n = self.words.len();
        let mut over = 0;
        for i in 0..n {
            let quotient = t[i].wrapping_mul(self.inverse);
            let carry = add_row(quotient, &self.words, &mut t[i..i + n]);
            let sum = u128::from(t[i + n]) + u128::from(carry) + u128::from(over);
            (t[i + n], over) = (sum as u64, (sum >> 64) as u64);
        }
        self.reduce_once(&t[n..2 * n], over, x);
    }

    /// `x ← x + y mod m` for `x, y < m`. Scratch has `n` words.
    pub fn add(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        let sum = &mut scratch[..x.len()];
        sum.copy_from_slice(x);
        let mut carry = 0;
        for (sum, &y) in sum.iter_mut().zip(y) {
            let word = u128::from(*sum) + u128::from(y) + u128::from(carry);
            (*sum, carry) = (word as u64, (word >> 64) as u64);
        }
        self.reduce_once(sum, carry, x);
    }

    /// `x = above·R + t mod m` for a number below `2m`.
    fn reduce_once(&self, t: &[u64], above: u64, x: &mut [u64]) {
        let mut borrow = 0;
        for ((x, &t), &m) in x.iter_mut().zip(t).zip(&self.words) {
            let difference = u128::from(t).wrapping_sub(u128::from(m)).wrapping_sub(borrow);
            *x = difference as u64;
            borrow = (difference >> 64) & 1;
        }
        // The number stays as it is where there is a borrow that `above` does not cover.
        let borrow = borrow as u64;
        let mask = black_box((above ^ borrow).wrapping_neg()) & black_box(borrow.wrapping_neg());
        for (x, &t) in x.iter_mut().zip(t) {
            *x ^= mask & (*x ^ t);
        }
    }
}
