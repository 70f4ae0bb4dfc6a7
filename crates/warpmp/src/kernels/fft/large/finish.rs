//! The carries between the segments of low and short columns: a block a product.
//!
//! ```text
//! chain    a thread has the flags of some segments; ballots make masks of 32 of them. Then a thread has a mask, and ballots make masks of
//!          32 masks. Carries run from one of these to the next, then into each mask
//! finish   a warp a mask: the segments that a carry enters, some at a time
//! ```

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::ballots_of_flags;
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::Block;
use super::carry::look_ahead;
use super::split::Split;

/// Threads of the block, at most, unless there are more masks: several blocks a multiprocessor wait for memory together.
const MOST_THREADS: u32 = 512;

/// Words of segments that a lane loads together.
const WORDS_TOGETHER: u32 = 4;

/// Bytes of the two masks of 32 segments, or of 32 masks.
const MASKS_BYTES: u32 = 8;

impl Split {
    /// Threads of the block.
    pub(super) const fn finish_threads(self) -> u32 {
        let masks = self.masks_of_segments().next_multiple_of(32);
        let most = if masks > MOST_THREADS { masks } else { MOST_THREADS };
        let segments = self.segments().next_multiple_of(32);
        if segments < most { segments } else { most }
    }

    /// Bytes of its shared memory.
    pub(super) const fn finish_bytes(self) -> u32 {
        self.carries_into() + 4 * self.masks_of_segments()
    }

    /// Masks of 32 segments.
    const fn masks_of_segments(self) -> u32 {
        self.segments().div_ceil(32)
    }

    /// Masks of 32 masks.
    const fn masks_of_masks(self) -> u32 {
        self.masks_of_segments().div_ceil(32)
    }

    /// Where the masks of masks begin in shared memory.
    const fn upper_masks(self) -> u32 {
        MASKS_BYTES * self.masks_of_segments()
    }

    /// Where the carries into segments begin in shared memory, a bit a segment.
    const fn carries_into(self) -> u32 {
        self.upper_masks() + MASKS_BYTES * self.masks_of_masks()
    }

    /// Adds the carries into the segments of a product.
    pub(super) fn finish_columns(self, b: &mut Builder, block: &Block, spectra: R64, results: R64) {
        b.section("chain");
        let scratch = b.mad_wide(block.number, self.scratch_bytes(), spectra);
        let row = b.mad_wide(block.number, 4 * self.limbs[2], results);
        let warp = b.shr(block.thread, 5);
        self.masks_from_flags(b, block, warp, scratch);
        b.barrier();
        let leaves = self.carries_from_masks(b, block, warp);
        if self.has_top {
            let is_first = b.compare(Cmp::Eq, block.thread, 0);
            b.if_(is_first, |b| {
                let at = 4 * self.product_limbs();
                let top = b.load_global(Space::Global, Vector::V1, row, at)[0];
                let top = b.add(top, leaves);
                b.store_global(Space::Global, &[top], row, at);
            });
        }
        b.barrier();
        b.section("finish");
        let mask = b.copy(warp);
        // A product may be truncated.
        let segments = self.limbs[2].div_ceil(self.segment_words()).min(self.segments());
        let more = |b: &mut Builder| b.compare(Cmp::Lt, mask, segments.div_ceil(32));
        b.while_(more, |b| {
            let from = b.mad_lo(mask, 4, block.shared);
            let into = b.load_shared(Vector::V1, from, self.carries_into())[0];
            let first = b.mul_lo(mask, 32);
            self.finish_mask(b, block.lane, row, (first, into));
            b.increase(mask, self.finish_threads() / 32);
        });
    }

    /// Stores the masks of all segments: of those that generate a carry, and of those that pass one on.
    fn masks_from_flags(self, b: &mut Builder, block: &Block, warp: R32, scratch: R64) {
        let bottom = b.compare(Cmp::Eq, block.lane, 0);
        let from = b.mad_wide(block.thread, 4, scratch);
        let to = b.mad_lo(warp, MASKS_BYTES, block.shared);
        let firsts: Vec<u32> = (0..self.segments()).step_by(self.finish_threads() as usize).collect();
        // All loads wait for memory together.
        let flags: Vec<R32> = firsts
            .iter()
            .map(|&first| {
                let flag = b.copy(0);
                let inside = b.compare(Cmp::Lt, block.thread, self.segments() - first);
                b.guarded(inside, true, |g| {
                    g.load_into(Space::Global, Vector::V1, &[flag], from, self.flags() + 4 * first);
                });
                flag
            })
            .collect();
        for (flag, first) in flags.into_iter().zip(firsts) {
            let masks = ballots_of_flags(b, flag);
            let inside = b.compare(Cmp::Lt, block.thread, self.segments() - first);
            let stores = b.and_pred(inside, bottom);
            b.guarded(stores, true, |g| g.store_shared(&masks, to, MASKS_BYTES * first / 32));
        }
    }

    /// Stores the carries into the segments of each mask. Gives the carry that leaves the last segment.
    fn carries_from_masks(self, b: &mut Builder, block: &Block, warp: R32) -> R32 {
        let has_mask = b.compare(Cmp::Lt, block.thread, self.masks_of_segments());
        let own = b.select(block.thread, 0, has_mask);
        let own = b.mad_lo(own, MASKS_BYTES, block.shared);
        let masks = b.load_shared(Vector::V2, own, 0);
        // Threads without a mask pass carries on.
        let masks = [b.select(masks[0], 0, has_mask), b.select(masks[1], u32::MAX, has_mask)];
        let (_, leaves) = look_ahead(b, masks, None);
        let generates = b.compare(Cmp::Ne, leaves, 0);
        let passes = b.compare(Cmp::Eq, masks[1], u32::MAX);
        let upper = [generates, passes].map(|it| b.ballot(it));
        let has_upper = b.compare(Cmp::Lt, warp, self.masks_of_masks());
        let bottom = b.compare(Cmp::Eq, block.lane, 0);
        let stores = b.and_pred(bottom, has_upper);
        let to = b.mad_lo(warp, MASKS_BYTES, block.shared);
        b.guarded(stores, true, |g| g.store_shared(&upper, to, self.upper_masks()));
        b.barrier();
        let (mut enters, into) = (b.copy(0), b.copy(0));
        for number in 0..self.masks_of_masks() {
            let masks = b.load_shared(Vector::V2, block.shared, self.upper_masks() + MASKS_BYTES * number);
            let (carries, leaves) = look_ahead(b, [masks[0], masks[1]], Some(enters));
            let is_own = b.compare(Cmp::Eq, warp, number);
            let chosen = b.select(carries, into, is_own);
            b.set(into, chosen);
            enters = leaves;
        }
        let carry = b.bit(into, block.lane);
        let (carries, _) = look_ahead(b, masks, Some(carry));
        let to = b.mad_lo(block.thread, 4, block.shared);
        b.guarded(has_mask, true, |g| g.store_shared(&[carries], to, self.carries_into()));
        enters
    }

    /// Adds the carries into 32 segments, a bit each. `first`: the number of the first segment.
    fn finish_mask(self, b: &mut Builder, lane: R32, row: R64, (first, into): (R32, R32)) {
        let words = self.segment_words();
        // A lane above the segment has no word: the greatest number is not inside.
        let has_word = (words < 32).then(|| b.compare(Cmp::Lt, lane, words));
        b.while_(
            |b| b.compare(Cmp::Ne, into, 0),
            |b| {
                // Loads wait for memory together.
                let loaded: Vec<((R32, R64), Vec<R32>)> = (0..WORDS_TOGETHER / words.div_ceil(32))
                    .map(|i| {
                        let number = b.bfind(into);
                        let has_segment = (i > 0).then(|| b.compare(Cmp::Ne, into, 0));
                        let bit = b.shl(1, number);
                        let rest = b.xor(into, bit);
                        b.set(into, rest);
                        let segment = b.add(first, number);
                        let word = b.mad_lo(segment, words, lane);
                        let at = b.mad_wide(word, 4, row);
                        let inside = has_word.into_iter().chain(has_segment);
                        let word = inside.fold(word, |word, is_inside| b.select(word, u32::MAX, is_inside));
                        ((word, at), self.load_segment(b, word, at, words))
                    })
                    .collect();
                // `ptxas` does not see that the warp is together in the loop, and would write each ballot twice.
                b.warp_barrier();
                for (place, loaded) in loaded {
                    let carry = b.copy(1);
                    self.add_to_segment(b, lane, place, loaded, carry);
                }
            },
        );
    }
}
