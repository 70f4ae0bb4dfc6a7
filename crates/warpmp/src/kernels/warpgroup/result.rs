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

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{all_ones, carries_of_warps, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};
use warpmp_launch::{piece, vector};

use super::layout::{BLOCK_BYTES, BLOCK_SUMS_BYTES, BLOCKS, CARRIES, CHUNK, COLUMNS, SUMS_BYTES, WORK};
use super::multiply::Sums;
use super::{Place, THREADS};
use crate::kernels::transform::carry::carry_out;

impl Place {
    /// Writes the product whose sums these are, of this many limbs. The thread's first piece of the row is at `to`.
    pub(super) fn finish(&self, b: &mut Builder, limbs: u32, sums: &Sums, to: R64) {
        b.section("carry");
        // The operands have been read.
        b.barrier();
        self.put_sums(b, sums);
        b.barrier();
        let digits = self.digits(b);
        let own = self.resolve(b, &digits);
        b.section("store");
        self.store(b, &own, limbs, to);
    }

    /// Puts the sums of this thread into shared memory.
    fn put_sums(&self, b: &mut Builder, sums: &Sums) {
        let Self { group, member, shared, warp, .. } = *self;
        let half = b.shr(warp, 1);
        let upper = b.and(warp, 1);
        let to = b.mad_lo(half, SUMS_BYTES, shared);
        let to = b.mad_lo(upper, 32, to);
        let to = b.mad_lo(group, 4, to);
        let to = b.mad_lo(member, 2 * BLOCK_SUMS_BYTES, to);
        for (number, &both) in sums.both.iter().enumerate() {
            let (i, x, h) = (number as u32 / 4, number as u32 / 2 % 2, number as u32 % 2);
            let at = WORK + (8 * i + h) * BLOCK_SUMS_BYTES + 64 * x;
            let Some(&low) = sums.low.get(number) else {
                b.store_shared(&[both], to, at);
                continue;
            };
            b.store_shared(&[low], to, at);
            let high = b.sub(both, low);
            b.store_shared(&[high], to, at + COLUMNS * BLOCK_SUMS_BYTES);
        }
    }

    /// The digits of this thread's chunk: numbers of at most 64 bits, each at a limb.
    fn digits(&self, b: &mut Builder) -> Vec<(R32, R32)> {
        let Self { thread, shared, warp, .. } = *self;
        const { assert!(4 * CHUNK == BLOCK_BYTES, "a thread finishes a block") };
        // Where the chunk has its sums of the lower half of `a`. The last warp has those of the upper half only.
        let from = b.mad_lo(thread, BLOCK_SUMS_BYTES, shared);
        let upper = SUMS_BYTES - BLOCKS * BLOCK_SUMS_BYTES;
        let last = b.compare(Cmp::Eq, warp, 3);
        let base = b.select(upper, 0, last);
        let from = b.add(from, base);
        let sums: Vec<Vec<R32>> = (0..CHUNK).map(|k| b.load_shared(Vector::V4, from, WORK + 16 * k)).collect();
        let middle = b.sub(warp, 1);
        let middle = b.compare(Cmp::Lt, middle, 2);
        b.if_(middle, |b| {
            for (sums, k) in sums.iter().zip(0..) {
                let others = b.load_shared(Vector::V4, from, WORK + upper + 16 * k);
                for (&sum, other) in sums.iter().zip(others) {
                    b.increase(sum, other);
                }
            }
        });
        let [one, byte, two, three] = self.bytes;
        sums.iter()
            .map(|sums| {
                let sum = b.mul_wide(sums[0], one);
                let sum = b.mad_wide(sums[1], byte, sum);
                let sum = b.mad_wide(sums[2], two, sum);
                let sum = b.mad_wide(sums[3], three, sum);
                b.unpack(sum)
            })
            .collect()
    }

    /// The limbs of this thread's chunk.
    fn resolve(&self, b: &mut Builder, digits: &[(R32, R32)]) -> Vec<R32> {
        let Self { lane, shared, warp, .. } = *self;
        let slot = b.mad_lo(warp, 4, shared);
        let (_, last) = digits[digits.len() - 1];
        let top = b.compare(Cmp::Eq, lane, 31);
        b.guarded(top, true, |g| g.store_shared(&[last], slot, 4));
        let below = b.shuffle(Shuffle::Up, last, 1, 32);
        b.barrier();
        let bottom = b.compare(Cmp::Eq, lane, 0);
        b.guarded(bottom, true, |g| g.load_into(Space::Shared, Vector::V1, &[below], slot, 0));
        let highs: Vec<R32> = std::iter::once(below).chain(digits.iter().map(|digit| digit.1)).collect();
        let mut chain = b.chain();
        let limbs: Vec<R32> = digits.iter().zip(highs).map(|(digit, high)| chain.add(digit.0, high)).collect();
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

    /// Stores the row in the order of its addresses. `own` is this thread's chunk of its limbs.
    fn store(&self, b: &mut Builder, own: &[R32], limbs: u32, to: R64) {
        let Self { thread, shared, .. } = *self;
        let width = piece(limbs);
        let pieces = limbs / width;
        let own_bytes = b.mul_lo(thread, 4 * CHUNK);
        let first = exchanged(b, own_bytes);
        let second = b.xor(first, 16);
        for (offset, words) in [first, second].into_iter().zip(own.chunks(4)) {
            let here = b.add(shared, offset);
            b.store_shared(words, here, WORK);
        }
        b.barrier();
        let offset = b.mul_lo(thread, 4 * width);
        let offset = exchanged(b, offset);
        let from = b.add(shared, offset);
        for start in (0..pieces).step_by(THREADS as usize) {
            let inside = b.compare(Cmp::Lt, thread, pieces - start);
            b.if_(inside, |b| {
                let words = b.load_shared(vector(width), from, WORK + 4 * width * start);
                b.store_global(Space::Global, &words, to, 4 * width * start);
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
