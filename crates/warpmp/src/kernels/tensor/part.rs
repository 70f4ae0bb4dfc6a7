//! Parts of products by matrix products, in one kernel: `mul_hi`, `mul_add`, `signed_mul`, `mul_lo`. `tensor` and `tensor-warpgroup` share this.
//!
//! computes   of a·b the high half, all of it plus c, or all of it for two's complements; by `tensor-warpgroup` also the low half, which is `low` in `tensor`; by
//!            `tensor` also all of it modulo `B^n − 1`
//! requires   factors of equal length in whole pieces of four limbs; an addend in whole pieces, no longer than a factor
//! cost       that of the product; a low half leaves out the digits above; modulo `B^n − 1` columns modulo their number are the
//!            result, so no sums are copied and no digits are above; a row is read for each addend
//!
//! What is added joins the digits before their carries run. With the bit patterns A and B of `n` limbs and the signs s and t, the product of two's
//! complements is `A·B − (s·B + t·A)·B^n` modulo `B^(2n)`. There `−B` is the complement of B and one more.
//!
//! bound: a digit gets two words and a sign pair at most: below `2⁵⁶ + 2³³ + 2`, so its high word is below 2²⁵, and the bound of `result` holds.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};
use warpmp_launch::vector;

use super::layout::{BLOCK_LIMBS, COLUMNS, PIECE_LIMBS};
use crate::kernels::{OperandShape, OperationShape};
use crate::operation::{Operation, division, linear, linear_modular, modular, montgomery, product};

/// What a kernel keeps of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) enum Part {
    /// All of it.
    Whole,
    /// The low half.
    Low,
    /// The high half.
    High,
    /// All of it, plus an addend of this many limbs.
    Sum(u32),
    /// All of it, of two's complements.
    Signed,
    /// All of it modulo `B^n − 1`, where the longer factor has `n` limbs: `n` limbs, and a piece with what leaves them: 0 or 1.
    Cyclic,
}

/// A row that is added to the digits of a product.
#[derive(Clone, Copy)]
struct Addend {
    /// Where the row begins.
    row: R64,
    limbs: u32,
    /// The limb of the product at which it begins.
    at: u32,
    /// If there is a sign, 0 or 1 and the same for all threads of a product, the kernel adds the complement of the row if it is 1.
    sign: Option<R32>,
}

/// The pieces that threads have: piece `stride·thread + first` of a product.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Pieces {
    pub(in crate::kernels) thread: R32,
    /// Threads of a product.
    pub(in crate::kernels) threads: u32,
    pub(in crate::kernels) stride: u32,
    pub(in crate::kernels) first: u32,
    /// Limbs of a piece, at most [`PIECE_LIMBS`].
    pub(in crate::kernels) width: u32,
}

/// What is added to the digits of a product.
#[derive(Default)]
pub(in crate::kernels) struct Addends {
    rows: Vec<Addend>,
    /// A small number at this limb.
    small: Option<(R32, u32)>,
}

impl Part {
    /// What an operation keeps; none if this is no multiplication.
    pub(super) fn of(shape: OperationShape) -> Option<Self> {
        Some(match shape.operation {
            product!() => Self::Whole,
            Operation::MulLo => Self::Low,
            Operation::MulHi => Self::High,
            Operation::MulAdd => Self::Sum(shape.operands()[2].limbs()),
            Operation::SignedMul => Self::Signed,
            linear!() | linear_modular!() | division!() | modular!() | montgomery!() => return None,
        })
    }

    /// Limbs that are kept of a product of `all` limbs whose first factor has `half`.
    pub(super) const fn kept(self, half: u32, all: u32) -> Range<u32> {
        match self {
            Self::Whole | Self::Sum(_) | Self::Signed | Self::Cyclic => 0..all,
            Self::Low => 0..half,
            Self::High => half..all,
        }
    }
}

/// The longest factors of parts by `tensor`, other than low halves. With more, `ptxas` spills registers.
const MOST_LIMBS: u32 = 384;

/// Does `tensor` take this part, other than a low half? Two's complements to 2048 bits spilled registers in panels; in quads they were not tried.
pub(super) fn fits(shape: OperationShape) -> bool {
    let limbs = shape.operands()[0].limbs();
    shape.operation != Operation::MulLo
        && in_pieces(shape)
        && super::LIMBS.contains(&limbs)
        && limbs <= MOST_LIMBS
        && (shape.operation != Operation::SignedMul || limbs > BLOCK_LIMBS * COLUMNS)
}

/// Are the factors equally long, the addend no longer, and all of them in whole pieces?
pub(in crate::kernels) fn in_pieces(shape: OperationShape) -> bool {
    let is_whole = |it: &OperandShape| it.bits.is_multiple_of(32 * PIECE_LIMBS);
    let [a, b] = [0, 1].map(|i| shape.operands()[i].bits);
    a == b && shape.operands().iter().all(is_whole) && shape.operands().get(2).is_none_or(|c| c.bits <= a)
}

impl Addends {
    /// What a part adds to a product of factors of `limbs` limbs. `row` computes where the row of an operand begins.
    pub(super) fn of(b: &mut Builder, part: Part, limbs: u32, mut row: impl FnMut(&mut Builder, usize) -> R64) -> Self {
        match part {
            Part::Whole | Part::Low | Part::High | Part::Cyclic => Self::default(),
            Part::Sum(addend) => {
                Self { rows: vec![Addend { row: row(b, 2), limbs: addend, at: 0, sign: None }], small: None }
            }
            Part::Signed => {
                let rows = [0, 1].map(|i| row(b, i));
                let signs = rows.map(|row| {
                    let top = b.load_global(Space::Global, Vector::V1, row, 4 * (limbs - 1))[0];
                    b.shr(top, 31)
                });
                let added = [(rows[1], signs[0]), (rows[0], signs[1])];
                let added = added.map(|(row, sign)| Addend { row, limbs, at: limbs, sign: Some(sign) });
                Self { rows: added.to_vec(), small: Some((b.add(signs[0], signs[1]), limbs)) }
            }
        }
    }

    /// Adds to the digits of pieces, low words and high words in turn. Rows have whole pieces.
    pub(in crate::kernels) fn add<'d>(
        &self,
        b: &mut Builder,
        pieces: impl IntoIterator<Item = (Pieces, &'d mut [R32])>,
    ) {
        let mut all: Vec<(Pieces, &mut [R32])> = pieces.into_iter().collect();
        for addend in &self.rows {
            let mut add = |b: &mut Builder| {
                for (pieces, digits) in &mut all {
                    addend.add(b, *pieces, digits);
                }
            };
            match addend.sign {
                None => add(b),
                Some(sign) => {
                    let is_negative = b.compare(Cmp::Ne, sign, 0);
                    b.if_(is_negative, add);
                }
            }
        }
        let Some((small, at)) = self.small else { return };
        for (pieces, digits) in &mut all {
            let piece = at / pieces.width;
            if (pieces.first..=pieces.last()).contains(&piece) {
                let before = pieces.before(b);
                let here = b.compare(Cmp::Eq, before, piece - pieces.first);
                let small = b.select(small, 0, here);
                add(b, digits, small);
            }
        }
    }
}

impl Pieces {
    /// The last piece of the last thread.
    fn last(self) -> u32 {
        (self.threads - 1) * self.stride + self.first
    }

    /// A thread's piece, counted from `first`. The addresses of a thread's pieces differ by constants. `ptxas` computes what they have in common once.
    fn before(self, b: &mut Builder) -> R32 {
        b.mul_lo(self.thread, self.stride)
    }
}

impl Addend {
    /// Adds the row, or its complement, to the digits of a piece. With a sign this is in a branch, so the digits stay in their registers.
    fn add(&self, b: &mut Builder, pieces: Pieces, digits: &mut [R32]) {
        let Pieces { first: lowest, width, .. } = pieces;
        let highest = pieces.last();
        let [first, count] = [self.at, self.limbs].map(|limbs| limbs / width);
        if highest < first || lowest >= first + count {
            return;
        }
        let before = pieces.before(b);
        let row = if self.at == 0 { self.row } else { b.sub64(self.row, u64::from(4 * self.at)) };
        let from = b.mad_wide(before, 4 * width, row);
        let offset = 4 * width * lowest;
        // The word that adds nothing, for lanes whose piece is outside the row.
        let nothing = if self.sign.is_some() { u32::MAX } else { 0 };
        let words: Vec<R32> = (0..width).map(|_| b.copy(nothing)).collect();
        if first <= lowest && highest < first + count {
            b.load_into(Space::Global, vector(width), &words, from, offset);
        } else {
            // Before the first piece the number wraps around.
            let number = b.add(before, lowest.wrapping_sub(first));
            let inside = b.compare(Cmp::Lt, number, count);
            b.guarded(inside, true, |g| g.load_into(Space::Global, vector(width), &words, from, offset));
        }
        for (word, digit) in words.into_iter().zip(digits.chunks_mut(2)) {
            if self.sign.is_some() {
                let word = b.xor(word, u32::MAX);
                let mut chain = b.chain();
                chain.add_into(digit[0], digit[0], word);
                chain.end_add(digit[1], digit[1], 0);
            } else {
                add(b, digit, word);
            }
        }
    }
}

/// Adds a word to a digit.
pub(super) fn add(b: &mut Builder, digit: &mut [R32], word: R32) {
    let high = b.register();
    let mut chain = b.chain();
    let low = chain.add(digit[0], word);
    chain.end_add(high, digit[1], 0);
    (digit[0], digit[1]) = (low, high);
}
