//! AVX2 with fused multiply-add: four doubles.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256d, _mm_add_epi32, _mm_and_si128, _mm_loadu_si128, _mm_set1_epi32, _mm_shuffle_epi8, _mm_sllv_epi32,
    _mm_srav_epi32, _mm_srlv_epi32, _mm256_add_pd, _mm256_cvtepi32_pd, _mm256_fmadd_pd, _mm256_fmsub_pd,
    _mm256_fnmadd_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_permute2f128_pd, _mm256_set1_pd, _mm256_storeu_pd,
    _mm256_sub_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
};

use super::digits::Window;
use super::doubles::Doubles;
use super::table::Tables;
use crate::fma::Fma;
use crate::instructions::instructions;
use crate::simd::{MAX_LANES, Simd, sealed::Sealed};

/// The proof that the processor has AVX2 and fused operations.
#[derive(Clone, Copy, Debug)]
pub struct Four(Fma);

impl Sealed for Four {}

impl Doubles for Four {
    type Vector = __m256d;

    const LANES: usize = 4;

    fn find() -> Option<Self> {
        Fma::detect().map(Self)
    }

    fn tables() -> &'static Tables<Self> {
        static TABLES: Tables<Four> = Tables::new();
        &TABLES
    }

    #[inline]
    fn compiled<R>(self, function: impl FnOnce() -> R) -> R {
        self.0.vectorize(function)
    }

    instructions! {
        all(x: f64) -> __m256d { _mm256_set1_pd(x) }
        lanes_of(x: [f64; MAX_LANES]) -> __m256d { _mm256_loadu_pd(x.as_ptr()) }
        plus(a: __m256d, b: __m256d) -> __m256d { _mm256_add_pd(a, b) }
        minus(a: __m256d, b: __m256d) -> __m256d { _mm256_sub_pd(a, b) }
        times(a: __m256d, b: __m256d) -> __m256d { _mm256_mul_pd(a, b) }
        times_plus(a: __m256d, b: __m256d, c: __m256d) -> __m256d { _mm256_fmadd_pd(a, b, c) }
        times_minus(a: __m256d, b: __m256d, c: __m256d) -> __m256d { _mm256_fmsub_pd(a, b, c) }
        minus_times(a: __m256d, b: __m256d, c: __m256d) -> __m256d { _mm256_fnmadd_pd(a, b, c) }
    }

    #[inline(always)]
    fn bits(self, x: __m256d) -> [u64; MAX_LANES] {
        let mut words = [0; MAX_LANES];
        // SAFETY: the array has the 32 bytes that are written; no alignment is needed. `self` is the proof of the instruction.
        unsafe { _mm256_storeu_pd(words.as_mut_ptr().cast(), x) };
        words
    }

    #[inline(always)]
    fn transpose(self, rows: &mut [__m256d]) {
        let rows = rows.first_chunk_mut::<4>().expect("a vector for each lane");
        // SAFETY: the processor has the features that the function is compiled for: `self` is the proof.
        unsafe { transpose(rows) };
    }

    #[inline(always)]
    fn digits(self, bytes: &[u8; 32], window: &Window, odd: bool) -> __m256d {
        let half = usize::from(odd);
        let bytes = bytes[window.first[half]..].first_chunk::<16>().expect("digits have at most 20 bits");
        let (up, below) = (&window.up.as_chunks::<4>().0[half], &window.below.as_chunks::<4>().0[half]);
        // SAFETY: sixteen bytes are read from arrays of sixteen bytes or four words; no alignment is needed. `self` is the
        // proof of the instructions.
        unsafe {
            let words = _mm_shuffle_epi8(
                _mm_loadu_si128(bytes.as_ptr().cast()),
                _mm_loadu_si128(window.bytes[half].as_ptr().cast()),
            );
            let up = _mm_loadu_si128(up.as_ptr().cast());
            let below = _mm_loadu_si128(below.as_ptr().cast());
            let digits = _mm_srav_epi32(_mm_sllv_epi32(words, up), _mm_set1_epi32(32 - window.bits as i32));
            let neighbours = _mm_and_si128(_mm_srlv_epi32(words, below), _mm_set1_epi32(1));
            _mm256_cvtepi32_pd(_mm_add_epi32(digits, neighbours))
        }
    }
}

/// Transposes 4 × 4 doubles.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(rows: &mut [__m256d; 4]) {
    let pair = |i: usize| (_mm256_unpacklo_pd(rows[i], rows[i + 1]), _mm256_unpackhi_pd(rows[i], rows[i + 1]));
    let [(e0, o0), (e1, o1)] = [pair(0), pair(2)];
    let low = |x, y| _mm256_permute2f128_pd::<0x20>(x, y);
    let high = |x, y| _mm256_permute2f128_pd::<0x31>(x, y);
    *rows = [low(e0, e1), low(o0, o1), high(e0, e1), high(o0, o1)];
}
