//! Down the columns: from the digits of a factor to its remainders, which are the rows of its spectrum.
//!
//! A block has a few neighbouring columns of a part. Its points are in shared memory column by column next to each other,
//! so the passes of all columns together are the first passes of one long transform.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::super::digits::remainders;
use super::super::doubles::{self, Complex, Doubles, Root, load_root};
use super::split::{POINTS, Split};
use super::table::DownPass;
use super::{Block, divide};
use crate::kernels::transform::angle::{QUARTER, tree_roots};
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{POINT_BYTES, Points, Swizzle};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// 2⁵² + 2³¹ is a double whose low word is a signed word plus 2³¹.
const OFFSET_HIGH: u32 = 0x4330_0000;
const OFFSET: f64 = 4_503_601_774_854_144.0;

/// Digits that are computed before `ptxas` may load more.
const TOGETHER: usize = 4;

/// Where a thread finds things, and where its rows go.
struct Place {
    digits: Digits,
    /// The table of the part.
    table: R64,
    /// The first row of the part, in the thread's column.
    to: R64,
}

/// The digits of a factor that a thread reads.
struct Digits {
    split: Split,
    /// Limbs of the factor.
    limbs: u32,
    /// Address of the word before the word that has the last bit of the first digit.
    from: R64,
    /// The number of that word.
    word: R32,
    /// By how many bits two words are shifted, until the digit is at the top of the higher one.
    shift: R32,
    /// Is the thread's last digit the last one of all?
    at_top: Option<Pred>,
}

impl Split {
    /// Blocks of this kernel a lane.
    pub(super) const fn down_blocks(self) -> u32 {
        self.parts * self.groups()
    }

    /// Threads of a block.
    pub(super) const fn down_threads(self) -> u32 {
        self.part_points() / POINTS
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
        let groups = self.groups();
        let group = b.and(block.number, groups - 1);
        let rest = b.shr(block.number, groups.ilog2());
        let (lane, part) = divide(b, rest, self.parts);
        let columns = self.columns();
        let within = b.and(block.thread, columns - 1);
        let column = b.mad_lo(group, columns, within);
        let top = b.shr(block.thread, columns.ilog2());
        let row = row(b, lane);
        let digits = Digits::new(b, self, self.limbs[factor], row, top, column);
        let table = b.mad_wide(part, ROOT_BYTES * self.down_roots(), block.table);
        let spectrum = b.mad_wide(lane, self.scratch_bytes(), spectra);
        let spectrum = b.mad_wide(part, POINT_BYTES * self.height * self.width, spectrum);
        let to = b.mad_wide(column, POINT_BYTES, spectrum);
        let place = Place { digits, table, to };
        let passes = self.down_passes();
        let swizzle = self.swizzle(passes[passes.len() - 1].radix);
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
        let stride = self.part_points() / (nodes * radix);
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
                place.digits.first_pass(b, place.table, pass)
            } else {
                b.section(section);
                let roots = Doubles.load_roots(b, roots_from, roots + codelet * next, nodes, radix / 2);
                let mut x: Vec<Complex> = (0..radix).map(|i| points.load(b, in_shared + i * stride)).collect();
                codelet::forward(b, Doubles, &mut x, &roots);
                x
            };
            for (x, i) in x.into_iter().zip(0..) {
                if stride == self.columns() {
                    let at = POINT_BYTES * self.width * (codelet * next * radix + i);
                    b.store_f64(Space::Global, &[x.re, x.im], to_row, at);
                } else {
                    points.store(b, in_shared + i * stride, x);
                }
            }
        }
    }
}

impl Digits {
    /// The digits of a factor in a column, from the row of this number on. `row`: the address of the factor.
    fn new(b: &mut Builder, split: Split, limbs: u32, row: R64, top: R32, column: R32) -> Self {
        let bits = split.digit_bits;
        let index = b.mad_lo(top, split.width, column);
        let end = b.mad_lo(index, bits, bits);
        let last = b.sub(end, 1);
        let word = b.shr(last, 5);
        let minus = b.sub(0, end);
        let shift = b.and(minus, 31);
        let from = b.mad_wide(word, 4, row);
        let from = b.sub64(from, 4);
        let threads = split.width * split.height / POINTS;
        let fills = u64::from(split.digits()) * u64::from(bits) <= 32 * u64::from(limbs);
        let at_top = fills.then(|| b.compare(Cmp::Eq, index, threads - 1));
        Self { split, limbs, from, word, shift, at_top }
    }

    /// The first pass: of a part the remainders of the coefficients that are as far apart as the threads have columns.
    fn first_pass(&self, b: &mut Builder, table: R64, pass: &DownPass) -> Vec<Complex> {
        let parts = self.split.parts;
        if parts == 1 {
            b.section("digits");
            let digits: Vec<F64> = (0..POINTS).map(|i| self.digit(b, 0, i)).collect();
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
                (0..parts).map(|part| numbers.iter().map(|&i| self.digit(b, part, i)).collect()).collect();
            b.section("remainders");
            x.extend(remainders(b, &digits, &powers));
        }
        b.section("down 1");
        b.warp_barrier();
        let roots = Doubles.load_roots(b, table, pass.roots, 1, pass.radix / 2);
        codelet::forward(b, Doubles, &mut x, &roots);
        x
    }

    /// Balanced digit `i` of the thread in a part of the factor, as a double.
    fn digit(&self, b: &mut Builder, part: u32, i: u32) -> F64 {
        let Split { height, width, digit_bits, parts, .. } = self.split;
        let words = |digits: u32| u64::from(digits) * u64::from(digit_bits) / 32;
        let before = words(width * height * part + width * (height / POINTS) * i) as u32;
        let span = words(width * (height / POINTS)) as u32;
        let high = self.load(b, 4 * before + 4, before + span <= self.limbs, self.limbs.saturating_sub(before));
        let low = if before == 0 {
            self.load_first(b, span)
        } else {
            let limit = (self.limbs + 1).saturating_sub(before);
            self.load(b, 4 * before, before + span <= self.limbs + 1, limit)
        };
        let top = b.funnel_left(low, high, self.shift);
        let mut twice = b.shr_signed(top, 31 - digit_bits);
        if let Some(at_top) = self.at_top.filter(|_| part == parts - 1 && i == POINTS - 1) {
            let unsigned = b.shr(top, 31 - digit_bits);
            twice = b.select(unsigned, twice, at_top);
        }
        let twice = b.add(twice, 1);
        let digit = b.shr_signed(twice, 1);
        let offset = b.xor(digit, 1 << 31);
        let bits = b.pack(offset, OFFSET_HIGH);
        let sum = b.f64_of_bits(bits);
        b.sub_f64(sum, OFFSET)
    }

    /// The word at this offset, or zero: `always`: every thread has one, else those whose word is below `limit`.
    fn load(&self, b: &mut Builder, at: u32, always: bool, limit: u32) -> R32 {
        if always {
            return b.load_global(Space::GlobalConst, Vector::V1, self.from, at)[0];
        }
        let word = b.copy(0);
        if limit > 0 {
            let inside = b.compare(Cmp::Lt, self.word, limit);
            b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], self.from, at));
        }
        word
    }

    /// The word before the first one that a thread reads: there is none before the factor.
    fn load_first(&self, b: &mut Builder, span: u32) -> R32 {
        let word = b.copy(0);
        let mut inside = b.compare(Cmp::Ne, self.word, 0);
        if span > self.limbs {
            let below = b.compare(Cmp::Le, self.word, self.limbs);
            inside = b.and_pred(inside, below);
        }
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], self.from, 0));
        word
    }
}
