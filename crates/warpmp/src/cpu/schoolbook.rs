//! `cpu-schoolbook`: full product, a row at a time, no allocation.
//!
//! computes   c = a·b            a, b: up to 64 words of 64 bits
//! cost       one 64×64 → 128-bit product and two additions with carry a pair of words
//!
//! bound: a step computes `x·y + c + carry ≤ (2⁶⁴−1)² + 2·(2⁶⁴−1) = 2¹²⁸ − 1`: no carry is lost.
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm M.

use warpmp_simd::words::residues::{add_square, product};
use warpmp_simd::words::{self, add_row};

use super::rows::{Piece, Product, Rows, Square, load, load_words, store, store_pair};

/// Words of the widest operand.
const MAX_WORDS: usize = 64;

/// Bits of the widest operand.
pub(super) const LIMIT_BITS: usize = 64 * MAX_WORDS;

/// Multiplies the rows of a piece.
pub(super) fn multiply(piece: Piece<'_>) {
    let work = piece.product();
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
    words::compiled(
        #[inline(always)]
        || {
            for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
                store_pair(&product::<N>(&load_words(a.row(lane)), &load_words(b.row(lane))), c);
            }
        },
    );
}

/// Operands of any two lengths.
fn general(work: Product<'_>) {
    let Product { a, b, c, limbs } = work;
    let (m, n) = (a.limbs().div_ceil(2), b.limbs().div_ceil(2));
    let (mut x, mut y, mut z) = ([0; MAX_WORDS], [0; MAX_WORDS], [0; 2 * MAX_WORDS]);
    let (x, y, z) = (&mut x[..m], &mut y[..n], &mut z[..m + n]);
    words::compiled(
        #[inline(always)]
        || {
            for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
                load(a.row(lane), x);
                load(b.row(lane), y);
                z.fill(0);
                for (i, x) in x.iter().enumerate() {
                    z[i + n] = add_row(*x, y, &mut z[i..i + n]);
                }
                store(z, c);
            }
        },
    );
}

/// Squares the rows of a piece.
pub(super) fn square(piece: Piece<'_>) {
    let Square { a, c, limbs } = piece.square();
    match a.limbs().div_ceil(2) {
        // What a square saves is less than what the doubling costs.
        1 => fixed::<1>(Product { a, b: a, c, limbs }),
        2 => fixed::<2>(Product { a, b: a, c, limbs }),
        3 => square_words::<3>(a, c, limbs),
        4 => square_words::<4>(a, c, limbs),
        5 | 6 => square_words::<6>(a, c, limbs),
        7 | 8 => square_words::<8>(a, c, limbs),
        9..=16 => square_words::<16>(a, c, limbs),
        17..=32 => square_words::<32>(a, c, limbs),
        _ => square_words::<MAX_WORDS>(a, c, limbs),
    }
}

/// Rows of at most `N` words.
fn square_words<const N: usize>(a: Rows<'_>, c: &mut [u32], limbs: usize) {
    // Short rows of a longer `N` need no more than their own words; of exactly `N`, the compiler unrolls.
    let n = if N <= 8 { N } else { a.limbs().div_ceil(2) };
    words::compiled(
        #[inline(always)]
        || {
            for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
                let mut x = [0; N];
                load(a.row(lane), &mut x);
                let mut z = [[0; N]; 2];
                let words = z.as_flattened_mut();
                add_square(&x[..n], &mut words[..2 * n]);
                store(words, c);
            }
        },
    );
}
