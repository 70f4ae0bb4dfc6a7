//! Numbers in blocks of 1024 bits, a limb of the block a thread of the warp.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::resolve_carries;
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Special, Vector};

/// Limbs a block: one a thread.
pub(super) const BLOCK: u32 = 32;
/// Bytes a block.
pub(super) const BLOCK_BYTES: u32 = 4 * BLOCK;

/// A number in global memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The address of its lowest limb.
    pub(super) address: R64,
    /// Its limbs.
    pub(super) limbs: u32,
    /// May this kernel change it?
    pub(super) space: Space,
}

impl Row {
    pub(super) const fn blocks(&self) -> u32 {
        self.limbs.div_ceil(BLOCK)
    }

    /// The address of this thread's limb in block `index`.
    fn place(&self, b: &mut Builder, lane: &Lane, index: R32) -> R64 {
        let block = b.mad_wide(index, BLOCK_BYTES, self.address);
        b.mad_wide(lane.number, 4, block)
    }

    /// Loads this thread's limbs of `count` blocks from `first` on; zeros above the number's end, which
    /// only the last of the blocks can reach.
    pub(super) fn load(&self, b: &mut Builder, lane: &Lane, first: R32, count: u32) -> Vec<R32> {
        let place = self.place(b, lane, first);
        let last = count - 1;
        let load = |b: &mut Builder, q| b.load_global(self.space, Vector::V1, place, BLOCK_BYTES * q)[0];
        let mut limbs: Vec<R32> = (0..last).map(|q| load(b, q)).collect();
        if self.limbs.is_multiple_of(BLOCK) {
            limbs.push(load(b, last));
            return limbs;
        }
        let limb = b.mad_lo(first, BLOCK, lane.number);
        let inside = b.compare(Cmp::Lt, limb, self.limbs - BLOCK * last);
        let value = b.copy(0);
        b.guarded(inside, true, |g| g.load_into(self.space, Vector::V1, &[value], place, BLOCK_BYTES * last));
        limbs.push(value);
        limbs
    }

    /// Stores this thread's limb of block `index`, unless it lies above the number's end.
    pub(super) fn store(&self, b: &mut Builder, lane: &Lane, index: R32, value: R32) {
        let place = self.place(b, lane, index);
        let limb = b.mad_lo(index, BLOCK, lane.number);
        let inside = b.compare(Cmp::Lt, limb, self.limbs);
        b.guarded(inside, true, |g| g.store_global(self.space, &[value], place, 0));
    }
}

/// What a thread knows of its place in the warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// Its number, 0 to 31.
    pub(super) number: R32,
    /// The number of the thread above; 0 for the last.
    pub(super) right: R32,
    /// Is it the last?
    pub(super) last: Pred,
}

impl Lane {
    pub(super) fn new(b: &mut Builder) -> Self {
        let number = b.special(Special::Lane);
        let next = b.add(number, 1);
        Self { number, right: b.and(next, BLOCK - 1), last: b.compare(Cmp::Eq, number, BLOCK - 1) }
    }
}

/// The block whose limb in this thread is `v`, plus the carries `u` of all threads, each into the thread
/// above; constant time.
///
/// bound: `v + u` overflows to at most `B − 2` because `u < B`, as [`resolve_carries`] asks. What leaves
/// the last thread is dropped.
pub(super) fn settle(b: &mut Builder, lane: &Lane, v: R32, u: R32) -> R32 {
    let first = b.compare(Cmp::Eq, lane.number, 0);
    let from_below = b.shuffle(Shuffle::Up, u, 1, BLOCK);
    let from_below = b.select(0, from_below, first);
    let mut chain = b.chain();
    let sum = chain.add(v, from_below);
    let carry = chain.carry();
    let carries = b.compare(Cmp::Ne, carry, 0);
    resolve_carries(b, &[sum], carries, BLOCK)[0]
}

/// The sum of this thread's limbs of several blocks, four at most, and of a carry that is the same in all
/// threads; `carry` becomes what leaves the block. Constant time.
///
/// bound: a limb's sum carries at most 3. If what comes from below, at most 4 with `carry`, overflows once
/// more, at most 3 is left, never all ones: then a ballot of each kind tells where carries run, as
/// [`resolve_carries`] proves, and what leaves the last thread is at most 3 + 1.
pub(super) fn add_block(b: &mut Builder, lane: &Lane, limbs: &[R32], carry: R32) -> R32 {
    let (v, u) = (b.copy(limbs[0]), b.copy(0));
    let add = |b: &mut Builder, limb: R32, u: R32| {
        let mut chain = b.chain();
        chain.add_into(v, v, limb);
        chain.end_add(u, u, 0);
    };
    for &limb in &limbs[1..] {
        add(b, limb, u);
    }
    let first = b.compare(Cmp::Eq, lane.number, 0);
    let from_below = b.shuffle(Shuffle::Up, u, 1, BLOCK);
    let from_below = b.select(carry, from_below, first);
    let out = b.copy(0);
    add(b, from_below, out);
    let generates = b.compare(Cmp::Ne, out, 0);
    let propagates = b.compare(Cmp::Eq, v, u32::MAX);
    let (generate, propagate) = (b.ballot(generates), b.ballot(propagates));
    let doubled = b.add(generate, generate);
    let sum = b.add(doubled, propagate);
    let into = b.xor(sum, propagate);
    // generate ∨ (propagate ∧ into), of the last thread.
    let leaves = b.lop3(generate, propagate, into, 0xF8);
    let leaves = b.shr(leaves, BLOCK - 1);
    let top = b.shuffle(Shuffle::Idx, u, BLOCK - 1, BLOCK);
    let total = b.add(top, leaves);
    b.set(carry, total);
    let carry_in = b.bfe(into, lane.number, 1);
    b.add(v, carry_in)
}
