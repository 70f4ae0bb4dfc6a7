//! Operands from global memory to shared memory.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Vector};
use warpmp_launch::divide;

use super::layout::{A, ROW_BYTES};
use super::{Place, THREADS};
use crate::kernels::tensor::{BLOCK_BYTES, PIECE_LIMBS};

impl Place {
    /// Writes zeros to the places of the operands, and to the slot below the first warp.
    pub(super) fn clear(&self, b: &mut Builder) {
        let words = self.layout.work() / 4;
        let address = b.mad_lo(self.thread, 4, self.shared);
        let zero = b.copy(0);
        for start in (0..words).step_by(THREADS as usize) {
            let inside = b.compare(Cmp::Lt, self.thread, words - start);
            b.guarded(inside, true, |g| g.store_shared(&[zero], address, 4 * start));
        }
    }

    /// Starts to copy the operands of a product, in pieces of so many limbs, `a` to its place `turn` bytes after the first one. The thread's first pieces are
    /// at `from`.
    pub(super) fn fetch(&self, b: &mut Builder, limbs: [u32; 2], pieces: [u32; 2], from: [R64; 2], turn: R32) {
        let layout = self.layout;
        for (operand, begin) in [(0, A + BLOCK_BYTES), (1, layout.b())] {
            let width = pieces[operand];
            let [pieces, quarter] = [limbs[operand], layout.quarter()].map(|limbs| limbs / width);
            for start in (0..pieces).step_by(THREADS as usize) {
                let mut to = b.mad_lo(self.thread, 4 * width, self.shared);
                if operand == 0 {
                    // Zeros are after each quarter.
                    let number = b.add(self.thread, start);
                    let before = divide(b, number, quarter, pieces + THREADS);
                    to = b.mad_lo(before, BLOCK_BYTES, to);
                    to = b.add(to, turn);
                }
                let at = 4 * width * start;
                let inside = b.compare(Cmp::Lt, self.thread, pieces - start);
                b.guarded(inside, true, |g| {
                    g.copy_async(4 * width as u8, to, begin + at, from[operand], at);
                });
            }
        }
        b.copy_commit();
    }

    /// Makes the rows of `B`: the words of even numbers of each block, and those of odd numbers, the bytes of each word reversed.
    pub(super) fn arrange(&self, b: &mut Builder) {
        let Self { layout, thread, shared, .. } = *self;
        let from = b.mad_lo(thread, 4 * PIECE_LIMBS, shared);
        let to = b.mad_lo(thread, ROW_BYTES / 2, shared);
        let pieces = 2 * layout.columns;
        for start in (0..pieces).step_by(THREADS as usize) {
            let put = |b: &mut Builder| {
                let words = b.load_shared(Vector::V4, from, layout.b() + 4 * PIECE_LIMBS * start);
                let words: Vec<R32> = words.iter().map(|&word| b.prmt(word, 0, 0x0123)).collect();
                for (half, row) in [(0, 0), (1, layout.row_halves_bytes())] {
                    for again in [0, layout.rows_bytes()] {
                        let at = layout.work() + row + again + ROW_BYTES / 2 * start;
                        b.store_shared(&[words[half], words[half + 2]], to, at);
                    }
                }
            };
            if start + THREADS <= pieces {
                put(b);
            } else {
                let inside = b.compare(Cmp::Lt, thread, pieces - start);
                b.if_(inside, put);
            }
        }
    }
}
