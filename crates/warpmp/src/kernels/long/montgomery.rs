//! Montgomery's arithmetic modulo long odd numbers by products.
//!
//! computes   `t / R mod m` for `t < m·R`, `R = 2^32n`, `n` limbs of `m`: `t = a·b`, `a²`, `a` or an operand; `a·R mod m`
//! cost       in products of two numbers of `n` limbs: `q` about 2, or 1 where all lanes have one modulus, `q·m` a half, `a·b` 1. `a·R mod m` is a division
//!
//! With `q = t/m mod R` the lower limbs of `t` and `q·m` are equal. So `t/R = ⌊t/R⌋ − ⌊q·m/R⌋` modulo `m`, between
//! `−m` and `m`; where it is negative, `m` is added.
//!
//! **Inverse.** A few hundred limbs come from the rows of a reduction. If `x = 1/m` modulo `B^k` and `q = t/m` modulo `B^k`, then `t − m·q = B^k·r`, and
//! `q + B^k·(r·x mod B^(n−k))` is `t/m` modulo `B^n`, `n ≤ 2k`. With `t = 1` and `q = x` it is the inverse. Where all lanes have one modulus, `q` is the lower half of
//! `t` times the inverse modulo `R`. Else the inverse modulo `B^k`, `k` half of `n`, is enough.
//!
//! **Products modulo `B^N + 1`** take half as long. Their lower limbs are those of the product less a number `H`. Of `m·q` the lower `k` limbs are known, those of
//! `t`: so the lower limbs of the difference `t − m·q + H` are `H`, and the carry out of them makes the upper ones right. Of the last product the lower `n` limbs are known: see `unwrap.rs`.
//!
//! bound: every step is exact. `0 ≤ H + e < B^k` for a constant `e`, which the difference has besides: so its lower limbs do not carry themselves.
//! sources: R. Brent, P. Zimmermann, Modern Computer Arithmetic, 2010, sections 2.4.2 and 2.5; the quotient by half an inverse: A. Karp, P. Markstein, "High-precision division and square root", 1997.
//! The products modulo `B^N + 1` are ours.

use warpmp_launch::{Layout, Spec};

use super::LIMBS;
use super::division::divide;
use super::doubling::Inverse;
use super::line::{CarryIn, Function, Line, MOST_PACKED_LIMBS, Terms, Word};
use super::low_inverse::LowInverse;
use super::sequence::{Steps, by_products};
use super::source::{Number, Source};
use super::verdict::Checks;
use crate::kernels::fft::MOST_LIMBS;
use crate::kernels::{Algorithm, LongSettings, OperationShape, Order};
use crate::operation::Operation;

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "products",
    summary: "Montgomery's reduction by products by transforms, the inverse of the modulus by Newton's iteration",
    accepts: "Montgomery's operations for moduli of 4097 to 16777216 bits, `to_mont` from 16385 bits on; on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

/// The limbs of the shortest modulus.
const FROM_LIMBS: u32 = 129;

/// The longest number that rows of a reduction invert, in limbs, and the same where several lanes share a warp.
const SHORT_LIMBS: u32 = 130;
const SHORT_LIMBS_OF_TILES: u32 = 66;

/// The longest modulus whose lines are packed, in limbs.
const TILE_LIMBS: u32 = 512;

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let operands = shape.operands();
    let modulus = operands[operands.len() - 1].limbs();
    let is_reduction = matches!(shape.operation, O::MontMul | O::MontSqr | O::Redc | O::FromMont);
    is_reduction && (FROM_LIMBS..=MOST_LIMBS).contains(&modulus)
        || shape.operation == O::ToMont && LIMBS.contains(&modulus)
}

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    use Operation as O;
    let steps = Steps::new(shape, settings);
    let count = shape.operands().len();
    let is_short = steps.operand(count - 1).limbs <= TILE_LIMBS;
    let mut steps = if is_short { steps.with_whole_tiles(MOST_PACKED_LIMBS) } else { steps };
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
    // Where all lanes have one modulus, its inverse is computed once.
    let inverse = m.common.then(|| steps.shared(true, |steps| OfModulus::of(steps, m)));
    let t = if shape.operation == O::MontMul {
        steps.product(operands[0], operands[1])
    } else if shape.operation == O::MontSqr {
        steps.product(operands[0], operands[0])
    } else {
        operands[0]
    };
    let lower = if t.limbs < n { steps.part(t.source(), n) } else { t.section(0, n) };
    let q = steps.reserve(n);
    if let Some(inverse) = inverse {
        steps.multiply(lower, inverse, q);
    } else {
        divide_exactly(&mut steps, [lower, m], q);
    }
    let product = steps.product_above([q, m], lower);
    let [difference, negative] = [n, 1].map(|limbs| steps.reserve(limbs));
    // Where the lane has a fault, all is zero from here on.
    let [upper, taken] = [t, product].map(|it| it.source().down(32 * n).kept_where(valid));
    steps.line(Line { word: Some(Word::Borrow(negative)), ..Line::difference(upper, taken, difference.place(32 * n)) });
    let added = m.source().kept_where(negative.bit(0));
    steps.line(Line::sum(difference.source(), added, CarryIn::Zero, result));
    steps.finish()
}

/// `1/m` modulo `B^n`, for odd `m` of `n` limbs.
struct OfModulus;

impl Inverse for OfModulus {
    fn short_limbs(steps: &Steps) -> u32 {
        if steps.is_tiled() { SHORT_LIMBS_OF_TILES } else { SHORT_LIMBS }
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
    let mark = steps.mark();
    let one = Source::constant(1);
    correct(steps, ([m, known], one), known, to);
    steps.release(mark);
}

/// `t/m` modulo `B^n`, by the inverse of `m` in half of the limbs.
fn divide_exactly(steps: &mut Steps, [t, m]: [Number; 2], to: Number) {
    let k = OfModulus::limbs_before(m.limbs);
    let mark = steps.mark();
    let inverse = OfModulus::of(steps, OfModulus::deciding(m, k));
    let first = steps.lower_product(t.section(0, k), inverse, k).section(0, k);
    correct(steps, ([m, inverse], t.source()), first, to);
    steps.release(mark);
}

/// `t/m` modulo `B^n` from `x`, which is `t/m` modulo `B^k`, and the inverse of `m` modulo `B^k`.
fn correct(steps: &mut Steps, ([m, inverse], t): ([Number; 2], Source), x: Number, to: Number) {
    let (n, k) = (m.limbs, x.limbs);
    let (product, excess) = steps.product_less(m, x);
    let rest = steps.reserve_aligned(n);
    // A carry leaves the lower limbs where that of `t − m·x + H` does: they are those of `H`.
    let to_rest = rest.place(32 * n);
    steps.line(if excess == 0 {
        Line::difference(t, product.source(), to_rest)
    } else {
        let rows = [Some(product.source().turned()), Some(Source::constant(excess + 1)), None];
        Line::terms(t, Terms { rows, multiple: None, words: None }, to_rest)
    });
    let upper = steps.lower_product(inverse.section(0, n - k), rest.section(k, n - k), n - k);
    let upper = upper.section(0, n - k).source().up(32 * k);
    steps.line(Line::of(x.source(), Function::Or(upper), to.place(32 * n)));
}
