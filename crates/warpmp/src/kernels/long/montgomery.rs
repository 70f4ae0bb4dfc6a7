//! Montgomery's arithmetic modulo long odd numbers by products.
//!
//! computes   `t / R mod m` for `t < m·R`, `R = 2^32n`, `n` limbs of `m`: `t = a·b`, `a²`, `a` or an operand; `a·R mod m`
//! cost       in products of two numbers of `n` limbs: the inverse of `m` modulo `R` about 3, the reduction 2, `a·b` 1.
//!            `a·R mod m` is a division
//!
//! With `x = 1/m mod R` and `q = t·x mod R` the lower limbs of `t` and `q·m` are equal. So `t/R = ⌊t/R⌋ − ⌊q·m/R⌋` modulo `m`, between
//! `−m` and `m`; where it is negative, `m` is added.
//!
//! **Inverse.** A few hundred limbs come from the rows of a reduction. If `m·x = 1 + B^k·t` modulo `B^2k`, then
//! `x − B^k·(t·x mod B^k)` is the inverse modulo `B^2k`.
//!
//! bound: every step is exact.
//! source: R. Brent, P. Zimmermann, Modern Computer Arithmetic, 2010, sections 2.4.2 and 2.5.

use warpmp_launch::{Layout, Spec};

use super::LIMBS;
use super::division::divide;
use super::doubling::Inverse;
use super::line::{CarryIn, Line, Place, Word};
use super::low_inverse::LowInverse;
use super::sequence::{Steps, by_products};
use super::source::{Number, Source};
use super::verdict::Checks;
use crate::kernels::{Algorithm, LongSettings, OperationShape, Order};
use crate::operation::Operation;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "products",
    summary: "Montgomery's reduction by products by transforms, the inverse of the modulus by Newton's iteration",
    accepts: "Montgomery's operations for moduli of 16385 to 16777216 bits, on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

/// The longest number that rows of a reduction invert, in limbs.
const SHORT_LIMBS: u32 = 258;

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let operands = shape.operands();
    let modulus = operands[operands.len() - 1].limbs();
    matches!(shape.operation, O::MontMul | O::MontSqr | O::Redc | O::FromMont | O::ToMont) && LIMBS.contains(&modulus)
}

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    use Operation as O;
    let mut steps = Steps::new(shape, settings);
    let count = shape.operands().len();
    let m = steps.operand(count - 1);
    let n = m.limbs;
    let operands: Vec<Number> = (0..count - 1).map(|i| steps.operand(i)).collect();
    let is_double = shape.operation == O::Redc;
    let valid = Checks { operands: &operands, modulus: m, is_odd: true, is_double }.of(&mut steps);
    let result = steps.result(0);
    if shape.operation == O::ToMont {
        let shifted = steps.part(operands[0].source().up(32 * n), 2 * n);
        let residue = steps.reserve(n);
        let unused = steps.reserve(1);
        let bits = [steps.operand_bits(0) + 32 * n, steps.operand_bits(count - 1)];
        divide(&mut steps, ([shifted, m], bits), None, [residue.place(32 * n), unused.place(32)]);
        steps.line(Line::copy(residue.source().kept_where(valid), result));
        return steps.finish();
    }
    let inverse = steps.shared(m.common, |steps| OfModulus::of(steps, m));
    let t = if shape.operation == O::MontMul {
        steps.product(operands[0], operands[1])
    } else if shape.operation == O::MontSqr {
        steps.product(operands[0], operands[0])
    } else {
        operands[0]
    };
    let lower = steps.part(t.source(), n);
    let q = steps.reserve(n);
    steps.multiply(lower, inverse, q);
    let product = steps.product(q, m);
    let [difference, negative] = [n, 1].map(|limbs| steps.reserve(limbs));
    let [upper, taken] = [t, product].map(|it| it.source().down(32 * n));
    steps.line(Line { word: Some(Word::Borrow(negative)), ..Line::difference(upper, taken, difference.place(32 * n)) });
    let added = m.source().kept_where(negative.bit(0));
    let residue = steps.reserve(n);
    steps.line(Line::sum(difference.source(), added, CarryIn::Zero, residue.place(32 * n)));
    steps.line(Line::copy(residue.source().kept_where(valid), result));
    steps.finish()
}

/// `1/m` modulo `B^n`, for odd `m` of `n` limbs.
struct OfModulus;

impl Inverse for OfModulus {
    fn short_limbs(_: &Steps) -> u32 {
        SHORT_LIMBS
    }

    fn limbs_before(limbs: u32) -> u32 {
        limbs.div_ceil(2)
    }

    fn deciding(m: Number, limbs: u32) -> Number {
        m.section(0, limbs)
    }

    fn first(steps: &mut Steps, m: Number, to: Number) {
        let layout = steps.short_layout(m.limbs, [1, Layout::BLOCK_LIMBS]);
        steps.push(Box::new(LowInverse { limbs: m.limbs, layout }), [m, to]);
    }

    fn step(steps: &mut Steps, m: Number, known: Number, to: Number) {
        step(steps, m, known, to);
    }
}

/// The inverse modulo `B^n` from the inverse modulo `B^k`.
fn step(steps: &mut Steps, m: Number, known: Number, to: Number) {
    let (n, k) = (m.limbs, known.limbs);
    let mark = steps.mark();
    let product = steps.product(m, known);
    let error = steps.part(product.source().down(32 * k), n - k);
    let correction = steps.product(known, error);
    steps.line(Line::copy(known.source(), to.place(32 * k)));
    let upper = Place { row: to, from: k, bits: 32 * (n - k) };
    steps.line(Line::difference(Source::constant(0), correction.source(), upper));
    steps.release(mark);
}
