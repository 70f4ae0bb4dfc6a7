//! `cpu-word`: arithmetic modulo numbers of one word, and division and roots of numbers of two words, a lane at a time.
//!
//! computes   what [`Word`] lists, for moduli of up to 64 bits and dividends of up to 128 bits
//! cost       a division of the processor, or Montgomery products of two multiplications each: for powers with windows of 4 bits
//!            one for each bit of the exponent, one for each window, and 16 for the table
//!
//! bound: for residues `a, b < m` the product `t = a·b` is below `m·2^64`. With `q = t·m⁻¹ mod 2^64` the numbers `t` and `q·m` have the
//! same low word, so `t/2^64 − q·m/2^64` is an integer in `(−m, m)`; where it is negative, `m` is added.
//! source: Montgomery 1985.

use warpmp_simd::words;

use super::rows::{Piece, digit_of};
use super::simd::Power;
use super::{general, reduction};
use crate::operation::Status;

/// Bits of the widest operand where a dividend is twice as long as its divisor.
pub(super) const WIDE_BITS: usize = 128;

/// Bits of a window.
const WINDOW: usize = 4;
/// Exponents of fewer bits take no table.
const SHORT_BITS: u32 = 32;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A quotient, where there are two results, and a remainder.
    Quotient,
    /// A product of two operands, or a square, modulo the last one.
    Product,
    /// The first operand times `R`, modulo the last one.
    Raised,
    /// A product of two operands, or the square of one, over `R` modulo the last one.
    Montgomery,
    /// The first operand over `R`, modulo the last one.
    Reduced,
    /// A root and a remainder.
    Root,
}

/// Computes a piece.
pub(super) fn run(mut piece: Piece<'_>, word: Word) {
    let last = piece.operands.len() - 1;
    let limbs = piece.operands[last].limbs();
    if word == Word::Reduced && limbs > 2 {
        return reduction::run(piece, reduction::Residue::Given);
    }
    let radix_bits = 32 * limbs;
    let preconditions = piece.operation.preconditions();
    let has_status = piece.operation.has_status();
    let numbers = piece.results.len() - usize::from(has_status);
    for lane in 0..piece.lanes() {
        let status = preconditions.check(|i| piece.operands[i].row(lane));
        let mut found = [0; 2];
        if status == Status::Fine {
            let value = |i: usize| number(piece.operands[i].row(lane));
            // The second factor of a square is the first one.
            let (a, b, m) = (value(0), value(usize::from(last == 2)), value(last));
            found = match word {
                Word::Quotient if numbers == 2 => [a / m, a % m],
                Word::Quotient => [a % m, 0],
                Word::Product => [a * b % m, 0],
                Word::Raised => [(a << radix_bits) % m, 0],
                Word::Montgomery => [u128::from(Ring::new(m as u64).over_radix(a * b, radix_bits)), 0],
                Word::Reduced => [u128::from(Ring::new(m as u64).over_radix(a, radix_bits)), 0],
                Word::Root => root(a),
            };
        }
        for (i, found) in found.into_iter().enumerate().take(numbers) {
            put(&mut piece, i, lane, found);
        }
        if has_status {
            piece.put_word(numbers, lane, u64::from(status.code()));
        }
    }
}

/// Powers or strong tests of a piece, powers modulo even numbers by another algorithm.
pub(super) fn power(mut piece: Piece<'_>, power: Power) {
    let last = piece.operands.len() - 1;
    let constant = piece.operation.constant().unwrap_or(0);
    let preconditions = piece.operation.preconditions();
    let mut even = Vec::new();
    for lane in 0..piece.lanes() {
        let row = |i: usize| piece.operands[i].row(lane);
        let m = number(row(last)) as u64;
        let base = |i: usize| number(row(i)) as u64;
        match power {
            Power::TestConstant | Power::TestEach => {
                let base = if power == Power::TestEach { base(0) } else { u64::from(constant) };
                let passed = m % 2 == 1 && m > 1 && Ring::new(m).passes(base);
                piece.put_word(0, lane, u64::from(passed));
            }
            Power::Each | Power::Constant => {
                let status = preconditions.check(row);
                let found = if status != Status::Fine {
                    0
                } else if m.is_multiple_of(2) {
                    even.push(lane);
                    0
                } else {
                    let ring = Ring::new(m);
                    let constant = [constant];
                    let exponent = if power == Power::Each { row(1) } else { &constant[..] };
                    ring.leave(ring.power(base(0), exponent))
                };
                piece.put_word(0, lane, found);
                piece.put_word(1, lane, u64::from(status.code()));
            }
        }
    }
    general::pow_mod_lanes(&mut piece, even);
}

/// Residues modulo an odd word, as multiples of `2^64`.
#[derive(Clone, Copy)]
struct Ring {
    m: u64,
    /// `m⁻¹ mod 2^64`.
    inverse: u64,
}

impl Ring {
    #[inline]
    fn new(m: u64) -> Self {
        Self { m, inverse: words::inverse(m) }
    }

    /// `t/2^64` for `t < m·2^64`.
    #[inline]
    fn reduce(self, t: u128) -> u64 {
        let q = (t as u64).wrapping_mul(self.inverse);
        let above = (u128::from(q) * u128::from(self.m)) >> 64;
        let (difference, negative) = ((t >> 64) as u64).overflowing_sub(above as u64);
        if negative { difference.wrapping_add(self.m) } else { difference }
    }

    #[inline]
    fn product(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    /// `t/2^radix_bits` for `t < m·2^radix_bits` with 32 or 64 bits.
    #[inline]
    fn over_radix(self, t: u128, radix_bits: usize) -> u64 {
        self.reduce(t << (64 - radix_bits))
    }

    /// `a·2^64`.
    #[inline]
    fn enter(self, a: u64) -> u64 {
        ((u128::from(a) << 64) % u128::from(self.m)) as u64
    }

    #[inline]
    fn leave(self, x: u64) -> u64 {
        self.reduce(u128::from(x))
    }

    /// A power, as a residue. The base is any word.
    fn power(self, base: u64, exponent: &[u32]) -> u64 {
        let base = self.enter(base % self.m);
        let value = number(exponent);
        let bits = 128 - value.leading_zeros();
        if bits <= SHORT_BITS {
            let mut x = if bits == 0 { self.enter(1) } else { base };
            for bit in (0..bits.saturating_sub(1)).rev() {
                x = self.product(x, x);
                if value >> bit & 1 == 1 {
                    x = self.product(x, base);
                }
            }
            return x;
        }
        let mut table = [self.enter(1); 1 << WINDOW];
        for i in 1..table.len() {
            table[i] = self.product(table[i - 1], base);
        }
        let mut x = table[0];
        for digit in (0..(bits as usize).div_ceil(WINDOW)).rev() {
            for _ in 0..WINDOW {
                x = self.product(x, x);
            }
            x = self.product(x, table[digit_of(exponent, digit * WINDOW, WINDOW) as usize]);
        }
        x
    }

    /// Is the modulus, above 1, a strong probable prime to a base?
    fn passes(self, base: u64) -> bool {
        let twos = (self.m - 1).trailing_zeros();
        let d = (self.m - 1) >> twos;
        let mut x = self.power(base, &[d as u32, (d >> 32) as u32]);
        let one = self.enter(1);
        if x == one {
            return true;
        }
        for squaring in 0..twos {
            if squaring > 0 {
                x = self.product(x, x);
            }
            if x == self.m - one {
                return true;
            }
        }
        false
    }
}

/// A number of up to four limbs.
#[inline]
fn number(row: &[u32]) -> u128 {
    match *row {
        [a] => u128::from(a),
        [a, b] => u128::from(u64::from(a) | u64::from(b) << 32),
        _ => row.iter().rev().fold(0, |number, limb| number << 32 | u128::from(*limb)),
    }
}

/// Stores a number; the limbs that it does not have are zero.
#[inline]
fn put(piece: &mut Piece<'_>, result: usize, lane: usize, number: u128) {
    let rows = &mut piece.results[result];
    let row = &mut rows.words[lane * rows.limbs..][..rows.limbs];
    for (i, limb) in row.iter_mut().enumerate() {
        *limb = number.checked_shr(32 * i as u32).unwrap_or(0) as u32;
    }
}

/// The root and the remainder.
///
/// bound: the double's root errs by less than 2^12: one step of Newton's method leaves an error of one.
fn root(a: u128) -> [u128; 2] {
    if a == 0 {
        return [0, 0];
    }
    let first = ((a as f64).sqrt() as u128).max(1);
    let mut root = u128::midpoint(first, a / first).min(u64::MAX.into());
    while root * root > a {
        root -= 1;
    }
    while a - root * root > 2 * root {
        root += 1;
    }
    [root, a - root * root]
}
