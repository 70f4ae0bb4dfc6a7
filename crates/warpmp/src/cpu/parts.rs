//! `cpu-parts`: parts of products, products with signs or an addend: a full product by the engine's algorithm for it,
//! then a step in linear time.
//!
//! With the bit patterns `A`, `B` of two's complements of `p` and `q` bits and their signs `s`, `t` the signed product is
//! `A·B − s·B·2^p − t·A·2^q` modulo `2^(p+q)`: `s·t·2^(p+q)` vanishes.

use super::algorithms::{self, Algorithm};
use super::limbs::{add_to, clear_above, shift_left, shift_right, sub_from};
use super::rows::{Piece, RowsMut};
use crate::operation::{Operation, product_bits};

/// The step after the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Keeps the low bits.
    Low,
    /// Keeps the high bits.
    High,
    /// Adds the third operand.
    Sum,
    /// Corrects for the signs of two's complements.
    Signed,
}

/// Computes a part of the products of a piece.
pub(super) fn run(mut piece: Piece<'_>, part: Part) {
    let [a, b] = [0, 1].map(|i| piece.operands[i]);
    let (p, q) = (a.bits(), b.bits());
    let bits = product_bits(p, q);
    let limbs = bits.div_ceil(32);
    let RowsMut { words: results, limbs: width, bits: result_bits } = piece.results.swap_remove(0);
    let mut products = vec![0; results.len() / width * limbs];
    let Some(Algorithm { run, .. }) = algorithms::best(Operation::Mul, &[p, q], results.len() / width) else { return };
    run(Piece {
        operation: Operation::Mul,
        operands: vec![a, b],
        results: vec![RowsMut { words: &mut products, limbs, bits }],
    });
    let mut shifted = vec![0; width];
    let rows = products.chunks_exact(limbs).zip(results.chunks_exact_mut(width));
    for (lane, (product, out)) in rows.enumerate() {
        let skipped = if part == Part::High { p.max(q) } else { 0 };
        shift_right(product, skipped, out);
        match part {
            Part::Low | Part::High => {}
            // As many limbs as it has and the sum needs: no carry leaves them.
            Part::Sum => _ = add_to(out, piece.operands[2].row(lane)),
            Part::Signed => {
                let (x, y) = (a.row(lane), b.row(lane));
                for (sign_of, bits, other) in [(x, p, y), (y, q, x)] {
                    if sign_of[(bits - 1) / 32] >> ((bits - 1) % 32) & 1 == 1 {
                        shift_left(other, bits, &mut shifted);
                        sub_from(out, &shifted);
                    }
                }
            }
        }
        clear_above(out, result_bits);
    }
}
