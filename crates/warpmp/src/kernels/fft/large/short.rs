//! Short columns of the product: from its rows to words, a thread a column.
//!
//! The inverse transform of a column is rounded. Pairs of neighbouring coefficients are numbers of two words, whose upper words go to the
//! next word. A block has neighbouring columns: of each row and half a segment of words. One warp more has the two columns below,
//! whose upper words enter the block's segments.
//!
//! bound: a coefficient `c` is at most `(d + 3)·2³⁰ < e = 2⁴⁵ − 2²⁹` in magnitude. It becomes `c + e`, which is positive and below
//! 2⁴⁶. A pair of coefficients is then greater by `e·(1 + 2¹⁶) = 2²⁹·(2³² − 1)`, and the sum of all pairs by `2²⁹·(2³²ⁿ − 1)` for `n`
//! words. So 2²⁹ that enters the first word makes all of them right modulo `2³²ⁿ`. The upper word of a pair is below 2³⁰: a word of
//! all ones generates no carry, and neither does a segment of them.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::super::doubles::{self, Complex};
use super::super::result::ROUNDING;
use super::super::shares::pair_of_doubles;
use super::Block;
use super::carry::look_ahead;
use super::split::{COLUMNS, Split};
use super::up::neighbours;
use crate::kernels::transform::angle::divided_cosine_and_sine;
use crate::kernels::transform::carry::Halves;
use crate::kernels::transform::layout::POINT_BYTES;

/// Enters the first word.
const ENTERING: u32 = 1 << 29;

/// Makes a coefficient positive: 2⁴⁵ − 2²⁹.
const EXCESS: u64 = (1 << 45) - (1 << 29);

/// Added to a coefficient: 1.5·2⁵² rounds it, and the excess makes it positive.
const POSITIVE: f64 = ROUNDING + EXCESS as f64;

/// Threads of a block that makes words.
pub(super) const SHORT_THREADS: u32 = COLUMNS + 32;

/// Warps of a block that have its own columns. The number of the warp that has the columns below.
const WARPS: u32 = COLUMNS / 32;

/// The lanes with low halves, and the lanes with high halves.
const LANES: [u32; 2] = [0x5555_5555, 0xAAAA_AAAA];

/// A thread of the kernel that makes words.
struct Thread {
    warp: R32,
    /// 0: it has words of low halves; 1: of high halves.
    parity: R32,
    is_odd: Pred,
    /// Is it of the warp with the columns below?
    is_below: Pred,
    /// The number of the block among those of the product.
    group: R32,
}

impl Split {
    /// Bytes of shared memory of a block that makes words.
    pub(super) const fn short_bytes(self) -> u32 {
        self.masks() + 8 * self.rows() * (WARPS + 1)
    }

    /// Where the masks begin. Before them are the upper words that leave the warps: two halves of a word a row each. The word after
    /// the last one leaves the product.
    const fn masks(self) -> u32 {
        8 * self.rows() * (WARPS + 1) + 16
    }

    /// Can the coefficients be made positive? Then a word has a pair of them.
    pub(super) fn has_positive_pairs(self) -> bool {
        self.digit_bits == 16 && (u64::from(self.digits()) + 3) << 30 < EXCESS
    }

    /// Transforms short columns of the product back, and makes words. `spectra`: the scratch memory. `results`: the products.
    pub(super) fn make_short_columns(self, b: &mut Builder, block: &Block, spectra: R64, results: R64) {
        b.section("setup");
        let group = b.and(block.number, self.up_groups() - 1);
        let product = b.shr(block.number, self.up_groups().ilog2());
        let spectrum = b.mad_wide(product, self.scratch_bytes(), spectra);
        let warp = b.shr(block.thread, 5);
        let parity = b.and(block.lane, 1);
        let is_odd = b.compare(Cmp::Ne, parity, 0);
        let is_below = b.compare(Cmp::Eq, warp, WARPS);
        let thread = Thread { warp, parity, is_odd, is_below, group };
        let pairs = self.column(b, block, &thread, spectrum);
        let words = self.add_upper_words(b, block, &thread, &pairs);
        let into = self.carries_of_block(b, block, &thread, &words, spectrum);
        b.section("store");
        let segment = b.mad_lo(parity, self.rows() * self.up_groups(), group);
        let within = b.shr(block.thread, 1);
        let index = b.mad_lo(segment, self.segment_words(), within);
        let row = b.mad_wide(product, 4 * self.limbs[2], results);
        let to = b.mad_wide(index, 4, row);
        let index = b.select(u32::MAX, index, is_below);
        for ([word, _], k) in words.into_iter().zip(0..) {
            let number = b.add(parity, 2 * k);
            let mask = b.shuffle(Shuffle::Idx, into, number, 32);
            let carry = b.bit(mask, block.lane);
            let word = b.add(word, carry);
            let first = self.width / 2 * k;
            if first < self.limbs[2] {
                let inside = b.compare(Cmp::Lt, index, self.limbs[2] - first);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[word], to, 4 * first));
            }
        }
    }

    /// A thread's pairs of one half, row after row.
    fn column(self, b: &mut Builder, block: &Block, thread: &Thread, spectrum: R64) -> Vec<Halves> {
        b.section("up 1");
        let first = b.mul_lo(thread.group, COLUMNS);
        let own = b.add(first, block.thread);
        let below = b.add(first, self.width - 2);
        let below = b.add(below, thread.parity);
        let below = b.and(below, self.width - 1);
        let column = b.select(below, own, thread.is_below);
        let from = b.mad_wide(column, POINT_BYTES, spectrum);
        let mut x: Vec<Complex> = (0..self.rows())
            .map(|i| {
                let pair = b.load_f64(Space::Global, Vector::V2, from, i * POINT_BYTES * self.width);
                Complex { re: pair[0], im: pair[1] }
            })
            .collect();
        for part in x.chunks_mut(self.height as usize) {
            doubles::inverse_of_points(b, part);
        }
        if self.parts > 1 {
            doubles::join_parts_by_constants(b, &mut x, self.parts as usize);
        }
        let mut pairs = Vec::new();
        for (x, k) in x.into_iter().zip(0..) {
            b.section("twist");
            let x = doubles::product_with_constant(b, divided_cosine_and_sine(self.twist(k), self.digits()), x);
            b.section("round");
            let [low, high] = [x.re, x.im].map(|it| {
                let rounded = b.add_f64(it, POSITIVE);
                let bits = b.bits_of_f64(rounded);
                let (low, high) = b.unpack(bits);
                [low, high]
            });
            let [even, odd] = neighbours(b, thread.is_odd, [low, high]);
            pairs.push(pair_of_doubles(b, even.into(), odd.into()));
        }
        pairs
    }

    /// Adds the upper word of each pair to the next word. Gives the words and the upper words that entered them.
    fn add_upper_words(self, b: &mut Builder, block: &Block, thread: &Thread, pairs: &[Halves]) -> Vec<[R32; 2]> {
        b.section("carry");
        let half_bytes = 4 * self.rows();
        let warp_bytes = 2 * half_bytes;
        // In the lowest block the columns below are a row lower.
        let is_lowest = b.compare(Cmp::Eq, thread.group, 0);
        let is_lower = b.and_pred(is_lowest, thread.is_below);
        let shift = b.select(4, 0, is_lower);
        let own = b.mad_lo(thread.warp, warp_bytes, block.shared);
        let own = b.mad_lo(thread.parity, half_bytes, own);
        let own = b.add(own, shift);
        let is_top = b.compare(Cmp::Ge, block.lane, 30);
        for (&(_, upper), k) in pairs.iter().zip(0..) {
            b.guarded(is_top, true, |g| g.store_shared(&[upper], own, 4 * k));
        }
        let is_bottom = b.compare(Cmp::Eq, block.lane, 0);
        let starts = b.and_pred(is_lower, is_bottom);
        let entering = b.copy(ENTERING);
        b.guarded(starts, true, |g| g.store_shared(&[entering], block.shared, WARPS * warp_bytes));
        b.barrier();
        let is_first = b.compare(Cmp::Eq, thread.warp, 0);
        let before = b.sub(thread.warp, 1);
        let before = b.select(WARPS, before, is_first);
        let from = b.mad_lo(before, warp_bytes, block.shared);
        let from = b.mad_lo(thread.parity, half_bytes, from);
        // Both halves stand at multiples of their bytes.
        let (piece, vector) = match half_bytes % 16 {
            0 => (16, Vector::V4),
            8 => (8, Vector::V2),
            _ => (4, Vector::V1),
        };
        let pieces = (0..half_bytes).step_by(piece);
        let passed: Vec<R32> = pieces.flat_map(|at| b.load_shared(vector, from, at)).collect();
        let is_bottom = b.compare(Cmp::Lt, block.lane, 2);
        let mut words = Vec::new();
        for (&(low, upper), passed) in pairs.iter().zip(passed) {
            let below = b.shuffle(Shuffle::Up, upper, 2, 32);
            let below = b.select(passed, below, is_bottom);
            words.push([b.add(low, below), below]);
        }
        words
    }

    /// In the lane with the number of a row and a half: the lanes of the warp whose words a carry enters. Stores the flags of the
    /// block's segments. `words`: with the upper words that entered them.
    fn carries_of_block(
        self,
        b: &mut Builder,
        block: &Block,
        thread: &Thread,
        words: &[[R32; 2]],
        spectrum: R64,
    ) -> R32 {
        let warp_bytes = 8 * self.rows();
        let own = b.mad_lo(thread.warp, warp_bytes, block.shared);
        let bottom = b.compare(Cmp::Eq, block.lane, 0);
        for (&[word, entered], k) in words.iter().zip(0..) {
            let generates = b.compare(Cmp::Lt, word, entered);
            let passes = b.compare(Cmp::Eq, word, u32::MAX);
            let masks = [generates, passes].map(|it| b.ballot(it));
            b.guarded(bottom, true, |g| g.store_shared(&masks, own, self.masks() + 8 * k));
        }
        b.barrier();
        // Carries run past the lanes of the other half.
        let row = b.shr(block.lane, 1);
        let has_row = b.compare(Cmp::Lt, row, self.rows());
        let row = b.select(row, 0, has_row);
        let from = b.mad_lo(row, 8, block.shared);
        let lanes = b.select(LANES[1], LANES[0], thread.is_odd);
        let others = b.xor(lanes, u32::MAX);
        let (mut enters, mut all) = (b.copy(0), b.copy(u32::MAX));
        let into = b.copy(0);
        for warp in 0..WARPS {
            let masks = b.load_shared(Vector::V2, from, self.masks() + warp_bytes * warp);
            let generate = b.and(masks[0], lanes);
            let propagate = b.or(masks[1], others);
            let (carries, leaves) = look_ahead(b, [generate, propagate], Some(enters));
            let is_own = b.compare(Cmp::Eq, thread.warp, warp);
            let chosen = b.select(carries, into, is_own);
            b.set(into, chosen);
            all = b.and(all, propagate);
            enters = leaves;
        }
        let passes = b.compare(Cmp::Eq, all, u32::MAX);
        let passes = b.select(2, 0, passes);
        let flag = b.or(enters, passes);
        let segment = b.mad_lo(thread.parity, self.rows(), row);
        let segment = b.mad_lo(segment, self.up_groups(), thread.group);
        let flags = b.mad_wide(segment, 4, spectrum);
        let first = b.compare(Cmp::Lt, block.thread, 2 * self.rows());
        b.guarded(first, true, |g| g.store_global(Space::Global, &[flag], flags, self.flags()));
        into
    }
}

#[cfg(test)]
mod tests {
    use super::{EXCESS, Split};

    /// The greatest coefficients of 32764 digits of 16 bits are just below the excess: a pair is positive and its upper word below 2³⁰.
    #[test]
    fn the_most_digits_of_positive_pairs() {
        let split = |width, digit_bits| Split {
            limbs: [1; 3],
            square: false,
            parts: 1,
            height: 1,
            width,
            digit_bits,
            has_top: false,
        };
        assert!(split(32764, 16).has_positive_pairs());
        assert!(!split(32765, 16).has_positive_pairs());
        assert!(!split(32764, 15).has_positive_pairs());
        let greatest = (32764 + 3) << 30;
        let [least, most] = [EXCESS - greatest, EXCESS + greatest].map(|it| it + (it << 16));
        assert!(0 < least && most >> 32 < 1 << 30);
        // One digit more, and the least coefficient is negative.
        assert!(greatest + (1 << 30) > EXCESS);
    }
}
