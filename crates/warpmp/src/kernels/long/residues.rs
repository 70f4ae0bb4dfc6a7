//! Sums and differences modulo long numbers.
//!
//! computes   `a + b`, `a − b`, `−a` modulo `m`, for `a, b < m`
//! cost       some lines: about 10 rows read or written a lane

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
    let [first, second] = [n + 1, n].map(|limbs| steps.reserve(limbs));
    let sum = first.place(32 * (n + 1));
    if shape.operation == Operation::SubMod {
        let negative = steps.reserve(1);
        let [a, b] = [0, 1].map(|i| operands[i].source());
        steps.line(Line { word: Some(Word::Borrow(negative)), ..Line::difference(a, b, sum) });
        let added = m.source().kept_where(negative.bit(0));
        steps.line(Line::sum(first.source(), added, CarryIn::Zero, second.place(32 * n)));
    } else {
        let a = operands[0].source();
        steps.line(match operands.get(1) {
            Some(b) => Line::sum(a, b.source(), CarryIn::Zero, sum),
            None => Line::difference(m.source(), a, sum),
        });
        // The sum, or the modulus itself: at most once the modulus too much.
        let reduced = Line::difference(first.source(), m.source(), second.place(32 * n));
        steps.line(Line { limbs: n + 1, negative: Negative::Restores, ..reduced });
    }
    steps.line(Line::copy(second.source().kept_where(valid), steps.result(0)));
    steps.finish()
}
