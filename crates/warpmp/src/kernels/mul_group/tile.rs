//! Rows of limbs in shared memory, block by block, and the way of their words from and to global memory.
//!
//! banks: blocks are accessed in the widest pieces their length allows. Counted in pieces, the stride of
//! blocks is odd, and that of rows an odd multiple of `group`: lanes of a phase touch each bank once. Only
//! a copied run of 32 words takes another pass for each row or block that ends in it.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::super::piece;

/// How the rows of a warp stand in its shared memory, in words.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Rows.
    pub(super) rows: u32,
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
        Self { rows: 32 / group, block, stride, row: width * (pieces + gap) }
    }

    pub(super) const fn bytes(self) -> u32 {
        4 * self.rows * self.row
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
    /// The block of the row in shared memory where they begin.
    pub(super) first_block: u32,
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

    /// Where a word of the tile stands in shared memory.
    const fn position(self, word: u32) -> u32 {
        let limb = self.first_block * self.layout.block + word % self.limbs;
        word / self.limbs * self.layout.row + self.layout.position(limb)
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
            let jump = position(at) - position(at - 1) - 1;
            if jump > 0 {
                let beyond = b.compare(Cmp::Ge, lane, at);
                let further = b.add(address, 4 * jump);
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
