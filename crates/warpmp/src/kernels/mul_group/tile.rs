//! Rows of limbs in shared memory, block by block, and the way of their words from and to global memory.
//!
//! banks: blocks are accessed in the widest pieces their length allows. Counted in pieces, the stride of
//! blocks is odd, and that of rows an odd multiple of `group`: lanes of a phase touch each bank once. Only
//! a copied run of 32 words takes another pass for each row or block that ends in it.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::super::piece;
use super::part::Part;

/// How the rows of a warp stand in its shared memory, in words.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Rows.
    pub(super) rows: u32,
    /// Blocks a row.
    pub(super) blocks: u32,
    /// Limbs a block.
    pub(super) block: u32,
    /// From block to block.
    pub(super) stride: u32,
    /// From row to row.
    pub(super) row: u32,
}

impl Layout {
    /// Rows of `blocks` blocks, one for each group of `group` lanes.
    pub(super) const fn new(block: u32, blocks: u32, group: u32) -> Self {
        let stride = block + if block.is_multiple_of(8) { 4 } else { 0 };
        let width = piece(block);
        let pieces = blocks * stride / width;
        // The next odd multiple of `group` (unless a phase of an access lies in one row).
        let gap = if group * width < 32 { (3 * group - pieces % (2 * group)) % (2 * group) } else { 0 };
        Self { rows: 32 / group, blocks, block, stride, row: width * (pieces + gap) }
    }

    pub(super) const fn bytes(self) -> u32 {
        4 * self.rows * self.row
    }

    /// Zeros in this lane's row, from one limb to another; the lanes of the group share the work.
    pub(super) fn clear(self, b: &mut Builder, member: R32, row: R32, [from, to]: [u32; 2], group: u32) {
        if from == to {
            return;
        }
        let from = self.position(from);
        let words = self.position(to) - from;
        let address = b.mad_lo(member, 4, row);
        let zero = b.copy(0);
        for i in (0..words).step_by(group as usize) {
            let inside = b.compare(Cmp::Lt, member, words - i);
            b.guarded(inside, true, |g| g.store_shared(&[zero], address, 4 * (from + i)));
        }
    }

    /// Where limb `limb` of a row stands in it.
    pub(super) const fn position(self, limb: u32) -> u32 {
        limb / self.block * self.stride + limb % self.block
    }
}

/// Rows of a batch, consecutive in global memory, as parts of the rows in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub(super) layout: Layout,
    pub(super) rows: u32,
    /// Limbs a row.
    pub(super) limbs: u32,
    /// The limb of the row in shared memory where they begin.
    pub(super) first: u32,
}

/// 32 consecutive words of a tile, one a lane.
#[derive(Clone, Copy)]
pub(super) struct Run {
    tile: Tile,
    /// The first word.
    first: u32,
}

impl Tile {
    const fn words(self) -> u32 {
        self.rows * self.limbs
    }

    pub(super) fn runs(self) -> impl Iterator<Item = Run> {
        (0..self.words()).step_by(32).map(move |first| Run { tile: self, first })
    }

    /// Where a word of the tile stands in shared memory. Of limbs above the row's blocks, which nobody needs, the
    /// highest stands in.
    const fn position(self, word: u32) -> u32 {
        let (limb, top) = (self.first + word % self.limbs, self.layout.blocks * self.layout.block - 1);
        word / self.limbs * self.layout.row + self.layout.position(if limb < top { limb } else { top })
    }
}

impl Run {
    /// The words of the run that exist.
    fn lanes(self) -> u32 {
        (self.tile.words() - self.first).min(32)
    }

    /// Where the lane's word stands in shared memory; `lane_address` is that of word `lane`.
    ///
    /// Words that follow each other do so in shared memory too, but for the ends of rows and blocks; the
    /// text knows at which lanes these are.
    fn address(self, b: &mut Builder, lane: R32, lane_address: R32) -> R32 {
        let position = |at: u32| self.tile.position(self.first + at);
        let mut address = b.add(lane_address, 4 * position(0));
        for at in 1..self.lanes() {
            let jump = position(at).wrapping_sub(position(at - 1) + 1);
            if jump != 0 {
                let beyond = b.compare(Cmp::Ge, lane, at);
                let further = b.add(address, jump.wrapping_mul(4));
                address = b.select(further, address, beyond);
            }
        }
        address
    }

    /// Does every lane have a word? Else it takes a guard.
    fn is_whole(self) -> bool {
        self.lanes() == 32
    }

    /// The lane's word of global memory; `source` is the address of word `lane`.
    pub(super) fn load(self, b: &mut Builder, lane: R32, source: R64) -> R32 {
        if self.is_whole() {
            return b.load_global(Space::GlobalConst, Vector::V1, source, 4 * self.first)[0];
        }
        let word = b.copy(0);
        let inside = b.compare(Cmp::Lt, lane, self.lanes());
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], source, 4 * self.first));
        word
    }

    /// Stores the lane's word in shared memory, once in each of `copies` rows.
    pub(super) fn store(self, b: &mut Builder, lane: R32, lane_address: R32, word: R32, copies: u32) {
        let address = self.address(b, lane, lane_address);
        let inside = (!self.is_whole()).then(|| b.compare(Cmp::Lt, lane, self.lanes()));
        for copy in 0..copies {
            let offset = 4 * self.tile.layout.row * copy;
            match inside {
                None => b.store_shared(&[word], address, offset),
                Some(inside) => b.guarded(inside, true, |g| g.store_shared(&[word], address, offset)),
            }
        }
    }

    /// Copies the lane's word of a part of the product from shared to global memory; `target` is the address of word
    /// `lane`.
    pub(super) fn copy_part_out(self, b: &mut Builder, lane: R32, lane_address: R32, target: R64, part: &Part) {
        let address = self.address(b, lane, lane_address);
        let above = (part.shift() > 0).then(|| {
            let next = Self { tile: Tile { first: self.tile.first + 1, ..self.tile }, ..self };
            next.address(b, lane, lane_address)
        });
        let is_top = |at: &u32| (self.first + at) % self.tile.limbs == self.tile.limbs - 1;
        let tops = (0..self.lanes()).filter(|at| !part.bits.is_multiple_of(32) && is_top(at));
        let tops: Vec<Pred> = tops.map(|at| b.compare(Cmp::Eq, lane, at)).collect();
        if self.is_whole() {
            self.move_part(b, (address, above), &tops, target, part);
            return;
        }
        let inside = b.compare(Cmp::Lt, lane, self.lanes());
        b.guarded(inside, true, |g| self.move_part(g, (address, above), &tops, target, part));
    }

    /// Loads the word, cuts the part from it and the next one, and stores it.
    fn move_part(self, b: &mut impl Emit, (own, above): (R32, Option<R32>), tops: &[Pred], target: R64, part: &Part) {
        let mut word = b.load_shared(Vector::V1, own, 0)[0];
        if let Some(above) = above {
            let above = b.load_shared(Vector::V1, above, 0)[0];
            word = b.funnel_right(word, above, part.shift());
        }
        for &is_top in tops {
            let low = b.and(word, (1 << (part.bits % 32)) - 1);
            word = b.select(low, word, is_top);
        }
        b.store_global(Space::GlobalStream, &[word], target, 4 * self.first);
    }

    /// Copies the lane's word from shared to global memory; `target` is the address of word `lane`.
    pub(super) fn copy_out(self, b: &mut Builder, lane: R32, lane_address: R32, target: R64) {
        let address = self.address(b, lane, lane_address);
        if self.is_whole() {
            let word = b.load_shared(Vector::V1, address, 0);
            b.store_global(Space::GlobalStream, &word, target, 4 * self.first);
            return;
        }
        let inside = b.compare(Cmp::Lt, lane, self.lanes());
        b.guarded(inside, true, |g| {
            let word = g.load_shared(Vector::V1, address, 0);
            g.store_global(Space::GlobalStream, &word, target, 4 * self.first);
        });
    }
}
