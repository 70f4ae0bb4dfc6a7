//! `ecm_suyama_bottom`, `ecm_suyama_start`: Suyama's curves from their parameters.
//!
//! computes   with `u = σ² − 5` and `v = 4σ`: `d = (v − u)³(3u + v)/(16u³v)`, and the start `x = u³/v³`.
//!            `ecm_suyama_bottom`: `16u³v⁴`, plain. `ecm_suyama_start`: `d` and `x` from its inverse; status 1 if there is no inverse, or
//!            if `d` is 0 or 1
//! requires   the residue of `σ` in the place of `d`
//! cost       11 products; 22 products
//!
//! source: Suyama, in Montgomery 1987.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_launch::Frame;

use super::residues::Residues;
use super::{Class, constant, load_number, store_number};

/// Numbers of a curve.
struct Parts {
    u: Vec<R32>,
    v: Vec<R32>,
    /// `16u³`.
    cube_u: Vec<R32>,
    /// `v³`.
    cube_v: Vec<R32>,
}

impl Parts {
    fn new(b: &mut Builder, r: &Residues, sigma: &[R32], one: &[R32]) -> Self {
        let four = doubled(b, r, one, 2);
        let five = r.add(b, &four, one);
        let five = r.fold(b, &five);
        let square = r.square(b, sigma);
        let u = r.sub(b, &square, &five);
        let u = r.fold(b, &u);
        let v = doubled(b, r, sigma, 2);
        let [cube_u, cube_v] = [&u, &v].map(|it| {
            let square = r.square(b, it);
            r.mul(b, &square, it)
        });
        Self { cube_u: doubled(b, r, &cube_u, 4), cube_v, u, v }
    }
}

/// A residue times a power of two.
fn doubled(b: &mut Builder, r: &Residues, x: &[R32], times: u32) -> Vec<R32> {
    let mut x = x.to_vec();
    for _ in 0..times {
        let sum = r.add(b, &x, &x);
        x = r.fold(b, &sum);
    }
    x
}

/// The residues of a lane, its constants' row, `σ` and 1.
fn begin(b: &mut Builder, frame: &Frame, class: Class, row: R64) -> (Residues, Vec<R32>, Vec<R32>) {
    let [modulus, sigma, one] =
        [constant::MODULUS, constant::D, constant::ONE].map(|number| load_number(b, frame, class, row, number));
    (Residues::modulo(b, frame.spread, &modulus, class), sigma, one)
}

pub(super) fn bottom(b: &mut Builder, frame: &Frame, class: Class) {
    let row = frame.operand_row(b, 0);
    let (r, sigma, one) = begin(b, frame, class, row);
    let Parts { v, cube_u, cube_v, .. } = Parts::new(b, &r, &sigma, &one);
    let product = r.mul(b, &cube_u, &v);
    let product = r.mul(b, &product, &cube_v);
    let plain = r.plain(b, &product);
    frame.store(b, 0, &plain);
}

pub(super) fn start(b: &mut Builder, frame: &Frame, class: Class) {
    let row = frame.result_row(b, 0);
    let (r, sigma, one) = begin(b, frame, class, row);
    let Parts { u, v, cube_u, cube_v } = Parts::new(b, &r, &sigma, &one);
    let square = load_number(b, frame, class, row, constant::SQUARE);
    let inverse = super::load(b, frame, class, 0, 0);
    let inverse = r.mul(b, &square, &inverse);
    // x = u³·16u³·v/(16u³v⁴).
    let product = r.mul(b, &cube_u, &v);
    let product = r.mul(b, &product, &inverse);
    let square = r.square(b, &u);
    let cube = r.mul(b, &square, &u);
    let x = r.mul(b, &product, &cube);
    store_number(b, frame, class, row, constant::START, &x);
    let inverse = r.mul(b, &inverse, &cube_v);
    let difference = r.sub(b, &v, &u);
    let square = r.square(b, &difference);
    let cube = r.mul(b, &square, &difference);
    let three = doubled(b, &r, &u, 1);
    let three = r.add(b, &three, &u);
    let three = r.fold(b, &three);
    let sum = r.add(b, &three, &v);
    let top = r.mul(b, &cube, &sum);
    let d = r.mul(b, &top, &inverse);
    store_number(b, frame, class, row, constant::D, &d);
    let d = r.canonical(b, &d);
    let same = |b: &mut Builder, x: &[R32], y: &[R32]| {
        let different: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| b.xor(x, y)).collect();
        frame.spread.is_zero(b, &different)
    };
    let singular = frame.spread.is_zero(b, &d);
    let one = r.canonical(b, &one);
    let other = same(b, &d, &one);
    let singular = b.or_pred(singular, other);
    let found = super::load(b, frame, class, 1, 0);
    let unit = frame.spread.small(b, 1);
    let invertible = same(b, &found, &unit);
    let curve = b.not_pred(singular);
    let curve = b.and_pred(curve, invertible);
    let status = b.select(0, 1, curve);
    frame.store_status(b, status);
}
