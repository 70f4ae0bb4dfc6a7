//! AVX2: four lanes of 28-bit digits, on Intel from Haswell on and AMD from Excavator on.
//!
//! The multiplier takes the low 32 bits of each word and gives 64 bits: a whole product of two digits, 56 bits, has room
//! in a column together with 255 others. Masks are words of ones or zeros.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_castsi256_pd,
    _mm256_cmpeq_epi64, _mm256_cmpgt_epi32, _mm256_cmpgt_epi64, _mm256_i64gather_epi64, _mm256_loadu_si256,
    _mm256_maskload_epi32, _mm256_maskstore_epi32, _mm256_movemask_pd, _mm256_mul_epi32, _mm256_mul_epu32,
    _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_srlv_epi64,
    _mm256_storeu_si256, _mm256_sub_epi64, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
};

use crate::choice::is_allowed;
use crate::instructions::{instructions, vectorize};
use crate::simd::{MAX_LANES, Simd, sealed::Sealed};

const BLOCK_LIMBS: usize = 8;
const DIGIT_BITS: i32 = 28;

/// The proof that the processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Sealed for Avx2 {}

impl Simd for Avx2 {
    type Vector = __m256i;
    type Mask = __m256i;

    type Factor = __m256i;
    type Signed = __m256i;

    const LANES: usize = 4;
    const DIGIT_BITS: usize = DIGIT_BITS as usize;
    // A column gets n products below (2^28 − 1)² < 2^56 − 2^28, and digits and carries below 2^29 + 2^36: 255 keep it below 2^64.
    const MAX_DIGITS: usize = 255;
    const KARATSUBA_DIGITS: usize = 64;
    const SQUARE_KARATSUBA_DIGITS: usize = 112;

    fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_allowed("avx2")).then_some(Self(()))
    }

    vectorize!("avx2");

    instructions! {
        zero() -> __m256i { _mm256_setzero_si256() }
        splat(word: u64) -> __m256i { _mm256_set1_epi64x(word as i64) }
        from_words(words: [u64; MAX_LANES]) -> __m256i { _mm256_loadu_si256(words.as_ptr().cast()) }
        add(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi64(a, b) }
        sub(a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi64(a, b) }
        and(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }
        or(a: __m256i, b: __m256i) -> __m256i { _mm256_or_si256(a, b) }
        shl(x: __m256i, by: __m256i) -> __m256i { _mm256_sllv_epi64(x, by) }
        shr(x: __m256i, by: __m256i) -> __m256i { _mm256_srlv_epi64(x, by) }
        half(x: __m256i) -> __m256i {
            _mm256_or_si256(_mm256_srli_epi64::<1>(x), _mm256_and_si256(x, _mm256_set1_epi64x(i64::MIN)))
        }
        funnel(low: __m256i, high: __m256i, by: usize) -> __m256i {
            _mm256_or_si256(
                _mm256_srlv_epi64(low, _mm256_set1_epi64x(by as i64)),
                _mm256_sllv_epi64(high, _mm256_set1_epi64x(64 - by as i64)),
            )
        }
        mul_low(sum: __m256i, a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi64(sum, _mm256_mul_epu32(a, b)) }
        mul_signed(columns: [__m256i; 2], a: __m256i, b: __m256i) -> [__m256i; 2] {
            [_mm256_add_epi64(columns[0], _mm256_mul_epi32(a, b)), columns[1]]
        }
        low_digit(x: __m256i, y: __m256i) -> __m256i {
            _mm256_and_si256(_mm256_mul_epu32(x, y), _mm256_set1_epi64x(Self::DIGIT as i64))
        }
        digit(x: __m256i) -> __m256i { _mm256_and_si256(x, _mm256_set1_epi64x(Self::DIGIT as i64)) }
        carry(x: __m256i) -> __m256i { _mm256_srli_epi64::<DIGIT_BITS>(x) }
        signed_carry(x: __m256i) -> __m256i {
            // No instruction shifts signed words of 64 bits: they become unsigned by adding 2^63.
            _mm256_sub_epi64(
                _mm256_srli_epi64::<DIGIT_BITS>(_mm256_add_epi64(x, _mm256_set1_epi64x(i64::MIN))),
                _mm256_set1_epi64x(1 << (63 - DIGIT_BITS)),
            )
        }
        mask(lanes: u8) -> __m256i {
            _mm256_cmpgt_epi64(
                _mm256_and_si256(_mm256_set1_epi64x(lanes.into()), _mm256_setr_epi64x(1, 2, 4, 8)),
                _mm256_setzero_si256(),
            )
        }
        lanes(mask: __m256i) -> u8 { _mm256_movemask_pd(_mm256_castsi256_pd(mask)) as u8 }
        both(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }
        except(a: __m256i, b: __m256i) -> __m256i { _mm256_andnot_si256(b, a) }
        is_negative(x: __m256i) -> __m256i { _mm256_cmpgt_epi64(_mm256_setzero_si256(), x) }
        is_odd(x: __m256i) -> __m256i {
            _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(x, _mm256_set1_epi64x(1)))
        }
        equal(a: __m256i, b: __m256i) -> __m256i { _mm256_cmpeq_epi64(a, b) }
        select(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i { _mm256_blendv_epi8(no, yes, mask) }
        add_where(mask: __m256i, a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi64(a, _mm256_and_si256(b, mask)) }
        sub_where(mask: __m256i, a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi64(a, _mm256_and_si256(b, mask)) }
    }

    #[inline(always)]
    fn digit_factor(self, digit: __m256i) -> __m256i {
        digit
    }

    #[inline(always)]
    fn signed_factor(self, x: __m256i) -> __m256i {
        x
    }

    /// A word has room for a whole product: nothing belongs to the next column.
    #[inline(always)]
    fn mul_high(self, sum: __m256i, _: __m256i, _: __m256i) -> __m256i {
        sum
    }

    #[inline(always)]
    fn factor(self, x: __m256i) -> __m256i {
        self.digit(x)
    }

    #[inline(always)]
    fn to_words(self, x: __m256i) -> [u64; MAX_LANES] {
        let mut words = [0; MAX_LANES];
        // SAFETY: the array has the 32 bytes that are written; no alignment is needed. `self` is the proof of the instruction.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), x) };
        words
    }

    #[inline(always)]
    fn gather(self, table: &[u64], indexes: __m256i) -> __m256i {
        assert!(table.len().is_power_of_two(), "a table whose length is no power of two");
        let indexes = self.and(indexes, self.splat(table.len() as u64 - 1));
        // SAFETY: the indexes are below the table's length. `self` is the proof of the instruction.
        unsafe { _mm256_i64gather_epi64::<8>(table.as_ptr().cast(), indexes) }
    }

    #[inline(always)]
    fn load_block(self, rows: &[&[u32]], first: usize, words: &mut [__m256i]) {
        let words = words.first_chunk_mut::<4>().expect("a vector for each lane");
        let rows = rows.first_chunk::<4>().expect("a row for each lane");
        // SAFETY: the processor has the features that the functions are compiled for: `self` is the proof.
        unsafe {
            // A loop, for a closure of `map` would be compiled without the instructions.
            for (word, row) in words.iter_mut().zip(rows) {
                *word = load_limbs(row.get(first..).unwrap_or_default());
            }
            *words = transpose(words);
        }
    }

    #[inline(always)]
    fn store_block(self, words: &[__m256i], first: usize, rows: &mut [u32], limbs: usize) {
        let words = words.first_chunk::<4>().expect("a vector for each lane");
        // SAFETY: the processor has the features that the functions are compiled for: `self` is the proof.
        unsafe {
            for (row, vector) in rows.chunks_exact_mut(limbs).zip(&transpose(words)) {
                store_limbs(*vector, &mut row[first..]);
            }
        }
    }
}

/// The first eight limbs; zeros where the row ends.
#[inline]
#[target_feature(enable = "avx2")]
fn load_limbs(limbs: &[u32]) -> __m256i {
    if let Some(block) = limbs.first_chunk::<BLOCK_LIMBS>() {
        // SAFETY: eight limbs are the 32 bytes that are read; no alignment is needed.
        return unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    }
    // SAFETY: the mask has a word of ones for each limb of the slice: nothing beyond it is read.
    unsafe { _mm256_maskload_epi32(limbs.as_ptr().cast(), first(limbs.len())) }
}

/// Stores up to eight limbs, as many as the row still has.
#[inline]
#[target_feature(enable = "avx2")]
fn store_limbs(vector: __m256i, limbs: &mut [u32]) {
    // SAFETY: the mask has a word of ones for each limb of the slice, eight at most: nothing beyond it is written.
    unsafe { _mm256_maskstore_epi32(limbs.as_mut_ptr().cast(), first(limbs.len()), vector) }
}

/// Ones in the first `count` limbs of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn first(count: usize) -> __m256i {
    let count = count.min(BLOCK_LIMBS) as i32;
    _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
}

/// Transposes 4 × 4 words.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(rows: &[__m256i; 4]) -> [__m256i; 4] {
    // Pairs: even words of two rows, odd words of two rows; then the halves of two pairs.
    let pair = |i: usize| (_mm256_unpacklo_epi64(rows[i], rows[i + 1]), _mm256_unpackhi_epi64(rows[i], rows[i + 1]));
    let [(e0, o0), (e1, o1)] = [pair(0), pair(2)];
    let low = |x, y| _mm256_permute2x128_si256::<0x20>(x, y);
    let high = |x, y| _mm256_permute2x128_si256::<0x31>(x, y);
    [low(e0, e1), low(o0, o1), high(e0, e1), high(o0, o1)]
}
