//! Down the columns: from the digits of a factor to its remainders, which are the rows of its spectrum.
//!
//! A block has a few neighbouring columns of a part. It copies the words of their digits to shared memory first: all loads wait for
//! memory together. Its points are in shared memory column by column next to each other,
//! so the passes of all columns together are the first passes of one long transform.

use warpmp_kernel::build::{Builder, Emit, F64, R32, R64};
use warpmp_kernel::ir::Space;

use super::super::digits::remainders;
use super::super::doubles::{self, Complex, Doubles, Root, load_root};
use super::digits::{Segments, Staged};
use super::split::{POINTS, Split};
use super::table::DownPass;
use super::{Block, divide};
use crate::kernels::transform::angle::{QUARTER, tree_roots};
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{POINT_BYTES, Points, Swizzle};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// Points whose digits are loaded before `ptxas` may load more.
const TOGETHER: usize = 2;

/// Where a thread finds things, and where its rows go.
struct Place {
    digits: Staged,
    /// The table of the part.
    table: R64,
    /// The first row of the part, in the thread's column.
    to: R64,
}

impl Split {
    /// Blocks of this kernel a lane.
    pub(super) const fn down_blocks(self) -> u32 {
        self.parts * self.down_groups()
    }

    /// Threads of a block.
    pub(super) const fn down_threads(self) -> u32 {
        self.height * self.down_columns() / POINTS
    }

    /// Bytes of shared memory of a block.
    pub(super) const fn down_bytes(self) -> u32 {
        self.staged() + self.staged_bytes()
    }

    /// Where the digits of a block begin in shared memory: behind the points of its columns, if they pass through it.
    const fn staged(self) -> u32 {
        if self.height > POINTS { POINT_BYTES * self.height * self.down_columns() } else { 0 }
    }

    /// Transforms the columns of a factor. `row`: the factors of the lanes; `spectra`: their spectra in scratch memory.
    pub(super) fn down(
        self,
        b: &mut Builder,
        block: &Block,
        factor: usize,
        row: impl FnOnce(&mut Builder, R32) -> R64,
        spectra: R64,
    ) {
        b.section("setup");
        let groups = self.down_groups();
        let group = b.and(block.number, groups - 1);
        let rest = b.shr(block.number, groups.ilog2());
        let (lane, part) = divide(b, rest, self.parts);
        let columns = self.down_columns();
        let within = b.and(block.thread, columns - 1);
        let column = b.mad_lo(group, columns, within);
        let top = b.shr(block.thread, columns.ilog2());
        let row = row(b, lane);
        let staged = b.add(block.shared, self.staged());
        let segments = Segments { row, limbs: self.limbs[factor], group, column, top };
        let digits = Staged::new(b, self, block.thread, &segments, staged);
        let table = b.mad_wide(part, ROOT_BYTES * self.down_roots(), block.table);
        let spectrum = b.mad_wide(lane, self.scratch_bytes(), spectra);
        let spectrum = b.mad_wide(part, POINT_BYTES * self.height * self.width, spectrum);
        let to = b.mad_wide(column, POINT_BYTES, spectrum);
        let place = Place { digits, table, to };
        let passes = self.down_passes();
        let swizzle = Self::swizzle(columns, passes[passes.len() - 1].radix);
        for (number, (pass, section)) in passes.iter().zip(["down 1", "down 2", "down 3"]).enumerate() {
            if number > 0 {
                b.barrier();
            }
            self.down_pass(b, block, &place, swizzle, (pass, section));
        }
    }

    /// A pass: the first one from digits, the last one to the rows, the others in shared memory.
    fn down_pass(
        self,
        b: &mut Builder,
        block: &Block,
        place: &Place,
        swizzle: Swizzle,
        (pass, section): (&DownPass, &str),
    ) {
        let DownPass { radix, nodes, roots } = *pass;
        let stride = self.height * self.down_columns() / (nodes * radix);
        // A codelet of the thread is in this node; the others are in nodes that are `next` apart.
        let node = b.shr(block.thread, stride.ilog2());
        let next = self.down_threads() / stride;
        let within = b.and(block.thread, stride - 1);
        let number = b.mad_lo(node, radix * stride, within);
        let mut points = Points::new(b, Doubles, swizzle, number, block.shared);
        let roots_from = b.mad_wide(node, ROOT_BYTES, place.table);
        let first_row = b.mul_lo(node, radix);
        let to_row = b.mad_wide(first_row, POINT_BYTES * self.width, place.to);
        for codelet in 0..POINTS / radix {
            let in_shared = codelet * self.down_threads() * radix;
            let x = if nodes == 1 {
                first_pass(self, b, place, pass)
            } else {
                b.section(section);
                let roots = Doubles.load_roots(b, roots_from, roots + codelet * next, nodes, radix / 2);
                let mut x: Vec<Complex> = (0..radix).map(|i| points.load(b, in_shared + i * stride)).collect();
                codelet::forward(b, Doubles, &mut x, &roots);
                x
            };
            for (x, i) in x.into_iter().zip(0..) {
                if stride == self.down_columns() {
                    let at = POINT_BYTES * self.width * (codelet * next * radix + i);
                    b.store_f64(Space::Global, &[x.re, x.im], to_row, at);
                } else {
                    points.store(b, in_shared + i * stride, x);
                }
            }
        }
    }
}

/// The first pass: of a part the remainders of the coefficients that are as far apart as the threads have columns.
fn first_pass(split: Split, b: &mut Builder, place: &Place, pass: &DownPass) -> Vec<Complex> {
    let Split { parts, height, .. } = split;
    let &Place { ref digits, table, .. } = place;
    let digit = |b: &mut Builder, part: u32, i: u32| {
        let word = digits.word(b, height * part + height / POINTS * i);
        digits.digit(b, word)
    };
    if parts == 1 {
        b.section("digits");
        let digits: Vec<F64> = (0..POINTS).map(|i| digit(b, 0, i)).collect();
        b.section("down 1");
        let roots: Vec<Root> = tree_roots(QUARTER, pass.radix.ilog2()).into_iter().map(Root::constant).collect();
        return doubles::forward_real(b, &digits, &roots);
    }
    let powers: Vec<Complex> = (0..parts - 1).map(|i| load_root(b, table, i)).collect();
    let mut x = Vec::new();
    let numbers: Vec<u32> = (0..POINTS).collect();
    for numbers in numbers.chunks(TOGETHER) {
        b.section("digits");
        // `ptxas` moves loads to the front and spills registers. It moves none across a barrier.
        b.warp_barrier();
        let digits: Vec<Vec<F64>> =
            (0..parts).map(|part| numbers.iter().map(|&i| digit(b, part, i)).collect()).collect();
        b.section("remainders");
        x.extend(remainders(b, &digits, &powers));
    }
    b.section("down 1");
    b.warp_barrier();
    let roots = Doubles.load_roots(b, table, pass.roots, 1, pass.radix / 2);
    codelet::forward(b, Doubles, &mut x, &roots);
    x
}
