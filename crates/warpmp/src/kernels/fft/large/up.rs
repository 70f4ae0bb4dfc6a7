//! Up the columns: from the rows of the product to its coefficients, rounded to integers. High columns store pairs of them in scratch memory;
//! low columns have the same passes (`low.rs`).
//!
//! Two neighbouring lanes have neighbouring coefficients of both halves of the product. The even lane stores the pair of the low half, the
//! odd lane the pair of the high half: signed numbers of 64 bits, one after the other.
//!
//! bound: a coefficient is an integer below 2⁴⁷ in magnitude, and the error of its double is below 1/2 (`bound.rs`). Adding
//! 1.5·2⁵² rounds it, and the bits of the sum are those of 1.5·2⁵² plus the integer. A pair is at most 2⁶² in magnitude:
//! `Split::of` sees to it.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::super::doubles::{self, Complex, Doubles, load_root};
use super::super::result::ROUNDING;
use super::Block;
use super::split::{POINTS, Split};
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{POINT_BYTES, Points};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// The high word of [`ROUNDING`].
const ROUNDING_HIGH: u32 = 0x4338_0000;

/// Bytes of a pair of coefficients.
pub(super) const PAIR_BYTES: u32 = 8;

impl Split {
    /// Threads of a block.
    pub(super) const fn up_threads(self) -> u32 {
        self.up_bytes() / (POINT_BYTES * POINTS)
    }

    /// Bytes of shared memory of a block: its columns in all parts.
    pub(super) const fn up_bytes(self) -> u32 {
        POINT_BYTES * self.parts * self.height * self.up_columns()
    }

    /// Transforms the columns of the product back. `spectra`: in scratch memory.
    pub(super) fn up(self, b: &mut Builder, block: &Block, spectra: R64) {
        b.section("setup");
        let (groups, columns) = (self.up_groups(), self.up_columns());
        let group = b.and(block.number, groups - 1);
        let lane = b.shr(block.number, groups.ilog2());
        let spectrum = b.mad_wide(lane, self.scratch_bytes(), spectra);
        let to_group = b.mad_wide(group, POINT_BYTES * columns, spectrum);
        self.up_first(b, block, to_group);
        b.barrier();
        self.up_second(b, block);
        b.barrier();
        let pairs = b.add64(spectrum, u64::from(self.pairs()));
        let to_pairs = b.mad_wide(group, PAIR_BYTES * columns, pairs);
        self.join_columns(b, block, to_pairs);
    }

    /// The first pass: 16 neighbouring rows of a column.
    fn up_first(self, b: &mut Builder, block: &Block, to_group: R64) {
        let columns = self.up_columns();
        let node = b.shr(block.thread, columns.ilog2());
        let within = b.and(block.thread, columns - 1);
        let from = b.mad_wide(within, POINT_BYTES, to_group);
        let x = self.points_of_rows(b, from, node);
        let number = b.mad_lo(node, POINTS * columns, within);
        let mut points = Points::new(b, Doubles, Self::swizzle(columns, POINTS), number, block.shared);
        for (x, i) in x.into_iter().zip(0..) {
            points.store(b, i * columns, x);
        }
    }

    /// The first pass of 16 neighbouring rows of a column. `column`: the address of the column in the first row; `node`: which 16 rows.
    pub(super) fn points_of_rows(self, b: &mut Builder, column: R64, node: R32) -> Vec<Complex> {
        b.section("up 1");
        let row_bytes = POINT_BYTES * self.width;
        let first_row = b.mul_lo(node, POINTS);
        let from = b.mad_wide(first_row, row_bytes, column);
        let mut x: Vec<Complex> = (0..POINTS)
            .map(|i| {
                let pair = b.load_f64(Space::Global, Vector::V2, from, i * row_bytes);
                Complex { re: pair[0], im: pair[1] }
            })
            .collect();
        doubles::inverse_of_points(b, &mut x);
        x
    }

    /// The second pass: joins 16 transforms of 16 points.
    fn up_second(self, b: &mut Builder, block: &Block) {
        b.section("up 2");
        let stride = POINTS * self.up_columns();
        let node = b.shr(block.thread, stride.ilog2());
        let within = b.and(block.thread, stride - 1);
        let j = b.shr(within, self.up_columns().ilog2());
        let from = b.mad_wide(j, ROOT_BYTES, block.table);
        let roots = Doubles.load_roots(b, from, 0, POINTS, POINTS / 2);
        let number = b.mad_lo(node, POINTS * stride, within);
        let mut points = Points::new(b, Doubles, Self::swizzle(self.up_columns(), POINTS), number, block.shared);
        let mut x: Vec<Complex> = (0..POINTS).map(|i| points.load(b, i * stride)).collect();
        codelet::inverse(b, Doubles, &mut x, &roots);
        for (x, i) in x.into_iter().zip(0..) {
            points.store(b, i * stride, x);
        }
    }

    /// The last pass: a codelet after the other, as long as the block has any.
    fn join_columns(self, b: &mut Builder, block: &Block, to_pairs: R64) {
        let (columns, joined) = (self.up_columns(), self.joined());
        let codelets = joined * columns;
        let codelet = b.copy(block.thread);
        let more = |b: &mut Builder| b.compare(Cmp::Lt, codelet, codelets);
        b.while_(more, |b| {
            self.join_column(b, block, codelet, to_pairs);
            b.increase(codelet, self.up_threads());
        });
    }

    fn join_column(self, b: &mut Builder, block: &Block, number: R32, to_pairs: R64) {
        let (columns, joined) = (self.up_columns(), self.joined());
        b.section("up 3");
        let j = b.shr(number, columns.ilog2());
        let within = b.and(number, columns - 1);
        let from = b.mad_wide(j, ROOT_BYTES, block.table);
        let mut points = Points::new(b, Doubles, Self::swizzle(columns, POINTS), number, block.shared);
        let mut x: Vec<Complex> = (0..self.joins()).map(|i| points.load(b, i * joined * columns)).collect();
        self.join(b, from, &mut x);
        let parity = b.and(number, 1);
        let is_odd = b.compare(Cmp::Ne, parity, 0);
        let to = b.mad_wide(within, PAIR_BYTES, to_pairs);
        let to = b.mad_wide(j, PAIR_BYTES * self.width, to);
        for (x, i) in x.into_iter().zip(0..) {
            let pair = self.pair_of_point(b, from, is_odd, (i, x));
            b.store_global(Space::Global, &pair, to, PAIR_BYTES * self.width * joined * i);
        }
    }

    /// The radix of the last pass.
    pub(super) const fn joins(self) -> u32 {
        self.last() * self.parts
    }

    /// The last pass of some points of a column. `from`: the address of the roots of the first one.
    pub(super) fn join(self, b: &mut Builder, from: R64, x: &mut [Complex]) {
        let (joined, last, parts) = (self.joined(), self.last(), self.parts);
        if last > 1 {
            let roots = Doubles.load_roots(b, from, self.up_last(), joined, last / 2);
            for part in x.chunks_mut(last as usize) {
                codelet::inverse(b, Doubles, part, &roots);
            }
        }
        if parts > 1 {
            doubles::join_parts(b, x, parts as usize, |b, [part, i], x| {
                let number = (part as u32 - 1) * last + i as u32;
                let root = load_root(b, from, self.up_turning() + number * joined);
                doubles::product(b, root, x)
            });
        }
    }

    /// The pair of a thread and its neighbour from their points with number `i` after the last pass.
    pub(super) fn pair_of_point(self, b: &mut Builder, from: R64, is_odd: Pred, (i, x): (u32, Complex)) -> [R32; 2] {
        b.section("twist");
        let twist = load_root(b, from, self.up_twist() + i * self.joined());
        let x = doubles::product(b, twist, x);
        b.section("round");
        let halves = [x.re, x.im].map(|it| rounded(b, it));
        self.pair(b, is_odd, halves)
    }

    /// The pair of the low half for even lanes, of the high half for odd ones, from a lane's coefficients of both halves.
    fn pair(self, b: &mut Builder, is_odd: Pred, [low, high]: [[R32; 2]; 2]) -> [R32; 2] {
        let [first, second] = neighbours(b, is_odd, [low, high]);
        let shifted = [b.shl(second[0], self.digit_bits), b.funnel_left(second[0], second[1], self.digit_bits)];
        let sum = [b.register(), b.register()];
        let mut chain = b.chain();
        chain.add_into(sum[0], first[0], shifted[0]);
        chain.wrap_add(sum[1], first[1], shifted[1]);
        sum
    }
}

/// The coefficients of two neighbouring columns, from a lane's coefficients of both halves: of the low half for even lanes, of the high half for odd
/// ones.
pub(super) fn neighbours(b: &mut Builder, is_odd: Pred, [low, high]: [[R32; 2]; 2]) -> [[R32; 2]; 2] {
    let [own, other] = [[low, high], [high, low]].map(|[even, odd]| [0, 1].map(|i| b.select(odd[i], even[i], is_odd)));
    let other = other.map(|word| b.shuffle(Shuffle::Bfly, word, 1, 32));
    [[own, other], [other, own]].map(|[even, odd]| [0, 1].map(|i| b.select(odd[i], even[i], is_odd)))
}

/// A double rounded to a signed number of 64 bits, low word first.
fn rounded(b: &mut Builder, x: F64) -> [R32; 2] {
    let sum = b.add_f64(x, ROUNDING);
    let bits = b.bits_of_f64(sum);
    let (low, high) = b.unpack(bits);
    [low, b.sub(high, ROUNDING_HIGH)]
}
