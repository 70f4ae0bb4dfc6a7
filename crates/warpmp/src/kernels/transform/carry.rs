//! From numbers of two words to limbs, and to global memory: the same instructions for all operands.
//!
//! A thread has numbers of two words, each at a word of the result. If there is an addend, its words join these numbers. The upper half goes to the next
//! word; then each word carries at most 1. The carries run through the warps by ballots, and over rows and segments by a look-ahead in masks: a
//! segment is 32 words.
//!
//! bound: the upper half `h` of a number is below 2³¹, with the addend, which makes it greater by 1 at most, too. If a word plus `h` overflows, the rest is below `h`: not all ones. A
//! segment of all ones generates no carry, and neither does a row of them.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::Place;
use super::layout::Layout;

/// The low and the high word of a number.
pub(in crate::kernels) type Halves = (R32, R32);

/// A row that is added to a product.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Addend {
    /// Where it begins.
    pub(in crate::kernels) row: R64,
    pub(in crate::kernels) limbs: u32,
}

impl Addend {
    /// Adds the words of the row to the numbers of a thread. They stand at word `index` after the words `firsts`, and `index` is below `end`.
    pub(in crate::kernels) fn add(
        self,
        b: &mut Builder,
        numbers: &mut [Halves],
        firsts: impl Iterator<Item = u32>,
        (index, end): (R32, u32),
    ) {
        let from = b.mad_wide(index, 4, self.row);
        let mut load = |first: u32| {
            if first >= self.limbs {
                return None;
            }
            if first + end <= self.limbs {
                return Some(b.load_global(Space::GlobalConst, Vector::V1, from, 4 * first)[0]);
            }
            let word = b.copy(0);
            let inside = b.compare(Cmp::Lt, index, self.limbs - first);
            b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], from, 4 * first));
            Some(word)
        };
        let words: Vec<Option<R32>> = firsts.map(&mut load).collect();
        for (number, word) in numbers.iter_mut().zip(words) {
            let Some(word) = word else { continue };
            let sum = [b.register(), b.register()];
            let mut chain = b.chain();
            chain.add_into(sum[0], number.0, word);
            chain.end_add(sum[1], number.1, 0);
            *number = (sum[0], sum[1]);
        }
    }
}

/// The words of a thread in a column of the rows.
pub(in crate::kernels) struct Column {
    /// Of each row the word without its carry.
    pub(in crate::kernels) words: Vec<R32>,
    /// In the lane with a row's number: the lanes of the row whose words carry.
    generate: R32,
    /// In the lane with a row's number: the lanes of the row whose words are all ones.
    propagate: R32,
}

impl Column {
    /// The sum whose bits change where carries run, and ballots of the rows that a carry leaves and of those that pass one on.
    pub(in crate::kernels) fn leaving(&self, b: &mut Builder) -> (R32, [R32; 2]) {
        let doubled = b.add(self.generate, self.generate);
        let (sum, leaves) = carry_out(b, doubled, self.generate, self.propagate);
        let passes = b.compare(Cmp::Eq, self.propagate, u32::MAX);
        (sum, [leaves, passes].map(|it| b.ballot(it)))
    }

    /// In the lane with a row's number: the lanes of the row that a carry enters. `into`: the rows that a carry enters.
    pub(in crate::kernels) fn carries(&self, b: &mut Builder, place: &Place, sum: R32, into: R32) -> R32 {
        let carry = b.bit(into, place.lane);
        let sum = b.add(sum, carry);
        b.xor(sum, self.propagate)
    }
}

/// The sum whose bits change where carries run, and whether a carry leaves it. `doubled`: twice `generate`, with the carry that
/// enters.
pub(in crate::kernels) fn carry_out(b: &mut Builder, doubled: R32, generate: R32, propagate: R32) -> (R32, Pred) {
    let sum = b.add(doubled, propagate);
    let overflows = b.compare(Cmp::Lt, sum, propagate);
    let leaves = b.compare_signed(Cmp::Lt, generate, 0);
    (sum, b.or_pred(overflows, leaves))
}

/// Of the segments of a row, one after the other, the rows that carries leave and the rows that pass them on: for each segment the
/// rows that the segments below carry into it, for two states of the carry that enters a row; then the same for a whole row.
pub(in crate::kernels) fn through_segments(b: &mut Builder, masks: &[[R32; 2]]) -> (Vec<[R32; 2]>, [R32; 2]) {
    let (mut generated, mut passed) = (b.copy(0), b.copy(u32::MAX));
    let mut below = Vec::new();
    for masks in masks {
        below.push([generated, passed]);
        let through = b.and(masks[1], generated);
        generated = b.or(masks[0], through);
        passed = b.and(masks[1], passed);
    }
    (below, [generated, passed])
}

/// The rows of each segment that a carry enters. `into_rows`: the rows whose first segment it enters.
pub(in crate::kernels) fn into_segments(b: &mut Builder, below: Vec<[R32; 2]>, into_rows: R32) -> Vec<R32> {
    below
        .into_iter()
        .map(|[generated, passed]| {
            let through = b.and(passed, into_rows);
            b.or(generated, through)
        })
        .collect()
}

impl Layout {
    /// Adds the numbers and writes the limbs to the row whose address `row` computes: late, because registers are short
    /// before. `halves`: of each column of the thread the numbers at the words, a row after the other.
    pub(in crate::kernels) fn finish(
        self,
        b: &mut Builder,
        place: &Place,
        halves: &[Vec<Halves>],
        row: impl FnOnce(&mut Builder) -> R64,
    ) {
        b.section("carry");
        let warp = b.shr(place.thread, 5);
        let passed = b.mad_lo(warp, 4, place.shared);
        let top = b.compare(Cmp::Eq, place.lane, 31);
        let start = b.compare(Cmp::Eq, place.thread, 0);
        let entering = b.copy(self.entering());
        b.guarded(start, true, |g| g.store_shared(&[entering], passed, self.passed()));
        for (column, halves) in halves.iter().enumerate() {
            for (row, &(_, high)) in (0..).zip(halves) {
                let at = self.passed() + 4 * self.segment(row, column);
                b.guarded(top, true, |g| g.store_shared(&[high], passed, at + 4));
            }
        }
        b.barrier();
        let columns: Vec<Column> = halves
            .iter()
            .enumerate()
            .map(|(column, halves)| {
                let rows: Vec<[u32; 2]> = (0..).zip(halves).map(|(row, _)| [row, self.segment(row, column)]).collect();
                self.add(b, place, passed, halves, &rows)
            })
            .collect();
        let (carries, carry) = self.look_ahead(b, place, &columns, warp);
        b.section("store");
        let to = row(b);
        if let Some(carry) = carry {
            self.store_top(b, place, carry, to);
        }
        let to = b.mad_wide(place.thread, 4, to);
        for (number, (column, carries)) in (0..).zip(columns.iter().zip(carries)) {
            for (row, &word) in (0..).zip(&column.words) {
                let mask = b.shuffle(Shuffle::Idx, carries, row, 32);
                let carry = b.bit(mask, place.lane);
                let word = b.add(word, carry);
                let first = self.row_words() * row + self.finishers() * number;
                if first + self.finishers() <= self.limbs[2] {
                    b.store_global(Space::GlobalStream, &[word], to, 4 * first);
                } else if first < self.limbs[2] {
                    let inside = b.compare(Cmp::Lt, place.thread, self.limbs[2] - first);
                    b.guarded(inside, true, |g| g.store_global(Space::GlobalStream, &[word], to, 4 * first));
                }
            }
        }
    }

    /// Stores the limb above a result with a sign. `carry`: does one leave the last row?
    pub(in crate::kernels) fn store_top(self, b: &mut Builder, place: &Place, carry: Pred, to: R64) {
        let at = self.passed() + 4 * self.segments() * self.rows();
        let top = b.load_shared(Vector::V1, place.shared, at)[0];
        let carry = b.select(1, 0, carry);
        let top = b.add(top, carry);
        let top = b.sub(top, self.entering());
        let one = b.compare(Cmp::Eq, place.thread, 0);
        b.guarded(one, true, |g| g.store_global(Space::GlobalStream, &[top], to, 4 * self.limbs[2]));
    }

    /// Executes `write`, which has so many barriers of the block, in the threads that finish the product. The others wait there.
    pub(in crate::kernels) fn in_finishers(
        self,
        b: &mut Builder,
        place: &Place,
        barriers: u32,
        write: impl FnOnce(&mut Builder),
    ) {
        if self.finishers() == self.block_threads() {
            return write(b);
        }
        let finishes = b.compare(Cmp::Lt, place.thread, self.finishers());
        b.if_else(finishes, write, |b| (0..barriers).for_each(|_| b.barrier()));
    }

    /// The number of the segment of a row that a block's first warp has in a column.
    fn segment(self, row: u32, column: usize) -> u32 {
        self.segments() * row + self.finishers() / 32 * column as u32
    }

    /// Adds the upper half of each pair to the next word. `rows`: of each row its lane, and the number of its segment after the thread's first
    /// one. Lanes without a row pass carries on.
    pub(in crate::kernels) fn add(
        self,
        b: &mut Builder,
        place: &Place,
        passed: R32,
        halves: &[Halves],
        rows: &[[u32; 2]],
    ) -> Column {
        let bottom = b.compare(Cmp::Eq, place.lane, 0);
        let (generate, propagate) = (b.copy(0), b.copy(u32::MAX));
        let mut words = Vec::new();
        for (&(low, high), &[row, segment]) in halves.iter().zip(rows) {
            let below = b.shuffle(Shuffle::Up, high, 1, 32);
            let at = self.passed() + 4 * segment;
            b.guarded(bottom, true, |g| g.load_into(Space::Shared, Vector::V1, &[below], passed, at));
            let word = b.add(low, below);
            let carries = b.compare(Cmp::Lt, word, below);
            let passes = b.compare(Cmp::Eq, word, u32::MAX);
            let [carries, passes] = [carries, passes].map(|it| b.ballot(it));
            let own = b.compare(Cmp::Eq, place.lane, row);
            b.guarded(own, true, |g| {
                g.set(generate, carries);
                g.set(propagate, passes);
            });
            words.push(word);
        }
        Column { words, generate, propagate }
    }

    /// For each column, in the lane with a row's number: the lanes of the row that a carry enters. Then the carry out of the last row, where the
    /// result has a limb above it.
    fn look_ahead(self, b: &mut Builder, place: &Place, columns: &[Column], warp: R32) -> (Vec<R32>, Option<Pred>) {
        let bottom = b.compare(Cmp::Eq, place.lane, 0);
        let own = b.mad_lo(warp, 8, place.shared);
        let mut sums = Vec::new();
        for (number, column) in (0..).zip(columns) {
            let (sum, masks) = column.leaving(b);
            let at = self.masks() + 8 * self.segment(0, number);
            b.guarded(bottom, true, |g| g.store_shared(&masks, own, at));
            sums.push(sum);
        }
        b.barrier();
        let masks: Vec<R32> = (0..self.segments() / 2)
            .flat_map(|i| b.load_shared(Vector::V4, place.shared, self.masks() + 16 * i))
            .collect();
        let masks: Vec<[R32; 2]> = masks.chunks(2).map(|masks| [masks[0], masks[1]]).collect();
        let (below, [generated, passed]) = through_segments(b, &masks);
        let doubled = b.add(generated, generated);
        let (sum, leaves) = if self.has_top() && self.rows() == 32 {
            let (sum, leaves) = carry_out(b, doubled, generated, passed);
            (sum, Some(leaves))
        } else {
            (b.add(doubled, passed), None)
        };
        let into_rows = b.xor(sum, passed);
        // With less than 32 rows the row above the last one is in the masks.
        let carry = self.has_top().then(|| {
            leaves.unwrap_or_else(|| {
                let above = b.and(into_rows, 1 << (self.rows() % 32));
                b.compare(Cmp::Ne, above, 0)
            })
        });
        let into = into_segments(b, below, into_rows);
        let carries = columns.iter().zip(sums).enumerate().map(|(number, (column, sum))| {
            let mut mask = into[self.segment(0, number) as usize];
            for other in 1..self.finishers() / 32 {
                let is_other = b.compare(Cmp::Eq, warp, other);
                mask = b.select(into[(self.segment(0, number) + other) as usize], mask, is_other);
            }
            column.carries(b, place, sum, mask)
        });
        (carries.collect(), carry)
    }
}
