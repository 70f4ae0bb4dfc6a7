//! The lanes of a warpgroup: several times 64, one after the other.

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Special};
use warpmp_launch::Geometry;

use super::layout::Layout;
use super::tile::{GROUP_LANES, NEXT_ROW, Place, ROWS};
use crate::kernels::CommonSettings;
use crate::kernels::warpgroup::THREADS;

/// The turns of the warpgroups of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    layout: Layout,
    /// How many times 64 lanes a warpgroup takes.
    count: u32,
}

/// The two lanes of a thread in a turn.
pub(super) struct Lanes {
    /// Their numbers. In the place of lanes that the launch does not have, the last one.
    pub(super) numbers: [R32; ROWS],
    /// Does the launch have them?
    pub(super) exist: [Pred; ROWS],
}

impl Turns {
    pub(super) fn new(layout: Layout, settings: CommonSettings) -> Self {
        Self { layout, count: settings.turns.unwrap_or(2).clamp(1, 32) }
    }

    pub(super) fn geometry(self) -> Geometry {
        let lanes = self.count * self.stride();
        Geometry::new(self.layout.threads(), lanes).with_shared(self.layout.bytes())
    }

    /// Part of the kernel's name.
    pub(super) fn name(self) -> String {
        format!("_w{}_t{}", self.layout.warpgroups, self.count)
    }

    /// Lanes from a warpgroup's turn to its next one.
    pub(super) const fn stride(self) -> u32 {
        GROUP_LANES * self.layout.warpgroups
    }

    /// The first lane of the first turn of the thread's warpgroup, and the lane after the last one of the block. The launch has so many lanes.
    pub(super) fn begin(self, b: &mut Builder, thread: R32, lanes: R32) -> [R32; 2] {
        let group = b.shr(thread, THREADS.ilog2());
        let block = b.special(Special::Ctaid);
        let group = b.mad_lo(block, self.count * self.layout.warpgroups, group);
        let start = b.mul_lo(group, GROUP_LANES);
        let end = b.add(start, self.count * self.stride());
        [start, b.min(end, lanes)]
    }

    /// Does something with the thread's lanes of each turn in a range that [`begin`](Self::begin) gives. The launch has `lanes`.
    pub(super) fn each(
        self,
        b: &mut Builder,
        place: &Place,
        [start, end]: [R32; 2],
        lanes: R32,
        turn: impl FnOnce(&mut Builder, &Lanes),
    ) {
        let has_lanes = |b: &mut Builder| b.compare(Cmp::Lt, start, end);
        b.while_(has_lanes, |b| {
            let own = Lanes::new(b, place, start, lanes);
            turn(b, &own);
            b.increase(start, self.stride());
        });
    }
}

impl Lanes {
    /// The lanes of the thread among the 64 from lane `start` on. The launch has `lanes`.
    fn new(b: &mut Builder, place: &Place, start: R32, lanes: R32) -> Self {
        let last = b.sub(lanes, 1);
        let lane = place.first_lane(b, start);
        let own = [lane, b.add(lane, NEXT_ROW)];
        let exist = own.map(|lane| b.compare(Cmp::Lt, lane, lanes));
        Self { numbers: own.map(|lane| b.min(lane, last)), exist }
    }
}
