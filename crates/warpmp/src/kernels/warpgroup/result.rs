//! From sums of byte columns to limbs, and to global memory: the same instructions for all operands.
//!
//! The sums of the products of both halves go to shared memory. Each thread fetches the sums of its chunk of limbs and adds
//! those of both products. Four sums are a *digit*: a number of at most 64 bits that stands at a limb. A limb is the low word of
//! its digit plus the high word of the digit before. A chunk carries at most 1. The carries run through the warps by ballots,
//! and over the four warps by another look-ahead.
//!
//! bound: a sum is below 2³¹, so a digit is below `2³¹·(1 + 2⁸ + 2¹⁶ + 2²⁴) < 2⁵⁶`, and its high word `h` below 2²⁴. A chunk of `n`
//! limbs adds two numbers: any below `2^(32n)`, and one whose words are high words, below `2^(32n − 7)`. If their sum overflows,
//! what is left is below the second: not all ones. So no chunk and no warp both generates a carry and passes one on.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{all_ones, assign, carries_of_warps, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};
use warpmp_launch::{piece, vector};

use super::layout::{BLOCK_LIMBS, BLOCK_SUMS_BYTES, CARRIES};
use super::multiply::Sums;
use super::{Place, THREADS};
use crate::kernels::tensor::part::{Addends, Part, Pieces};
use crate::kernels::transform::carry::carry_out;

/// Where a product goes.
pub(super) struct Target<'t> {
    /// The address of the thread's first piece of the row, if all limbs are kept.
    pub(super) to: R64,
    pub(super) part: Part,
    /// The limbs that are kept, of this many.
    pub(super) kept: Range<u32>,
    pub(super) all: u32,
    pub(super) addends: &'t Addends,
}

impl Place {
    /// Writes the product whose sums these are.
    pub(super) fn finish(&self, b: &mut Builder, sums: &Sums, target: &Target<'_>) {
        b.section("carry");
        // The operands have been read.
        b.barrier();
        self.put_sums(b, sums, target.part);
        b.barrier();
        let mut digits = self.digits(b, target.part);
        let piece = piece(self.layout.chunk());
        let stride = self.layout.chunk() / piece;
        for (digits, first) in digits.chunks_mut(2 * piece as usize).zip(0..) {
            target.addends.add(b, Pieces { thread: self.thread, threads: THREADS, stride, first }, digits);
        }
        let own = self.resolve(b, &digits);
        b.section("store");
        self.store(b, &own, target);
    }

    /// Puts the sums of this thread into shared memory. A low half of the result needs none beyond the columns of `b`.
    fn put_sums(&self, b: &mut Builder, sums: &Sums, part: Part) {
        let Self { layout, group, member, shared, warp, .. } = *self;
        let half = b.shr(warp, 1);
        let upper = b.and(warp, 1);
        let to = b.mad_lo(half, layout.sums_bytes(), shared);
        let to = b.mad_lo(upper, 32, to);
        let to = b.mad_lo(group, 4, to);
        let to = b.mad_lo(member, 2 * BLOCK_SUMS_BYTES, to);
        for (number, &both) in sums.both.iter().enumerate() {
            let (i, x, h) = (number as u32 / 4, number as u32 / 2 % 2, number as u32 % 2);
            let at = layout.work() + (8 * i + h) * BLOCK_SUMS_BYTES + 64 * x;
            let Some(&low) = sums.low.get(number) else {
                b.store_shared(&[both], to, at);
                continue;
            };
            b.store_shared(&[low], to, at);
            if part == Part::Low {
                continue;
            }
            let high = b.sub(both, low);
            b.store_shared(&[high], to, at + layout.columns() * BLOCK_SUMS_BYTES);
        }
    }

    /// The digits of this thread's chunk, low words and high words in turn: numbers of at most 64 bits, each at a limb.
    fn digits(&self, b: &mut Builder, part: Part) -> Vec<R32> {
        let Self { layout, warp, .. } = *self;
        let chunk = layout.chunk();
        // Where the chunk has its sums of the lower half of `a`. The last warp has those of the upper half only.
        let runs: Vec<R32> = (0..chunk).step_by(self.run() as usize).map(|first| self.sums_of(b, first)).collect();
        let upper = layout.sums_bytes() - layout.blocks() * BLOCK_SUMS_BYTES;
        let last = b.compare(Cmp::Eq, warp, 3);
        let base = b.select(upper, 0, last);
        let runs: Vec<R32> = runs.into_iter().map(|run| b.add(run, base)).collect();
        let load = |b: &mut Builder, k: u32, before: u32| {
            let (run, offset) = (runs[(k / self.run()) as usize], 16 * (k % self.run()));
            b.load_shared(Vector::V4, run, layout.work() + before + offset)
        };
        let (sums, middle_warps): (Vec<Vec<R32>>, u32) = match part {
            Part::Low => {
                // The last two warps have none.
                let sums: Vec<Vec<R32>> = (0..chunk).map(|_| (0..4).map(|_| b.copy(0)).collect()).collect();
                let inside = b.compare(Cmp::Lt, warp, 2);
                b.if_(inside, |b| {
                    let loaded: Vec<Vec<R32>> = (0..chunk).map(|k| load(b, k, 0)).collect();
                    assign(b, &sums.concat(), &loaded.concat());
                });
                (sums, 1)
            }
            Part::Whole | Part::High | Part::Sum(_) | Part::Signed | Part::Cyclic => {
                ((0..chunk).map(|k| load(b, k, 0)).collect(), 2)
            }
        };
        let middle = b.sub(warp, 1);
        let middle = b.compare(Cmp::Lt, middle, middle_warps);
        b.if_(middle, |b| {
            for (sums, k) in sums.iter().zip(0..) {
                for (&sum, other) in sums.iter().zip(load(b, k, upper)) {
                    b.increase(sum, other);
                }
            }
        });
        let [one, byte, two, three] = self.bytes;
        sums.iter()
            .flat_map(|sums| {
                let sum = b.mul_wide(sums[0], one);
                let sum = b.mad_wide(sums[1], byte, sum);
                let sum = b.mad_wide(sums[2], two, sum);
                let sum = b.mad_wide(sums[3], three, sum);
                <[R32; 2]>::from(b.unpack(sum))
            })
            .collect()
    }

    /// Neighbouring limbs of a chunk that are in the same block in all threads.
    fn run(&self) -> u32 {
        BLOCK_LIMBS.min(1 << self.layout.chunk().trailing_zeros())
    }

    /// Where the run that begins with limb `first` of this thread's chunk has its sums.
    fn sums_of(&self, b: &mut Builder, first: u32) -> R32 {
        let Self { layout, thread, shared, .. } = *self;
        if layout.chunk() == BLOCK_LIMBS {
            return b.mad_lo(thread, BLOCK_SUMS_BYTES, shared);
        }
        let limb = b.mad_lo(thread, layout.chunk(), first);
        let block = b.shr(limb, BLOCK_LIMBS.ilog2());
        let padding = b.mad_lo(block, BLOCK_SUMS_BYTES - 16 * BLOCK_LIMBS, shared);
        b.mad_lo(limb, 16, padding)
    }

    /// The limbs of this thread's chunk.
    fn resolve(&self, b: &mut Builder, digits: &[R32]) -> Vec<R32> {
        let Self { lane, shared, warp, .. } = *self;
        let slot = b.mad_lo(warp, 4, shared);
        let last = digits[digits.len() - 1];
        let top = b.compare(Cmp::Eq, lane, 31);
        b.guarded(top, true, |g| g.store_shared(&[last], slot, 4));
        let below = b.shuffle(Shuffle::Up, last, 1, 32);
        b.barrier();
        let bottom = b.compare(Cmp::Eq, lane, 0);
        b.guarded(bottom, true, |g| g.load_into(Space::Shared, Vector::V1, &[below], slot, 0));
        let highs: Vec<R32> = std::iter::once(below).chain(digits.chunks(2).map(|digit| digit[1])).collect();
        let mut chain = b.chain();
        let limbs: Vec<R32> = digits.chunks(2).zip(highs).map(|(digit, high)| chain.add(digit[0], high)).collect();
        let carry = chain.carry();
        let generates = b.compare(Cmp::Ne, carry, 0);
        let propagates = all_ones(b, &limbs);
        let (generate, propagate) = (b.ballot(generates), b.ballot(propagates));
        let doubled = b.add(generate, generate);
        let (sum, leaves) = carry_out(b, doubled, generate, propagate);
        let leaves = b.select(1, 0, leaves);
        let passes = b.compare(Cmp::Eq, propagate, u32::MAX);
        let passes = b.select(2, 0, passes);
        let word = b.or(leaves, passes);
        b.guarded(bottom, true, |g| g.store_shared(&[word], slot, CARRIES));
        b.barrier();
        let number = b.and(lane, 3);
        let from = b.mad_lo(number, 4, shared);
        let word = b.load_shared(Vector::V1, from, CARRIES)[0];
        let (_, into_warps) = carries_of_warps(b, word);
        let carry = b.bit(into_warps, warp);
        let sum = b.add(sum, carry);
        let into = b.xor(sum, propagate);
        let into = b.bit(into, lane);
        wrapping_add_small(b, &limbs, into)
    }

    /// Stores the limbs that are kept, in the order of their addresses. `own` is this thread's chunk of all limbs.
    fn store(&self, b: &mut Builder, own: &[R32], target: &Target<'_>) {
        let Self { layout, thread, shared, .. } = *self;
        let width = piece(target.all);
        let [first, end] = [target.kept.start, target.kept.end].map(|limbs| limbs / width);
        let own_bytes = b.mul_lo(thread, 4 * layout.chunk());
        // Chunks of a block need it: their threads would wait for a bank.
        let is_exchanged = layout.chunk() == BLOCK_LIMBS;
        if is_exchanged {
            let place = exchanged(b, own_bytes);
            let second = b.xor(place, 16);
            for (offset, words) in [place, second].into_iter().zip(own.chunks(4)) {
                let here = b.add(shared, offset);
                b.store_shared(words, here, layout.work());
            }
        } else {
            let here = b.add(shared, own_bytes);
            let together = piece(layout.chunk());
            for (words, at) in own.chunks(together as usize).zip((0..).step_by(4 * together as usize)) {
                b.store_shared(words, here, layout.work() + at);
            }
        }
        b.barrier();
        let number = if first == 0 { thread } else { b.add(thread, first) };
        let mut offset = b.mul_lo(number, 4 * width);
        if is_exchanged {
            offset = exchanged(b, offset);
        }
        let from = b.add(shared, offset);
        for start in (first..end).step_by(THREADS as usize) {
            let inside = b.compare(Cmp::Lt, thread, end - start);
            b.if_(inside, |b| {
                let words = b.load_shared(vector(width), from, layout.work() + 4 * width * (start - first));
                b.store_global(Space::Global, &words, target.to, 4 * width * start);
            });
        }
    }
}

/// Where byte `offset` of the limbs is: in every other 128 bytes, neighbouring pieces of 16 bytes change places. So neither the
/// threads that write two pieces each wait for a bank nor those that read one piece each.
fn exchanged(b: &mut Builder, offset: R32) -> R32 {
    let odd = b.shr(offset, 3);
    let odd = b.and(odd, 16);
    b.xor(offset, odd)
}
