//! Going down a level: the operands of the middle product, and whether it is to be subtracted.
//!
//! computes   for each number `x = x₀ + x₁·B^h` of a level: `|x₀ − x₁|`, appended to the level below;
//!            the sign mask of a middle product: all ones where `(a₀ − a₁)(b₀ − b₁) ≥ 0`; none for squares
//! lanes      a run of limbs each, of `x₀` and `x₁`
//!
//! bound: with `E = x₀ − x₁ mod B^h`, a borrow out of the top says `x₀ < x₁`. Then the borrow goes round,
//! and `¬(E − 1) = B^h − 1 − (B^h + x₀ − x₁ − 1) = x₁ − x₀`. Without it `E` is the answer. So the absolute value
//! costs one run of borrows and a complement.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Carries, all_zeros, wrapping_sub_small};
use warpmp_kernel::ir::Cmp;

use super::layout::{Layout, Share, divide_with_remainder, nodes};
use super::places::Spot;
use super::roles::{Role, for_numbers};

impl Layout {
    /// Appends the differences of a level's numbers.
    pub(super) fn evaluate(self, b: &mut Builder, shared: R32, level: u32, share: Share) {
        for_numbers(b, self.warps, [share.nodes, share.lanes], |b, role| {
            self.evaluate_number(b, shared, level, share, role);
        });
    }

    fn evaluate_number(self, b: &mut Builder, shared: R32, level: u32, share: Share, role: &Role) {
        let layout = self;
        let (product, number) = divide_with_remainder(b, role.node, nodes(level));
        // In blocks: half a number, and where the level's numbers end.
        let half = layout.half(level);
        let end = 2 * half * nodes(level);
        let [block, start] = layout.start(b, role.lane, share.limbs);
        let block = b.mad_lo(product, layout.blocks(), block);
        let mut run = |multiple: u32| {
            let block = b.mad_lo(number, multiple, block);
            layout.run(b, shared, [block, start])
        };
        let (low, difference) = (run(2 * half), run(half));
        let (x0, x1) = (layout.further(b, &low, 0), layout.further(b, &low, half));
        let difference = layout.further(b, &difference, end);
        let within = |(address, offset): Spot, region: u32| (address, offset + region);
        let absolute_in = |b: &mut Builder, region: u32| {
            let low = layout.load_run(b, within(x0, region), share.limbs);
            let high = layout.load_run(b, within(x1, region), share.limbs);
            let (absolute, negative) = absolute_difference(b, &low, &high, share.lanes);
            role.store(b, |b| layout.store_run(b, &absolute, within(difference, region)));
            negative
        };
        let negative_a = absolute_in(b, 0);
        if layout.operands == 1 {
            return;
        }
        let negative_b = absolute_in(b, 4 * layout.region());
        let different = b.xor(negative_a, negative_b);
        let mask = b.sub(different, 1);
        let sign = b.mad_lo(product, 4 * layout.signs_each(), shared);
        let sign = b.mad_lo(number, 4, sign);
        let first = b.compare(Cmp::Eq, role.lane, 0);
        let stores = role.real.map_or(first, |real| b.and_pred(first, real));
        let offset = 4 * (layout.signs() + (nodes(level) - 1) / 2);
        b.guarded(stores, true, |g| g.store_shared(&[mask], sign, offset));
    }
}

/// `|x₀ − x₁|` of numbers whose runs are in the lanes of groups, and 1 where `x₀ < x₁`, else 0.
fn absolute_difference(b: &mut Builder, x0: &[R32], x1: &[R32], group: u32) -> (Vec<R32>, R32) {
    let mut chain = b.chain();
    let difference: Vec<R32> = x0.iter().zip(x1).map(|(&x, &y)| chain.sub(x, y)).collect();
    let borrow = chain.borrow_mask();
    let borrows = b.compare(Cmp::Ne, borrow, 0);
    let zero = all_zeros(b, &difference);
    let borrows = Carries::look_ahead(b, borrows, zero, group);
    let negative = borrows.out_of_group(b);
    let borrow = borrows.around(b).into_lane(b);
    let difference = wrapping_sub_small(b, &difference, borrow);
    let complement = b.sub(0, negative);
    (difference.iter().map(|&limb| b.xor(limb, complement)).collect(), negative)
}
