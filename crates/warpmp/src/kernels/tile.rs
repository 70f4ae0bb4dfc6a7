//! Tiles of 32 rows in shared memory, one a lane: in from global memory, and products out.
//!
//! A tile is contiguous in memory whatever the length, so a warp copies it in 16-byte pieces in the order of
//! addresses. Products lie in two tiles, low words in one, high words in the other, and are copied out in
//! the same way; rows that 16-byte pieces would straddle are first moved together.
//!
//! banks: a row is accessed in the widest pieces its length allows; the row stride is an odd multiple
//! of the piece (padded by 16 bytes when the length is a multiple of 8 limbs), so a phase of the
//! access touches every bank once.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};
use warpmp_launch::{TileLane, divide, piece, vector};

/// Where the warp and the thread are.
pub(super) struct Place {
    pub(super) lane: R32,
    /// The warp's part of shared memory.
    pub(super) shared: R32,
    /// The warp's tile.
    pub(super) tile: R32,
}

impl Place {
    /// The place of a warp of a block of `warps`, with `bytes` of shared memory a warp. Warps without lanes end.
    pub(super) fn of_warp(b: &mut Builder, warps: u32, bytes: u32, lanes: R32) -> Self {
        let entered = TileLane::enter(b, lanes, warps, 1);
        let shared = entered.shared(b, bytes);
        let TileLane { lane, tile, .. } = entered;
        Self { lane, shared, tile }
    }

    pub(super) fn global_row(&self, b: &mut Builder, address: R64, limbs: u32) -> Source {
        let lane = b.mad_lo(self.tile, 32, self.lane);
        Source::Global(b.mad_wide(lane, 4 * limbs, address))
    }
}

/// A tile of 32 rows in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaddedTile {
    /// Limbs a row.
    limbs: u32,
    /// Words from row to row.
    stride: u32,
}

impl PaddedTile {
    pub(super) const fn new(limbs: u32) -> Self {
        let padding = if limbs.is_multiple_of(8) { 4 } else { 0 };
        Self { limbs, stride: limbs + padding }
    }

    pub(super) const fn bytes(self) -> u32 {
        128 * self.stride
    }

    /// Copies a tile of 32 rows to shared memory, 16 bytes a lane and step.
    pub(super) fn copy_in(self, b: &mut Builder, address: R64, place: &Place, region: R32) {
        let pieces = 8 * self.limbs;
        let from = b.mad_wide(place.tile, 128 * self.limbs, address);
        let from = b.mad_wide(place.lane, 16, from);
        let flat = b.mad_lo(place.lane, 16, region);
        for k in 0..pieces.div_ceil(32) {
            let unit = b.add(place.lane, 32 * k);
            let to = if self.stride == self.limbs {
                flat
            } else {
                // Each row is followed by one piece of padding.
                let row = divide(b, unit, self.limbs / 4, pieces);
                b.mad_lo(row, 16, flat)
            };
            if 32 * (k + 1) <= pieces {
                b.copy_async(16, to, 512 * k, from, 512 * k);
            } else {
                let inside: Pred = b.compare(Cmp::Lt, unit, pieces);
                b.guarded(inside, true, |g| g.copy_async(16, to, 512 * k, from, 512 * k));
            }
        }
    }
}

/// A row of limbs to read.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Shared(R32),
    Global(R64),
}

impl Source {
    pub(super) fn read_all(self, b: &mut Builder, limbs: u32) -> Vec<R32> {
        (0..limbs).step_by(piece(limbs) as usize).flat_map(|i| self.read(b, limbs, i)).collect()
    }

    /// A run of limbs that begins at a multiple of its length.
    pub(super) fn read_run(self, b: &mut Builder, first: u32, limbs: u32) -> Vec<R32> {
        (0..limbs).step_by(piece(limbs) as usize).flat_map(|i| self.read(b, limbs, first + i)).collect()
    }

    /// The piece that starts at limb `i`, as wide as `limbs` allow.
    pub(super) fn read(self, b: &mut Builder, limbs: u32, i: u32) -> Vec<R32> {
        let vector = vector(piece(limbs));
        match self {
            Self::Shared(row) => b.load_shared(vector, row, 4 * i),
            Self::Global(row) => b.load_global(Space::GlobalConst, vector, row, 4 * i),
        }
    }
}

/// Where the product's limbs go, in pieces, as they come: the row of `a`, then that of `b`. The words of `a`
/// that are overwritten have been read, and so have those of `b`: limb `la + t` of a product comes after row `t`.
pub(super) struct Sink {
    rows: [R32; 2],
    lengths: [u32; 2],
    words: Vec<R32>,
    done: u32,
}

impl Sink {
    /// An empty one for rows of these lengths.
    pub(super) const fn new(rows: [R32; 2], lengths: [u32; 2]) -> Self {
        Self { rows, lengths, words: Vec::new(), done: 0 }
    }

    /// Takes the next limb.
    pub(super) fn push(&mut self, b: &mut Builder, limb: R32) {
        self.words.push(limb);
        let [la, lb] = self.lengths;
        let (row, offset, width) = if self.done < la {
            (self.rows[0], self.done, piece(la))
        } else {
            (self.rows[1], self.done - la, piece(lb))
        };
        if self.words.len() == width as usize {
            b.store_shared(&self.words, row, 4 * offset);
            self.done += width;
            self.words.clear();
        }
    }
}

/// A tile of products: `[low, high, whole]` limbs a row, low words in one tile and high words in the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    pub(super) limbs: [u32; 3],
}

impl Results {
    /// Bytes of shared memory a warp.
    pub(super) const fn bytes(self) -> u32 {
        PaddedTile::new(self.limbs[0]).bytes() + PaddedTile::new(self.limbs[1]).bytes()
    }

    /// This lane's rows.
    pub(super) fn rows(self, b: &mut Builder, place: &Place) -> [R32; 2] {
        let [low, high] = [self.limbs[0], self.limbs[1]].map(PaddedTile::new);
        let row_low = b.mad_lo(place.lane, 4 * low.stride, place.shared);
        let row_high = b.mad_lo(place.lane, 4 * high.stride, place.shared);
        [row_low, b.add(row_high, low.bytes())]
    }

    /// Copies the tile to global memory. `rows`: those of this lane.
    pub(super) fn copy_out(self, b: &mut Builder, place: &Place, address: R64, rows: [R32; 2]) {
        if self.limbs.iter().all(|&limbs| piece(limbs) == 4) {
            self.copy_rows_out(b, place, address);
        } else {
            self.copy_flat_out(b, place, address, rows);
        }
    }

    /// Copies the tile of products from the rows in shared memory to global memory, 16 bytes a lane and
    /// step, in the order of addresses.
    fn copy_rows_out(self, b: &mut Builder, place: &Place, address: R64) {
        let [la, lb, lc] = self.limbs;
        let (tile_a, tile_b) = (PaddedTile::new(la), PaddedTile::new(lb));
        let base = b.mad_wide(place.tile, 128 * lc, address);
        let base = b.mad_wide(place.lane, 16, base);
        let columns = lc / 4;
        b.warp_barrier();
        for k in 0..columns {
            // Unit `lane + 32k` of the tile is column `unit % columns` of row `unit / columns`.
            let unit = b.add(place.lane, 32 * k);
            let row = divide(b, unit, columns, 32 * columns);
            let negative = b.mul_lo(row, columns.wrapping_neg());
            let column = b.add(unit, negative);
            let low = b.compare(Cmp::Lt, column, la / 4);
            let in_a = b.mad_lo(row, 4 * tile_a.stride, place.shared);
            let in_b = b.mad_lo(row, 4 * tile_b.stride, place.shared);
            let in_b = b.add(in_b, tile_a.bytes().wrapping_sub(4 * la));
            let start = b.select(in_a, in_b, low);
            let address = b.mad_lo(column, 16, start);
            let piece = b.load_shared(vector(4), address, 0);
            b.store_global(Space::GlobalStream, &piece, base, 512 * k);
        }
    }

    /// The same for rows whose length is no multiple of 4 limbs: each thread first moves its product to
    /// where it stands in the tile of global memory, so that the tile can be copied as it is.
    fn copy_flat_out(self, b: &mut Builder, place: &Place, address: R64, rows: [R32; 2]) {
        let [la, lb, lc] = self.limbs;
        let mut product = Source::Shared(rows[0]).read_all(b, la);
        product.extend(Source::Shared(rows[1]).read_all(b, lb));
        product.truncate(lc as usize);
        b.warp_barrier();
        let row = b.mad_lo(place.lane, 4 * lc, place.shared);
        let width = piece(lc);
        for (words, i) in product.chunks(width as usize).zip((0..lc).step_by(width as usize)) {
            b.store_shared(words, row, 4 * i);
        }
        b.warp_barrier();
        let base = b.mad_wide(place.tile, 128 * lc, address);
        let base = b.mad_wide(place.lane, 16, base);
        let from = b.mad_lo(place.lane, 16, place.shared);
        for k in 0..lc.div_ceil(4) {
            let unit = b.add(place.lane, 32 * k);
            if 4 * (k + 1) <= lc {
                let words = b.load_shared(vector(4), from, 512 * k);
                b.store_global(Space::GlobalStream, &words, base, 512 * k);
            } else {
                let inside = b.compare(Cmp::Lt, unit, 8 * lc);
                b.guarded(inside, true, |g| {
                    let words = g.load_shared(vector(4), from, 512 * k);
                    g.store_global(Space::GlobalStream, &words, base, 512 * k);
                });
            }
        }
    }
}
