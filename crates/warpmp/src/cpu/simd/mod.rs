//! `cpu-ifma`: eight lanes at a time in 52-bit digits, on processors with AVX-512 IFMA.
//!
//! computes   products and squares; quotients, remainders, modular products; Montgomery's products and reductions; powers
//!            and strong tests; greatest common divisors and inverses. Of eight lanes at once, any lengths up to
//!            [`LIMIT_BITS`] and [`MODULAR_LIMIT_BITS`]
//! requires   AVX-512 F, DQ, IFMA, VBMI2 (Ice Lake, Zen 4 and later): [`is_available`]
//! cost       m·n/4 multiply-adds of 512 bits for a product of m × n digits, less by Karatsuba above
//!            `product::KARATSUBA_DIGITS`; conversions in proportion to m + n. The others: see their files
//!
//! ```text
//! rows of limbs ─► digits.rs ─► vectors: digit i of eight lanes ─► … ─► digits.rs ─► rows
//!
//! product.rs  square.rs                  products of vectors
//! division.rs  montgomery.rs  divsteps.rs  what is done with a modulus: eight of them
//! shift.rs                               shifts by another distance a lane
//! group.rs                               eight lanes of a piece: their rows and their faults
//! modular.rs  residues.rs  power.rs  divisors.rs   the operations, group by group
//! ```
//!
//! bound: a column of an m × n product has at most min(m, n) low and as many high halves, each
//! below 2⁵²: with min(m, n) ≤ 2047 it stays below 2⁶⁴ together with the carry from below. Carries
//! are therefore propagated once, at the end.
//! source: Gueron, Krasnov, Software Implementation of Modular Exponentiation, Using Advanced Vector
//! Instructions Architectures, 2012 (carry-free columns); Drucker, Gueron, Fast modular squaring with
//! AVX512IFMA, 2019.
#![allow(unsafe_code)]

mod digits;
mod division;
mod divisors;
mod divsteps;
mod group;
mod modular;
mod montgomery;
mod power;
mod product;
mod residues;
mod shift;
mod square;

use std::arch::x86_64::_mm512_setzero_si512;

use super::general;
use super::reduction::Residue;
use super::rows::{Piece, Product, Rows, Square};
pub(super) use modular::Dividend;
pub(super) use power::Power;

/// Lanes of a vector.
const LANES: usize = 8;
/// Bits of a digit.
const DIGIT_BITS: usize = 52;
/// Bits of the widest operand: 2047 digits.
pub(super) const LIMIT_BITS: usize = 2047 * DIGIT_BITS;
/// Bits of the widest modulus or divisor.
pub(super) const MODULAR_LIMIT_BITS: usize = division::MAX_DIGITS * DIGIT_BITS - 1;

/// Has this processor the instructions?
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vbmi2")
}

/// Multiplies the rows of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn multiply(piece: Piece<'_>) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    unsafe { multiply_vectors(piece.product()) }
}

/// Squares the rows of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn square(piece: Piece<'_>) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    unsafe { square_vectors(piece.square()) }
}

/// Divides the rows of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn divide(piece: Piece<'_>, dividend: Dividend) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    unsafe { modular::run(piece, dividend) }
}

/// Montgomery's reduction of the rows of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn reduce(piece: Piece<'_>, residue: Residue) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    unsafe { residues::run(piece, residue) }
}

/// Powers or strong tests of a piece, powers modulo even numbers by another algorithm. Must be called only where
/// [`is_available`]; panics elsewhere.
pub(super) fn power(mut piece: Piece<'_>, power: Power) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    let even = unsafe { power::run(&mut piece, power) };
    if !even.is_empty() {
        general::pow_mod_lanes(&mut piece, even);
    }
}

/// Greatest common divisors of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn gcd(piece: Piece<'_>) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    unsafe { divisors::gcd(piece) }
}

/// Inverses of a piece, modulo even numbers by another algorithm. Must be called only where [`is_available`]; panics
/// elsewhere.
pub(super) fn inverse(mut piece: Piece<'_>) {
    assert!(is_available(), "the table offers this algorithm only where it runs");
    // SAFETY: the processor has the features that the function is compiled for: just asserted.
    let even = unsafe { divisors::inverse(&mut piece) };
    general::inv_mod_lanes(&mut piece, even);
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
fn multiply_vectors(work: Product<'_>) {
    let Product { a, b, c, limbs } = work;
    let (m, n) = (digits::count(a.limbs()), digits::count(b.limbs()));
    let words = [a.limbs(), b.limbs(), limbs].map(digits::words).into_iter().max().unwrap_or(0);
    let mut memory = vec![_mm512_setzero_si512(); 2 * (m + n) + words + product::scratch(m, n)];
    let (x, rest) = memory.split_at_mut(m);
    let (y, rest) = rest.split_at_mut(n);
    let (z, rest) = rest.split_at_mut(m + n);
    let (words, scratch) = rest.split_at_mut(words);
    let lanes = c.len() / limbs;
    for (group, c) in c.chunks_mut(LANES * limbs).enumerate() {
        let first = group * LANES;
        let filled = LANES.min(lanes - first);
        if group == 0 || !a.is_shared() {
            digits::load(&rows(a, first, filled), words, x);
        }
        if group == 0 || !b.is_shared() {
            digits::load(&rows(b, first, filled), words, y);
        }
        product::mul(x, y, z, scratch);
        digits::store(z, words, c, limbs);
    }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
fn square_vectors(work: Square<'_>) {
    let Square { a, c, limbs } = work;
    let m = digits::count(a.limbs());
    let words = digits::words(a.limbs()).max(digits::words(limbs));
    let mut memory = vec![_mm512_setzero_si512(); 3 * m + words + square::scratch(m)];
    let (x, rest) = memory.split_at_mut(m);
    let (z, rest) = rest.split_at_mut(2 * m);
    let (words, scratch) = rest.split_at_mut(words);
    let lanes = c.len() / limbs;
    for (group, c) in c.chunks_mut(LANES * limbs).enumerate() {
        let first = group * LANES;
        let filled = LANES.min(lanes - first);
        digits::load(&rows(a, first, filled), words, x);
        square::sqr(x, z, scratch);
        digits::store(z, words, c, limbs);
    }
}

/// The rows of a group, the last of which may have fewer than eight.
fn rows(of: Rows<'_>, first: usize, filled: usize) -> [&[u32]; LANES] {
    let mut rows = [&[][..]; LANES];
    for (lane, row) in rows[..filled].iter_mut().enumerate() {
        *row = of.row(first + lane);
    }
    rows
}
