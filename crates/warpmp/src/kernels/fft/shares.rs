//! The result of more than 4096 digits: from coefficients to limbs where a thread cannot have all rows of two columns of coefficients.
//!
//! A thread joins one column or two and puts their coefficients back into shared memory, rounded. Then one thread or two have a column of
//! words: all rows, or half of them each, at most 24 of low halves and the same ones of high halves, because a point has both. Both kinds have
//! masks of their own, and the carries run through them one after the other.
//!
//! bound: a coefficient of 6144 digits is below `6144·(2¹⁶ − 1)² < 2⁴⁵`, and the upper half of a pair below `2¹³ + 2²⁹`. Balanced digits have coefficients with
//! signs. Then a coefficient `c` of 15358 digits, the most of a factor that wraps around, is at most `15361·2³⁰ < e = 2⁴⁴ − 2²⁸` in magnitude. It becomes `c + e`, which is positive and
//! below 2⁴⁵. A pair of coefficients is then greater by `e·(1 + 2¹⁶) = 2²⁸·(2³² − 1)`, and the sum of all pairs by
//! `2²⁸·(2³²ⁿ − 1)` for `n` words. So 2²⁸ that enters the first word makes all of them right modulo `2³²ⁿ`. The upper half of
//! a pair is below 2³⁰: its carries are those of `result.rs`.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Vector};

use super::doubles::Doubles;
use super::result::{ColumnRoots, shifted};
use crate::kernels::transform::Place;
use crate::kernels::transform::carry::{Addend, Column, Halves, Rest, carry_out, into_segments, through_segments};
use crate::kernels::transform::layout::{DIGIT_BITS, JOINED, Layout, POINT_BYTES, Points};
use crate::kernels::transform::table::ROOT_BYTES;

/// A thread among those that share the words.
struct Sharer {
    /// The number of its share of the rows: 0, or 1 where two threads have a column of words.
    share: R32,
    /// The number of its word in a row.
    word: R32,
    /// The number of its segment in a row.
    segment: R32,
}

/// The pair of two neighbouring coefficients, from the words of doubles whose low 48 bits are the coefficients.
pub(super) fn pair_of_doubles(b: &mut Builder, even: Halves, odd: Halves) -> Halves {
    let shifted = shifted(b, odd, DIGIT_BITS);
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
        self.joins() / self.sharing()
    }

    /// As [`finish_doubles`](Self::finish_doubles), for more than 4096 digits.
    pub(super) fn finish_shares(
        self,
        b: &mut Builder,
        place: &Place,
        addend: impl FnOnce(&mut Builder) -> Option<Addend>,
        row: impl FnOnce(&mut Builder) -> R64,
    ) {
        self.in_finishers(b, place, 3, |b| self.write_shares(b, place, addend, row));
    }

    fn write_shares(
        self,
        b: &mut Builder,
        place: &Place,
        addend: impl FnOnce(&mut Builder) -> Option<Addend>,
        row: impl FnOnce(&mut Builder) -> R64,
    ) {
        b.section("inverse 3");
        let first = b.add(place.shared, self.first_factor());
        let word = b.and(place.thread, self.row_numbers() - 1);
        let sharer = Sharer { share: b.shr(place.thread, self.row_numbers().ilog2()), word, segment: b.shr(word, 5) };
        self.round_columns(b, place, &sharer, first);
        b.barrier();
        let mut halves = self.halves(b, &sharer, first);
        let index = |b: &mut Builder| b.mad_lo(sharer.share, self.share() * self.row_numbers(), word);
        // The numbers of a thread's words are below this one.
        let end = self.row_numbers() * (self.share() * (self.sharing() - 1) + 1);
        if let Some(addend) = addend(b) {
            let index = index(b);
            for (halves, half) in halves.iter_mut().zip(0..) {
                let firsts = (0..self.share()).map(|row| self.row_numbers() * (self.joins() * half + row));
                addend.add(b, halves, self.number_bits(), firsts, (index, end));
            }
        }
        let columns = self.add_halves(b, place, &sharer, &halves);
        let (carries, carry) = self.look_ahead_of_shares(b, place, &columns);
        b.section("store");
        let index = index(b);
        let to = row(b);
        if self.has_top() {
            self.store_top(b, place, carry, to);
        }
        let to = b.mad_wide(index, 4, to);
        for ((column, carries), half) in columns.iter().zip(carries).zip(0..) {
            for (&Rest { low: word, .. }, row) in column.rests.iter().zip(0..) {
                let mask = b.shuffle(Shuffle::Idx, carries, row, 32);
                let carry = b.bit(mask, place.lane);
                let word = b.add(word, carry);
                let first = self.row_numbers() * (self.joins() * half + row);
                self.store_word(b, word, (to, first), (index, end), None);
            }
        }
    }

    /// Joins a thread's columns, and puts their coefficients back as doubles whose low 48 bits are the coefficient. Of two threads that share
    /// words the first one has the even column.
    fn round_columns(self, b: &mut Builder, place: &Place, sharer: &Sharer, first: R32) {
        let column = b.mad_lo(sharer.word, 2, sharer.share);
        let mut points = Points::new(b, Doubles, self.swizzle(), column, first);
        let from = b.mad_wide(sharer.word, ROOT_BYTES, place.table);
        let joining = b.mad_wide(sharer.share, ROOT_BYTES * self.joining_of_parity(), from);
        let twist = b.mad_wide(sharer.share, ROOT_BYTES * self.twist_of_parity(), from);
        for parity in 0..2 / self.sharing() {
            let roots = ColumnRoots {
                joining: (joining, self.joining() + parity * self.joining_of_parity()),
                twist: (twist, self.twist() + parity * self.twist_of_parity()),
            };
            let x = self.join_column(b, &roots, &mut points, (parity, self.rounding()));
            b.section("round");
            for (x, i) in x.into_iter().zip(0..) {
                points.store(b, i * JOINED + parity, x);
            }
            b.section("inverse 3");
            b.warp_barrier();
        }
    }

    /// The pairs of coefficients of the thread's words, low and high word: those of low halves, and those of high halves.
    fn halves(self, b: &mut Builder, sharer: &Sharer, first: R32) -> [Vec<Halves>; 2] {
        b.section("pairs");
        let from = b.mad_lo(sharer.share, POINT_BYTES * JOINED * self.share(), first);
        let column = b.shl(sharer.word, 1);
        let mut points = Points::new(b, Doubles, self.swizzle(), column, from);
        let [mut lows, mut highs] = [Vec::new(), Vec::new()];
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
        [lows, highs]
    }

    /// Adds the upper half of each pair to the next word.
    fn add_halves(self, b: &mut Builder, place: &Place, sharer: &Sharer, halves: &[Vec<Halves>; 2]) -> [Column; 2] {
        b.section("carry");
        let rows = [0, 1].map(|half| -> Vec<[u32; 2]> {
            (0..self.share()).map(|row| [row, self.segments() * (self.joins() * half + row)]).collect()
        });
        let first = b.mad_lo(sharer.share, self.segments() * self.share(), sharer.segment);
        let passed = b.mad_lo(first, 4, place.shared);
        let start = b.compare(Cmp::Eq, place.thread, 0);
        let entering = b.copy(self.entering());
        b.guarded(start, true, |g| g.store_shared(&[entering], passed, self.passed()));
        let top = b.compare(Cmp::Eq, place.lane, 31);
        for (&(_, high), [_, segment]) in halves.iter().flatten().zip(rows.iter().flatten()) {
            b.guarded(top, true, |g| g.store_shared(&[high], passed, self.passed() + 4 * segment + 4));
        }
        b.barrier();
        [0, 1].map(|half| self.add(b, place, passed, &halves[half], &rows[half]))
    }

    /// For each half, in the lane with a row's number: the lanes of the row that a carry enters. Then the carry out of the last row.
    fn look_ahead_of_shares(self, b: &mut Builder, place: &Place, columns: &[Column; 2]) -> ([R32; 2], Pred) {
        let warps = self.segments() * self.sharing();
        let warp = b.shr(place.thread, 5);
        let own = b.mad_lo(warp, 8, place.shared);
        let bottom = b.compare(Cmp::Eq, place.lane, 0);
        let sums = [0, 1].map(|half| {
            let (sum, masks) = columns[half as usize].leaving(b);
            b.guarded(bottom, true, |g| g.store_shared(&masks, own, self.masks() + 8 * warps * half));
            sum
        });
        b.barrier();
        // The rows of a share, one share after the other: those of low halves, then those of high halves.
        let mut leaving: Option<Pred> = None;
        let carries = [0, 1].map(|half| {
            let mut mine: Option<R32> = None;
            for first in (0..warps).step_by(self.segments() as usize) {
                let masks: Vec<R32> = (first..first + self.segments())
                    .step_by(2)
                    .flat_map(|warp| b.load_shared(Vector::V4, place.shared, self.masks() + 8 * (warps * half + warp)))
                    .collect();
                let rows: Vec<[R32; 2]> = masks.chunks(2).map(|masks| [masks[0], masks[1]]).collect();
                let (below, [generated, passed]) = through_segments(b, &rows);
                let mut doubled = b.add(generated, generated);
                if let Some(leaves) = leaving {
                    let carry = b.select(1, 0, leaves);
                    doubled = b.or(doubled, carry);
                }
                let (sum, leaves) = carry_out(b, doubled, generated, passed);
                leaving = Some(leaves);
                let into_rows = b.xor(sum, passed);
                for (into, number) in into_segments(b, below, into_rows).into_iter().zip(first..) {
                    mine = Some(match mine {
                        None => into,
                        Some(mine) => {
                            let is_own = b.compare(Cmp::Eq, warp, number);
                            b.select(into, mine, is_own)
                        }
                    });
                }
            }
            let mine = mine.expect("a segment at least");
            columns[half as usize].carries(b, place, sums[half as usize], mine)
        });
        (carries, leaving.expect("a segment at least"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::ROUNDING;
    use crate::kernels::OperationShape;
    use crate::kernels::transform::layout::Layout;

    /// The greatest coefficients of 12288 balanced digits of 16 bits are below the excess, and with it below 2⁴⁵.
    #[test]
    fn coefficients_of_the_most_digits_are_made_positive() {
        let layout = Layout::of_doubles(OperationShape::square(196_608), None);
        assert_eq!(layout.digits(), 12288);
        let excess = (layout.rounding() - ROUNDING) as u64;
        assert_eq!(excess, (1 << 44) - (1 << 28));
        let greatest = (12288 + 3) << 30;
        assert!(greatest < excess && excess + greatest < 1 << 45);
        // A division with 16384 digits would not do.
        assert!(16384 << 30 > excess);
    }
}
