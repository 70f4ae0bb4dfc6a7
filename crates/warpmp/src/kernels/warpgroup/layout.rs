//! How the numbers of a product are divided, and where they are in the shared memory of a block of threads.
//!
//! ```text
//! slots        what the warps tell each other
//! a            a piece of zeros, the lower half, a piece of zeros, the upper half, a piece of zeros
//! b            the limbs, zeros to the end of the columns
//! work         four copies of each half of a, and b; later the sums of the result, then its limbs
//! ```
//!
//! The next operands arrive in `a` and `b` while a product is computed. A warp finishes as many limbs as a half has, so its threads are all alike.

use super::THREADS;

/// Limbs of half an operand, at most. Each of these has a kernel of its own, with as many columns as an instruction can have.
const HALVES: [u32; 4] = [256, 320, 384, 448];

/// Limbs of each operand. Shorter ones take as long, and [`tensor`](crate::kernels::tensor) is faster there.
pub(super) const LIMBS: std::ops::RangeInclusive<u32> = 3 * HALVES[0] / 2 + 1..=2 * HALVES[3];

/// Bytes of a block: the depth of a matrix product.
pub(super) const BLOCK_BYTES: u32 = 32;

/// Limbs of a block.
pub(super) const BLOCK_LIMBS: u32 = BLOCK_BYTES / 4;

/// Bytes of a row of `B`, half as long as a block.
pub(super) const ROW_BYTES: u32 = BLOCK_BYTES / 2;

/// Where the carries of the warps are; before them are the words that warps hand to the next.
pub(super) const CARRIES: u32 = 32;

/// Where `a` begins.
pub(super) const A: u32 = 64;

/// Bytes from the sums of a block to those of the next: a word each, and a piece of padding against bank conflicts.
pub(super) const BLOCK_SUMS_BYTES: u32 = 4 * BLOCK_BYTES + 16;

/// The division of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Limbs of half an operand.
    pub(super) half: u32,
}

impl Layout {
    /// For operands whose longest has this many limbs.
    pub(super) fn of(limbs: u32) -> Self {
        let half = HALVES.into_iter().find(|half| limbs <= 2 * half);
        Self { half: half.unwrap_or(HALVES[3]) }
    }

    /// Blocks of half an operand.
    pub(super) const fn blocks(self) -> u32 {
        self.half / BLOCK_LIMBS
    }

    /// Blocks of `b`: the columns of the matrix products.
    pub(super) const fn columns(self) -> u32 {
        2 * self.blocks()
    }

    /// Limbs of the result that a thread finishes.
    pub(super) const fn chunk(self) -> u32 {
        4 * self.half / THREADS
    }

    /// Pieces of four words of a half of `a`, and of the zeros after it.
    pub(super) const fn a_pieces(self) -> u32 {
        self.half / 4 + 1
    }

    /// Where `b` begins.
    pub(super) const fn b(self) -> u32 {
        A + 16 * (1 + 2 * self.a_pieces())
    }

    /// Where the copies of `a`, the sums and the limbs of the result begin.
    pub(super) const fn work(self) -> u32 {
        self.b() + 8 * self.half
    }

    /// Bytes of a copy of a half of `a`: 8 words of zeros, the half, 8 words of zeros, and 8 of padding, which put the words of the
    /// four copies into different banks.
    pub(super) const fn copy_bytes(self) -> u32 {
        4 * (self.half + 24)
    }

    /// Where the rows of `B` begin.
    pub(super) const fn rows(self) -> u32 {
        self.work() + 8 * self.copy_bytes()
    }

    /// Bytes of the rows of `B`, once.
    pub(super) const fn rows_bytes(self) -> u32 {
        self.columns() * ROW_BYTES
    }

    /// Bytes from the rows of the first halves of the blocks to those of the second halves: the rows twice, and padding that puts the
    /// two into different banks.
    pub(super) const fn row_halves_bytes(self) -> u32 {
        2 * self.rows_bytes() + 64
    }

    /// Bytes of the sums of the product of half of `a`.
    pub(super) const fn sums_bytes(self) -> u32 {
        3 * self.blocks() * BLOCK_SUMS_BYTES
    }

    /// Bytes of shared memory a block of threads. The sums take more room than the rows and the copies before them.
    pub(super) const fn bytes(self) -> u32 {
        self.work() + 2 * self.sums_bytes()
    }
}

const _: () = {
    let mut i = 0;
    while i < HALVES.len() {
        let layout = Layout { half: HALVES[i] };
        assert!(layout.rows() + 2 * layout.row_halves_bytes() <= layout.bytes());
        assert!(layout.half.is_multiple_of(32), "a copy's padding, and the chunks of a warp");
        i += 1;
    }
};
