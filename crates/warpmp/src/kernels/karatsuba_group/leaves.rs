//! The leaf products: each by a group of lanes, in the order of `group`, blocks handed on through shared memory.
//!
//! computes   leaf products of `T·k` by `T·k` limbs, each in the place of its operands
//! lanes      `T` a product; lane `t` keeps block `t` of `a`, and all meet the blocks of `b` one by one
//! cost       a step: `k²` IMAD.WIDE, `5·k` additions, `3·k` words through shared memory
//!
//! In step `s` the product of lane `t` stands at block `t + s` of the result, as do its window (the high half of
//! its last product) and the block that left lane `t + 1` in the step before. What leaves lane 0 is final.
//!
//! room: after the loads the blocks of `a` are free, and block `s` of `b` once step `s` has read it. What leaves lane
//! 0 in step `s` goes to block `s` of `a`; what leaves lane `t` goes to block `t` of `a` while `t > s`, and after that
//! to block `t` of `b`, where lane `t − 1` finds it in the next step. No two of them meet.
//!
//! bound: `(B^k − 1)² + 2(B^k − 1) = B^(2k) − 1`: a product, a window and an incoming block just fit. The last sums
//! carry at most 1, and the top lane nothing, because the product has `2T` blocks.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Rows, resolve_carries};
use warpmp_kernel::ir::Cmp;

use super::roles::{Role, for_numbers};
use super::{KaratsubaGroup, Place, piece, vector};

/// What lives through the steps.
struct Steps<'r> {
    /// The leaf's blocks in region A, and this lane's.
    leaf: R32,
    mine: R32,
    /// A block of zeros.
    zeros: R32,
    role: &'r Role,
    step: R32,
}

impl KaratsubaGroup {
    /// Multiplies the leaves.
    pub(super) fn multiply_leaves(&self, b: &mut Builder, place: &Place) {
        let layout = self.layout;
        for_numbers(b, layout.warps, [layout.leaves(), layout.group], |b, role| self.multiply_leaf(b, place, role));
    }

    fn multiply_leaf(&self, b: &mut Builder, place: &Place, role: &Role) {
        let layout = self.layout;
        let (k, width, stride) = (layout.block, piece(layout.block), 4 * layout.stride());
        let leaf = b.mad_lo(role.node, layout.group * stride, place.shared);
        let mine = b.mad_lo(role.lane, stride, leaf);
        let zeros = b.add(place.shared, 4 * layout.zeros());
        let a = layout.load_run(b, (mine, 0), k);
        let window: Vec<R32> = (0..k).map(|_| b.copy(0)).collect();
        let step = b.copy(0);
        let steps = Steps { leaf, mine, zeros, role, step };
        b.do_while(|b| {
            let from = self.incoming(b, &steps);
            let multiplier = b.mad_lo(step, stride, leaf);
            let mut rows = Rows::on(b, &a, &window);
            let mut gone = Vec::new();
            for i in (0..k).step_by(width as usize) {
                for y in b.load_shared(vector(width), multiplier, 4 * (layout.region() + i)) {
                    gone.push(rows.row(b, y));
                }
            }
            let mut incoming = Vec::new();
            let (gone, high) = rows.finish_adding_with(b, &gone, |chain, i| {
                if i == incoming.len() {
                    incoming.extend(chain.load_shared(vector(width), from, 4 * i as u32));
                }
                incoming[i]
            });
            let to = self.outgoing(b, &steps);
            b.warp_barrier();
            self.hand_on(b, &steps, &gone, to);
            b.warp_barrier();
            for (&register, &limb) in window.iter().zip(&high) {
                b.set(register, limb);
            }
            b.increase(step, 1);
            b.compare(Cmp::Lt, step, layout.group)
        });
        let from = self.incoming(b, &steps);
        let incoming = layout.load_run(b, (from, 0), k);
        let mut chain = b.chain();
        let sum: Vec<R32> = window.iter().zip(&incoming).map(|(&x, &y)| chain.add(x, y)).collect();
        let carry = chain.carry();
        let carries = b.compare(Cmp::Ne, carry, 0);
        let sum = resolve_carries(b, &sum, carries, layout.group);
        b.warp_barrier();
        steps.role.store(b, |b| layout.store_run(b, &sum, (mine, 4 * layout.region())));
    }

    /// Where what comes to this lane in a step is: the block that left the lane above in the step before.
    fn incoming(&self, b: &mut Builder, steps: &Steps<'_>) -> R32 {
        let layout = self.layout;
        let above = b.add(steps.mine, 4 * layout.stride());
        let in_b = b.add(above, 4 * layout.region());
        let position = b.add(steps.role.lane, 2);
        let still_in_a = b.compare(Cmp::Gt, position, steps.step);
        let place = b.select(above, in_b, still_in_a);
        let top = b.compare(Cmp::Eq, steps.role.lane, layout.group - 1);
        let first = b.compare(Cmp::Eq, steps.step, 0);
        let nothing = b.or_pred(top, first);
        b.select(steps.zeros, place, nothing)
    }

    /// Where what leaves this lane in a step goes.
    fn outgoing(&self, b: &mut Builder, steps: &Steps<'_>) -> R32 {
        let layout = self.layout;
        let in_b = b.add(steps.mine, 4 * layout.region());
        let still_in_a = b.compare(Cmp::Gt, steps.role.lane, steps.step);
        let place = b.select(steps.mine, in_b, still_in_a);
        let final_place = b.mad_lo(steps.step, 4 * layout.stride(), steps.leaf);
        let lowest = b.compare(Cmp::Eq, steps.role.lane, 0);
        b.select(final_place, place, lowest)
    }

    fn hand_on(&self, b: &mut Builder, steps: &Steps<'_>, gone: &[R32], to: R32) {
        match steps.role.real {
            None => self.layout.store_run(b, gone, (to, 0)),
            Some(real) => b.if_(real, |b| self.layout.store_run(b, gone, (to, 0))),
        }
    }
}
