//! A thread's limbs of the tiles of rows in global memory.
//!
//! The addresses are those of the thread's parts of the rows of its two lanes: lane `t` of four begins [`OWN_LIMBS`]`·t` limbs after the row.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::layout::{OWN_LIMBS, TILE_BYTES, TILE_LIMBS};
use super::tile::{Own, Place, QUAD, ROWS};

/// Where a number is in its tiles. Gap and limbs are multiples of [`OWN_LIMBS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Limbs of zeros below it.
    pub(super) gap: u32,
    /// Its limbs. Those above are zero, too.
    pub(super) limbs: u32,
    /// Tiles that threads ask for.
    pub(super) tiles: u32,
}

impl Place {
    /// The thread's parts of rows.
    pub(super) fn own_parts(&self, b: &mut Builder, rows: [R64; ROWS]) -> [R64; ROWS] {
        rows.map(|row| b.mad_wide(self.member, 4 * OWN_LIMBS, row))
    }

    /// Has the thread limbs of tile `tile` of a number? None: all threads have.
    pub(super) fn has_limbs(&self, b: &mut Builder, tile: R32, span: Span) -> Option<Pred> {
        (span.gap > 0 || span.limbs < TILE_LIMBS * span.tiles).then(|| {
            let part = self.part(b, tile, span);
            b.compare(Cmp::Lt, part, span.limbs / OWN_LIMBS)
        })
    }

    /// The number of the thread's part of a tile among the parts of the number.
    fn part(&self, b: &mut Builder, tile: R32, span: Span) -> R32 {
        let part = b.mad_lo(tile, QUAD, self.member);
        b.sub(part, span.gap / OWN_LIMBS)
    }

    /// Loads a thread's limbs of tile `tile` of numbers.
    pub(super) fn load(&self, b: &mut Builder, rows: [R64; ROWS], (tile, span): (R32, Span), to: &Own) {
        let inside = self.has_limbs(b, tile, span);
        for (row, to) in rows.into_iter().zip(to) {
            let from = at_tile(b, row, (tile, span));
            load_where(b, inside, (from, 0), to);
        }
    }

    /// The same of numbers that are parts of longer ones, which go up by so many bits: fewer than 32. Bits enter from the limb below the part, and leave to
    /// the limb above it.
    pub(super) fn load_up(&self, b: &mut Builder, rows: [R64; ROWS], (tile, span): (R32, Span), bits: R32, to: &Own) {
        let part = self.part(b, tile, span);
        let parts = span.limbs / OWN_LIMBS;
        let inside = b.compare(Cmp::Lt, part, parts);
        let has_below = b.compare(Cmp::Le, part, parts);
        for (row, to) in rows.into_iter().zip(to) {
            let from = b.mad_wide(tile, TILE_BYTES, row);
            let from = b.sub64(from, u64::from(4 * (span.gap + 1)));
            let below = b.copy(0);
            b.guarded(has_below, true, |g| g.load_into(Space::Global, Vector::V1, &[below], from, 0));
            load_where(b, Some(inside), (from, 4), to);
            for i in (0..to.len()).rev() {
                let limb = b.funnel_left(if i == 0 { below } else { to[i - 1] }, to[i], bits);
                b.set(to[i], limb);
            }
        }
    }

    /// Stores a thread's limbs of tile `tile` of numbers, of the lanes that exist.
    pub(super) fn store(
        &self,
        b: &mut Builder,
        rows: [R64; ROWS],
        (tile, span): (R32, Span),
        limbs: &Own,
        exists: [Pred; ROWS],
    ) {
        let inside = self.has_limbs(b, tile, span);
        for ((row, limbs), exists) in rows.into_iter().zip(limbs).zip(exists) {
            let to = at_tile(b, row, (tile, span));
            let inside = inside.map_or(exists, |it| b.and_pred(it, exists));
            store_where(b, inside, to, limbs);
        }
    }
}

/// Loads a thread's limbs from an address, or makes them zero. None: it loads them always.
pub(super) fn load_where(b: &mut Builder, inside: Option<Pred>, (from, offset): (R64, u32), to: &[R32]) {
    for (words, at) in to.chunks(4).zip((offset..).step_by(16)) {
        match inside {
            None => b.load_into(Space::Global, Vector::V4, words, from, at),
            Some(inside) => {
                for &word in words {
                    b.set(word, 0);
                }
                b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V4, words, from, at));
            }
        }
    }
}

/// Stores a thread's limbs to an address, or does not.
pub(super) fn store_where(b: &mut Builder, inside: Pred, to: R64, limbs: &[R32]) {
    for (words, i) in limbs.chunks(4).zip((0..).step_by(16)) {
        b.guarded(inside, true, |g| g.store_global(Space::Global, words, to, i));
    }
}

/// A thread's limbs of a tile in shared memory.
pub(super) fn load_own(b: &mut Builder, from: R32, offset: u32) -> Vec<R32> {
    (0..OWN_LIMBS).step_by(4).flat_map(|i| b.load_shared(Vector::V4, from, offset + 4 * i)).collect()
}

/// Where the thread's part of a tile is.
fn at_tile(b: &mut Builder, row: R64, (tile, span): (R32, Span)) -> R64 {
    let at = b.mad_wide(tile, TILE_BYTES, row);
    if span.gap == 0 { at } else { b.sub64(at, u64::from(4 * span.gap)) }
}
