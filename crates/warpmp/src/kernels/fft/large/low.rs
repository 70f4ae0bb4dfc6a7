//! Low columns of the product: from its rows to words.
//!
//! ```text
//! columns   a block has 64 or 32 neighbouring columns: of each row and half a segment of whole words. Threads of their own have a few
//!           columns below, whose pairs decide what enters the segments
//! shared    rows of points, the columns below first. After the last pass the pair of a low half is in the place of the even column's
//!           point, and that of a high half in the place of the odd column's
//! words     a thread has a chunk of 32 coefficients of a row and a half, with the estimate of `carry.rs`
//! segments  one or two chunks. Their words go through shared memory to the result
//! ```
//!
//! banks: places of rows that follow one another differ by an odd number of points if a segment is a chunk. Eight rows have their pairs in
//! eight different pieces of 16 bytes, and the next eight in the other halves of these. Of two chunks the second one is a point
//! further, and the places of rows differ by twice an odd number.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::all_ones;
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};

use super::super::doubles::{Complex, Doubles};
use super::Block;
use super::carry::{Chunk, Finished, PAIRS, Signed, with_carry};
use super::split::{CHUNK, POINTS, Split};
use super::up::PAIR_BYTES;
use crate::kernels::transform::layout::POINT_BYTES;
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// Bytes from a pair of a half to the next.
const STRIDE: u32 = 2 * POINT_BYTES;

/// A thread.
struct Thread {
    /// Has it columns below?
    is_below: Pred,
    /// Its number among the threads of the block's own columns, or among those of the columns below.
    number: R32,
    /// The number of its column in the block, or among the columns below.
    within: R32,
    /// Which 16 rows of the column it has.
    node: R32,
}

impl Split {
    /// Chunks of a segment.
    const fn chunks_of_segment(self) -> u32 {
        self.up_columns() / CHUNK
    }

    /// Columns below, a power of two.
    fn columns_below(self) -> u32 {
        (2 * self.window()).next_power_of_two()
    }

    /// Threads that have the block's own columns, and the number of its chunks.
    const fn own_threads(self) -> u32 {
        self.rows() * self.up_columns() / POINTS
    }

    /// Threads for the columns below: whole warps.
    fn threads_below(self) -> u32 {
        (self.rows() / POINTS * self.columns_below()).next_multiple_of(32)
    }

    /// Threads of a block.
    pub(super) fn low_threads(self) -> u32 {
        self.own_threads() + self.threads_below()
    }

    /// Points from a row to the next.
    fn pitch(self) -> u32 {
        let chunks = self.chunks_of_segment();
        let points = self.columns_below() + self.up_columns() + chunks - 1;
        points + (chunks + 8 - points % 8) % 8
    }

    /// Bytes of shared memory of a block.
    pub(super) fn low_bytes(self) -> u32 {
        POINT_BYTES * self.pitch() * self.rows()
    }

    /// Words from a chunk to the next: an odd number.
    const fn chunk_pitch(self) -> u32 {
        self.digit_bits | 1
    }

    /// Transforms low columns of the product back, and makes words. `spectra`: the scratch memory. `results`: the products.
    pub(super) fn make_low_columns(self, b: &mut Builder, block: &Block, spectra: R64, results: R64) {
        b.section("setup");
        let groups = self.up_groups();
        let group = b.and(block.number, groups - 1);
        let product = b.shr(block.number, groups.ilog2());
        let spectrum = b.mad_wide(product, self.scratch_bytes(), spectra);
        let thread = self.thread(b, block);
        self.low_pairs(b, block, &thread, (group, spectrum));
        b.barrier();
        let Finished { words, generates, leaves } = self.low_words(b, block, thread.number, group);
        let row = b.mad_wide(product, 4 * self.limbs[2], results);
        if self.has_top {
            let is_last = b.compare(Cmp::Eq, block.thread, self.own_threads() - 1);
            let in_last_block = b.compare(Cmp::Eq, group, groups - 1);
            let is_top = b.and_pred(is_last, in_last_block);
            b.guarded(is_top, true, |g| g.store_global(Space::Global, &[leaves], row, 4 * self.product_limbs()));
        }
        b.section("carry");
        let flags = b.mad_wide(group, 4, spectrum);
        let words = self.carry_in_segment(b, &thread, (words, generates), flags);
        b.barrier();
        b.section("store");
        let to = b.mad_lo(thread.number, 4 * self.chunk_pitch(), block.shared);
        for (&word, i) in words.iter().zip(0..) {
            b.guarded(thread.is_below, false, |g| g.store_shared(&[word], to, 4 * i));
        }
        b.barrier();
        self.store_segments(b, block, group, row);
    }

    fn thread(self, b: &mut Builder, block: &Block) -> Thread {
        let (own, below) = (self.up_columns(), self.columns_below());
        let is_below = b.compare(Cmp::Ge, block.thread, self.own_threads());
        let number = b.sub(block.thread, self.own_threads());
        let number = b.select(number, block.thread, is_below);
        let shift = b.select(below.ilog2(), own.ilog2(), is_below);
        let mask = b.select(below - 1, own - 1, is_below);
        let node = b.shr(number, shift);
        let within = b.and(number, mask);
        Thread { is_below, number, within, node }
    }

    /// Transforms the columns, and leaves their pairs in shared memory.
    fn low_pairs(self, b: &mut Builder, block: &Block, thread: &Thread, (group, spectrum): (R32, R64)) {
        let (own, below) = (self.up_columns(), self.columns_below());
        let &Thread { is_below, within, node, .. } = thread;
        let first = b.mul_lo(group, own);
        let before = b.sub(first, below);
        let first = b.select(before, first, is_below);
        let column = b.add(first, within);
        // The columns below those of the first block are the last ones, a row lower.
        let column = b.and(column, self.width - 1);
        let from = b.mad_wide(column, POINT_BYTES, spectrum);
        let chunk = b.shr(within, CHUNK.ilog2());
        let place = b.add(within, chunk);
        let beside = b.add(place, below);
        let place = b.select(place, beside, is_below);
        let place = b.mad_lo(place, POINT_BYTES, block.shared);
        let nodes = self.rows() / POINTS;
        let has_rows = b.compare(Cmp::Lt, node, nodes);
        b.if_(has_rows, |b| {
            let x = self.points_of_rows(b, from, node);
            let to = b.mad_lo(node, POINTS * self.row_bytes(), place);
            for (x, i) in x.into_iter().zip(0..) {
                Doubles.store(b, to, i * self.row_bytes(), &[x]);
            }
        });
        b.barrier();
        let parity = b.and(within, 1);
        let is_odd = b.compare(Cmp::Ne, parity, 0);
        let step = b.select(self.threads_below() / below, nodes, is_below);
        let j = b.copy(node);
        let more = |b: &mut Builder| b.compare(Cmp::Lt, j, self.joined());
        b.while_(more, |b| {
            b.section("up 3");
            let roots = b.mad_wide(j, ROOT_BYTES, block.table);
            let points = b.mad_lo(j, self.row_bytes(), place);
            let apart = self.joined() * self.row_bytes();
            let mut x: Vec<Complex> = (0..self.joins()).flat_map(|i| Doubles.load(b, points, i * apart, 1)).collect();
            self.join(b, roots, &mut x);
            let to = self.half_of_place(b, j, points);
            for (x, i) in x.into_iter().zip(0..) {
                let pair = self.pair_of_point(b, roots, is_odd, (i, x));
                b.store_shared(&pair, to, i * apart);
            }
            b.increase(j, step);
        });
    }

    /// Bytes from a row to the next.
    fn row_bytes(self) -> u32 {
        POINT_BYTES * self.pitch()
    }

    /// The address of the pairs of a row: in the lower or in the upper halves of the places of points.
    fn half_of_place(self, b: &mut Builder, row: R32, place: R32) -> R32 {
        let bit = b.bfe(row, 3 - self.chunks_of_segment().ilog2(), 1);
        b.mad_lo(bit, PAIR_BYTES, place)
    }

    /// The words of a chunk.
    fn low_words(self, b: &mut Builder, block: &Block, number: R32, group: R32) -> Finished {
        b.section("window");
        let chunks = self.chunks_of_segment();
        let segment = b.shr(number, chunks.ilog2());
        let chunk = b.and(number, chunks - 1);
        let in_first_block = b.compare(Cmp::Eq, group, 0);
        let is_lowest = b.compare(Cmp::Eq, chunk, 0);
        let is_lower = b.and_pred(in_first_block, is_lowest);
        let at_start = b.compare(Cmp::Eq, segment, 0);
        let is_first = b.and_pred(is_lower, at_start);
        // The columns below the first block are those of the row below; below the first row of all is nothing.
        let row_below = b.sub(segment, 1);
        let row_below = b.select(0, row_below, is_first);
        let row_below = b.select(row_below, segment, is_lower);
        let from = self.pairs_of_segment(b, block, row_below);
        let from = b.mad_lo(chunk, POINT_BYTES * CHUNK, from);
        let mut below = Vec::new();
        for i in 0..self.window() {
            let at = POINT_BYTES * self.columns_below() - STRIDE * (self.window() - i);
            let pair = load_pair(b, from, at);
            below.push(pair.map(|word| b.select(0, word, is_first)));
        }
        let estimate = self.estimate(b, &below);
        // Nothing enters the product: the estimate must be exact, because no chunk below adds one.
        let estimate = estimate.map(|word| b.select(0, word, is_first));
        b.section("words");
        let from = self.pairs_of_segment(b, block, segment);
        let from = b.mad_lo(chunk, POINT_BYTES * (CHUNK + 1), from);
        let mut chunk = Chunk::new(b, self, estimate);
        for i in 0..PAIRS {
            let pair = load_pair(b, from, POINT_BYTES * self.columns_below() + STRIDE * i);
            chunk.add(b, i, pair);
        }
        b.section("window");
        chunk.finish(b)
    }

    /// The address of the pairs of a segment, those of the columns below first. `segment`: its row, after all rows if it is of the high half.
    fn pairs_of_segment(self, b: &mut Builder, block: &Block, segment: R32) -> R32 {
        let is_high = b.compare(Cmp::Ge, segment, self.rows());
        let row = b.sub(segment, self.rows());
        let row = b.select(row, segment, is_high);
        let half = b.select(POINT_BYTES, 0, is_high);
        let place = b.add(block.shared, half);
        let place = b.mad_lo(row, self.row_bytes(), place);
        self.half_of_place(b, row, place)
    }

    /// The words of a chunk with the carry from the segment's chunk below. Stores the flag of the segment.
    fn carry_in_segment(
        self,
        b: &mut Builder,
        thread: &Thread,
        (words, generates): (Vec<R32>, R32),
        flags: R64,
    ) -> Vec<R32> {
        let chunks = self.chunks_of_segment();
        let all = all_ones(b, &words);
        let passes = b.select(1, 0, all);
        let segment = b.shr(thread.number, chunks.ilog2());
        let flags = b.mad_wide(segment, 4 * self.up_groups(), flags);
        let chunk = b.and(thread.number, chunks - 1);
        let is_last = b.compare(Cmp::Eq, chunk, chunks - 1);
        let is_own = b.not_pred(thread.is_below);
        let stores = b.and_pred(is_last, is_own);
        let (words, leaves, passes) = if chunks == 1 {
            (words, generates, passes)
        } else {
            let below = b.shuffle(Shuffle::Up, generates, 1, 32);
            let enters = b.select(below, 0, is_last);
            let passed = b.and(passes, enters);
            let leaves = b.or(generates, passed);
            let below = b.shuffle(Shuffle::Up, passes, 1, 32);
            (with_carry(b, &words, enters), leaves, b.and(passes, below))
        };
        let passes = b.shl(passes, 1);
        let flag = b.or(leaves, passes);
        b.guarded(stores, true, |g| g.store_global(Space::Global, &[flag], flags, self.flags()));
        words
    }

    /// Stores the words of all segments: a warp has a segment after the other.
    fn store_segments(self, b: &mut Builder, block: &Block, group: R32, row: R64) {
        let words = self.segment_words();
        let warp = b.shr(block.thread, 5);
        // A word of the second chunk is a place further if chunks have places between them.
        let is_second = b.compare(Cmp::Ge, block.lane, self.digit_bits);
        let apart = b.select(self.chunk_pitch() - self.digit_bits, 0, is_second);
        let place = b.add(block.lane, apart);
        let has_word = b.compare(Cmp::Lt, block.lane, words);
        let place = b.select(place, 0, has_word);
        let from = b.mad_lo(place, 4, block.shared);
        let segment = b.copy(warp);
        let more = |b: &mut Builder| b.compare(Cmp::Lt, segment, 2 * self.rows());
        b.while_(more, |b| {
            let from = b.mad_lo(segment, 4 * self.chunk_pitch() * self.chunks_of_segment(), from);
            let number = b.mad_lo(segment, self.up_groups(), group);
            let index = b.mad_lo(number, words, block.lane);
            let to = b.mad_wide(index, 4, row);
            let index = b.select(index, u32::MAX, has_word);
            let word = b.load_shared(Vector::V1, from, 0)[0];
            self.inside(b, index, 0, |g| g.store_global(Space::Global, &[word], to, 0));
            b.increase(segment, self.low_threads() / 32);
        });
    }
}

fn load_pair(b: &mut Builder, from: R32, at: u32) -> Signed {
    let words = b.load_shared(Vector::V2, from, at);
    [words[0], words[1]]
}
