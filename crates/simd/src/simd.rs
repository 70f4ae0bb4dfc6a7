//! The instructions that all algorithms are written in.

use std::fmt::Debug;

use crate::divsteps::{Matrix, Multiples, combine};
use crate::product::sliding_strip;

/// Lanes of the widest vector.
pub const MAX_LANES: usize = 8;

/// An instruction set: a value of the type proves that the processor has it.
///
/// A *digit* has [`DIGIT_BITS`](Self::DIGIT_BITS) bits and stands in a word of 64 bits. *Reduced* words are digits. A
/// column is a word that collects products of digits and is carried later.
///
/// A product of two digits goes into two columns: `mul_low` adds to the product's own column, `mul_high` to the next
/// column. Where a word has room for a whole product, `mul_low` adds all of it and `mul_high` adds nothing. With
/// [`SIGNED_COLUMNS`](Self::SIGNED_COLUMNS) `mul_low` may add a negative part.
pub trait Simd: Copy + Debug + Send + Sync + sealed::Sealed + 'static {
    /// One word of 64 bits for each lane.
    type Vector: Copy + Debug + Send + Sync + 'static;
    /// One truth value for each lane.
    type Mask: Copy + Debug;

    /// A digit as a factor of [`mul_signed`](Self::mul_signed).
    type Factor: Copy + Debug;
    /// A signed number as a factor of it.
    type Signed: Copy + Debug;

    /// Lanes of a vector, at most [`MAX_LANES`].
    const LANES: usize;
    /// Bits of a digit.
    const DIGIT_BITS: usize;
    /// The largest digit.
    const DIGIT: u64 = (1 << Self::DIGIT_BITS) - 1;
    /// Digits of the longest number that may be multiplied or reduced: a column has room for their products.
    const MAX_DIGITS: usize;
    /// Are columns two's complements? Otherwise they are never negative.
    const SIGNED_COLUMNS: bool = false;
    /// Products use Karatsuba's method from this number of digits on (measured).
    const KARATSUBA_DIGITS: usize;
    /// Squares use Karatsuba's method from this number of digits on (measured).
    const SQUARE_KARATSUBA_DIGITS: usize;

    /// A proof, if this processor has the instructions.
    fn detect() -> Option<Self>;

    /// Calls a function that is compiled with the instructions. Only a closure marked `#[inline(always)]` gains by it.
    fn vectorize<R>(self, function: impl FnOnce() -> R) -> R;

    /// The same word in every lane.
    fn splat(self, word: u64) -> Self::Vector;

    /// One word for each lane; words beyond the last lane are dropped.
    #[allow(clippy::wrong_self_convention, reason = "`self` is the proof, not the value")]
    fn from_words(self, words: [u64; MAX_LANES]) -> Self::Vector;

    /// The words of all lanes, and zeros beyond the last lane.
    fn to_words(self, x: Self::Vector) -> [u64; MAX_LANES];

    /// `2·LANES` limbs of each row from limb `first` on, as `LANES` vectors of words. Limbs beyond a row's end are zero.
    ///
    /// # Panics
    /// With fewer than [`LANES`](Self::LANES) rows or vectors.
    fn load_block(self, rows: &[&[u32]], first: usize, words: &mut [Self::Vector]);

    /// The inverse of [`load_block`](Self::load_block): into consecutive rows of `limbs` limbs, as many as there are.
    ///
    /// # Panics
    /// With fewer than [`LANES`](Self::LANES) vectors.
    fn store_block(self, words: &[Self::Vector], first: usize, rows: &mut [u32], limbs: usize);

    /// A word of a table for each lane. Indexes are taken modulo the table's length.
    ///
    /// # Panics
    /// With a length that is no power of two.
    fn gather(self, table: &[u64], indexes: Self::Vector) -> Self::Vector;

    /// `a + b`, wrapping.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a − b`, wrapping.
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The bits that both have.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The bits that at least one has.
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `x·2^by`, wrapping; 0 for distances of 64 and more.
    fn shl(self, x: Self::Vector, by: Self::Vector) -> Self::Vector;
    /// `⌊x/2^by⌋` without a sign; 0 for distances of 64 and more.
    fn shr(self, x: Self::Vector, by: Self::Vector) -> Self::Vector;
    /// Half of a signed word, rounded down.
    fn half(self, x: Self::Vector) -> Self::Vector;
    /// 64 bits of the double word `high·2^64 + low` from bit `by` on, which is below 64.
    fn funnel(self, low: Self::Vector, high: Self::Vector, by: usize) -> Self::Vector;

    /// `sum` and the part of `a·b` that belongs to the product's own column. The factors are digits; see [`factor`](Self::factor).
    fn mul_low(self, sum: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `sum` and the part of `a·b` that belongs to the next column.
    fn mul_high(self, sum: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The lowest digit of `x·y` for any word `x`.
    fn low_digit(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// Any word as a factor: its lowest digit, or the word itself if the multiplier drops the other bits.
    fn factor(self, x: Self::Vector) -> Self::Vector;
    /// The lowest digit of a word.
    fn digit(self, x: Self::Vector) -> Self::Vector;
    /// An unsigned column without its lowest digit.
    fn carry(self, x: Self::Vector) -> Self::Vector;
    /// A signed column without its lowest digit.
    fn signed_carry(self, x: Self::Vector) -> Self::Vector;

    /// A digit, prepared.
    fn digit_factor(self, digit: Self::Vector) -> Self::Factor;
    /// A number of at most `2^DIGIT_BITS` in magnitude, prepared.
    fn signed_factor(self, x: Self::Vector) -> Self::Signed;
    /// A digit's own column and the next one, and the product `a·b` divided between them. Columns are two's complements.
    fn mul_signed(self, columns: [Self::Vector; 2], a: Self::Signed, b: Self::Factor) -> [Self::Vector; 2];

    /// Two numbers of equal lengths, multiplied by the matrix of a batch of division steps; see [`divsteps`](crate::divsteps).
    #[doc(hidden)]
    #[inline(always)]
    fn combine(self, numbers: [&mut [Self::Vector]; 2], matrix: &Matrix<Self>, multiples: Option<Multiples<'_, Self>>) {
        combine(self, numbers, matrix, multiples);
    }

    /// Carries unsigned columns up: digits remain. Nothing leaves the highest digit.
    #[inline(always)]
    fn carry_up(self, columns: &mut [Self::Vector]) {
        let mut carry = self.zero();
        for column in columns {
            let sum = self.add(*column, carry);
            carry = self.carry(sum);
            *column = self.digit(sum);
        }
    }

    /// Carries signed columns up, and a carry from below. Returns the carry above.
    #[inline(always)]
    fn carry_up_signed(self, columns: &mut [Self::Vector], mut carry: Self::Vector) -> Self::Vector {
        for column in columns {
            let sum = self.add(*column, carry);
            carry = self.signed_carry(sum);
            *column = self.digit(sum);
        }
        carry
    }

    /// `c += a·b` in columns that are not carried, for a few digits of `a`.
    #[inline(always)]
    fn strip<const T: usize>(self, a: &[Self::Vector; T], b: &[Self::Vector], c: &mut [Self::Vector]) {
        sliding_strip(self, a, b, c);
    }

    /// `x⁴/4d` from below for `x = 2^DIGIT_BITS` and `d = high·x + low` in `[x²/4, x²/2)`, at most 300 too small with the
    /// digits below `d`. A digit has at least 51 bits.
    ///
    /// bound: the doubles `y ≈ x³/4d ≤ x` and `z ≈ rest·x/d < 2^55` err by less than 2^-50 of themselves. So `y − 4` is below
    /// the quotient and by at most 8, and `z` errs by less than 2^5, and by 4 for the digits below `d`.
    #[inline(always)]
    fn reciprocal(self, high: Self::Vector, low: Self::Vector) -> [Self::Vector; 2] {
        let x = (1_u64 << Self::DIGIT_BITS) as f64;
        let (high, low) = (self.to_words(high), self.to_words(low));
        let mut quotients = [[0; MAX_LANES]; 2];
        for lane in 0..Self::LANES {
            let d = u128::from(high[lane]) << Self::DIGIT_BITS | u128::from(low[lane]);
            let double = high[lane] as f64 * x + low[lane] as f64;
            let y = (x * x * x / 4.0 / double) as u64 - 4;
            // x³/4 is a multiple of 2^128.
            let rest = u128::from(y).wrapping_mul(d).wrapping_neg();
            let rest = (rest >> Self::DIGIT_BITS) as u64 as f64 * x + (rest as u64 & Self::DIGIT) as f64;
            let z = (rest * x / double) as u64 - 128;
            quotients[0][lane] = y + (z >> Self::DIGIT_BITS);
            quotients[1][lane] = z & Self::DIGIT;
        }
        quotients.map(|quotient| self.from_words(quotient))
    }

    /// These lanes: bit `i` for lane `i`.
    fn mask(self, lanes: u8) -> Self::Mask;
    /// The lanes of a mask: bit `i` for lane `i`.
    fn lanes(self, mask: Self::Mask) -> u8;
    /// Is the mask set in a lane?
    #[inline(always)]
    fn any(self, mask: Self::Mask) -> bool {
        self.lanes(mask) != 0
    }
    /// The lanes that both masks have.
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The lanes of `a` that `b` has not.
    fn except(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The lanes whose signed word is below 0.
    fn is_negative(self, x: Self::Vector) -> Self::Mask;
    /// The lanes whose word is odd.
    fn is_odd(self, x: Self::Vector) -> Self::Mask;
    /// The lanes where the words are equal.
    fn equal(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    /// `yes` in the lanes of the mask, `no` in the others.
    fn select(self, mask: Self::Mask, yes: Self::Vector, no: Self::Vector) -> Self::Vector;
    /// `a + b` in the lanes of the mask, `a` in the others.
    fn add_where(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a − b` in the lanes of the mask, `a` in the others.
    fn sub_where(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::Vector {
        self.splat(0)
    }
}

pub(crate) mod sealed {
    /// Instruction sets are types of this crate.
    pub trait Sealed {}
}
