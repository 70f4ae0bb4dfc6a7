//! `cpu-schoolbook`: full product, a row at a time, no allocation.
//!
//! computes   c = a·b            a, b: up to 64 words of 64 bits
//! cost       one 64×64 → 128-bit product and two additions with carry a pair of words
//!
//! bound: a step computes `x·y + c + carry ≤ (2⁶⁴−1)² + 2·(2⁶⁴−1) = 2¹²⁸ − 1`: no carry is lost.
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm M.

use super::rows::{Piece, Product, join, load, split, store};

/// Words of the widest operand.
const MAX_WORDS: usize = 64;

/// Bits of the widest operand.
pub(super) const LIMIT_BITS: usize = 64 * MAX_WORDS;

/// Multiplies the rows of a piece.
pub(super) fn multiply(piece: Piece<'_>) {
    product(piece.product());
}

/// Squares the rows of a piece.
pub(super) fn square(piece: Piece<'_>) {
    product(piece.square());
}

fn product(work: Product<'_>) {
    match work.a.limbs().max(work.b.limbs()).div_ceil(2) {
        1 => fixed::<1>(work),
        2 => fixed::<2>(work),
        3 => fixed::<3>(work),
        4 => fixed::<4>(work),
        5 | 6 => fixed::<6>(work),
        7 | 8 => fixed::<8>(work),
        _ => general(work),
    }
}

/// Operands of at most `N` words: the compiler unrolls all loops and keeps the words in registers.
fn fixed<const N: usize>(work: Product<'_>) {
    let Product { a, b, c, limbs } = work;
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        let (x, y) = (load_fixed::<N>(a.row(lane)), load_fixed::<N>(b.row(lane)));
        let mut z = [[0; N]; 2];
        let words = z.as_flattened_mut();
        for (i, x) in x.into_iter().enumerate() {
            words[i + N] = add_row(x, &y, &mut words[i..i + N]);
        }
        store_fixed(&z, c);
    }
}

/// [`load`], for rows of exactly `N` words without a loop.
#[inline]
fn load_fixed<const N: usize>(limbs: &[u32]) -> [u64; N] {
    if let (pairs, []) = limbs.as_chunks::<2>()
        && let Ok(pairs) = <&[[u32; 2]; N]>::try_from(pairs)
    {
        return pairs.map(|[low, high]| join(low, high));
    }
    let mut words = [0; N];
    load(limbs, &mut words);
    words
}

/// [`store`], for rows of exactly `2N` words without a loop.
#[inline]
fn store_fixed<const N: usize>(words: &[[u64; N]; 2], limbs: &mut [u32]) {
    if let (pairs, []) = limbs.as_chunks_mut::<2>()
        && let Some((low, high)) = pairs.split_first_chunk_mut::<N>()
        && let Ok(high) = <&mut [[u32; 2]; N]>::try_from(high)
    {
        *low = words[0].map(split);
        *high = words[1].map(split);
    } else {
        store(words.as_flattened(), limbs);
    }
}

/// Operands of any two lengths.
fn general(work: Product<'_>) {
    let Product { a, b, c, limbs } = work;
    let (m, n) = (a.limbs().div_ceil(2), b.limbs().div_ceil(2));
    let (mut x, mut y, mut z) = ([0; MAX_WORDS], [0; MAX_WORDS], [0; 2 * MAX_WORDS]);
    let (x, y, z) = (&mut x[..m], &mut y[..n], &mut z[..m + n]);
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        load(a.row(lane), x);
        load(b.row(lane), y);
        z.fill(0);
        for (i, x) in x.iter().enumerate() {
            z[i + n] = add_row(*x, y, &mut z[i..i + n]);
        }
        store(z, c);
    }
}

/// `z += x·y`; returns the carry.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the fixed lengths must reach the loop")]
fn add_row(x: u64, y: &[u64], z: &mut [u64]) -> u64 {
    let mut carry = 0;
    for (z, y) in z.iter_mut().zip(y) {
        let sum = u128::from(x) * u128::from(*y) + u128::from(*z) + u128::from(carry);
        *z = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}
