//! `cpu-parts`: parts of products, products with signs or an addend: a full product by the engine's algorithm for it,
//! then a step in linear time.
//!
//! With the bit patterns `A`, `B` of two's complements of `p` and `q` bits and their signs `s`, `t` the signed product is
//! `A·B − s·B·2^p − t·A·2^q` modulo `2^(p+q)`: `s·t·2^(p+q)` vanishes.

use super::limbs::{add_to, clear_above, shift_left, shift_right, sub_from};
use super::rows::{Piece, RowsMut};
use super::{Algorithm, best};
use crate::operation::{Group, Operation, product_bits};

/// Is it one of these operations?
pub(super) fn serves(operation: Operation) -> bool {
    operation.group() == Group::ProductPart
}

/// Does the operation of a piece.
pub(super) fn run(mut piece: Piece<'_>) {
    let [a, b] = [0, 1].map(|i| piece.operands[i]);
    let (p, q) = (a.bits(), b.bits());
    let bits = product_bits(p, q);
    let limbs = bits.div_ceil(32);
    let RowsMut { words: results, limbs: width, bits: result_bits } = piece.results.swap_remove(0);
    let mut products = vec![0; results.len() / width * limbs];
    let Some(Algorithm { run, .. }) = best(Operation::Mul, &[p, q]) else { return };
    run(Piece {
        operation: Operation::Mul,
        operands: vec![a, b],
        results: vec![RowsMut { words: &mut products, limbs, bits }],
    });
    let mut shifted = vec![0; width];
    let rows = products.chunks_exact(limbs).zip(results.chunks_exact_mut(width));
    for (lane, (product, out)) in rows.enumerate() {
        match piece.operation {
            Operation::MulHi => shift_right(product, p.max(q), out),
            _ => shift_left(product, 0, out),
        }
        match piece.operation {
            // As many limbs as it has and the sum needs: no carry leaves them.
            Operation::MulAdd => _ = add_to(out, piece.operands[2].row(lane)),
            Operation::SignedMul => {
                let (x, y) = (a.row(lane), b.row(lane));
                for (sign_of, bits, other) in [(x, p, y), (y, q, x)] {
                    if sign_of[(bits - 1) / 32] >> ((bits - 1) % 32) & 1 == 1 {
                        shift_left(other, bits, &mut shifted);
                        sub_from(out, &shifted);
                    }
                }
            }
            _ => {}
        }
        clear_above(out, result_bits);
    }
}
