//! How numbers are divided into tiles, and where the matrices of the modulus are in the shared memory of a block of threads. A divisor or a factor takes
//! its place; beside a factor there is no inverse.
//!
//! ```text
//! matrices     those of the inverse for as many differences as the kernel needs, those of the modulus for differences 0 to tiles
//! numbers      the inverse, then the modulus: a piece of zeros, the number, a piece of zeros
//! own          the limbs of each thread
//! ```
//!
//! A number of `N` limbs that is multiplied by the inverse fills its tiles from the top: below it are `gap` limbs of zeros. So `R = B^N` is at the
//! beginning of a tile. In the upper half of a product, and in results, the number begins with the first tile, and the zeros are above it.

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
    /// Limbs of the modulus, a multiple of [`OWN_LIMBS`].
    pub(super) limbs: u32,
    /// Warpgroups of a block.
    pub(super) warpgroups: u32,
    pub(super) purpose: Purpose,
}

/// The purpose of the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// Montgomery's reduction: the lower half of the columns of products by the inverse counts.
    Reduction,
    /// A division: the upper half counts, and the inverse is a reciprocal.
    Division,
    /// A product by a factor, of numbers of so many limbs, without an inverse.
    Product(u32),
}

impl Layout {
    /// Tiles of the modulus.
    pub(super) const fn tiles(self) -> u32 {
        self.limbs.div_ceil(TILE_LIMBS)
    }

    /// Tiles of a lane's number.
    pub(super) const fn lane_tiles(self) -> u32 {
        match self.purpose {
            Purpose::Reduction | Purpose::Division => self.tiles(),
            Purpose::Product(limbs) => limbs.div_ceil(TILE_LIMBS),
        }
    }

    /// Limbs of zeros below a number that fills its tiles from the top.
    pub(super) const fn gap(self) -> u32 {
        TILE_LIMBS * self.tiles() - self.limbs
    }

    /// Limbs of a number that is reduced, with an upper half or without.
    pub(super) const fn reduced_limbs(self, is_double: bool) -> u32 {
        if is_double { 2 * self.limbs } else { self.limbs }
    }

    /// Has a thread registers for its limbs of two tiles?
    pub(super) const fn has_two_tiles(self) -> bool {
        match self.purpose {
            Purpose::Product(_) => true,
            Purpose::Reduction | Purpose::Division => self.warpgroups <= 2,
        }
    }

    /// Threads of a block.
    pub(super) const fn threads(self) -> u32 {
        THREADS * self.warpgroups
    }

    /// Differences of tiles for which there are matrices of the inverse.
    pub(super) const fn inverse_differences(self) -> u32 {
        match self.purpose {
            Purpose::Reduction => self.tiles(),
            Purpose::Division => self.tiles() + 1,
            Purpose::Product(_) => 0,
        }
    }

    /// Where the matrices of the modulus begin for a tile of columns that is `difference` tiles after the tile of bytes. Those of the inverse
    /// begin with the shared memory.
    pub(super) const fn modulus_matrices(self, difference: u32) -> u32 {
        MATRICES_BYTES * (self.inverse_differences() + difference)
    }

    /// No sum of a column is greater. A limb above a number adds its products to the upper half of the columns only: where it has `k` of them, the number
    /// has `k` fewer than bytes.
    pub(super) const fn greatest_sum(self) -> u64 {
        (TILE_BYTES * self.tiles()) as u64 * 255 * 255
    }

    /// Bytes of a number with its margins.
    const fn number_bytes(self) -> u32 {
        2 * MARGIN_BYTES + TILE_BYTES * self.tiles()
    }

    /// Where the inverse begins, without its margin.
    pub(super) const fn inverse(self) -> u32 {
        self.modulus_matrices(self.tiles() + 1) + MARGIN_BYTES
    }

    /// Where the modulus begins, without its margin.
    pub(super) const fn modulus(self) -> u32 {
        if self.inverse_differences() > 0 { self.inverse() + self.number_bytes() } else { self.inverse() }
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
        self.own() + OWN_PIECES * self.lane_tiles() * self.piece_stride()
    }
}
