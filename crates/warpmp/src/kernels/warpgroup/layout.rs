//! How the numbers of a product are divided, and where they are in the shared memory of a block of threads.
//!
//! ```text
//! slots        what the warps tell each other
//! a            a piece of zeros, the lower half, a piece of zeros, the upper half, a piece of zeros
//! b            the limbs, zeros to the end of the columns
//! work         four copies of each half of a, and b; later the sums of the result, then its limbs
//! ```
//!
//! The next operands arrive in `a` and `b` while a product is computed. A half of `a` has whole blocks, and the upper one may be shorter. `b` has
//! a column for each of its blocks, to a multiple of 8.

use super::THREADS;
use crate::kernels::tensor::{BLOCK_BYTES, BLOCK_LIMBS};

/// Columns, at least. [`tensor`](crate::kernels::tensor) multiplies operands of fewer columns.
const LEAST_COLUMNS: u32 = 56;

/// Columns, at most.
const MOST_COLUMNS: u32 = 112;

/// Limbs of each operand.
pub(super) const LIMBS: std::ops::RangeInclusive<u32> =
    BLOCK_LIMBS * (LEAST_COLUMNS - COLUMNS_STEP) + 1..=BLOCK_LIMBS * MOST_COLUMNS;

/// The numbers of columns are multiples of this one: of a lane's share of the sums.
const COLUMNS_STEP: u32 = 8;

/// Bytes of a row of `B`, half as long as a block.
pub(super) const ROW_BYTES: u32 = BLOCK_BYTES / 2;

/// Where the carries of the warps are; before them are the words that warps hand to the next.
pub(super) const CARRIES: u32 = 32;

/// Where `a` begins.
pub(super) const A: u32 = 64;

/// Bytes from the sums of a block to those of the next: a word each, and a piece of padding.
pub(super) const BLOCK_SUMS_BYTES: u32 = 4 * BLOCK_BYTES + 16;

/// Where threads finish two blocks each, there is one more piece of padding after so many blocks.
pub(super) const PADDED_BLOCKS: u32 = 8;

/// The division of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Blocks of half of `a`.
    pub(super) blocks: u32,
    /// Columns of the matrix products: blocks of `b`.
    pub(super) columns: u32,
}

impl Layout {
    /// For operands of so many limbs.
    pub(super) const fn of([a, b]: [u32; 2]) -> Self {
        let columns = b.div_ceil(BLOCK_LIMBS).next_multiple_of(COLUMNS_STEP);
        Self {
            blocks: a.div_ceil(2 * BLOCK_LIMBS),
            columns: if columns < LEAST_COLUMNS { LEAST_COLUMNS } else { columns },
        }
    }

    /// Limbs of half of `a`.
    pub(super) const fn half(self) -> u32 {
        BLOCK_LIMBS * self.blocks
    }

    /// The columns of the matrix products of a step: of one, or of two where no instruction has so many. Of more than 32 columns, an instruction has a
    /// multiple of 16.
    pub(super) fn parts(self) -> Vec<u32> {
        if self.columns.is_multiple_of(16) { vec![self.columns] } else { vec![self.columns - 24, 24] }
    }

    /// Most registers of a thread, where the assembler would take a few more and one block of threads less would fit on a multiprocessor.
    pub(super) const fn registers(self) -> Option<u32> {
        if self.columns == 64 { Some(80) } else { None }
    }

    /// The first columns, whose sums of a low block are kept: those that have a high block, and others beside them.
    pub(super) const fn low_columns(self) -> u32 {
        self.blocks.next_multiple_of(COLUMNS_STEP)
    }

    /// Blocks of the product.
    pub(super) const fn all_blocks(self) -> u32 {
        2 * self.blocks + self.columns
    }

    /// Blocks of the result that a thread finishes: as many in all threads.
    pub(super) const fn own_blocks(self) -> u32 {
        if self.all_blocks() <= THREADS { 1 } else { 2 }
    }

    /// Limbs of the result that a thread finishes.
    pub(super) const fn chunk(self) -> u32 {
        BLOCK_LIMBS * self.own_blocks()
    }

    /// Pieces of four words of a half of `a`, and of the zeros after it.
    pub(super) const fn a_pieces(self) -> u32 {
        self.half() / 4 + 1
    }

    /// Where `b` begins.
    pub(super) const fn b(self) -> u32 {
        A + 16 * (1 + 2 * self.a_pieces())
    }

    /// Where the copies of `a`, the sums and the limbs of the result begin.
    pub(super) const fn work(self) -> u32 {
        self.b() + BLOCK_BYTES * self.columns
    }

    /// Bytes of a copy of a half of `a`: 8 words of zeros, the half, 8 words of zeros, and padding that puts the
    /// words of the four copies into different banks.
    pub(super) const fn copy_bytes(self) -> u32 {
        4 * (self.half().next_multiple_of(32) + 24)
    }

    /// Where the rows of `B` begin.
    pub(super) const fn rows(self) -> u32 {
        self.work() + 8 * self.copy_bytes()
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

    /// Where the sums of a block are, after those of the first one.
    ///
    /// The padding is against waits for banks. Lanes put the sums of four blocks at the same time, every other block. They fetch those of eight
    /// blocks: neighbours, or every other block. Only fetches across the padding of [`PADDED_BLOCKS`] blocks wait.
    pub(super) const fn sums_of(self, block: u32) -> u32 {
        let more = if self.own_blocks() == 1 { 0 } else { 16 * (block / PADDED_BLOCKS) };
        BLOCK_SUMS_BYTES * block + more
    }

    /// Bytes of the sums of the product of half of `a`.
    pub(super) const fn sums_bytes(self) -> u32 {
        self.sums_of((self.columns + self.blocks).next_multiple_of(PADDED_BLOCKS))
    }

    /// Bytes of shared memory a block of threads. The sums take more room than the rows and the copies before them.
    pub(super) const fn bytes(self) -> u32 {
        self.work() + 2 * self.sums_bytes()
    }
}

const _: () = {
    let mut columns = LEAST_COLUMNS;
    while columns <= MOST_COLUMNS {
        let mut a = *LIMBS.start();
        while a <= *LIMBS.end() {
            let layout = Layout::of([a, BLOCK_LIMBS * columns]);
            let bytes = layout.bytes();
            assert!(
                layout.rows() + 2 * layout.row_halves_bytes() <= bytes,
                "sums take the room of the numbers they are of"
            );
            assert!(layout.work() + 4 * THREADS * layout.chunk() <= bytes, "limbs take the room of the sums");
            assert!(layout.low_columns() <= columns, "a high block is a column's");
            a += BLOCK_LIMBS;
        }
        columns += COLUMNS_STEP;
    }
};
