//! How the numbers of a product are divided, and where they are in the shared memory of a warp.
//!
//! ```text
//! a            8 words of zeros, the limbs, zeros to the end of a block, 8 words of zeros; twice, unless there are entries
//! b            the limbs, zeros to the end of the panels; nothing if `b` waits in registers
//! entries      with two to five panels, or seven and more strips: an entry for each word of `a` and of its zeros
//! work         the columns of the panels or strips; later the digits of the result, then its limbs
//! ```
//!
//! Low halves have entries with other numbers of panels, and columns of their own before the work area: see `low`.
//!
//! The next operands arrive while a product is computed. They may overwrite `b` and what entries were made of, because columns and entries are
//! copies. Without entries `a` has two places.

use std::ops::Range;

use super::part::Part;
use super::strip::{self, STRIP_BLOCKS, strips_of};

/// Limbs of a block: 32 bytes, the depth of a matrix product.
pub(in crate::kernels) const BLOCK_LIMBS: u32 = 8;

/// Columns of a panel: the width of a matrix product.
pub(super) const COLUMNS: u32 = 8;

/// Limbs of a panel.
pub(super) const PANEL_LIMBS: u32 = BLOCK_LIMBS * COLUMNS;

/// Limbs of a piece: what a lane loads or stores at a time.
pub(in crate::kernels) const PIECE_LIMBS: u32 = 4;

/// Bytes of a block.
pub(in crate::kernels) const BLOCK_BYTES: u32 = 4 * BLOCK_LIMBS;

/// The division of a product, and the shared memory of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Limbs of `a`, `b` and `c`.
    pub(super) limbs: [u32; 3],
    /// Limbs of a piece of the rows of `a` and `b`.
    pub(super) pieces: [u32; 2],
    /// Blocks of `a`.
    pub(super) blocks: u32,
    /// Panels: of blocks of `b`, and of blocks of each half of the result.
    pub(super) panels: u32,
    /// The number of strips, if the blocks are in strips instead of panels.
    pub(super) strips: Option<u32>,
    /// Where the columns, the digits and the limbs of the result begin.
    pub(super) work: u32,
    /// Are there entries of `a`?
    pub(super) has_entries: bool,
    /// Are the columns modulo their number the result?
    pub(super) is_cyclic: bool,
}

impl Layout {
    /// Of the factors and their product with these limbs, and of factors whose rows allow pieces of so many limbs.
    pub(super) fn of(limbs: [u32; 3], pieces: [u32; 2], is_cyclic: bool) -> Self {
        let [a, b, _] = limbs;
        let longest = if a < b { b } else { a };
        let panels = longest.div_ceil(PANEL_LIMBS);
        // Modulo `B^n − 1` columns are in panels, which `n` limbs fill.
        let strips = strips_of(longest.div_ceil(BLOCK_LIMBS)).filter(|_| !is_cyclic);
        // Entries save a third of the permutations, and cost a wavefront a step. With one panel, wavefronts decide. With six and more, words are 0.5 to 2 % faster;
        // with five `ptxas` spills two registers for them.
        // In strips words take one permutation for each two rows of a limb, entries none.
        let has_entries = match strips {
            Some(strips) => strip::has_entries(strips),
            None => matches!(panels, 2..=5),
        };
        let blocks = a.div_ceil(BLOCK_LIMBS);
        let layout = Self { limbs, pieces, blocks, panels, strips, work: 0, has_entries, is_cyclic };
        Self { work: layout.end_of_operands(), ..layout }
    }

    /// The layout of half of a product, or of a long square, in these strips or in panels. `work` is the end of the operands; their kernels move it behind the columns.
    pub(super) fn of_half(limbs: [u32; 3], pieces: [u32; 2], strips: Option<u32>, has_entries: bool) -> Self {
        let layout = Self { strips, has_entries, ..Self::of(limbs, pieces, false) };
        Self { work: layout.end_of_operands(), ..layout }
    }

    /// Where the operands and their entries end.
    fn end_of_operands(self) -> u32 {
        self.entries() + if self.has_entries { self.entry_bytes() } else { 0 }
    }

    /// Blocks of all panels or strips.
    pub(super) const fn columns(self) -> u32 {
        match self.strips {
            Some(strips) => STRIP_BLOCKS * strips,
            None => COLUMNS * self.panels,
        }
    }

    /// How many panels or strips there are.
    pub(super) fn panels_or_strips(self) -> u32 {
        self.strips.unwrap_or(self.panels)
    }

    /// Blocks of a panel or of a strip.
    pub(super) const fn blocks_of_each(self) -> u32 {
        match self.strips {
            Some(_) => STRIP_BLOCKS,
            None => COLUMNS,
        }
    }

    /// Bytes that a block takes among the columns.
    pub(super) const fn block_bytes(self) -> u32 {
        match self.strips {
            Some(_) => strip::TWICE_BYTES,
            None => BLOCK_BYTES,
        }
    }

    /// Limbs of the result that a lane finishes.
    pub(super) const fn chunk(self) -> u32 {
        self.columns() / 2
    }

    /// Limbs of a chunk that are loaded or stored at a time.
    pub(super) const fn chunk_piece(self) -> u32 {
        if self.has_own_places() { PIECE_LIMBS / 2 } else { PIECE_LIMBS }
    }

    /// Bytes of a place of `a`.
    pub(super) const fn a_bytes(self) -> u32 {
        BLOCK_BYTES * (self.blocks + 2)
    }

    /// Where the entries begin: after `b`.
    pub(super) fn entries(self) -> u32 {
        self.b() + if self.b_waits() { 0 } else { BLOCK_BYTES * self.columns() }
    }

    /// Bytes of the entries: two words for each word of a place of `a`.
    pub(super) const fn entry_bytes(self) -> u32 {
        2 * self.a_bytes()
    }

    /// Limbs of the product that are kept.
    pub(super) const fn kept(self, part: Part) -> Range<u32> {
        let [half, _, all] = self.limbs;
        part.kept(half, all)
    }

    /// Where `b` begins: after the places of `a`.
    pub(super) const fn b(self) -> u32 {
        if self.has_entries { self.a_bytes() } else { 2 * self.a_bytes() }
    }

    /// Words of a lane's piece of `b`. One panel is one pass of words in pairs; more panels are passes of four.
    pub(super) const fn words_of_pass(self) -> u32 {
        if self.panels == 1 { 2 } else { 4 }
    }

    /// The greatest sum of a byte column.
    pub(super) fn greatest_sum(self) -> u64 {
        let [la, lb, _] = self.limbs;
        u64::from(4 * la.min(lb)) * 255 * 255
    }

    /// Words that a lane copies at a time of the row of `a` or `b`.
    pub(super) fn words_of_lane(self, factor: usize) -> u32 {
        if factor == 1 && self.b_waits() { self.words_of_pass() } else { self.pieces[factor] }
    }

    /// Does the next `b` wait in registers, a piece in each lane?
    pub(super) fn b_waits(self) -> bool {
        self.panels <= 2 && self.pieces[1].is_multiple_of(self.words_of_pass())
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

    /// Are there strips whose digits have places of their own?
    pub(super) const fn has_own_places(self) -> bool {
        match self.strips {
            Some(strips) => strip::has_own_places(strips),
            None => false,
        }
    }

    /// Bytes from the limbs of a lane to those of the next: the limbs, and a piece of padding. An odd number of strips needs none.
    pub(super) const fn limb_bytes(self) -> u32 {
        4 * self.chunk() + if self.has_own_places() { 0 } else { 16 }
    }

    /// Bytes of shared memory a warp.
    pub(super) fn bytes(self) -> u32 {
        let work = if let Some(strips) = self.strips {
            let digits = if self.has_own_places() { strip::digit_bytes(strips) } else { 32 * self.digit_bytes() };
            strip::bytes(strips).max(digits)
        } else if self.is_cyclic {
            // Half of the digits take less room than the columns before them or the limbs after them.
            (self.panels * self.panel_bytes()).max(32 * self.limb_bytes())
        } else {
            32 * self.digit_bytes()
        };
        self.work + work
    }
}
