//! Several lanes at a time in vectors: `cpu-ifma` with AVX-512 IFMA, `cpu-avx2` with AVX2 and FMA.
//!
//! computes   products and squares; quotients, remainders, modular products; Montgomery's products and reductions; powers
//!            and strong tests; greatest common divisors and inverses. Of a group of lanes at once, any lengths up to
//!            [`product_bits`] and [`divisor_bits`]
//! requires   a proof that the processor has the instructions: [`is_available`]
//! cost       with AVX-512 IFMA m·n/4 multiply-adds of 512 bits for a product of m × n digits, less by Karatsuba's method for long numbers;
//!            conversions in proportion to m + n. The others: see the files of `warpmp-simd`
//!
//! ```text
//! rows of limbs ─► warpmp_simd::digits ─► vectors: digit i of each lane ─► … ─► warpmp_simd::digits ─► rows
//!
//! group.rs       the lanes of a vector: their rows and their faults
//! forms.rs       the way into Montgomery's form
//! modular.rs  residues.rs  power.rs  divisors.rs  cofactors.rs  roots.rs   the operations, group by group
//! ```

mod cofactors;
mod divisors;
mod forms;
mod group;
mod modular;
mod power;
mod residues;
mod roots;

use warpmp_simd::{MAX_LANES, Simd, digits, division, product, square};

use super::general;
use super::reduction::Residue;
use super::rows::{Piece, Product, Rows, Square};
pub(super) use modular::Dividend;
pub(super) use power::Power;

/// Bits of the widest divisor.
pub(super) const fn divisor_bits<S: Simd>() -> usize {
    division::MAX_DIGITS * S::DIGIT_BITS - 1
}

/// Bits of the widest operand of a product.
pub(super) const fn product_bits<S: Simd>() -> usize {
    S::MAX_DIGITS * S::DIGIT_BITS
}

/// Has this processor the instructions?
pub(super) fn is_available<S: Simd>() -> bool {
    S::detect().is_some()
}

/// The proof that it has them. Like all functions of this file that take a piece it must be called only where
/// [`is_available`]; it panics elsewhere.
fn proof<S: Simd>() -> S {
    S::detect().expect("the table offers this algorithm only where it runs")
}

/// Multiplies the rows of a piece.
pub(super) fn multiply<S: Simd>(piece: Piece<'_>) {
    multiply_vectors(proof::<S>(), piece.product());
}

/// Squares the rows of a piece.
pub(super) fn square<S: Simd>(piece: Piece<'_>) {
    square_vectors(proof::<S>(), piece.square());
}

/// Divides the rows of a piece.
pub(super) fn divide<S: Simd>(piece: Piece<'_>, dividend: Dividend) {
    modular::run(proof::<S>(), piece, dividend);
}

/// Montgomery's reduction of the rows of a piece.
pub(super) fn reduce<S: Simd>(piece: Piece<'_>, residue: Residue) {
    residues::run(proof::<S>(), piece, residue);
}

/// Powers or strong tests of a piece, powers modulo even numbers by another algorithm.
pub(super) fn power<S: Simd>(mut piece: Piece<'_>, power: Power) {
    let even = power::run(proof::<S>(), &mut piece, power);
    if !even.is_empty() {
        general::pow_mod_lanes(&mut piece, even);
    }
}

/// Square roots of a piece.
pub(super) fn sqrt<S: Simd>(piece: Piece<'_>) {
    roots::run(proof::<S>(), piece);
}

/// Greatest common divisors of a piece.
pub(super) fn gcd<S: Simd>(piece: Piece<'_>) {
    divisors::gcd(proof::<S>(), piece);
}

/// Greatest common divisors of a piece with cofactors, of some lanes by another algorithm.
pub(super) fn gcd_ext<S: Simd>(mut piece: Piece<'_>) {
    let undone = cofactors::run(proof::<S>(), &mut piece);
    general::gcd_ext_lanes(&mut piece, undone);
}

/// Inverses of a piece, modulo even numbers by another algorithm.
pub(super) fn inverse<S: Simd>(mut piece: Piece<'_>) {
    let even = divisors::inverse(proof::<S>(), &mut piece);
    general::inv_mod_lanes(&mut piece, even);
}

fn multiply_vectors<S: Simd>(s: S, work: Product<'_>) {
    let Product { a, b, c, limbs } = work;
    let (m, n) = (digits::count::<S>(a.limbs()), digits::count::<S>(b.limbs()));
    let words = [a.limbs(), b.limbs(), limbs].map(digits::words::<S>).into_iter().max().unwrap_or(0);
    let mut memory = vec![s.zero(); 2 * (m + n) + words + product::scratch::<S>(m, n)];
    let (x, rest) = memory.split_at_mut(m);
    let (y, rest) = rest.split_at_mut(n);
    let (z, rest) = rest.split_at_mut(m + n);
    let (words, scratch) = rest.split_at_mut(words);
    let lanes = c.len() / limbs;
    for (group, c) in c.chunks_mut(S::LANES * limbs).enumerate() {
        let first = group * S::LANES;
        let filled = S::LANES.min(lanes - first);
        if group == 0 || !a.is_shared() {
            digits::load(s, &rows(a, first, filled), words, x);
        }
        if group == 0 || !b.is_shared() {
            digits::load(s, &rows(b, first, filled), words, y);
        }
        product::mul(s, x, y, z, scratch);
        digits::store(s, z, words, c, limbs);
    }
}

fn square_vectors<S: Simd>(s: S, work: Square<'_>) {
    let Square { a, c, limbs } = work;
    let m = digits::count::<S>(a.limbs());
    let words = digits::words::<S>(a.limbs()).max(digits::words::<S>(limbs));
    let mut memory = vec![s.zero(); 3 * m + words + square::scratch::<S>(m)];
    let (x, rest) = memory.split_at_mut(m);
    let (z, rest) = rest.split_at_mut(2 * m);
    let (words, scratch) = rest.split_at_mut(words);
    let lanes = c.len() / limbs;
    for (group, c) in c.chunks_mut(S::LANES * limbs).enumerate() {
        let first = group * S::LANES;
        let filled = S::LANES.min(lanes - first);
        digits::load(s, &rows(a, first, filled), words, x);
        square::sqr(s, x, z, scratch);
        digits::store(s, z, words, c, limbs);
    }
}

/// The rows of a group; missing ones are empty.
fn rows(of: Rows<'_>, first: usize, filled: usize) -> [&[u32]; MAX_LANES] {
    let mut rows = [&[][..]; MAX_LANES];
    for (lane, row) in rows[..filled].iter_mut().enumerate() {
        *row = of.row(first + lane);
    }
    rows
}
