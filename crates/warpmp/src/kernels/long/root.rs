//! Square roots of long numbers: from the root of the upper half of the limbs by a division.
//!
//! computes   `s = ⌊√a⌋`, `r = a − s²`
//! cost       about 7 products of two numbers as long as the root. Roots of to 512 limbs have divisions of short numbers: see `Division`
//!
//! `a` goes up by an even number of bits until one of its two highest bits is at the top of `2n` limbs; `n` is at most 64
//! limbs times a power of two. With `s` of `h` limbs for the upper `2h` limbs of `a`, the remainder `r ≤ 2s`, and `a₁`, the next `h`
//! limbs, a step is
//!
//! ```text
//! Q = ⌊(r·B^h + a₁) / s⌋            at most 2·B^h + 1
//! S = s·B^h + min(⌊Q/2⌋, B^h − 1)   2h limbs: the root, or one more
//! ```
//!
//! A square tells which, and gives the remainder. The last step has no remainder: `S` goes down first, and is still the root or one
//! more. Of zero `S` is cleared, and then everything is zero.
//!
//! bound: with `q = ⌊Q/2⌋ = ⌊(r·B^h + a₁) / 2s⌋` the root is `s·B^h + q` or one less (Zimmermann, where `s` has its highest bit).
//! The root is less than `(s + 1)·B^h`. So where `q = B^h`, it is `s·B^h + B^h − 1`.
//!
//! source: P. Zimmermann, Karatsuba square root, 1999; the square in place of the remainder of the division is ours.

use warpmp_launch::{Layout, Spec};

use super::division::{Reciprocal, divide_short, quotient_digit};
use super::doubling::{self, Inverse};
use super::length::{FACTS, Length};
use super::line::{CarryIn, Function, Line, Place};
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
const FROM_LIMBS: u32 = 2 * SHORT_LIMBS + 1;

/// The longest root that digits give, in limbs.
const SHORT_LIMBS: u32 = 64;

/// The longest number whose roots have whole tiles, in limbs.
const TILE_LIMBS: u32 = 2048;

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    let steps = Steps::new(shape, settings);
    let value = steps.operand(0);
    let mut steps = if value.limbs <= TILE_LIMBS { steps.with_whole_tiles() } else { steps };
    let halvings = (0..32).find(|&i| value.limbs.div_ceil(2) <= SHORT_LIMBS << i).unwrap_or(0);
    let short = value.limbs.div_ceil(2).div_ceil(1 << halvings);
    let n = short << halvings;
    let facts = steps.reserve(FACTS);
    let unused = steps.reserve(1);
    let length = Length { divisor: value.limbs, common: value.common, limbs: 2 * n, even: true };
    steps.push(Box::new(length), [value, facts, unused]);
    let is_some = facts.bit(32);
    let all = steps.part(value.source().moved(facts, 0, true), 2 * n);
    let mut known = first(&mut steps, all, short);
    for level in 0..halvings {
        let root = improved(&mut steps, all, known);
        if level + 1 < halvings {
            let upper = all.source().down(32 * (all.limbs - 2 * root.limbs));
            let [exact, rest] = [0, 1].map(|more| steps.reserve(root.limbs + more));
            corrected(&mut steps, upper, root, [exact, rest].map(|it| it.place(32 * it.limbs)));
            known = (exact, rest);
        } else {
            let root = steps.part(root.source().moved(facts, 2, false).kept_where(is_some), n);
            let results = [0, 1].map(|i| steps.result(i));
            corrected(&mut steps, value.source(), root, results);
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
    let layout = steps.short_layout(Sqrt::limbs(value.bits), [2, Layout::LANE_LIMBS]);
    steps.push(Box::new(Sqrt { value, layout }), [upper, root, rest]);
    steps.release(mark);
    (root, rest)
}

/// `S`: the root of twice as many limbs, or one more.
fn improved(steps: &mut Steps, all: Number, (root, rest): (Number, Number)) -> Number {
    let h = root.limbs;
    let result = steps.reserve(2 * h);
    let mark = steps.mark();
    let next = all.source().down(32 * (all.limbs - 3 * h));
    let divide = if h <= doubling::SHORT_LIMBS { quotient_of_short } else { quotient };
    let quotient = divide(steps, next, (root, rest));
    let most = Source::constant(0).turned_where(quotient.bit(32 * h + 1));
    steps.line(Line::of(quotient.source().down(1), Function::Or(most), result.place(32 * h)));
    steps.line(Line::copy(root.source(), Place { row: result, from: h, bits: 32 * h }));
    steps.release(mark);
    result
}

/// `Q` by the division of short numbers.
fn quotient_of_short(steps: &mut Steps, next: Source, (root, rest): (Number, Number)) -> Number {
    let h = root.limbs;
    let [value, quotient, unused, status] = [2 * h + 1, 2 * h + 1, h, 1].map(|limbs| steps.reserve(limbs));
    steps.line(Line::copy(next, value.place(32 * h)));
    steps.line(Line::copy(rest.source(), Place { row: value, from: h, bits: 32 * (h + 1) }));
    divide_short(steps, [value, root], [quotient, unused, status]);
    quotient
}

/// `Q` by Newton's iteration.
fn quotient(steps: &mut Steps, next: Source, (root, rest): (Number, Number)) -> Number {
    let h = root.limbs;
    let reciprocal = Reciprocal::of(steps, root);
    // The remainder is at most twice the root: what is more than the root goes to the quotient's digit above.
    let [once, twice] = [0, 1].map(|_| steps.reserve(1));
    let reduced = steps.reserve(h + 1);
    let value = steps.reserve(2 * h);
    steps.line(Line::reduced(rest.source(), root.source(), h + 1, once, reduced.place(32 * (h + 1))));
    let upper = Place { row: value, from: h, bits: 32 * h };
    steps.line(Line::reduced(reduced.source(), root.source(), h + 1, twice, upper));
    steps.line(Line::copy(next, value.place(32 * h)));
    let quotient = steps.reserve(h + 1);
    let remainder = steps.reserve(h);
    quotient_digit(steps, value.source(), [root, reciprocal], quotient.place(32 * h), remainder.place(32 * h));
    let one = Source::constant(1).kept_where(once.bit(0));
    let top = Place { row: quotient, from: h, bits: 32 };
    steps.line(Line::sum(one, Source::constant(0), CarryIn::Bit(twice.bit(0)), top));
    quotient
}

/// Root and remainder of a number from the root, or one more, to their places.
fn corrected(steps: &mut Steps, value: Source, root: Number, [exact, rest]: [Place; 2]) {
    let n = root.limbs;
    let mark = steps.mark();
    let square = steps.product(root, root);
    let difference = steps.reserve(n + 1);
    steps.line(Line::difference(value, square.source(), difference.place(32 * (n + 1))));
    // Both are small: the highest bit of the difference is its sign.
    let negative = difference.bit(32 * (n + 1) - 1);
    let one = Source::constant(1).kept_where(negative);
    steps.line(Line::difference(root.source(), one, exact));
    let added = exact.row.source().up(1).kept_where(negative);
    steps.line(Line::sum(difference.source(), added, CarryIn::Bit(negative), rest));
    steps.release(mark);
}
