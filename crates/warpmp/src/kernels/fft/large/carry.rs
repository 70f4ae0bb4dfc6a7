//! From coefficients to limbs: three kernels.
//!
//! ```text
//! words     a thread adds 16 pairs of coefficients of each half to whole words, with an incoming number that it estimates from the
//!           pairs just below; the true number is the same or one more. Carries run through a warp by ballots.
//! chain     a warp a product: the carries into all segments, from the flags that the warps left
//! finish    a warp a segment: where a carry enters, it is added
//! ```
//!
//! bound: let `E` be a power of two that is at least `Σ |p_j|·4^{bj}` over all pairs `p` below the window, in units of the
//! chunk's lowest bit; `E ≤ 1/256`. The estimate is `⌊w − E⌋` for the window's sum `w`. The true number is between
//! `⌊w − E⌋` and `⌊w + E⌋`, so it is the estimate or one more. A chunk's own sum tells which, given the number that
//! enters it. So a chunk generates a carry, or passes one on if its words are all ones. Not both: two carries are never true.
//! A pair is at most 2⁶² in magnitude and is shifted by at most 31 bits, so the sum of a chunk in progress is below 2⁹⁴: three words.

use warpmp_kernel::build::{Builder, Emit, Guarded, R32, R64};
use warpmp_kernel::fragment::{add_carry_to_row, all_ones, ballots_of_flags};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::split::{CHUNK, Split};
use super::up::PAIR_BYTES;
use super::{Block, divide};

/// Warps of a block that makes or finishes segments.
pub(super) const SEGMENT_WARPS: u32 = 4;

/// Groups of 32 flags that are loaded together.
const FLAGS_TOGETHER: usize = 32;

/// The estimate is exact but for this power of two.
const MARGIN_BITS: u32 = 8;

/// Pairs of a chunk.
pub(super) const PAIRS: u32 = CHUNK / 2;

/// Bytes from a pair of the low half to the next. The pair of the high half is between them.
const STRIDE: u32 = 2 * PAIR_BYTES;

/// A signed number of two words.
pub(super) type Signed = [R32; 2];

/// The words of a chunk with all pairs.
pub(super) struct Finished {
    pub(super) words: Vec<R32>,
    /// 1 if the chunk generates a carry.
    pub(super) generates: R32,
    /// The number that leaves the chunk, but for its carry.
    pub(super) leaves: R32,
}

/// A chunk whose pairs are added from below.
pub(super) struct Chunk {
    split: Split,
    /// The sum in progress, from the next word on.
    sum: Vec<R32>,
    words: Vec<R32>,
    /// The pairs below the next chunk.
    last: Vec<Signed>,
}

impl Chunk {
    /// No pairs yet. `enters`: the number that enters the chunk, or one less.
    pub(super) fn new(b: &mut Builder, split: Split, [low, high]: Signed) -> Self {
        let sign = b.shr_signed(high, 31);
        let sum = [low, high, sign].into_iter().map(|it| b.copy(it)).collect();
        Self { split, sum, words: Vec::new(), last: Vec::new() }
    }

    /// Adds pair `i`, after those before it.
    pub(super) fn add(&mut self, b: &mut Builder, i: u32, pair: Signed) {
        let bits = self.split.pair_step();
        add_shifted(b, &mut self.sum, pair, i * bits % 32);
        if i >= PAIRS - self.split.window() {
            self.last.push(pair);
        }
        for _ in i * bits / 32..(i + 1) * bits / 32 {
            let sign = b.shr_signed(self.sum[2], 31);
            self.words.push(self.sum.remove(0));
            self.sum.push(sign);
        }
    }

    /// The words of all pairs.
    pub(super) fn finish(self, b: &mut Builder) -> Finished {
        let Self { split, sum, words, last } = self;
        let estimate = split.estimate(b, &last);
        Finished { words, generates: b.sub(sum[0], estimate[0]), leaves: estimate[0] }
    }
}

impl Split {
    /// Pairs of the window.
    pub(super) fn window(self) -> u32 {
        // |p| ≤ 2^n; those below the window sum to less than 2^(n − 2b(W + 1) + 1).
        (self.pair_bits() + 1 + MARGIN_BITS).div_ceil(self.pair_step()) - 1
    }

    /// Blocks of the kernel that makes segments, a lane.
    pub(super) const fn word_blocks(self) -> u32 {
        self.segments() / 2 / SEGMENT_WARPS
    }

    /// Bytes of shared memory of a block that makes segments.
    pub(super) const fn word_bytes(self) -> u32 {
        SEGMENT_WARPS * self.segment_words() * 4
    }

    /// Makes the words of both halves. `spectra`: the scratch memory. `results`: the products.
    pub(super) fn make_words(self, b: &mut Builder, block: &Block, spectra: R64, results: R64) {
        b.section("setup");
        let blocks = self.word_blocks();
        let (lane, within) = lane_of(b, block.number, blocks);
        let scratch = b.mad_wide(lane, self.scratch_bytes(), spectra);
        let warp = b.shr(block.thread, 5);
        let segment = b.mad_lo(within, SEGMENT_WARPS, warp);
        let chunk = b.mad_lo(segment, 32, block.lane);
        let pairs = b.add64(scratch, u64::from(self.pairs()));
        let from = b.mad_wide(chunk, STRIDE * PAIRS, pairs);

        b.section("window");
        let is_first = b.compare(Cmp::Eq, chunk, 0);
        let end = b.add64(pairs, u64::from(self.pair_bytes()));
        let before = b.select64(end, from, is_first);
        let before = b.sub64(before, u64::from(STRIDE * self.window()));
        let [lows, highs] = load(b, before, self.window());
        let mut below: [Vec<Signed>; 2] = [Vec::new(), Vec::new()];
        for (low, high) in lows.into_iter().zip(highs) {
            // Below the high half's first chunk is the low half; below the low half is nothing.
            below[0].push(low.map(|word| b.select(0, word, is_first)));
            below[1].push([0, 1].map(|i| b.select(low[i], high[i], is_first)));
        }
        let mut estimates = below.map(|coefficients| self.estimate(b, &coefficients));
        // Nothing enters the low half: the estimate must be exact, because no chunk below adds one.
        estimates[0] = estimates[0].map(|word| b.select(0, word, is_first));
        let halves = self.chunks(b, from, estimates);

        b.section("carry");
        let row = b.mad_wide(lane, 4 * self.limbs[2], results);
        let own = b.mad_lo(warp, 4 * self.segment_words(), block.shared);
        let flags = b.add64(scratch, u64::from(self.flags()));
        let flags = b.mad_wide(segment, 4, flags);
        let bottom = b.compare(Cmp::Eq, block.lane, 0);
        for (half, number) in halves.into_iter().zip(0..) {
            let (words, flag) = carried(b, block.lane, half);
            b.guarded(bottom, true, |g| {
                g.store_global(Space::Global, &[flag], flags, 4 * number * self.segments() / 2);
            });
            b.section("store");
            b.warp_barrier();
            let to = b.mad_lo(block.lane, 4 * self.digit_bits, own);
            for (word, i) in words.iter().zip(0..) {
                b.store_shared(&[*word], to, 4 * i);
            }
            b.warp_barrier();
            let first = b.mad_lo(segment, self.segment_words(), block.lane);
            let to = b.mad_wide(first, 4, row);
            let offset = number * (self.digits() / 32 * self.digit_bits);
            let from = b.mad_lo(block.lane, 4, own);
            for i in (0..self.segment_words()).step_by(32) {
                let word = b.load_shared(Vector::V1, from, 4 * i)[0];
                self.inside(b, first, offset + i, |g| g.store_global(Space::Global, &[word], to, 4 * (offset + i)));
            }
        }
    }

    /// Emits `store` for the threads whose word `first + offset` is one of the result.
    pub(super) fn inside(self, b: &mut Builder, first: R32, offset: u32, store: impl FnOnce(&mut Guarded<'_>)) {
        let limit = self.limbs[2].saturating_sub(offset);
        if limit > 0 {
            let inside = b.compare(Cmp::Lt, first, limit);
            b.guarded(inside, true, store);
        }
    }

    /// The number that enters a chunk, or one less, from the pairs below, the nearest one last.
    pub(super) fn estimate(self, b: &mut Builder, below: &[Signed]) -> Signed {
        let bits = self.pair_step();
        // In units of the lowest pair's lowest bit.
        let fraction = self.window() * bits;
        let mut sum: Vec<R32> = (0..4).map(|_| b.copy(0)).collect();
        for (pair, i) in below.iter().zip(0..) {
            add_shifted(b, &mut sum, *pair, i * bits);
        }
        let margin = self.pair_bits() + 1 - bits;
        let mut chain = b.chain();
        for (i, word) in sum.iter().enumerate() {
            let part = if i == (margin / 32) as usize { 1 << (margin % 32) } else { 0 };
            if i + 1 == sum.len() {
                chain.wrap_sub(*word, *word, part);
                break;
            }
            chain.sub_into(*word, *word, part);
        }
        let (word, shift) = ((fraction / 32) as usize, fraction % 32);
        let low = b.funnel_right(sum[word], sum[word + 1], shift);
        let high = match sum.get(word + 2) {
            Some(&above) => b.funnel_right(sum[word + 1], above, shift),
            None => b.shr_signed(sum[word + 1], shift),
        };
        [low, high]
    }

    /// Adds the pairs of a thread's chunk in both halves.
    fn chunks(self, b: &mut Builder, from: R64, estimates: [Signed; 2]) -> [Finished; 2] {
        b.section("words");
        let mut chunks = estimates.map(|it| Chunk::new(b, self, it));
        for i in 0..PAIRS {
            let words = b.load_global(Space::Global, Vector::V4, from, STRIDE * i);
            let pairs = [[words[0], words[1]], [words[2], words[3]]];
            for (chunk, pair) in chunks.iter_mut().zip(pairs) {
                chunk.add(b, i, pair);
            }
        }
        b.section("window");
        chunks.map(|it| it.finish(b))
    }

    /// The carries into the segments of a lane: a warp each.
    pub(super) fn chain_segments(self, b: &mut Builder, block: &Block, spectra: R64) {
        b.section("chain");
        let scratch = b.mad_wide(block.number, self.scratch_bytes(), spectra);
        let from = b.mad_wide(block.lane, 4, scratch);
        let bottom = b.compare(Cmp::Eq, block.lane, 0);
        let enters = b.copy(0);
        let firsts: Vec<u32> = (0..self.segments()).step_by(32).collect();
        for firsts in firsts.chunks(FLAGS_TOGETHER) {
            // Loads wait for memory together: `ptxas` moves none across the stores.
            let flags: Vec<R32> = firsts.iter().map(|&first| self.flag(b, block.lane, from, first)).collect();
            for (flag, first) in flags.into_iter().zip(firsts) {
                let masks = ballots_of_flags(b, flag);
                let (carries, leaves) = look_ahead(b, masks, Some(enters));
                b.set(enters, leaves);
                b.guarded(bottom, true, |g| {
                    g.store_global(Space::Global, &[carries], scratch, self.carries() + first / 8);
                });
            }
        }
    }

    /// The flag of the lane's segment after segment `first`, or 0 above the last one. `from`: the scratch memory, with the lane's word.
    fn flag(self, b: &mut Builder, lane: R32, from: R64, first: u32) -> R32 {
        let flag = b.copy(0);
        let inside = b.compare(Cmp::Lt, lane, self.segments() - first);
        b.guarded(inside, true, |g| {
            g.load_into(Space::Global, Vector::V1, &[flag], from, self.flags() + 4 * first);
        });
        flag
    }

    /// Adds the carries into segments: a warp each.
    pub(super) fn finish_segments(self, b: &mut Builder, block: &Block, spectra: R64, results: R64) {
        b.section("finish");
        let (lane, within) = lane_of(b, block.number, self.segments() / SEGMENT_WARPS);
        let scratch = b.mad_wide(lane, self.scratch_bytes(), spectra);
        let warp = b.shr(block.thread, 5);
        let segment = b.mad_lo(within, SEGMENT_WARPS, warp);
        let group = b.shr(segment, 5);
        let from = b.mad_wide(group, 4, scratch);
        let carries = b.load_global(Space::Global, Vector::V1, from, self.carries())[0];
        let number = b.and(segment, 31);
        let carry = b.bit(carries, number);
        let enters = b.compare(Cmp::Ne, carry, 0);
        b.if_(enters, |b| {
            let first = b.mad_lo(segment, self.segment_words(), block.lane);
            let row = b.mad_wide(lane, 4 * self.limbs[2], results);
            let at = b.mad_wide(first, 4, row);
            let carry = b.copy(carry);
            let words = self.load_segment(b, first, at, self.segment_words());
            self.add_to_segment(b, block.lane, (first, at), words, carry);
        });
    }

    /// A warp's words of a segment, or zero above the result. `first`: the number of the lane's first word; `at`: its address.
    pub(super) fn load_segment(self, b: &mut Builder, first: R32, at: R64, words: u32) -> Vec<R32> {
        let load = |i| {
            let word = b.copy(0);
            self.inside(b, first, 32 * i, |g| g.load_into(Space::Global, Vector::V1, &[word], at, 128 * i));
            word
        };
        (0..words.div_ceil(32)).map(load).collect()
    }

    /// Adds a carry to a warp's words of a segment and stores them.
    pub(super) fn add_to_segment(
        self,
        b: &mut Builder,
        lane: R32,
        (first, at): (R32, R64),
        words: Vec<R32>,
        carry: R32,
    ) {
        for (word, i) in words.into_iter().zip(0..) {
            let word = add_carry_to_row(b, word, carry, lane);
            self.inside(b, first, 32 * i, |g| g.store_global(Space::Global, &[word], at, 128 * i));
        }
    }
}

/// The lane that a block works on, and the block's number among those of the lane.
fn lane_of(b: &mut Builder, number: R32, blocks: u32) -> (R32, R32) {
    let (odd, two) = (blocks >> blocks.trailing_zeros(), blocks.trailing_zeros());
    let low = b.and(number, (1 << two) - 1);
    let rest = b.shr(number, two);
    let (lane, high) = divide(b, rest, odd);
    let within = b.mad_lo(high, 1 << two, low);
    (lane, within)
}

/// Loads this many pairs of the low and of the high half.
fn load(b: &mut Builder, from: R64, count: u32) -> [Vec<Signed>; 2] {
    let pairs = (0..count).map(|i| {
        let words = b.load_global(Space::Global, Vector::V4, from, STRIDE * i);
        ([words[0], words[1]], [words[2], words[3]])
    });
    let (lows, highs) = pairs.unzip();
    [lows, highs]
}

/// Adds a signed number that is shifted left by `shift` bits, with its sign in all words above.
fn add_shifted(b: &mut Builder, sum: &mut [R32], [low, high]: Signed, shift: u32) {
    let (first, shift) = ((shift / 32) as usize, shift % 32);
    let middle = if shift == 0 { high } else { b.funnel_left(low, high, shift) };
    let top = b.shr_signed(high, if shift == 0 { 31 } else { 32 - shift });
    let low = if shift == 0 { low } else { b.shl(low, shift) };
    let count = sum.len();
    let sign = (count - first > 3).then(|| b.shr_signed(high, 31));
    let mut chain = b.chain();
    for (i, &word) in sum[first..].iter().enumerate() {
        let part = match i {
            0 => low,
            1 => middle,
            2 => top,
            _ => sign.unwrap_or(top),
        };
        if first + i + 1 == count {
            chain.wrap_add(word, word, part);
            return;
        }
        chain.add_into(word, word, part);
    }
}

/// The carries into 32 places, and the carry that leaves the highest one, from the places that generate and pass carries.
pub(super) fn look_ahead(b: &mut Builder, [generate, propagate]: [R32; 2], enters: Option<R32>) -> (R32, R32) {
    let doubled = b.add(generate, generate);
    let mut sum = b.add(doubled, propagate);
    let mut over = b.compare(Cmp::Lt, sum, propagate);
    if let Some(enters) = enters {
        sum = b.add(sum, enters);
        let again = b.compare(Cmp::Lt, sum, enters);
        over = b.or_pred(over, again);
    }
    let from_top = b.compare_signed(Cmp::Lt, generate, 0);
    let leaves = b.or_pred(over, from_top);
    (b.xor(sum, propagate), b.select(1, 0, leaves))
}

/// The words of a chunk with the carries of the warp, and the flags of the warp's segment.
fn carried(b: &mut Builder, lane: R32, chunk: Finished) -> (Vec<R32>, R32) {
    let Finished { words, generates, .. } = chunk;
    let generates = b.compare(Cmp::Ne, generates, 0);
    let passes = all_ones(b, &words);
    let [generate, propagate] = [generates, passes].map(|it| b.ballot(it));
    let (carries, leaves) = look_ahead(b, [generate, propagate], None);
    let carry = b.bit(carries, lane);
    let sums = with_carry(b, &words, carry);
    let all = b.compare(Cmp::Eq, propagate, u32::MAX);
    let both = b.select(2, 0, all);
    (sums, b.or(leaves, both))
}

/// The words with a carry that enters the lowest one. The carry that leaves is known already.
pub(super) fn with_carry(b: &mut Builder, words: &[R32], carry: R32) -> Vec<R32> {
    let sums: Vec<R32> = words.iter().map(|_| b.register()).collect();
    let last = sums.len() - 1;
    let mut chain = b.chain();
    chain.add_into(sums[0], words[0], carry);
    for i in 1..last {
        chain.add_into(sums[i], words[i], 0);
    }
    chain.wrap_add(sums[last], words[last], 0);
    sums
}
