//! `lcm`: least common multiples.
//!
//! computes   `lcm(a, b) = a/g·b` with `g = gcd(a, b)`; of 0 and any number it is 0
//! cost       that of a divisor, a division and a product
//!
//! In three stages: `g`, `a/g`, the product.
//!
//! bound: `a/g·b ≤ a·b`, of `p + q` bits. Where `g = 0`, both are 0, and division by zero gives 0.

use warpmp_launch::{Binding, Part, Sequence};

use super::super::OperationShape;
use super::division::{Division, Parts};
use super::gcd::Gcd;
use super::{OperandShape, product_of};

/// The kernels for these operands. Parameters of their launches: `a`, `b`, the result, lanes, scratch.
pub(super) fn stages(a: OperandShape, b: OperandShape, asynchronous: bool) -> Sequence {
    use Binding::{Parameter, Scratch};
    let wide = a.limbs().max(b.limbs());
    let mut scratch = 0;
    let mut rows = |limbs: u32| {
        scratch += limbs;
        Scratch(scratch - limbs)
    };
    let [divisor, quotient, rest, status] = [wide, a.limbs(), wide, 1].map(&mut rows);
    let part = OperandShape::each(a.bits);
    // A common factor is the second one, else the shorter.
    let factors = if b.common || a.limbs() >= b.limbs() {
        [(part, quotient), (b, Parameter(1))]
    } else {
        [(b, Parameter(1)), (part, quotient)]
    };
    let [first, second] = factors.map(|(operand, _)| operand.whole());
    let shape = OperationShape::product(first, second).truncated((a.bits + b.bits).div_ceil(32));
    let parts = vec![
        Part { spec: Box::new(Gcd::new(a, b)), bindings: vec![Parameter(0), Parameter(1), divisor] },
        Part {
            spec: Box::new(Division::new(a, OperandShape::each(32 * wide), Parts::Both)),
            bindings: vec![Parameter(0), divisor, quotient, rest, status],
        },
        Part { spec: product_of(shape, asynchronous), bindings: vec![factors[0].1, factors[1].1, Parameter(2)] },
    ];
    Sequence {
        name: format!("lcm{}{}b{}b{}", a.name(), b.name(), a.bits, b.bits),
        rows: 3,
        parts,
        scratch,
        whole_tiles: true,
    }
}
