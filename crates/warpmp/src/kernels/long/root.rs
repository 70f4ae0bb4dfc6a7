//! Square roots of long numbers: from the root of the upper half of the limbs by a division.
//!
//! computes   `s = ⌊√a⌋`, `r = a − s²`
//! cost       about 7 products of two numbers as long as the root
//!
//! `a` goes up by an even number of bits until one of its two highest bits is at the top of `2n` limbs; `n` is a few hundred
//! limbs times a power of two. With `s` of `h` limbs for the upper `2h` limbs of `a`, the remainder `r ≤ 2s`, and `a₁`, the next `h`
//! limbs, a step is
//!
//! ```text
//! Q = ⌊(r·B^h + a₁) / s⌋            at most 2·B^h + 1
//! S = s·B^h + min(⌊Q/2⌋, B^h − 1)   2h limbs: the root, or one more
//! ```
//!
//! A square tells which, and gives the remainder. The last step has no remainder: `S` goes down first, and is still the root or one
//! more.
//!
//! bound: with `q = ⌊Q/2⌋ = ⌊(r·B^h + a₁) / 2s⌋` the root is `s·B^h + q` or one less (Zimmermann, where `s` has its highest bit).
//! The root is less than `(s + 1)·B^h`. So where `q = B^h`, it is `s·B^h + B^h − 1`.
//!
//! source: P. Zimmermann, Karatsuba square root, 1999; the square in place of the remainder of the division is ours.

use warpmp_launch::Spec;

use super::LIMBS;
use super::division::{Reciprocal, quotient_digit};
use super::doubling::Inverse;
use super::length::{FACTS, Length};
use super::line::{CarryIn, Function, Line, Place};
use super::sequence::{Steps, by_products};
use super::source::{Number, Source};
use crate::kernels::modular::sqrt::Sqrt;
use crate::kernels::{Algorithm, LongSettings, OperandShape, OperationShape, Order};
use crate::operation::Operation;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "zimmermann",
    summary: "the root of the upper half by the same method, the lower half by a division by Newton's iteration",
    accepts: "square roots of 32801 to 16777216 bits, on a GPU from sm_80 on",
    order: Order::Given,
    fits: |shape| {
        let limbs = shape.operands()[0].limbs();
        shape.operation == Operation::Sqrt && limbs >= FROM_LIMBS && LIMBS.contains(&limbs)
    },
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

/// The limbs of a number, at least.
const FROM_LIMBS: u32 = 1026;

/// The longest root that digits give, in limbs.
const SHORT_LIMBS: u32 = 512;

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    let mut steps = Steps::new(shape, settings);
    let value = steps.operand(0);
    let halvings = (0..32).find(|&i| value.limbs.div_ceil(2) <= SHORT_LIMBS << i).unwrap_or(0);
    let short = value.limbs.div_ceil(2).div_ceil(1 << halvings);
    let n = short << halvings;
    let facts = steps.reserve(FACTS);
    let unused = steps.reserve(1);
    let length = Length { divisor: value.limbs, common: value.common, limbs: 2 * n, even: true };
    steps.push(Box::new(length), [value, facts, unused]);
    let valid = facts.bit(32);
    let all = steps.part(value.source().moved(facts, 0, true), 2 * n);
    let mut known = first(&mut steps, all, short);
    for level in 0..halvings {
        let root = improved(&mut steps, all, known);
        if level + 1 < halvings {
            let upper = all.source().down(32 * (all.limbs - 2 * root.limbs));
            known = corrected(&mut steps, upper, root);
        } else {
            let root = steps.part(root.source().moved(facts, 2, false), n);
            let (root, rest) = corrected(&mut steps, value.source(), root);
            let [to_root, to_rest] = [0, 1].map(|i| steps.result(i));
            steps.line(Line::copy(root.source().kept_where(valid), to_root));
            steps.line(Line::copy(rest.source().kept_where(valid), to_rest));
        }
    }
    steps.finish()
}

/// The root of the upper limbs, and its remainder.
fn first(steps: &mut Steps, all: Number, limbs: u32) -> (Number, Number) {
    let [root, rest] = [limbs, limbs + 1].map(|limbs| steps.reserve(limbs));
    let mark = steps.mark();
    let upper = steps.part(all.source().down(32 * (all.limbs - 2 * limbs)), 2 * limbs);
    let value = OperandShape::each(64 * limbs);
    let layout = steps.short_layout(Sqrt::limbs(value.bits).div_ceil(32).max(2));
    steps.push(Box::new(Sqrt { value, layout }), [upper, root, rest]);
    steps.release(mark);
    (root, rest)
}

/// The root of twice as many limbs, or one more.
fn improved(steps: &mut Steps, all: Number, (root, rest): (Number, Number)) -> Number {
    let h = root.limbs;
    let result = steps.reserve(2 * h);
    let mark = steps.mark();
    let reciprocal = Reciprocal::of(steps, root);
    // The remainder is at most twice the root: what is more than the root goes to the quotient's digit above.
    let [once, twice] = [0, 1].map(|_| steps.reserve(1));
    let reduced = steps.reserve(h + 1);
    let value = steps.reserve(2 * h);
    steps.line(Line::reduced(rest.source(), root.source(), h + 1, once, reduced.place(32 * (h + 1))));
    let upper = Place { row: value, from: h, bits: 32 * h };
    steps.line(Line::reduced(reduced.source(), root.source(), h + 1, twice, upper));
    let next = all.source().down(32 * (all.limbs - 3 * h));
    steps.line(Line::copy(next, value.place(32 * h)));
    let quotient = steps.reserve(h + 1);
    let remainder = steps.reserve(h);
    quotient_digit(steps, value.source(), [root, reciprocal], quotient.place(32 * h), remainder.place(32 * h));
    let one = Source::constant(1).kept_where(once.bit(0));
    let top = Place { row: quotient, from: h, bits: 32 };
    steps.line(Line::sum(one, Source::constant(0), CarryIn::Bit(twice.bit(0)), top));
    let most = Source::constant(0).turned_where(quotient.bit(32 * h + 1));
    steps.line(Line::of(quotient.source().down(1), Function::Or(most), result.place(32 * h)));
    steps.line(Line::copy(root.source(), Place { row: result, from: h, bits: 32 * h }));
    steps.release(mark);
    result
}

/// Root and remainder of a number from the root, or one more.
fn corrected(steps: &mut Steps, value: Source, root: Number) -> (Number, Number) {
    let n = root.limbs;
    let [exact, rest] = [n, n + 1].map(|limbs| steps.reserve(limbs));
    let mark = steps.mark();
    let square = steps.product(root, root);
    let difference = steps.reserve(n + 1);
    steps.line(Line::difference(value, square.source(), difference.place(32 * (n + 1))));
    // Both are small: the highest bit of the difference is its sign.
    let negative = difference.bit(32 * (n + 1) - 1);
    let one = Source::constant(1).kept_where(negative);
    steps.line(Line::difference(root.source(), one, exact.place(32 * n)));
    let added = exact.source().up(1).kept_where(negative);
    let rest_place = rest.place(32 * (n + 1));
    steps.line(Line::sum(difference.source(), added, CarryIn::Bit(negative), rest_place));
    steps.release(mark);
    (exact, rest)
}
