//! `fft-wraparound`: products and squares that are somewhat longer than a fast transform. The transform has the product modulo `Bⁿ + 1`; a short product tells
//! the limbs that come back.
//!
//! cost       a product of `n / 2` limbs by `fft`, the low half of a product of `h` limbs, those above `n`, by `tensor` or `fft`, and one pass over `h` limbs: `unwrap.rs`
//! source     the wrap-around trick: Brent and Zimmermann, "Modern Computer Arithmetic" (2010), for results of which some limbs are known. That a short
//!            product makes them known is ours.

use super::product::Extra;
use super::sequence::{Steps, by_products};
use crate::kernels::fft::wrapped_limbs;
use crate::kernels::{Algorithm, OperationShape, Order};

/// The limbs `n` of the longest transform that a block has unless it is asked to have a longer one.
const MOST_LIMBS: u32 = 4096;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "fft-wraparound",
    summary: "a product modulo `Bⁿ + 1` by `fft`, and the limbs above it by the product of the lower limbs",
    accepts: "factors of 8193 to 12256, 16385 to 24544 or 32769 to 245728 bits, about equally long; on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &by_products(|shape, settings, _| {
        let mut steps = Steps::new(shape, *settings);
        let [a, b] = [0, 1].map(|i| steps.operand(i.min(shape.operands().len() - 1)));
        let n = wrapped_limbs(a.limbs, b.limbs).expect("the operands fit");
        let result = steps.result(0).row;
        // Few GPUs have the shared memory of longer blocks. On others the product takes four steps.
        if n <= MOST_LIMBS || settings.blocks == Some(true) {
            steps.multiply_wrapped([a, b], Extra::Nothing, n, result);
        } else {
            steps.multiply(a, b, result);
        }
        steps.finish()
    }),
};

/// The row of the register for squares.
pub(in super::super) const SQUARES: Algorithm = Algorithm {
    summary: "a square modulo `Bⁿ + 1` by `fft`, and the limbs above it by the square of the lower limbs",
    ..ALGORITHM
};

/// Is the product longer than a transform, and are the factors short enough?
fn fits(shape: OperationShape) -> bool {
    let operands = shape.operands();
    let [a, b] = [0, 1].map(|i| operands[i.min(operands.len() - 1)].limbs());
    wrapped_limbs(a, b).is_some()
}
