//! Quotients and remainders of long numbers by Newton's iteration on products.
//!
//! computes   `q = ⌊a / d⌋`, `r = a mod d`; `a·b mod m`; `a / d` where nothing remains; a zero divisor or a remainder is the lane's
//!            status
//! cost       in products of two numbers of `n` limbs: the reciprocal about 3, each block of the quotient 2. `n`: the limbs of
//!            the divisor, or half of the dividend's if these are more. A quotient has one block or two
//!
//! The divisor and the dividend go up until the divisor's highest one is at the top of `n` limbs: lanes differ in the
//! distance alone. From then on all lanes do the same. Where all lanes have one divisor, its reciprocal is computed once a
//! launch.
//!
//! Exact divisions have the same steps. From below, by the inverse of `d` modulo a power of two, they would take longer: a divisor of
//! any lane may be short, so the inverse would need as many limbs as the dividend has.
//!
//! **Reciprocal.** `B = 2³²`, `D_k` the upper `k` limbs of the divisor `D`. `X_k = B^k + Y_k` is close to `B^2k / D_k` and never
//! greater than `B^2k / (D_k + 1)`. The first one, of a few hundred limbs, comes from the division of short numbers. From `h`
//! limbs to `n`, `2h ≥ n + 2`, a step is
//!
//! ```text
//! e = B^(n+h) − D_n·X_h             not negative
//! f = ⌊(e − 1) / B^(n−h+1)⌋         h limbs
//! Y_n = Y_h·B^(n−h) + ⌊f·X_h / B^(3h−n−1)⌋ − 4, the last two terms at least 0
//! ```
//!
//! **Quotient.** From the top, for the remainder `R < D` and a block `A` of the dividend, `V = R·B^n + A`: `q = R + ⌊R·Y / B^n⌋` is at
//! most 3 less than `⌊V / D⌋`. So `V − q·D < 4D`, and `2D` and `D` are subtracted where the difference is not negative.
//!
//! bound: let `X_h ≥ B^2h/D_h − 7`. In units of `X_n` the step's error before cutting is at most `49·B^(n−2h) ≤ 49/B²`; cutting `e` costs
//! at most `2/B`, cutting the product at most `1 + 1/B`, and the 4 that is subtracted keeps `X_n ≤ B^2n / (D_n + 1)`, as the two sides of
//! this differ from `B^2n / D_n` by at most 4. So `X_n ≥ B^2n/D_n − 6`. Where the 4 would make the sum negative, `X_n = X_h·B^(n−h)`
//! is small enough, too. The last step needs no 4, and errs by less than `1 + 3/B`. Then `V/D − (R + R·Y/B^n)` is at
//! most `B^n/D + R·(1 + 3/B)/B^n < 2.51`, as it is convex in `D` between `B^n/2` and `B^n`; rounding down makes it less than 3.51.
//!
//! sources: R. Brent, P. Zimmermann, Modern Computer Arithmetic, 2010, section 3.4.1; the margins and the blocks are ours.

use warpmp_launch::Spec;

use super::LIMBS;
use super::doubling::{Inverse, SHORT_LIMBS};
use super::length::{FACTS, Length};
use super::line::{CarryIn, Function, Line, Negative, Place, Word};
use super::sequence::{Steps, by_products};
use super::source::{Bit, Number, Source};
use crate::kernels::modular::division::{Division, Parts};
use crate::kernels::{Algorithm, LongSettings, OperandShape, OperationShape, Order};
use crate::operation::{Operation, Status};

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "newton",
    summary: "a reciprocal by Newton's iteration on products by transforms, quotients by products with it",
    accepts: "quotients, remainders and modular products; the longest operand from 16385 to 16777216 bits; on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let serves = matches!(shape.operation, O::DivRem | O::DivExact | O::Rem | O::Reduce | O::MulMod | O::SqrMod);
    serves && LIMBS.contains(&shape.max_limbs())
}

/// Limbs of a thread in a division of short numbers, at least and at most. Eight are fastest for divisors of 2048 to 8192 bits.
const DIVISION_LIMBS: [u32; 2] = [3, 8];

/// A dividend and facts about its divisor.
struct Problem {
    dividend: Number,
    /// Limbs that divisor and reciprocal are computed with.
    limbs: u32,
    /// Blocks of the quotient.
    blocks: u32,
    /// The distance of each lane, and whether the divisor is not zero.
    facts: Number,
    valid: Bit,
}

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    let mut steps = Steps::new(shape, settings);
    let operands: Vec<Number> = (0..shape.operands().len()).map(|i| steps.operand(i)).collect();
    let results = [0, 1].map(|i| steps.result(i));
    if shape.operation == Operation::DivRem {
        let rest = [1, 2].map(|i| steps.result(i));
        divide(&mut steps, [operands[0], operands[1]], Some(results[0]), rest);
        return steps.finish();
    }
    if shape.operation == Operation::DivExact {
        divide_exactly(&mut steps, [operands[0], operands[1]], results);
        return steps.finish();
    }
    let dividend = if shape.operation == Operation::MulMod {
        steps.product(operands[0], operands[1])
    } else if shape.operation == Operation::SqrMod {
        steps.product(operands[0], operands[0])
    } else {
        operands[0]
    };
    divide(&mut steps, [dividend, operands[operands.len() - 1]], None, results);
    steps.finish()
}

/// The quotient where nothing remains, and the status.
fn divide_exactly(steps: &mut Steps, [dividend, divisor]: [Number; 2], [quotient, status]: [Place; 2]) {
    let [whole, rest] = [dividend, divisor].map(|it| steps.reserve(it.limbs));
    let [order, fault] = [0, 1].map(|_| steps.reserve(1));
    let [to_whole, to_rest] = [whole, rest].map(|it| it.place(32 * it.limbs));
    divide(steps, [dividend, divisor], Some(to_whole), [to_rest, fault.place(32)]);
    // The order of the remainder and zero: 0 where nothing remains, else 1.
    let compared = Line::difference(rest.source(), Source::constant(0), to_rest);
    steps.line(Line { result: None, word: Some(Word::Order(order, None)), ..compared });
    let remains = order.bit(0);
    steps.line(Line::copy(whole.source().kept_where(remains.not()), quotient));
    let inexact = Source::constant(Status::NotExact.code()).kept_where(remains);
    steps.line(Line::of(fault.source(), Function::Or(inexact), status));
}

/// Quotient, if asked for, remainder and status.
pub(super) fn divide(
    steps: &mut Steps,
    [dividend, divisor]: [Number; 2],
    quotient: Option<Place>,
    [remainder, status]: [Place; 2],
) {
    let limbs = divisor.limbs.max(dividend.limbs.div_ceil(2)).max(SHORT_LIMBS);
    let blocks = dividend.limbs.div_ceil(limbs);
    let (facts, verdict, top, reciprocal) = steps.shared(divisor.common, |steps| {
        let facts = steps.reserve(FACTS);
        let verdict = if divisor.common { steps.reserve(1) } else { status.row };
        let length = Length { divisor: divisor.limbs, common: divisor.common, limbs, even: false };
        steps.push(Box::new(length), [divisor, facts, verdict]);
        let top = steps.part(divisor.source().moved(facts, 0, true), limbs);
        (facts, verdict, top, Reciprocal::of(steps, top))
    });
    if divisor.common {
        steps.line(Line::copy(verdict.source(), status));
    }
    let problem = Problem { dividend, limbs, blocks, facts, valid: facts.bit(32) };
    problem.quotient(steps, top, reciprocal, quotient, remainder);
}

/// `Y` with `B^n + Y` close to `B^2n / d`, for `d` of `n` limbs whose highest bit is set.
pub(super) struct Reciprocal;

impl Inverse for Reciprocal {
    fn limbs_before(limbs: u32) -> u32 {
        limbs.div_ceil(2) + 1
    }

    fn deciding(divisor: Number, limbs: u32) -> Source {
        divisor.source().down(32 * (divisor.limbs - limbs))
    }

    fn first(steps: &mut Steps, divisor: Number, to: Number, is_last: bool) {
        first(steps, divisor, to, is_last);
    }

    fn step(steps: &mut Steps, divisor: Number, known: Number, to: Number, is_last: bool) {
        step(steps, divisor, known, to, is_last);
    }
}

/// The first reciprocal: `⌊(B^2n − 1) / d⌋ − B^n`, less 4 but for the last one.
fn first(steps: &mut Steps, divisor: Number, to: Number, last: bool) {
    let n = divisor.limbs;
    let mark = steps.mark();
    let ones = steps.part(Source::constant(0).turned(), 2 * n);
    let quotient = quotient_of_short(steps, [ones, divisor]);
    // The quotient is from B^n to 2·B^n − 1: its lower limbs are what is more than B^n.
    let lower = steps.part(quotient.source(), n);
    steps.line(less(lower.source(), if last { 0 } else { 4 }, to));
    steps.release(mark);
}

/// The quotient of a division by a short divisor, with the limbs of the dividend.
pub(super) fn quotient_of_short(steps: &mut Steps, [dividend, divisor]: [Number; 2]) -> Number {
    let layout = steps.short_layout(divisor.limbs, DIVISION_LIMBS);
    let [a, d] = [dividend, divisor].map(|it| OperandShape::each(32 * it.limbs));
    let division = Division { layout, ..Division::new(a, d, Parts::Quotient) };
    let [quotient, status] = [dividend.limbs, 1].map(|limbs| steps.reserve(limbs));
    steps.push(Box::new(division), [dividend, divisor, quotient, status]);
    quotient
}

/// `x − count`, at least 0.
fn less(x: Source, count: u32, to: Number) -> Line {
    let difference = Line::difference(x, Source::constant(count), to.place(32 * to.limbs));
    Line { negative: Negative::Clears, ..difference }
}

/// The reciprocal of `d` in `n` limbs from that of its upper `h` limbs.
fn step(steps: &mut Steps, divisor: Number, known: Number, to: Number, last: bool) {
    let (n, h) = (divisor.limbs, known.limbs);
    let mark = steps.mark();
    let product = steps.product(divisor, known);
    // ¬(D·B^h + D·Y) is B^(n+h) − D·X − 1, and ¬(x + y) is ¬x − y. Below limb h nothing is added, so no carry is cut off.
    let cut = n - h + 1;
    let error = steps.reserve(h);
    let shifted = divisor.source().up(32 * (h - cut));
    let complement = product.source().down(32 * cut).turned();
    steps.line(Line::difference(complement, shifted, error.place(32 * h)));
    let product = steps.product(error, known);
    let correction = steps.reserve(h);
    let upper = product.source().down(32 * h);
    steps.line(Line::sum(error.source(), upper, CarryIn::Zero, correction.place(32 * h)));
    let cut = 2 * h - n - 1;
    let mut correction = correction.source().down(32 * cut);
    if !last {
        let reduced = steps.reserve(h - cut);
        steps.line(less(correction, 4, reduced));
        correction = reduced.source();
    }
    let shifted = known.source().up(32 * (n - h));
    steps.line(Line::sum(shifted, correction, CarryIn::Zero, to.place(32 * n)));
    steps.release(mark);
}

impl Problem {
    /// The quotient in blocks from the top, and the remainder.
    fn quotient(
        &self,
        steps: &mut Steps,
        divisor: Number,
        reciprocal: Number,
        quotient: Option<Place>,
        remainder: Place,
    ) {
        let Self { limbs: n, blocks, facts, valid, .. } = *self;
        let dividend = self.dividend.source().moved(facts, 0, true);
        // The blocks of the dividend, and a limb more for the lowest one of the remainder above a block.
        let running = steps.part(dividend, blocks * n + 1);
        let rest = steps.part(dividend.down(32 * blocks * n), n);
        for block in (0..blocks).rev() {
            let mark = steps.mark();
            // Where nobody asks for the quotient, its digit has a place that is given back.
            let digit = match quotient {
                Some(Place { row, from, bits }) => {
                    Place { row, from: from + block * n, bits: (bits - 32 * n * block).min(32 * n) }
                }
                None => steps.reserve(n).place(32 * n),
            };
            let value = running.source().down(32 * n * block);
            quotient_digit(steps, (rest, value), [divisor, reciprocal], digit, Some(rest.place(32 * n)));
            if block > 0 {
                steps.line(Line::copy(rest.source(), Place { row: running, from: block * n, bits: 32 }));
            }
            steps.release(mark);
        }
        if let Some(quotient) = quotient {
            let clear = Line::copy(Source::constant(0), quotient);
            steps.line(Line { only: Some(valid.not()), ..clear });
        }
        steps.line(Line::copy(rest.source().moved(facts, 0, false).kept_where(valid), remainder));
    }
}

/// `⌊V / d⌋` and, if asked for, what remains, for `V = R·B^n + A`, `R < d`, by the reciprocal of `d`, which has `n` limbs and its highest
/// bit set. Given are `R`, and `V` in its lower `n + 1` limbs at least. The remainder may take the place of `R`.
pub(super) fn quotient_digit(
    steps: &mut Steps,
    (rest, value): (Number, Source),
    [divisor, reciprocal]: [Number; 2],
    quotient: Place,
    remainder: Option<Place>,
) {
    let n = divisor.limbs;
    let mark = steps.mark();
    let product = steps.product(rest, reciprocal);
    let digit = steps.reserve(n);
    let upper = product.source().down(32 * n);
    steps.line(Line::sum(rest.source(), upper, CarryIn::Zero, digit.place(32 * n)));
    let product = steps.product(digit, divisor);
    let [first, second] = [0, 1].map(|_| steps.reserve(n + 1));
    steps.line(Line::difference(value, product.source(), first.place(32 * (n + 1))));
    let [twice, once] = [0, 1].map(|_| steps.reserve(1));
    let divisor = divisor.source();
    steps.line(Line::reduced(first.source(), divisor.up(1), n + 1, twice, second.place(32 * (n + 1))));
    steps.line(if let Some(place) = remainder {
        Line::reduced(second.source(), divisor, n + 1, once, place)
    } else {
        let difference = Line::difference(second.source(), divisor, second.place(32 * (n + 1)));
        Line { result: None, word: Some(Word::Carry(once)), ..difference }
    });
    let two = Source::constant(2).kept_where(twice.bit(0));
    steps.line(Line::sum(digit.source(), two, CarryIn::Bit(once.bit(0)), quotient));
    steps.release(mark);
}
