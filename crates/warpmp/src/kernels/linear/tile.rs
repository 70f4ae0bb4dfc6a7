//! A warp's tile of 32 rows, on its way between global and shared memory.
//!
//! A tile is contiguous in global memory whatever the length of its rows: the warp copies it in 16-byte
//! pieces in the order of addresses. In shared memory a row whose length is a multiple of 8 limbs is followed
//! by a piece of padding.
//!
//! banks: a row is accessed in the widest pieces its length allows; the row stride is an odd multiple of the
//! piece, so a phase of the access touches every bank once.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space};

use crate::kernels::tile::divide;
use crate::kernels::{piece, vector};

/// A tile in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Limbs a row.
    limbs: u32,
    /// Words from row to row.
    stride: u32,
}

impl Tile {
    pub(super) const fn new(limbs: u32) -> Self {
        Self { limbs, stride: limbs + if limbs.is_multiple_of(8) { 4 } else { 0 } }
    }

    pub(super) const fn bytes(self) -> u32 {
        128 * self.stride
    }

    /// The address of a lane's row in the region of shared memory.
    pub(super) fn row(self, b: &mut Builder, lane: R32, region: R32) -> R32 {
        b.mad_lo(lane, 4 * self.stride, region)
    }

    /// Pieces of 16 bytes.
    const fn pieces(self) -> u32 {
        8 * self.limbs
    }

    /// Where piece `lane + 32k` stands in shared memory: an address and an offset in bytes.
    fn place(self, b: &mut Builder, lane: R32, flat: R32, k: u32) -> (R32, u32) {
        if self.stride == self.limbs {
            return (flat, 512 * k);
        }
        let piece = b.add(lane, 32 * k);
        let row = divide(b, piece, self.limbs / 4, self.pieces());
        (b.mad_lo(row, 16, flat), 512 * k)
    }

    /// The lanes that have a piece in step `k`: none if all have.
    fn inside(self, b: &mut Builder, lane: R32, k: u32) -> Option<warpmp_kernel::build::Pred> {
        (32 * (k + 1) > self.pieces()).then(|| b.compare(Cmp::Lt, lane, self.pieces() - 32 * k))
    }

    const fn steps(self) -> u32 {
        self.pieces().div_ceil(32)
    }

    /// Copies the tile to a region of shared memory; `source` is the tile's address. Asynchronous copies are to
    /// be waited for.
    pub(super) fn copy_in(self, b: &mut Builder, lane: R32, source: R64, region: R32, asynchronous: bool) {
        let from = b.mad_wide(lane, 16, source);
        let flat = b.mad_lo(lane, 16, region);
        let mut loaded = Vec::new();
        for k in 0..self.steps() {
            let inside = self.inside(b, lane, k);
            if asynchronous {
                let (to, offset) = self.place(b, lane, flat, k);
                match inside {
                    None => b.copy_async(16, to, offset, from, 512 * k),
                    Some(inside) => b.guarded(inside, true, |g| g.copy_async(16, to, offset, from, 512 * k)),
                }
            } else {
                let words: Vec<R32> = match inside {
                    None => b.load_global(Space::GlobalConst, vector(4), from, 512 * k),
                    Some(inside) => {
                        let words: Vec<R32> = (0..4).map(|_| b.copy(0)).collect();
                        b.guarded(inside, true, |g| {
                            g.load_into(Space::GlobalConst, vector(4), &words, from, 512 * k);
                        });
                        words
                    }
                };
                loaded.push(words);
            }
        }
        for (k, words) in loaded.into_iter().enumerate() {
            let (to, offset) = self.place(b, lane, flat, k as u32);
            match self.inside(b, lane, k as u32) {
                None => b.store_shared(&words, to, offset),
                Some(inside) => b.guarded(inside, true, |g| g.store_shared(&words, to, offset)),
            }
        }
    }

    /// Copies the tile from a region of shared memory; `target` is the tile's address.
    pub(super) fn copy_out(self, b: &mut Builder, lane: R32, target: R64, region: R32) {
        let to = b.mad_wide(lane, 16, target);
        let flat = b.mad_lo(lane, 16, region);
        for k in 0..self.steps() {
            let (from, offset) = self.place(b, lane, flat, k);
            match self.inside(b, lane, k) {
                None => {
                    let words = b.load_shared(vector(4), from, offset);
                    b.store_global(Space::GlobalStream, &words, to, 512 * k);
                }
                Some(inside) => b.guarded(inside, true, |g| {
                    let words = g.load_shared(vector(4), from, offset);
                    g.store_global(Space::GlobalStream, &words, to, 512 * k);
                }),
            }
        }
    }

    /// A row of shared memory, whole.
    pub(super) fn read(self, b: &mut Builder, row: R32) -> Vec<R32> {
        let width = piece(self.limbs);
        (0..self.limbs).step_by(width as usize).flat_map(|i| b.load_shared(vector(width), row, 4 * i)).collect()
    }

    /// Writes a row of shared memory.
    pub(super) fn write(self, b: &mut Builder, row: R32, limbs: &[R32]) {
        let width = piece(self.limbs) as usize;
        for (i, words) in limbs.chunks(width).enumerate() {
            b.store_shared(words, row, 4 * (i * width) as u32);
        }
    }
}
