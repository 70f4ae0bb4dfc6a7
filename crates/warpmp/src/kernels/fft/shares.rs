//! The result of more than 4096 digits: from coefficients to limbs where a block has as many threads as columns.
//!
//! A thread joins one column and puts its coefficients back into shared memory, rounded. Then two threads share a column of
//! words. Each has the words of half of the rows of low halves, 12 or 16, and of the same rows of high halves, because a point has both. In masks of
//! rows each of these halves has 16 bits.
//!
//! bound: a coefficient of 6144 digits is below `6144·(2¹⁶ − 1)² < 2⁴⁵`, and the upper half of a pair below `2¹³ + 2²⁹`. Balanced digits have coefficients with
//! signs. Then a coefficient `c` is below 2⁴³·(1 + 2⁻¹¹) in magnitude. It becomes `c + e` with `e = 2⁴⁴ − 2²⁸`, which is positive and
//! below 2⁴⁵. A pair of coefficients is then greater by `e·(1 + 2¹⁶) = 2²⁸·(2³² − 1)`, and the sum of all pairs by
//! `2²⁸·(2³²ⁿ − 1)` for `n` words. So 2²⁸ that enters the first word makes all of them right modulo `2³²ⁿ`. The upper half of
//! a pair is below 2³⁰: its carries are those of `result.rs`.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::DIGIT_BITS;
use super::doubles::Doubles;
use super::result::{ColumnRoots, ROUNDING};
use crate::kernels::transform::Place;
use crate::kernels::transform::carry::{Column, ENTERING, Halves, carry_out, into_segments, through_segments};
use crate::kernels::transform::layout::{JOINED, Layout, POINT_BYTES, Points, RADIX};
use crate::kernels::transform::table::ROOT_BYTES;

/// Added to a coefficient: 1.5·2⁵² rounds it, and 2⁴⁴ − 2²⁸ makes it positive.
pub(super) const POSITIVE: f64 = ROUNDING + 17_591_917_608_960.0;

/// The selectors that take the low and the high halves of two words.
const LOW_HALVES: u32 = 0x5410;
const HIGH_HALVES: u32 = 0x7632;

/// A thread among those that share the words.
struct Sharer {
    /// The number of its half of the rows: 0 or 1.
    share: R32,
    /// The number of its word in a row.
    word: R32,
    /// The number of its segment in a row.
    segment: R32,
}

/// The pair of two neighbouring coefficients, from the words of doubles whose low 48 bits are the coefficients.
pub(super) fn pair_of_doubles(b: &mut Builder, even: Halves, odd: Halves) -> Halves {
    let shifted = [b.shl(odd.0, DIGIT_BITS), b.prmt(odd.0, odd.1, 0x5432)];
    let high = b.prmt(even.1, 0, 0x4410);
    let sum = [b.register(), b.register()];
    let mut chain = b.chain();
    chain.add_into(sum[0], even.0, shifted[0]);
    chain.end_add(sum[1], high, shifted[1]);
    (sum[0], sum[1])
}

impl Layout {
    /// Rows of low halves that a thread has, and rows of high halves.
    const fn share(self) -> u32 {
        self.joins() / 2
    }

    /// The row of a thread's word with this number, if its share is the first one.
    const fn row_of(self, number: u32) -> u32 {
        if number < self.share() { number } else { number + self.share() }
    }

    /// The lane of this row in masks: a thread's rows of high halves are 16 lanes after those of low halves.
    const fn lane_of(self, number: u32) -> u32 {
        if number < self.share() { number } else { number - self.share() + RADIX }
    }

    /// As [`finish_doubles`](Self::finish_doubles), for more than 4096 digits.
    pub(super) fn finish_shares(self, b: &mut Builder, place: &Place, row: impl FnOnce(&mut Builder) -> R64) {
        self.in_finishers(b, place, 3, |b| self.write_shares(b, place, row));
    }

    fn write_shares(self, b: &mut Builder, place: &Place, row: impl FnOnce(&mut Builder) -> R64) {
        b.section("inverse 3");
        let first = b.add(place.shared, self.first_factor());
        let word = b.and(place.thread, self.row_words() - 1);
        let sharer = Sharer { share: b.shr(place.thread, self.row_words().ilog2()), word, segment: b.shr(word, 5) };
        self.round_column(b, place, &sharer, first);
        b.barrier();
        let halves = self.halves(b, &sharer, first);
        let column = self.add_halves(b, place, &sharer, &halves);
        let carries = self.look_ahead_of_shares(b, place, &sharer, &column);
        b.section("store");
        let index = b.mad_lo(sharer.share, self.share() * self.row_words(), word);
        let to = row(b);
        let to = b.mad_wide(index, 4, to);
        for (number, &word) in (0..).zip(&column.words) {
            let mask = b.shuffle(Shuffle::Idx, carries, self.lane_of(number), 32);
            let carry = b.bit(mask, place.lane);
            let word = b.add(word, carry);
            let first = self.row_words() * self.row_of(number);
            if first + self.row_words() * (self.share() + 1) <= self.limbs[2] {
                b.store_global(Space::GlobalStream, &[word], to, 4 * first);
            } else if first < self.limbs[2] {
                let inside = b.compare(Cmp::Lt, index, self.limbs[2] - first);
                b.guarded(inside, true, |g| g.store_global(Space::GlobalStream, &[word], to, 4 * first));
            }
        }
    }

    /// Joins a column, and puts its coefficients back as doubles whose low 48 bits are the coefficient. Threads with the first share
    /// have the even columns.
    fn round_column(self, b: &mut Builder, place: &Place, sharer: &Sharer, first: R32) {
        let column = b.mad_lo(sharer.word, 2, sharer.share);
        let mut points = Points::new(b, Doubles, self.swizzle(), column, first);
        let from = b.mad_wide(sharer.word, ROOT_BYTES, place.table);
        let joining = b.mad_wide(sharer.share, ROOT_BYTES * self.joining_of_parity(), from);
        let twist = b.mad_wide(sharer.share, ROOT_BYTES * self.twist_of_parity(), from);
        let roots = ColumnRoots { joining: (joining, self.joining()), twist: (twist, self.twist()) };
        let x = self.join_column(b, &roots, &mut points, (0, self.rounding()));
        b.section("round");
        for (x, i) in x.into_iter().zip(0..) {
            points.store(b, i * JOINED, x);
        }
    }

    /// The pairs of coefficients of the thread's words, low and high word: those of low halves, then those of high halves.
    fn halves(self, b: &mut Builder, sharer: &Sharer, first: R32) -> Vec<Halves> {
        b.section("pairs");
        let from = b.mad_lo(sharer.share, POINT_BYTES * JOINED * self.share(), first);
        let column = b.shl(sharer.word, 1);
        let mut points = Points::new(b, Doubles, self.swizzle(), column, from);
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for i in 0..self.share() {
            let [even, odd] = [0, 1].map(|parity| points.load(b, i * JOINED + parity));
            for (halves, even, odd) in [(&mut lows, even.re, odd.re), (&mut highs, even.im, odd.im)] {
                let [even, odd] = [even, odd].map(|it| {
                    let bits = b.bits_of_f64(it);
                    b.unpack(bits)
                });
                halves.push(pair_of_doubles(b, even, odd));
            }
        }
        lows.into_iter().chain(highs).collect()
    }

    /// Adds the upper half of each pair to the next word.
    fn add_halves(self, b: &mut Builder, place: &Place, sharer: &Sharer, halves: &[Halves]) -> Column {
        b.section("carry");
        let rows: Vec<[u32; 2]> =
            (0..2 * self.share()).map(|number| [self.lane_of(number), self.segments() * self.row_of(number)]).collect();
        let first = b.mad_lo(sharer.share, self.segments() * self.share(), sharer.segment);
        let passed = b.mad_lo(first, 4, place.shared);
        let start = b.compare(Cmp::Eq, place.thread, 0);
        let entering = b.copy(if self.is_balanced() { ENTERING } else { 0 });
        b.guarded(start, true, |g| g.store_shared(&[entering], passed, self.passed()));
        let top = b.compare(Cmp::Eq, place.lane, 31);
        for (&(_, high), [_, segment]) in halves.iter().zip(&rows) {
            b.guarded(top, true, |g| g.store_shared(&[high], passed, self.passed() + 4 * segment + 4));
        }
        b.barrier();
        self.add(b, place, passed, halves, &rows)
    }

    /// In the lane with a row's number: the lanes of the row that a carry enters.
    fn look_ahead_of_shares(self, b: &mut Builder, place: &Place, sharer: &Sharer, column: &Column) -> R32 {
        let (sum, masks) = column.leaving(b);
        let warp = b.shr(place.thread, 5);
        let own = b.mad_lo(warp, 8, place.shared);
        let bottom = b.compare(Cmp::Eq, place.lane, 0);
        b.guarded(bottom, true, |g| g.store_shared(&masks, own, self.masks()));
        b.barrier();
        let masks: Vec<R32> =
            (0..self.segments()).flat_map(|i| b.load_shared(Vector::V4, place.shared, self.masks() + 16 * i)).collect();
        let (first, second) = masks.split_at(2 * self.segments() as usize);
        let mut enters: Option<R32> = None;
        let into = [LOW_HALVES, HIGH_HALVES].map(|halves| {
            let rows: Vec<R32> = first.iter().zip(second).map(|(&x, &y)| b.prmt(x, y, halves)).collect();
            let rows: Vec<[R32; 2]> = rows.chunks(2).map(|masks| [masks[0], masks[1]]).collect();
            let (below, [generated, passed]) = through_segments(b, &rows);
            let mut doubled = b.add(generated, generated);
            if let Some(carry) = enters {
                doubled = b.or(doubled, carry);
            }
            let (sum, leaves) = carry_out(b, doubled, generated, passed);
            enters = Some(b.select(1, 0, leaves));
            let into_rows = b.xor(sum, passed);
            into_segments(b, below, into_rows)
        });
        let mut mine = [into[0][0], into[1][0]];
        for other in 1..self.segments() {
            let is_other = b.compare(Cmp::Eq, sharer.segment, other);
            for (mine, into) in mine.iter_mut().zip(&into) {
                *mine = b.select(into[other as usize], *mine, is_other);
            }
        }
        let selector = b.mad_lo(sharer.share, HIGH_HALVES - LOW_HALVES, LOW_HALVES);
        let into = b.prmt(mine[0], mine[1], selector);
        column.carries(b, place, sum, into)
    }
}
