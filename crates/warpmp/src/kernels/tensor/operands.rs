//! Operands from global memory to shared memory.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Vector};
use warpmp_launch::divide;

use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS, Layout};
use super::piece;
use super::warps::Place;

impl Layout {
    /// Writes the zeros before and after the operands.
    pub(super) fn clear(self, b: &mut Builder, place: &Place) {
        let [la, lb, _] = self.limbs;
        for first in (0..self.b()).step_by(self.a_bytes() as usize) {
            clear(b, place, first, BLOCK_LIMBS);
            let words = BLOCK_LIMBS + la;
            clear(b, place, first + 4 * words, self.a_bytes() / 4 - words);
        }
        clear(b, place, self.b() + 4 * lb, BLOCK_LIMBS * self.columns() - lb);
    }

    /// Starts to copy the operands of a product, `a` to the place that begins at `turn`. The lane's first pieces are at
    /// `from`.
    pub(super) fn fetch(self, b: &mut Builder, place: &Place, from: [R64; 2], turn: R32) {
        let a = b.add(place.shared, turn);
        fetch(b, place, from[0], self.limbs[0], a, BLOCK_BYTES);
        fetch(b, place, from[1], self.limbs[1], place.shared, self.b());
        b.copy_commit();
    }

    /// Copies the blocks of `b`, `from.1` bytes after `from.0`, to the columns of the panels at `work`, the bytes of each word reversed.
    ///
    /// Block `j` is column `j / panels` of panel `j mod panels`. Each panel has its columns twice, so that eight columns
    /// from any one on are neighbours.
    pub(super) fn arrange(self, b: &mut Builder, place: &Place, from: (R32, u32), work: u32) {
        let Place { lane, shared, .. } = *place;
        let (begin, before) = from;
        let again = COLUMNS * BLOCK_BYTES;
        // One panel is one pass of words in pairs; more panels are passes of four.
        let (vector, bytes) = if self.panels == 1 { (Vector::V2, 8) } else { (Vector::V4, 16) };
        let pieces = BLOCK_BYTES * self.columns() / bytes;
        let from = b.mad_lo(lane, bytes, begin);
        let mut first = match self.panels {
            1 if begin == shared => Some(from),
            1 => Some(b.mad_lo(lane, bytes, shared)),
            _ => None,
        };
        for pass in 0..pieces.div_ceil(32) {
            let (to, offset) = match first {
                Some(to) if 16 % self.panels == 0 => (to, 16 / self.panels * BLOCK_BYTES * pass),
                _ => (self.column_of_piece(b, place, pass), 0),
            };
            first.get_or_insert(to);
            let copy = |b: &mut Builder| {
                let words = b.load_shared(vector, from, before + 32 * bytes * pass);
                let words: Vec<R32> = words.into_iter().map(|word| b.prmt(word, 0, 0x0123)).collect();
                for offset in [offset, offset + again] {
                    b.store_shared(&words, to, work + offset);
                }
            };
            if 32 * (pass + 1) > pieces {
                let inside = b.compare(Cmp::Lt, lane, pieces - 32 * pass);
                b.if_(inside, copy);
            } else {
                copy(b);
            }
        }
    }

    /// Where the lane's piece of four words belongs in the work area in this pass over `b`.
    fn column_of_piece(self, b: &mut Builder, place: &Place, pass: u32) -> R32 {
        let block = b.shr(place.lane, 1);
        let block = b.add(block, 16 * pass);
        let column = divide(b, block, self.panels, self.columns() + 16);
        let panel = b.mad_lo(column, self.panels.wrapping_neg(), block);
        let half = b.and(place.lane, 1);
        let to = b.mad_lo(half, 16, place.shared);
        let to = b.mad_lo(column, BLOCK_BYTES, to);
        b.mad_lo(panel, self.panel_bytes(), to)
    }
}

/// Writes `words` words of zeros at a place of the warp's shared memory.
pub(super) fn clear(b: &mut Builder, place: &Place, first: u32, words: u32) {
    if words == 0 {
        return;
    }
    let address = b.mad_lo(place.lane, 4, place.shared);
    let zero = b.copy(0);
    for start in (0..words).step_by(32) {
        let inside = b.compare(Cmp::Lt, place.lane, words - start);
        b.guarded(inside, true, |g| g.store_shared(&[zero], address, first + 4 * start));
    }
}

/// The four bytes of two neighbouring words that end with byte `x` of the upper one.
pub(super) fn ending_with(b: &mut Builder, below: R32, word: R32, x: u32) -> R32 {
    if x == 3 { word } else { b.prmt(below, word, 0x4321 + 0x1111 * x) }
}

/// Starts to copy a row of `limbs` limbs to `to + offset`. The lane's first piece is at `from`.
pub(super) fn fetch(b: &mut Builder, place: &Place, from: R64, limbs: u32, to: R32, offset: u32) {
    let width = piece(limbs);
    let to = b.mad_lo(place.lane, 4 * width, to);
    let pieces = limbs / width;
    for start in (0..pieces).step_by(32) {
        let at = 4 * width * start;
        if start + 32 <= pieces {
            b.copy_async(4 * width as u8, to, offset + at, from, at);
        } else {
            let inside = b.compare(Cmp::Lt, place.lane, pieces - start);
            b.guarded(inside, true, |g| g.copy_async(4 * width as u8, to, offset + at, from, at));
        }
    }
}
