//! `ecm_check`, `ecm_quotient`, `ecm_product`: numbers leave their form at the end of a stage.
//!
//! computes   `ecm_check`: does a ladder pass its check (status 0), and the denominator `Z` of its first point, plain.
//!            `ecm_quotient`: `X·Z⁻¹`, plain. `ecm_product`: the product of the second stage, plain.
//!            `lucas_check`, `power_check`: `V − 2` and `x − 1` in place of `Z`. `lucas_quotient`, `power_quotient`: `V` and `x`
//! requires   residues in the state
//! cost       12 products, 1 and ½
//!
//! A ladder checks itself: its two points always differ by the start. With `s = x·u`, `t = z·v`, `f = x·v`, `g = u·z` of the points `(x : z)`
//! and `(u : v)`, the start `(a : 1)` fulfils `(f − g)²·a² + (s − t)² = 2a·((f + g)(s + t) + 2A·s·t)`. The check finds a slip
//! anywhere in the ladder; it cannot find a wrong bit of the exponent. Values `x` and `u` of a sequence of Lucas that follow one another, and its
//! start `a`, fulfil `x² + u² + a² = x·u·a + 4`. A power has no check.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_launch::{Frame, piece};

use super::ladder::twice;
use super::residues::Residues;
use super::{Class, Line, constant, load, state};

/// What is zero modulo a prime where the start has become the neutral element, and the check.
pub(super) fn check(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    match class.line {
        Line::Curve => check_curve(b, frame, class, &r),
        Line::Lucas => check_lucas(b, frame, class, &r),
        Line::Power => check_power(b, frame, class, &r),
    }
}

fn check_power(b: &mut Builder, frame: &Frame, class: Class, r: &Residues) {
    let x = load(b, frame, class, 1, state::HERE);
    let one = load(b, frame, class, 0, constant::ONE);
    let vanishing = r.sub(b, &x, &one);
    let plain = r.plain(b, &vanishing);
    frame.store(b, 0, &plain);
    // One power alone cannot be checked.
    let sound = b.copy(0);
    frame.store_status(b, sound);
}

fn check_lucas(b: &mut Builder, frame: &Frame, class: Class, r: &Residues) {
    let [x, u] = [state::HERE, state::AFTER].map(|number| load(b, frame, class, 1, number));
    let [one, a] = [constant::ONE, constant::START].map(|number| load(b, frame, class, 0, number));
    let two = twice(b, r, &one);
    let vanishing = r.sub(b, &x, &two);
    let plain = r.plain(b, &vanishing);
    frame.store(b, 0, &plain);
    let [square, other] = [&x, &u].map(|it| r.square(b, it));
    let left = r.add(b, &square, &other);
    let left = r.fold(b, &left);
    let square = r.square(b, &a);
    let left = r.add(b, &left, &square);
    let product = r.mul(b, &x, &u);
    let product = r.mul(b, &product, &a);
    // Late: then few numbers are held at a time.
    let four = twice(b, r, &two);
    let right = r.add(b, &product, &four);
    store_comparison(b, frame, class, r, [left, right]);
}

/// Status 0 if two sums are equal modulo `N`.
fn store_comparison(b: &mut Builder, frame: &Frame, class: Class, r: &Residues, sums: [Vec<R32>; 2]) {
    let one = load(b, frame, class, 0, constant::ONE);
    let [left, right] = sums.map(|sum| {
        let residue = r.mul(b, &sum, &one);
        r.canonical(b, &residue)
    });
    let different: Vec<R32> = left.iter().zip(&right).map(|(&x, &y)| b.xor(x, y)).collect();
    let same = frame.spread.is_zero(b, &different);
    let status = b.select(0, 1, same);
    frame.store_status(b, status);
}

fn check_curve(b: &mut Builder, frame: &Frame, class: Class, r: &Residues) {
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
    let mut eight = load(b, frame, class, 0, constant::D);
    let mut four = load(b, frame, class, 0, constant::ONE);
    for doubling in 0..3 {
        eight = twice(b, r, &eight);
        if doubling < 2 {
            four = twice(b, r, &four);
        }
    }
    let coefficient = r.sub(b, &eight, &four);
    let product = r.mul(b, &coefficient, &product);
    let right = r.add(b, &other, &product);
    let right = r.mul(b, &right, &a);
    let right = r.add(b, &right, &right);
    store_comparison(b, frame, class, r, [left, right]);
}

pub(super) fn quotient(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    let x = load(b, frame, class, 1, state::HERE);
    let quotient = match class.line {
        Line::Curve => {
            let inverse = load(b, frame, class, 2, 0);
            let quotient = r.mul(b, &x, &inverse);
            r.canonical(b, &quotient)
        }
        Line::Lucas | Line::Power => r.plain(b, &x),
    };
    frame.store(b, 0, &quotient);
}

pub(super) fn product(b: &mut Builder, frame: &Frame, class: Class) {
    let r = Residues::new(b, frame, class);
    let product = load(b, frame, class, 1, state::PRODUCT);
    let plain = r.plain(b, &product);
    let row = frame.result_row(b, 0);
    frame.write(b, row, class.limbs, piece(class.limbs), &plain);
}
