//! `power_ladder`: some bits of a power, for P−1.
//!
//! computes   from `xᵏ` the same for `k` with more bits of the exponent; it begins with `k = 0`
//! requires   the control words of a ladder
//! cost       a bit: a square; for a bit that is set a product
//!
//! The exponent is common to all lanes, so no warp divides where a bit is set.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::assign;
use warpmp_kernel::ir::Cmp;
use warpmp_launch::Frame;

use super::ladder::next_bit;
use super::residues::Residues;
use super::{Class, constant, load, load_number, state, store_number, turned_control};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    b.section("load");
    let (turned, [left, count, begins]) = turned_control(b, frame, class);
    let frame = &turned;
    let r = Residues::new(b, frame, class);
    let [one, start] = [constant::ONE, constant::START].map(|number| load(b, frame, class, 0, number));
    let power: Vec<R32> = one.iter().map(|&limb| b.copy(limb)).collect();
    let row = frame.result_row(b, 0);
    let goes_on = b.compare(Cmp::Eq, begins, 0);
    b.if_(goes_on, |b| {
        let stored = load_number(b, frame, class, row, state::HERE);
        assign(b, &power, &stored);
    });
    b.section("ladder");
    let exponent = frame.operand_row(b, 2);
    let end = b.sub(left, count);
    b.do_while(|b| {
        let bit = next_bit(b, left, exponent);
        let square = r.square(b, &power);
        assign(b, &power, &square);
        let is_set = b.compare(Cmp::Ne, bit, 0);
        b.if_(is_set, |b| {
            let product = r.mul(b, &power, &start);
            assign(b, &power, &product);
        });
        b.compare(Cmp::Gt, left, end)
    });
    b.section("store");
    store_number(b, frame, class, row, state::HERE, &power);
}
