//! The shared memory of a warp that computes modulo a number.
//!
//! ```text
//! factor       a block of zeros, the first factor, a block of zeros
//! product      a block of zeros, the low half of the product
//! quotient     a block of zeros, the quotient, two blocks of zeros
//! other        N limbs: the second factor
//! modulus      N limbs
//! multiples    a block of zeros, the columns of the modulus one block after the other, 7 blocks of zeros
//! inverse      the columns of the inverse
//! kept         the addresses of rows, which would take registers from the matrix products
//! work         the first factor on its way; then the columns of the second one; later digits
//! ```
//!
//! In strips each block of columns is there twice: as it is, and a byte further. After the columns of the modulus are one block that begins with its highest byte, and 3 blocks of zeros.
//!
//! Matrices are made of the first factor, the low half and the quotient. So these are stored as limbs or as entries.

use crate::kernels::tensor::half::zero_bytes;
use crate::kernels::tensor::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS, Layout, PANEL_LIMBS, PIECE_LIMBS};
use crate::kernels::tensor::strip::{STRIP_BLOCKS, odd_strips_of};
use crate::kernels::tensor::warps::ALIGNING_BYTES;

/// The fewest strips with which matrices are made of entries. With three, words are 1.15 times as fast.
const STRIPS_WITH_ENTRIES: u32 = 5;

/// Addresses that are kept.
pub(super) const KEPT: usize = 3;

/// Where each number begins, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Room {
    pub(super) factor: u32,
    pub(super) product: u32,
    pub(super) quotient: u32,
    pub(super) other: u32,
    pub(super) modulus: u32,
    pub(super) multiples: u32,
    pub(super) inverse: u32,
    pub(super) kept: u32,
    /// Of all products.
    pub(super) layout: Layout,
}

impl Room {
    /// The room for numbers of `limbs` limbs: in strips if an odd number of 3 to 13 strips holds them, else in panels.
    pub(super) fn new(limbs: u32) -> Self {
        let panels = limbs.div_ceil(PANEL_LIMBS);
        let strips = odd_strips_of(limbs.div_ceil(BLOCK_LIMBS));
        let blocks = strips.map_or(COLUMNS * panels, |strips| STRIP_BLOCKS * strips);
        let limbs = BLOCK_LIMBS * blocks;
        let layout = Layout {
            limbs: [limbs, limbs, 2 * limbs],
            pieces: [PIECE_LIMBS; 2],
            blocks,
            panels,
            strips,
            work: 0,
            // Half products need more permutations for each matrix product than whole ones, so entries pay with one panel, too, and with five strips. With eight panels, `ptxas`
            // would spill registers.
            has_entries: strips.map_or(panels <= 7, |strips| strips >= STRIPS_WITH_ENTRIES),
            is_cyclic: false,
        };
        let [zeros, number] = [BLOCK_BYTES, 4 * limbs];
        let parts = if layout.has_entries { 2 } else { 1 };
        let factor = parts * zeros;
        let product = factor + parts * (number + zeros);
        let quotient = product + parts * (number + zeros);
        let other = quotient + parts * (number + 2 * zeros);
        let modulus = other + number;
        let [columns, before, after] = column_bytes(layout);
        let multiples = modulus + number + before;
        let inverse = multiples + columns + after;
        let kept = inverse + columns;
        let work = (kept + 8 * KEPT as u32).next_multiple_of(16);
        let layout = Layout { work, ..layout };
        Self { factor, product, quotient, other, modulus, multiples, inverse, kept, layout }
    }

    /// Where zeros begin, and their words.
    pub(super) fn zeros(self) -> [(u32, u32); 6] {
        let number = 4 * self.limbs();
        let [columns, before, after] = column_bytes(self.layout);
        let parts = self.parts();
        let block = parts * BLOCK_LIMBS;
        [
            (self.factor - 4 * block, block),
            (self.product - 4 * block, block),
            (self.quotient - 4 * block, block),
            (self.quotient + parts * number, 2 * block),
            (self.multiples - before, before / 4),
            (self.multiples + columns, after / 4),
        ]
    }

    /// Words of a limb in a number that matrices are made of.
    pub(super) const fn parts(self) -> u32 {
        if self.layout.has_entries { 2 } else { 1 }
    }

    /// Limbs of a number, `N`.
    pub(super) const fn limbs(self) -> u32 {
        self.layout.limbs[0]
    }

    /// With one panel most columns of constants are in registers, and multiples of the complement are added: see `complement`.
    pub(super) const fn has_one_panel(self) -> bool {
        self.layout.panels == 1
    }

    /// The place of a limb among the words of its entry.
    pub(super) const fn word_of_entry(self) -> u32 {
        if self.layout.strips.is_some() { 0 } else { 1 }
    }

    /// Bytes of shared memory a warp.
    pub(super) fn bytes(self) -> u32 {
        self.layout.bytes() + ALIGNING_BYTES
    }
}

/// The bytes of the columns of a number, of the zeros before those of the modulus, and of the rest after these.
fn column_bytes(layout: Layout) -> [u32; 3] {
    let block = layout.block_bytes();
    // In strips the highest byte has a block before the zeros.
    let highest = if layout.strips.is_some() { block } else { 0 };
    [block * layout.blocks, block, highest + zero_bytes(layout)]
}
