//! Quotients and remainders of long numbers by Newton's iteration on products.
//!
//! computes   `q = ⌊a / d⌋`, `r = a mod d`; `a·b mod m`; a zero divisor is the lane's status
//! cost       in products of two numbers of `n` limbs: the reciprocal about 3, each block of the quotient 2. `n`: the limbs of
//!            the divisor, or half of the dividend's if these are more. A quotient has one block or two
//!
//! The divisor and the dividend go up until the divisor's highest one is at the top of `n` limbs: lanes differ in the
//! distance alone. From then on all lanes do the same.
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

use warpmp_kernel::build::Glue;
use warpmp_launch::{Layout, Spec};

use super::length::{FACTS, Length};
use super::line::{CarryIn, Line, Negative, Place, Word};
use super::sequence::Steps;
use super::source::{Bit, Number, Source};
use crate::kernels::modular::division::{Division, Parts};
use crate::kernels::{Algorithm, FixedSettings, Gpus, On, OperandShape, OperationShape, Order, With, candidates, fft};
use crate::operation::Operation;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "newton",
    summary: "a reciprocal by Newton's iteration on products by transforms, quotients by products with it",
    accepts: "quotients, remainders and modular products; the longest operand from 16385 to 16777216 bits; on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &On(
        Gpus { from: fft::SHARED_MEMORY_FROM, use_doubles: true },
        With::<FixedSettings> { spec: |shape, _, _| spec(shape), candidates: candidates::default_alone },
    ),
};

/// The limbs of the longest operand, at least.
const FROM_LIMBS: u32 = 513;

/// The longest number that short division inverts, in limbs.
const SHORT_LIMBS: u32 = 258;

/// The limbs of the longest product.
const MOST_LIMBS: u32 = 1 << 19;

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let serves = matches!(shape.operation, O::DivRem | O::Rem | O::Reduce | O::MulMod | O::SqrMod);
    serves && (FROM_LIMBS..=MOST_LIMBS).contains(&shape.max_limbs())
}

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

fn spec(shape: OperationShape) -> Box<dyn Spec> {
    let mut steps = Steps::new(shape);
    let operands: Vec<Number> = (0..shape.operands().len()).map(|i| steps.operand(i)).collect();
    let results = [0, 1].map(|i| steps.result(i));
    if shape.operation == Operation::DivRem {
        let rest = [1, 2].map(|i| steps.result(i));
        divide(&mut steps, [operands[0], operands[1]], Some(results[0]), rest);
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

/// Quotient, if asked for, remainder and status.
pub(super) fn divide(
    steps: &mut Steps,
    [dividend, divisor]: [Number; 2],
    quotient: Option<Place>,
    [remainder, status]: [Place; 2],
) {
    let limbs = divisor.limbs.max(dividend.limbs.div_ceil(2)).max(SHORT_LIMBS);
    let facts = steps.reserve(FACTS);
    let length = Length { divisor: divisor.limbs, common: divisor.common, limbs, even: false };
    steps.push(Box::new(length), [divisor, facts, status.row]);
    let blocks = dividend.limbs.div_ceil(limbs);
    let top = steps.part(divisor.source().moved(facts, 0, true), limbs);
    let reciprocal = reciprocal(steps, top);
    let problem = Problem { dividend, limbs, blocks, facts, valid: facts.bit(32) };
    problem.quotient(steps, top, reciprocal, quotient, remainder);
}

/// `Y` with `B^n + Y` close to `B^2n / d`, for `d` of `n` limbs whose highest bit is set.
pub(super) fn reciprocal(steps: &mut Steps, divisor: Number) -> Number {
    let mut lengths = vec![divisor.limbs];
    while let Some(&length) = lengths.last().filter(|&&length| length > SHORT_LIMBS) {
        lengths.push(length.div_ceil(2) + 1);
    }
    let result = steps.reserve(divisor.limbs);
    let mark = steps.mark();
    let mut known: Option<Number> = None;
    for (&length, number) in lengths.iter().rev().zip(1..) {
        let last = number == lengths.len();
        let to = if last { result } else { steps.reserve(length) };
        let upper =
            if last { divisor } else { steps.part(divisor.source().down(32 * (divisor.limbs - length)), length) };
        match known {
            None => short(steps, upper, to, last),
            Some(known) => step(steps, upper, known, to, last),
        }
        known = Some(to);
    }
    steps.release(mark);
    result
}

/// The first reciprocal: `⌊(B^2n − 1) / d⌋ − B^n`, less 4 but for the last one.
fn short(steps: &mut Steps, divisor: Number, to: Number, last: bool) {
    let n = divisor.limbs;
    let mark = steps.mark();
    let ones = steps.part(Source::constant(0).turned(), 2 * n);
    let [quotient, rest, status] = [2 * n, n, 1].map(|limbs| steps.reserve(limbs));
    // A warp a number, so that no lane beyond the last one is touched.
    let layout = Layout { group: 32, length: n.div_ceil(32).max(3), warps: 2, glue: Glue::None };
    let [a, d] = [ones, divisor].map(|it| OperandShape::each(32 * it.limbs));
    let division = Division { layout, ..Division::new(a, d, Parts::Both) };
    steps.push(Box::new(division), [ones, divisor, quotient, rest, status]);
    // The quotient is from B^n to 2·B^n − 1: its lower limbs are what is more than B^n.
    let lower = steps.part(quotient.source(), n);
    steps.line(less(lower.source(), if last { 0 } else { 4 }, to));
    steps.release(mark);
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
    // ¬(D·B^h + D·Y) is B^(n+h) − D·X − 1. Below limb h nothing is added, so no carry is cut off.
    let cut = n - h + 1;
    let sum = steps.reserve(h);
    let shifted = divisor.source().up(32 * (h - cut));
    steps.line(Line::sum(product.source().down(32 * cut), shifted, CarryIn::Zero, sum.place(32 * h)));
    let error = steps.part(sum.source().turned(), h);
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
        // The dividend; its blocks become remainders one after the other.
        let running = steps.part(self.dividend.source().moved(facts, 0, true), (blocks + 1) * n);
        let digits = quotient.map(|_| steps.reserve(blocks * n));
        for block in (0..blocks).rev() {
            let mark = steps.mark();
            let value = running.source().down(32 * n * block);
            let remainder = Place { row: running, from: block * n, bits: 32 * n };
            // Where nobody asks for the quotient, its digit has a place that is given back.
            let digit = match digits {
                Some(row) => Place { row, from: block * n, bits: 32 * n },
                None => steps.reserve(n).place(32 * n),
            };
            quotient_digit(steps, value, [divisor, reciprocal], digit, remainder);
            steps.release(mark);
        }
        if let (Some(digits), Some(quotient)) = (digits, quotient) {
            steps.line(Line::copy(digits.source().kept_where(valid), quotient));
        }
        let rest = steps.part(running.source(), n).source().moved(facts, 0, false);
        steps.line(Line::copy(rest.kept_where(valid), remainder));
    }
}

/// `⌊V / d⌋` and what remains, for `V < d·B^n`, by the reciprocal of `d`, which has `n` limbs and its highest bit set.
pub(super) fn quotient_digit(
    steps: &mut Steps,
    value: Source,
    [divisor, reciprocal]: [Number; 2],
    quotient: Place,
    remainder: Place,
) {
    let n = divisor.limbs;
    let mark = steps.mark();
    let rest = steps.part(value.down(32 * n), n);
    let product = steps.product(rest, reciprocal);
    let digit = steps.reserve(n);
    let upper = product.source().down(32 * n);
    steps.line(Line::sum(rest.source(), upper, CarryIn::Zero, digit.place(32 * n)));
    let product = steps.product(digit, divisor);
    let [first, second] = [0, 1].map(|_| steps.reserve(n + 1));
    steps.line(Line::difference(value, product.source(), first.place(32 * (n + 1))));
    let [twice, once] = [0, 1].map(|_| steps.reserve(1));
    let reduce = |from: Number, divisor: Source, to: Place, word: Number| Line {
        negative: Negative::Restores,
        limbs: n + 1,
        word: Some(Word::Carry(word)),
        ..Line::difference(from.source(), divisor, to)
    };
    steps.line(reduce(first, divisor.source().up(1), second.place(32 * (n + 1)), twice));
    steps.line(reduce(second, divisor.source(), remainder, once));
    let two = Source::constant(2).kept_where(twice.bit(0));
    steps.line(Line::sum(digit.source(), two, CarryIn::Bit(once.bit(0)), quotient));
    steps.release(mark);
}
