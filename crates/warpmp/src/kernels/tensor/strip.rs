//! Strips: blocks in fours, for factors with which a panel of eight would be half empty.
//!
//! cost       `strips·(blocks of a + 1)` matrix products of 16×32 by 32×8 bytes; panels would take `(strips + 1)·(blocks of a + 1)` if the number of strips is odd
//!
//! A *strip* is eight columns, as a panel is. But it has four blocks of `b`, each twice: as it is, and a byte further. Column `2c` of a strip is block `c`, column `2c + 1` begins with the
//! byte before this block. So one matrix product is enough, with two of the four rows of each limb: bytes 3 and 1. In the odd columns the same rows are bytes 2 and 0. Lane `4g + t` has
//! rows `4g + 3` and `4g + 1` of both columns of block `t`: four bytes of the same limb.
//!
//! Blocks are in strips as they are in panels: block `j` is block `⌊j / strips⌋` of strip `j mod strips`. So the columns that meet a strip in a step meet the next strip in the next step.
//! In half products the blocks of a strip are neighbours, and a block more has the highest byte of `b`: see `half`.
//!
//! **The highest byte of `b`** would begin one block more if `b` fills the strips. Its products are added to digits instead: with the byte `x`, limb `p` of `a` adds `x` times its bytes 3 and
//! 1, which are bytes 2 and 0 of limb `p` of the high half.
//!
//! **Banks.** A lane has a chunk of `2·strips` limbs. If `strips` is odd, four digits of padding after each eight chunks keep digits that are stored at the same time in different banks,
//! and so pairs that are loaded at the same time.
//!
//! bound: the sums of columns as in panels. A digit gets a word, as it does in parts of products.
//!
//! source: ours.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::vector;

use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, Layout, PIECE_LIMBS};
use super::multiply::{Operands, Source, copy_in_lanes};
use super::operands::{in_first_lanes, reversed};
use super::part::add;
use super::result::{difference, digit};
use super::warps::Place;

/// Blocks of a strip.
pub(super) const STRIP_BLOCKS: u32 = 4;

/// Bytes of a block in its two columns.
pub(super) const TWICE_BYTES: u32 = 2 * BLOCK_BYTES;

/// Bytes from a strip to the next. The padding puts the blocks that a quarter of a warp writes into different banks, if they are of neighbouring strips.
pub(super) const STRIP_BYTES: u32 = STRIP_BLOCKS * TWICE_BYTES + 32;

/// Bytes of padding after the digits of eight chunks.
pub(super) const DIGITS_PADDING: u32 = 32;

/// The sums of a strip: those of the low blocks of the result, and those of both.
#[derive(Clone)]
pub(super) struct StripSums {
    low: [R32; 4],
    both: [R32; 4],
}

/// The strips that hold this many blocks, where they are faster than panels: an odd number, for which there would be a panel of which half is empty, or 10 or 12. Quads take shorter
/// factors.
pub(super) fn strips_of(blocks: u32) -> Option<u32> {
    let strips = blocks.div_ceil(STRIP_BLOCKS);
    (strips > 4 && (has_own_places(strips) || matches!(strips, 10 | 12))).then_some(strips)
}

/// The strips that hold this many blocks in half products: an odd number of 3 to 13. They are faster than panels; 15 strips were not tried.
pub(super) fn odd_strips_of(blocks: u32) -> Option<u32> {
    let strips = blocks.div_ceil(STRIP_BLOCKS);
    ((3..=13).contains(&strips) && has_own_places(strips)).then_some(strips)
}

/// Have the digits places of their own? With an even number of strips they have those of panels.
pub(super) const fn has_own_places(strips: u32) -> bool {
    !strips.is_multiple_of(2)
}

/// Are matrices made of entries? With few strips words are as fast, or faster.
pub(super) const fn has_entries(strips: u32) -> bool {
    strips >= 7
}

/// The bound on registers with which products have more warps and `ptxas` spills none.
pub(super) fn max_registers(strips: u32) -> Option<u32> {
    (strips == 13).then_some(152)
}

/// The bytes that the columns of strips take.
pub(super) const fn bytes(strips: u32) -> u32 {
    STRIP_BYTES * strips
}

/// The bytes that the digits of a product take, in places of their own.
pub(super) const fn digit_bytes(strips: u32) -> u32 {
    8 * 2 * BLOCK_LIMBS * STRIP_BLOCKS * strips + 4 * DIGITS_PADDING
}

/// Puts a piece of `b` into both columns of its block. `below` is the word before it.
pub(super) fn put_piece(b: &mut Builder, words: &[R32], below: R32, (to, at): (R32, u32)) {
    let own = reversed(b, words);
    b.store_shared(&own, to, at);
    // The last byte of the word before, and the first three bytes of the word, in reverse.
    let further: Vec<R32> =
        std::iter::once(&below).chain(words).zip(words).map(|(&below, &word)| b.prmt(below, word, 0x3456)).collect();
    b.store_shared(&further, to, at + BLOCK_BYTES);
}

/// Copies `pieces` pieces of a number at `from` to its columns at `to`, one block after the other.
pub(super) fn arrange_in_line(b: &mut Builder, place: &Place, pieces: u32, (from, to): (u32, u32)) {
    let own = b.mad_lo(place.lane, 4 * PIECE_LIMBS, place.shared);
    let column = column_in_line(b, place);
    for pass in 0..pieces.div_ceil(32) {
        let at = from + 4 * PIECE_LIMBS * 32 * pass;
        let copy = |b: &mut Builder| {
            let words = b.load_shared(vector(PIECE_LIMBS), own, at);
            let below = b.load_shared(Vector::V1, own, at - 4)[0];
            let below = if pass == 0 {
                // The first word has no word of the number before it.
                let is_first = b.compare(Cmp::Eq, place.lane, 0);
                b.select(0, below, is_first)
            } else {
                below
            };
            put_piece(b, &words, below, (column, to + 16 * TWICE_BYTES * pass));
        };
        in_first_lanes(b, place, pieces - 32 * pass, copy);
    }
}

/// The address of the lane's first piece in columns whose blocks are one after the other.
pub(super) fn column_in_line(b: &mut Builder, place: &Place) -> R32 {
    let [block, half] = [b.shr(place.lane, 1), b.and(place.lane, 1)];
    let column = b.mad_lo(half, BLOCK_BYTES / 2, place.shared);
    b.mad_lo(block, TWICE_BYTES, column)
}

/// The address of the digit of the lane's limb of block 0, if digits have places of their own.
pub(super) fn first_own_place(b: &mut Builder, place: &Place, strips: u32) -> R32 {
    let to = b.mad_lo(place.group, 8, place.shared);
    let to = b.mad_lo(place.member, 8 * BLOCK_LIMBS * strips, to);
    let pair = b.shr(place.member, 1);
    b.mad_lo(pair, DIGITS_PADDING, to)
}

/// The digit of a lane's sums of a strip. No sum is above `greatest`.
pub(super) fn digit_of(
    b: &mut Builder,
    place: &Place,
    [third, second, first, lowest]: [R32; 4],
    greatest: u64,
) -> [R32; 2] {
    digit(b, [lowest, first, second, third], place.bytes, greatest)
}

impl Layout {
    /// Multiplies `a` by the strips at `work`: the sums of each strip. Each `fence` steps end with a barrier.
    pub(super) fn multiply_strips(
        self,
        b: &mut Builder,
        place: &Place,
        (a, strips): (Source, u32),
        fence: u32,
    ) -> Vec<StripSums> {
        let operands = Operands::of(b, place, a, self.work, fence);
        // The columns of a strip from each of its blocks on, as if the first one followed the last one.
        let own = b.mul_lo(place.lane, 8);
        let columns = [0, 1, 2, 3].map(|block| {
            let column = b.add(own, block * TWICE_BYTES);
            let column = b.and(column, STRIP_BLOCKS * TWICE_BYTES - 1);
            b.add(place.shared, column)
        });
        // Block blocks·strips + s − step: its strip, and how many blocks further than the lane's.
        let load = |b: &mut Builder, s: u32, step: u32| {
            let distance = s + self.columns() - step;
            let first = columns[(distance / strips % STRIP_BLOCKS) as usize];
            b.load_shared(Vector::V2, first, self.work + STRIP_BYTES * (distance % strips))
        };
        let here = [0, 1, 2, 3].map(|number| b.compare(Cmp::Eq, place.member, number));
        let zero = b.copy(0);
        let mut sums = vec![StripSums { low: [zero; 4], both: [zero; 4] }; strips as usize];
        // Copies the sums of the column whose low block is complete after this step.
        let copy = |b: &mut Builder, sums: &mut [StripSums], step: u32| {
            let StripSums { low, both } = &mut sums[(step % strips) as usize];
            for (low, &mut both) in low.iter_mut().zip(both) {
                copy_in_lanes(b, low, both, &here, step / strips);
            }
        };
        let steps = self.blocks + 1;
        self.in_steps(b, (strips, steps, fence), load, |b, blocks, step| {
            let matrix = operands.strip_matrix(b, step);
            for (sums, block) in sums.iter_mut().zip(blocks) {
                sums.both = b.mma_u8(matrix, [block[0], block[1]], sums.both);
            }
            if step < self.columns() {
                copy(b, &mut sums, step);
            }
        });
        for step in steps..self.columns() {
            copy(b, &mut sums, step);
        }
        sums
    }

    /// What the highest byte of `b` adds to the digits of the high half, a word for each strip, if `b` fills them.
    pub(super) fn words_of_highest_byte(
        self,
        b: &mut Builder,
        place: &Place,
        (a, strips): (Source, u32),
    ) -> Option<Vec<R32>> {
        if self.limbs[1] < BLOCK_LIMBS * self.columns() {
            return None;
        }
        // Its bytes are in reverse.
        let highest_block = STRIP_BYTES * (strips - 1) + TWICE_BYTES * (STRIP_BLOCKS - 1);
        let word = b.load_shared(Vector::V1, place.shared, self.work + highest_block + BLOCK_BYTES - 4)[0];
        let highest = b.and(word, 0xFF);
        let (first, bytes) = match a {
            Source::Words(first) => (first, 4),
            Source::Entries(first) => (first, 8),
        };
        let own = b.mad_lo(place.member, bytes * BLOCK_LIMBS * strips, first);
        let own = b.mad_lo(place.group, bytes, own);
        // After the limbs of `a` is a block of zeros; beyond it nothing is read.
        let block = (self.blocks + 1 < self.columns()).then(|| b.mul_lo(place.member, strips));
        let words = (0..strips).map(|s| {
            let at = bytes * BLOCK_LIMBS * (1 + s);
            let limb = match block {
                Some(block) if s <= self.blocks => {
                    let limb = b.copy(0);
                    let inside = b.compare(Cmp::Le, block, self.blocks - s);
                    b.guarded(inside, true, |g| {
                        g.load_into(Space::Shared, Vector::V1, &[limb], own, at);
                    });
                    limb
                }
                Some(_) => b.copy(0),
                None => b.load_shared(Vector::V1, own, at)[0],
            };
            let bytes = b.prmt(limb, 0, 0x4341);
            b.mul_lo(bytes, highest)
        });
        Some(words.collect())
    }

    /// Makes the digits of a product. `more` is added to those of the high half. `put` gets each digit with its block, numbered as in a lane with member 0.
    pub(super) fn fold_strips(
        self,
        b: &mut Builder,
        place: &Place,
        (sums, more): (&[StripSums], Option<&[R32]>),
        mut put: impl FnMut(&mut Builder, u32, [R32; 2]),
    ) {
        let greatest = self.greatest_sum();
        for (sums, s) in sums.iter().zip(0..) {
            let [low, mut both] = [sums.low, sums.both].map(|sums| digit_of(b, place, sums, greatest));
            if let Some(more) = more {
                add(b, &mut both, more[s as usize]);
            }
            let high = difference(b, both, low);
            put(b, s, low);
            put(b, self.columns() + s, high);
        }
    }

    /// The bytes from the first own place to the digit of another block.
    pub(super) const fn own_place(self, block: u32) -> u32 {
        8 * BLOCK_LIMBS * block + if block < self.columns() { 0 } else { 2 * DIGITS_PADDING }
    }

    /// The digits of this lane's chunk in their own places, low words and high words in turn.
    pub(super) fn digits_in_own_places(self, b: &mut Builder, place: &Place) -> Vec<R32> {
        let eight = b.shr(place.lane, 3);
        let from = b.mad_lo(eight, DIGITS_PADDING, place.shared);
        let from = b.mad_lo(place.lane, 8 * self.chunk(), from);
        (0..self.chunk()).step_by(2).flat_map(|i| b.load_shared(Vector::V4, from, self.work + 8 * i)).collect()
    }
}
