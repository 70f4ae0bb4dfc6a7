//! AVX2 with FMA: eight lanes of 51-bit digits, on Intel from Haswell on and AMD from Excavator on.
//!
//! A vector is two registers of four lanes. Quotients of reductions and carries wait for one another, so two independent
//! chains of them keep the processor busy. Products do not wait: they do one register after the other, so that the columns
//! of a strip stay in registers.
//!
//! The multiplier of doubles gives both halves of a product of two digits. For digits `a`, `b`, as doubles, and `x = 2^51`:
//!
//! ```text
//! high = a·b + x·2^52                rounded: a multiple of x in [x·2^52, x·2^53]
//! low  = a·b + (x·2^52 + 3x − high)  exact: 3x and a signed rest of at most x/2
//! ```
//!
//! The bits of `high` are a constant and `h`, the bits of `low` are a constant and `l`, with `a·b = h·x + l`.
//!
//! bound: let `a·b < 2^103`. Doubles in `[2^103, 2^104)` are the multiples of `2^51`, so the nearest one to `a·b + 2^103` errs
//! by at most `2^50`, and its bits count multiples of `x`. The same holds if it is `2^104`, because the bits of doubles continue
//! there. `x·2^52 + 3x` and its difference to `high` are multiples of `x` below `2^53·x`, so they are doubles. `low` is an
//! integer in `[3x − x/2, 3x + x/2]`, within `[2^52, 2^53)`, where doubles are the integers: it is exact, and its bits count units.
//! Digits have 51 bits, so `a·b < 2^102`. A digit and a number below `2^52` are allowed, too.
//!
//! For a signed `a` of at most `x` in magnitude, `x·2^52` is replaced by one and a half times as much: `a·b` of at most `2^102` in
//! magnitude leaves the sum within `[2^103, 2^104]`.
//!
//! Rests are signed: columns are two's complements. A column of `n` products is in `[−n·2^50, n·(2^51 + 2^50)]`.
//!
//! source: Emmart, Zheng, Weems, Faster Modular Exponentiation Using Double Precision Floating Point Arithmetic on the GPU,
//! 2018; there products are cut off, here they are rounded, as a program in Rust must not change the rounding.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256d, __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_fmadd_pd,
    _mm256_mul_epu32, _mm256_or_si256, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_sub_epi64, _mm256_sub_pd,
};

use crate::avx2::Avx2;
use crate::choice::is_allowed;
use crate::divsteps::{Matrix, Multiples};
use crate::instructions::{instructions, vectorize};
use crate::simd::{MAX_LANES, Simd, sealed::Sealed};

const DIGIT_BITS: i32 = 51;
const DIGIT: i64 = (1 << DIGIT_BITS) - 1;
/// `x`, the least double whose bits count units, and the constants of the products.
const X: f64 = (1_u64 << DIGIT_BITS) as f64;
const UNIT: f64 = (1_u64 << 52) as f64;
const HIGH: f64 = X * UNIT;
const LOW: f64 = 3.0 * X;
/// For signed products.
const SIGNED: f64 = 1.5 * HIGH;
/// The bits of the constants, which are taken from the columns again.
const HIGH_BITS: i64 = HIGH.to_bits() as i64;
const LOW_BITS: i64 = LOW.to_bits() as i64;
const SIGNED_BITS: i64 = SIGNED.to_bits() as i64;
/// Digits of the longest number.
const MAX_DIGITS: usize = 1400;

// The bound in numbers: products below HIGH, low halves within the doubles that are integers, columns within a word.
const _: () =
    assert!(2 * DIGIT_BITS < 103 && HIGH == X * X * 2.0 && LOW - X / 2.0 >= UNIT && LOW + X / 2.0 < 2.0 * UNIT);
// The two halves of a product for each digit, a digit, and a carry.
const _: () = assert!(MAX_DIGITS as u64 + 1 < (1 << 63) / (3 << 50));

/// A register.
type Quad = __m256i;
/// Both registers of a vector.
type Vector = [__m256i; 2];
type Mask = [<Avx2 as Simd>::Mask; 2];

/// The proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Fma(Avx2);

impl Sealed for Fma {}

/// Methods that do the same to both registers: by AVX2's method, or by one of a register.
macro_rules! both {
    ($($to:tt $name:ident($($x:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[inline(always)]
        fn $name(self, $($x: $type),*) -> $result {
            [both!(@ self, $to, $name, $($x),*; 0), both!(@ self, $to, $name, $($x),*; 1)]
        }
    )*};
    (@ $s:ident, avx2, $name:ident, $($x:ident),*; $i:literal) => { $s.0.$name($($x[$i]),*) };
    (@ $s:ident, $method:ident, $name:ident, $($x:ident),*; $i:literal) => { $s.$method($($x[$i]),*) };
}

/// One register.
impl Fma {
    // `less` takes the constants of so many halves away from a sum.
    instructions! {
        double(digit: Quad) -> __m256d {
            _mm256_sub_pd(
                _mm256_castsi256_pd(_mm256_or_si256(digit, _mm256_set1_epi64x(UNIT.to_bits() as i64))),
                _mm256_set1_pd(UNIT),
            )
        }
        high(a: __m256d, b: __m256d) -> __m256d { _mm256_fmadd_pd(a, b, _mm256_set1_pd(HIGH)) }
        low(a: __m256d, b: __m256d, high: __m256d) -> __m256d {
            _mm256_fmadd_pd(a, b, _mm256_sub_pd(_mm256_set1_pd(HIGH + LOW), high))
        }
        signed_double(x: Quad) -> __m256d {
            _mm256_sub_pd(
                _mm256_castsi256_pd(_mm256_add_epi64(x, _mm256_set1_epi64x(LOW_BITS))),
                _mm256_set1_pd(LOW),
            )
        }
        signed_high(a: __m256d, b: __m256d) -> __m256d { _mm256_fmadd_pd(a, b, _mm256_set1_pd(SIGNED)) }
        signed_low(a: __m256d, b: __m256d, high: __m256d) -> __m256d {
            _mm256_fmadd_pd(a, b, _mm256_sub_pd(_mm256_set1_pd(SIGNED + LOW), high))
        }
        plus(a: Quad, b: Quad) -> Quad { _mm256_add_epi64(a, b) }
        plus_bits(sum: Quad, x: __m256d) -> Quad { _mm256_add_epi64(sum, _mm256_castpd_si256(x)) }
        less(sum: Quad, bits: i64, count: usize) -> Quad {
            _mm256_add_epi64(sum, _mm256_set1_epi64x(bits.wrapping_mul(count as i64).wrapping_neg()))
        }
        digit_of(x: Quad) -> Quad { _mm256_and_si256(x, _mm256_set1_epi64x(DIGIT)) }
        low_digit_of(x: Quad, y: Quad) -> Quad {
            // By halves of 32 bits; the product of the upper halves is above 64 bits.
            _mm256_and_si256(
                _mm256_add_epi64(
                    _mm256_mul_epu32(x, y),
                    _mm256_slli_epi64::<32>(_mm256_add_epi64(
                        _mm256_mul_epu32(x, _mm256_srli_epi64::<32>(y)),
                        _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), y),
                    )),
                ),
                _mm256_set1_epi64x(DIGIT),
            )
        }
        unsigned_carry_of(x: Quad) -> Quad { _mm256_srli_epi64::<DIGIT_BITS>(x) }
        carry_of(x: Quad) -> Quad {
            // No instruction shifts signed words of 64 bits: they become unsigned by adding 2^63.
            _mm256_sub_epi64(
                _mm256_srli_epi64::<DIGIT_BITS>(_mm256_add_epi64(x, _mm256_set1_epi64x(i64::MIN))),
                _mm256_set1_epi64x(1 << (63 - DIGIT_BITS)),
            )
        }
    }

    #[inline(always)]
    fn add_low(self, sum: Quad, a: Quad, b: Quad) -> Quad {
        let (a, b) = (self.double(a), self.double(b));
        self.plus_bits(self.less(sum, LOW_BITS, 1), self.low(a, b, self.high(a, b)))
    }

    #[inline(always)]
    fn add_high(self, sum: Quad, a: Quad, b: Quad) -> Quad {
        self.plus_bits(self.less(sum, HIGH_BITS, 1), self.high(self.double(a), self.double(b)))
    }

    /// The columns of a signed product: half of `HIGH` more keeps `high` within the same doubles.
    #[inline(always)]
    fn add_signed(self, (low, high): (Quad, Quad), a: __m256d, b: __m256d) -> (Quad, Quad) {
        let above = self.signed_high(a, b);
        let below = self.signed_low(a, b, above);
        (self.plus_bits(self.less(low, LOW_BITS, 1), below), self.plus_bits(self.less(high, SIGNED_BITS, 1), above))
    }

    /// `c += a·b` for a few digits of `a`, in one register: a window of columns slides over `b`.
    ///
    /// A column gets the bits of `T` low and of `T` high halves while it is in the window; their constants are taken away when
    /// it enters. The first columns get fewer of them, and the last columns, too.
    #[inline(always)]
    fn window<const T: usize, const I: usize>(self, a: &[Vector; T], b: &[Vector], c: &mut [Vector]) {
        let zero = self.0.zero();
        let mut factors = [self.double(zero); T];
        // Column j + i holds the low halves of the factors 0 to i so far, and the high halves of the factors below i.
        let mut columns = [zero; T];
        for i in 0..T {
            factors[i] = self.double(a[i][I]);
            columns[i] = self.less(self.less(zero, LOW_BITS, i + 1), HIGH_BITS, i);
        }
        let (sliding, last) = c.split_at_mut(b.len());
        for (b, c) in b.iter().zip(sliding) {
            let b = self.double(b[I]);
            let mut high = self.high(factors[0], b);
            c[I] = self.plus(c[I], self.plus_bits(columns[0], self.low(factors[0], b, high)));
            for i in 1..T {
                let column = self.plus_bits(columns[i], high);
                high = self.high(factors[i], b);
                columns[i - 1] = self.plus_bits(column, self.low(factors[i], b, high));
            }
            let entering = self.less(self.less(zero, LOW_BITS, T), HIGH_BITS, T);
            columns[T - 1] = self.plus_bits(entering, high);
        }
        for (i, c) in last[..T].iter_mut().enumerate() {
            // It waits for the halves of the factors above it.
            let whole = self.less(columns[i], LOW_BITS.wrapping_neg(), i + 1);
            c[I] = self.plus(c[I], self.less(whole, HIGH_BITS.wrapping_neg(), i));
        }
    }

    /// [`combine`](crate::divsteps::combine) in one register.
    ///
    /// A column has `2^63` more than its value; its carry has `2^12` more; see [`carry_columns`](Self::carry_columns).
    #[allow(clippy::needless_range_loop, reason = "indexes of matrices")]
    #[inline(always)]
    fn combine_half<const I: usize>(
        self,
        [f, g]: [&mut [Vector]; 2],
        matrix: &Matrix<Self>,
        multiples: Option<Multiples<'_, Self>>,
    ) {
        const MORE: i64 = 1 << (63 - DIGIT_BITS);
        let (avx2, zero, top) = (self.0, self.0.zero(), f.len() - 1);
        let signs = [avx2.is_negative(f[top][I]), avx2.is_negative(g[top][I])];
        (f[top][I], g[top][I]) = (self.digit_of(f[top][I]), self.digit_of(g[top][I]));
        let more = self.less(zero, MORE.wrapping_neg(), 1);
        let raised = self.less(zero, i64::MIN.wrapping_add(MORE), 1);
        let mut carries = [more; 2];
        for k in 0..=top {
            let digits = [self.double(f[k][I]), self.double(g[k][I])];
            let mut columns = [(raised, zero); 2];
            for (column, row) in columns.iter_mut().zip(&matrix.factors) {
                for (entry, digit) in row.iter().zip(digits) {
                    *column = self.add_signed(*column, entry[I], digit);
                }
            }
            if let Some((quotients, modulus)) = multiples
                && k < modulus.len()
            {
                let digit = self.double(modulus[k][I]);
                for i in 0..2 {
                    columns[i] = self.add_signed(columns[i], quotients[i][I], digit);
                }
            }
            for i in 0..2 {
                // The carry comes last: the other columns do not wait for it.
                columns[i].0 = self.plus(columns[i].0, carries[i]);
            }
            if k > 0 {
                (f[k - 1][I], g[k - 1][I]) = (self.digit_of(columns[0].0), self.digit_of(columns[1].0));
            }
            for i in 0..2 {
                carries[i] = self.plus(columns[i].1, self.unsigned_carry_of(columns[i].0));
            }
        }
        for (carry, row) in carries.iter_mut().zip(&matrix.integers) {
            *carry = self.less(*carry, MORE, 1);
            for (entry, sign) in row.iter().zip(signs) {
                *carry = avx2.sub_where(sign, *carry, entry[I]);
            }
        }
        (f[top][I], g[top][I]) = (carries[0], carries[1]);
    }

    /// Carries signed columns up, and a carry from below. Returns the carry above.
    ///
    /// A column has `2^63` more than its value, so that a shift without a sign is right; its carry has `2^12` more.
    #[inline(always)]
    fn carry_columns(self, columns: &mut [Vector], carry: Vector) -> Vector {
        const MORE: i64 = 1 << (63 - DIGIT_BITS);
        let mut carry = [self.less(carry[0], MORE.wrapping_neg(), 1), self.less(carry[1], MORE.wrapping_neg(), 1)];
        for column in columns {
            for (column, carry) in column.iter_mut().zip(&mut carry) {
                let raised = self.plus(self.less(*column, i64::MIN.wrapping_add(MORE), 1), *carry);
                *carry = self.unsigned_carry_of(raised);
                *column = self.digit_of(raised);
            }
        }
        [self.less(carry[0], MORE, 1), self.less(carry[1], MORE, 1)]
    }
}

impl Simd for Fma {
    type Vector = Vector;
    type Mask = Mask;

    type Factor = [__m256d; 2];
    type Signed = [__m256d; 2];

    const LANES: usize = 8;
    const DIGIT_BITS: usize = DIGIT_BITS as usize;
    const MAX_DIGITS: usize = MAX_DIGITS;
    const SIGNED_COLUMNS: bool = true;
    const KARATSUBA_DIGITS: usize = 48;
    const SQUARE_KARATSUBA_DIGITS: usize = 80;

    fn detect() -> Option<Self> {
        Avx2::detect().filter(|_| is_x86_feature_detected!("fma") && is_allowed("fma")).map(Self)
    }

    vectorize!("avx2,fma");

    both! {
        avx2 add(a: Vector, b: Vector) -> Vector;
        avx2 sub(a: Vector, b: Vector) -> Vector;
        avx2 and(a: Vector, b: Vector) -> Vector;
        avx2 or(a: Vector, b: Vector) -> Vector;
        avx2 shl(x: Vector, by: Vector) -> Vector;
        avx2 shr(x: Vector, by: Vector) -> Vector;
        avx2 half(x: Vector) -> Vector;
        add_low mul_low(sum: Vector, a: Vector, b: Vector) -> Vector;
        add_high mul_high(sum: Vector, a: Vector, b: Vector) -> Vector;
        low_digit_of low_digit(x: Vector, y: Vector) -> Vector;
        digit_of factor(x: Vector) -> Vector;
        digit_of digit(x: Vector) -> Vector;
        carry_of carry(x: Vector) -> Vector;
        carry_of signed_carry(x: Vector) -> Vector;
        avx2 both(a: Mask, b: Mask) -> Mask;
        avx2 except(a: Mask, b: Mask) -> Mask;
        avx2 is_negative(x: Vector) -> Mask;
        avx2 is_odd(x: Vector) -> Mask;
        avx2 equal(a: Vector, b: Vector) -> Mask;
        avx2 select(mask: Mask, yes: Vector, no: Vector) -> Vector;
        avx2 add_where(mask: Mask, a: Vector, b: Vector) -> Vector;
        avx2 sub_where(mask: Mask, a: Vector, b: Vector) -> Vector;
    }

    #[inline(always)]
    fn splat(self, word: u64) -> Vector {
        [self.0.splat(word); 2]
    }

    #[inline(always)]
    fn from_words(self, words: [u64; MAX_LANES]) -> Vector {
        let [a, b, c, d, e, f, g, h] = words;
        [self.0.from_words(words), self.0.from_words([e, f, g, h, a, b, c, d])]
    }

    #[inline(always)]
    fn to_words(self, x: Vector) -> [u64; MAX_LANES] {
        let [low, high] = [self.0.to_words(x[0]), self.0.to_words(x[1])];
        std::array::from_fn(|i| if i < 4 { low[i] } else { high[i - 4] })
    }

    #[inline(always)]
    fn load_block(self, rows: &[&[u32]], first: usize, words: &mut [Vector]) {
        for half in 0..2 {
            for part in 0..2 {
                let mut block = [self.0.zero(); 4];
                self.0.load_block(&rows[4 * half..], first + 8 * part, &mut block);
                for (word, block) in words[4 * part..][..4].iter_mut().zip(block) {
                    word[half] = block;
                }
            }
        }
    }

    #[inline(always)]
    fn store_block(self, words: &[Vector], first: usize, rows: &mut [u32], limbs: usize) {
        let of_half = (4 * limbs).min(rows.len());
        let (low, high) = rows.split_at_mut(of_half);
        for (half, rows) in [low, high].into_iter().enumerate() {
            for part in 0..2 {
                if first + 8 * part < limbs {
                    let words = &words[4 * part..][..4];
                    let block = [words[0][half], words[1][half], words[2][half], words[3][half]];
                    self.0.store_block(&block, first + 8 * part, rows, limbs);
                }
            }
        }
    }

    #[inline(always)]
    fn gather(self, table: &[u64], indexes: Vector) -> Vector {
        [self.0.gather(table, indexes[0]), self.0.gather(table, indexes[1])]
    }

    #[inline(always)]
    fn funnel(self, low: Vector, high: Vector, by: usize) -> Vector {
        [self.0.funnel(low[0], high[0], by), self.0.funnel(low[1], high[1], by)]
    }

    #[inline(always)]
    fn mask(self, lanes: u8) -> Mask {
        [self.0.mask(lanes & 15), self.0.mask(lanes >> 4)]
    }

    #[inline(always)]
    fn lanes(self, mask: Mask) -> u8 {
        self.0.lanes(mask[0]) | self.0.lanes(mask[1]) << 4
    }

    #[inline(always)]
    fn digit_factor(self, digit: Vector) -> [__m256d; 2] {
        [self.double(digit[0]), self.double(digit[1])]
    }

    #[inline(always)]
    fn signed_factor(self, x: Vector) -> [__m256d; 2] {
        [self.signed_double(x[0]), self.signed_double(x[1])]
    }

    #[inline(always)]
    fn mul_signed(self, [low, high]: [Vector; 2], a: [__m256d; 2], b: [__m256d; 2]) -> [Vector; 2] {
        // Not by `map`, whose closure would be compiled without the instructions.
        let (low0, high0) = self.add_signed((low[0], high[0]), a[0], b[0]);
        let (low1, high1) = self.add_signed((low[1], high[1]), a[1], b[1]);
        [[low0, low1], [high0, high1]]
    }

    #[inline(always)]
    fn combine(self, [f, g]: [&mut [Vector]; 2], matrix: &Matrix<Self>, multiples: Option<Multiples<'_, Self>>) {
        self.combine_half::<0>([f, g], matrix, multiples);
        self.combine_half::<1>([f, g], matrix, multiples);
    }

    #[inline(always)]
    fn carry_up(self, columns: &mut [Vector]) {
        self.carry_columns(columns, self.zero());
    }

    #[inline(always)]
    fn carry_up_signed(self, columns: &mut [Vector], carry: Vector) -> Vector {
        self.carry_columns(columns, carry)
    }

    #[inline(always)]
    fn strip<const T: usize>(self, a: &[Vector; T], b: &[Vector], c: &mut [Vector]) {
        self.window::<T, 0>(a, b, c);
        self.window::<T, 1>(a, b, c);
    }
}
