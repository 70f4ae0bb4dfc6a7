//! From sums of byte columns to limbs, and to global memory: the same instructions for all operands.
//!
//! Four sums are a *digit*: a number of at most 64 bits that stands at a limb. The digits of the products of all quarters go to shared memory. Each thread
//! fetches the digits of its chunk of limbs and adds them. A limb is the low word of
//! its digit plus the high word of the digit before. A chunk carries at most 1. The carries run through the warps by ballots,
//! and over the four warps by another look-ahead. The *rest* are limbs behind the chunks of all threads, few enough that a thread has one: four more warps of
//! numbers to the look-ahead.
//!
//! bound: a sum is below 2³¹, so a digit is below `2³¹·(1 + 2⁸ + 2¹⁶ + 2²⁴) < 2⁵⁶`, and its high word `h` below 2²⁴. A chunk of `n`
//! limbs adds two numbers: any below `2^(32n)`, and one whose words are high words, below `2^(32n − 7)`. If their sum overflows,
//! what is left is below the second: not all ones. So no chunk and no warp both generates a carry and passes one on.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{all_ones, carries_of_warps, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};
use warpmp_launch::{piece, vector};

use super::layout::{BLOCK_DIGITS_BYTES, CARRIES, COLUMNS_STEP, EXCHANGED_BLOCKS};
use super::multiply::Sums;
use super::{Place, QUARTERS, THREADS};
use crate::kernels::tensor::part::{Addends, Part, Pieces};
use crate::kernels::tensor::{BLOCK_LIMBS, PIECE_LIMBS, difference, digit};
use crate::kernels::transform::carry::carry_out;

/// Lanes that have the eight columns of a share: those with the same `g`.
const QUAD: u32 = 4;

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

/// The limbs behind the chunks of all threads: one a thread.
struct Rest {
    /// Has the warp some?
    is_here: Pred,
    /// Has the thread one?
    is_inside: Pred,
    digit: [R32; 2],
    limb: R32,
    carries: Carries,
}

/// What carries do to numbers of a warp, one a lane.
#[derive(Clone, Copy)]
struct Carries {
    /// The sum whose bits change where carries run.
    sum: R32,
    /// The lanes that pass a carry on.
    propagate: R32,
    /// 1 if a carry leaves the warp, 2 if the warp passes one on.
    leaving: R32,
}

impl Carries {
    /// Of numbers that carry, and of those that pass a carry on.
    fn of(b: &mut Builder, generates: Pred, propagates: Pred) -> Self {
        let (generate, propagate) = (b.ballot(generates), b.ballot(propagates));
        let doubled = b.add(generate, generate);
        let (sum, leaves) = carry_out(b, doubled, generate, propagate);
        let leaves = b.select(1, 0, leaves);
        let passes = b.compare(Cmp::Eq, propagate, u32::MAX);
        let passes = b.select(2, 0, passes);
        Self { sum, propagate, leaving: b.or(leaves, passes) }
    }

    /// The carry into the number of this lane. `carry`: the one into the warp.
    fn into_lane(self, b: &mut Builder, lane: R32, carry: R32) -> R32 {
        let sum = b.add(self.sum, carry);
        let into = b.xor(sum, self.propagate);
        b.bit(into, lane)
    }
}

/// Where a warp leaves the high word of its last digit for the next warp. After the last warp of the chunks comes the first warp of the rest.
struct Slots {
    /// The address of the warp's slot.
    own: R32,
    /// Is this the first lane, or the last one?
    bottom: Pred,
    top: Pred,
}

impl Slots {
    fn new(b: &mut Builder, place: &Place) -> Self {
        let own = b.mad_lo(place.warp, 4, place.shared);
        let [bottom, top] = [0, 31].map(|number| b.compare(Cmp::Eq, place.lane, number));
        Self { own, bottom, top }
    }

    /// Leaves the high word of the last lane's digit for the next warp. `before` is 0 for the chunks, and for the rest the number of the chunks' warps.
    fn tell(&self, b: &mut Builder, high: R32, before: u32) {
        b.guarded(self.top, true, |g| g.store_shared(&[high], self.own, 4 * before + 4));
    }

    /// The high word of the digit below the lane's own, whose high word is `high`. `before` as above.
    fn below(&self, b: &mut Builder, high: R32, before: u32) -> R32 {
        let below = b.shuffle(Shuffle::Up, high, 1, 32);
        b.guarded(self.bottom, true, |g| g.load_into(Space::Shared, Vector::V1, &[below], self.own, 4 * before));
        below
    }
}

impl Rest {
    /// Adds to each digit's low word the high word of the digit below.
    fn add(&self, b: &mut Builder, slots: &Slots) {
        let [low, high] = self.digit;
        let below = slots.below(b, high, QUARTERS);
        let limb = b.add(low, below);
        let generates = b.compare(Cmp::Lt, limb, low);
        let propagates = b.compare(Cmp::Eq, limb, u32::MAX);
        let Carries { sum, propagate, leaving } = Carries::of(b, generates, propagates);
        let own = self.carries;
        for (to, from) in [(self.limb, limb), (own.sum, sum), (own.propagate, propagate), (own.leaving, leaving)] {
            b.set(to, from);
        }
    }
}

impl Place {
    /// Writes the product whose sums these are.
    pub(super) fn finish(&self, b: &mut Builder, sums: &Sums, target: &Target<'_>) {
        b.section("carry");
        // The operands have been read.
        b.barrier();
        self.put_digits(b, sums, target.part);
        b.barrier();
        let mut digits = self.digits(b, target.part);
        let stride = self.layout.chunk() / PIECE_LIMBS;
        let pieces = |first: u32| Pieces { thread: self.thread, threads: THREADS, stride, first, width: PIECE_LIMBS };
        target.addends.add(b, (0..).map(pieces).zip(digits.chunks_mut(2 * PIECE_LIMBS as usize)));
        let rest = (self.layout.rest_blocks() > 0).then(|| self.rest(b, target.addends));
        let own = self.resolve(b, &digits, rest.as_ref());
        b.section("store");
        self.store(b, &own, rest.as_ref(), target);
    }

    /// The addresses where this thread puts the digits of column `2t` and others, for pieces in order and for exchanged ones.
    pub(super) fn digit_places(&self, b: &mut Builder) -> [R32; 2] {
        let Self { layout, group, member, shared, warp, .. } = *self;
        let to = b.mad_lo(warp, layout.digits_bytes(), shared);
        let to = b.mad_lo(member, 2 * BLOCK_DIGITS_BYTES, to);
        let exchanged = b.xor(group, 2);
        [group, exchanged].map(|limb| b.mad_lo(limb, 8, to))
    }

    /// Puts the digits of this thread into shared memory, but for those that are there. A low half of the result needs none beyond the columns of `b`.
    fn put_digits(&self, b: &mut Builder, sums: &Sums, part: Part) {
        let Self { layout, member, bytes, .. } = *self;
        let places = self.digit_places(b);
        let greatest = u64::from(4 * layout.quarter()) * 255 * 255;
        for (i, h) in (0..layout.columns / COLUMNS_STEP).flat_map(|i| [(i, 0), (i, 1)]) {
            let first = COLUMNS_STEP * i;
            let [place, high_place] = [first, layout.columns + first].map(|it| layout.digit_place(places, it, h));
            // The members whose column has a high block.
            let count = layout.blocks.saturating_sub(first + h).div_ceil(2);
            if count == 0 {
                let digit = digit(b, sums.both(i, h), bytes, greatest);
                b.store_shared(&digit, place.0, place.1);
                continue;
            }
            let has_high = b.compare(Cmp::Lt, member, count);
            let is_partial = count < QUAD;
            let kept = sums.low(i, h).map(|low| digit(b, low, bytes, greatest));
            if let Some(low) = kept {
                store(b, low, place, is_partial.then_some((has_high, true)));
            }
            if part == Part::Low && !is_partial {
                continue;
            }
            let both = digit(b, sums.both(i, h), bytes, greatest);
            if is_partial {
                store(b, both, place, Some((has_high, false)));
            }
            if part != Part::Low {
                let low = kept.unwrap_or_else(|| {
                    let low = b.load_shared(Vector::V2, place.0, place.1);
                    [low[0], low[1]]
                });
                let high = difference(b, both, low);
                store(b, high, high_place, is_partial.then_some((has_high, true)));
            }
        }
    }

    /// The digits of this thread's chunk, low words and high words in turn: numbers of at most 64 bits, each at a limb. Threads behind the
    /// product have zeros.
    fn digits(&self, b: &mut Builder, part: Part) -> Vec<R32> {
        let own = self.layout.own_blocks();
        let mut digits = Vec::new();
        for i in 0..own {
            let block = if own == 1 { self.thread } else { b.mad_lo(self.thread, own, i) };
            digits.extend(self.digits_of(b, block, part));
        }
        digits
    }

    /// The digits of a block: the sums of those of the products of quarters of `a`. Block `j` of quarter `k` stands at block `j + k·blocks`.
    fn digits_of(&self, b: &mut Builder, block: R32, part: Part) -> Vec<R32> {
        let Self { layout, shared, .. } = *self;
        let digits: Vec<R32> = (0..2 * BLOCK_LIMBS).map(|_| b.copy(0)).collect();
        for quarter in 0..QUARTERS {
            let number = if quarter == 0 { block } else { b.sub(block, quarter * layout.blocks) };
            let end = match part {
                Part::Low => layout.columns.saturating_sub(quarter * layout.blocks),
                Part::Whole | Part::High | Part::Sum(_) | Part::Signed | Part::Cyclic => layout.quarter_blocks(),
            };
            let inside = b.compare(Cmp::Lt, number, end);
            b.if_(inside, |b| {
                let mut from = [b.mad_lo(number, BLOCK_DIGITS_BYTES, shared); 2];
                if layout.own_blocks() > 1 {
                    let exchanged = b.shr(number, EXCHANGED_BLOCKS.ilog2());
                    let exchanged = b.and(exchanged, 1);
                    let distance = b.shl(exchanged, 4);
                    from = [b.add(from[0], distance), b.sub(from[1], distance)];
                }
                let at = layout.digits() + quarter * layout.digits_bytes();
                for (sums, k) in digits.chunks(4).zip(0..) {
                    let (from, at) = (from[k as usize % 2], at + 16 * k);
                    if quarter == 0 {
                        b.load_into(Space::Shared, Vector::V4, sums, from, at);
                        continue;
                    }
                    let words = b.load_shared(Vector::V4, from, at);
                    for (sum, word) in sums.chunks(2).zip(words.chunks(2)) {
                        let mut chain = b.chain();
                        chain.add_into(sum[0], sum[0], word[0]);
                        chain.end_add(sum[1], sum[1], word[1]);
                    }
                }
            });
        }
        digits
    }

    /// The digits of the limbs behind the chunks of all threads.
    fn rest(&self, b: &mut Builder, addends: &Addends) -> Rest {
        let Self { layout, thread, shared, warp, .. } = *self;
        let limbs = BLOCK_LIMBS * layout.rest_blocks();
        let zero = b.copy(0);
        let carries = Carries { sum: b.register(), propagate: b.register(), leaving: zero };
        let mut rest = Rest {
            is_here: b.compare(Cmp::Lt, warp, limbs.div_ceil(32)),
            is_inside: b.compare(Cmp::Lt, thread, limbs),
            digit: [0, 0].map(|zero| b.copy(zero)),
            limb: b.register(),
            carries,
        };
        b.if_(rest.is_here, |b| {
            let block = b.shr(thread, BLOCK_LIMBS.ilog2());
            let limb = b.and(thread, BLOCK_LIMBS - 1);
            let from = b.mad_lo(block, BLOCK_DIGITS_BYTES, shared);
            let from = b.mad_lo(limb, 8, from);
            let quarter = QUARTERS - 1;
            let at = layout.digits() + quarter * layout.digits_bytes();
            let at = at + BLOCK_DIGITS_BYTES * (THREADS - quarter * layout.blocks);
            b.guarded(rest.is_inside, true, |g| g.load_into(Space::Shared, Vector::V2, &rest.digit, from, at));
            let pieces = Pieces { thread, threads: limbs, stride: 1, first: layout.chunks(), width: 1 };
            addends.add(b, [(pieces, &mut rest.digit[..])]);
        });
        rest
    }

    /// The limbs of this thread's chunk, and its limb of the rest.
    fn resolve(&self, b: &mut Builder, digits: &[R32], rest: Option<&Rest>) -> Vec<R32> {
        let Self { lane, shared, warp, .. } = *self;
        let slots = Slots::new(b, self);
        let last = digits[digits.len() - 1];
        slots.tell(b, last, 0);
        if let Some(rest) = rest {
            slots.tell(b, rest.digit[1], QUARTERS);
        }
        b.barrier();
        let below = slots.below(b, last, 0);
        let highs: Vec<R32> = std::iter::once(below).chain(digits.chunks(2).map(|digit| digit[1])).collect();
        let mut chain = b.chain();
        let limbs: Vec<R32> = digits.chunks(2).zip(highs).map(|(digit, high)| chain.add(digit[0], high)).collect();
        let carry = chain.carry();
        let generates = b.compare(Cmp::Ne, carry, 0);
        let propagates = all_ones(b, &limbs);
        let carries = Carries::of(b, generates, propagates);
        let mut leaving = carries.leaving;
        if let Some(rest) = rest {
            b.if_(rest.is_here, |b| rest.add(b, &slots));
            leaving = b.mad_lo(rest.carries.leaving, 4, leaving);
        }
        b.guarded(slots.bottom, true, |g| g.store_shared(&[leaving], slots.own, CARRIES));
        b.barrier();
        let number = b.and(lane, QUARTERS - 1);
        let from = b.mad_lo(number, 4, shared);
        let mut word = b.load_shared(Vector::V1, from, CARRIES)[0];
        if rest.is_some() {
            // Lanes 4 to 7 have the warps of the rest.
            let bits = b.shr(lane, 1);
            let bits = b.and(bits, 2);
            word = b.shr(word, bits);
        }
        let (_, into_warps) = carries_of_warps(b, word);
        let carry = b.bit(into_warps, warp);
        let into = carries.into_lane(b, lane, carry);
        let limbs = wrapping_add_small(b, &limbs, into);
        if let Some(rest) = rest {
            b.if_(rest.is_here, |b| {
                let number = b.add(warp, QUARTERS);
                let carry = b.bit(into_warps, number);
                let into = rest.carries.into_lane(b, lane, carry);
                b.increase(rest.limb, into);
            });
        }
        limbs
    }

    /// Stores the limbs that are kept, in the order of their addresses. `own` is this thread's chunk of all limbs.
    fn store(&self, b: &mut Builder, own: &[R32], rest: Option<&Rest>, target: &Target<'_>) {
        let Self { layout, thread, shared, .. } = *self;
        let width = piece(target.all);
        let [first, end] = [target.kept.start, target.kept.end].map(|limbs| limbs / width);
        let own_bytes = b.mul_lo(thread, 4 * layout.chunk());
        let place = self.exchanged(b, own_bytes);
        let present = layout.all_blocks.div_ceil(layout.own_blocks()).min(THREADS);
        let is_present = b.compare(Cmp::Lt, thread, present);
        for (words, i) in own.chunks(PIECE_LIMBS as usize).zip(0..) {
            let place = if i == 0 { place } else { b.xor(place, 16 * i) };
            let here = b.add(shared, place);
            b.guarded(is_present, true, |g| g.store_shared(words, here, layout.work()));
        }
        if let Some(rest) = rest {
            b.if_(rest.is_here, |b| {
                let number = b.add(thread, layout.chunks());
                let offset = b.mul_lo(number, 4);
                let place = self.exchanged(b, offset);
                let here = b.add(shared, place);
                b.guarded(rest.is_inside, true, |g| g.store_shared(&[rest.limb], here, layout.work()));
            });
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

/// Stores a digit at a place, in all threads or where a predicate has this value.
fn store(b: &mut Builder, digit: [R32; 2], (to, at): (R32, u32), guard: Option<(Pred, bool)>) {
    match guard {
        None => b.store_shared(&digit, to, at),
        Some((guard, value)) => b.guarded(guard, value, |g| g.store_shared(&digit, to, at)),
    }
}
