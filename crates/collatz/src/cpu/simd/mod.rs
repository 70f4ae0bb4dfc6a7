//! Eight numbers in a vector, where the processor has AVX-512 with IFMA (Ice Lake, Zen 4 and later).
//!
//! A value of up to 104 bits is two digits of 52 bits, in two vectors. A jump `B·h + C` of `d` steps is then three
//! multiply-adds, whose operands are taken mod `2^52` by the instruction itself:
//!
//! ```text
//! low', carry  = lo(h0·B) + C            h0 = value >> d, its low 52 bits
//! high'        = hi(h0·B) + lo(h1·B) + carry      h1 = high >> d
//! ```
//!
//! The table is read by a gather, some five cycles for eight entries, which the other instructions of a jump hide.
//!
//! bound: `B`, `C` < 2^32, so `lo + C` < 2^53, and its upper bit is the carry. `high'` is exact below 2^52: callers take a lane out
//! before its value can exceed 104 bits.
//!
//! Stores whose address depends on a mask keep later gathers waiting until the mask is known. So a round has two parts: first
//! all vectors jump, in place; then finished lanes are taken out and others put in their place.
#![allow(unsafe_code)]

pub(super) mod delay;
pub(super) mod descent;
pub(super) mod pool;

use std::arch::x86_64::{
    __m512i, _mm_loadl_epi64, _mm512_add_epi64, _mm512_and_si512, _mm512_cvtepu8_epi64, _mm512_loadu_si512,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_permutexvar_epi64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_shrdi_epi64, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512,
};
use std::array;

use warpmp_simd::{Ifma, Simd as _};

use super::vectors::VALUE_BITS;

/// Numbers of a vector.
const WIDTH: usize = Ifma::LANES;
/// Bits of a digit.
const DIGIT_BITS: u32 = Ifma::DIGIT_BITS as u32;
const DIGIT: u64 = Ifma::DIGIT;
const _: () = assert!(2 * DIGIT_BITS == VALUE_BITS, "a value is two digits");

/// Eight values of two digits. The carry above the lower digit may still stand there, though the upper one has it.
#[derive(Clone, Copy, Debug)]
struct Values {
    low: __m512i,
    high: __m512i,
}

impl Values {
    #[target_feature(enable = "avx512f")]
    fn zero() -> Self {
        Self { low: _mm512_setzero_si512(), high: _mm512_setzero_si512() }
    }

    /// `factor·(value >> BITS) + addend`, `UP` = 12 + BITS.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
    fn jump<const BITS: u32, const UP: i32>(self, factor: __m512i, addend: __m512i) -> Self {
        // 12 = 64 − 52: the lower digit without its carry at the upper end of the word.
        let h0 = _mm512_shrdi_epi64::<UP>(_mm512_slli_epi64::<12>(self.low), self.high);
        Self::product(h0, _mm512_srli_epi64::<BITS>(self.high), factor, addend)
    }

    /// `factor·(h1·2^52 + h0 mod 2^52) + addend`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn product(h0: __m512i, h1: __m512i, factor: __m512i, addend: __m512i) -> Self {
        let low = _mm512_madd52lo_epu64(addend, h0, factor);
        let carry = _mm512_srli_epi64::<DIGIT_BITS>(low);
        let high = _mm512_madd52lo_epu64(_mm512_madd52hi_epu64(carry, h0, factor), h1, factor);
        Self { low, high }
    }

    /// The low 64 bits of settled values.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn words(self) -> __m512i {
        _mm512_add_epi64(self.low, _mm512_slli_epi64::<DIGIT_BITS>(self.high))
    }

    /// Settled values as numbers.
    #[target_feature(enable = "avx512f")]
    fn numbers(self) -> [u128; WIDTH] {
        let (mut low, mut high) = ([0u64; WIDTH], [0u64; WIDTH]);
        // SAFETY: the arrays have the eight words that are written; no alignment is needed.
        unsafe {
            _mm512_storeu_si512(low.as_mut_ptr().cast(), self.low);
            _mm512_storeu_si512(high.as_mut_ptr().cast(), self.high);
        }
        array::from_fn(|lane| u128::from(high[lane]) << DIGIT_BITS | u128::from(low[lane]))
    }

    /// Takes away the carry that the upper digit has already.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn settled(self) -> Self {
        Self { low: _mm512_and_si512(self.low, _mm512_set1_epi64(DIGIT as i64)), ..self }
    }
}

/// For every mask and lane, how many lanes before it are in the mask.
static RANKS: [[u8; WIDTH]; 256] = {
    let mut table = [[0; WIDTH]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut rank) = (0, 0);
        while lane < WIDTH {
            table[mask][lane] = rank;
            rank += (mask >> lane & 1) as u8;
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// For every lane of the mask its number among them.
#[inline]
#[target_feature(enable = "avx512f")]
fn ranks(mask: u8) -> __m512i {
    // SAFETY: an entry has the eight bytes that are read.
    _mm512_cvtepu8_epi64(unsafe { _mm_loadl_epi64(RANKS[usize::from(mask)].as_ptr().cast()) })
}

/// Numbers that wait for a free lane.
struct Queue<const SIZE: usize> {
    low: [u64; SIZE],
    high: [u64; SIZE],
    next: usize,
}

impl<const SIZE: usize> Queue<SIZE> {
    fn new() -> Self {
        Self { low: [0; SIZE], high: [0; SIZE], next: SIZE }
    }

    /// Makes sure that `least` numbers are waiting, by as many more as there is room for.
    #[inline]
    fn fill(&mut self, least: usize, mut number: impl FnMut() -> u128) {
        if self.next + least <= SIZE {
            return;
        }
        self.low.copy_within(self.next.., 0);
        self.high.copy_within(self.next.., 0);
        let left = SIZE - self.next;
        for (low, high) in self.low[left..].iter_mut().zip(&mut self.high[left..]) {
            let value = number();
            *low = value as u64 & DIGIT;
            *high = (value >> DIGIT_BITS) as u64;
        }
        self.next = 0;
    }

    /// Puts the next numbers into the lanes of the mask.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn put(&mut self, values: Values, mask: u8, ranks: __m512i) -> Values {
        let (low, high) = (load(&self.low, self.next), load(&self.high, self.next));
        self.next += mask.count_ones() as usize;
        Values {
            low: _mm512_mask_permutexvar_epi64(values.low, mask, ranks, low),
            high: _mm512_mask_permutexvar_epi64(values.high, mask, ranks, high),
        }
    }
}

/// Eight words from a place on.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64], place: usize) -> __m512i {
    let words = &words[place..place + WIDTH];
    // SAFETY: the slice has the eight words that are read; no alignment is needed.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Adds a number to all lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn plus(vector: __m512i, number: u64) -> __m512i {
    _mm512_add_epi64(vector, _mm512_set1_epi64(number as i64))
}
