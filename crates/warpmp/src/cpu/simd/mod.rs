//! Several lanes at a time in vectors: `cpu-ifma` with AVX-512 IFMA, `cpu-avx2` with AVX2.
//!
//! computes   products and squares; quotients, remainders, modular products; Montgomery's products and reductions; powers
//!            and strong tests; greatest common divisors and inverses. Of a group of lanes at once, any lengths up to
//!            [`product_limit_bits`] and [`MODULAR_LIMIT_BITS`]
//! requires   a proof that the processor has the instructions: [`is_available`]
//! cost       m·n/4 multiply-adds of 512 bits for a product of m × n digits, less by Karatsuba's method for long numbers;
//!            conversions in proportion to m + n. The others: see the files of `warpmp-simd`
//!
//! ```text
//! rows of limbs ─► warpmp_simd::digits ─► vectors: digit i of each lane ─► … ─► warpmp_simd::digits ─► rows
//!
//! group.rs       the lanes of a vector: their rows and their faults
//! forms.rs       the way into Montgomery's form
//! modular.rs  residues.rs  power.rs  divisors.rs   the operations, group by group
//! ```
#![allow(unsafe_code)]

mod divisors;
mod forms;
mod group;
mod modular;
mod power;
mod residues;

use warpmp_simd::{Ifma, MAX_LANES, Simd, digits, division, product, square};

use super::general;
use super::rows::{Piece, Product, Rows, Square};
use crate::operation::Operation;

/// Bits of the widest modulus or divisor.
pub(super) const MODULAR_LIMIT_BITS: usize = division::MAX_DIGITS * Ifma::DIGIT_BITS - 1;

/// Bits of the widest operand of a product.
pub(super) const fn product_limit_bits<S: Simd>() -> usize {
    S::MAX_DIGITS * S::DIGIT_BITS
}

/// Has this processor the instructions?
pub(super) fn is_available<S: Simd>() -> bool {
    S::detect().is_some()
}

/// The proof that it has them. Must be called only where [`is_available`]; panics elsewhere.
fn proof<S: Simd>() -> S {
    S::detect().expect("the table offers this algorithm only where it runs")
}

/// Multiplies the rows of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn multiply<S: Simd>(piece: Piece<'_>) {
    multiply_vectors(proof::<S>(), piece.product());
}

/// Squares the rows of a piece. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn square<S: Simd>(piece: Piece<'_>) {
    square_vectors(proof::<S>(), piece.square());
}

/// Does the operation of a piece have vectors for modular arithmetic?
pub(super) fn serves(operation: Operation) -> bool {
    let divisors = matches!(operation, Operation::Gcd | Operation::InvMod);
    divisors || is_division(operation) || is_reduction(operation) || is_power(operation)
}

fn is_division(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::MulMod | O::SqrMod | O::Reduce | O::ToMont | O::DivRem | O::Rem)
}

fn is_reduction(operation: Operation) -> bool {
    matches!(operation, Operation::MontMul | Operation::MontSqr | Operation::FromMont | Operation::Redc)
}

fn is_power(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::PowMod | O::PowModPublic(_) | O::StrongTest(_) | O::MillerRabin)
}

/// Does the operation of a piece, one that it [`serves`]. Must be called only where [`is_available`]; panics elsewhere.
pub(super) fn modular(mut piece: Piece<'_>) {
    let s = proof::<Ifma>();
    match piece.operation {
        it if is_division(it) => modular::run(s, piece),
        it if is_power(it) => power::run::<_, forms::ByDivision>(s, piece),
        Operation::Gcd => divisors::gcd(s, piece),
        Operation::InvMod => {
            let even = divisors::inverse(s, &mut piece);
            general::run_lanes(&mut piece, even);
        }
        _ => residues::run(s, piece),
    }
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
