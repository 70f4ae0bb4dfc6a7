//! Tested starts of the depth-first scheme, eight at a time: jumps of 12 steps until a threshold ends them.
//!
//! Every jump is under its threshold, also those that the look-ahead covers: a gather brings both. Lanes whose values become too large for
//! 104 bits, or that take long, are given back as they are.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpge_epi64_mask, _mm512_i64gather_epi64,
    _mm512_mask_cmpgt_epi64_mask, _mm512_mask_cmplt_epi64_mask, _mm512_mask_mov_epi64, _mm512_mask_permutexvar_epi64,
    _mm512_permutex2var_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_storeu_si512,
};

use warpmp_simd::Ifma;

use super::{DIGIT, DIGIT_BITS, Values, WIDTH, load, ranks};
use crate::{
    cpu::{
        lanes::starts,
        vectors::{Highest, Late, MOST_JUMPS},
    },
    dfs::Jump,
};

const BASE_BITS: u32 = 12;
const ENTRIES: usize = 1 << BASE_BITS;
/// Vectors under way.
const VECTORS: usize = 16;
const LANES: usize = VECTORS * WIDTH;
/// Starts waiting.
const QUEUE: usize = 1024;
/// Rounds of two jumps that a lane may take, give or take [`LOOK`].
const PATIENCE: i64 = MOST_JUMPS as i64 / 2 - LOOK as i64;
/// Rounds between two looks at how long lanes have been under way.
const LOOK: u64 = 8;
/// The height of an empty lane: no threshold is below it.
const EMPTY: i64 = i64::MIN / 2;

/// Starts in flight, and those that wait.
#[derive(Debug)]
pub(in crate::cpu) struct Pool {
    /// `log2(3^c/2^12)` by `c`.
    heights: [u64; 16],
    /// The lower one of [`Highest`], and [`Highest::report`].
    highest: i64,
    report: i64,
    low: [u64; QUEUE],
    high: [u64; QUEUE],
    rhos: [u64; QUEUE],
    offsets: [u64; QUEUE],
    len: usize,
    lanes: [Lane; VECTORS],
    round: u64,
    /// Starts that were given back.
    pub(in crate::cpu) late: Vec<Late>,
    /// Offsets of the starts that were too high.
    pub(in crate::cpu) reported: Vec<u64>,
}

/// Eight starts in flight.
#[derive(Clone, Copy, Debug)]
struct Lane {
    values: Values,
    rhos: __m512i,
    offsets: __m512i,
    /// The round in which they began.
    begun: __m512i,
    free: u8,
    /// Which were too high between the two jumps?
    passed: u8,
}

impl Pool {
    /// No starts yet. `heights`: `log2(3^c/2^12)`, rounded up, by `c`.
    pub(in crate::cpu) fn new(_: Ifma, heights: [i32; 16], highest: Highest) -> Self {
        // SAFETY: the processor has the features: the argument is the proof.
        let lane = unsafe { Lane::empty() };
        Self {
            heights: heights.map(|height| i64::from(height) as u64),
            highest: highest.width.min(highest.report).into(),
            report: highest.report.into(),
            low: [0; QUEUE],
            high: [0; QUEUE],
            rhos: [0; QUEUE],
            offsets: [0; QUEUE],
            len: 0,
            lanes: [lane; VECTORS],
            round: 0,
            late: Vec::new(),
            reported: Vec::new(),
        }
    }

    /// Adds the [`starts`] of a word of candidates.
    #[inline]
    pub(in crate::cpu) fn push(
        &mut self,
        jumps: &[Jump; ENTRIES],
        bits: u64,
        values: (u128, u64),
        rho: i32,
        places: (u64, u64),
    ) -> u64 {
        if self.len > QUEUE - 64 {
            self.run(jumps, false);
        }
        let mut len = self.len;
        let sum = starts(bits, values, places, |start, offset| {
            let place = len & (QUEUE - 1);
            self.low[place] = start as u64 & DIGIT;
            self.high[place] = (start >> DIGIT_BITS) as u64;
            self.rhos[place] = i64::from(rho) as u64;
            self.offsets[place] = offset;
            len += 1;
        });
        self.len = len;
        sum
    }

    /// Takes all starts to their ends.
    pub(in crate::cpu) fn finish(&mut self, jumps: &[Jump; ENTRIES]) {
        self.run(jumps, true);
    }

    fn run(&mut self, jumps: &[Jump; ENTRIES], all: bool) {
        // SAFETY: the processor has the features that the function is compiled for: there is no pool without the proof.
        unsafe { self.rounds(jumps, all) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512ifma,avx512vbmi2,avx512vl,popcnt")]
    fn rounds(&mut self, jumps: &[Jump; ENTRIES], all: bool) {
        let mut next = 0;
        loop {
            if self.len - next < LANES {
                self.keep(next);
                next = 0;
                if !all {
                    return;
                }
                if self.len == 0 && self.lanes.iter().all(|lane| lane.free == 0xff) {
                    return;
                }
            }
            let heights = [load(&self.heights, 0), load(&self.heights, WIDTH)];
            for lane in 0..VECTORS {
                let free = self.lanes[lane].free;
                self.put(lane, next);
                // Past the last one nothing waits: what is put is empty.
                next = (next + free.count_ones() as usize).min(self.len);
            }
            let report = _mm512_set1_epi64(self.report);
            for lane in &mut self.lanes {
                let first = lane.jump(jumps, heights);
                let passed = _mm512_mask_cmpgt_epi64_mask(first, lane.rhos, report);
                let alive = first & lane.jump(jumps, heights);
                (lane.free, lane.passed) = (!alive, passed & alive);
                lane.values = lane.values.settled();
            }
            self.round += 1;
            let highest = _mm512_set1_epi64(self.highest);
            let old = _mm512_set1_epi64(if self.round.is_multiple_of(LOOK) {
                self.round as i64 - PATIENCE
            } else {
                i64::MIN
            });
            for lane in &mut self.lanes {
                if lane.passed != 0 {
                    lane.report(&mut self.reported);
                }
                let alive = !lane.free;
                let back = _mm512_mask_cmpgt_epi64_mask(alive, lane.rhos, highest)
                    | _mm512_mask_cmplt_epi64_mask(alive, lane.begun, old);
                if back != 0 {
                    lane.give_back(back, &mut self.late);
                }
            }
        }
    }

    /// Moves what waits to the front, with empty lanes behind it.
    fn keep(&mut self, next: usize) {
        let len = self.len - next;
        for words in [&mut self.low, &mut self.high, &mut self.rhos, &mut self.offsets] {
            words.copy_within(next..self.len, 0);
        }
        for place in len..(len + LANES + WIDTH).min(QUEUE) {
            (self.low[place], self.high[place], self.rhos[place]) = (0, 0, EMPTY as u64);
        }
        self.len = len;
    }

    /// Puts waiting starts into the free lanes of a vector.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn put(&mut self, lane: usize, next: usize) {
        let Lane { values, rhos, offsets, begun, free, .. } = self.lanes[lane];
        let ranks = ranks(free);
        let put =
            |into: __m512i, words: &[u64; QUEUE]| _mm512_mask_permutexvar_epi64(into, free, ranks, load(words, next));
        self.lanes[lane] = Lane {
            values: Values { low: put(values.low, &self.low), high: put(values.high, &self.high) },
            rhos: put(rhos, &self.rhos),
            offsets: put(offsets, &self.offsets),
            begun: _mm512_mask_mov_epi64(begun, free, _mm512_set1_epi64(self.round as i64)),
            free,
            passed: 0,
        };
    }
}

impl Lane {
    #[target_feature(enable = "avx512f")]
    fn empty() -> Self {
        let zero = _mm512_setzero_si512();
        Self {
            values: Values::zero(),
            rhos: _mm512_set1_epi64(EMPTY),
            offsets: zero,
            begun: zero,
            free: 0xff,
            passed: 0,
        }
    }

    /// One jump; which starts are above their thresholds?
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
    fn jump(&mut self, jumps: &[Jump; ENTRIES], heights: [__m512i; 2]) -> u8 {
        let low = _mm512_and_si512(self.values.low, _mm512_set1_epi64(ENTRIES as i64 - 1));
        // SAFETY: the places are below the table's length, and a jump is a word.
        let entry = unsafe { _mm512_i64gather_epi64::<8>(low, jumps.as_ptr().cast()) };
        let threshold = _mm512_and_si512(
            _mm512_srli_epi64::<{ Jump::THRESHOLD_PLACE }>(entry),
            _mm512_set1_epi64(Jump::THRESHOLD_MASK),
        );
        let alive = _mm512_cmpge_epi64_mask(self.rhos, threshold);
        let factor = _mm512_and_si512(entry, _mm512_set1_epi64(Jump::NUMBER_MASK));
        let addend =
            _mm512_and_si512(_mm512_srli_epi64::<{ Jump::ADDEND_PLACE }>(entry), _mm512_set1_epi64(Jump::NUMBER_MASK));
        self.values = self.values.jump::<BASE_BITS, { 12 + BASE_BITS as i32 }>(factor, addend);
        let odd_steps = _mm512_srli_epi64::<{ Jump::ODD_PLACE }>(entry);
        self.rhos = _mm512_add_epi64(self.rhos, _mm512_permutex2var_epi64(heights[0], odd_steps, heights[1]));
        alive
    }

    /// Takes the starts out that were too high.
    #[cold]
    #[target_feature(enable = "avx512f")]
    fn report(&mut self, reported: &mut Vec<u64>) {
        let mut offsets = [0u64; WIDTH];
        // SAFETY: the array has the eight words that are written; no alignment is needed.
        unsafe { _mm512_storeu_si512(offsets.as_mut_ptr().cast(), self.offsets) };
        reported.extend((0..WIDTH).filter(|lane| self.passed >> lane & 1 == 1).map(|lane| offsets[lane]));
        self.free |= self.passed;
    }

    /// Takes the starts of a mask out.
    #[cold]
    #[target_feature(enable = "avx512f")]
    fn give_back(&mut self, mask: u8, late: &mut Vec<Late>) {
        let values = self.values.numbers();
        let (mut rhos, mut offsets) = ([0i64; WIDTH], [0u64; WIDTH]);
        // SAFETY: the arrays have the eight words that are written; no alignment is needed.
        unsafe {
            _mm512_storeu_si512(rhos.as_mut_ptr().cast(), self.rhos);
            _mm512_storeu_si512(offsets.as_mut_ptr().cast(), self.offsets);
        }
        for lane in (0..WIDTH).filter(|lane| mask >> lane & 1 == 1) {
            late.push(Late { value: values[lane], rho: rhos[lane] as i32, offset: offsets[lane] });
        }
        self.free |= mask;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use warpmp_simd::Simd as _;

    use super::*;
    use crate::dfs::{Jumps, RHO_ONE, log2_up};

    /// Starts end by their thresholds and not before, none is lost, and those given back are where they should be: the figures of a
    /// window would not tell.
    #[test]
    fn every_start_goes_its_way() {
        let Some(vectors) = Ifma::detect() else {
            eprintln!("skipped: no AVX-512 IFMA");
            return;
        };
        let entries: Vec<Jump> = Jumps::new(BASE_BITS).entries().to_vec();
        // Thresholds that let most starts go on for long: every 64th is above all heights, the others are below all.
        let entries: Vec<Jump> = (0..)
            .zip(entries)
            .map(|(low, jump)| jump.with_threshold(if low % 64 == 5 { 0x3_ffff } else { 0 }))
            .collect();
        let jumps: &[Jump; ENTRIES] = entries.as_slice().try_into().unwrap();
        let heights = std::array::from_fn(|odd_steps| log2_up(odd_steps as u32, BASE_BITS));
        let mut ways = [0; 4];
        for (words, mask, first, highest) in [
            (1, 1, 5, 30),
            (3, u64::MAX, 25, 30),
            (500, 0x8421_0842_1084_2100, 25, 30),
            (200, u64::MAX, 25, 30),
            (90, u64::MAX, 200, 1000),
        ] {
            let (first, highest) = (first * RHO_ONE, highest * RHO_ONE);
            // Reports from a little above on: what is that high between two jumps has no other way.
            let report = highest + 2 * RHO_ONE;
            let mut pool = Pool::new(vectors, heights, Highest { width: highest, report });
            let mut starts = BTreeMap::new();
            for word in 0..words {
                let (value, step) = (((1u128 << 64) + 0x1234_5678_9abc * u128::from(word)) | 1, 3u64.pow(20));
                let sum = pool.push(jumps, mask, (value, step), first, (word << 20, 3));
                let mut expected = 0u64;
                for bit in (0..64).filter(|bit| mask >> bit & 1 == 1) {
                    let start = value + u128::from(step) * u128::from(bit);
                    expected = expected.wrapping_add(start as u64);
                    assert!(starts.insert((word << 20) + 3 * bit, start).is_none());
                }
                assert_eq!(sum, expected);
            }
            pool.finish(jumps);
            assert!(pool.len == 0 && pool.lanes.iter().all(|lane| lane.free == 0xff));
            let mut back: BTreeMap<u64, Late> = pool.late.iter().map(|late| (late.offset, *late)).collect();
            assert_eq!(back.len(), pool.late.len());
            let mut reported: BTreeSet<u64> = pool.reported.iter().copied().collect();
            assert_eq!(reported.len(), pool.reported.len());
            for (offset, mut value) in starts {
                let late = back.remove(&offset);
                let mut rho = first;
                let mut alive = true;
                let mut taken = 0;
                let mut passed = false;
                loop {
                    if alive && passed {
                        assert!(reported.remove(&offset) && late.is_none(), "{offset}");
                        ways[3] += 1;
                        break;
                    }
                    let given_back = alive && late == Some(Late { value, rho, offset });
                    if given_back && (rho > highest || taken >= PATIENCE) {
                        ways[usize::from(rho > highest)] += 1;
                        break;
                    }
                    assert!(alive || late.is_none(), "{offset}: ended after {taken} rounds, but {late:?}");
                    if !alive {
                        ways[2] += 1;
                        break;
                    }
                    assert!(
                        rho <= highest && taken <= PATIENCE + LOOK as i64,
                        "{offset}: {late:?}, not {value} at {rho}"
                    );
                    for step in 0..2 {
                        passed |= step == 1 && rho > report;
                        let jump = jumps[value as usize & (ENTRIES - 1)];
                        alive &= rho >= jump.threshold();
                        value = (value >> BASE_BITS) * u128::from(jump.factor()) + u128::from(jump.addend());
                        rho += heights[jump.odd_steps() as usize];
                    }
                    taken += 1;
                }
            }
            assert!(back.is_empty() && reported.is_empty());
        }
        assert!(ways.iter().all(|count| *count > 10), "{ways:?}");
    }
}
