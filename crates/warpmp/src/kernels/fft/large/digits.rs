//! The balanced digits of a factor.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::super::digits::OffsetDigit;
use super::split::Split;

/// 2⁵² + 2³¹ is a double whose low word is a signed word plus 2³¹.
const OFFSET_HIGH: u32 = 0x4330_0000;
const OFFSET: f64 = 4_503_601_774_854_144.0;

/// The digits of a factor that a thread reads: the one with its own number, and those that are constants further up.
pub(super) struct Digits {
    split: Split,
    /// Limbs of the factor.
    limbs: u32,
    /// Address of the word before the word that has the last bit of the first digit.
    from: R64,
    /// The number of that word.
    word: R32,
    /// By how many bits two words are shifted, until the digit is at the top of the higher one.
    shift: R32,
    /// The threads have this number of neighbouring digits.
    span: u32,
    /// Has the thread the last one of them, and does the factor fill all digits?
    at_top: Option<Pred>,
}

/// A word with a digit in its highest bits and the digits below it in the others.
#[derive(Clone, Copy)]
pub(super) struct Word {
    top: R32,
    /// The threads whose digit stays unsigned.
    unsigned: Option<Pred>,
}

impl Digits {
    /// The digits of the factor at `row`, from the thread's number on: one of a `span`.
    pub(super) fn new(b: &mut Builder, split: Split, limbs: u32, row: R64, (index, span): (R32, u32)) -> Self {
        let bits = split.digit_bits;
        let end = b.mad_lo(index, bits, bits);
        let last = b.sub(end, 1);
        let word = b.shr(last, 5);
        let minus = b.sub(0, end);
        let shift = b.and(minus, 31);
        let from = b.mad_wide(word, 4, row);
        let from = b.sub64(from, 4);
        let fills = u64::from(split.digits()) * u64::from(bits) <= 32 * u64::from(limbs);
        let at_top = fills.then(|| b.compare(Cmp::Eq, index, span - 1));
        Self { split, limbs, from, word, shift, span, at_top }
    }

    /// The word of the digit whose number is `constant` more. The constant is a multiple of 32.
    pub(super) fn word(&self, b: &mut Builder, constant: u32) -> Word {
        let words = |digits: u32| u64::from(digits) * u64::from(self.split.digit_bits) / 32;
        let (before, span) = (words(constant) as u32, words(self.span) as u32);
        let high = self.load(b, 4 * before + 4, before + span <= self.limbs, self.limbs.saturating_sub(before));
        let low = if before == 0 {
            self.load_first(b, span)
        } else {
            let limit = (self.limbs + 1).saturating_sub(before);
            self.load(b, 4 * before, before + span <= self.limbs + 1, limit)
        };
        let top = b.funnel_left(low, high, self.shift);
        Word { top, unsigned: self.at_top.filter(|_| constant + self.span == self.split.digits()) }
    }

    /// The balanced digit of a word as a double.
    pub(super) fn digit(&self, b: &mut Builder, Word { top, unsigned }: Word) -> F64 {
        let bits = self.split.digit_bits;
        let mut twice = b.shr_signed(top, 31 - bits);
        if let Some(at_top) = unsigned {
            let unsigned = b.shr(top, 31 - bits);
            twice = b.select(unsigned, twice, at_top);
        }
        let twice = b.add(twice, 1);
        let digit = b.shr_signed(twice, 1);
        let offset = b.xor(digit, 1 << 31);
        let bits = b.pack(offset, OFFSET_HIGH);
        let sum = b.f64_of_bits(bits);
        b.sub_f64(sum, OFFSET)
    }

    /// As [`digit`](Self::digit), with fewer instructions.
    pub(super) fn quick_digit(&self, b: &mut Builder, Word { top, unsigned }: Word) -> F64 {
        OffsetDigit::balanced(b, top, unsigned, self.split.digit_bits).digit(b)
    }

    /// The word at this offset, or zero: `always`: every thread has one, else those whose word is below `limit`.
    fn load(&self, b: &mut Builder, at: u32, always: bool, limit: u32) -> R32 {
        if always {
            return b.load_global(Space::GlobalConst, Vector::V1, self.from, at)[0];
        }
        let word = b.copy(0);
        if limit > 0 {
            let inside = b.compare(Cmp::Lt, self.word, limit);
            b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], self.from, at));
        }
        word
    }

    /// The word before the first one that a thread reads: there is none before the factor.
    fn load_first(&self, b: &mut Builder, span: u32) -> R32 {
        let word = b.copy(0);
        let mut inside = b.compare(Cmp::Ne, self.word, 0);
        if span > self.limbs {
            let below = b.compare(Cmp::Le, self.word, self.limbs);
            inside = b.and_pred(inside, below);
        }
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], self.from, 0));
        word
    }
}
