//! How numbers are divided into tiles, and where the matrices of the modulus are in the shared memory of a block of threads.
//!
//! ```text
//! matrices     those of the inverse for differences 0 to tiles − 1, those of the modulus for differences 0 to tiles
//! numbers      the inverse, then the modulus: a piece of zeros, the number, a piece of zeros
//! own          the limbs of each thread
//! ```
//!
//! A number of `N` limbs fills its tiles from the top: below it are `gap` limbs of zeros. So `R = B^N` is at the beginning of a tile. In the upper
//! half of a product, and in results, the number begins with the first tile, and the zeros are above it.

use crate::kernels::warpgroup::THREADS;

/// Limbs of a tile: the columns of a matrix product.
pub(super) const TILE_LIMBS: u32 = 32;

/// Limbs that a thread has of a tile.
pub(super) const OWN_LIMBS: u32 = 8;

/// Pieces of four limbs that a thread has of a tile of its two rows.
pub(super) const OWN_PIECES: u32 = 2 * OWN_LIMBS / 4;

/// Bytes of a tile.
pub(super) const TILE_BYTES: u32 = 4 * TILE_LIMBS;

/// Matrix products of a tile by a tile: each is 32 bytes deep.
pub(super) const STEPS: u32 = 4;

/// Bytes of a core matrix: eight columns, 16 bytes deep.
pub(super) const CORE_BYTES: u32 = 128;

/// Places for core matrices of a pair of tiles. The last two are empty.
pub(super) const CORES: u32 = 32;

/// The core matrices of a pair of tiles.
pub(super) const USED_CORES: u32 = 30;

/// Bytes of the matrices of a pair of tiles.
pub(super) const MATRICES_BYTES: u32 = CORES * CORE_BYTES;

/// The least offset of a column to a byte in a pair of tiles: that of the first core matrix.
pub(super) const LEAST_OFFSET: u32 = 28;

/// Zeros before and after a number, in bytes: as many as a matrix may reach beyond it.
pub(super) const MARGIN_BYTES: u32 = 128;

/// The division of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Limbs of a number, a multiple of [`OWN_LIMBS`].
    pub(super) limbs: u32,
    /// Warpgroups of a block.
    pub(super) warpgroups: u32,
}

impl Layout {
    /// Tiles of a number.
    pub(super) const fn tiles(self) -> u32 {
        self.limbs.div_ceil(TILE_LIMBS)
    }

    /// Limbs of zeros below a number that fills its tiles from the top.
    pub(super) const fn gap(self) -> u32 {
        TILE_LIMBS * self.tiles() - self.limbs
    }

    /// Limbs of a number that is reduced, with an upper half or without.
    pub(super) const fn reduced_limbs(self, is_double: bool) -> u32 {
        if is_double { 2 * self.limbs } else { self.limbs }
    }

    /// Threads of a block.
    pub(super) const fn threads(self) -> u32 {
        THREADS * self.warpgroups
    }

    /// Where the matrices of the modulus begin for a tile of columns that is `difference` tiles after the tile of bytes. Those of the inverse
    /// begin with the shared memory.
    pub(super) const fn modulus_matrices(self, difference: u32) -> u32 {
        MATRICES_BYTES * (self.tiles() + difference)
    }

    /// Bytes of a number with its margins.
    const fn number_bytes(self) -> u32 {
        2 * MARGIN_BYTES + TILE_BYTES * self.tiles()
    }

    /// Where the inverse begins, without its margin.
    pub(super) const fn inverse(self) -> u32 {
        MATRICES_BYTES * (2 * self.tiles() + 1) + MARGIN_BYTES
    }

    /// Where the modulus begins, without its margin.
    pub(super) const fn modulus(self) -> u32 {
        self.inverse() + self.number_bytes()
    }

    /// Words of a number with its margins.
    pub(super) const fn number_words(self) -> u32 {
        self.number_bytes() / 4
    }

    /// Where the threads' own limbs begin.
    pub(super) const fn own(self) -> u32 {
        self.modulus() - MARGIN_BYTES + self.number_bytes()
    }

    /// Bytes from a thread's piece of four limbs to its next one: all threads have theirs beside each other.
    pub(super) const fn piece_stride(self) -> u32 {
        16 * self.threads()
    }

    /// Bytes of shared memory a block.
    pub(super) const fn bytes(self) -> u32 {
        self.own() + OWN_PIECES * self.tiles() * self.piece_stride()
    }
}
