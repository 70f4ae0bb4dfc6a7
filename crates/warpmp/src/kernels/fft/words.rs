//! Digits of any number of bits in the words of a factor in global memory.
//!
//! A digit of a thread is cut out of two neighbouring words: shifted to the top of a word, with the digits below it in the other bits. So its highest bit is where
//! its sign is, and the highest bit of the digit below is at hand: that is what a balanced digit needs.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

/// Where the digit ends whose number is in a register.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// The number of the word that has the last bit of the digit.
    pub(super) word: R32,
    /// By how many bits two words are shifted, until the digit is at the top of the higher one.
    pub(super) shift: R32,
}

impl End {
    /// That of digit `index`, of so many bits.
    pub(super) fn of(b: &mut Builder, index: R32, bits: u32) -> Self {
        let end = b.mad_lo(index, bits, bits);
        let last = b.sub(end, 1);
        let word = b.shr(last, 5);
        let minus = b.sub(0, end);
        Self { word, shift: b.and(minus, 31) }
    }
}

/// The digits of a factor that a thread reads: the first one, and those that are constants further up.
pub(super) struct DigitWords {
    bits: u32,
    /// Limbs of the factor.
    limbs: u32,
    /// Address of the word before the word that has the last bit of the first digit.
    from: R64,
    /// Where the first digit ends.
    end: End,
    /// The first digits of the threads are this number of neighbours, the first ones of the factor.
    span: u32,
    /// The words above the factor, if they are not zero.
    above: Option<R32>,
}

impl DigitWords {
    /// The digits of `bits` bits of the factor at `row`, for threads whose first digits are a `span`.
    pub(super) fn new(b: &mut Builder, bits: u32, (row, limbs): (R64, u32), (end, span): (End, u32)) -> Self {
        let from = b.mad_wide(end.word, 4, row);
        let from = b.sub64(from, 4);
        Self { bits, limbs, from, end, span, above: None }
    }

    /// The same of a two's complement that has a word for each word of the `span`: words above it are its sign.
    pub(super) fn of_complement(b: &mut Builder, bits: u32, (row, limbs): (R64, u32), (end, span): (End, u32)) -> Self {
        debug_assert!(span * bits <= 32 * limbs);
        let top = b.load_global(Space::GlobalConst, Vector::V1, row, 4 * (limbs - 1))[0];
        let above = b.shr_signed(top, 31);
        Self { above: Some(above), ..Self::new(b, bits, (row, limbs), (end, span)) }
    }

    /// The word of the digit whose number is `constant` more. The constant is a multiple of 32.
    pub(super) fn word(&self, b: &mut Builder, constant: u32) -> R32 {
        let words = |digits: u32| (u64::from(digits) * u64::from(self.bits) / 32) as u32;
        let (before, span) = (words(constant), words(self.span));
        let high = self.load(b, 4 * before + 4, before + span <= self.limbs, self.limbs.saturating_sub(before));
        let low = if before == 0 {
            self.load_first(b, span)
        } else {
            let limit = (self.limbs + 1).saturating_sub(before);
            self.load(b, 4 * before, before + span <= self.limbs + 1, limit)
        };
        b.funnel_left(low, high, self.end.shift)
    }

    /// The word at this offset, or the one above the factor. `always`: every thread has one, else those whose word is below `limit`.
    fn load(&self, b: &mut Builder, at: u32, always: bool, limit: u32) -> R32 {
        if always {
            return b.load_global(Space::GlobalConst, Vector::V1, self.from, at)[0];
        }
        let word = match self.above {
            Some(above) => b.copy(above),
            None => b.copy(0),
        };
        if limit > 0 {
            let inside = b.compare(Cmp::Lt, self.end.word, limit);
            b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], self.from, at));
        }
        word
    }

    /// The word before the first one that a thread reads: there is none before the factor.
    fn load_first(&self, b: &mut Builder, span: u32) -> R32 {
        let word = b.copy(0);
        let mut inside = b.compare(Cmp::Ne, self.end.word, 0);
        if span > self.limbs {
            let below = b.compare(Cmp::Le, self.end.word, self.limbs);
            inside = b.and_pred(inside, below);
        }
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], self.from, 0));
        word
    }
}
