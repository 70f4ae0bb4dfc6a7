//! Where the numbers of a thread lie in memory.
//!
//! The numbers of all threads lie side by side: the pieces of a limb or more of neighbouring threads follow one another,
//! so that a warp reads whole sectors. A number of `L` limbs has pieces of 4, 2 and 1 words, widest first.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::Space;
use warpmp_launch::{fill_shared, vector};

/// The pieces of a number: its first limb, and its words.
pub(super) fn pieces(limbs: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let words = [4, 2, 1].into_iter().find(|words| first + words <= limbs)?;
        first += words;
        Some((first - words, words))
    })
}

/// Numbers side by side in global memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) limbs: u32,
    /// Numbers side by side.
    pub(crate) stride: u32,
}

impl Columns {
    /// Bytes of the numbers side by side.
    pub(super) const fn bytes(self) -> u32 {
        4 * self.limbs * self.stride
    }

    /// The number of a column: `block` is where the numbers side by side begin, `number` counts such rows of numbers.
    pub(super) fn load(self, b: &mut Builder, block: R64, column: R32, number: u32) -> Vec<R32> {
        let mut limbs = Vec::new();
        for (first, words) in pieces(self.limbs) {
            let address = b.mad_wide(column, 4 * words, block);
            let offset = self.offset(number, first);
            limbs.extend(b.load_global(Space::Global, vector(words), address, offset));
        }
        limbs
    }

    /// Loads a number into registers that are there.
    pub(super) fn load_into(self, b: &mut Builder, block: R64, column: R32, number: u32, limbs: &[R32]) {
        for (first, words) in pieces(self.limbs) {
            let address = b.mad_wide(column, 4 * words, block);
            let (offset, first) = (self.offset(number, first), first as usize);
            b.load_into(Space::Global, vector(words), &limbs[first..first + words as usize], address, offset);
        }
    }

    /// Stores a number.
    pub(super) fn store(self, b: &mut Builder, block: R64, column: R32, number: u32, limbs: &[R32]) {
        for (first, words) in pieces(self.limbs) {
            let address = b.mad_wide(column, 4 * words, block);
            let (offset, first) = (self.offset(number, first), first as usize);
            b.store_global(Space::Global, &limbs[first..first + words as usize], address, offset);
        }
    }

    const fn offset(self, number: u32, limb: u32) -> u32 {
        number * self.bytes() + 4 * limb * self.stride
    }

    /// Where a limb of a number lies: words from the start of the memory.
    pub(crate) const fn word(self, number: u32, column: u32, limb: u32) -> usize {
        let mut first = 0;
        let mut words = if self.limbs >= 4 {
            4
        } else if self.limbs >= 2 {
            2
        } else {
            1
        };
        while first + words <= limb {
            first += words;
            while first + words > self.limbs {
                words /= 2;
            }
        }
        number as usize * (self.limbs * self.stride) as usize
            + (first * self.stride + column * words + (limb - first)) as usize
    }
}

/// The table of the branches in shared memory.
pub(super) struct Table {
    pub(super) base: R32,
    pub(super) columns: Columns,
}

impl Table {
    /// A coordinate of an entry: 0 for `x`, 1 for `y`.
    pub(super) fn load(&self, b: &mut Builder, entry: R32, coordinate: u32) -> Vec<R32> {
        let mut limbs = Vec::new();
        for (first, words) in pieces(self.columns.limbs) {
            let address = b.mad_lo(entry, 4 * words, self.base);
            let offset = self.columns.offset(coordinate, first);
            limbs.extend(b.load_shared(vector(words), address, offset));
        }
        limbs
    }

    /// All threads of the block copy the table to shared memory; ends with a barrier.
    pub(super) fn fill(b: &mut Builder, from: R64, thread: R32, threads: u32, columns: Columns) -> Self {
        let base = b.shared_base();
        fill_shared(b, thread, threads, from, base, 2 * columns.bytes() / 4);
        b.barrier();
        Self { base, columns }
    }
}
