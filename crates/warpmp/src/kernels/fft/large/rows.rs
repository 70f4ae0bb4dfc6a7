//! The rows: both factors' transforms, their product, and its inverse transform, a block a row.
//!
//! Short columns: a block reads the digits of both factors, and each coefficient of its row is a sum of digits times powers of `w`. The
//! blocks of a product read the same digits, so most of them come from the second-level cache.
//!
//! A row is a polynomial modulo `x^width − w`. Its first pass goes down the tree below `w`. Then each coefficient is turned, and
//! the rest is the transform modulo `x^width − 1`, the same for all rows, with the passes of short products.

use warpmp_kernel::build::{Builder, Emit, F64, R32, R64};
use warpmp_kernel::ir::{Space, Vector};

use super::super::digits::remainders;
use super::super::doubles::{self, Complex, Doubles, load_root};
use super::digits::Digits;
use super::split::{POINTS, Split};
use super::{Block, divide};
use crate::kernels::transform::Place;
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{JOINED, POINT_BYTES, Points};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// A row of a block.
struct Row {
    split: Split,
    /// The first pass's roots of the row, and the roots that turn its coefficients back.
    roots: R64,
    steps: R64,
    /// The powers of the row's root, from the first on; none unless columns are short.
    powers: Option<R64>,
    /// Four times the number of the row's root, plus one.
    number: R32,
}

impl Split {
    /// Threads of a block.
    pub(super) const fn row_threads(self) -> u32 {
        self.width / POINTS
    }

    /// Transforms the rows and multiplies them. `spectra`: in scratch memory. `factor`: the address of a factor in a lane.
    pub(super) fn multiply_rows(
        self,
        b: &mut Builder,
        block: &Block,
        spectra: R64,
        factor: impl Fn(&mut Builder, usize, R32) -> R64,
    ) {
        b.section("setup");
        let leaf = b.and(block.number, self.height - 1);
        let rest = b.shr(block.number, self.height.ilog2());
        let (product, part) = divide(b, rest, self.parts);
        let number = b.mad_lo(part, self.height, leaf);
        let spectrum = b.mad_wide(product, self.scratch_bytes(), spectra);
        let address = b.mad_wide(number, POINT_BYTES * self.width, spectrum);
        let row = Row::new(b, self, block, [leaf, part, number]);
        let layout = self.row();
        let first = b.add(block.shared, layout.first_factor());
        let regions = if self.square { vec![first] } else { vec![first, block.shared] };
        let (thread, lane) = (block.thread, block.thread);
        let place = Place { thread, lane, shared: block.shared, table: block.table };
        let from = b.mad_wide(thread, POINT_BYTES, address);
        let turn = row.turn(b, block, thread);
        let load_roots = |b: &mut Builder| Doubles.load_roots(b, row.roots, 0, 1, POINTS / 2);
        let mut roots = if row.powers.is_none() { load_roots(b) } else { Vec::new() };
        let spacing = self.row_threads();
        let points_of = |b: &mut Builder, region: R32| Points::new(b, Doubles, layout.swizzle(), thread, region);
        // The second factor waits for memory together with the first one, but in shared memory: its points are copied to their places.
        let mut second = (row.powers.is_none() && !self.square).then(|| {
            let mut points = points_of(b, block.shared);
            for i in 0..POINTS {
                points.copy(b, i * spacing, (from, self.spectrum_bytes() + POINT_BYTES * i * spacing));
            }
            b.copy_commit();
            points
        });
        for (number, &region) in regions.iter().enumerate() {
            let mut copied = if number == 1 { second.take() } else { None };
            let mut x = if let Some(powers) = row.powers {
                let address = factor(b, number, product);
                let digits = Digits::new(b, self, self.limbs[number], address, (thread, spacing));
                let x = row.evaluate(b, &digits, powers);
                b.section("row");
                b.warp_barrier();
                roots = load_roots(b);
                x
            } else if let Some(points) = &mut copied {
                b.section("row");
                b.copy_wait(0);
                (0..POINTS).map(|i| points.load(b, i * spacing)).collect()
            } else {
                self.load_row(b, from)
            };
            codelet::forward(b, Doubles, &mut x, &roots);
            b.section("turn");
            let mut points = copied.unwrap_or_else(|| points_of(b, region));
            for (x, i) in x.into_iter().zip(0..) {
                let turned = doubles::product(b, turn, x);
                points.store(b, i * spacing, turned);
            }
        }
        b.barrier();
        layout.second_pass(b, Doubles, &place, &regions, block.table);
        b.warp_barrier();
        layout.product_pass(b, Doubles, &place, (&regions, &[]), block.table);
        b.warp_barrier();
        layout.middle_pass(b, Doubles, &place, first);
        b.barrier();
        row.join(b, block, first, from);
    }
}

impl Split {
    /// A thread's coefficients of a row, from scratch memory.
    fn load_row(self, b: &mut Builder, from: R64) -> Vec<Complex> {
        b.section("row");
        b.warp_barrier();
        let spacing = POINT_BYTES * self.row_threads();
        (0..POINTS)
            .map(|i| {
                let pair = b.load_f64(Space::Global, Vector::V2, from, i * spacing);
                Complex { re: pair[0], im: pair[1] }
            })
            .collect()
    }
}

impl Row {
    /// The row of this leaf in this part, with its number among all rows.
    fn new(b: &mut Builder, split: Split, block: &Block, [leaf, part, number]: [R32; 3]) -> Self {
        let root = if split.height == 1 {
            part
        } else {
            let reversed = b.brev(leaf);
            let reversed = b.shr(reversed, 32 - split.height.ilog2());
            b.mad_lo(reversed, split.parts, part)
        };
        let root = b.mad_lo(root, 4, 1);
        let roots = b.mad_wide(number, ROOT_BYTES * POINTS / 2, block.table);
        let roots = b.add64(roots, u64::from(ROOT_BYTES * split.row_roots()));
        let steps = b.mad_wide(number, ROOT_BYTES * (POINTS - 1), block.table);
        let steps = b.add64(steps, u64::from(ROOT_BYTES * split.row_steps()));
        let powers = split.is_short().then(|| {
            let powers = b.mad_wide(number, ROOT_BYTES * (split.rows() - 1), block.table);
            b.add64(powers, u64::from(ROOT_BYTES * split.row_powers()))
        });
        Self { split, roots, steps, powers, number: root }
    }

    /// A thread's coefficients of the row, from the digits: each is a sum of the digits of a column times powers of the row's root.
    fn evaluate(&self, b: &mut Builder, digits: &Digits, powers: R64) -> Vec<Complex> {
        let (rows, width) = (self.split.rows(), self.split.width);
        let powers: Vec<Complex> = (0..rows - 1).map(|i| load_root(b, powers, i)).collect();
        let mut x = Vec::new();
        for i in 0..POINTS {
            b.section("digits");
            // `ptxas` moves loads to the front and spills registers. It moves none across a barrier.
            b.warp_barrier();
            let column: Vec<Vec<F64>> = (0..rows)
                .map(|row| {
                    let word = digits.word(b, i * self.split.row_threads() + row * width);
                    vec![digits.digit(b, word)]
                })
                .collect();
            b.section("remainders");
            x.extend(remainders(b, &column, &powers));
        }
        x
    }

    /// The root that turns coefficient `j`: the product of a root for the high part of its angle and one for the low part.
    fn turn(&self, b: &mut Builder, block: &Block, j: R32) -> Complex {
        b.section("turn");
        let low_bits = self.split.low_bits();
        let turns = b.mul_lo(self.number, j);
        let high = b.shr(turns, low_bits);
        let low = b.and(turns, (1 << low_bits) - 1);
        let from = b.mad_wide(high, ROOT_BYTES, block.table);
        let high = load_root(b, from, self.split.high_turns());
        let from = b.mad_wide(low, ROOT_BYTES, block.table);
        let low = load_root(b, from, self.split.low_turns());
        doubles::product(b, high, low)
    }

    /// The last inverse pass, and back to the row's own root. `to`: the address of the thread's first coefficient.
    fn join(&self, b: &mut Builder, block: &Block, region: R32, to: R64) {
        let split = self.split;
        let (threads, last) = (split.row_threads(), split.row().last());
        let mut points = Points::new(b, Doubles, split.row().swizzle(), block.thread, region);
        let from = b.mad_wide(block.thread, ROOT_BYTES, block.table);
        // Squares of short columns have no registers to keep it.
        let kept = (!split.is_short()).then(|| self.turn(b, block, block.thread));
        for first in (0..JOINED).step_by(threads as usize) {
            b.section("inverse 3");
            b.warp_barrier();
            let roots = Doubles.load_roots(b, from, split.row_joining() + first, JOINED, last / 2);
            let mut x: Vec<Complex> = (0..last).map(|i| points.load(b, first + JOINED * i)).collect();
            codelet::inverse(b, Doubles, &mut x, &roots);
            let (turn, before) = if let Some(turn) = kept {
                (turn, first)
            } else {
                let column = b.add(block.thread, first);
                (self.turn(b, block, column), 0)
            };
            b.section("turn back");
            for (x, i) in x.into_iter().zip(0..) {
                let step = (before + JOINED * i) / threads;
                let turn = if step == 0 {
                    turn
                } else {
                    let step = load_root(b, self.steps, step - 1);
                    doubles::product(b, turn, step)
                };
                let back = Complex { re: turn.re, im: b.neg_f64(turn.im) };
                let x = doubles::product(b, back, x);
                b.store_f64(Space::Global, &[x.re, x.im], to, POINT_BYTES * (first + JOINED * i));
            }
        }
    }
}
