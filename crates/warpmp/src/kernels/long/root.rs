//! Square roots of long numbers: from the root of the upper half of the limbs by a division.
//!
//! computes   `s = ⌊√a⌋`, `r = a − s²`
//! cost       about 7 products of two numbers as long as the root. Roots of to 512 limbs have divisions of short numbers: see `Division`
//!
//! `a` goes up by an even number of bits until one of its two highest bits is at the top of `2n` limbs; `n` is at most 32
//! limbs times a power of two. With `s` of `h` limbs for the upper `2h` limbs of `a`, the remainder `r ≤ 2s`, and `a₁`, the next `h`
//! limbs, a step is
//!
//! ```text
//! V = ⌊(r·B^h + a₁) / 2⌋        2h limbs
//! q = ⌊V / s⌋                   at most B^h
//! S = s·B^h + min(q, B^h − 1)   2h limbs: the root, or one more
//! ```
//!
//! A square tells which, and gives the remainder. The last step has no remainder: `S` goes down first, and is still the root or one
//! more. Of zero `S` is cleared, and then everything is zero.
//!
//! bound: `r ≤ 2s` makes `V < s·B^h + B^h/2`. As `s ≥ B^h/2`, `q ≤ B^h`, and `V < B^2h`. With `q = ⌊(r·B^h + a₁) / 2s⌋`, as two
//! divisions rounded down are one, the root is `s·B^h + q` or one less (Zimmermann, where `s` has its highest bit).
//! The root is less than `(s + 1)·B^h`. So where `q = B^h`, it is `s·B^h + B^h − 1`.
//!
//! source: P. Zimmermann, Karatsuba square root, 1999; the square in place of the remainder of the division is ours.

use warpmp_launch::{Layout, Spec};

use super::division::{DIVISION_LIMBS, Reciprocal, quotient_of_short};
use super::length::{FACTS, Length};
use super::line::{CarryIn, Function, Line, MOST_PACKED_LIMBS, Negative, Place};
use super::sequence::{Steps, by_products};
use super::source::{Number, Source};
use crate::kernels::fft::MOST_LIMBS;
use crate::kernels::modular::sqrt::Sqrt;
use crate::kernels::{Algorithm, LongSettings, OperandShape, OperationShape, Order};
use crate::operation::Operation;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "zimmermann",
    summary: "the root of the upper half by the same method, the lower half by a division by Newton's iteration",
    accepts: "square roots of 4097 to 16777216 bits, on a GPU from sm_80 on",
    order: Order::Given,
    fits: |shape| {
        let limbs = shape.operands()[0].limbs();
        shape.operation == Operation::Sqrt && (FROM_LIMBS..=MOST_LIMBS).contains(&limbs)
    },
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

/// The limbs of a number, at least.
const FROM_LIMBS: u32 = 129;

/// The longest root that digits give, in limbs. The digits of 64 limbs take longer than those of 32 and a step.
const SHORT_LIMBS: u32 = 32;

/// The longest root that is divided by digits, in limbs.
const SHORT_DIVISION_LIMBS: u32 = 258;

/// The longest number whose roots have whole tiles, in limbs.
const TILE_LIMBS: u32 = 2048;

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    let steps = Steps::new(shape, settings);
    let value = steps.operand(0);
    let mut steps = if value.limbs <= TILE_LIMBS { steps.with_whole_tiles(MOST_PACKED_LIMBS) } else { steps };
    let halvings = (0..32).find(|&i| value.limbs.div_ceil(2) <= SHORT_LIMBS << i).unwrap_or(0);
    let short = value.limbs.div_ceil(2).div_ceil(1 << halvings);
    let n = short << halvings;
    let facts = steps.reserve(FACTS);
    let unused = steps.reserve(1);
    let length = Length { divisor: value.limbs, common: value.common, limbs: 2 * n, even: true, most: None };
    steps.push(Box::new(length), [value, facts, unused]);
    let is_some = facts.bit(32);
    let all = value.source().moved(facts, 0, true);
    // Sums of long rows have no registers left to shift by a distance of each lane.
    let all = if value.limbs <= TILE_LIMBS { all } else { steps.part(all, 2 * n).source() };
    // The number without its limbs below the upper `limbs` limbs.
    let upper = |limbs: u32| all.down(32 * (2 * n - limbs));
    let mut known = first(&mut steps, upper(2 * short), short);
    for level in 0..halvings {
        let root = improved(&mut steps, upper(3 * known.0.limbs), known);
        if level + 1 < halvings {
            let rest = steps.reserve(root.limbs + 1);
            let exact = corrected(&mut steps, upper(2 * root.limbs), root, None, rest.place(32 * rest.limbs));
            known = (exact, rest);
        } else {
            let [exact, rest] = [0, 1].map(|i| steps.result(i));
            // The place of the result serves if it holds all limbs.
            let lowered = if exact.bits == 32 * n { exact.row } else { steps.reserve(n) };
            let source = root.source().moved(facts, 2, false).kept_where(is_some);
            steps.line(Line::copy(source, lowered.place(32 * n)));
            corrected(&mut steps, value.source(), lowered, Some(exact), rest);
        }
    }
    steps.finish()
}

/// The root of the upper limbs, and its remainder.
fn first(steps: &mut Steps, upper: Source, limbs: u32) -> (Number, Number) {
    let [root, rest] = [limbs, limbs + 1].map(|limbs| steps.reserve(limbs));
    let mark = steps.mark();
    let upper = steps.part(upper, 2 * limbs);
    let value = OperandShape::each(64 * limbs);
    let layout = steps.short_layout(Sqrt::limbs(value.bits), [2, Layout::LANE_LIMBS]);
    steps.push(Box::new(Sqrt { value, layout }), [upper, root, rest]);
    steps.release(mark);
    (root, rest)
}

/// `S`: the root of twice as many limbs, or one more. `upper`: the number down to `a₁`.
fn improved(steps: &mut Steps, upper: Source, (root, rest): (Number, Number)) -> Number {
    let h = root.limbs;
    let result = steps.reserve(2 * h);
    let mark = steps.mark();
    // The bit of the remainder that goes down is above those of a₁.
    let next = upper.down(1).lowest(32 * h - 1);
    let value = steps.reserve(2 * h);
    steps.line(Line::of(next, Function::Or(rest.source().up(32 * h - 1)), value.place(64 * h)));
    let quotient = if h <= SHORT_DIVISION_LIMBS {
        quotient_of_short(steps, [value, root], DIVISION_LIMBS)
    } else {
        quotient(steps, [value, root])
    };
    // Where the quotient is B^h, its lower limbs are zeros, and their complement is B^h − 1.
    let lower = quotient.source().turned_where(quotient.bit(32 * h)).lowest(32 * h);
    steps.line(Line::of(lower, Function::Or(root.source().up(32 * h)), result.place(64 * h)));
    steps.release(mark);
    result
}

/// `q` by Newton's iteration.
fn quotient(steps: &mut Steps, [value, root]: [Number; 2]) -> Number {
    let h = root.limbs;
    let reciprocal = Reciprocal::of_divisor(steps, root, h);
    // The upper half is at most the root. Where they are equal, the quotient is at least B^h.
    let is_equal = steps.reserve(1);
    let rest = steps.reserve(h);
    steps.line(Line::reduced(value.source().down(32 * h), root.source(), h, is_equal, rest.place(32 * h)));
    let digit = reciprocal.digit(steps);
    let left = steps.reserve(h + 1);
    reciprocal.divide(steps, (rest, value.source()), digit, None, (left.place(32 * left.limbs), None));
    let last = steps.reserve(1);
    let reduced = reciprocal.reduced(left, None, last, left.place(32 * left.limbs));
    steps.line(Line { result: None, negative: Negative::Stays, ..reduced });
    let quotient = steps.reserve(h + 1);
    steps.line(Line::sum(
        digit.estimate.source(),
        digit.multiple.source(),
        CarryIn::Bit(last.bit(0)),
        quotient.place(32 * h),
    ));
    steps.line(Line::copy(is_equal.source(), Place { row: quotient, from: h, bits: 32 }));
    quotient
}

/// Root and remainder of a number from the root, or one more. The root goes to a place, or to any row.
fn corrected(steps: &mut Steps, value: Source, root: Number, exact: Option<Place>, rest: Place) -> Number {
    let n = root.limbs;
    let in_place = steps.packs(n + 1);
    let exact = exact.unwrap_or_else(|| if in_place { root } else { steps.reserve(n) }.place(32 * n));
    let mark = steps.mark();
    let square = steps.product(root, root);
    if in_place {
        let difference = Line::difference(value, square.source(), rest);
        steps.line(Line { limbs: n + 1, negative: Negative::Corrects(root), ..difference });
        if exact.row != root {
            steps.line(Line::copy(root.source(), exact));
        }
    } else {
        let difference = steps.reserve(n + 1);
        steps.line(Line::difference(value, square.source(), difference.place(32 * (n + 1))));
        // Both are small: the highest bit of the difference is its sign.
        let negative = difference.bit(32 * (n + 1) - 1);
        let one = Source::constant(1).kept_where(negative);
        steps.line(Line::difference(root.source(), one, exact));
        let added = exact.row.source().up(1).kept_where(negative);
        steps.line(Line::sum(difference.source(), added, CarryIn::Bit(negative), rest));
    }
    steps.release(mark);
    exact.row
}
