//! `sums`: sums of points of one memory, several a thread with one inversion.
//!
//! computes   row `first + i` becomes the sum of rows `aᵢ` and `bᵢ`
//! requires   coordinates canonical; no sum reads a row that another sum of the launch writes
//! launch     [`grid`]: [`EACH`] sums a thread, `THREADS` threads a block
//! cost       a sum: 6 products, a square and 1/[`EACH`] of an inversion
//! registers  about `10·L + 30`
//!
//! A row is `x` and `y`. The top limb of `y` marks a row that is no point: [`INFINITY`], [`FAULTY`]; no coordinate reaches
//! these limbs. Every sum is right: equal points, opposite points, a point of order two, the point at infinity. A denominator
//! that would be zero is replaced by one, so it does not disturb the sums that share its inversion. A sum with a
//! faulty row is faulty.
//!
//! source: Montgomery 1987 for inversions together.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::{assign, repeat, select};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Vector};
use warpmp_launch::{Address, Word, parameters, thread_number};

use super::curve::{Constants, Curve, add, same};

/// Threads a block.
const THREADS: u32 = 128;

/// Sums a thread.
pub const EACH: u32 = 16;

/// The top limb of `y` of the point at infinity.
pub const INFINITY: u32 = u32::MAX;

/// The top limb of `y` of a row that is not on the curve.
pub const FAULTY: u32 = u32::MAX - 1;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The rows.
        rows: Address,
        /// The first row that is written.
        target: Address,
        /// Pairs of the numbers of two rows.
        pairs: Address,
        /// Memory for a number for each sum.
        scratch: Address,
        /// Sums.
        sums: Word,
        /// Threads of the launch.
        threads: Word,
    }
}

/// The launch for this many sums.
pub const fn grid(sums: u32) -> Grid {
    Grid { blocks: sums.div_ceil(EACH * THREADS), threads: THREADS, shared_bytes: 0 }
}

/// Writes the kernel.
pub fn build(constants: &Constants) -> Kernel {
    let mut b = Builder::new(&format!("sums_{}", constants.name()), Glue::Every(1));
    // Without the number of blocks ptxas spills at 256 bits for sm_120.
    b.bounds(Bounds { max_threads: Some(THREADS), min_blocks: Some(4), ..Bounds::default() });
    let inputs = Inputs::of(&mut b, false);
    let number = thread_number(&mut b, THREADS);
    let curve = Curve::new(&mut b, constants, number);
    let sums = Sums { inputs, limbs: constants.limbs, curve };
    let product = sums.curve.one(&mut b);
    let sum = b.copy(number);
    sums.each(&mut b, sum, inputs.threads, |b| {
        let terms = sums.terms(b, sum);
        let at = b.mad_wide(sum, 4 * sums.limbs, inputs.scratch);
        store(b, at, 0, &product);
        let denominator = sums.denominator(b, &terms);
        let next = sums.curve.mul(b, &product, &denominator);
        assign(b, &product, &next);
    });
    let inverse = sums.curve.invert(&mut b, &product);
    let back = b.sub(0, inputs.threads);
    b.increase(sum, back);
    sums.each(&mut b, sum, back, |b| {
        let terms = sums.terms(b, sum);
        let at = b.mad_wide(sum, 4 * sums.limbs, inputs.scratch);
        let prefix = sums.load(b, at, 0);
        let denominator = sums.denominator(b, &terms);
        let own = sums.curve.own(b, &inverse, &prefix);
        let rest = sums.curve.mul(b, &inverse, &denominator);
        assign(b, &inverse, &rest);
        let [x, y] = sums.sum(b, &terms, &own);
        let row = b.mad_wide(sum, 8 * sums.limbs, inputs.target);
        store(b, row, 0, &x);
        store(b, row, 4 * sums.limbs, &y);
    });
    b.finish()
}

/// The kernel under construction.
struct Sums {
    inputs: Inputs,
    limbs: u32,
    curve: Curve,
}

/// The coordinates of two rows.
struct Terms {
    s: [Vec<R32>; 2],
    t: [Vec<R32>; 2],
}

impl Sums {
    /// [`EACH`] sums, `step` apart; `sum` ends behind the last.
    fn each(&self, b: &mut Builder, sum: R32, step: R32, body: impl FnOnce(&mut Builder)) {
        repeat(b, EACH, |b| {
            let inside = b.compare(Cmp::Lt, sum, self.inputs.sums);
            b.if_(inside, body);
            b.increase(sum, step);
        });
    }

    fn load(&self, b: &mut Builder, row: R64, offset: u32) -> Vec<R32> {
        (0..self.limbs).flat_map(|i| b.load_global(Space::Global, Vector::V1, row, offset + 4 * i)).collect()
    }

    fn terms(&self, b: &mut Builder, sum: R32) -> Terms {
        let pair = b.mad_wide(sum, 8, self.inputs.pairs);
        let numbers = b.load_global(Space::Global, Vector::V2, pair, 0);
        let mut term = |number: R32| {
            let row = b.mad_wide(number, 8 * self.limbs, self.inputs.rows);
            [0, 4 * self.limbs].map(|offset| self.load(b, row, offset))
        };
        Terms { s: term(numbers[0]), t: term(numbers[1]) }
    }

    /// The denominator of the slope; one where the sum needs no slope.
    fn denominator(&self, b: &mut Builder, terms: &Terms) -> Vec<R32> {
        let Terms { s: [x, y], t: [other, ordinate] } = terms;
        let run = self.curve.difference(b, other, x);
        // Twice the ordinate where both agree, else zero: opposite points.
        let twice = add(b, y, ordinate);
        let vertical = same(b, x, other);
        let run = select(b, vertical, &twice, &run);
        let one = self.curve.one(b);
        let special = self.special(b, terms);
        select(b, special, &one, &run)
    }

    /// Is the sum known without a slope: is a term marked, or are the points opposite?
    fn special(&self, b: &mut Builder, terms: &Terms) -> Pred {
        let opposite = self.opposite(b, terms);
        let [s, t] = [&terms.s, &terms.t].map(|[_, y]| y[y.len() - 1]);
        let mark = b.max(s, t);
        let marked = b.compare(Cmp::Ge, mark, FAULTY);
        b.or_pred(opposite, marked)
    }

    /// Are the points opposite? A point of order two is its own opposite.
    fn opposite(&self, b: &mut Builder, terms: &Terms) -> Pred {
        let Terms { s: [x, y], t: [other, ordinate] } = terms;
        // Carries before predicates: a predicate that lives through a chain of carries costs a register of predicates.
        let negative = self.curve.negate(b, ordinate);
        let sum = add(b, y, ordinate);
        let zeros: Vec<R32> = sum.iter().map(|_| b.copy(0)).collect();
        let vertical = same(b, x, other);
        let opposite = same(b, y, &negative);
        let zero = same(b, &sum, &zeros);
        let opposite = b.or_pred(opposite, zero);
        b.and_pred(vertical, opposite)
    }

    /// The sum, by the inverse of its denominator.
    fn sum(&self, b: &mut Builder, terms: &Terms, inverse: &[R32]) -> [Vec<R32>; 2] {
        let Terms { s, t } = terms;
        let run = self.curve.difference(b, &t[1], &s[1]);
        let tangent = self.curve.tangent(b, &s[0]);
        let vertical = same(b, &s[0], &t[0]);
        let rise = select(b, vertical, &tangent, &run);
        let slope = self.curve.slope(b, &rise, inverse);
        let sum = self.curve.chord(b, [&s[0], &s[1]], &t[0], &slope);
        let special = self.special(b, terms);
        b.if_(special, |b| {
            let marks = [s, t].map(|row| row[1][row[1].len() - 1]);
            let [infinite, fault] = [INFINITY, FAULTY].map(|mark| b.copy(mark));
            let [s_infinite, t_infinite] = marks.map(|mark| b.compare(Cmp::Eq, mark, INFINITY));
            let [s_faulty, t_faulty] = marks.map(|mark| b.compare(Cmp::Eq, mark, FAULTY));
            let faulty = b.or_pred(s_faulty, t_faulty);
            for (sum, (s, t)) in sum.iter().zip(s.iter().zip(t)) {
                // Opposite points, unless a term is marked.
                for ((&sum, &s), &t) in sum.iter().zip(s).zip(t) {
                    let limb = b.select(s, infinite, t_infinite);
                    let limb = b.select(t, limb, s_infinite);
                    let limb = b.select(fault, limb, faulty);
                    b.set(sum, limb);
                }
            }
        });
        sum
    }
}

fn store(b: &mut Builder, row: R64, offset: u32, number: &[R32]) {
    for (i, &limb) in (0..).zip(number) {
        b.store_global(Space::Global, &[limb], row, offset + 4 * i);
    }
}
