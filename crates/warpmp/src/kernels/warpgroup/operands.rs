//! Operands from global memory to shared memory.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Vector};

use super::layout::{A, ROW_BYTES};
use super::{Place, THREADS};

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

    /// Starts to copy the operands of a product, in pieces of so many limbs. The thread's first pieces are at `from`.
    pub(super) fn fetch(&self, b: &mut Builder, limbs: [u32; 2], pieces: [u32; 2], from: [R64; 2]) {
        for (operand, start) in [(0, A + 16), (1, self.layout.b())] {
            let width = pieces[operand];
            let pieces = limbs[operand] / width;
            for start_piece in (0..pieces).step_by(THREADS as usize) {
                let mut to = b.mad_lo(self.thread, 4 * width, self.shared);
                let half = self.layout.half() / width;
                // A piece of zeros is between the halves of a.
                if operand == 0 && start_piece >= half {
                    to = b.add(to, 16);
                } else if operand == 0 && start_piece + THREADS > half {
                    let upper = b.compare(Cmp::Ge, self.thread, half - start_piece);
                    let gap = b.select(16, 0, upper);
                    to = b.add(to, gap);
                }
                let at = 4 * width * start_piece;
                let inside = b.compare(Cmp::Lt, self.thread, pieces - start_piece);
                b.guarded(inside, true, |g| {
                    g.copy_async(4 * width as u8, to, start + at, from[operand], at);
                });
            }
        }
        b.copy_commit();
    }

    /// Makes the copies of `a`, and the rows of `B`.
    ///
    /// Word `w` of copy `c` of a half has the bytes `4w + c`, `4w + c − 1`, `4w + c − 2`, `4w + c − 3`.
    pub(super) fn arrange(&self, b: &mut Builder) {
        let Self { layout, thread, shared, .. } = *self;
        let (a_pieces, copy_bytes, work) = (layout.a_pieces(), layout.copy_bytes(), layout.work());
        let here = b.mad_lo(thread, 16, shared);
        let zero = b.copy(0);
        // Zeros before and after each half: 8 words each, of which the last piece of the half has four.
        let ends = b.compare(Cmp::Lt, thread, 3 * 8);
        b.if_(ends, |b| {
            let copy = b.and(thread, 7);
            let number = b.shr(thread, 3);
            let to = b.mad_lo(copy, copy_bytes, shared);
            let to = b.mad_lo(number, 16, to);
            let last = b.compare(Cmp::Eq, number, 2);
            let skip = b.select(4 * (8 + layout.half() + 4) - 32, 0, last);
            let to = b.add(to, skip);
            b.store_shared(&[zero; 4], to, work);
        });
        for start in (0..2 * a_pieces).step_by(THREADS as usize) {
            let number = b.add(thread, start);
            let inside = b.compare(Cmp::Lt, number, 2 * a_pieces);
            b.if_(inside, |b| {
                let words = b.load_shared(Vector::V4, here, A + 16 + 16 * start);
                let below = b.load_shared(Vector::V1, here, A + 12 + 16 * start)[0];
                let upper = b.compare(Cmp::Ge, number, a_pieces);
                let gap = b.select(4 * copy_bytes - 16 * a_pieces, 0, upper);
                let to = b.add(here, gap);
                for copy in 0..4 {
                    let selector = 0x1234 + 0x1111 * copy;
                    let all: [R32; 5] = [below, words[0], words[1], words[2], words[3]];
                    let shifted: Vec<R32> = all.windows(2).map(|pair| b.prmt(pair[0], pair[1], selector)).collect();
                    b.store_shared(&shifted, to, work + copy * copy_bytes + 32 + 16 * start);
                }
            });
        }
        // The rows of `B` that a thread has are of the same half of the blocks.
        let second = b.and(thread, 1);
        let block = b.shr(thread, 1);
        let to = b.mad_lo(second, layout.row_halves_bytes(), shared);
        let to = b.mad_lo(block, ROW_BYTES, to);
        let rows = 2 * layout.columns;
        for start in (0..rows).step_by(THREADS as usize) {
            let put = |b: &mut Builder| {
                let words = b.load_shared(Vector::V4, here, layout.b() + 16 * start);
                for again in [0, layout.rows_bytes()] {
                    b.store_shared(&words, to, layout.rows() + again + start / 2 * ROW_BYTES);
                }
            };
            if start + THREADS <= rows {
                put(b);
            } else {
                let inside = b.compare(Cmp::Lt, thread, rows - start);
                b.if_(inside, put);
            }
        }
    }
}
