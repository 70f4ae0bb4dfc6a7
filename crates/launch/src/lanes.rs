//! From a launch to a lane: which row a thread works on.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Special};

/// The thread's number in the launch, for blocks of `threads` threads.
pub fn thread_number(b: &mut Builder, threads: u32) -> R32 {
    let (thread, block) = (b.special(Special::Tid), b.special(Special::Ctaid));
    b.mad_lo(block, threads, thread)
}

/// A thread of a warp that takes tiles of 32 rows, a row a thread.
#[derive(Clone, Copy, Debug)]
pub struct TileLane {
    /// The thread's number in its warp: the number of its row in a tile.
    pub lane: R32,
    /// The warp's number in its block.
    pub warp: R32,
    /// The warp's first tile.
    pub tile: R32,
    /// The first lane of that tile.
    pub first_lane: R32,
}

impl TileLane {
    /// Finds the tiles of a warp, `tiles` of them, in blocks of `warps` warps. Warps without lanes end.
    pub fn enter(b: &mut Builder, lanes: R32, warps: u32, tiles: u32) -> Self {
        b.section("setup");
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let block = b.special(Special::Ctaid);
        let number = b.mad_lo(block, warps, warp);
        let tile = if tiles == 1 { number } else { b.mul_lo(number, tiles) };
        let first_lane = b.shl(tile, 5);
        let outside = b.compare(Cmp::Ge, first_lane, lanes);
        b.return_if(outside);
        let lane = b.special(Special::Lane);
        Self { lane, warp, tile, first_lane }
    }

    /// The warp's part of the block's shared memory, `bytes` bytes.
    pub fn shared(&self, b: &mut Builder, bytes: u32) -> R32 {
        let base = b.shared_base();
        b.mad_lo(self.warp, bytes, base)
    }

    /// The address of the thread's row of `limbs` limbs.
    pub fn row(&self, b: &mut Builder, address: R64, limbs: u32) -> R64 {
        let row = b.mad_lo(self.tile, 32, self.lane);
        b.mad_wide(row, 4 * limbs, address)
    }
}

/// A thread of a group that has a row together.
#[derive(Clone, Copy, Debug)]
pub struct GroupLane {
    /// The thread's number in its block.
    pub thread: R32,
    /// The thread's number in the launch.
    pub number: R32,
    /// The group's row.
    pub row: R32,
    /// The warp's first row; the group's own row if a group has several warps.
    pub first_row: R32,
}

impl GroupLane {
    /// Finds the row of each group of `group` threads, in blocks of `warps` warps. Warps without rows end.
    ///
    /// Warps stay or end as a whole: buffers hold whole tiles. Groups of several warps are whole blocks.
    pub fn enter(b: &mut Builder, lanes: R32, group: u32, warps: u32) -> Self {
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        let number = b.mad_lo(block, 32 * warps, thread);
        let row = b.shr(number, group.trailing_zeros());
        let first_row = if group > 32 { row } else { b.and(row, (32 / group - 1) ^ u32::MAX) };
        let outside = b.compare(Cmp::Ge, first_row, lanes);
        b.return_if(outside);
        Self { thread, number, row, first_row }
    }
}
