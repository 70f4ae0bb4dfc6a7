//! Between rows of 32-bit limbs and vectors of 52-bit digits: digit i of eight lanes is one vector.
//!
//! On the way stand *words*: vector w holds word w, 64 bits, of every lane. Rows become words by
//! transposing blocks of 8 × 8, words become digits by shifts of whole vectors.

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_storeu_epi32, _mm512_maskz_loadu_epi32, _mm512_or_si512,
    _mm512_permutex2var_epi64, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shrdv_epi64,
    _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

use super::{DIGIT_BITS, LANES};

/// Limbs that one vector of a row holds.
const BLOCK_LIMBS: usize = 16;
/// A digit's bits.
pub(super) const MASK: i64 = (1 << DIGIT_BITS) - 1;

/// Digits of a row.
pub(super) const fn count(limbs: usize) -> usize {
    (32 * limbs).div_ceil(DIGIT_BITS)
}

/// Words that a row takes while it is converted: whole blocks, and two of zeros above.
pub(super) const fn words(limbs: usize) -> usize {
    limbs.div_ceil(BLOCK_LIMBS) * LANES + 2
}

/// Loads the digits of eight rows, and zeros above them; missing rows are empty.
#[target_feature(enable = "avx512f,avx512vbmi2")]
pub(super) fn load(rows: &[&[u32]; LANES], words: &mut [__m512i], digits: &mut [__m512i]) {
    let limbs = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let blocks = limbs.div_ceil(BLOCK_LIMBS);
    for (block, words) in words.as_chunks_mut::<LANES>().0.iter_mut().take(blocks).enumerate() {
        for (word, row) in words.iter_mut().zip(rows) {
            *word = load_limbs(row.get(block * BLOCK_LIMBS..).unwrap_or_default());
        }
        *words = transpose(words);
    }
    let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
    words[blocks * LANES..][..2].fill(zero);
    let (digits, above) = digits.split_at_mut(digits.len().min(count(limbs) + 1));
    above.fill(zero);
    for (i, digit) in digits.iter_mut().enumerate() {
        let (word, shift) = (i * DIGIT_BITS / 64, i * DIGIT_BITS % 64);
        let bits = _mm512_shrdv_epi64(words[word], words[word + 1], _mm512_set1_epi64(shift as i64));
        *digit = _mm512_and_si512(bits, mask);
    }
}

/// Stores reduced digits to up to eight consecutive rows of `limbs` limbs; what lies above is zero.
#[target_feature(enable = "avx512f,avx512vbmi2")]
pub(super) fn store(digits: &[__m512i], words: &mut [__m512i], rows: &mut [u32], limbs: usize) {
    let zero = _mm512_setzero_si512();
    let blocks = limbs.div_ceil(BLOCK_LIMBS);
    let digit = |i: usize| digits.get(i).copied().unwrap_or(zero);
    for (w, word) in words[..blocks * LANES].iter_mut().enumerate() {
        let (i, shift) = (64 * w / DIGIT_BITS, 64 * w % DIGIT_BITS);
        let count = |bits: usize| _mm512_set1_epi64(bits as i64);
        // A shift by 64 or more gives zero: most words lie in two digits, some in three.
        let low = _mm512_srlv_epi64(digit(i), count(shift));
        let middle = _mm512_sllv_epi64(digit(i + 1), count(DIGIT_BITS - shift));
        let high = _mm512_sllv_epi64(digit(i + 2), count(2 * DIGIT_BITS - shift));
        *word = _mm512_or_si512(_mm512_or_si512(low, middle), high);
    }
    for (block, words) in words[..blocks * LANES].as_chunks::<LANES>().0.iter().enumerate() {
        for (row, vector) in rows.chunks_exact_mut(limbs).zip(transpose(words)) {
            store_limbs(vector, &mut row[block * BLOCK_LIMBS..]);
        }
    }
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
    // SAFETY: the mask has a bit for each limb of the slice, sixteen at most: nothing beyond it is
    // written.
    unsafe { _mm512_mask_storeu_epi32(limbs.as_mut_ptr().cast(), first(limbs.len()), vector) }
}

/// The mask of the first `count` limbs of a vector.
const fn first(count: usize) -> u16 {
    if count >= BLOCK_LIMBS { u16::MAX } else { (1 << count) - 1 }
}

/// Transposes 8 × 8 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: &[__m512i; LANES]) -> [__m512i; LANES] {
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
