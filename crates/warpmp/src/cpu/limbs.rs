//! Sums, differences, comparisons and shifts of rows of limbs, two limbs at a time.
//!
//! bound: a step computes `x + y + carry ≤ 2·(2⁶⁴ − 1) + 1`, which has 65 bits: the word and the carry.

use std::cmp::Ordering;

use super::rows::{join, split};

/// `out = a + b`; returns the carry. All have the same length.
#[inline]
pub(super) fn add(a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
    words(a, b, out, |x, y, carry| {
        let (sum, first) = x.overflowing_add(y);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (sum, first | second)
    })
}

/// `out = a − b`; returns the borrow. All have the same length.
#[inline]
pub(super) fn sub(a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
    words(a, b, out, |x, y, borrow| {
        let (difference, first) = x.overflowing_sub(y);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (difference, first | second)
    })
}

/// Word by word from below; the last limb of an odd row as a word whose upper half tells the carry.
#[inline]
fn words(a: &[u32], b: &[u32], out: &mut [u32], step: impl Fn(u64, u64, bool) -> (u64, bool)) -> bool {
    let ((x, x_rest), (y, y_rest), (z, z_rest)) = (a.as_chunks::<2>(), b.as_chunks::<2>(), out.as_chunks_mut::<2>());
    let mut carry = false;
    let mut next = |x: &[u32; 2], y: &[u32; 2]| {
        let word;
        (word, carry) = step(join(x[0], x[1]), join(y[0], y[1]), carry);
        split(word)
    };
    if x.len() < 8 {
        for ((x, y), z) in x.iter().zip(y).zip(z) {
            *z = next(x, y);
        }
    } else {
        // Eight words a turn, with the carry in the flag.
        let ((x, x_few), (y, y_few), (z, z_few)) = (x.as_chunks::<8>(), y.as_chunks::<8>(), z.as_chunks_mut::<8>());
        for ((x, y), z) in x.iter().zip(y).zip(z) {
            *z = std::array::from_fn(|i| next(&x[i], &y[i]));
        }
        for ((x, y), z) in x_few.iter().zip(y_few).zip(z_few) {
            *z = next(x, y);
        }
    }
    if let ([x], [y], [z]) = (x_rest, y_rest, z_rest) {
        let [low, high] = split(step((*x).into(), (*y).into(), carry).0);
        (*z, carry) = (low, high != 0);
    }
    carry
}

/// `x ← x + y`; returns the carry. `x` is at least as long.
pub(super) fn add_to(x: &mut [u32], y: &[u32]) -> bool {
    let mut carry = false;
    for (i, limb) in x.iter_mut().enumerate() {
        if i >= y.len() && !carry {
            break;
        }
        let sum = u64::from(*limb) + u64::from(y.get(i).copied().unwrap_or(0)) + u64::from(carry);
        (*limb, carry) = (sum as u32, sum >> 32 != 0);
    }
    carry
}

/// `x ← x − y`; returns the borrow. `x` is at least as long.
pub(super) fn sub_from(x: &mut [u32], y: &[u32]) -> bool {
    let mut borrow = false;
    for (i, limb) in x.iter_mut().enumerate() {
        if i >= y.len() && !borrow {
            break;
        }
        let difference = i64::from(*limb) - i64::from(y.get(i).copied().unwrap_or(0)) - i64::from(borrow);
        (*limb, borrow) = (difference as u32, difference < 0);
    }
    borrow
}

/// The order of two numbers of the same length.
#[inline]
pub(super) fn compare(a: &[u32], b: &[u32]) -> Ordering {
    let differ = a.iter().zip(b).rev().find(|(x, y)| x != y);
    differ.map_or(Ordering::Equal, |(x, y)| x.cmp(y))
}

/// `out = x·2^n`, the limbs that `out` has.
pub(super) fn shift_left(x: &[u32], n: usize, out: &mut [u32]) {
    let (limbs, bits) = ((n / 32).min(out.len()), n % 32);
    let (zeros, out) = out.split_at_mut(limbs);
    zeros.fill(0);
    let kept = x.len().min(out.len());
    let (out, above) = out.split_at_mut(kept);
    let top = if bits == 0 || kept == 0 { 0 } else { x[kept - 1] >> (32 - bits) };
    if bits == 0 {
        out.copy_from_slice(&x[..kept]);
    } else if kept > 0 {
        out[0] = x[0] << bits;
        for (out, x) in out[1..].iter_mut().zip(x.windows(2)) {
            *out = x[1] << bits | x[0] >> (32 - bits);
        }
    }
    if let Some((next, rest)) = above.split_first_mut() {
        *next = top;
        rest.fill(0);
    }
}

/// `out = ⌊x / 2^n⌋`, the limbs that `out` has.
pub(super) fn shift_right(x: &[u32], n: usize, out: &mut [u32]) {
    let (x, bits) = (x.get(n / 32..).unwrap_or_default(), n % 32);
    let kept = x.len().min(out.len());
    let (out, above) = out.split_at_mut(kept);
    above.fill(0);
    if bits == 0 {
        out.copy_from_slice(&x[..kept]);
        return;
    }
    for (out, x) in out.iter_mut().zip(x.windows(2)) {
        *out = x[0] >> bits | x[1] << (32 - bits);
    }
    if let (Some(out), true) = (out.last_mut(), kept == x.len()) {
        *out = x[kept - 1] >> bits;
    }
}

/// Clears what is above so many bits in a row that has `⌈bits / 32⌉` limbs.
#[inline]
pub(super) fn clear_above(row: &mut [u32], bits: usize) {
    if let (1.., Some(top)) = (bits % 32, row.last_mut()) {
        *top &= (1 << (bits % 32)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_at_every_distance() {
        let x = [0x8000_0001_u32, 0xffff_ffff, 0x1234_5678];
        let number = |limbs: &[u32]| limbs.iter().rev().fold(0_u128, |n, limb| n << 32 | u128::from(*limb));
        for n in 0..130 {
            for length in 1..6 {
                let mut out = [9; 5];
                let out = &mut out[..length];
                let kept = |n: u128| if length < 4 { n & ((1 << (32 * length)) - 1) } else { n };
                shift_right(&x, n, out);
                assert_eq!(number(&out[..length.min(4)]), kept(number(&x).checked_shr(n as u32).unwrap_or(0)), "{n}");
                if n + 96 <= 128 || length < 4 {
                    shift_left(&x, n, out);
                    let shifted = number(&x).checked_shl(n as u32).unwrap_or(0);
                    assert_eq!(number(&out[..length.min(4)]), kept(shifted), "{n}, {length}");
                }
            }
        }
    }
}
