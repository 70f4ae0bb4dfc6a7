//! Montgomery's arithmetic modulo long odd numbers by products.
//!
//! computes   `t / R mod m` for `t < m·R`, `R = 2^32n`, `n` limbs of `m`: `t = a·b`, `a²`, `a` or an operand; `a·R mod m`
//! cost       in products of two numbers of `n` limbs: `q` about 2, or 1 where all lanes have one modulus; `q·m` 1, or a half where `n` is from 512 to 2048; `a·b` 1.
//!            `a·R mod m` is a division
//!
//! With `q = t/m mod R` the lower limbs of `t` and `q·m` are equal. So `t/R = ⌊t/R⌋ − ⌊q·m/R⌋` modulo `m`, between
//! `−m` and `m`; where it is negative, `m` is added.
//!
//! **Quotient and inverse.** Let `x = 1/m` and `y = t/m` modulo `B^k`, `n ≤ 2k`. Then `t − m·y = B^k·r`, and `t/m` modulo `B^n` is `y + B^k·(r·x mod B^(n−k))`. With `t = 1` and
//! `y = x` this step makes a longer inverse. The first inverse, of about a hundred limbs, comes from the rows of a reduction. Where all lanes have one modulus, its whole inverse is computed
//! once, and `q` is the lower half of `t` times the inverse. Else an inverse of half of the limbs is enough.
//!
//! **Products modulo `B^N + 1`** take half as long. `modulo.rs` has the lower `n` limbs of `m·y − H` for the number `H` that wraps around. The lower `k` limbs of `m·y` equal those of `t`. So the
//! lower `k` limbs of `t − (m·y − H) + e` are `H + e`. This number is less than `B^k`, so the upper limbs are those of `t − m·y`. The lower `n` limbs of `q·m` equal those of `t`, too: `unwrap.rs` makes the
//! whole product from them.
//!
//! bound: every step is exact. `0 ≤ H + e < B^k`: see `modulo.rs`.
//! sources: R. Brent, P. Zimmermann, Modern Computer Arithmetic, 2010, sections 2.4.2 and 2.5; the quotient by half an inverse: A. Karp, P. Markstein, "High-precision division and square root", 1997.
//! The products modulo `B^N + 1` are ours.

use warpmp_launch::{Layout, Spec};

use super::LIMBS;
use super::division::divide;
use super::doubling::Inverse;
use super::line::{CarryIn, Function, Line, MOST_PACKED_LIMBS, Place, Terms, Word};
use super::low_inverse::LowInverse;
use super::sequence::{Steps, by_products};
use super::source::{Bit, Number, Source};
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

/// The limbs of the longest number that rows of a reduction invert.
const SHORT_LIMBS: u32 = 130;

/// The same where several lanes share a warp.
const SHORT_LIMBS_OF_TILES: u32 = 66;

/// The limbs of the longest modulus whose lines are packed.
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
        multiply_by_radix(&mut steps, [operands[0], m], valid, result);
        return steps.finish();
    }
    let t = if shape.operation == O::MontMul {
        steps.product(operands[0], operands[1])
    } else if shape.operation == O::MontSqr {
        steps.product(operands[0], operands[0])
    } else {
        operands[0]
    };
    let lower = if t.limbs < n { steps.part(t.source(), n) } else { t.section(0, n) };
    let q = quotient(&mut steps, lower, m);
    let product = steps.product_above([q, m], lower);
    let [difference, negative] = [n, 1].map(|limbs| steps.reserve(limbs));
    // Where the lane has a fault, all is zero from here on.
    let [upper, taken] = [t, product].map(|it| it.source().down(32 * n).kept_where(valid));
    steps.line(Line { word: Some(Word::Borrow(negative)), ..Line::difference(upper, taken, difference.place(32 * n)) });
    let added = m.source().kept_where(negative.bit(0));
    steps.line(Line::sum(difference.source(), added, CarryIn::Zero, result));
    steps.finish()
}

/// `a·R mod m`, or 0 where the bit is 0.
fn multiply_by_radix(steps: &mut Steps, [a, m]: [Number; 2], valid: Bit, result: Place) {
    let n = m.limbs;
    let shifted = steps.part(a.source().up(32 * n), 2 * n);
    let [residue, unused] = [n, 1].map(|limbs| steps.reserve(limbs));
    let bits = [steps.operand_bits(0) + 32 * n, steps.operand_bits(1)];
    divide(steps, ([shifted, m], bits), None, [residue.place(32 * n), unused.place(32)]);
    steps.line(Line::copy(residue.source().kept_where(valid), result));
}

/// `t/m` modulo `B^n`, for the limbs `n` of `m`.
fn quotient(steps: &mut Steps, t: Number, m: Number) -> Number {
    let q = steps.reserve(m.limbs);
    let mark = steps.mark();
    if m.common {
        let inverse = steps.shared(true, |steps| OfModulus::of(steps, m));
        steps.multiply(t, inverse, q);
    } else {
        let k = OfModulus::limbs_before(m.limbs);
        let inverse = OfModulus::of(steps, OfModulus::deciding(m, k));
        let lower = steps.lower_product(t.section(0, k), inverse, k).section(0, k);
        extend(steps, ([m, inverse], t.source()), lower, q);
    }
    steps.release(mark);
    q
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
        let mark = steps.mark();
        extend(steps, ([m, known], Source::constant(1)), known, to);
        steps.release(mark);
    }
}

/// `t/m` modulo `B^n` from `y`, which is `t/m` modulo `B^k`, and from the inverse of `m` modulo `B^k`.
fn extend(steps: &mut Steps, ([m, inverse], t): ([Number; 2], Source), y: Number, to: Number) {
    let (n, k) = (m.limbs, y.limbs);
    let (product, excess) = steps.product_less_wrapped(m, y);
    let rest = steps.reserve_aligned(n);
    let to_rest = rest.place(32 * n);
    steps.line(if excess == 0 {
        Line::difference(t, product.source(), to_rest)
    } else {
        let rows = [Some(product.source().turned()), Some(Source::constant(excess + 1)), None];
        Line::terms(t, Terms { rows, multiple: None, words: None }, to_rest)
    });
    let upper = steps.lower_product(inverse.section(0, n - k), rest.section(k, n - k), n - k);
    let upper = upper.section(0, n - k).source().up(32 * k);
    steps.line(Line::of(y.source(), Function::Or(upper), to.place(32 * n)));
}
