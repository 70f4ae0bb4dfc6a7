//! Operations in linear time on long operands.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use warpmp_launch::Spec;

use super::line::{CarryIn, Function, Line, Place, Word};
use super::sequence::Steps;
use super::source::{Above, Bit, Source};
use crate::kernels::{Algorithm, FixedSettings, LongSettings, OperationShape, Order, With, candidates};
use crate::operation::{Operation, division, linear, linear_modular, modular, montgomery, product, product_part};

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "long",
    summary: "rows of any length, a block of threads 7168 limbs, carries from block to block in a second launch",
    accepts: "operands to 16777216 bits, of linear operations that are not modular",
    order: Order::Given,
    fits: |shape| matches!(shape.operation, linear!()),
    recipe: &With::<FixedSettings> { spec: |shape, _, _| spec(shape), candidates: candidates::beyond_groups },
};

/// The kernels.
fn spec(shape: OperationShape) -> Box<dyn Spec> {
    let mut steps = Steps::new(shape, LongSettings::default());
    for line in lines(shape, &steps) {
        steps.line(line);
    }
    steps.finish()
}

fn lines(shape: OperationShape, steps: &Steps) -> Vec<Line> {
    use Operation as O;
    let count = shape.operands().len();
    let plain: Vec<Source> = (0..count).map(|i| steps.operand(i).source()).collect();
    let signed = |i: usize| plain[i].with_above(Above::Sign(sign(steps, i)));
    let low_bit = |i: usize| steps.operand(i).bit(0);
    let result = steps.result(0);
    let constant = shape.operation.constant().unwrap_or(0);
    let zero = Source::constant(0);
    let one = |line: Line| vec![line];
    match shape.operation {
        O::Add | O::WrappingAdd => one(Line::sum(plain[0], plain[1], CarryIn::Zero, result)),
        // Ones above the sum take its carry to the end.
        O::CarryingAdd => one(Line {
            word: Some(Word::Carry(steps.result(1).row)),
            ..Line::sum(plain[0].with_above(Above::Ones(result.bits)), plain[1], CarryIn::Bit(low_bit(2)), result)
        }),
        O::Sub | O::WrappingSub => one(Line::difference(plain[0], plain[1], result)),
        O::BorrowingSub => one(Line {
            word: Some(Word::Borrow(steps.result(1).row)),
            ..Line::sum(plain[0], plain[1].turned(), CarryIn::Bit(low_bit(2).not()), result)
        }),
        O::Neg | O::WrappingNeg => one(Line::difference(zero, plain[0], result)),
        O::SignedAdd => one(Line::sum(signed(0), signed(1), CarryIn::Zero, result)),
        O::SignedSub => one(Line::difference(signed(0), signed(1), result)),
        O::SignedNeg => one(Line::difference(zero, signed(0), result)),
        O::Cmp => one(comparison(shape, [plain[0], plain[1]], result, None)),
        O::SignedCmp => {
            let signs = [0, 1].map(|i| sign(steps, i));
            one(comparison(shape, [signed(0), signed(1)], result, Some(signs)))
        }
        O::Shl(_) | O::WrappingShl(_) => one(Line::copy(plain[0].up(constant), result)),
        O::Shr(_) => one(Line::copy(plain[0].down(constant), result)),
        O::And => one(Line::of(plain[0], Function::And(plain[1]), result)),
        O::Or => one(Line::of(plain[0], Function::Or(plain[1]), result)),
        O::Xor => one(Line::of(plain[0], Function::Xor(plain[1]), result)),
        O::Not => one(Line::copy(plain[0].turned(), result)),
        O::Select => {
            let (a, b) = (plain[1].kept_where(low_bit(0)), plain[2].kept_where(low_bit(0).not()));
            one(Line::of(a, Function::Or(b), result))
        }
        O::SignExtend(_) => one(Line::copy(signed(0), result)),
        // −a = ¬a + 1.
        O::ToSignMagnitude => {
            let sign = sign(steps, 0);
            vec![
                Line::sum(signed(0).turned_where(sign), zero, CarryIn::Bit(sign), result),
                Line::copy(Source::constant(1).kept_where(sign), steps.result(1)),
            ]
        }
        O::FromSignMagnitude => {
            let negative = low_bit(1);
            one(Line::sum(plain[0].turned_where(negative), zero, CarryIn::Bit(negative), result))
        }
        // These groups have rows of their own.
        product!() | product_part!() | linear_modular!() | division!() | modular!() | montgomery!() => Vec::new(),
    }
}

/// The sign of an operand that is a two's complement.
pub(super) fn sign(steps: &Steps, i: usize) -> Bit {
    steps.operand(i).bit(steps.operand_bits(i) - 1)
}

/// The order of two numbers.
fn comparison(shape: OperationShape, [a, b]: [Source; 2], order: Place, signs: Option<[Bit; 2]>) -> Line {
    Line {
        limbs: shape.max_limbs(),
        result: None,
        word: Some(Word::Order(order.row, signs)),
        ..Line::difference(a, b, order)
    }
}
