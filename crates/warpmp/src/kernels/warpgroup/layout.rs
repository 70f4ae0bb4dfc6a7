//! How the numbers of a product are divided, and where they are in the shared memory of a block of threads.
//!
//! ```text
//! slots        what the warps tell each other
//! a            8 words of zeros, then the quarters, 8 words of zeros after each; twice
//! b            the limbs, zeros to the end of the columns
//! work         the rows of b; the digits of the products of the quarters, after the rows or later; then the limbs of the result
//! ```
//!
//! The next operands arrive in the other place of `a` and in `b` while a product is computed. Quarters of `a` have whole blocks, and the last ones may
//! be shorter. `b` has a column for each of its blocks, to a multiple of 8.

use warpmp_kernel::build::R32;

use super::{QUARTERS, THREADS};
use crate::kernels::tensor::{BLOCK_BYTES, BLOCK_LIMBS};

/// The most blocks behind those of all threads: then each thread has one limb of them.
const REST_BLOCKS: u32 = THREADS / BLOCK_LIMBS;

/// Columns, at least. [`tensor`](crate::kernels::tensor) multiplies operands of fewer columns.
const LEAST_COLUMNS: u32 = 56;

/// Columns, at most.
const MOST_COLUMNS: u32 = 112;

/// Columns, at most, with which the sums of low blocks are kept in registers.
const MOST_KEPT_COLUMNS: u32 = 72;

/// Limbs of each operand.
pub(super) const LIMBS: std::ops::RangeInclusive<u32> =
    BLOCK_LIMBS * (LEAST_COLUMNS - COLUMNS_STEP) + 1..=BLOCK_LIMBS * MOST_COLUMNS;

/// The numbers of columns are multiples of this one: of a lane's share of the sums.
pub(super) const COLUMNS_STEP: u32 = 8;

/// Bytes of a row of `B`, half as long as a block.
pub(super) const ROW_BYTES: u32 = BLOCK_BYTES / 2;

/// Where the carries of the warps are; before them are the words that warps hand to the next.
pub(super) const CARRIES: u32 = 48;

/// Where the places of `a` begin.
pub(super) const A: u32 = 64;

/// Bytes from the digits of a block to those of the next: a pair of words each, and a piece of padding. With it, neither lanes that put the digits of every
/// other block nor those that fetch a piece each of neighbours wait for banks.
pub(super) const BLOCK_DIGITS_BYTES: u32 = 8 * BLOCK_LIMBS + 16;

/// The division of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Blocks of a quarter of `a`.
    pub(super) blocks: u32,
    /// Columns of the matrix products: blocks of `b`.
    pub(super) columns: u32,
    /// Blocks of the result, from the lowest limb of the product to the last one that is kept.
    pub(super) all_blocks: u32,
}

impl Layout {
    /// For factors of so many limbs, of whose product the first `end` limbs are needed.
    pub(super) const fn of([a, b]: [u32; 2], end: u32) -> Self {
        let columns = b.div_ceil(BLOCK_LIMBS).next_multiple_of(COLUMNS_STEP);
        Self {
            blocks: a.div_ceil(QUARTERS * BLOCK_LIMBS),
            columns: if columns < LEAST_COLUMNS { LEAST_COLUMNS } else { columns },
            all_blocks: end.div_ceil(BLOCK_LIMBS),
        }
    }

    /// Limbs of a quarter of `a`.
    pub(super) const fn quarter(self) -> u32 {
        BLOCK_LIMBS * self.blocks
    }

    /// The columns of the matrix products of a step: of one, or of two where no instruction has so many. Of more than 32 columns, an instruction has a
    /// multiple of 16.
    pub(super) fn parts(self) -> Vec<u32> {
        if self.columns.is_multiple_of(16) { vec![self.columns] } else { vec![self.columns - 24, 24] }
    }

    /// Are the sums of low blocks kept in registers until the last step? With more columns registers are short: then the digits of a low block go to
    /// shared memory as soon as it is complete.
    pub(super) const fn keeps_low(self) -> bool {
        self.columns <= MOST_KEPT_COLUMNS
    }

    /// The first columns, whose sums of a low block are kept: those that have a high block, to whole shares of the lanes.
    pub(super) const fn low_columns(self) -> u32 {
        self.blocks.next_multiple_of(COLUMNS_STEP)
    }

    /// The steps before it in which the words of a step are loaded.
    pub(super) const fn steps_ahead(self) -> u32 {
        if self.keeps_low() { 2 } else { 1 }
    }

    /// Blocks of the product of a quarter of `a`.
    pub(super) const fn quarter_blocks(self) -> u32 {
        self.columns + self.blocks
    }

    /// Blocks of the result that a thread finishes: as many in all threads.
    pub(super) const fn own_blocks(self) -> u32 {
        if self.all_blocks - self.rest_blocks() <= THREADS { 1 } else { 2 }
    }

    /// The blocks of the result beyond those of all threads, if they are few: then a thread finishes one block, and a limb of these. Of all quarters of `a` the
    /// last one alone has digits there.
    pub(super) const fn rest_blocks(self) -> u32 {
        let blocks = self.all_blocks.saturating_sub(THREADS);
        let before = (QUARTERS - 2) * self.blocks + self.quarter_blocks();
        if blocks <= REST_BLOCKS && before <= THREADS { blocks } else { 0 }
    }

    /// Limbs of the result that a thread finishes.
    pub(super) const fn chunk(self) -> u32 {
        BLOCK_LIMBS * self.own_blocks()
    }

    /// Limbs of the chunks of all threads.
    pub(super) const fn chunks(self) -> u32 {
        THREADS * self.chunk()
    }

    /// Bytes from a quarter of `a` to the next.
    pub(super) const fn quarter_bytes(self) -> u32 {
        BLOCK_BYTES * (self.blocks + 1)
    }

    /// Bytes of a place of `a`.
    pub(super) const fn a_bytes(self) -> u32 {
        BLOCK_BYTES + QUARTERS * self.quarter_bytes()
    }

    /// Where `b` begins.
    pub(super) const fn b(self) -> u32 {
        A + 2 * self.a_bytes()
    }

    /// Where the rows of `b`, the digits and the limbs of the result begin.
    pub(super) const fn work(self) -> u32 {
        self.b() + BLOCK_BYTES * self.columns
    }

    /// Bytes of the rows of `B`, once.
    pub(super) const fn rows_bytes(self) -> u32 {
        self.columns * ROW_BYTES
    }

    /// Bytes from the rows of the first halves of the blocks to those of the second halves: the rows twice, and padding that puts the
    /// two into different banks.
    pub(super) const fn row_halves_bytes(self) -> u32 {
        2 * self.rows_bytes() + 64
    }

    /// Are the pieces of the digits of this block in pairs exchanged? Where threads finish two blocks each, they fetch pieces of every other block at
    /// the same time, and would wait for banks without.
    pub(super) const fn exchanges(self, block: u32) -> bool {
        self.own_blocks() > 1 && block / EXCHANGED_BLOCKS % 2 == 1
    }

    /// Where a thread puts its digit of block `first + 2t + h`, `first` a multiple of 8: an address and the bytes after it. `places` are the addresses for
    /// pieces in order and for exchanged ones.
    pub(super) fn digit_place(self, places: [R32; 2], first: u32, h: u32) -> (R32, u32) {
        (places[usize::from(self.exchanges(first))], self.digits() + BLOCK_DIGITS_BYTES * (first + h))
    }

    /// Where the digits begin: where the rows do, or after them.
    pub(super) const fn digits(self) -> u32 {
        self.work() + if self.keeps_low() { 0 } else { 2 * self.row_halves_bytes() }
    }

    /// Bytes of the digits of the product of a quarter of `a`.
    pub(super) const fn digits_bytes(self) -> u32 {
        BLOCK_DIGITS_BYTES * self.quarter_blocks()
    }

    /// Bytes of shared memory a block of threads. The digits take more room than the rows before them and the limbs after them.
    pub(super) const fn bytes(self) -> u32 {
        self.digits() + QUARTERS * self.digits_bytes()
    }
}

/// Pieces of digits are exchanged in every other group of so many blocks.
pub(super) const EXCHANGED_BLOCKS: u32 = 8;

const _: () = {
    let mut columns = LEAST_COLUMNS;
    while columns <= MOST_COLUMNS {
        let mut a = *LIMBS.start();
        while a <= *LIMBS.end() {
            let b = BLOCK_LIMBS * columns;
            let layout = Layout::of([a, b], a + b);
            let bytes = layout.bytes();
            assert!(layout.work() + 2 * layout.row_halves_bytes() <= bytes, "digits take the room of the rows");
            assert!(layout.work() + 4 * (layout.chunks() + THREADS) <= bytes, "limbs take the room of the digits");
            assert!(layout.low_columns() <= columns, "a high block is a column's");
            a += BLOCK_LIMBS;
        }
        columns += COLUMNS_STEP;
    }
};
