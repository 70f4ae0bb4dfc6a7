//! Delays of eight numbers at a time: two jumps of 12 steps between two looks at table A.
//!
//! Within 24 steps a value may run through 1 unseen. Then it is in the cycle 1, 2 at the next look, and its place is given back for
//! another way; so are places whose value becomes too large.

use std::arch::x86_64::{
    __m512i, _mm256_add_epi32, _mm256_and_si256, _mm256_set1_epi32, _mm256_setzero_si256, _mm512_add_epi64,
    _mm512_and_si512, _mm512_cmpgt_epu64_mask, _mm512_cvtepi64_epi32, _mm512_i64gather_epi64,
    _mm512_mask_cmple_epu64_mask, _mm512_mask_cmplt_epu64_mask, _mm512_mask_i64gather_epi32,
    _mm512_mask_i64scatter_epi32, _mm512_mask_mov_epi64, _mm512_mask_slli_epi64, _mm512_maskz_compress_epi64,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_set4_epi32, _mm512_setzero_si512, _mm512_shuffle_epi8,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_testn_epi64_mask,
};

use warpmp_simd::Ifma;

use super::{Queue, Values, WIDTH, load, plus, ranks};
use crate::cpu::vectors::{DELAY_BASE_BITS as BASE_BITS, DELAY_LIMIT_BITS as LIMIT_BITS, MOST_DELAYS as MOST};

const ENTRIES: usize = 1 << BASE_BITS;
/// `t = 2^18`: half a megabyte of table A, which stays in the second-level cache.
const SMALL_BITS: u32 = 18;

/// Vectors under way: more than the processor overlaps at a time.
const VECTORS: usize = 16;
const LANES: usize = VECTORS * WIDTH;
/// Numbers waiting; finished lanes are looked at when there are [`LANES`] of them.
const QUEUE: usize = 4 * LANES;
const DONE: usize = 2 * LANES + WIDTH;

/// A lane is one word: delay so far below, place from here on. A finished lane has its value between them.
const PLACE_SHIFT: u32 = 48;
const VALUE_SHIFT: u32 = 28;

/// The delays of `start(0)`, `start(1)`, …, all at least 1 and below `2^`[`LIMIT_BITS`], for the places of `delays`, at most
/// [`MOST`]. `unsure` gets the places for which another way must be taken.
///
/// `jumps`: B in bits 0–23, C in 24–47, J from 48 on. `small`: table A, of 18 bits at least.
///
/// # Panics
/// With too many places or too small a table.
pub(in crate::cpu) fn delays(
    _: Ifma,
    jumps: &[u64; ENTRIES],
    small: &[u16],
    start: impl Fn(usize) -> u128,
    delays: &mut [u32],
    unsure: &mut Vec<usize>,
) {
    assert!(delays.len() <= MOST && small.len() > 1 << SMALL_BITS, "sizes that the caller chose");
    // SAFETY: the processor has the features that the function is compiled for: the argument is the proof.
    unsafe { run(jumps, small, start, delays, unsure) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512ifma,avx512vbmi2,avx512vl,popcnt")]
fn run(
    jumps: &[u64; ENTRIES],
    small: &[u16],
    start: impl Fn(usize) -> u128,
    delays: &mut [u32],
    unsure: &mut Vec<usize>,
) {
    let mut queue = Queue::<QUEUE>::new();
    let mut values = [Values::zero(); VECTORS];
    // Empty lanes stand at places that there are not, with the value 0, which is small at once.
    let mut states = [_mm512_set1_epi64(-1 << PLACE_SHIFT); VECTORS];
    let mut finished = [0u8; VECTORS];
    let mut done = Done { words: [0; DONE], count: 0 };
    let (mut queued, mut place, mut open) = (0, 0, delays.len());
    while open > 0 {
        queue.fill(LANES + WIDTH, || {
            queued += 1;
            if queued <= delays.len() { start(queued - 1) } else { 0 }
        });
        let mut highest = _mm512_setzero_si512();
        for ((values, state), finished) in values.iter_mut().zip(&mut states).zip(&mut finished) {
            for _ in 0..2 {
                (*values, *state) = jump(jumps, *values, *state);
            }
            *values = values.settled();
            highest = _mm512_or_si512(highest, values.high);
            *finished = below(*values);
        }
        if any_too_large(highest) {
            for (values, finished) in values.iter_mut().zip(&mut finished) {
                let large = too_large(values.high);
                // 0 is what no number has: its place is given back.
                values.low = _mm512_mask_mov_epi64(values.low, large, _mm512_setzero_si512());
                *finished |= large;
            }
        }
        for ((values, state), finished) in values.iter_mut().zip(&mut states).zip(&finished) {
            let ranks = ranks(*finished);
            done.push(*finished, _mm512_add_epi64(*state, _mm512_slli_epi64::<VALUE_SHIFT>(values.low)));
            *values = queue.put(*values, *finished, ranks);
            *state = _mm512_mask_slli_epi64::<PLACE_SHIFT>(*state, *finished, plus(ranks, place as u64));
            place += finished.count_ones() as usize;
        }
        // Places past the last one need not differ.
        place = place.min(MOST);
        if done.count >= LANES || queued >= delays.len() {
            open -= done.flush(small, delays, unsure);
        }
    }
}

/// One jump, and its steps.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
fn jump(jumps: &[u64; ENTRIES], values: Values, state: __m512i) -> (Values, __m512i) {
    // Bytes 3 to 5 of each word, and zeros.
    let middle = _mm512_set4_epi32(-0x7f7f_7f80, 0x800d_0c0b_u32 as i32, -0x7f7f_7f80, 0x8005_0403_u32 as i32);
    let low = _mm512_and_si512(values.low, _mm512_set1_epi64(ENTRIES as i64 - 1));
    // SAFETY: the places are below the table's length.
    let entry = unsafe { _mm512_i64gather_epi64::<8>(low, jumps.as_ptr().cast()) };
    let factor = _mm512_and_si512(entry, _mm512_set1_epi64(0xff_ffff));
    let addend = _mm512_shuffle_epi8(entry, middle);
    let values = values.jump::<BASE_BITS, { 12 + BASE_BITS as i32 }>(factor, addend);
    (values, _mm512_add_epi64(state, _mm512_srli_epi64::<48>(entry)))
}

/// Which values are small?
#[inline]
#[target_feature(enable = "avx512f")]
fn below(values: Values) -> u8 {
    let narrow = _mm512_testn_epi64_mask(values.high, values.high);
    _mm512_mask_cmplt_epu64_mask(narrow, values.low, _mm512_set1_epi64(1 << SMALL_BITS))
}

/// Which values have left the range?
#[inline]
#[target_feature(enable = "avx512f")]
fn too_large(high: __m512i) -> u8 {
    _mm512_cmpgt_epu64_mask(high, _mm512_set1_epi64((1 << (LIMIT_BITS - super::DIGIT_BITS)) - 1))
}

/// `highest` is the disjunction of several.
#[inline]
#[target_feature(enable = "avx512f")]
fn any_too_large(highest: __m512i) -> bool {
    too_large(highest) != 0
}

/// Finished lanes.
struct Done {
    words: [u64; DONE],
    count: usize,
}

impl Done {
    /// Adds the lanes of the mask.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn push(&mut self, mask: u8, words: __m512i) {
        let place = &mut self.words[self.count..self.count + WIDTH];
        // SAFETY: the slice has the eight words that are written; no alignment is needed.
        unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(mask, words)) };
        self.count += mask.count_ones() as usize;
    }

    /// Writes the delays, and empties the list. Gives how many there were.
    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    fn flush(&mut self, small: &[u16], delays: &mut [u32], unsure: &mut Vec<usize>) -> usize {
        let mut written = 0;
        let half = _mm256_set1_epi32(0xffff);
        for first in (0..self.count).step_by(WIDTH) {
            let valid = if self.count - first >= WIDTH { 0xff } else { (1u8 << (self.count - first)) - 1 };
            let words = load(&self.words, first);
            let places = _mm512_srli_epi64::<PLACE_SHIFT>(words);
            let real = _mm512_mask_cmplt_epu64_mask(valid, places, _mm512_set1_epi64(delays.len() as i64));
            let values =
                _mm512_and_si512(_mm512_srli_epi64::<VALUE_SHIFT>(words), _mm512_set1_epi64((1 << SMALL_BITS) - 1));
            // SAFETY: values are below 2^18 and the table is longer, so that four bytes may be read at each place.
            let rest = unsafe {
                _mm512_mask_i64gather_epi32::<2>(_mm256_setzero_si256(), real, values, small.as_ptr().cast())
            };
            let steps = _mm256_and_si256(_mm512_cvtepi64_epi32(words), _mm256_set1_epi32((1 << VALUE_SHIFT) - 1));
            let sums = _mm256_add_epi32(steps, _mm256_and_si256(rest, half));
            // SAFETY: only places below the slice's length are written, each by one lane of all.
            unsafe { _mm512_mask_i64scatter_epi32::<4>(delays.as_mut_ptr().cast(), real, places, sums) };
            written += real.count_ones() as usize;
            let mut open = _mm512_mask_cmple_epu64_mask(real, values, _mm512_set1_epi64(2));
            while open != 0 {
                let lane = open.trailing_zeros() as usize;
                unsure.push((self.words[first + lane] >> PLACE_SHIFT) as usize);
                open &= open - 1;
            }
        }
        self.count = 0;
        written
    }
}
