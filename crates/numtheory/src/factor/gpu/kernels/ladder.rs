//! `ecm_ladder`: some bits of a ladder.
//!
//! computes   from `(k·P, (k + 1)·P)` the same for `k` with more bits of the exponent; it begins with `k = 0`
//! requires   the control words: the number of bits that are left, how many of them to do (one or more), is this the beginning?
//! cost       a bit: 4 products and 4 squares, and products by `d` and by the start. Of the third family these are one row of a product and
//!            a doubling
//! registers  about `7·length + 50`
//!
//! The exponent is common to all lanes, so its bits are, too. Which point is doubled is told by predicates, not by branches: the code is there
//! once. The points stay in their registers until a bit differs from the bit before it.
//!
//! source: Montgomery 1987.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{assign, select};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::Frame;

use super::residues::{Parameters, Residues};
use super::{Class, constant, control, load, load_number, state, store_number};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    b.section("load");
    let residues = Residues::new(b, frame, class);
    let [left, count, begins] = control(b, frame, 1);
    // k = 0: the neutral element (1 : 0), and the start (x : 1).
    let one = load(b, frame, class, 0, constant::ONE);
    let start = load(b, frame, class, 0, constant::START);
    let zero: Vec<R32> = one.iter().map(|_| b.copy(0)).collect();
    let numbers =
        [&one, &zero, &start, &one].map(|number| number.iter().map(|&limb| b.copy(limb)).collect::<Vec<R32>>());
    let row = frame.result_row(b, 0);
    let goes_on = b.compare(Cmp::Eq, begins, 0);
    b.if_(goes_on, |b| {
        for (number, value) in (state::HERE..).zip(&numbers) {
            let stored = load_number(b, frame, class, row, number);
            assign(b, value, &stored);
        }
    });
    b.section("ladder");
    let parameters = Parameters::new(b, frame, class);
    let exponent = frame.operand_row(b, 2);
    let before = b.copy(0);
    let end = b.sub(left, count);
    b.do_while(|b| {
        let place = b.sub(left, 1);
        b.set(left, place);
        let word = b.shr(left, 5);
        let address = b.mad_wide(word, 4, exponent);
        let word = b.load_global(Space::GlobalConst, Vector::V1, address, 0)[0];
        let place = b.and(left, 31);
        let bit = b.shr(word, place);
        let bit = b.and(bit, 1);
        let changes = b.compare(Cmp::Ne, bit, before);
        b.set(before, bit);
        let [x, z, u, v] = [(0, 2), (1, 3), (2, 0), (3, 1)]
            .map(|(one, other): (usize, usize)| select(b, changes, &numbers[other], &numbers[one]));
        let stepped = step(b, &residues, &parameters, [x, z, u, v]);
        for (to, from) in numbers.iter().zip(&stepped) {
            assign(b, to, from);
        }
        b.compare(Cmp::Gt, left, end)
    });
    b.section("store");
    // The point that was doubled last is the higher one if the last bit was set.
    let changes = b.compare(Cmp::Ne, before, 0);
    for (number, (one, other)) in (state::HERE..).zip([(0, 2), (1, 3), (2, 0), (3, 1)]) {
        let value: Vec<R32> = select(b, changes, &numbers[other], &numbers[one]);
        store_number(b, frame, class, row, number, &value);
    }
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
