//! Addresses of blocks and runs of limbs in shared memory.

use warpmp_kernel::build::{Builder, Emit, R32};

use super::super::{piece, vector};
use super::layout::{Layout, divide_with_remainder};

/// A run of limbs in a region, and those that lie whole blocks further.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// The address where the region begins, for a run at the beginning of a block.
    base: R32,
    block: R32,
    /// The address of the run.
    address: R32,
}

/// An address and an offset to it, in bytes.
pub(super) type Spot = (R32, u32);

impl Layout {
    /// The address of a block of the region at `base`.
    pub(super) fn block_address(self, b: &mut Builder, base: R32, block: R32) -> R32 {
        let address = b.mad_lo(block, 4 * self.stride(), base);
        let Some(period) = self.period() else { return address };
        let paddings = b.shr(block, period.trailing_zeros());
        b.mad_lo(paddings, 4 * piece(self.block), address)
    }

    /// The run that begins `start` limbs behind a block of the region at `base`.
    pub(super) fn run(self, b: &mut Builder, base: R32, [block, start]: [R32; 2]) -> Run {
        let base = b.mad_lo(start, 4, base);
        Run { base, block, address: self.block_address(b, base, block) }
    }

    /// Where the run is that lies `blocks` further than this one.
    pub(super) fn further(self, b: &mut Builder, run: &Run, blocks: u32) -> Spot {
        if self.period().is_none_or(|period| blocks.is_multiple_of(period)) {
            return (run.address, 4 * self.words(blocks));
        }
        let block = b.add(run.block, blocks);
        (self.block_address(b, run.base, block), 0)
    }

    /// The first block of a lane's run of limbs, and the first limb in it.
    pub(super) fn start(self, b: &mut Builder, lane: R32, limbs: u32) -> [R32; 2] {
        if limbs >= self.block {
            return [b.mul_lo(lane, limbs / self.block), b.copy(0)];
        }
        let (block, run) = divide_with_remainder(b, lane, self.block / limbs);
        [block, b.mul_lo(run, limbs)]
    }

    /// Where a block of a product is, whose chunks alternate between the regions: the address where that region begins,
    /// and the number of the block in it.
    pub(super) fn alternating(self, b: &mut Builder, shared: R32, block: R32) -> (R32, R32) {
        let (chunk, block) = divide_with_remainder(b, block, self.group);
        let region = b.and(chunk, 1);
        let pair = b.shr(chunk, 1);
        let base = b.mad_lo(region, 4 * self.region(), shared);
        (base, b.mad_lo(pair, self.group, block))
    }

    /// Loads a run of limbs that begins at a block's first limb or lies inside one, in the widest pieces.
    pub(super) fn load_run(self, b: &mut impl Emit, (address, offset): Spot, limbs: u32) -> Vec<R32> {
        let width = piece(limbs.min(self.block));
        let places = (0..limbs).step_by(width as usize);
        places.flat_map(|i| b.load_shared(vector(width), address, offset + self.bytes_to(i))).collect()
    }

    /// Stores a run of limbs.
    pub(super) fn store_run(self, b: &mut impl Emit, limbs: &[R32], (address, offset): Spot) {
        let width = piece((limbs.len() as u32).min(self.block));
        for (words, i) in limbs.chunks(width as usize).zip((0..).step_by(width as usize)) {
            b.store_shared(words, address, offset + self.bytes_to(i));
        }
    }

    /// From the beginning of a block to a limb of it or of one of the next.
    const fn bytes_to(self, limb: u32) -> u32 {
        4 * (limb / self.block * self.stride() + limb % self.block)
    }
}
