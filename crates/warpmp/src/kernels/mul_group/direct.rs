//! The direct way: each lane reads and writes its blocks in global memory, in the widest pieces that the
//! rows allow.
//!
//! It suits rows of whole 16-byte pieces, and several passes: there a step has 32 lanes and about 1000
//! wide products a lane, all lanes read the same words of `b`, and a pass reads what the one before has
//! stored, which shared memory could not hold.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use super::super::{piece, vector};
use super::{Ends, MulGroup, Place, Way};

/// A pass over `b`.
struct Direct<'k> {
    spec: &'k MulGroup,
    b_row: R64,
    c_row: R64,
    member: R32,
    /// The first block of `a` in this pass.
    start: R32,
}

impl MulGroup {
    /// Loads, multiplies and stores, pass by pass.
    pub(super) fn direct(&self, b: &mut Builder, place: &Place) {
        let [la, lb, lc] = self.shape.limbs;
        let a_row = b.mad_wide(place.row, 4 * la, place.a);
        let b_row = if self.shape.common_b { place.b } else { b.mad_wide(place.row, 4 * lb, place.b) };
        let c_row = b.mad_wide(place.row, 4 * lc, place.c);
        let ends = self.ends(b, place.member);
        let start = b.copy(0);
        let way = Direct { spec: self, b_row, c_row, member: place.member, start };
        if self.passes() == 1 {
            way.pass(b, &ends, a_row);
            return;
        }
        b.do_while(|b| {
            way.pass(b, &ends, a_row);
            // The next pass reads what other lanes of the warp have stored.
            b.warp_barrier();
            let next = b.add(start, self.group);
            b.set(start, next);
            b.compare(Cmp::Lt, start, self.passes() * self.group)
        });
    }
}

impl Direct<'_> {
    /// Multiplies `group` blocks of `a`, from block `start` on, by all of `b`.
    fn pass(&self, b: &mut Builder, ends: &Ends, a_row: R64) {
        let spec = self.spec;
        let la = spec.shape.limbs[0];
        b.section("load");
        let block_a = b.add(self.start, self.member);
        let a = self.load_block(b, a_row, block_a, la, spec.passes() * spec.group);
        let window: Vec<R32> = a.iter().map(|_| b.copy(0)).collect();
        // What earlier passes left; nothing in the first. Branches, because predicates that live through
        // the carry chains would be spilled.
        let earlier = b.compare(Cmp::Ne, self.start, 0);
        if spec.passes() > 1 {
            let within = b.compare(Cmp::Lt, self.member, spec.steps());
            let valid = b.and_pred(within, earlier);
            b.if_(valid, |b| self.load_earlier(b, block_a, &window));
        }
        let sum = spec.sweep(b, ends, self, &a, &window);
        let target = b.add(block_a, spec.steps());
        self.store_block(b, target, &sum, None);
    }

    /// Block `index` of a row of `limbs` limbs; zeros above its end. `count`: the blocks there may be.
    fn load_block(&self, b: &mut Builder, row: R64, index: R32, limbs: u32, count: u32) -> Vec<R32> {
        let k = self.spec.block;
        let space = Space::GlobalConst;
        let address = b.mad_wide(index, 4 * k, row);
        let width = piece(k).min(piece(limbs));
        let whole = limbs == count * k;
        let left = b.mad_lo(index, k.wrapping_neg(), limbs);
        (0..k)
            .step_by(width as usize)
            .flat_map(|i| {
                if whole {
                    return b.load_global(space, vector(width), address, 4 * i);
                }
                let registers: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
                let inside = b.compare_signed(Cmp::Gt, left, i);
                b.guarded(inside, true, |g| g.load_into(space, vector(width), &registers, address, 4 * i));
                registers
            })
            .collect()
    }

    /// Overwrites `registers` by a block of the product as earlier passes left it, up to the row's end.
    fn load_earlier(&self, b: &mut Builder, index: R32, registers: &[R32]) {
        let lc = self.spec.shape.limbs[2];
        let k = self.spec.block;
        let address = b.mad_wide(index, 4 * k, self.c_row);
        let left = b.mad_lo(index, k.wrapping_neg(), lc);
        let width = piece(k).min(piece(lc));
        for (chunk, i) in registers.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            let inside = b.compare_signed(Cmp::Gt, left, i);
            b.guarded(inside, true, |g| g.load_into(Space::Global, vector(width), chunk, address, 4 * i));
        }
    }

    /// Stores a block of the product, up to the product's end, in the lanes where `mask` is all ones.
    fn store_block(&self, b: &mut Builder, index: R32, block: &[R32], mask: Option<R32>) {
        let k = self.spec.block;
        let limbs = self.spec.shape.limbs[2];
        let address = b.mad_wide(index, 4 * k, self.c_row);
        let left = b.mad_lo(index, k.wrapping_neg(), limbs);
        let left = mask.map_or(left, |mask| b.and(left, mask));
        let width = piece(k).min(piece(limbs));
        for (chunk, i) in block.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            let inside = b.compare_signed(Cmp::Gt, left, i);
            b.guarded(inside, true, |g| g.store_global(Space::Global, chunk, address, 4 * i));
        }
    }
}

impl Way for Direct<'_> {
    fn multiplier(&self, b: &mut Builder, step: R32) -> Vec<R32> {
        self.load_block(b, self.b_row, step, self.spec.shape.limbs[1], self.spec.steps())
    }

    fn target(&self, b: &mut Builder, step: R32) -> R32 {
        b.add(self.start, step)
    }

    fn put(&self, b: &mut Builder, ends: &Ends, target: R32, block: &[R32]) {
        // In the other lanes nothing is left to store.
        self.store_block(b, target, block, Some(ends.bottom));
    }

    fn refill(&self, b: &mut Builder, step: R32, target: R32, incoming: &[R32]) {
        let spec = self.spec;
        if spec.passes() == 1 {
            return;
        }
        let top = b.add(target, spec.group);
        let within = b.compare_signed(Cmp::Lt, step, spec.steps().wrapping_sub(spec.group));
        let earlier = b.compare(Cmp::Ne, self.start, 0);
        let last = b.compare(Cmp::Eq, self.member, spec.group - 1);
        let valid = b.and_pred(within, earlier);
        let valid = b.and_pred(valid, last);
        b.if_(valid, |b| self.load_earlier(b, top, incoming));
    }
}
