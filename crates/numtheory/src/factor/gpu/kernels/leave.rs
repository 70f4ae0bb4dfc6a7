//! `ecm_check`, `ecm_quotient`, `ecm_product`: numbers leave their form at the end of a stage.
//!
//! computes   `ecm_check`: does a ladder pass its check (status 0), and the denominator `Z` of its first point, plain.
//!            `ecm_quotient`: `X·Z⁻¹`, plain. `ecm_product`: the product of the second stage, plain
//! requires   residues in the state
//! cost       12 products, 1 and ½
//!
//! A ladder checks itself: its two points always differ by the start. With `s = x·u`, `t = z·v`, `f = x·v`, `g = u·z` of the points `(x : z)`
//! and `(u : v)`, the start `(a : 1)` fulfils `(f − g)²·a² + (s − t)² = 2a·((f + g)(s + t) + 2A·s·t)`. The check finds a slip
//! anywhere in the ladder; it cannot find a wrong bit of the exponent.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_launch::{Frame, piece};

use super::residues::Residues;
use super::{Class, constant, load, state};

pub(super) fn check(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    let [x, z, u, v] = [0, 1, 2, 3].map(|i| load(b, frame, class, 1, state::HERE + i));
    // The order leaves the fewest numbers in registers.
    let f = r.mul(b, &x, &v);
    let s = r.mul(b, &x, &u);
    let t = r.mul(b, &z, &v);
    let g = r.mul(b, &u, &z);
    let plain = r.plain(b, &z);
    frame.store(b, 0, &plain);
    let (sum, difference) = (r.add(b, &f, &g), r.sub(b, &f, &g));
    let a = load(b, frame, class, 0, constant::START);
    let left = r.mul(b, &difference, &a);
    let left = r.square(b, &left);
    let other = r.sub(b, &s, &t);
    let other = r.square(b, &other);
    let left = r.add(b, &left, &other);
    let product = r.mul(b, &s, &t);
    let other = r.add(b, &s, &t);
    let other = r.mul(b, &sum, &other);
    // 2A = 8d − 4.
    let twice = |b: &mut Builder, x: &[R32]| {
        let sum = r.add(b, x, x);
        r.fold(b, &sum)
    };
    let mut eight = load(b, frame, class, 0, constant::D);
    let mut four = load(b, frame, class, 0, constant::ONE);
    for doubling in 0..3 {
        eight = twice(b, &eight);
        if doubling < 2 {
            four = twice(b, &four);
        }
    }
    let coefficient = r.sub(b, &eight, &four);
    let product = r.mul(b, &coefficient, &product);
    let right = r.add(b, &other, &product);
    let right = r.mul(b, &right, &a);
    let right = r.add(b, &right, &right);
    let one = load(b, frame, class, 0, constant::ONE);
    let [left, right] = [left, right].map(|sum| {
        let residue = r.mul(b, &sum, &one);
        r.canonical(b, &residue)
    });
    let different: Vec<R32> = left.iter().zip(&right).map(|(&x, &y)| b.xor(x, y)).collect();
    let same = frame.spread.is_zero(b, &different);
    let status = b.select(0, 1, same);
    frame.store_status(b, status);
}

pub(super) fn quotient(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    let x = load(b, frame, class, 1, state::HERE);
    let inverse = load(b, frame, class, 2, 0);
    let quotient = r.mul(b, &x, &inverse);
    let quotient = r.canonical(b, &quotient);
    frame.store(b, 0, &quotient);
}

pub(super) fn product(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    let product = load(b, frame, class, 1, state::PRODUCT);
    let plain = r.plain(b, &product);
    let row = frame.result_row(b, 0);
    frame.write(b, row, class.limbs, piece(class.limbs), &plain);
}
