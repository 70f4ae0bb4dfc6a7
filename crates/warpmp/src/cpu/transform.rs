//! `cpu-fft`, `cpu-fft-avx2`: products and squares of long numbers by transforms in vectors of doubles, a lane at a time.
//!
//! The bound, the cost and the sources stand in [`warpmp_simd::fft`].

use warpmp_simd::fft::{Doubles, Multiplier, Plan};

use super::rows::{Piece, Product, Square};

/// Bits of the widest operand.
pub(super) const LIMIT_BITS: usize = 1 << 24;

/// Has this processor the instructions?
pub(super) fn is_available<S: Doubles>() -> bool {
    S::find().is_some()
}

/// The multiplier for these lengths. It must be called only where [`is_available`], on operands within [`LIMIT_BITS`]; it
/// panics elsewhere.
fn multiplier<S: Doubles>(a_bits: usize, b_bits: usize) -> Multiplier<S> {
    let s = S::find().expect("the table offers this algorithm only where it runs");
    let plan = Plan::new(a_bits, b_bits, S::LANES).expect("the table offers this algorithm only for these lengths");
    Multiplier::with_plan(s, plan)
}

/// Multiplies the rows of a piece.
pub(super) fn multiply<S: Doubles>(piece: Piece<'_>) {
    let lanes = piece.lanes();
    let Product { a, b, c, limbs } = piece.product();
    let (a, b) = if a.is_shared() { (b, a) } else { (a, b) };
    let mut multiplier = multiplier::<S>(32 * a.limbs(), 32 * b.limbs());
    let is_prepared = b.is_shared() && lanes > 1;
    if is_prepared {
        multiplier.prepare(b.row(0));
    }
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        if is_prepared {
            multiplier.multiply_prepared(a.row(lane), c);
        } else {
            multiplier.multiply(a.row(lane), b.row(lane), c);
        }
    }
}

/// Squares the rows of a piece.
pub(super) fn square<S: Doubles>(piece: Piece<'_>) {
    let Square { a, c, limbs } = piece.square();
    let mut multiplier = multiplier::<S>(32 * a.limbs(), 32 * a.limbs());
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        multiplier.square(a.row(lane), c);
    }
}
