//! `ecm_pairs`: the products of pairs of a giant step and a baby step.
//!
//! computes   the product of `x(m·w·Q) − x(j·Q)` over pairs, times the product of the state
//! requires   the baby steps in the slots from 0 on. The list of pairs: for each giant step the number of its baby steps, and their slots
//! cost       a pair: 1 product, and `4·L` bytes of memory
//!
//! The list is common to all lanes, so that no warp divides.
//!
//! source: Montgomery 1987.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::assign;
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::Frame;

use super::columns::Columns;
use super::residues::Residues;
use super::{Class, control, load_number, state, store_number};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    b.section("load");
    let r = Residues::new(b, frame, class);
    let [slots, count, x_slot] = control(b, frame, 1);
    let columns = Columns::new(b, frame, class, 3, slots);
    let row = frame.result_row(b, 0);
    let product = load_number(b, frame, class, row, state::PRODUCT);
    let product: Vec<R32> = product.iter().map(|&limb| b.copy(limb)).collect();
    let list = frame.operand_row(b, 2);
    let list = b.copy64(list);
    let slot = b.copy(x_slot);
    let end = b.add(x_slot, count);
    b.section("pairs");
    b.do_while(|b| {
        let pairs = b.load_global(Space::GlobalConst, Vector::V1, list, 0)[0];
        let giant = columns.load(b, slot);
        let next = b.add64(list, 4_u64);
        b.set64(list, next);
        let some = b.compare(Cmp::Ne, pairs, 0);
        b.if_(some, |b| {
            b.do_while(|b| {
                let baby = b.load_global(Space::GlobalConst, Vector::V1, list, 0)[0];
                let baby = columns.load(b, baby);
                let difference = r.sub(b, &giant, &baby);
                let next = r.mul(b, &difference, &product);
                assign(b, &product, &next);
                let next = b.add64(list, 4_u64);
                b.set64(list, next);
                let left = b.sub(pairs, 1);
                b.set(pairs, left);
                b.compare(Cmp::Ne, pairs, 0)
            });
        });
        let next = b.add(slot, 1);
        b.set(slot, next);
        b.compare(Cmp::Lt, slot, end)
    });
    b.section("store");
    store_number(b, frame, class, row, state::PRODUCT, &product);
}
