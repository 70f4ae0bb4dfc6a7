//! `ecm_pairs`: the products of pairs of a giant step and a baby step.
//!
//! computes   the product of `x(m·w·Q) − x(j·Q)` over pairs, times the product of the state
//! requires   the baby steps in the slots from 0 on. The list of pairs: for each giant step the number of its baby steps, and their slots
//! cost       a pair: 1 product, and `4·L` bytes of memory
//!
//! The list is common to all lanes, so that no warp divides.
//!
//! source: Montgomery 1987.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{Sum, Term, assign, select};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::Frame;

use super::columns::Columns;
use super::residues::Residues;
use super::{Class, TOGETHER, constant, load, load_number, state, store_number, turned_control};

pub(super) fn body(b: &mut Builder, frame: &Frame, class: Class) {
    b.section("load");
    let (turned, [slots, count, x_slot, _, _, start]) = turned_control(b, frame, class);
    let frame = &turned;
    let list = frame.operand_row(b, 2);
    // Else the address is the same for all lanes, which takes fewer registers.
    let list = if class.is_few() { b.mad_wide(start, 4, list) } else { b.copy64(list) };
    let r = Residues::new(b, frame, class);
    let columns = Columns::new(b, frame, class, 3, slots);
    let row = frame.result_row(b, 0);
    let product = load_number(b, frame, class, row, state::PRODUCT);
    let product: Vec<R32> = product.iter().map(|&limb| b.copy(limb)).collect();
    // Interleaved products take the pairs in turns, and are multiplied in the end. All but the first begin with 1, so their product has as many
    // factors `R` as a single one.
    let others: Vec<Vec<R32>> = if class.form.interleaves() {
        let one = load(b, frame, class, 0, constant::ONE);
        (1..TOGETHER).map(|_| one.iter().map(|&limb| b.copy(limb)).collect()).collect()
    } else {
        Vec::new()
    };
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
                if let [second, third, fourth] = &others[..] {
                    several(b, &r, &columns, &giant, [&product, second, third, fourth], (pairs, list));
                } else {
                    let baby = b.load_global(Space::GlobalConst, Vector::V1, list, 0)[0];
                    let baby = columns.load(b, baby);
                    let difference = r.sub(b, &giant, &baby);
                    let next = r.mul(b, &difference, &product);
                    assign(b, &product, &next);
                    let next = b.add64(list, 4_u64);
                    b.set64(list, next);
                    let left = b.sub(pairs, 1);
                    b.set(pairs, left);
                }
                b.compare(Cmp::Ne, pairs, 0)
            });
        });
        let next = b.add(slot, 1);
        b.set(slot, next);
        b.compare(Cmp::Lt, slot, end)
    });
    for other in &others {
        let next = r.mul(b, &product, other);
        assign(b, &product, &next);
    }
    b.section("store");
    store_number(b, frame, class, row, state::PRODUCT, &product);
}

/// The next pairs of a giant step, one for each product. Where fewer are left, the last one is computed again for the products that get none,
/// and dropped.
fn several(
    b: &mut Builder,
    r: &Residues,
    columns: &Columns,
    giant: &[R32],
    products: [&Vec<R32>; TOGETHER],
    (left, list): (R32, R64),
) {
    let last = b.sub(left, 1);
    let slots = [0, 1, 2, 3].map(|number: u32| {
        let place = b.min(last, number);
        let address = b.mad_wide(place, 4, list);
        b.load_global(Space::GlobalConst, Vector::V1, address, 0)[0]
    });
    let babies = slots.map(|slot| columns.load(b, slot));
    let differences = r.sums(b, babies.each_ref().map(|baby| Sum::Sub(giant, baby)));
    let terms = std::array::from_fn(|number| Term::product(&differences[number], products[number]));
    let nexts: [Vec<R32>; TOGETHER] = r.all(b, terms);
    for ((number, product), next) in (0..).zip(products).zip(&nexts) {
        let is_pair = b.compare(Cmp::Gt, left, number);
        let next = select(b, is_pair, next, product);
        assign(b, product, &next);
    }
    let done = b.min(left, TOGETHER as u32);
    let next = b.mad_wide(done, 4, list);
    b.set64(list, next);
    b.decrease(left, done);
}
