//! The matrix products: every byte column of the products of all quarters of `a`, as sums in registers.
//!
//! A step takes one block of a quarter, as the 32×32 matrix `T(q, k) = a[32e + q − k]` of its bytes, and multiplies it by every
//! block of `b`: block `j − e` adds to block `j` of the result. Blocks of the result are columns, and columns are counted
//! modulo their number: a column whose `j − e` is negative adds to block `j + columns`. Column `j` has all of its low block
//! after step `j`. Then its sums are copied, or their digits put into shared memory.
//!
//! Warp `w` has quarter `w`. A matrix product has 64 rows, 16 of each warp, so a step takes two, its *tiles*. Lane `4g + t` has rows `4g` and `4g + 1` of the
//! first tile, `4g + 2` and `4g + 3` of the second: four bytes of the same limb. Its digits of `B`, of each column, are `8t … 8t + 7`: words `2t` and `2t + 1` of
//! a block. Its part of the matrix are windows of four bytes in three words: words `p − 2`, `p − 1` and `p = 8e + g − 2t` of the quarter, as in `tensor`.
//!
//! `B` has a row of 16 bytes a column: the words of even numbers of all blocks, one after the other, and those of odd numbers. Both stand
//! twice, so the columns of step `e` begin `e` rows before the second copy.
//!
//! A tile of the next step is multiplied before the other tile of this step is waited for, so that the tensor cores have work while sums are copied.

use std::collections::VecDeque;

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Vector};

use super::Place;
use super::layout::A;
use crate::kernels::tensor::{BLOCK_BYTES, begin_digit, end_digit, matrix_of_words};

/// Tiles of a step.
const TILES: usize = 2;

/// The sums of a thread for a tile: `4i + 2x + h` is row `x` of the thread's two, of column `8i + 2t + h`.
type Tile = Vec<R32>;

/// The sums of a thread.
pub(super) struct Sums {
    /// Of blocks `j` and `j + columns` of the product of a quarter of `a`, `j` a column.
    both: [Tile; TILES],
    low: Low,
}

/// The sums of low blocks: of the first columns, which have a high block, too.
enum Low {
    /// The sums are in registers, with those of other columns to whole shares of the lanes.
    Kept([Tile; TILES]),
    /// Their digits go to shared memory, to these places, one column after the other. The digit of the present column is begun.
    Put { places: [R32; 2], begun: [R32; 2] },
}

/// The sums of a thread's two rows of a tile in column `8i + 2t + h`.
fn rows(tile: &Tile, i: u32, h: u32) -> [R32; 2] {
    [0, 2].map(|x| tile[(4 * i + x + h) as usize])
}

/// The four sums of the thread's limb of column `8i + 2t + h`.
fn of_limb([first, second]: &[Tile; TILES], i: u32, h: u32) -> [R32; 4] {
    let [[v0, v1], [v2, v3]] = [first, second].map(|tile| rows(tile, i, h));
    [v0, v1, v2, v3]
}

impl Sums {
    /// The four sums of the thread's limb of blocks `j` and `j + columns`, column `j = 8i + 2t + h`.
    pub(super) fn both(&self, i: u32, h: u32) -> [R32; 4] {
        of_limb(&self.both, i, h)
    }

    /// Those of block `j` alone, if they are kept. The column is one of the first.
    pub(super) fn low(&self, i: u32, h: u32) -> Option<[R32; 4]> {
        match &self.low {
            Low::Kept(low) => Some(of_limb(low, i, h)),
            Low::Put { .. } => None,
        }
    }
}

impl Place {
    /// Multiplies by the `a` in the place `turn` bytes after the first one.
    pub(super) fn multiply(&self, b: &mut Builder, turn: R32) -> Sums {
        let Self { layout, group, member, shared, warp, .. } = *self;
        let (blocks, columns) = (layout.blocks, layout.columns);
        let window = b.mad_lo(warp, layout.quarter_bytes(), shared);
        let window = b.add(window, turn);
        let window = b.mad_lo(group, 4, window);
        let window = b.mad_lo(member, 8_u32.wrapping_neg(), window);
        let here = [0, 1, 2, 3].map(|number| b.compare(Cmp::Eq, member, number));
        let zero = b.copy(0);
        let [never, always] = [Cmp::Ne, Cmp::Eq].map(|cmp| b.compare(cmp, zero, 0));
        let first = b.add(shared, layout.work() + layout.rows_bytes());
        let first = b.shr(first, 4);
        let start = b.add(first, (layout.row_halves_bytes() / 16) << 16);
        let mut sums = Sums {
            both: [0; TILES].map(|_| (0..columns / 2).map(|_| b.register()).collect()),
            low: if layout.keeps_low() {
                Low::Kept([0; TILES].map(|_| vec![zero; layout.low_columns() as usize / 2]))
            } else {
                Low::Put { places: self.digit_places(b), begun: [zero; 2] }
            },
        };
        // The words of a step arrive while the steps before are multiplied.
        let ahead = layout.steps_ahead();
        let mut words: VecDeque<[R32; 3]> = (0..ahead).map(|step| words_of(b, window, step)).collect();
        for step in 0..=blocks {
            let matrices = words.pop_front().map(|words| matrix_of_words(b, words));
            if step + ahead <= blocks {
                words.push_back(words_of(b, window, step + ahead));
            }
            let accumulates = if step == 0 { never } else { always };
            for (tile, matrix) in matrices.into_iter().flatten().enumerate() {
                if step > 0 {
                    b.wgmma_wait(1);
                    self.take_low(b, &mut sums, tile, step - 1, here);
                }
                b.wgmma_fence();
                let place_of_rows = b.sub(start, step);
                let mut first_column = 0;
                for part in layout.parts() {
                    let rows = if first_column == 0 { place_of_rows } else { b.add(place_of_rows, first_column) };
                    let rows = b.pack(rows, 8);
                    let columns = first_column as usize / 2..(first_column + part) as usize / 2;
                    b.wgmma_u8(&sums.both[tile][columns], matrix, rows, accumulates);
                    first_column += part;
                }
                b.wgmma_commit();
            }
        }
        b.wgmma_wait(0);
        sums
    }

    /// Takes the sums of a tile in column `column`, whose low block is complete. The first tile's are taken before the second one's.
    fn take_low(&self, b: &mut Builder, sums: &mut Sums, tile: usize, column: u32, here: [Pred; 4]) {
        let (i, h, here) = (column / 8, column % 2, here[column as usize % 8 / 2]);
        let values = rows(&sums.both[tile], i, h);
        match &mut sums.low {
            Low::Kept(low) => {
                for (x, value) in [0, 2].into_iter().zip(values) {
                    let low = &mut low[tile][(4 * i + x + h) as usize];
                    *low = b.select(value, *low, here);
                }
            }
            Low::Put { begun, .. } if tile == 0 => *begun = begin_digit(b, values, self.bytes),
            Low::Put { places, begun } => {
                let digit = end_digit(b, *begun, values, self.bytes);
                let (to, at) = self.layout.digit_place(*places, 8 * i, h);
                b.guarded(here, true, |g| g.store_shared(&digit, to, at));
            }
        }
    }
}

/// The words of this lane's quarter in which it has windows in a step.
fn words_of(b: &mut Builder, window: R32, step: u32) -> [R32; 3] {
    // The block of zeros before a quarter ends with word −1.
    let first = A + BLOCK_BYTES * (step + 1) - 8;
    [0, 1, 2].map(|word| b.load_shared(Vector::V1, window, first + 4 * word)[0])
}
