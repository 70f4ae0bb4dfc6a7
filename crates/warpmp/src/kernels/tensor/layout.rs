//! How the numbers of a product are divided, and where they are in the shared memory of a warp.
//!
//! ```text
//! a, twice     8 words of zeros, the limbs, zeros to the end of a block, 8 words of zeros
//! b            the limbs, zeros to the end of the panels
//! work         the columns of the panels; later the digits of the result, then its limbs
//! ```
//!
//! The next operands arrive while a product is computed. They may overwrite `b`, because the columns are copies. `a` has
//! two places.

use crate::kernels::OperationShape;

/// Limbs of a block: 32 bytes, the depth of a matrix product.
pub(super) const BLOCK_LIMBS: u32 = 8;

/// Columns of a panel: the width of a matrix product.
pub(super) const COLUMNS: u32 = 8;

/// Bytes of a block.
pub(super) const BLOCK_BYTES: u32 = 4 * BLOCK_LIMBS;

/// The division of a product, and the shared memory of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Limbs of `a`, `b` and `c`.
    pub(super) limbs: [u32; 3],
    /// Blocks of `a`.
    pub(super) blocks: u32,
    /// Panels: of blocks of `b`, and of blocks of each half of the result.
    pub(super) panels: u32,
    /// Where the columns, the digits and the limbs of the result begin.
    pub(super) work: u32,
}

impl Layout {
    pub(super) fn of(shape: OperationShape) -> Self {
        let limbs = match shape.limbs() {
            [a, c, 0] => [a, a, c],
            limbs => limbs,
        };
        let [a, b, _] = limbs;
        let longest = if a < b { b } else { a };
        let panels = longest.div_ceil(BLOCK_LIMBS * COLUMNS);
        let layout = Self { limbs, blocks: a.div_ceil(BLOCK_LIMBS), panels, work: 0 };
        Self { work: layout.b() + BLOCK_BYTES * layout.columns(), ..layout }
    }

    /// Columns of all panels.
    pub(super) const fn columns(self) -> u32 {
        COLUMNS * self.panels
    }

    /// Limbs of the result that a lane finishes.
    pub(super) const fn chunk(self) -> u32 {
        4 * self.panels
    }

    /// Bytes of a place of `a`.
    pub(super) const fn a_bytes(self) -> u32 {
        BLOCK_BYTES * (self.blocks + 2)
    }

    /// Where `b` begins.
    pub(super) const fn b(self) -> u32 {
        2 * self.a_bytes()
    }

    /// Bytes from the columns of a panel to those of the next. The stride puts the blocks that a quarter of a warp
    /// writes into different banks.
    pub(super) const fn panel_bytes(self) -> u32 {
        let skew = match self.panels {
            2 => 64,
            panels if panels % 4 == 3 => 96,
            _ => 32,
        };
        2 * COLUMNS * BLOCK_BYTES + skew
    }

    /// Bytes from the digits of a lane to those of the next: a pair of words a limb, and a pair of padding.
    pub(super) const fn digit_bytes(self) -> u32 {
        8 * (self.chunk() + 1)
    }

    /// Bytes from the limbs of a lane to those of the next: the limbs, and a piece of padding.
    pub(super) const fn limb_bytes(self) -> u32 {
        4 * self.chunk() + 16
    }

    /// Bytes of shared memory a warp.
    pub(super) const fn bytes(self) -> u32 {
        // Digits take more room than the columns before them and the limbs after them.
        self.work + 32 * self.digit_bytes()
    }
}
