//! The balanced digits of a factor: of a thread from global memory, or of a block from shared memory.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Vector};

use super::super::digits::OffsetDigit;
use super::super::words::{DigitWords, End};
use super::split::Split;

/// The digits of a factor that a thread reads: the one with its own number, and those that are constants further up.
pub(super) struct Digits {
    split: Split,
    words: DigitWords,
    /// The threads have this number of neighbouring digits.
    span: u32,
    /// Has the thread the last one of them, and does the factor fill all digits?
    at_top: Option<Pred>,
}

/// The digits of a block that has neighbouring columns: of each row the words of its digits, in shared memory.
pub(super) struct Staged {
    split: Split,
    /// Rows of digits.
    rows: u32,
    /// Address of the word before the word that has the last bit of the thread's digit in the first row.
    from: R32,
    /// By how many bits two words are shifted, until the digit is at the top of the higher one.
    shift: R32,
    /// Has the thread the last column, and does the factor fill all digits?
    is_last: Option<Pred>,
}

/// The digits of a thread's column in some rows: one of the first `span` rows, and those that are multiples of `span` further up.
pub(super) struct Rows<'s> {
    staged: &'s Staged,
    /// As that of the staged digits, in the first of these rows.
    from: R32,
    span: u32,
    /// Has the thread the last one of the `span` rows in the last column, and does the factor fill all digits?
    at_top: Option<Pred>,
}

/// Where the digits of a block are.
pub(super) struct Segments {
    /// The address of the factor.
    pub(super) row: R64,
    /// Its limbs.
    pub(super) limbs: u32,
    /// The number of the block's group of columns.
    pub(super) group: R32,
    /// The thread's column.
    pub(super) column: R32,
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
        let end = End::of(b, index, bits);
        let words = DigitWords::new(b, bits, (row, limbs), (end, span));
        let fills = u64::from(split.digits()) * u64::from(bits) <= 32 * u64::from(limbs);
        let at_top = fills.then(|| b.compare(Cmp::Eq, index, span - 1));
        Self { split, words, span, at_top }
    }

    /// The word of the digit whose number is `constant` more. The constant is a multiple of 32.
    pub(super) fn word(&self, b: &mut Builder, constant: u32) -> Word {
        let top = self.words.word(b, constant);
        Word { top, unsigned: self.at_top.filter(|_| constant + self.span == self.split.digits()) }
    }

    /// The balanced digit of a word as a double.
    pub(super) fn digit(&self, b: &mut Builder, Word { top, unsigned }: Word) -> F64 {
        OffsetDigit::balanced(b, top, unsigned, self.split.digit_bits).digit(b)
    }
}

impl Split {
    /// Words of memory from a row of digits to the next.
    const fn row_words(self) -> u32 {
        self.width * self.digit_bits / 32
    }

    /// Words that have a block's digits of a row, with the word below.
    const fn staged_words(self) -> u32 {
        let bits = self.down_columns() * self.digit_bits;
        bits.div_ceil(32) + if bits.is_multiple_of(32) { 1 } else { 2 }
    }

    /// Bytes of shared memory for the digits of a block, of a factor of these limbs.
    pub(super) const fn staged_bytes(self, limbs: u32) -> u32 {
        (4 * self.staged_words() * self.digit_rows(limbs)).next_multiple_of(16)
    }
}

impl Staged {
    /// Copies the digits of a block to the address `to` in shared memory. A barrier of the block ends it.
    pub(super) fn new(b: &mut Builder, split: Split, thread: R32, segments: &Segments, to: R32) -> Self {
        let &Segments { group, column, .. } = segments;
        let bits = split.digit_bits;
        let group_bits = b.mul_lo(group, split.down_columns() * bits);
        let start = b.shr(group_bits, 5);
        split.stage(b, thread, segments, start, to);
        let End { word, shift } = End::of(b, column, bits);
        let word = b.sub(word, start);
        let from = b.mad_lo(word, 4, to);
        let rows = split.digit_rows(segments.limbs);
        let fills = u64::from(rows * split.width) * u64::from(bits) <= 32 * u64::from(segments.limbs);
        let is_last = fills.then(|| b.compare(Cmp::Eq, column, split.width - 1));
        b.copy_wait(0);
        b.barrier();
        Self { split, rows, from, shift, is_last }
    }

    /// Parts with real and with imaginary parts of coefficients.
    pub(super) const fn parts(&self) -> u32 {
        self.rows / self.split.height
    }

    /// The digits in row `top`, one of the first `span` rows, and in rows above.
    pub(super) fn rows(&self, b: &mut Builder, top: R32, span: u32) -> Rows<'_> {
        let from = b.mad_lo(top, 4 * self.split.staged_words(), self.from);
        let at_top = self.is_last.map(|is_last| {
            let last = b.compare(Cmp::Eq, top, span - 1);
            b.and_pred(is_last, last)
        });
        Rows { staged: self, from, span, at_top }
    }
}

impl Rows<'_> {
    /// The word of the thread's digit that is `rows` rows further up.
    pub(super) fn word(&self, b: &mut Builder, rows: u32) -> Word {
        let split = self.staged.split;
        let at = 4 * split.staged_words() * rows;
        let [low, high] = [at, at + 4].map(|at| b.load_shared(Vector::V1, self.from, at)[0]);
        let top = b.funnel_left(low, high, self.staged.shift);
        let is_last = rows + self.span == self.staged.rows;
        Word { top, unsigned: self.at_top.filter(|_| is_last) }
    }

    /// The balanced digit of a word as a double.
    pub(super) fn digit(&self, b: &mut Builder, Word { top, unsigned }: Word) -> F64 {
        OffsetDigit::balanced(b, top, unsigned, self.staged.split.digit_bits).digit(b)
    }
}

impl Split {
    /// Starts to copy the words of a block's digits: some neighbouring threads have a row. `start`: the first word of the group in a row.
    fn stage(self, b: &mut Builder, thread: R32, segments: &Segments, start: R32, to: R32) {
        let (words, rows) = (self.staged_words(), self.digit_rows(segments.limbs));
        let members = if words < 32 { words.next_power_of_two() } else { 32 };
        let together = self.down_threads() / members;
        debug_assert!(rows.is_multiple_of(together), "whole passes");
        let member = b.and(thread, members - 1);
        let row = b.shr(thread, members.ilog2());
        let above = b.mad_lo(row, self.row_words(), start);
        let above = b.add(above, member);
        let from = b.mad_wide(above, 4, segments.row);
        let from = b.sub64(from, 4);
        // There is no word below the factor: the greatest number is not inside.
        let word = b.sub(above, 1);
        let place = b.mad_lo(row, words, member);
        let to = b.mad_lo(place, 4, to);
        for first in (0..rows).step_by(together as usize) {
            for part in (0..words).step_by(members as usize) {
                let before = first * self.row_words() + part;
                let is_whole = before > 0 && before - part + together * self.row_words() <= segments.limbs;
                let inside = (!is_whole).then(|| {
                    if before == 0 {
                        b.compare(Cmp::Lt, word, segments.limbs)
                    } else {
                        b.compare(Cmp::Lt, above, (segments.limbs + 1).saturating_sub(before))
                    }
                });
                let rest = words - part;
                let has_word = (rest < members).then(|| b.compare(Cmp::Lt, member, rest));
                let offset = 4 * (first * words + part);
                let copy = |b: &mut Builder| {
                    let Some(inside) = inside else {
                        b.copy_async(4, to, offset, from, 4 * before);
                        return;
                    };
                    let zero = b.copy(0);
                    b.guarded(inside, true, |g| g.copy_async(4, to, offset, from, 4 * before));
                    b.guarded(inside, false, |g| g.store_shared(&[zero], to, offset));
                };
                match has_word {
                    Some(has_word) => b.if_(has_word, copy),
                    None => copy(b),
                }
            }
        }
        b.copy_commit();
    }
}
