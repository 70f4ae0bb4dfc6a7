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

use super::rows::{Piece, digit_of, join};
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
pub(super) fn run(piece: Piece<'_>, word: Word) {
    let limbs = piece.operands[piece.operands.len() - 1].limbs();
    if word == Word::Reduced && limbs > 2 {
        return reduction::run(piece, reduction::Residue::Given);
    }
    let radix_bits = 32 * limbs;
    let has_quotient = piece.results.len() == 2 + usize::from(piece.operation.has_status());
    let montgomery = move |t, m| u128::from(Ring::new(m as u64).over_radix(t, radix_bits));
    match word {
        Word::Quotient if has_quotient => each(piece, |[a, _, m]| Ok(divide(a, m))),
        Word::Quotient => each(piece, |[a, _, m]| Ok([divide(a, m)[1]])),
        Word::Product => each(piece, |[a, b, m]| Ok([divide(a * b, m)[1]])),
        Word::Raised => each(piece, |[a, _, m]| Ok([divide(a << radix_bits, m)[1]])),
        Word::Montgomery => each(piece, |[a, b, m]| Ok([montgomery(a * b, m)])),
        Word::Reduced => each(piece, |[a, _, m]| Ok([montgomery(a, m)])),
        Word::Root => each(piece, |[a, ..]| Ok(root(a))),
    }
}

/// Computes each lane without a fault. `compute` takes the first operand, the first one or the second of three, and the last one.
pub(super) fn each<const N: usize>(mut piece: Piece<'_>, compute: impl Fn([u128; 3]) -> Result<[u128; N], Status>) {
    let last = piece.operands.len() - 1;
    let radix_bits = 32 * piece.operands[last].limbs();
    let preconditions = piece.operation.preconditions();
    let has_status = piece.operation.has_status();
    for lane in 0..piece.lanes() {
        let value = |i: usize| number(piece.operands[i].row(lane));
        let outcome = match preconditions.check_numbers(value, radix_bits) {
            // The second factor of a square is the first one.
            Status::Fine => compute([value(0), value(usize::from(last == 2)), value(last)]),
            fault => Err(fault),
        };
        let (found, status) = match outcome {
            Ok(found) => (found, Status::Fine),
            Err(status) => ([0; N], status),
        };
        for (i, found) in found.into_iter().enumerate() {
            put(&mut piece, i, lane, found);
        }
        if has_status {
            put(&mut piece, N, lane, status.code().into());
        }
    }
}

/// The quotient and the remainder.
#[inline]
fn divide(a: u128, m: u128) -> [u128; 2] {
    if let (Ok(a), Ok(m)) = (u64::try_from(a), u64::try_from(m)) {
        return [u128::from(a / m), u128::from(a % m)];
    }
    let quotient = a / m;
    [quotient, a.wrapping_sub(quotient.wrapping_mul(m))]
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

    /// `2x` for a residue.
    #[inline]
    fn double(self, x: u64) -> u64 {
        let (twice, over) = x.overflowing_add(x);
        let (difference, is_less) = twice.overflowing_sub(self.m);
        if over || !is_less { difference } else { twice }
    }

    /// A power of 2, as a residue.
    fn power_of_two(self, exponent: u64) -> u64 {
        // The highest bits at once: less than 64.
        let rest = (64 - exponent.leading_zeros()).saturating_sub(6);
        let mut x = self.enter(1 << (exponent >> rest));
        for bit in (0..rest).rev() {
            x = self.product(x, x);
            let twice = self.double(x);
            x = if exponent >> bit & 1 == 1 { twice } else { x };
        }
        x
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
        let mut x = if base == 2 { self.power_of_two(d) } else { self.power(base, &[d as u32, (d >> 32) as u32]) };
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
pub(super) fn number(row: &[u32]) -> u128 {
    match *row {
        [a] => u128::from(a),
        [a, b] => u128::from(join(a, b)),
        [a, b, c, d] => u128::from(join(a, b)) | u128::from(join(c, d)) << 64,
        _ => row.iter().rev().fold(0, |number, limb| number << 32 | u128::from(*limb)),
    }
}

/// Stores a number, whose upper limbs may be cut off; the limbs that it does not have are zero.
#[inline]
pub(super) fn put(piece: &mut Piece<'_>, result: usize, lane: usize, number: u128) {
    let rows = &mut piece.results[result];
    let row = &mut rows.words[lane * rows.limbs..][..rows.limbs];
    let limbs = [number as u32, (number >> 32) as u32, (number >> 64) as u32, (number >> 96) as u32];
    // A copy of unknown length costs more than the division.
    match row {
        [a] => *a = limbs[0],
        [a, b] => [*a, *b] = [limbs[0], limbs[1]],
        [a, b, c, d] => [*a, *b, *c, *d] = limbs,
        _ => row.iter_mut().enumerate().for_each(|(i, limb)| *limb = limbs.get(i).copied().unwrap_or(0)),
    }
}

/// The root and the remainder.
///
/// bound: the double of a number above `2^64` errs by one part in `2^51`, so its root errs by less than `2^13` and what the square leaves is
/// below `2^78`. The step of Newton's method then errs by less than `2^-6`: by `2^26 / 2^33`, by the 16 bits that it leaves out, and by
/// rounding. Less a half, and without its fraction, it is less by at most 3/2 or more by at most 1/2. So one correction is enough either way; a branch
/// would often be foretold wrongly.
#[inline]
pub(super) fn root(a: u128) -> [u128; 2] {
    let near = double(a).sqrt();
    let mut root = near as u64;
    if a >> 64 != 0 {
        let rest = a.wrapping_sub(u128::from(root) * u128::from(root)) as i128;
        let step = (rest >> 16) as i64 as f64 * 65536.0 / (2.0 * near);
        root = root.saturating_add_signed((step - 0.5) as i64);
    }
    // All ones where the number is negative.
    let mask = |number: i128| number >> 127;
    let next = |root: u64| 2 * i128::from(root) + 1;
    let mut rest = a.wrapping_sub(u128::from(root) * u128::from(root)) as i128;
    let is_above = mask(rest);
    root = root.wrapping_add(is_above as u64);
    rest += next(root) & is_above;
    let is_below = mask(next(root) - 1 - rest);
    rest -= next(root) & is_below;
    root = root.wrapping_sub(is_below as u64);
    [root.into(), rest as u128]
}

/// A double next to a number.
fn double(a: u128) -> f64 {
    ((a >> 64) as u64) as f64 * 18_446_744_073_709_551_616.0 + (a as u64) as f64
}
