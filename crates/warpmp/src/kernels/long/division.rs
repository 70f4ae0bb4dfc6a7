//! Quotients and remainders of long numbers by Newton's iteration on products.
//!
//! computes   `q = ⌊a / d⌋`, `r = a mod d`; `a·b mod m`; `a / d` where nothing remains; a zero divisor or a remainder is the lane's
//!            status
//! cost       in products of two numbers of `k` limbs: the reciprocal about 3, each digit of the quotient 1 and the product of `k` by `n` limbs.
//!            `n`: the limbs of the divisor. `k`: half of the limbs that a quotient usually has. Both up to a multiple of four
//!
//! The divisor and the dividend go up until the divisor's highest one is at the top of `n` limbs: lanes differ in the
//! distance alone. From then on all lanes do the same. Where all lanes have one divisor, its reciprocal is computed once a
//! launch.
//!
//! Exact divisions have the same steps. From below, by the inverse of `d` modulo a power of two, they would take longer: a divisor of
//! any lane may be short, so the inverse would need as many limbs as the dividend has.
//!
//! **Reciprocal.** `B = 2³²`, `D_k` the upper `k` limbs of the divisor `D`. `X_k = B^k + Y_k` is close to `B^2k / D_k` and never
//! greater than `B^2k / (D_k + 1)`. The first one, of about a hundred limbs, comes from the division of short numbers. From `h`
//! limbs to `n`, `2h ≥ n + 4`, with `g ≥ n − h + 2` a step is
//!
//! ```text
//! e = B^(n+h) − D_n·X_h             not negative
//! f = ⌊(e − 1) / B^(h−1)⌋           g limbs
//! Z = ⌊Y_h / B^(h−g)⌋               g limbs
//! Y_n = Y_h·B^(n−h) + ⌊f / B⌋ + ⌊f·Z / B^(g+1)⌋ − 5, at least 0
//! ```
//!
//! **Quotient.** Its digits have `k` limbs. From the top, for what remains, `R < 2D`, and `k` limbs `A` of the dividend, `V = R·B^k + A`. Let
//! `R_k` be `R` without its lower `n − k` limbs: `k` limbs, and the limb `c` above them.
//!
//! ```text
//! q = R_k + ⌊R_k·Y / B^k⌋           at most V / D
//! T = V − q·D                       its upper limbs tell m ≤ T / D < m + 2
//! R = T − m·D
//! ```
//!
//! The next digit begins with this `R`. After the last digit `D` is subtracted where it fits. A digit of the quotient is `q + m`, so it may
//! be too small by 1; the next one is then `B^k` or more. The digits are added in the end.
//!
//! **Few digits.** `c` may be greater than 1. So the digits can begin where a dividend that has gone up has at most 25 bits above `n`
//! limbs. They do, as if no divisor had more than 25 leading zeros. The digits above have kernels that end at once if that is so in
//! all lanes.
//!
//! **Products modulo `B^n + 1`.** They take half as long as products of `n` by `n` limbs, and are enough for `e` and for `T`, which are small. See
//! `estimate.rs`. Where `tensor` is faster, it is the product modulo `B^n − 1`. Those of other lengths are modulo `B^N + 1` with
//! `N ≥ n + 8`, as the lengths of transforms allow.
//!
//! bound: let `X_h ≥ B^2h/D_h − 8`, so `e ≤ 8·B^n`. In units of `X_n` the step's error before cutting is at most `64·B^(n−2h) ≤ 64/B²`; cutting `e` costs
//! at most `2/B`, cutting `Y_h` at most `8/B²`, cutting `f` and the product less than 2. With a product modulo `B^n + 1`, `f` may be 4 too large, which
//! adds at most `8/B`. With `N ≥ n + 8` limbs, `e` modulo `B^N` is `−D·B^h − L + ε` for the product `L − H` and `|ε| < 2·B^(n+h−N) < B^(h−2)`; as `e ≥ B^h`,
//! the line makes `f`, or 1 more or less. The 5 that is subtracted keeps `X_n ≤ B^2n / (D_n + 1)`, as the two sides of this differ from `B^2n / D_n` by at most
//! 4. So `X_n ≥ B^2n/D_n − 8`. Where the 5 would make the sum negative, `Y_n = 0` is small enough, too.
//!
//! `X ≤ B^2k/(D_k + 1)` makes `X/B^k ≤ B^n/D`, so `q ≤ V/D`. As `V < (R_k + 1)·B^n` and `D ≥ D_k·B^(n−k)`, with `c` in `R_k`,
//! `V/D − R_k·X/B^k < B^k/D_k + 8·R_k/B^k < 2 + 8·(c + 1)`. Rounding down makes it less than `11 + 8c`: with `c < 2²⁵`, `T < 2²⁹·D < B^(n+1)`, and `q < 2·(c + 1)·B^k` has
//! `k + 1` limbs. For `m` see `estimate.rs`. From the second digit on, `R < 2D` makes `q + m < 2·B^k`.
//!
//! sources: R. Brent, P. Zimmermann, Modern Computer Arithmetic, 2010, section 3.4.1; the margins, the digits and their corrections are ours.

use warpmp_launch::Spec;

use super::doubling::Inverse;
use super::estimate::{Error, Modulus, Remains, WORDS};
use super::length::{FACTS, Length};
use super::line::{CarryIn, Function, Line, Negative, Place, Terms, Word};
use super::sequence::{Steps, by_products};
use super::source::{Above, Bit, Number, Source};
use crate::kernels::fft::MOST_LIMBS;
use crate::kernels::modular::division::{Division, Parts};
use crate::kernels::{Algorithm, LongSettings, OperationShape, Order};
use crate::operation::{Operation, Status};

/// The row of the register.
pub(in super::super) const ALGORITHM: Algorithm = Algorithm {
    name: "newton",
    summary: "a reciprocal by Newton's iteration on products by transforms, quotients by products with it",
    accepts: "quotients, remainders and modular products; the longest operand from 8193 to 16777216 bits; on a GPU from sm_80 on",
    order: Order::Given,
    fits,
    recipe: &by_products(|shape, settings, _| spec(shape, *settings)),
};

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let serves = matches!(shape.operation, O::DivRem | O::DivExact | O::Rem | O::Reduce | O::MulMod | O::SqrMod);
    serves && (FROM_LIMBS..=MOST_LIMBS).contains(&shape.max_limbs())
}

/// The limbs of the shortest number for which products take the place of schoolbook rows.
const FROM_LIMBS: u32 = 257;

/// Limbs of a thread in a division of short numbers, at least and at most. Eight are fastest for divisors of 2048 to 8192 bits.
pub(super) const DIVISION_LIMBS: [u32; 2] = [3, 8];

/// The same for the first reciprocal, whose numbers are a little longer than 64 or 128 limbs.
const RECIPROCAL_LIMBS: [u32; 2] = [3, 9];

/// The longest first reciprocal, in limbs, and the same where several lanes share a warp: of eight threads with nine limbs each.
const SHORT_LIMBS: u32 = 160;
const SHORT_LIMBS_OF_TILES: u32 = 72;

/// Divisors, digits and reciprocals have a multiple of so many limbs.
const PIECE_LIMBS: u32 = 4;

/// The limbs of the shortest products for which a few limbs more than a power of two count: `tensor` takes 64 at a time.
const LEAST_POWER: u32 = 64;

/// The longest dividend that has whole tiles, and the longest packed line, which has a limb more than half of it, in limbs.
const TILE_LIMBS: u32 = 1088;
const MOST_PACKED_LIMBS: u32 = TILE_LIMBS / 2;

/// Limbs of a divisor and of a digit, at least: shorter factors get zeros above them.
const LEAST_LIMBS: u32 = 130;

/// Digits of a quotient, at most, those above included: each has kernels of its own.
const MOST_DIGITS: u32 = 4;

/// Bits that a dividend may have above the limbs of the divisor where the digits begin.
const BITS_ABOVE: u32 = 25;

/// What keeps reciprocals small enough.
const MARGIN: u32 = 5;

/// How a quotient is divided into digits.
#[derive(Clone, Copy, Debug)]
struct Digits {
    /// Limbs of the divisor, `n`.
    divisor: u32,
    /// Limbs of a digit, `k`.
    limbs: u32,
    /// Digits of a usual quotient.
    usual: u32,
    /// All digits that a quotient may have.
    all: u32,
    /// The greatest distance of a divisor whose quotient has the usual digits.
    most_distance: u32,
}

impl Digits {
    fn of([dividend, divisor]: [Number; 2], [dividend_bits, divisor_bits]: [u32; 2]) -> Self {
        let least = dividend.limbs.div_ceil(MOST_DIGITS).max(LEAST_LIMBS);
        // Parts of rows of whole pieces begin at pieces, which products by `tensor` read at once.
        let n = divisor.limbs.max(least).next_multiple_of(PIECE_LIMBS);
        let quotient = dividend_bits.saturating_sub(divisor_bits).div_ceil(32).max(1);
        // A short reciprocal is worth more products with it, unless all lanes have one.
        let digits = if divisor.common { quotient.div_ceil(n) } else { 2 * quotient.div_ceil(2 * n) };
        let limbs = quotient.div_ceil(digits).max(least).next_multiple_of(PIECE_LIMBS);
        let usual = quotient.div_ceil(limbs);
        // Below the highest bit of the dividend.
        let most_distance = (32 * (usual * limbs + n) + BITS_ABOVE).saturating_sub(dividend_bits);
        let all = if most_distance < 32 * n - 1 { dividend.limbs.div_ceil(limbs) } else { usual };
        Self { divisor: n, limbs, usual, all, most_distance }
    }
}

/// A dividend, and what is known about its divisor.
struct Problem {
    dividend: Number,
    digits: Digits,
    /// The distance of each lane, and whether the divisor is not zero.
    facts: Number,
    valid: Bit,
    /// A word for all lanes: has one of them more than the usual digits? None: no lane may have more.
    has_more: Option<Number>,
    reciprocal: Reciprocal,
}

fn spec(shape: OperationShape, settings: LongSettings) -> Box<dyn Spec> {
    let steps = Steps::new(shape, settings);
    let is_product = matches!(shape.operation, Operation::MulMod | Operation::SqrMod);
    let longest = shape.max_limbs() * if is_product { 2 } else { 1 };
    let mut steps = if longest <= TILE_LIMBS { steps.with_whole_tiles(MOST_PACKED_LIMBS) } else { steps };
    let operands: Vec<Number> = (0..shape.operands().len()).map(|i| steps.operand(i)).collect();
    let bits: Vec<u32> = (0..operands.len()).map(|i| steps.operand_bits(i)).collect();
    let results = [0, 1].map(|i| steps.result(i));
    if shape.operation == Operation::DivRem {
        let rest = [1, 2].map(|i| steps.result(i));
        divide(&mut steps, ([operands[0], operands[1]], [bits[0], bits[1]]), Some(results[0]), rest);
        return steps.finish();
    }
    if shape.operation == Operation::DivExact {
        divide_exactly(&mut steps, ([operands[0], operands[1]], [bits[0], bits[1]]), results);
        return steps.finish();
    }
    let (dividend, dividend_bits) = if shape.operation == Operation::MulMod {
        (steps.product(operands[0], operands[1]), bits[0] + bits[1])
    } else if shape.operation == Operation::SqrMod {
        (steps.product(operands[0], operands[0]), 2 * bits[0])
    } else {
        (operands[0], bits[0])
    };
    let last = operands.len() - 1;
    divide(&mut steps, ([dividend, operands[last]], [dividend_bits, bits[last]]), None, results);
    steps.finish()
}

/// The quotient where nothing remains, and the status.
fn divide_exactly(steps: &mut Steps, ([dividend, divisor], bits): ([Number; 2], [u32; 2]), results: [Place; 2]) {
    let [whole, rest] = [dividend, divisor].map(|it| steps.reserve(it.limbs));
    let fault = steps.reserve(1);
    let [to_whole, to_rest] = [whole, rest].map(|it| it.place(32 * it.limbs));
    divide(steps, ([dividend, divisor], bits), Some(to_whole), [to_rest, fault.place(32)]);
    exact_quotient(steps, [whole, rest, fault], results);
}

/// The quotient and the status of an exact division from quotient, remainder and status of a division: the quotient is zero unless the remainder is.
pub(in crate::kernels) fn exact_quotient(
    steps: &mut Steps,
    [whole, rest, fault]: [Number; 3],
    [quotient, status]: [Place; 2],
) {
    let order = steps.reserve(1);
    // 0 where nothing remains, else 1.
    steps.line(Line::order(rest.source(), Source::constant(0), rest.limbs, order));
    let remains = order.bit(0);
    steps.line(Line::copy(whole.source().kept_where(remains.not()), quotient));
    let inexact = Source::constant(Status::NotExact.code()).kept_where(remains);
    steps.line(Line::of(fault.source(), Function::Or(inexact), status));
}

/// Quotient, if asked for, remainder and status, of numbers of at most these bits.
pub(super) fn divide(
    steps: &mut Steps,
    ([dividend, divisor], bits): ([Number; 2], [u32; 2]),
    quotient: Option<Place>,
    [remainder, status]: [Place; 2],
) {
    let digits = Digits::of([dividend, divisor], bits);
    let n = digits.divisor;
    let has_more = (digits.all > digits.usual).then(|| steps.cleared_word());
    let most = has_more.map(|_| digits.most_distance);
    let (facts, verdict, reciprocal) = steps.shared(divisor.common, |steps| {
        let facts = steps.reserve(FACTS);
        let verdict = if divisor.common { steps.reserve(1) } else { status.row };
        let length = Length { divisor: divisor.limbs, common: divisor.common, limbs: n, even: false, most };
        steps.push(Box::new(length), [divisor, facts, verdict].into_iter().chain(has_more));
        let top = steps.part(divisor.source().moved(facts, 0, true), n);
        (facts, verdict, Reciprocal::of_divisor(steps, top, digits.limbs))
    });
    if divisor.common {
        steps.line(Line::copy(verdict.source(), status));
    }
    let problem = Problem { dividend, digits, facts, valid: facts.bit(32), has_more, reciprocal };
    problem.quotient(steps, quotient, remainder);
}

/// A divisor of `n` limbs whose highest bit is set, and `Y` with `B^k + Y` close to `B^2k / d`, `d` its upper `k` limbs.
#[derive(Clone, Copy)]
pub(super) struct Reciprocal {
    divisor: Number,
    inverse: Number,
}

/// `Y`, as Newton's iteration computes it.
struct Upper;

impl Inverse for Upper {
    fn short_limbs(steps: &Steps) -> u32 {
        if steps.is_tiled() { SHORT_LIMBS_OF_TILES } else { SHORT_LIMBS }
    }

    fn limbs_before(limbs: u32) -> u32 {
        let usual = limbs.div_ceil(2) + 2;
        // A product of a few limbs more than a power of two takes longer: some more known limbs leave fewer limbs to correct.
        let corrected = limbs + 2 - usual;
        let power = 1 << corrected.ilog2();
        let more = if power >= LEAST_POWER && corrected - power <= power / 32 { corrected - power } else { 0 };
        (usual + more).next_multiple_of(PIECE_LIMBS)
    }

    fn deciding(divisor: Number, limbs: u32) -> Number {
        divisor.section(divisor.limbs - limbs, limbs)
    }

    fn first(steps: &mut Steps, divisor: Number, to: Number) {
        first(steps, divisor, to);
    }

    fn step(steps: &mut Steps, divisor: Number, known: Number, to: Number) {
        step(steps, divisor, known, to);
    }
}

/// The first reciprocal: `⌊(B^2n − 1) / d⌋ − B^n − 5`, at least 0.
fn first(steps: &mut Steps, divisor: Number, to: Number) {
    let n = divisor.limbs;
    let mark = steps.mark();
    let ones = steps.shared(true, |steps| steps.part(Source::constant(0).turned(), 2 * n));
    let quotient = quotient_of_short(steps, [ones, divisor], RECIPROCAL_LIMBS);
    // The quotient is from B^n to 2·B^n − 1: its lower limbs are what is more than B^n.
    steps.line(less(quotient.source().lowest(32 * n), MARGIN, to));
    steps.release(mark);
}

/// The quotient of a division by a short divisor, with the limbs of the dividend. `of_thread`: limbs of a thread, at least and at most.
pub(in crate::kernels) fn quotient_of_short(
    steps: &mut Steps,
    [dividend, divisor]: [Number; 2],
    of_thread: [u32; 2],
) -> Number {
    let layout = steps.short_layout(divisor.limbs, of_thread);
    let [a, d] = [dividend, divisor].map(|it| steps.operand_shape(it));
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
fn step(steps: &mut Steps, divisor: Number, known: Number, to: Number) {
    let (n, h) = (divisor.limbs, known.limbs);
    let mark = steps.mark();
    let modulo = steps.product_modulo(divisor, known);
    let short = modulo.filter(|product| product.limbs == n + 1);
    let least = n - h + 2;
    // A product modulo `B^n + 1` does not tell the limbs above.
    let g = if short.is_some() { least } else { least.next_multiple_of(PIECE_LIMBS) };
    let error = steps.reserve(g);
    let to_error = error.place(32 * g);
    let complement = |product: Number| product.source().down(32 * (h - 1)).turned();
    if let Some(product) = short {
        let words = steps.reserve(WORDS);
        let rows = [product, divisor, known, words];
        steps.push(Box::new(Error::of(&rows)), rows);
        let rows = [Some(divisor.source().up(32).turned()), None, None];
        let terms = Terms { rows, multiple: None, words: Some((words, 0)) };
        steps.line(Line::terms(complement(product), terms, to_error));
    } else {
        let product = match modulo {
            Some(product) => product.section(0, product.limbs - 1),
            None => steps.product(divisor, known),
        };
        // ¬(D·B^h + D·Y) is B^(n+h) − D·X − 1, and ¬(x + y) is ¬x − y. Below limb h nothing is added, so no carry is cut off.
        steps.line(Line::difference(complement(product), divisor.source().up(32), to_error));
    }
    let upper = if g < h { known.section(h - g, g) } else { known };
    let product = steps.product(upper, error);
    let shifted = known.source().up(32 * (n - h));
    let [error, product] = [error.source().down(32), product.source().down(32 * (g + 1))];
    // ¬(x − 1) is −x.
    let margin = Source::constant(MARGIN - 1).turned();
    let terms = Terms { rows: [Some(error), Some(product), Some(margin)], multiple: None, words: None };
    let sum = Line::terms(shifted, terms, to.place(32 * n));
    // A carry leaves the limb above, unless the sum is negative.
    steps.line(Line { limbs: n + 1, negative: Negative::Clears, ..sum });
    steps.release(mark);
}

/// A digit of a quotient, which is still too small.
#[derive(Clone, Copy)]
pub(super) struct Digit {
    /// `q`, of `k + 1` limbs.
    pub(super) estimate: Number,
    /// `m`, a limb.
    pub(super) multiple: Number,
}

/// The end of a division: the divisor is subtracted where it fits, and what remains goes down by the distance of the lane.
#[derive(Clone, Copy)]
pub(super) struct Last {
    facts: Number,
    /// Is the divisor not zero? If it is, nothing remains.
    valid: Bit,
    /// The word that is 1 where the divisor is subtracted.
    word: Number,
}

impl Reciprocal {
    /// The reciprocal of the upper `limbs` limbs of a divisor.
    pub(super) fn of_divisor(steps: &mut Steps, divisor: Number, limbs: u32) -> Self {
        Self { divisor, inverse: Upper::of(steps, Upper::deciding(divisor, limbs)) }
    }

    /// Rows for a digit.
    pub(super) fn digit(self, steps: &mut Steps) -> Digit {
        Digit { estimate: steps.reserve(self.inverse.limbs + 1), multiple: steps.reserve(1) }
    }

    /// A digit, and what remains, less than `2D`, of `R` above the `k` limbs of `A`. `R` has `n + 1` limbs, or `n`. The limb of the digit
    /// above its `k` limbs is added to the multiple of the digit above, if there is one. After the last digit of a packed line, what remains is reduced.
    pub(super) fn divide(
        self,
        steps: &mut Steps,
        (above, lower): (Number, Source),
        digit: Digit,
        before: Option<Digit>,
        (rest, last): (Place, Option<Last>),
    ) {
        let Self { divisor, inverse } = self;
        let (n, k) = (divisor.limbs, inverse.limbs);
        let mark = steps.mark();
        // Long sums have no registers left to shift by a distance of each lane.
        let is_read_once = k < n && steps.packs(n + 1);
        let lower_row = (!is_read_once).then(|| steps.part(lower, k));
        let lower = lower_row.map_or(lower, Number::source);
        let from_upper = above.source().down(32 * (n - k));
        let product = steps.product(above.section(n - k, k), inverse);
        let Digit { estimate, multiple } = digit;
        let words = steps.reserve(WORDS);
        let terms = Terms {
            rows: [Some(product.source().down(32 * k)), None, None],
            multiple: (above.limbs > n).then_some((above, n, inverse.source())),
            words: None,
        };
        steps.line(Line::terms(from_upper, terms, estimate.place(32 * (k + 1))));
        let (taken, modulus) = if let Some(product) = steps.cyclic_product(divisor, estimate) {
            (product, Some(Modulus::Minus))
        } else if let Some(product) = steps.product_modulo(divisor, estimate) {
            (product, Some(Modulus::Plus))
        } else {
            (steps.lower_product(estimate, divisor, n + 1), None)
        };
        let known = [above, taken, inverse, estimate, divisor, multiple, words];
        let lower_row = lower_row.filter(|_| k == n);
        let remains = Remains::of(known, [lower_row, before.map(|before| before.multiple)], modulus);
        let rows = remains.rows();
        steps.push(Box::new(remains), rows);
        // The limbs of V from `N` on, where the product is modulo `B^N ± 1`.
        let whole = taken.limbs - 1;
        let from_above = modulus.map(|modulus| match modulus {
            Modulus::Plus => above.source().down(32 * (whole - k)).turned(),
            Modulus::Minus => above.source().down(32 * (whole - k)),
        });
        let value = above.source().up(32 * k);
        let value = if modulus.is_some() { value.lowest(32 * whole) } else { value };
        let terms = Terms {
            rows: [Some(value), Some(taken.source().turned()), from_above],
            multiple: Some((multiple, 0, divisor.source().turned())),
            words: Some((words, 0)),
        };
        let line = Line::terms(lower.lowest(32 * k), terms, rest);
        steps.line(match last {
            None => line,
            Some(Last { facts, valid, word }) => Line {
                limbs: n + 1,
                less: Some((divisor, valid)),
                lowered: Some((facts, 0)),
                word: Some(Word::Carry(word)),
                ..line
            },
        });
        steps.release(mark);
    }

    /// The line that subtracts the divisor where it fits. The word is 1 there. Where the bit is 0, the divisor is zero: nothing is subtracted, and
    /// nothing remains.
    pub(super) fn reduced(self, rest: Number, valid: Option<Bit>, word: Number, to: Place) -> Line {
        let (rest, divisor) = (rest.source(), self.divisor.source());
        let line = Line::reduced(rest, divisor, self.divisor.limbs + 1, word, to);
        match valid {
            None => line,
            // Without the carry zero and the complement of zero make none.
            Some(valid) => Line {
                x: rest.kept_where(valid),
                function: Function::Sum(divisor.turned(), CarryIn::Bit(valid)),
                ..line
            },
        }
    }
}

impl Problem {
    /// The quotient in digits from the top, and the remainder.
    fn quotient(&self, steps: &mut Steps, quotient: Option<Place>, remainder: Place) {
        let Self { digits, facts, valid, has_more, reciprocal, .. } = *self;
        let Digits { divisor: n, limbs: k, usual, all, .. } = digits;
        let dividend = self.dividend.source().moved(facts, 0, true);
        let rows: Vec<Digit> = (0..all).map(|_| reciprocal.digit(steps)).collect();
        let [first, second] = [0, 1].map(|_| steps.reserve_aligned(n + 1));
        let limbs = |number: u32| dividend.down(32 * k * number);
        let copy = |steps: &mut Steps, number: u32, to: Number| {
            steps.line(Line::copy(limbs(number), to.place(32 * (n + 1))));
        };
        // The usual digits begin with limbs of the dividend, unless the digits above leave a remainder there.
        copy(steps, usual, first);
        if let Some(has_more) = has_more {
            let third = steps.reserve_aligned(n + 1);
            steps.only_where(has_more, |steps| {
                let (mut above, mut other) = (second, third);
                copy(steps, all, above);
                for number in (usual..all).rev() {
                    let before = rows.get(number as usize + 1).copied();
                    let rest = if number == usual { first } else { other };
                    reciprocal.divide(
                        steps,
                        (above, limbs(number)),
                        rows[number as usize],
                        before,
                        (rest.place(32 * (n + 1)), None),
                    );
                    (above, other) = (other, above);
                }
            });
        }
        let word = steps.reserve(1);
        let ends_packed = steps.packs(n + 1);
        let (mut rest, mut other) = (first, second);
        for number in (0..usual).rev() {
            let before = rows.get(number as usize + 1).copied().filter(|_| number + 1 < usual);
            let to = if number == 0 && ends_packed {
                (remainder, Some(Last { facts, valid, word }))
            } else {
                (other.place(32 * (n + 1)), None)
            };
            reciprocal.divide(steps, (rest, limbs(number)), rows[number as usize], before, to);
            (rest, other) = (other, rest);
        }
        if !ends_packed {
            let row = steps.reserve(n);
            steps.line(reciprocal.reduced(rest, Some(valid), word, row.place(32 * n)));
            steps.line(Line::copy(row.source().moved(facts, 0, false), remainder));
        }
        if let Some(quotient) = quotient {
            self.add_digits(steps, &rows, word, quotient);
        }
    }

    /// The quotient from its digits and 1 if the bit is set.
    fn add_digits(&self, steps: &mut Steps, rows: &[Digit], last: Number, quotient: Place) {
        let Digits { limbs: k, usual, all, .. } = self.digits;
        let valid = self.valid;
        let part = |number: u32| Place {
            from: quotient.from + k * number,
            bits: quotient.bits.saturating_sub(32 * k * number),
            ..quotient
        };
        // A digit with the carry into it, and a row for the carry out of it.
        let add = |steps: &mut Steps, number: u32, multiple: Number, carry: Number| {
            let estimate = rows[number as usize].estimate.source().lowest(32 * k).kept_where(valid);
            // Ones above pass the carry on to the end of the line.
            let multiple = multiple.source().with_above(Above::Ones(32 * k)).kept_where(valid);
            let place = Place { bits: part(number).bits.min(32 * k), ..part(number) };
            let leaving = steps.reserve(1);
            let sum = Line::sum(estimate, multiple, CarryIn::Bit(carry.bit(0)), place);
            steps.line(Line { limbs: k, word: Some(Word::Carry(leaving)), ..sum });
            leaving
        };
        let mut carry = last;
        for number in 0..usual {
            carry = add(steps, number, rows[number as usize].multiple, carry);
        }
        // Above the usual digits: what leaves them, and zeros.
        let top = rows[usual as usize - 1].estimate.source().down(32 * k).kept_where(valid);
        if part(usual).bits > 0 {
            steps.line(Line::sum(top, Source::constant(0), CarryIn::Bit(carry.bit(0)), part(usual)));
        }
        if let Some(has_more) = self.has_more {
            steps.only_where(has_more, |steps| {
                let multiple = steps.reserve(1);
                let lowest = rows[usual as usize].multiple.source();
                steps.line(Line::sum(lowest, top, CarryIn::Zero, multiple.place(32)));
                for number in usual..all {
                    let multiple = if number == usual { multiple } else { rows[number as usize].multiple };
                    carry = add(steps, number, multiple, carry);
                }
            });
        }
    }
}
