//! Where the points of a second stage lie in memory.
//!
//! Each thread has slots for numbers: its own limbs of each. The slots of a warp's threads lie side by side, so that a warp reads whole
//! sectors; the warps follow one another. A slot's limbs lie in pieces of 4, 2 and 1 words, widest first.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Space, Special};
use warpmp_launch::{Frame, vector};

use super::Class;

/// Words of a slot of a warp for each limb of a thread.
pub(in crate::factor) const SLOT_WORDS: u32 = 32;

/// The slots of a thread.
pub(super) struct Columns {
    length: u32,
    /// Where the thread's pieces of each width begin: first limb, words, address.
    pieces: Vec<(u32, u32, R64)>,
}

impl Columns {
    /// The slots in the operand with this number. `slots`: slots of a thread.
    pub(super) fn new(b: &mut Builder, frame: &Frame, class: Class, operand: usize, slots: R32) -> Self {
        let layout = class.layout();
        let length = layout.length;
        let lane = b.special(Special::Lane);
        // A warp has whole groups.
        let warp = b.shr(frame.row, (32 / layout.group).trailing_zeros());
        let number = b.mul_lo(warp, slots);
        let memory = frame.operand_row(b, operand);
        let base = b.mad_wide(number, 4 * SLOT_WORDS * length, memory);
        let mut pieces = Vec::new();
        let mut first = 0;
        while let Some(words) = [4, 2, 1].into_iter().find(|words| first + words <= length) {
            let address = b.mad_wide(lane, 4 * words, base);
            pieces.push((first, words, address));
            first += words;
        }
        // Pieces of one width have one address; their offsets are constants.
        let mut known: Vec<(u32, R64)> = Vec::new();
        for (_, words, address) in &mut pieces {
            match known.iter().find(|(width, _)| width == words) {
                Some((_, same)) => *address = *same,
                None => known.push((*words, *address)),
            }
        }
        Self { length, pieces }
    }

    const fn bytes(&self) -> u32 {
        4 * SLOT_WORDS * self.length
    }

    /// The number in a slot.
    pub(super) fn load(&self, b: &mut Builder, slot: R32) -> Vec<R32> {
        let mut limbs = Vec::new();
        for (words, pieces) in self.widths() {
            let address = b.mad_wide(slot, self.bytes(), pieces[0].2);
            for (first, ..) in pieces {
                limbs.extend(b.load_global(Space::Global, vector(words), address, 4 * SLOT_WORDS * first));
            }
        }
        limbs
    }

    /// Stores a number.
    pub(super) fn store(&self, b: &mut Builder, slot: R32, limbs: &[R32]) {
        for (words, pieces) in self.widths() {
            let address = b.mad_wide(slot, self.bytes(), pieces[0].2);
            for (first, ..) in pieces {
                let here = &limbs[*first as usize..(first + words) as usize];
                b.store_global(Space::Global, here, address, 4 * SLOT_WORDS * first);
            }
        }
    }

    /// The pieces of each width.
    fn widths(&self) -> impl Iterator<Item = (u32, &[(u32, u32, R64)])> {
        self.pieces.chunk_by(|one, other| one.1 == other.1).map(|pieces| (pieces[0].1, pieces))
    }
}
