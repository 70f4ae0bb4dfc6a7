//! The matrix products: every byte column of the products of both halves of `a`, as sums in registers.
//!
//! A step takes one block of a half, as the 32×32 matrix `T(q, k) = a[32e + q − k]` of its bytes, and multiplies it by every
//! block of `b`: block `j − e` adds to block `j` of the result. Blocks of the result are columns, and columns are counted
//! modulo their number: a column whose `j − e` is negative adds to block `j + columns`. Column `j` has all of its low block
//! after step `j`; the sums are copied then. Rows 0 to 31 of a matrix product are the matrix of the lower half, rows 32 to 63
//! that of the upper one. Both halves meet the same blocks.
//!
//! Warp `w` has rows `16w` to `16w + 15`: lane `4g + t` has rows `g` and `g + 8` of them, which are rows `q = 8·(w mod 2) + g`
//! and `q + 16` of the matrix of half `w / 2`, and of each row the columns `4t … 4t + 3` and `4t + 16 … 4t + 19`. So a lane's
//! word of row `q + 16` and the later columns is that of row `q` and the earlier ones, and a step needs two new words: those that
//! end with bytes `32e + q − 4t` and `32e + q − 4t + 16`. The four copies of a half have all words that end with any byte.
//!
//! `B` has a row of 16 bytes a column: the first halves of all blocks, one after the other, and as many second halves. Both stand
//! twice, so the columns of step `e` begin `e` rows before the second copy.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Cmp, Vector};

use super::Place;
use crate::kernels::tensor::is;

/// The sums of a thread.
pub(super) struct Sums {
    /// Of blocks `j` and `j + columns` of the product of half of `a`, `j` a column: `4i + 2x + h` is row `g + 8x` of column
    /// `8i + 2t + h`.
    pub(super) both: Vec<R32>,
    /// Those of block `j`, for the first columns: all that have a high block, and the others beside them.
    pub(super) low: Vec<R32>,
}

impl Place {
    /// Multiplies.
    pub(super) fn multiply(&self, b: &mut Builder) -> Sums {
        let Self { layout, group, member, shared, warp, .. } = *self;
        let (blocks, columns) = (layout.blocks, layout.columns);
        let half = b.shr(warp, 1);
        let upper = b.and(warp, 1);
        let copy = b.and(group, 3);
        let copy = b.mad_lo(half, 4, copy);
        let window = b.mad_lo(copy, layout.copy_bytes(), shared);
        let window = b.mad_lo(upper, 8, window);
        let word = b.shr(group, 2);
        let word = b.sub(word, member);
        let window = b.mad_lo(word, 4, window);
        // The word that ends with byte `16s + 8·upper + group − 4·member` of a half.
        let load = |b: &mut Builder, s: u32| b.load_shared(Vector::V1, window, layout.work() + 16 + 16 * s)[0];
        let here: Vec<R32> = (0..4).map(|number| is(b, member, number)).collect();
        let zero = b.copy(0);
        let [never, always] = [Cmp::Ne, Cmp::Eq].map(|cmp| b.compare(cmp, zero, 0));
        let first = b.add(shared, layout.rows() + layout.rows_bytes());
        let first = b.shr(first, 4);
        let start = b.add(first, (layout.row_halves_bytes() / 16) << 16);
        let both: Vec<R32> = (0..columns / 2).map(|_| b.register()).collect();
        let low: Vec<R32> = (0..layout.low_columns() / 2).map(|_| b.copy(0)).collect();
        let mut words = [0, 1, 2].map(|s| load(b, s));
        for step in 0..=blocks {
            let place_of_rows = b.sub(start, step);
            b.wgmma_fence();
            let [before, word, after] = words;
            let accumulates = if step == 0 { never } else { always };
            let mut first_column = 0;
            for part in layout.parts() {
                let rows = if first_column == 0 { place_of_rows } else { b.add(place_of_rows, first_column) };
                let rows = b.pack(rows, 8);
                let sums = &both[first_column as usize / 2..][..part as usize / 2];
                b.wgmma_u8(sums, [word, after, before, word], rows, accumulates);
                first_column += part;
            }
            b.wgmma_commit();
            if step < blocks {
                words = [after, load(b, 2 * step + 3), load(b, 2 * step + 4)];
            }
            b.wgmma_wait(0);
            // The low block of column `step` is complete; in the end, those of all columns.
            let complete = if step < blocks { step..step + 1 } else { step..layout.low_columns() };
            for column in complete {
                let (i, t, h) = (column / 8, column % 8 / 2, column % 2);
                for x in 0..2 {
                    let number = (4 * i + 2 * x + h) as usize;
                    let sum = b.mad_lo(both[number], here[t as usize], low[number]);
                    b.set(low[number], sum);
                }
            }
        }
        Sums { both, low }
    }
}
