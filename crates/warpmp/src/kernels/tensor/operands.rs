//! Operands from global memory to shared memory.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::{divide, vector};

use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS, Layout};
use super::result::from_lane_below;
use super::strip;
use super::warps::Place;

impl Layout {
    /// Writes the zeros before and after the operands.
    pub(super) fn clear(self, b: &mut Builder, place: &Place) {
        let [la, lb, _] = self.limbs;
        let after = BLOCK_LIMBS + la;
        for first in (0..self.b()).step_by(self.a_bytes() as usize) {
            clear(b, place, first, BLOCK_LIMBS);
            clear(b, place, first + 4 * after, self.a_bytes() / 4 - after);
        }
        if !self.b_waits() {
            clear(b, place, self.b() + 4 * lb, BLOCK_LIMBS * self.columns() - lb);
        }
        if self.has_entries {
            let entries = self.entries();
            clear(b, place, entries, 2 * BLOCK_LIMBS);
            clear(b, place, entries + 8 * after, self.entry_bytes() / 4 - 2 * after);
        }
    }

    /// Starts to copy the operands of a product, `a` to the place that begins at `turn`, and `b` to the registers `waiting` or to shared memory. The
    /// lane's first pieces are at `from`.
    pub(super) fn fetch(self, b: &mut Builder, place: &Place, from: [R64; 2], turn: R32, waiting: Option<&[R32]>) {
        let a = b.add(place.shared, turn);
        fetch(b, place, (from[0], self.limbs[0], self.pieces[0]), a, BLOCK_BYTES);
        match waiting {
            None => fetch(b, place, (from[1], self.limbs[1], self.pieces[1]), place.shared, self.b()),
            Some(words) => {
                let (width, pieces) = (vector(self.words_of_pass()), self.limbs[1] / self.words_of_pass());
                if pieces < 32 {
                    let inside = b.compare(Cmp::Lt, place.lane, pieces);
                    b.guarded(inside, true, |g| g.load_into(Space::Global, width, words, from[1], 0));
                } else {
                    b.load_into(Space::Global, width, words, from[1], 0);
                }
            }
        }
        b.copy_commit();
    }

    /// The registers in which the lane's piece of the next `b` waits. Lanes beyond its end keep zeros.
    pub(super) fn waiting(self, b: &mut Builder) -> Option<Vec<R32>> {
        self.b_waits().then(|| (0..self.words_of_pass()).map(|_| b.copy(0)).collect())
    }

    /// Copies the blocks of `b`, `from.1` bytes after `from.0`, to the columns of the panels at `work`, the bytes of each word reversed.
    ///
    /// Block `j` is column `j / panels` of panel `j mod panels`. Each panel has its columns twice, so that eight columns
    /// from any one on are neighbours.
    pub(super) fn arrange(self, b: &mut Builder, place: &Place, from: (R32, u32), work: u32) {
        let (begin, before) = from;
        let words = self.words_of_pass();
        let pieces = BLOCK_LIMBS * self.columns() / words;
        let from = b.mad_lo(place.lane, 4 * words, begin);
        let mut first = None;
        for pass in 0..pieces.div_ceil(32) {
            let to = self.column_of_piece(b, place, pass, &mut first);
            let copy = |b: &mut Builder| {
                let at = before + 128 * words * pass;
                // Before the first word are zeros.
                let below = self.strips.map(|_| b.load_shared(Vector::V1, from, at - 4)[0]);
                let words = b.load_shared(vector(words), from, at);
                put_piece(b, &words, below, to, work);
            };
            in_first_lanes(b, place, pieces - 32 * pass, copy);
        }
    }

    /// The same for a `b` whose pieces are in registers.
    pub(super) fn arrange_waiting(self, b: &mut Builder, place: &Place, words: &[R32]) {
        let to = self.column_of_piece(b, place, 0, &mut None);
        let below = self.strips.map(|_| from_lane_below(b, place, words[words.len() - 1]));
        let pieces = BLOCK_LIMBS * self.columns() / self.words_of_pass();
        in_first_lanes(b, place, pieces, |b| put_piece(b, words, below, to, self.work));
    }

    /// Where the lane's piece belongs in the work area in this pass over `b`: an address, and the bytes after it. `first` is the address of
    /// the first pass.
    fn column_of_piece(self, b: &mut Builder, place: &Place, pass: u32, first: &mut Option<R32>) -> (R32, u32) {
        let (panels, column_bytes) = (self.panels_or_strips(), self.block_bytes());
        let panel_bytes = if self.strips.is_some() { strip::STRIP_BYTES } else { self.panel_bytes() };
        if let (Some(to), true) = (*first, 16 % panels == 0) {
            return (to, 16 / panels * column_bytes * pass);
        }
        let to = if panels == 1 {
            b.mad_lo(place.lane, 8, place.shared)
        } else {
            let block = b.shr(place.lane, 1);
            let block = b.add(block, 16 * pass);
            let column = divide(b, block, panels, self.columns() + 16);
            let panel = b.mad_lo(column, panels.wrapping_neg(), block);
            let half = b.and(place.lane, 1);
            let to = b.mad_lo(half, 16, place.shared);
            let to = b.mad_lo(column, column_bytes, to);
            b.mad_lo(panel, panel_bytes, to)
        };
        first.get_or_insert(to);
        (to, 0)
    }

    /// The place of the next `a`, if `turn` is the place of the present one. With entries there is one place: entries are copies.
    pub(super) fn other_place(self, b: &mut Builder, turn: R32) -> R32 {
        if self.has_entries { turn } else { b.sub(self.a_bytes(), turn) }
    }

    /// Makes the entries of `a` at an address. The entry of a word is the four bytes that end with the word's first byte, and the word.
    ///
    /// An entry contains every window of four bytes that ends within its word. So a step takes two loads and four permutations instead of three and six.
    pub(super) fn enter(self, b: &mut Builder, place: &Place, a: R32) {
        let entries = self.entries();
        let is_for_strips = self.strips.is_some();
        let from = b.mad_lo(place.lane, 8, a);
        let to = b.mad_lo(place.lane, 16, place.shared);
        let limbs = self.limbs[0];
        let enter = |b: &mut Builder, pass: u32| {
            let at = BLOCK_BYTES + 256 * pass;
            let below = b.load_shared(Vector::V1, from, at - 4)[0];
            let words = b.load_shared(Vector::V2, from, at);
            let pairs = [[below, words[0]], [words[0], words[1]]];
            let entries_of_words = pairs.map(|[below, word]| entry(b, below, word, is_for_strips));
            b.store_shared(entries_of_words.as_flattened(), to, entries + 2 * at);
            words[1]
        };
        // The word after the last one has an entry, too: three bytes of it are bytes of `a`.
        let passes = limbs / 64;
        let last = (0..passes).map(|pass| enter(b, pass)).last();
        match last {
            Some(last) if limbs.is_multiple_of(64) => {
                let is_top = b.compare(Cmp::Eq, place.lane, 31);
                let zero = b.copy(0);
                let rest = entry(b, last, zero, is_for_strips);
                b.guarded(is_top, true, |g| {
                    g.store_shared(&rest, to, entries + 2 * (BLOCK_BYTES + 256 * passes) - 16 * 31);
                });
            }
            _ => {
                let inside = b.compare(Cmp::Lt, place.lane, limbs % 64 / 2 + 1);
                b.if_(inside, |b| {
                    enter(b, passes);
                });
            }
        }
    }
}

/// Puts a piece of `b` into its column and the copy of this column, or into the columns of a strip. There `below` is the word before it.
fn put_piece(b: &mut Builder, words: &[R32], below: Option<R32>, (to, offset): (R32, u32), work: u32) {
    if let Some(below) = below {
        strip::put_piece(b, words, below, (to, work + offset));
        return;
    }
    let words = reversed(b, words);
    for offset in [offset, offset + COLUMNS * BLOCK_BYTES] {
        b.store_shared(&words, to, work + offset);
    }
}

/// Does something in the first `count` lanes, or in all of them if there are no more.
pub(super) fn in_first_lanes(b: &mut Builder, place: &Place, count: u32, body: impl FnOnce(&mut Builder)) {
    if count < 32 {
        let inside = b.compare(Cmp::Lt, place.lane, count);
        b.if_(inside, body);
    } else {
        body(b);
    }
}

/// Words with their bytes in reverse.
pub(super) fn reversed(b: &mut Builder, words: &[R32]) -> Vec<R32> {
    words.iter().map(|&word| b.prmt(word, 0, 0x0123)).collect()
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

/// The entry of a word: what no permutation of other words makes. For panels the four bytes that end with its first byte, and the word; for strips the word, and
/// the four bytes that end with its byte 1.
pub(super) fn entry(b: &mut Builder, below: R32, word: R32, is_for_strips: bool) -> [R32; 2] {
    if is_for_strips { [word, ending_with(b, below, word, 1)] } else { [ending_with(b, below, word, 0), word] }
}

/// Starts to copy a row of `limbs` limbs in pieces of `width` limbs to `to + offset`. The lane's first piece is at `from`.
pub(super) fn fetch(b: &mut Builder, place: &Place, (from, limbs, width): (R64, u32, u32), to: R32, offset: u32) {
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
