//! `ecm_denominators`, `ecm_normalise`: `X/Z` of many points with one inversion.
//!
//! computes   `ecm_denominators`: the products of the denominators before each point, and the product of all, plain.
//!            `ecm_normalise`: `X/Z` in place of each `X`
//! requires   `ecm_normalise`: the inverse of the product of all denominators, plain
//! cost       a point: 1 product, and 3
//!
//! source: Montgomery 1987.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Term, assign};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::Frame;

use super::columns::Columns;
use super::residues::Residues;
use super::{Class, constant, load, turned_control};

pub(super) fn denominators(b: &mut Builder, frame: &Frame, class: Class) {
    let (turned, [slots, count, _, z_slot, before_slot, _]) = turned_control(b, frame, class);
    let frame = &turned;
    let r = Residues::new(b, frame, class);
    let columns = Columns::new(b, frame, class, 2, slots);
    let one = load(b, frame, class, 0, constant::ONE);
    let product: Vec<R32> = one.iter().map(|&limb| b.copy(limb)).collect();
    let index = b.copy(0);
    b.do_while(|b| {
        let slot = b.add(before_slot, index);
        columns.store(b, slot, &product);
        let slot = b.add(z_slot, index);
        let z = columns.load(b, slot);
        let next = r.mul(b, &product, &z);
        assign(b, &product, &next);
        let next = b.add(index, 1);
        b.set(index, next);
        b.compare(Cmp::Lt, index, count)
    });
    let plain = r.plain(b, &product);
    frame.store(b, 0, &plain);
}

pub(super) fn normalise(b: &mut Builder, frame: &Frame, class: Class) {
    let (turned, [slots, count, x_slot, z_slot, before_slot, _]) = turned_control(b, frame, class);
    let frame = &turned;
    let r = Residues::new(b, frame, class);
    let columns = Columns::new(b, frame, class, 2, slots);
    let square = load(b, frame, class, 0, constant::SQUARE);
    let inverse = load(b, frame, class, 3, 0);
    let inverse = r.mul(b, &square, &inverse);
    let rest: Vec<R32> = inverse.iter().map(|&limb| b.copy(limb)).collect();
    let index = b.copy(count);
    b.do_while(|b| {
        let last = b.sub(index, 1);
        b.set(index, last);
        let [x_slot, z_slot, before_slot] = [x_slot, z_slot, before_slot].map(|slot| b.add(slot, index));
        let before = columns.load(b, before_slot);
        let next = if class.form.interleaves() {
            let [x, z] = [x_slot, z_slot].map(|slot| columns.load(b, slot));
            let [own, next] = r.all(b, [Term::product(&rest, &before), Term::product(&rest, &z)]);
            let x = r.mul(b, &own, &x);
            columns.store(b, x_slot, &x);
            next
        } else {
            let own = r.mul(b, &rest, &before);
            let x = columns.load(b, x_slot);
            let x = r.mul(b, &own, &x);
            columns.store(b, x_slot, &x);
            let z = columns.load(b, z_slot);
            r.mul(b, &rest, &z)
        };
        assign(b, &rest, &next);
        b.compare(Cmp::Ne, index, 0)
    });
}
