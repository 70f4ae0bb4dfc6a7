//! The shared memory of a warp that computes modulo a number.
//!
//! ```text
//! factor       8 words of zeros, N limbs, 8 words of zeros: the first factor; then the result
//! product      8 words of zeros, 2N limbs
//! quotient     its last 8 limbs, its N limbs
//! other        N limbs: the second factor, if it is another one
//! modulus      N limbs
//! inverse      7 blocks of zeros, the blocks of the inverse one after the other
//! multiples    the columns of the modulus, as `Layout` arranges them
//! kept         the addresses of rows, which would take registers from the matrix products
//! work         the columns of the second factor; later digits
//! ```

use crate::kernels::tensor::layout::{BLOCK_BYTES, COLUMNS, Layout, PIECE_LIMBS};

/// Limbs of a panel of blocks.
pub(in crate::kernels) const PANEL_LIMBS: u32 = COLUMNS * BLOCK_BYTES / 4;

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
    pub(super) inverse: u32,
    pub(super) multiples: u32,
    pub(super) kept: u32,
    /// Of all products.
    pub(super) layout: Layout,
}

impl Room {
    /// Numbers of `panels` panels.
    pub(super) fn new(panels: u32) -> Self {
        let limbs = PANEL_LIMBS * panels;
        let layout = Layout {
            limbs: [limbs, limbs, 2 * limbs],
            pieces: [PIECE_LIMBS; 2],
            blocks: COLUMNS * panels,
            panels,
            work: 0,
            has_entries: false,
            in_pieces: false,
            is_cyclic: false,
        };
        let factor = 0;
        let product = factor + layout.a_bytes();
        let quotient = product + BLOCK_BYTES + 8 * limbs;
        let other = quotient + BLOCK_BYTES + 4 * limbs;
        let modulus = other + 4 * limbs;
        let inverse = modulus + 4 * limbs;
        let multiples = inverse + BLOCK_BYTES * (COLUMNS - 1) + 4 * limbs;
        let kept = multiples + panels * layout.panel_bytes();
        let work = (kept + 8 * KEPT as u32).next_multiple_of(16);
        Self { factor, product, quotient, other, modulus, inverse, multiples, kept, layout: Layout { work, ..layout } }
    }

    /// Limbs of a number, `N`.
    pub(super) const fn limbs(self) -> u32 {
        self.layout.limbs[0]
    }

    /// Bytes of shared memory a warp.
    pub(super) fn bytes(self) -> u32 {
        self.layout.bytes()
    }
}
