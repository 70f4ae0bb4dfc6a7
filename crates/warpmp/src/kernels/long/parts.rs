//! Parts of products of more than 2048 bits: the product by `tensor` or `fft`, then lines.
//!
//! cost       the product, and its limbs written and read once more; `mul_lo`, `mul_add` and `signed_mul` of whole limbs by a transform in a block: the
//!            product alone; `mul_lo` of equally long factors of 513 to 1280 limbs: the low half by `tensor`

use warpmp_launch::Spec;

use super::line::{CarryIn, Line, MOST_PACKED_LIMBS, Terms};
use super::linear::sign;
use super::product::Extra;
use super::sequence::{Steps, by_products};
use super::source::Source;
use crate::kernels::fft::large::Large;
use crate::kernels::{Algorithm, LongSettings, OperandShape, OperationShape, Order};
use crate::operation::{Operation, division, linear, linear_modular, modular, montgomery, product};

/// Bits of the longer factor, at least.
const LEAST_BITS: u32 = 2049;

/// Limbs of the longest factors whose lines have whole tiles: those of products by `tensor`.
const TILE_LIMBS: u32 = 512;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "long",
    summary: "the product by `tensor` or `fft`, then sums of rows of any length, unless a transform takes in what is added",
    accepts: "factors whose longer one has 2049 to 16777216 bits, on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

fn fits(shape: OperationShape) -> bool {
    let [a, b] = [0, 1].map(|i| OperandShape::each(shape.operands()[i].bits));
    let product = OperationShape::product(a, b);
    product.max_bits() >= LEAST_BITS && Large::new(product).is_some()
}

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    let steps = Steps::new(shape, settings);
    let [a, b] = [0, 1].map(|i| steps.operand(i));
    let longest = a.limbs.max(b.limbs);
    let mut steps = if longest <= TILE_LIMBS { steps.with_whole_tiles(MOST_PACKED_LIMBS) } else { steps };
    let result = steps.result(0);
    if shape.operation == Operation::MulLo && result.bits.is_multiple_of(32) && longest > TILE_LIMBS {
        steps.multiply(a, b, result.row);
        return steps.finish();
    }
    if let Some(extra) = extra(shape, &steps)
        && result.row.limbs <= a.limbs + b.limbs
        && steps.takes_in([a, b], extra, result.row.limbs)
    {
        steps.multiply_with([a, b], extra, result.row);
        return steps.finish();
    }
    let product = steps.product(a, b);
    if shape.operation == Operation::SignedMul {
        // With the bit patterns A, B and the signs s, t it is A·B − s·B·2^p − t·A·2^q modulo 2^(p+q).
        // A complement is a negative number less 1.
        let less = |i: usize, other: usize| {
            let row = steps.operand(other).source().up(steps.operand_bits(i));
            Some(row.kept_where(sign(&steps, i)).turned())
        };
        let rows = [less(0, 1), less(1, 0), Some(Source::constant(2))];
        steps.line(Line::terms(product.source(), Terms { rows, multiple: None, words: None }, result));
        return steps.finish();
    }
    let product = product.source();
    let added = shape.operation == Operation::MulAdd;
    let dropped = if shape.operation == Operation::MulHi { shape.max_bits() } else { 0 };
    steps.line(if added {
        Line::sum(product, steps.operand(2).source(), CarryIn::Zero, result)
    } else {
        Line::copy(product.down(dropped), result)
    });
    steps.finish()
}

/// What a product has besides its factors, if a transform may take it in.
fn extra(shape: OperationShape, steps: &Steps) -> Option<Extra> {
    match shape.operation {
        Operation::MulAdd => Some(Extra::Addend(steps.operand(2))),
        Operation::SignedMul => {
            let has_whole_limbs = shape.operands().iter().all(|it| it.bits.is_multiple_of(32));
            has_whole_limbs.then_some(Extra::Signs)
        }
        Operation::MulLo
        | Operation::MulHi
        | product!()
        | linear!()
        | linear_modular!()
        | division!()
        | modular!()
        | montgomery!() => None,
    }
}
