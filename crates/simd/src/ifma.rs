//! AVX-512 IFMA: eight lanes of 52-bit digits, on Intel from Ice Lake on and AMD from Zen 4 on.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512d, __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmplt_epi64_mask,
    _mm512_cvtepi64_pd, _mm512_cvttpd_epi64, _mm512_div_pd, _mm512_fmadd_pd, _mm512_i64gather_epi64,
    _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_add_epi64, _mm512_mask_mov_epi64,
    _mm512_mask_storeu_epi32, _mm512_mask_sub_epi64, _mm512_maskz_loadu_epi32, _mm512_mul_pd, _mm512_or_si512,
    _mm512_permutex2var_epi64, _mm512_set1_epi64, _mm512_set1_pd, _mm512_setr_epi64, _mm512_setzero_si512,
    _mm512_shrdv_epi64, _mm512_sllv_epi64, _mm512_srai_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use crate::choice::is_allowed;
use crate::instructions::{instructions, vectorize};
use crate::simd::{MAX_LANES, Simd, sealed::Sealed};

/// Limbs that one vector of a row holds.
const BLOCK_LIMBS: usize = 16;
const DIGIT_BITS: u32 = 52;

/// The proof that the processor has AVX-512 F, BW, DQ, VL, IFMA and VBMI2.
#[derive(Clone, Copy, Debug)]
pub struct Ifma(());

impl Sealed for Ifma {}

impl Simd for Ifma {
    type Vector = __m512i;
    type Mask = u8;

    type Factor = __m512i;
    /// The number modulo `2^52`, the lanes where it is negative, and the lanes where it is `2^52` itself.
    type Signed = (__m512i, u8, u8);

    const LANES: usize = 8;
    const DIGIT_BITS: usize = DIGIT_BITS as usize;
    // A column of n digits gets n low and n high halves, each below 2^52, and a carry: n ≤ 2047 keeps it below 2^64.
    const MAX_DIGITS: usize = 2047;
    const KARATSUBA_DIGITS: usize = 48;
    const SQUARE_KARATSUBA_DIGITS: usize = 80;

    fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512ifma")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("popcnt")
            && is_allowed("ifma");
        has.then_some(Self(()))
    }

    vectorize!("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi2,popcnt");

    instructions! {
        zero() -> __m512i { _mm512_setzero_si512() }
        splat(word: u64) -> __m512i { _mm512_set1_epi64(word as i64) }
        from_words(words: [u64; MAX_LANES]) -> __m512i { _mm512_loadu_si512(words.as_ptr().cast()) }
        add(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi64(a, b) }
        sub(a: __m512i, b: __m512i) -> __m512i { _mm512_sub_epi64(a, b) }
        and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
        or(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
        shl(x: __m512i, by: __m512i) -> __m512i { _mm512_sllv_epi64(x, by) }
        shr(x: __m512i, by: __m512i) -> __m512i { _mm512_srlv_epi64(x, by) }
        half(x: __m512i) -> __m512i { _mm512_srai_epi64::<1>(x) }
        funnel(low: __m512i, high: __m512i, by: usize) -> __m512i {
            _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(by as i64))
        }
        mul_low(sum: __m512i, a: __m512i, b: __m512i) -> __m512i { _mm512_madd52lo_epu64(sum, a, b) }
        mul_high(sum: __m512i, a: __m512i, b: __m512i) -> __m512i { _mm512_madd52hi_epu64(sum, a, b) }
        low_digit(x: __m512i, y: __m512i) -> __m512i { _mm512_madd52lo_epu64(_mm512_setzero_si512(), x, y) }
        digit(x: __m512i) -> __m512i { _mm512_and_si512(x, _mm512_set1_epi64(Self::DIGIT as i64)) }
        carry(x: __m512i) -> __m512i { _mm512_srli_epi64::<DIGIT_BITS>(x) }
        signed_carry(x: __m512i) -> __m512i { _mm512_srai_epi64::<DIGIT_BITS>(x) }
        is_negative(x: __m512i) -> u8 { _mm512_cmplt_epi64_mask(x, _mm512_setzero_si512()) }
        is_odd(x: __m512i) -> u8 { _mm512_test_epi64_mask(x, _mm512_set1_epi64(1)) }
        equal(a: __m512i, b: __m512i) -> u8 { _mm512_cmpeq_epi64_mask(a, b) }
        select(mask: u8, yes: __m512i, no: __m512i) -> __m512i { _mm512_mask_mov_epi64(no, mask, yes) }
        add_where(mask: u8, a: __m512i, b: __m512i) -> __m512i { _mm512_mask_add_epi64(a, mask, a, b) }
        sub_where(mask: u8, a: __m512i, b: __m512i) -> __m512i { _mm512_mask_sub_epi64(a, mask, a, b) }
    }

    /// The multiplier takes the low 52 bits of any word.
    #[inline(always)]
    fn factor(self, x: __m512i) -> __m512i {
        x
    }

    #[inline(always)]
    fn to_words(self, x: __m512i) -> [u64; MAX_LANES] {
        let mut words = [0; MAX_LANES];
        // SAFETY: the array has the 64 bytes that are written; no alignment is needed. `self` is the proof of the instruction.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) };
        words
    }

    #[inline(always)]
    fn gather(self, table: &[u64], indexes: __m512i) -> __m512i {
        assert!(table.len().is_power_of_two(), "a table whose length is no power of two");
        let indexes = self.and(indexes, self.splat(table.len() as u64 - 1));
        // SAFETY: the indexes are below the table's length. `self` is the proof of the instruction.
        unsafe { _mm512_i64gather_epi64::<8>(indexes, table.as_ptr().cast()) }
    }

    #[inline(always)]
    fn mask(self, lanes: u8) -> u8 {
        lanes
    }

    #[inline(always)]
    fn lanes(self, mask: u8) -> u8 {
        mask
    }

    #[inline(always)]
    fn both(self, a: u8, b: u8) -> u8 {
        a & b
    }

    #[inline(always)]
    fn except(self, a: u8, b: u8) -> u8 {
        a & !b
    }

    #[inline(always)]
    fn digit_factor(self, digit: __m512i) -> __m512i {
        digit
    }

    #[inline(always)]
    fn signed_factor(self, x: __m512i) -> Self::Signed {
        (x, self.is_negative(x), self.equal(x, self.splat(Self::DIGIT + 1)))
    }

    /// The multiplier takes the number modulo `2^52`; the digit in the next column makes up for it.
    #[inline(always)]
    fn mul_signed(self, [low, high]: [__m512i; 2], (a, negative, over): Self::Signed, b: __m512i) -> [__m512i; 2] {
        let high = self.add_where(over, self.sub_where(negative, high, b), b);
        [self.mul_low(low, a, b), self.mul_high(high, a, b)]
    }

    #[inline(always)]
    fn reciprocal(self, high: __m512i, low: __m512i) -> [__m512i; 2] {
        // SAFETY: the processor has the features that the function is compiled for: `self` is the proof.
        unsafe { reciprocal(high, low) }
    }

    #[inline(always)]
    fn load_block(self, rows: &[&[u32]], first: usize, words: &mut [__m512i]) {
        let words = words.first_chunk_mut::<8>().expect("a vector for each lane");
        let rows = rows.first_chunk::<8>().expect("a row for each lane");
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
    fn store_block(self, words: &[__m512i], first: usize, rows: &mut [u32], limbs: usize) {
        let words = words.first_chunk::<8>().expect("a vector for each lane");
        // SAFETY: the processor has the features that the functions are compiled for: `self` is the proof.
        unsafe {
            for (row, vector) in rows.chunks_exact_mut(limbs).zip(&transpose(words)) {
                store_limbs(*vector, &mut row[first..]);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn reciprocal(high: __m512i, low: __m512i) -> [__m512i; 2] {
    let (zero, x) = (_mm512_setzero_si512(), (1_u64 << DIGIT_BITS) as f64);
    let double = |x| -> __m512d { _mm512_cvtepi64_pd(x) };
    let d = _mm512_fmadd_pd(double(high), _mm512_set1_pd(x), double(low));
    let y = _mm512_cvttpd_epi64(_mm512_div_pd(_mm512_set1_pd(x * x * x / 4.0), d));
    let y = _mm512_sub_epi64(y, _mm512_set1_epi64(4));
    // The rest x³/4 − y·d, without its lowest digit: two digits that make one signed word.
    let above = _mm512_sub_epi64(_mm512_set1_epi64(1 << (DIGIT_BITS - 2)), _mm512_madd52hi_epu64(zero, y, high));
    let taken = _mm512_madd52hi_epu64(_mm512_madd52lo_epu64(zero, y, high), y, low);
    let rest = _mm512_sub_epi64(_mm512_sllv_epi64(above, _mm512_set1_epi64(DIGIT_BITS.into())), taken);
    let z = _mm512_div_pd(_mm512_mul_pd(double(rest), _mm512_set1_pd(x * x)), d);
    let z = _mm512_sub_epi64(_mm512_cvttpd_epi64(z), _mm512_set1_epi64(128));
    let mask = _mm512_set1_epi64((1 << DIGIT_BITS) - 1);
    [_mm512_add_epi64(y, _mm512_srai_epi64::<DIGIT_BITS>(z)), _mm512_and_si512(z, mask)]
}

/// The first sixteen limbs; zeros where the row ends.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_limbs(limbs: &[u32]) -> __m512i {
    if let Some(block) = limbs.first_chunk::<BLOCK_LIMBS>() {
        // SAFETY: sixteen limbs are the 64 bytes that are read; no alignment is needed.
        return unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    }
    // SAFETY: the mask has a bit for each limb of the slice: nothing beyond it is read.
    unsafe { _mm512_maskz_loadu_epi32(first(limbs.len()), limbs.as_ptr().cast()) }
}

/// Stores up to sixteen limbs, as many as the row still has.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_limbs(vector: __m512i, limbs: &mut [u32]) {
    // SAFETY: the mask has a bit for each limb of the slice, sixteen at most: nothing beyond it is written.
    unsafe { _mm512_mask_storeu_epi32(limbs.as_mut_ptr().cast(), first(limbs.len()), vector) }
}

/// The mask of the first `count` limbs of a vector.
const fn first(count: usize) -> u16 {
    if count >= BLOCK_LIMBS { u16::MAX } else { (1 << count) - 1 }
}

/// Transposes 8 × 8 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: &[__m512i; 8]) -> [__m512i; 8] {
    // Pairs: even words of two rows, odd words of two rows.
    let pair = |i: usize| (_mm512_unpacklo_epi64(rows[i], rows[i + 1]), _mm512_unpackhi_epi64(rows[i], rows[i + 1]));
    let [(e0, o0), (e1, o1), (e2, o2), (e3, o3)] = [pair(0), pair(2), pair(4), pair(6)];
    // Fours: words {0, 4} or {2, 6} of four rows, then {1, 5} or {3, 7}.
    let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let four = |x, y| (_mm512_permutex2var_epi64(x, low, y), _mm512_permutex2var_epi64(x, high, y));
    let [(w04, w26), (w15, w37)] = [four(e0, e1), four(o0, o1)];
    let [(v04, v26), (v15, v37)] = [four(e2, e3), four(o2, o3)];
    // Eights.
    let low = _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11);
    let high = _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15);
    let eight = |x, y| (_mm512_permutex2var_epi64(x, low, y), _mm512_permutex2var_epi64(x, high, y));
    let [(c0, c4), (c1, c5), (c2, c6), (c3, c7)] = [eight(w04, v04), eight(w15, v15), eight(w26, v26), eight(w37, v37)];
    [c0, c1, c2, c3, c4, c5, c6, c7]
}
