//! From numbers of two words to limbs, and to global memory: the same instructions for all operands.
//!
//! A thread has numbers of two words. One stands at each word of the result, or, of digits wider than half a word, at each 34 or 36 bits. If there is an addend, its
//! bits join these numbers. What a number has above those bits goes to the next one; then each *rest* carries at most 1. The carries run through the warps by ballots, and
//! over rows and segments by a look-ahead in masks: a segment is 32 numbers. Rests longer than a word are made words of at last: see `Words`.
//!
//! bound: what a number has above its bits, `h`, is below 2³¹, with the addend, which makes it greater by 1 at most, too. If a rest plus `h` overflows, what is left is below `h`: not all ones. A
//! segment of all ones generates no carry, and neither does a row of them.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64, V32};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::Place;
use super::layout::Layout;
use super::passes::read_word;

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
    /// Adds the row to the numbers of a thread, which stand `bits` bits apart. Theirs are number `index` after the numbers `firsts`, and `index` is below `end`.
    pub(in crate::kernels) fn add(
        self,
        b: &mut Builder,
        numbers: &mut [Halves],
        bits: u32,
        firsts: impl Iterator<Item = u32>,
        (index, end): (R32, u32),
    ) {
        let parts = if bits == 32 {
            let from = b.mad_wide(index, 4, self.row);
            firsts.map(|first| self.word(b, from, (index, end), first).map(|word| (word, V32::from(0)))).collect()
        } else {
            self.long_parts(b, bits, firsts, (index, end))
        };
        for (number, part) in numbers.iter_mut().zip(parts) {
            let Some((low, high)) = part else { continue };
            let sum = [b.register(), b.register()];
            let mut chain = b.chain();
            chain.add_into(sum[0], number.0, low);
            chain.end_add(sum[1], number.1, high);
            *number = (sum[0], sum[1]);
        }
    }

    /// A word of the row, if it has one in any thread.
    fn word(self, b: &mut Builder, from: R64, (index, end): (R32, u32), first: u32) -> Option<R32> {
        (first < self.limbs).then(|| read_word(b, index, end, from, [first, self.limbs]))
    }

    /// The parts of the row at numbers longer than a word: the low word, and the bits above. Each is in two words of the row.
    fn long_parts(
        self,
        b: &mut Builder,
        bits: u32,
        firsts: impl Iterator<Item = u32>,
        (index, end): (R32, u32),
    ) -> Vec<Option<(R32, V32)>> {
        let start = b.mul_lo(index, bits);
        let word = b.shr(start, 5);
        let shift = b.and(start, 31);
        let from = b.mad_wide(word, 4, self.row);
        let end = (end * bits).div_ceil(32);
        let part = |first: u32| {
            let first = first * bits / 32;
            let low = self.word(b, from, (word, end), first)?;
            let Some(high) = self.word(b, from, (word, end), first + 1) else {
                return Some((b.shr(low, shift), V32::from(0)));
            };
            let rest = b.shr(high, shift);
            Some((b.funnel_right(low, high, shift), b.and(rest, (1 << (bits - 32)) - 1).into()))
        };
        firsts.map(part).collect()
    }
}

/// What is left of a number, without its carry, when its upper bits are with the next one.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Rest {
    pub(in crate::kernels) low: R32,
    /// The bits above a word.
    high: V32,
}

/// The numbers of a thread in a column of the rows.
pub(in crate::kernels) struct Column {
    /// Of each row the rest.
    pub(in crate::kernels) rests: Vec<Rest>,
    /// In the lane with a row's number: the lanes of the row whose rests carry.
    generate: R32,
    /// In the lane with a row's number: the lanes of the row whose rests are all ones.
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

/// Where a thread stores words of the result.
///
/// Of numbers of `32 + x` bits `32/x` neighbours are a *run*, which fills one word more than it has numbers. Number `i` of a run ends `x·(i + 1)` bits above word `i`. So word `i` is the
/// low bits of the number with the highest bits of the one below, and the last number has the last word of the run, too.
enum Words<'w> {
    /// A word for each number.
    Single { layout: Layout, place: &'w Place, to: R64 },
    Runs {
        layout: Layout,
        to: R64,
        /// The thread's first word among those of all threads.
        index: R32,
        /// By how many bits its number is shifted.
        shift: R32,
        /// Has the thread the last number of a run?
        is_last: Pred,
    },
}

impl<'w> Words<'w> {
    fn new(b: &mut Builder, layout: Layout, place: &'w Place, row: R64) -> Self {
        let bits = layout.number_bits();
        if bits == 32 {
            return Self::Single { layout, place, to: b.mad_wide(place.thread, 4, row) };
        }
        let run = 32 / (bits - 32);
        let before = b.shr(place.thread, run.ilog2());
        let index = b.add(place.thread, before);
        let number = b.and(place.thread, run - 1);
        let shift = b.mul_lo(number, bits - 32);
        let is_last = b.compare(Cmp::Eq, number, run - 1);
        Self::Runs { layout, to: b.mad_wide(index, 4, row), index, shift, is_last }
    }

    /// Stores the words of a number whose threads' words begin with word `first`.
    fn store(&self, b: &mut Builder, (rest, carry): (Rest, R32), first: u32) {
        match *self {
            Self::Single { layout, place, to } => {
                let word = b.add(rest.low, carry);
                layout.store_word(b, word, (to, first), (place.thread, layout.finishers()), None);
            }
            Self::Runs { layout, to, index, shift, is_last } => {
                if first >= layout.limbs[2] {
                    return;
                }
                let high = b.register();
                let mut chain = b.chain();
                let low = chain.add(rest.low, carry);
                chain.end_add(high, rest.high, 0);
                let highest = b.funnel_right(low, high, layout.number_bits() - 32);
                let below = b.shuffle(Shuffle::Up, highest, 1, 32);
                let word = b.funnel_left(below, low, shift);
                // The last thread has the last two words.
                let indices = (index, layout.words(layout.finishers()) - 1);
                layout.store_word(b, word, (to, first), indices, None);
                layout.store_word(b, highest, (to, first + 1), indices, Some(is_last));
            }
        }
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
            for (row, &number) in (0..).zip(halves) {
                let high = self.above(b, number);
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
        let words = Words::new(b, self, place, to);
        for (number, (column, carries)) in (0..).zip(columns.iter().zip(carries)) {
            for (row, &rest) in (0..).zip(&column.rests) {
                let mask = b.shuffle(Shuffle::Idx, carries, row, 32);
                let carry = b.bit(mask, place.lane);
                words.store(b, (rest, carry), self.words(self.row_numbers() * row + self.finishers() * number));
            }
        }
    }

    /// Stores word `first + index` of the result, if there is one. Indices are below `end`, and `to` is the address of word `index`. `only`: the threads that store.
    pub(in crate::kernels) fn store_word(
        self,
        b: &mut Builder,
        word: R32,
        (to, first): (R64, u32),
        (index, end): (R32, u32),
        only: Option<Pred>,
    ) {
        let limbs = self.limbs[2];
        if first >= limbs {
            return;
        }
        let inside = (first + end > limbs).then(|| b.compare(Cmp::Lt, index, limbs - first));
        let stores = match (only, inside) {
            (Some(only), Some(inside)) => Some(b.and_pred(only, inside)),
            (only, inside) => only.or(inside),
        };
        match stores {
            Some(stores) => b.guarded(stores, true, |g| g.store_global(Space::GlobalStream, &[word], to, 4 * first)),
            None => b.store_global(Space::GlobalStream, &[word], to, 4 * first),
        }
    }

    /// What a number has above its bits.
    fn above(self, b: &mut Builder, (_, high): Halves) -> R32 {
        match self.number_bits() {
            32 => high,
            bits => b.shr(high, bits - 32),
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
        let mut rests = Vec::new();
        for (&number, &[row, segment]) in halves.iter().zip(rows) {
            let above = self.above(b, number);
            let below = b.shuffle(Shuffle::Up, above, 1, 32);
            let at = self.passed() + 4 * segment;
            b.guarded(bottom, true, |g| g.load_into(Space::Shared, Vector::V1, &[below], passed, at));
            let (rest, [carries, passes]) = self.rest(b, number, below);
            let [carries, passes] = [carries, passes].map(|it| b.ballot(it));
            let own = b.compare(Cmp::Eq, place.lane, row);
            b.guarded(own, true, |g| {
                g.set(generate, carries);
                g.set(propagate, passes);
            });
            rests.push(rest);
        }
        Column { rests, generate, propagate }
    }

    /// The rest of a number with what comes from below. Does it carry, and is it all ones?
    fn rest(self, b: &mut Builder, (low, high): Halves, below: R32) -> (Rest, [Pred; 2]) {
        if self.number_bits() == 32 {
            let word = b.add(low, below);
            let carries = b.compare(Cmp::Lt, word, below);
            let passes = b.compare(Cmp::Eq, word, u32::MAX);
            return (Rest { low: word, high: 0.into() }, [carries, passes]);
        }
        let greatest = (1 << (self.number_bits() - 32)) - 1;
        let high = b.and(high, greatest);
        let sum = b.register();
        let mut chain = b.chain();
        let low = chain.add(low, below);
        chain.end_add(sum, high, 0);
        let carries = b.compare(Cmp::Gt, sum, greatest);
        let is_greatest = b.compare(Cmp::Eq, sum, greatest);
        let is_ones = b.compare(Cmp::Eq, low, u32::MAX);
        let passes = b.and_pred(is_greatest, is_ones);
        (Rest { low, high: sum.into() }, [carries, passes])
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
