//! The direct way: each lane reads and writes its blocks in global memory, in the widest pieces that the
//! rows allow.
//!
//! It suits rows of whole 16-byte pieces, and several passes: there a step has 32 lanes and about 1000
//! wide products a lane, all lanes read the same words of `b`, and a pass reads what the one before has
//! stored, which shared memory could not hold.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use super::super::{piece, vector};
use super::part::{Addend, Part};
use super::{Ends, MulGroup, Place, Way};

/// `(mask ∧ a) ∨ (¬mask ∧ b)` for `lop3`.
const CHOOSE: u8 = 0xCA;

/// A pass over `b`.
struct Direct<'k> {
    spec: &'k MulGroup,
    b_row: R64,
    /// Where the product's limb 0 would be.
    c_row: R64,
    member: R32,
    /// The first block of `a` in this pass.
    start: R32,
    /// What is kept of the product, and what it is added to.
    part: &'k Part,
    /// Limbs of the product below the result.
    skip: u32,
    /// Limbs of the result.
    result: u32,
}

impl MulGroup {
    /// Loads, multiplies and stores, pass by pass.
    pub(super) fn direct(&self, b: &mut Builder, place: &Place, part: &Part) {
        let [la, lb, lc] = self.shape.limbs();
        let (skip, result) = (part.skip / 32, if part.bits > 0 { part.bits.div_ceil(32) } else { lc });
        let a_row = b.mad_wide(place.row, 4 * la, place.a);
        let b_row = if self.shape.is_common(1) { place.b } else { b.mad_wide(place.row, 4 * lb, place.b) };
        let mut c_row = b.mad_wide(place.row, 4 * result, place.c);
        if skip > 0 {
            c_row = b.add64(c_row, u64::from(4 * skip).wrapping_neg());
        }
        let ends = self.ends(b, place.member);
        let start = b.copy(0);
        let way = Direct { spec: self, b_row, c_row, member: place.member, start, part, skip, result };
        if self.passes() == 1 {
            way.pass(b, &ends, a_row, place);
            return;
        }
        b.do_while(|b| {
            way.pass(b, &ends, a_row, place);
            // The next pass reads what other lanes of the warp have stored.
            b.warp_barrier();
            b.increase(start, self.group);
            b.compare(Cmp::Lt, start, self.passes() * self.group)
        });
    }

    /// This lane's block of the addend: what the windows begin with.
    pub(super) fn load_addend(&self, b: &mut Builder, place: &Place, addend: Addend) -> Vec<R32> {
        let Addend { address, limbs, common } = addend;
        let row = if common { address } else { b.mad_wide(place.row, 4 * limbs, address) };
        self.load_block(b, row, place.member, limbs, self.group)
    }

    /// Block `index` of a row of `limbs` limbs; zeros above its end. `count`: the blocks there may be.
    fn load_block(&self, b: &mut Builder, row: R64, index: R32, limbs: u32, count: u32) -> Vec<R32> {
        let k = self.block;
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
}

impl Direct<'_> {
    /// Multiplies `group` blocks of `a`, from block `start` on, by all of `b`.
    fn pass(&self, b: &mut Builder, ends: &Ends, a_row: R64, place: &Place) {
        let spec = self.spec;
        let [la] = spec.shape.limbs();
        b.section("load");
        let block_a = b.add(self.start, self.member);
        let a = spec.load_block(b, a_row, block_a, la, spec.passes() * spec.group);
        let window: Vec<R32> = match self.part.addend {
            None => a.iter().map(|_| b.copy(0)).collect(),
            Some(addend) => spec.load_addend(b, place, addend),
        };
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

    /// Overwrites `registers` by a block of the product as earlier passes left it, up to the row's end.
    fn load_earlier(&self, b: &mut Builder, index: R32, registers: &[R32]) {
        let [_, _, lc] = self.spec.shape.limbs();
        let k = self.spec.block;
        let address = b.mad_wide(index, 4 * k, self.c_row);
        let left = b.mad_lo(index, k.wrapping_neg(), lc);
        let width = piece(k).min(piece(lc));
        for (chunk, i) in registers.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            let inside = b.compare_signed(Cmp::Gt, left, i);
            b.guarded(inside, true, |g| g.load_into(Space::Global, vector(width), chunk, address, 4 * i));
        }
    }

    /// Stores what the result has of a block of the product, in the lanes where `mask` is all ones.
    fn store_block(&self, b: &mut Builder, index: R32, block: &[R32], mask: Option<R32>) {
        let k = self.spec.block;
        if self.skip > 0 {
            return self.store_part(b, index, block, mask);
        }
        let limbs = self.result;
        let address = b.mad_wide(index, 4 * k, self.c_row);
        let left = b.mad_lo(index, k.wrapping_neg(), limbs);
        let left = mask.map_or(left, |mask| b.and(left, mask));
        let width = piece(k).min(piece(limbs));
        for (chunk, i) in block.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            let inside = b.compare_signed(Cmp::Gt, left, i);
            b.guarded(inside, true, |g| g.store_global(Space::Global, chunk, address, 4 * i));
        }
    }

    /// The same where the result begins above the product's lowest limb.
    fn store_part(&self, b: &mut Builder, index: R32, block: &[R32], mask: Option<R32>) {
        let k = self.spec.block;
        // The number in the result of the block's first limb; where it is below or above, far enough.
        let first = b.mad_lo(index, k, self.skip.wrapping_neg());
        let first = mask.map_or(first, |mask| {
            // In the other lanes, above any result.
            b.lop3(mask, first, 1 << 31, CHOOSE)
        });
        let address = b.mad_wide(index, 4 * k, self.c_row);
        let width = piece(k).min(piece(self.result)).min(piece(self.skip));
        for (chunk, i) in block.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            // Below the result it is a large unsigned number.
            let number = b.add(first, i);
            let inside = b.compare(Cmp::Lt, number, self.result);
            b.guarded(inside, true, |g| g.store_global(Space::Global, chunk, address, 4 * i));
        }
    }
}

impl Way for Direct<'_> {
    fn multiplier(&self, b: &mut Builder, step: R32) -> Vec<R32> {
        self.spec.load_block(b, self.b_row, step, self.spec.shape.operands()[1].limbs(), self.spec.steps())
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
