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

use super::layout::{BLOCK_SUMS_BYTES, CARRIES, Layout, PADDED_BLOCKS};
use super::multiply::Sums;
use super::{Place, THREADS};
use crate::kernels::tensor::part::{Addends, Part, Pieces};
use crate::kernels::tensor::{BLOCK_LIMBS, PIECE_LIMBS};
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
        let stride = self.layout.chunk() / PIECE_LIMBS;
        for (digits, first) in digits.chunks_mut(2 * PIECE_LIMBS as usize).zip(0..) {
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
            let at = layout.work() + layout.sums_of(8 * i) + h * BLOCK_SUMS_BYTES + 64 * x;
            let Some(&low) = sums.low.get(number) else {
                b.store_shared(&[both], to, at);
                continue;
            };
            b.store_shared(&[low], to, at);
            if part == Part::Low {
                continue;
            }
            let high = b.sub(both, low);
            let at = at + layout.sums_of(layout.columns);
            // Columns of other lanes may have no high block.
            match layout.blocks.checked_sub(8 * i + h) {
                None | Some(0) => {}
                Some(columns @ 1..=6) => {
                    let has_high = b.compare(Cmp::Lt, member, columns.div_ceil(2));
                    b.guarded(has_high, true, |g| g.store_shared(&[high], to, at));
                }
                Some(_) => b.store_shared(&[high], to, at),
            }
        }
    }

    /// The digits of this thread's chunk, low words and high words in turn: numbers of at most 64 bits, each at a limb. Threads behind the
    /// product have those of its last block, which nobody needs.
    fn digits(&self, b: &mut Builder, part: Part) -> Vec<R32> {
        let layout = self.layout;
        let (own, last) = (layout.own_blocks(), layout.all_blocks() - 1);
        let [one, byte, two, three] = self.bytes;
        let mut digits = Vec::new();
        for i in 0..own {
            let block = if own == 1 { self.thread } else { b.mad_lo(self.thread, own, i) };
            let block = if THREADS * own > last + 1 { b.min(block, last) } else { block };
            for sums in self.sums(b, block, part).chunks(4) {
                let sum = b.mul_wide(sums[0], one);
                let sum = b.mad_wide(sums[1], byte, sum);
                let sum = b.mad_wide(sums[2], two, sum);
                let sum = b.mad_wide(sums[3], three, sum);
                digits.extend(<[R32; 2]>::from(b.unpack(sum)));
            }
        }
        digits
    }

    /// The sums of the limbs of a block, four each: those of the product of the lower half of `a`, and those of the upper half, whose block `j` stands
    /// at block `j + blocks`.
    fn sums(&self, b: &mut Builder, block: R32, part: Part) -> Vec<R32> {
        let layout = self.layout;
        let Layout { blocks, columns } = layout;
        let number = b.sub(block, blocks);
        let lower = self.sums_of(b, block);
        let upper = self.sums_of(b, number);
        let upper = b.add(upper, layout.sums_bytes());
        let load = |b: &mut Builder, from: R32| -> Vec<R32> {
            (0..BLOCK_LIMBS).flat_map(|k| b.load_shared(Vector::V4, from, layout.work() + 16 * k)).collect()
        };
        // The sums of one product, and how many blocks have sums of both.
        let (sums, both) = match part {
            Part::Low => {
                let sums: Vec<R32> = (0..4 * BLOCK_LIMBS).map(|_| b.copy(0)).collect();
                let inside = b.compare(Cmp::Lt, block, columns);
                b.if_(inside, |b| {
                    let loaded = load(b, lower);
                    assign(b, &sums, &loaded);
                });
                (sums, columns - blocks)
            }
            Part::Whole | Part::High | Part::Sum(_) | Part::Signed | Part::Cyclic => {
                let is_upper = b.compare(Cmp::Ge, block, blocks + columns);
                let from = b.select(upper, lower, is_upper);
                (load(b, from), columns)
            }
        };
        let has_both = b.compare(Cmp::Lt, number, both);
        b.if_(has_both, |b| {
            for (&sum, other) in sums.iter().zip(load(b, upper)) {
                b.increase(sum, other);
            }
        });
        sums
    }

    /// Where a block has its sums, after the work area.
    fn sums_of(&self, b: &mut Builder, block: R32) -> R32 {
        let mut first = self.shared;
        if self.layout.own_blocks() > 1 {
            let padding = b.shr(block, PADDED_BLOCKS.ilog2());
            first = b.mad_lo(padding, 16, first);
        }
        b.mad_lo(block, BLOCK_SUMS_BYTES, first)
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
        let place = self.exchanged(b, own_bytes);
        let present = layout.all_blocks().div_ceil(layout.own_blocks());
        let is_present = b.compare(Cmp::Lt, thread, present);
        for (words, i) in own.chunks(PIECE_LIMBS as usize).zip(0..) {
            let place = if i == 0 { place } else { b.xor(place, 16 * i) };
            let here = b.add(shared, place);
            b.guarded(is_present, true, |g| g.store_shared(words, here, layout.work()));
        }
        b.barrier();
        let number = if first == 0 { thread } else { b.add(thread, first) };
        let offset = b.mul_lo(number, 4 * width);
        let offset = self.exchanged(b, offset);
        let from = b.add(shared, offset);
        for start in (first..end).step_by(THREADS as usize) {
            let inside = b.compare(Cmp::Lt, thread, end - start);
            b.if_(inside, |b| {
                let words = b.load_shared(vector(width), from, layout.work() + 4 * width * (start - first));
                b.store_global(Space::Global, &words, target.to, 4 * width * start);
            });
        }
    }

    /// Where byte `offset` of the limbs is. The pieces of a chunk, 16 bytes each, change places in another way in each 128 bytes. So neither the
    /// threads that write the pieces of a chunk wait for a bank nor those that read one piece each.
    fn exchanged(&self, b: &mut Builder, offset: R32) -> R32 {
        let way = b.shr(offset, 3);
        let way = b.and(way, 16 * (self.layout.chunk() / PIECE_LIMBS - 1));
        b.xor(offset, way)
    }
}
