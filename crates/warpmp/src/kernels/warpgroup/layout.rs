//! How the numbers of a product are divided, and where they are in the shared memory of a block of threads.
//!
//! ```text
//! slots        what the warps tell each other
//! a            a piece of zeros, the lower half, a piece of zeros, the upper half, a piece of zeros
//! b            the limbs, zeros to the end of the columns
//! work         four copies of each half of a, and b; later the sums of the result, then its limbs
//! ```
//!
//! The next operands arrive in `a` and `b` while a product is computed.

/// Limbs of half an operand.
pub(super) const HALF: u32 = 256;

/// Bytes of a block: the depth of a matrix product.
pub(super) const BLOCK_BYTES: u32 = 32;

/// Blocks of half an operand.
pub(super) const BLOCKS: u32 = 4 * HALF / BLOCK_BYTES;

/// Blocks of `b`: the columns of the matrix products.
pub(super) const COLUMNS: u32 = 2 * BLOCKS;

/// Bytes of a row of `B`, half as long as a block.
pub(super) const ROW_BYTES: u32 = BLOCK_BYTES / 2;

/// Limbs of the result that a thread finishes.
pub(super) const CHUNK: u32 = 4 * HALF / super::THREADS;

/// Where the carries of the warps are; before them are the words that warps hand to the next.
pub(super) const CARRIES: u32 = 32;

/// Where `a` begins.
pub(super) const A: u32 = 64;

/// Pieces of four words of a half of `a`, and of the zeros after it.
pub(super) const A_PIECES: u32 = HALF / 4 + 1;

/// Where `b` begins.
pub(super) const B: u32 = A + 16 * (1 + 2 * A_PIECES);

/// Where the copies of `a`, the sums and the limbs of the result begin.
pub(super) const WORK: u32 = B + 8 * HALF;

/// Bytes of a copy of a half of `a`: 8 words of zeros, the half, 8 words of zeros, and 8 of padding, which put the words of the
/// four copies into different banks.
pub(super) const COPY_BYTES: u32 = 4 * (HALF + 24);

/// Where the rows of `B` begin.
pub(super) const ROWS: u32 = WORK + 8 * COPY_BYTES;

/// Bytes of the rows of `B`, once.
pub(super) const ROWS_BYTES: u32 = COLUMNS * ROW_BYTES;

/// Bytes from the rows of the first halves of the blocks to those of the second halves: the rows twice, and padding that puts the
/// two into different banks.
pub(super) const ROW_HALVES_BYTES: u32 = 2 * ROWS_BYTES + 64;

/// Bytes from the sums of a block to those of the next: a word each, and a piece of padding against bank conflicts.
pub(super) const BLOCK_SUMS_BYTES: u32 = 4 * BLOCK_BYTES + 16;

/// Bytes of the sums of the product of half of `a`.
pub(super) const SUMS_BYTES: u32 = 3 * BLOCKS * BLOCK_SUMS_BYTES;

/// Bytes of shared memory a block of threads.
pub(super) const BYTES: u32 = WORK + 2 * SUMS_BYTES;

const _: () = assert!(ROWS + 2 * ROW_HALVES_BYTES <= BYTES);
