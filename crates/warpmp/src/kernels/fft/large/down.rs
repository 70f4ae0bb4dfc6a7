//! Down the columns: from the digits of a factor to its remainders, which are the rows of its spectrum.
//!
//! A block has a few neighbouring columns, of one part or of all. It copies the words of their digits to shared memory first: all loads wait
//! for memory together. Its points are in shared memory column by column next to each other,
//! so the passes of all columns together are the first passes of one long transform.
//!
//! Where a block has all parts, a thread makes the remainders of all parts at once. The nodes of the parts come in pairs `w` and `−w̄`. Let
//! the polynomial of a few digits be `E(x) + O(x)`, its even and its odd powers: its value at `w` is `E(w) + O(w)`, and that at
//! `−w̄` the conjugate of `E(w) − O(w)`. A node is alone if it is `±i`.

use warpmp_kernel::build::{Builder, Emit, F64, R32, R64, VF64};
use warpmp_kernel::ir::{Cmp, Space};

use super::super::digits::remainders;
use super::super::doubles::{self, Complex, Doubles, Root, load_root};
use super::digits::{Rows, Segments, Staged};
use super::split::{POINTS, Split};
use super::table::DownPass;
use super::{Block, divide};
use crate::kernels::transform::angle::{Angle, QUARTER, TURN, cosine_and_sine, tree_roots};
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{POINT_BYTES, Points, Swizzle};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// Points whose digits are loaded before `ptxas` may load more.
const TOGETHER: usize = 2;

/// Where a thread of a part finds things, and where its rows go.
struct Place<'s> {
    /// The number of the thread among those of the part.
    thread: R32,
    /// Where the points of the part begin in shared memory.
    points: R32,
    /// The digits; none if the points are the remainders already.
    digits: Option<Rows<'s>>,
    /// The table of the part.
    table: R64,
    /// The first row of the part, in the thread's column.
    to: R64,
}

impl Split {
    /// Blocks of this kernel a lane.
    pub(super) const fn down_blocks(self) -> u32 {
        if self.parts_together() { self.down_groups() } else { self.parts * self.down_groups() }
    }

    /// Parts of a block.
    const fn down_parts(self) -> u32 {
        if self.parts_together() { self.parts } else { 1 }
    }

    /// Threads of a part.
    const fn part_threads(self) -> u32 {
        self.height * self.down_columns() / POINTS
    }

    /// Threads of a block.
    pub(super) const fn down_threads(self) -> u32 {
        self.down_parts() * self.part_threads()
    }

    /// Bytes of shared memory of a block, for a factor.
    pub(super) const fn down_bytes(self, factor: usize) -> u32 {
        self.staged() + self.staged_bytes(self.limbs[factor])
    }

    /// Bytes of a part's points in shared memory, if they pass through it.
    const fn part_bytes(self) -> u32 {
        if self.height > POINTS || self.parts_together() { POINT_BYTES * self.height * self.down_columns() } else { 0 }
    }

    /// Where the digits of a block begin in shared memory: behind the points.
    const fn staged(self) -> u32 {
        self.down_parts() * self.part_bytes()
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
        let columns = self.down_columns();
        let within = b.and(block.thread, columns - 1);
        let column = b.mad_lo(group, columns, within);
        let (lane, part, thread, points) = if self.parts_together() {
            let part = b.shr(block.thread, self.part_threads().ilog2());
            let thread = b.and(block.thread, self.part_threads() - 1);
            (rest, part, thread, b.mad_lo(part, self.part_bytes(), block.shared))
        } else {
            let (lane, part) = divide(b, rest, self.parts);
            (lane, part, block.thread, block.shared)
        };
        let row = row(b, lane);
        let to = b.add(block.shared, self.staged());
        let segments = Segments { row, limbs: self.limbs[factor], group, column };
        let staged = Staged::new(b, self, block.thread, &segments, to);
        let digits = if self.parts_together() {
            self.remainders_of_block(b, block, &staged, within);
            b.barrier();
            None
        } else {
            let top = b.shr(thread, columns.ilog2());
            Some(staged.rows(b, top, self.height / POINTS))
        };
        let table = b.mad_wide(part, ROOT_BYTES * self.down_roots(), block.table);
        let spectrum = b.mad_wide(lane, self.scratch_bytes(), spectra);
        let spectrum = b.mad_wide(part, POINT_BYTES * self.height * self.width, spectrum);
        let to = b.mad_wide(column, POINT_BYTES, spectrum);
        let place = Place { thread, points, digits, table, to };
        let passes = self.down_passes();
        let swizzle = Self::swizzle(columns, passes[passes.len() - 1].radix);
        for (number, (pass, section)) in passes.iter().zip(["down 1", "down 2", "down 3"]).enumerate() {
            if number > 0 {
                b.barrier();
            }
            self.down_pass(b, &place, swizzle, (pass, section));
        }
    }

    /// Puts the remainders of all parts into shared memory, a few coefficients after the other. `within`: the thread's column in the block.
    fn remainders_of_block(self, b: &mut Builder, block: &Block, staged: &Staged, within: R32) {
        let columns = self.down_columns();
        let top = b.shr(block.thread, columns.ilog2());
        let top = b.copy(top);
        let more = |b: &mut Builder| b.compare(Cmp::Lt, top, self.height);
        b.while_(more, |b| {
            b.section("digits");
            let rows = staged.rows(b, top, self.height);
            let digits: Vec<F64> = (0..staged.parts())
                .map(|part| {
                    let word = rows.word(b, self.height * part);
                    rows.digit(b, word)
                })
                .collect();
            b.section("remainders");
            let number = b.mad_lo(top, columns, within);
            let to = b.mad_lo(number, POINT_BYTES, block.shared);
            let (real, imaginary) = digits.split_at(self.parts as usize);
            let mut remainders = remainders_of_parts(b, real, &self.nodes());
            if !imaginary.is_empty() {
                let others = remainders_of_parts(b, imaginary, &self.nodes());
                // `x + i·y`
                for (x, y) in remainders.iter_mut().zip(others) {
                    *x = Complex { re: b.sub_f64(x.re, y.im), im: b.add_f64(x.im, y.re) };
                }
            }
            for (x, part) in remainders.into_iter().zip(0..) {
                Doubles.store(b, to, part * self.part_bytes(), &[x]);
            }
            b.increase(top, self.down_threads() / columns);
        });
    }

    /// A pass: the first one from digits or remainders, the last one to the rows, the others in shared memory.
    fn down_pass(self, b: &mut Builder, place: &Place<'_>, swizzle: Swizzle, (pass, section): (&DownPass, &str)) {
        let DownPass { radix, nodes, roots } = *pass;
        let stride = self.height * self.down_columns() / (nodes * radix);
        // A codelet of the thread is in this node; the others are in nodes that are `next` apart.
        let node = b.shr(place.thread, stride.ilog2());
        let next = self.part_threads() / stride;
        let within = b.and(place.thread, stride - 1);
        let number = b.mad_lo(node, radix * stride, within);
        let mut points = Points::new(b, Doubles, swizzle, number, place.points);
        let roots_from = b.mad_wide(node, ROOT_BYTES, place.table);
        let first_row = b.mul_lo(node, radix);
        let to_row = b.mad_wide(first_row, POINT_BYTES * self.width, place.to);
        for codelet in 0..POINTS / radix {
            let in_shared = codelet * self.part_threads() * radix;
            let x = if let (1, Some(digits)) = (nodes, &place.digits) {
                first_pass(self, b, digits, place.table, pass)
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
fn first_pass(split: Split, b: &mut Builder, digits: &Rows<'_>, table: R64, pass: &DownPass) -> Vec<Complex> {
    let Split { parts, height, .. } = split;
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

/// The remainders of the polynomial of some digits modulo `x − w` for each node `w` of the parts.
fn remainders_of_parts(b: &mut Builder, digits: &[F64], nodes: &[Angle]) -> Vec<Complex> {
    let mut remainders: Vec<Option<Complex>> = vec![None; nodes.len()];
    for (part, &node) in nodes.iter().enumerate() {
        if remainders[part].is_some() {
            continue;
        }
        let other = (TURN + TURN / 2 - node) % TURN;
        let other = nodes.iter().position(|&it| it == other).expect("nodes come in pairs");
        if other == part {
            let [re, im] = [0, 1].map(|first| alternating_sum(b, &digits[first..]));
            let im = if node == QUARTER { im } else { b.neg_f64(im) };
            remainders[part] = Some(Complex { re, im });
            continue;
        }
        // Terms of even and of odd powers.
        let mut sums: [Option<Complex>; 2] = [None; 2];
        for (&digit, power) in digits[1..].iter().zip(1..) {
            let [cosine, sine] = cosine_and_sine(node * power % TURN).map(VF64::from);
            let sum = &mut sums[(power % 2) as usize];
            *sum = Some(match *sum {
                Some(x) => Complex { re: b.fma(digit, cosine, x.re), im: b.fma(digit, sine, x.im) },
                None if power == 1 => Complex { re: b.mul_f64(digit, cosine), im: b.mul_f64(digit, sine) },
                None => Complex { re: b.fma(digit, cosine, digits[0]), im: b.mul_f64(digit, sine) },
            });
        }
        let [even, odd] = sums.map(|it| it.expect("three parts or more"));
        remainders[part] = Some(Complex { re: b.add_f64(even.re, odd.re), im: b.add_f64(even.im, odd.im) });
        remainders[other] = Some(Complex { re: b.sub_f64(even.re, odd.re), im: b.sub_f64(odd.im, even.im) });
    }
    remainders.into_iter().flatten().collect()
}

/// The first digit minus the third one plus the fifth one, and so on.
fn alternating_sum(b: &mut Builder, digits: &[F64]) -> F64 {
    let mut terms = digits.iter().step_by(2).copied().zip([false, true].into_iter().cycle());
    let (first, _) = terms.next().expect("two digits or more");
    terms.fold(first, |sum, (digit, subtracts)| if subtracts { b.sub_f64(sum, digit) } else { b.add_f64(sum, digit) })
}
