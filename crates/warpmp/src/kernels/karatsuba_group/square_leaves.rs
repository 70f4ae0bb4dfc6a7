//! The leaf squares: each by one lane, or by a group of lanes with half the block products.
//!
//! computes   leaf squares of `T·k` limbs, each in the place of its operand and as much again
//! lanes      `T` a square, odd; lane `t` keeps block `t`
//! cost       `T = 1`: k(k+1)/2 IMAD.WIDE, 6·k additions and shifts, 3·k words through shared memory; long ones by halves,
//!            with 3/4 of that for another 5·k additions and 2·k words;
//!            else in each lane (T−1)/2 steps of k² IMAD.WIDE, 7·k additions, 6·k words through shared memory,
//!            and then once as above
//!
//! At distance `d = 1 … (T−1)/2` lane `t` multiplies its block by block `t + d`, modulo `T`: for odd `T` these are all
//! the pairs, once each, and no lane is idle. The product stands at block `p = t + (t + d mod T)`, and is added to sums
//! in shared memory, its low half to block `p`, then its high half to block `p + 1`. In a step no two lanes have
//! the same `p`: it has the parity of `d` in lanes whose partner is above them, that of `d + T` in the others. In the end
//! lane `t` has blocks `2t` and `2t + 1` of the sum: it adds the products within its own block, doubles, and adds the
//! squares of its limbs.
//!
//! room: sums of even blocks stand where the high half of the square will, those of odd blocks apart, as many as are under
//! way; so lanes that add to neighbouring blocks of a kind meet different banks. What a sum of a block carries out is
//! counted for the block above.
//!
//! bound: `(B^k − 1)² + B^k − 1 < B^(2k)`: a product and the block at its low half just fit, and the high half carries at
//! most 1. A lane's two blocks are at most `2·((B^2k − 1)·3) + B^2k`: what is above them is a small number that the
//! next lane adds, and after that a carry is at most 1. Nothing leaves the top lane: the square has `2T` blocks.

use warpmp_kernel::build::{Builder, Emit, R32, V32};
use warpmp_kernel::fragment::{
    Quarters, Rows, add_limbs, double_plus_squares_carrying, products_of_pairs, resolve_carries, square,
    square_by_halves,
};
use warpmp_kernel::ir::{Cmp, Shuffle};

use super::layout::{Layout, divide_with_remainder};
use super::places::Spot;
use super::roles::{Role, Storing, for_numbers};
use super::{piece, vector};

/// A leaf square by a group of lanes.
struct Leaf {
    layout: Layout,
    /// This lane's number in the group.
    lane: R32,
    storing: Storing,
    /// The leaf's blocks.
    blocks: R32,
    /// Sums of the even blocks, and of the odd ones.
    evens: R32,
    odds: R32,
    /// Counts of carries into the blocks.
    counts: R32,
}

impl Layout {
    /// Squares the leaves.
    pub(super) fn square_leaves(self, b: &mut Builder, shared: R32) {
        for_numbers(b, self.warps, [self.leaves(), self.leaf_lanes()], |b, role| {
            if self.leaf_lanes() == 1 {
                self.square_by_lane(b, shared, role);
            } else {
                self.square_by_group(b, shared, role);
            }
        });
    }

    fn square_by_lane(self, b: &mut Builder, shared: R32, role: &Role) {
        let storing = Storing::of(b, role);
        let block = b.mul_lo(role.node, self.group);
        let leaf = self.block_address(b, shared, block);
        if self.by_halves() {
            square_by_halves(b, &Halves { layout: self, leaf, storing });
            return;
        }
        let a = self.load_run(b, (leaf, 0), self.block);
        let c = square(b, &a);
        let (low, high) = c.split_at(a.len());
        storing.store(b, |b| {
            self.store_run(b, low, (leaf, 0));
            self.store_run(b, high, (leaf, 4 * self.region()));
        });
    }

    fn square_by_group(self, b: &mut Builder, shared: R32, role: &Role) {
        let chunk = self.words(self.group);
        let blocks = b.mad_lo(role.node, 4 * chunk, shared);
        // Leaves under way have sums of their own.
        let slots = self.warps * (32 / self.group);
        let (_, slot) = divide_with_remainder(b, role.node, slots);
        let odds = b.mad_lo(slot, 4 * chunk, shared);
        let counts = b.mad_lo(slot, 8 * self.group, shared);
        let leaf = Leaf {
            layout: self,
            lane: role.lane,
            storing: Storing::of(b, role),
            blocks,
            evens: b.add(blocks, 4 * self.region()),
            odds: b.add(odds, 4 * self.sums()),
            counts: b.add(counts, 4 * (self.sums() + slots * chunk)),
        };
        leaf.square(b);
    }
}

/// A leaf squared by one lane.
struct Halves {
    layout: Layout,
    leaf: R32,
    storing: Storing,
}

impl Halves {
    /// Where a quarter begins. Padding never comes between a leaf's two blocks.
    const fn place(&self, quarter: u32) -> Spot {
        let words = quarter / 2 * self.layout.region() + quarter % 2 * self.layout.stride();
        (self.leaf, 4 * words)
    }
}

impl Quarters for Halves {
    fn half(&self, b: &mut Builder, half: u32) -> Vec<R32> {
        // Over a barrier the assembler does not load ahead: the registers are needed.
        b.warp_barrier();
        self.load(b, half)
    }

    fn load(&self, b: &mut Builder, quarter: u32) -> Vec<R32> {
        self.layout.load_run(b, self.place(quarter), self.layout.block)
    }

    fn store(&self, b: &mut Builder, quarter: u32, limbs: &[R32]) {
        self.storing.store(b, |b| self.layout.store_run(b, limbs, self.place(quarter)));
    }
}

impl Leaf {
    fn square(&self, b: &mut Builder) {
        let (layout, lane) = (self.layout, self.lane);
        self.clear(b);
        let mine = b.mad_lo(lane, 4 * layout.stride(), self.blocks);
        let a = layout.load_run(b, (mine, 0), layout.block);
        b.warp_barrier();
        let distance = b.copy(1);
        b.do_while(|b| {
            self.step(b, &a, distance);
            b.increase(distance, 1);
            b.compare(Cmp::Le, distance, layout.group / 2)
        });
        let blocks = self.finish(b, &a);
        self.store(b, &blocks);
    }

    /// Zeros for the sums and counts of this lane's two blocks.
    fn clear(&self, b: &mut Builder) {
        let layout = self.layout;
        let zero = b.copy(0);
        let zeros = vec![zero; layout.block as usize];
        let [even, odd] = self.sums(b);
        let count = b.mad_lo(self.lane, 8, self.counts);
        self.storing.store(b, |b| {
            layout.store_run(b, &zeros, (even, 0));
            layout.store_run(b, &zeros, (odd, 0));
            for i in 0..2 {
                b.store_shared(&[zero], count, 4 * i);
            }
        });
    }

    /// Where the sums of this lane's two blocks stand.
    fn sums(&self, b: &mut Builder) -> [R32; 2] {
        [self.evens, self.odds].map(|sums| b.mad_lo(self.lane, 4 * self.layout.stride(), sums))
    }

    /// Where the sum of a block stands.
    fn sum(&self, b: &mut Builder, block: R32) -> R32 {
        let odd = b.and(block, 1);
        let is_odd = b.compare(Cmp::Ne, odd, 0);
        let sums = b.select(self.odds, self.evens, is_odd);
        let index = b.shr(block, 1);
        b.mad_lo(index, 4 * self.layout.stride(), sums)
    }

    /// Multiplies this lane's block by the one at a distance, and adds the product to the sums.
    fn step(&self, b: &mut Builder, a: &[R32], distance: R32) {
        let layout = self.layout;
        let (k, width) = (layout.block, piece(layout.block));
        let above = b.add(self.lane, distance);
        let wrapped = b.sub(above, layout.group);
        // Below zero, it is a large number.
        let partner = b.min(above, wrapped);
        let place = b.add(self.lane, partner);
        let multiplier = b.mad_lo(partner, 4 * layout.stride(), self.blocks);
        let low = self.sum(b, place);
        let window = layout.load_run(b, (low, 0), k);
        let mut rows = Rows::on(b, a, &window);
        let mut gone = Vec::new();
        for i in (0..k).step_by(width as usize) {
            for y in b.load_shared(vector(width), multiplier, 4 * i) {
                gone.push(rows.row(b, y));
            }
        }
        let window = rows.finish(b);
        self.storing.store(b, |b| layout.store_run(b, &gone, (low, 0)));
        b.warp_barrier();
        let next = b.add(place, 1);
        let high = self.sum(b, next);
        let sum = layout.load_run(b, (high, 0), k);
        let (sum, carry) = add_limbs(b, &window, &sum);
        let count = b.mad_lo(place, 4, self.counts);
        let carries = b.load_shared(vector(1), count, 8)[0];
        let carries = b.add(carries, carry);
        self.storing.store(b, |b| {
            layout.store_run(b, &sum, (high, 0));
            b.store_shared(&[carries], count, 8);
        });
        b.warp_barrier();
    }

    /// This lane's two blocks of the square.
    fn finish(&self, b: &mut Builder, a: &[R32]) -> Vec<R32> {
        let (layout, lane) = (self.layout, self.lane);
        let k = layout.block;
        let mut within = products_of_pairs(b, a);
        let [even, odd] = self.sums(b);
        let count = b.mad_lo(lane, 8, self.counts);
        let carries: Vec<R32> = (0..2).flat_map(|i| b.load_shared(vector(1), count, 4 * i)).collect();
        let mut between = layout.load_run(b, (even, 0), k);
        let odd = layout.load_run(b, (odd, 0), k);
        let mut chain = b.chain();
        let addend = |i: usize| if i == 0 { V32::from(carries[1]) } else { V32::from(0) };
        between.extend(odd.iter().enumerate().map(|(i, &limb)| chain.add(limb, addend(i))).collect::<Vec<_>>());
        let above = chain.carry();
        // The lowest limb of the products within is zero.
        within[0] = carries[0].into();
        let mut chain = b.chain();
        let sum: Vec<V32> = between.iter().zip(&within).map(|(&x, &y)| chain.add(x, y).into()).collect();
        let carry = chain.carry();
        let above = b.add(above, carry);
        let (limbs, top) = double_plus_squares_carrying(b, a, &sum);
        let top = b.mad_lo(above, 2, top);
        let below = b.shuffle(Shuffle::Up, top, 1, 32);
        let is_lowest = b.compare(Cmp::Eq, lane, 0);
        let below = b.select(0, below, is_lowest);
        let addend = |i: usize| if i == 0 { V32::from(below) } else { V32::from(0) };
        let mut chain = b.chain();
        let limbs: Vec<R32> = limbs.iter().enumerate().map(|(i, &limb)| chain.add(limb, addend(i))).collect();
        let carry = chain.carry();
        let carries = b.compare(Cmp::Ne, carry, 0);
        resolve_carries(b, &limbs, carries, layout.group)
    }

    /// Stores this lane's two blocks: low blocks where the operand was, high ones in the other region.
    fn store(&self, b: &mut Builder, blocks: &[R32]) {
        let layout = self.layout;
        let first = b.add(self.lane, self.lane);
        let places: Vec<R32> = (0..2)
            .map(|i| {
                let block = b.add(first, i);
                let in_low = b.mad_lo(block, 4 * layout.stride(), self.blocks);
                let in_high = b.add(in_low, 4 * (layout.region().wrapping_sub(layout.words(layout.group))));
                let is_high = b.compare(Cmp::Ge, block, layout.group);
                b.select(in_high, in_low, is_high)
            })
            .collect();
        // Every lane has read its operand and its sums.
        b.warp_barrier();
        self.storing.store(b, |b| {
            for (limbs, &place) in blocks.chunks(layout.block as usize).zip(&places) {
                layout.store_run(b, limbs, (place, 0));
            }
        });
    }
}
