//! AVX-512: eight doubles.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512d, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_loadu_si256, _mm256_set_m128i,
    _mm256_set1_epi32, _mm256_shuffle_epi8, _mm256_sllv_epi32, _mm256_srav_epi32, _mm256_srlv_epi32, _mm512_add_pd,
    _mm512_cvtepi32_pd, _mm512_fmadd_pd, _mm512_fmsub_pd, _mm512_fnmadd_pd, _mm512_loadu_pd, _mm512_mul_pd,
    _mm512_permutex2var_pd, _mm512_set1_pd, _mm512_setr_epi64, _mm512_storeu_pd, _mm512_sub_pd, _mm512_unpackhi_pd,
    _mm512_unpacklo_pd,
};

use super::digits::Window;
use super::doubles::Doubles;
use super::table::Tables;
use crate::ifma::Ifma;
use crate::instructions::instructions;
use crate::simd::{MAX_LANES, Simd, sealed::Sealed};

/// The proof that the processor has AVX-512, with all that [`Ifma`] asks for.
#[derive(Clone, Copy, Debug)]
pub struct Eight(Ifma);

impl Sealed for Eight {}

impl Doubles for Eight {
    type Vector = __m512d;

    const LANES: usize = 8;

    fn find() -> Option<Self> {
        Ifma::detect().map(Self)
    }

    fn tables() -> &'static Tables<Self> {
        static TABLES: Tables<Eight> = Tables::new();
        &TABLES
    }

    #[inline]
    fn compiled<R>(self, function: impl FnOnce() -> R) -> R {
        self.0.vectorize(function)
    }

    instructions! {
        all(x: f64) -> __m512d { _mm512_set1_pd(x) }
        lanes_of(x: [f64; MAX_LANES]) -> __m512d { _mm512_loadu_pd(x.as_ptr()) }
        plus(a: __m512d, b: __m512d) -> __m512d { _mm512_add_pd(a, b) }
        minus(a: __m512d, b: __m512d) -> __m512d { _mm512_sub_pd(a, b) }
        times(a: __m512d, b: __m512d) -> __m512d { _mm512_mul_pd(a, b) }
        times_plus(a: __m512d, b: __m512d, c: __m512d) -> __m512d { _mm512_fmadd_pd(a, b, c) }
        times_minus(a: __m512d, b: __m512d, c: __m512d) -> __m512d { _mm512_fmsub_pd(a, b, c) }
        minus_times(a: __m512d, b: __m512d, c: __m512d) -> __m512d { _mm512_fnmadd_pd(a, b, c) }
    }

    #[inline(always)]
    fn bits(self, x: __m512d) -> [u64; MAX_LANES] {
        let mut words = [0; MAX_LANES];
        // SAFETY: the array has the 64 bytes that are written; no alignment is needed. `self` is the proof of the instruction.
        unsafe { _mm512_storeu_pd(words.as_mut_ptr().cast(), x) };
        words
    }

    #[inline(always)]
    fn transpose(self, rows: &mut [__m512d]) {
        let rows = rows.first_chunk_mut::<8>().expect("a vector for each lane");
        // SAFETY: the processor has the features that the function is compiled for: `self` is the proof.
        unsafe { transpose(rows) };
    }

    #[inline(always)]
    fn digits(self, bytes: &[u8; 32], window: &Window, _: bool) -> __m512d {
        let [low, high] =
            window.first.map(|first| bytes[first..].first_chunk::<16>().expect("digits have at most 20 bits"));
        // SAFETY: sixteen bytes are read from each of the four arrays of sixteen bytes, and 32 from the arrays of eight words;
        // no alignment is needed. `self` is the proof of the instructions.
        unsafe {
            let words = _mm256_shuffle_epi8(
                _mm256_set_m128i(_mm_loadu_si128(high.as_ptr().cast()), _mm_loadu_si128(low.as_ptr().cast())),
                _mm256_loadu_si256(window.bytes.as_flattened().as_ptr().cast()),
            );
            let up = _mm256_loadu_si256(window.up.as_ptr().cast());
            let below = _mm256_loadu_si256(window.below.as_ptr().cast());
            let digits = _mm256_srav_epi32(_mm256_sllv_epi32(words, up), _mm256_set1_epi32(32 - window.bits as i32));
            let neighbours = _mm256_and_si256(_mm256_srlv_epi32(words, below), _mm256_set1_epi32(1));
            _mm512_cvtepi32_pd(_mm256_add_epi32(digits, neighbours))
        }
    }
}

/// Transposes 8 × 8 doubles.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: &mut [__m512d; 8]) {
    // Pairs: even words of two rows, odd words of two rows.
    let pair = |i: usize| (_mm512_unpacklo_pd(rows[i], rows[i + 1]), _mm512_unpackhi_pd(rows[i], rows[i + 1]));
    let [(e0, o0), (e1, o1), (e2, o2), (e3, o3)] = [pair(0), pair(2), pair(4), pair(6)];
    // Fours: words {0, 4} or {2, 6} of four rows, then {1, 5} or {3, 7}.
    let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let four = |x, y| (_mm512_permutex2var_pd(x, low, y), _mm512_permutex2var_pd(x, high, y));
    let [(w04, w26), (w15, w37)] = [four(e0, e1), four(o0, o1)];
    let [(v04, v26), (v15, v37)] = [four(e2, e3), four(o2, o3)];
    // Eights.
    let low = _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11);
    let high = _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15);
    let eight = |x, y| (_mm512_permutex2var_pd(x, low, y), _mm512_permutex2var_pd(x, high, y));
    let [(c0, c4), (c1, c5), (c2, c6), (c3, c7)] = [eight(w04, v04), eight(w15, v15), eight(w26, v26), eight(w37, v37)];
    *rows = [c0, c1, c2, c3, c4, c5, c6, c7];
}
