//! The matrices of the modulus or divisor and of its inverse, in shared memory.
//!
//! A product by a number `c` is a matrix product: column `n` of the result sums `x[k]·c[n − k]` over the bytes `x[k]`. A tile of bytes is
//! multiplied by a tile of columns in four steps of 32 bytes. The order of columns and of bytes within a tile is free. Thread `t` of four
//! gets the sums of columns `32t … 32t + 31` and gives the bytes `32t … 32t + 31` of `x`: so the limbs that a thread makes of its sums are
//! at once its part of the next product's `x`, without any exchange.
//!
//! Group `j` of eight columns has `32t + 2j + e`, `e` 0 or 1. Half `h` of step `s` has the bytes `32t + 8s + 4(1 − h) + b`, `b < 4`. A core matrix is
//! eight columns by half a step. Its element is `c[128Δ + 32(t − t′) + e − b + D]` where columns are `Δ` tiles after bytes: of `j`, `s` and `h` only
//! `D = 2j − 8s − 4 + 4h` counts. Core matrix `i` has `D = 2i − 28`; so all steps together have 30 of them, and a step reads them from
//! `12 − 4s` on: the next group is the next one, the next half the next but one.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::layout::{CORE_BYTES, CORES, LEAST_OFFSET, Layout, MARGIN_BYTES, MATRICES_BYTES, TILE_BYTES, USED_CORES};

/// Bytes of a row of a core matrix: a column.
const ROW_BYTES: u32 = 16;

/// A number that all lanes share, in a row.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    /// Where the row begins.
    pub(super) row: R64,
    /// Limbs of the number.
    pub(super) limbs: u32,
    /// The number is the row without so many of its lowest limbs, after the row went down by so many bits, fewer than 32. None: it is the row.
    pub(super) down: Option<(u32, R32)>,
}

impl Constant {
    /// A row as it is.
    pub(super) const fn row(row: R64, limbs: u32) -> Self {
        Self { row, limbs, down: None }
    }

    /// Sets a register to a limb of the number.
    fn load(self, b: &mut Builder, index: R32, to: R32) {
        let at = b.mad_wide(index, 4, self.row);
        match self.down {
            None => b.load_into(Space::Global, Vector::V1, &[to], at, 0),
            Some((limbs, bits)) => {
                let [low, high] =
                    [limbs, limbs + 1].map(|next| b.load_global(Space::Global, Vector::V1, at, 4 * next)[0]);
                let limb = b.funnel_right(low, high, bits);
                b.set(to, limb);
            }
        }
    }
}

impl Layout {
    /// All threads of the block write the matrices. A barrier must follow.
    pub(super) fn write_matrices(
        self,
        b: &mut Builder,
        thread: R32,
        shared: R32,
        modulus: Constant,
        inverse: Option<Constant>,
    ) {
        b.section("numbers");
        if let Some(inverse) = inverse {
            self.write_number(b, thread, inverse, (shared, self.inverse()));
        }
        self.write_number(b, thread, modulus, (shared, self.modulus()));
        b.barrier();
        b.section("matrices");
        if inverse.is_some() {
            self.write_cores(b, thread, shared, (self.inverse(), self.inverse_differences()), 0);
        }
        self.write_cores(b, thread, shared, (self.modulus(), self.tiles() + 1), self.modulus_matrices(0));
    }

    /// Writes a number and the zeros around it.
    fn write_number(self, b: &mut Builder, thread: R32, constant: Constant, (shared, to): (R32, u32)) {
        let words = self.number_words();
        for start in (0..words).step_by(self.threads() as usize) {
            let number = b.add(thread, start);
            let inside = b.compare(Cmp::Lt, number, words);
            b.if_(inside, |b| {
                let index = b.sub(number, MARGIN_BYTES / 4);
                let word = b.copy(0);
                let is_limb = b.compare(Cmp::Lt, index, constant.limbs);
                b.if_(is_limb, |b| constant.load(b, index, word));
                let place = b.mad_lo(number, 4, shared);
                b.store_shared(&[word], place, to - MARGIN_BYTES);
            });
        }
    }

    /// Writes the core matrices of a number for differences below `differences`.
    fn write_cores(self, b: &mut Builder, thread: R32, shared: R32, (number, differences): (u32, u32), to: u32) {
        let rows = differences * MATRICES_BYTES / ROW_BYTES;
        let own = b.mad_lo(thread, ROW_BYTES, shared);
        for start in (0..rows).step_by(self.threads() as usize) {
            let row = b.add(thread, start);
            let core = b.shr(row, CORE_BYTES.ilog2() - ROW_BYTES.ilog2());
            let core = b.and(core, CORES - 1);
            let inside = b.compare(Cmp::Lt, core, USED_CORES);
            let inside = if start + self.threads() <= rows {
                inside
            } else {
                let exists = b.compare(Cmp::Lt, row, rows);
                b.and_pred(inside, exists)
            };
            b.if_(inside, |b| {
                let difference = b.shr(row, (MATRICES_BYTES / ROW_BYTES).ilog2());
                let column = b.and(row, 7);
                let member = b.shr(column, 1);
                let parity = b.and(column, 1);
                // The byte that the row begins with, after the margin.
                let byte = b.mad_lo(difference, TILE_BYTES, parity);
                let byte = b.mad_lo(member, 32, byte);
                let byte = b.mad_lo(core, 2, byte);
                let byte = b.add(byte, MARGIN_BYTES - LEAST_OFFSET);
                let last = b.and(byte, 3);
                let selector = b.mad_lo(last, 0x1111, 0x1234);
                let word = b.sub(byte, last);
                let from = b.add(shared, word);
                let words: Vec<R32> = (0..4)
                    .map(|t| {
                        let at = number - MARGIN_BYTES - 32 * t;
                        let [below, above] = [at - 4, at].map(|at| b.load_shared(Vector::V1, from, at)[0]);
                        b.prmt(below, above, selector)
                    })
                    .collect();
                b.store_shared(&words, own, to + ROW_BYTES * start);
            });
        }
    }
}
