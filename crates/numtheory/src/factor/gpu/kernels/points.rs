//! `ecm_babies`, `ecm_giants`: the points of a second stage.
//!
//! computes   `ecm_babies`: `j·Q` for the next baby steps `j`, with `Q` the start. `ecm_giants`: the next giant steps
//! requires   `ecm_babies`: for each baby step half its distance from the one before it, 0 for the first, which is 1; the last baby step and
//!            the odd multiple before it in the state, unless this is the beginning. `ecm_giants`: the next two points and their distance
//!            in the state
//! cost       4 products and 2 squares for each odd number up to the last baby step, and for each giant step; a product for a sequence of Lucas
//! registers  about `11·length + 40`

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{Sum, Term, assign};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::Frame;

use super::columns::Columns;
use super::ladder::{double, twice};
use super::residues::{Parameters, Residues};
use super::{Class, Line, constant, control, load, load_number, state, store_number, turned_control};

/// A point `(X : Z)`, or `V` alone.
pub(super) type Point = Vec<Vec<R32>>;

pub(super) fn babies(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    let [slots, count, x_slot, z_slot, begins] = control(b, frame, 1);
    let columns = Columns::new(b, frame, class, 3, slots);
    let [x, one] = [constant::START, constant::ONE].map(|number| load(b, frame, class, 0, number));
    let (first, two): (Point, Point) = match class.line {
        Line::Curve => {
            let (plus, minus) = (r.add(b, &x, &one), r.sub(b, &x, &one));
            let parameters = Parameters::new(b, frame, class);
            let two = double(b, &r, &parameters, [plus, minus]);
            (vec![x, one], two.into())
        }
        Line::Lucas | Line::Power => {
            let (square, two) = (r.square(b, &x), twice(b, &r, &one));
            let value = r.sub(b, &square, &two);
            (vec![x], vec![r.fold(b, &value)])
        }
    };
    // The difference of Q and 2Q is −Q, which has the x of Q.
    let [before, here]: [Point; 2] =
        [(); 2].map(|()| first.iter().map(|it| it.iter().map(|&limb| b.copy(limb)).collect()).collect());
    let row = frame.result_row(b, 0);
    let places = [(state::HERE, &here), (state::AFTER, &before)];
    let goes_on = b.compare(Cmp::Eq, begins, 0);
    b.if_(goes_on, |b| load_points(b, frame, class, row, places));
    // 2Q waits in memory.
    for (number, value) in (state::STEP..).zip(&two) {
        store_number(b, frame, class, row, number, value);
    }
    let gaps = frame.operand_row(b, 2);
    let gaps = b.copy64(gaps);
    let index = b.copy(0);
    b.do_while(|b| {
        let gap = b.load_global(Space::GlobalConst, Vector::V1, gaps, 0)[0];
        let some = b.compare(Cmp::Ne, gap, 0);
        b.if_(some, |b| {
            b.do_while(|b| {
                advance(b, frame, class, &r, [&here, &before], state::STEP);
                let less = b.sub(gap, 1);
                b.set(gap, less);
                b.compare(Cmp::Ne, gap, 0)
            });
        });
        store(b, &columns, index, [x_slot, z_slot], &here);
        let next = b.add64(gaps, 4_u64);
        b.set64(gaps, next);
        let next = b.add(index, 1);
        b.set(index, next);
        b.compare(Cmp::Lt, index, count)
    });
    store_points(b, frame, class, row, places);
}

pub(super) fn giants(b: &mut Builder, frame: &Frame, class: Class) {
    let (turned, [slots, count, x_slot, z_slot, _, _]) = turned_control(b, frame, class);
    let frame = &turned;
    let r = Residues::new(b, frame, class);
    let columns = Columns::new(b, frame, class, 2, slots);
    let row = frame.result_row(b, 0);
    let coordinates = if class.line == Line::Curve { 2 } else { 1 };
    let mut copy = |first: u32| -> Point {
        let numbers = (first..first + coordinates).map(|number| {
            let limbs = load_number(b, frame, class, row, number);
            limbs.iter().map(|&limb| b.copy(limb)).collect()
        });
        numbers.collect()
    };
    let [here, after] = [copy(state::HERE), copy(state::AFTER)];
    let index = b.copy(0);
    b.do_while(|b| {
        store(b, &columns, index, [x_slot, z_slot], &here);
        advance(b, frame, class, &r, [&after, &here], state::STEP);
        let next = b.add(index, 1);
        b.set(index, next);
        b.compare(Cmp::Lt, index, count)
    });
    store_points(b, frame, class, row, [(state::HERE, &here), (state::AFTER, &after)]);
}

/// Loads points from the state, each from a number on.
pub(super) fn load_points(b: &mut Builder, frame: &Frame, class: Class, row: R64, points: [(u32, &Point); 2]) {
    for (first, point) in points {
        for (number, value) in (first..).zip(point) {
            let stored = load_number(b, frame, class, row, number);
            assign(b, value, &stored);
        }
    }
}

/// Stores points in the state, each from a number on.
fn store_points(b: &mut Builder, frame: &Frame, class: Class, row: R64, points: [(u32, &Point); 2]) {
    for (first, point) in points {
        for (number, value) in (first..).zip(point) {
            store_number(b, frame, class, row, number, value);
        }
    }
}

/// Stores the coordinates, each in its slot; a value `V` goes to the first one.
fn store(b: &mut Builder, columns: &Columns, index: R32, slots: [R32; 2], point: &Point) {
    for (slot, number) in slots.into_iter().zip(point) {
        let slot = b.add(slot, index);
        columns.store(b, slot, number);
    }
}

/// `(here, before)` becomes `(here + step, here)`, where `before = here − step`. The step is in the state.
fn advance(b: &mut Builder, frame: &Frame, class: Class, r: &Residues, [here, before]: [&Point; 2], step: u32) {
    let row = frame.result_row(b, 0);
    let next = match class.line {
        Line::Curve => {
            let [u, v] = [step, step + 1].map(|number| load_number(b, frame, class, row, number));
            let sum = if class.form.interleaves() { sum_interleaved } else { sum };
            sum(b, r, [&here[0], &here[1]], [&u, &v], before)
        }
        Line::Lucas | Line::Power => {
            let step = load_number(b, frame, class, row, step);
            let product = r.mul(b, &here[0], &step);
            let value = r.sub(b, &product, &before[0]);
            vec![r.fold(b, &value)]
        }
    };
    for (before, here) in before.iter().zip(here) {
        assign(b, before, here);
    }
    for (here, next) in here.iter().zip(&next) {
        assign(b, here, next);
    }
}

/// `(x : z) + (u : v)`, with their difference.
fn sum(b: &mut Builder, r: &Residues, [x, z]: [&[R32]; 2], [u, v]: [&[R32]; 2], difference: &Point) -> Point {
    let (s, t) = (r.sub(b, x, z), r.add(b, u, v));
    let f = r.mul(b, &s, &t);
    let (s, t) = (r.add(b, x, z), r.sub(b, u, v));
    let g = r.mul(b, &s, &t);
    let (plus, minus) = (r.add(b, &f, &g), r.sub(b, &f, &g));
    let plus = r.square(b, &plus);
    let next_x = r.mul(b, &plus, &difference[1]);
    let minus = r.square(b, &minus);
    vec![next_x, r.mul(b, &minus, &difference[0])]
}

/// The same with two products or squares at a time.
fn sum_interleaved(
    b: &mut Builder,
    r: &Residues,
    [x, z]: [&[R32]; 2],
    [u, v]: [&[R32]; 2],
    difference: &Point,
) -> Point {
    let [s, t, plus, minus] = r.sums(b, [Sum::Sub(x, z), Sum::Add(u, v), Sum::Add(x, z), Sum::Sub(u, v)]);
    let [f, g] = r.all(b, [Term::product(&s, &t), Term::product(&plus, &minus)]);
    let [plus, minus] = r.sums(b, [Sum::Add(&f, &g), Sum::Sub(&f, &g)]);
    let [plus, minus] = r.all(b, [Term::Square(&plus), Term::Square(&minus)]);
    r.all(b, [Term::product(&plus, &difference[1]), Term::product(&minus, &difference[0])]).into()
}
