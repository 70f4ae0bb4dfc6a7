//! Sums and differences modulo long numbers.
//!
//! computes   `a + b`, `a − b`, `−a` modulo `m`, for `a, b < m`
//! cost       two lines: six rows read or written a lane, and the sum once more where it is less than the modulus

use warpmp_launch::Spec;

use super::line::{CarryIn, Line, Negative, Word};
use super::sequence::Steps;
use super::source::Number;
use super::verdict::Checks;
use crate::kernels::{Algorithm, FixedSettings, LongSettings, OperationShape, Order, With, candidates};
use crate::operation::Operation;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "long-mod",
    summary: "sums of rows of any length, and the modulus subtracted or added where it must be",
    accepts: "sums and differences modulo numbers to 16777216 bits",
    order: Order::Given,
    fits: |shape| matches!(shape.operation, Operation::AddMod | Operation::SubMod | Operation::NegMod),
    recipe: &With::<FixedSettings> { spec: |shape, _, _| spec(shape), candidates: candidates::beyond_groups },
};

fn spec(shape: OperationShape) -> Box<dyn Spec> {
    let mut steps = Steps::new(shape, LongSettings::default());
    let count = shape.operands().len();
    let m = steps.operand(count - 1);
    let operands: Vec<Number> = (0..count - 1).map(|i| steps.operand(i)).collect();
    let valid = Checks { operands: &operands, modulus: m, is_odd: false, is_double: false }.of(&mut steps);
    let n = m.limbs;
    // Where the lane has a fault, all is zero from here on.
    let kept = |it: Number| it.source().kept_where(valid);
    let (first, result) = (steps.reserve(n + 1), steps.result(0));
    let sum = first.place(32 * (n + 1));
    if shape.operation == Operation::SubMod {
        let negative = steps.reserve(1);
        let [a, b] = [0, 1].map(|i| kept(operands[i]));
        steps.line(Line { word: Some(Word::Borrow(negative)), ..Line::difference(a, b, sum) });
        let added = m.source().kept_where(negative.bit(0));
        steps.line(Line::sum(first.source(), added, CarryIn::Zero, result));
    } else {
        let a = kept(operands[0]);
        steps.line(match operands.get(1) {
            Some(&b) => Line::sum(a, kept(b), CarryIn::Zero, sum),
            None => Line::difference(kept(m), a, sum),
        });
        // The sum, or the modulus itself: at most once the modulus too much.
        let reduced = Line::difference(first.source(), m.source(), result);
        steps.line(Line { limbs: n + 1, negative: Negative::Restores, ..reduced });
    }
    steps.finish()
}
