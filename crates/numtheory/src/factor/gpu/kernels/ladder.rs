//! `ecm_ladder`: some bits of a ladder.
//!
//! computes   from `(k·P, (k + 1)·P)` the same for `k` with more bits of the exponent; it begins with `k = 0`. The points of a sequence of
//!            Lucas are its values `V`
//! requires   the control words: the number of bits that are left, how many of them to do (one or more), is this the beginning?
//! cost       a bit: 4 products and 4 squares, and products by `d` and by the start. Of the third family these are one row of a product and
//!            a doubling. Of a sequence: a product and a square
//! registers  about `7·length + 50`
//!
//! The exponent is common to all lanes, so its bits are, too. Which point is doubled is told by predicates, not by branches: the code is there
//! once. The points stay in their registers until a bit differs from the bit before it.
//!
//! source: Montgomery 1987.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Sum, Term, assign, select};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::Frame;

use super::points::{Point, load_points};
use super::residues::{Coefficient, Parameters, Residues};
use super::{Class, Line, constant, load, state, store_number, turned_control};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    b.section("load");
    let (turned, [left, count, begins]) = turned_control(b, frame, class);
    let frame = &turned;
    let residues = Residues::new(b, frame, class);
    // k = 0: the neutral element, (1 : 0) or 2, and the start, (x : 1) or x.
    let one = load(b, frame, class, 0, constant::ONE);
    let start = load(b, frame, class, 0, constant::START);
    let coordinates: [Point; 2] = match class.line {
        Line::Curve => {
            let zero = one.iter().map(|_| b.copy(0)).collect();
            [vec![one.clone(), zero], vec![start, one]]
        }
        Line::Lucas | Line::Power => [vec![twice(b, &residues, &one)], vec![start]],
    };
    let points = coordinates.map(|point| {
        let copy = |b: &mut Builder, number: &[R32]| number.iter().map(|&limb| b.copy(limb)).collect::<Vec<R32>>();
        point.iter().map(|number| copy(b, number)).collect::<Point>()
    });
    let row = frame.result_row(b, 0);
    let goes_on = b.compare(Cmp::Eq, begins, 0);
    let places = [(state::HERE, &points[0]), (state::AFTER, &points[1])];
    b.if_(goes_on, |b| load_points(b, frame, class, row, places));
    b.section("ladder");
    let stepper = Stepper::new(b, frame, class, &residues);
    let exponent = frame.operand_row(b, 2);
    let before = b.copy(0);
    let end = b.sub(left, count);
    b.do_while(|b| {
        let bit = next_bit(b, left, exponent);
        let changes = b.compare(Cmp::Ne, bit, before);
        b.set(before, bit);
        let [here, other] = ordered(b, changes, &points);
        let stepped = stepper.step(b, &residues, [&here, &other]);
        for (to, from) in points.iter().flatten().zip(stepped.iter().flatten()) {
            assign(b, to, from);
        }
        b.compare(Cmp::Gt, left, end)
    });
    b.section("store");
    // The point that was doubled last is the higher one if the last bit was set.
    let changes = b.compare(Cmp::Ne, before, 0);
    for (first, point) in [state::HERE, state::AFTER].into_iter().zip(ordered(b, changes, &points)) {
        for (number, value) in (first..).zip(&point) {
            match class.line {
                Line::Curve => store_number(b, frame, class, row, number, value),
                // The values of a sequence were sums.
                Line::Lucas | Line::Power => {
                    let value = residues.fold(b, value);
                    store_number(b, frame, class, row, number, &value);
                }
            }
        }
    }
}

/// The next bit of an exponent from the top: one bit less is left.
pub(super) fn next_bit(b: &mut Builder, left: R32, exponent: R64) -> R32 {
    let place = b.sub(left, 1);
    b.set(left, place);
    let word = b.shr(left, 5);
    let address = b.mad_wide(word, 4, exponent);
    let word = b.load_global(Space::GlobalConst, Vector::V1, address, 0)[0];
    let place = b.and(left, 31);
    let bit = b.shr(word, place);
    b.and(bit, 1)
}

/// The points, in the other order if `changes`.
fn ordered(b: &mut Builder, changes: Pred, [one, other]: &[Point; 2]) -> [Point; 2] {
    [(one, other), (other, one)]
        .map(|(one, other)| one.iter().zip(other).map(|(one, other)| select(b, changes, other, one)).collect())
}

/// What a step needs.
struct Stepper {
    line: StepperLine,
    interleaved: bool,
}

/// What a step needs of a line.
enum StepperLine {
    Curve(Parameters),
    /// 2, and the start.
    Lucas([Vec<R32>; 2]),
}

impl Stepper {
    fn new(b: &mut Builder, frame: &Frame, class: Class, residues: &Residues) -> Self {
        let line = match class.line {
            Line::Curve => StepperLine::Curve(Parameters::new(b, frame, class)),
            Line::Lucas | Line::Power => {
                let one = load(b, frame, class, 0, constant::ONE);
                StepperLine::Lucas([twice(b, residues, &one), load(b, frame, class, 0, constant::START)])
            }
        };
        Self { line, interleaved: class.form.interleaves() }
    }

    /// The first point doubled, and the sum of both, which differ by the start.
    fn step(&self, b: &mut Builder, r: &Residues, [one, other]: [&Point; 2]) -> [Point; 2] {
        match &self.line {
            StepperLine::Curve(parameters) => {
                let points = [&one[0], &one[1], &other[0], &other[1]].map(Clone::clone);
                let step = if self.interleaved { step_interleaved } else { step };
                let [x, z, u, v] = step(b, r, parameters, points);
                [vec![x, z], vec![u, v]]
            }
            StepperLine::Lucas([two, start]) => {
                let [square, product] = if self.interleaved {
                    r.all(b, [Term::Square(&one[0]), Term::product(&one[0], &other[0])])
                } else {
                    [r.square(b, &one[0]), r.mul(b, &one[0], &other[0])]
                };
                // Sums are factors of the next step as they are.
                [vec![r.sub(b, &square, two)], vec![r.sub(b, &product, start)]]
            }
        }
    }
}

/// `2x`, a residue.
pub(super) fn twice(b: &mut Builder, r: &Residues, x: &[R32]) -> Vec<R32> {
    let sum = r.add(b, x, x);
    r.fold(b, &sum)
}

/// `2·(x : z)`, and `(x : z) + (u : v)`, whose difference is the start.
fn step(b: &mut Builder, r: &Residues, parameters: &Parameters, [x, z, u, v]: [Vec<R32>; 4]) -> [Vec<R32>; 4] {
    let (plus, minus) = (r.add(b, &x, &z), r.sub(b, &x, &z));
    let (s, t) = (r.sub(b, &u, &v), r.add(b, &u, &v));
    let f = r.mul(b, &s, &plus);
    let g = r.mul(b, &t, &minus);
    let (sum, difference) = (r.add(b, &f, &g), r.sub(b, &f, &g));
    let u = r.square(b, &sum);
    let square = r.square(b, &difference);
    let v = parameters.by_start(b, r, &square);
    let [x, z] = double(b, r, parameters, [plus, minus]);
    [x, z, u, v]
}

/// The same with four products or squares at a time.
fn step_interleaved(
    b: &mut Builder,
    r: &Residues,
    parameters: &Parameters,
    [x, z, u, v]: [Vec<R32>; 4],
) -> [Vec<R32>; 4] {
    let [plus, minus, s, t] = r.sums(b, [Sum::Add(&x, &z), Sum::Sub(&x, &z), Sum::Sub(&u, &v), Sum::Add(&u, &v)]);
    let [f, g, p, q] =
        r.all(b, [Term::product(&s, &plus), Term::product(&t, &minus), Term::Square(&plus), Term::Square(&minus)]);
    let [e, sum, difference] = r.sums(b, [Sum::Sub(&p, &q), Sum::Add(&f, &g), Sum::Sub(&f, &g)]);
    let [first, second, third] = [Term::Square(&sum), Term::Square(&difference), Term::product(&p, &q)];
    match &parameters.d {
        // One row is short: the product that needs it waits for it, and is made with the others.
        Coefficient::Word(_) => {
            let de = parameters.by_d(b, r, &e);
            let bottom = r.add(b, &q, &de);
            let [u, square, x, z] = r.all(b, [first, second, third, Term::product(&e, &bottom)]);
            [x, z, u, parameters.by_start(b, r, &square)]
        }
        Coefficient::Residue(d) => {
            let [u, square, x, de] = r.all(b, [first, second, third, Term::product(&e, d)]);
            let bottom = r.add(b, &q, &de);
            let [z, v] = match &parameters.start {
                Some(start) => r.all(b, [Term::product(&e, &bottom), Term::product(&square, start)]),
                None => [r.mul(b, &e, &bottom), parameters.by_start(b, r, &square)],
            };
            [x, z, u, v]
        }
    }
}

/// `2·(x : z)` from `x + z` and `x − z`.
pub(super) fn double(
    b: &mut Builder,
    r: &Residues,
    parameters: &Parameters,
    [plus, minus]: [Vec<R32>; 2],
) -> [Vec<R32>; 2] {
    let (p, q) = (r.square(b, &plus), r.square(b, &minus));
    let e = r.sub(b, &p, &q);
    let x = r.mul(b, &p, &q);
    let de = parameters.by_d(b, r, &e);
    let sum = r.add(b, &q, &de);
    [x, r.mul(b, &e, &sum)]
}
