//! The staged way: the warp copies its tiles of `a` and `b` to shared memory, and the tile of products
//! from there, 32 words at a time in the order of global addresses, whatever the length of the rows.
//!
//! A row of shared memory holds, block by block, the row of `b` and then that of `a`, both with zeros up
//! to whole blocks. Lane `l` keeps block `l` of `a`, and all lanes of a group read block `s` of `b` at
//! step `s`. When they have, the block that leaves lane 0 takes its place; the last windows take the
//! place of `a`. So the row ends as the row of the product.
//!
//! launch     `4·(32/group)·row` bytes a warp, `row` about `(⌈lb/k⌉ + group)·k` words: 9.5 KiB at `k = 32`
//! cost       a load and a store of shared memory for each access to global memory; each sector of
//!            global memory once

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Special};

use super::super::mul_thread::Input;
use super::super::{piece, vector};
use super::part::Part;
use super::tile::{Layout, Tile};
use super::{Ends, MulGroup, Place, Way};

/// The most shared memory of a block of threads, in bytes: what every GPU has.
pub(super) const MAX_SHARED_BYTES: u32 = 48 << 10;

/// The warp's part of shared memory, and the lane in it.
struct Staged<'k> {
    spec: &'k MulGroup,
    layout: Layout,
    lane: R32,
    /// The address of word `lane` of the warp's part.
    lane_address: R32,
    /// The address of this lane's row.
    row: R32,
}

impl MulGroup {
    /// Does the staged way serve? It takes one pass, and shared memory that every GPU has.
    pub const fn can_stage(&self) -> bool {
        self.passes() == 1 && self.warps * self.layout().bytes() <= MAX_SHARED_BYTES
    }

    /// Shared memory of a block of threads.
    pub(super) fn shared_bytes(&self) -> u32 {
        match self.input {
            Input::Direct => 0,
            Input::Staged => self.warps * self.layout().bytes(),
        }
    }

    const fn layout(&self) -> Layout {
        Layout::new(self.block, self.steps() + self.group, self.group)
    }

    /// Copies in, multiplies and copies out. `thread`: the number in the block of threads.
    pub(super) fn staged(&self, b: &mut Builder, place: &Place, thread: R32, part: &Part) {
        let layout = self.layout();
        let ends = self.ends(b, place.member);
        let lane = b.special(Special::Lane);
        let warp = b.shr(thread, 5);
        let base = b.shared_base();
        let shared = b.mad_lo(warp, layout.bytes(), base);
        let lane_address = b.mad_lo(lane, 4, shared);
        let row = b.shr(lane, self.group.trailing_zeros());
        let row = b.mad_lo(row, 4 * layout.row, shared);
        let way = Staged { spec: self, layout, lane, lane_address, row };
        b.section("load");
        let addend = part.addend.map(|addend| self.load_addend(b, place, addend));
        way.copy_in(b, place);
        let own = b.mad_lo(place.member, 4 * layout.stride, row);
        let own = b.add(own, 4 * self.steps() * layout.stride);
        let a = way.load_block(b, own);
        let window: Vec<R32> = addend.unwrap_or_else(|| a.iter().map(|_| b.copy(0)).collect());
        let sum = self.sweep(b, &ends, &way, &a, &window);
        way.store_block(b, own, &sum);
        b.warp_barrier();
        way.copy_out(b, place, part);
    }
}

impl Staged<'_> {
    fn tile(&self, limbs: u32, rows: u32, first: u32) -> Tile {
        Tile { layout: self.layout, rows, limbs, first }
    }

    /// The address of the lane's word of the warp's tile in global memory.
    fn source(&self, b: &mut Builder, place: &Place, address: R64, limbs: u32) -> R64 {
        let tile = b.mad_wide(place.first_row, 4 * limbs, address);
        b.mad_wide(self.lane, 4, tile)
    }

    /// Copies the operands to shared memory. All loads come first: the wait for global memory is one.
    fn copy_in(&self, b: &mut Builder, place: &Place) {
        let [la, lb, _] = self.spec.shape.limbs();
        let rows = self.layout.rows;
        let (rows_b, copies) = if self.spec.shape.is_common(1) { (1, rows) } else { (rows, 1) };
        let source_a = self.source(b, place, place.a, la);
        let source_b = if self.spec.shape.is_common(1) {
            b.mad_wide(self.lane, 4, place.b)
        } else {
            self.source(b, place, place.b, lb)
        };
        let tile_a = self.tile(la, rows, self.spec.steps() * self.layout.block);
        let tile_b = self.tile(lb, rows_b, 0);
        let words_a: Vec<R32> = tile_a.runs().map(|run| run.load(b, self.lane, source_a)).collect();
        let words_b: Vec<R32> = tile_b.runs().map(|run| run.load(b, self.lane, source_b)).collect();
        for (run, word) in tile_a.runs().zip(words_a) {
            run.store(b, self.lane, self.lane_address, word, 1);
        }
        for (run, word) in tile_b.runs().zip(words_b) {
            run.store(b, self.lane, self.lane_address, word, copies);
        }
        let first = self.spec.steps() * self.layout.block;
        let (row, group) = (self.row, self.spec.group);
        self.layout.clear(b, place.member, row, [lb, first], group);
        self.layout.clear(b, place.member, row, [first + la, first + group * self.layout.block], group);
        b.warp_barrier();
    }

    /// Copies the products, which have taken the place of the operands, to global memory.
    fn copy_out(&self, b: &mut Builder, place: &Place, part: &Part) {
        let [_, _, lc] = self.spec.shape.limbs();
        if part.bits > 0 {
            let limbs = part.bits.div_ceil(32);
            let target = self.source(b, place, place.c, limbs);
            for run in self.tile(limbs, self.layout.rows, part.skip / 32).runs() {
                run.copy_part_out(b, self.lane, self.lane_address, target, part);
            }
            return;
        }
        let target = self.source(b, place, place.c, lc);
        for run in self.tile(lc, self.layout.rows, 0).runs() {
            run.copy_out(b, self.lane, self.lane_address, target);
        }
    }

    fn load_block(&self, b: &mut Builder, address: R32) -> Vec<R32> {
        let k = self.layout.block;
        let width = piece(k);
        (0..k).step_by(width as usize).flat_map(|i| b.load_shared(vector(width), address, 4 * i)).collect()
    }

    fn store_block(&self, b: &mut Builder, address: R32, block: &[R32]) {
        let width = piece(self.layout.block);
        for (words, i) in block.chunks(width as usize).zip((0..).step_by(width as usize)) {
            b.store_shared(words, address, 4 * i);
        }
    }
}

impl Way for Staged<'_> {
    fn multiplier(&self, b: &mut Builder, step: R32) -> Vec<R32> {
        let address = self.target(b, step);
        self.load_block(b, address)
    }

    fn target(&self, b: &mut Builder, step: R32) -> R32 {
        b.mad_lo(step, 4 * self.layout.stride, self.row)
    }

    fn put(&self, b: &mut Builder, ends: &Ends, target: R32, block: &[R32]) {
        // Every lane of the group has read the block of `b` that stood there.
        b.warp_barrier();
        let is_bottom = b.compare(Cmp::Ne, ends.bottom, 0);
        b.if_(is_bottom, |b| self.store_block(b, target, block));
    }
}
