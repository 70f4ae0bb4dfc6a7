//! Shifts of vectors of digits, by another distance in each lane.

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_mask_mov_epi64, _mm512_or_si512, _mm512_set1_epi64, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_sub_epi64,
};

use super::digits::MASK;
use super::{DIGIT_BITS, LANES};

/// Distances are below 2 to this number of digits.
const MOVES: usize = 12;

/// Distances of eight lanes: bits within a digit, and whole digits by powers of two.
pub(super) struct Distances {
    bits: __m512i,
    /// Lanes that move by 1, 2, 4, … digits.
    moves: [u8; MOVES],
    longest: usize,
}

impl Distances {
    /// Distances in bits.
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(bits: &[usize; LANES]) -> Self {
        let longest = bits.iter().copied().max().unwrap_or(0);
        let [b0, b1, b2, b3, b4, b5, b6, b7] = bits.map(|it| (it % DIGIT_BITS) as i64);
        let lanes = |step: usize| {
            bits.iter().enumerate().fold(0, |lanes, (i, it)| lanes | u8::from((it / DIGIT_BITS) & step != 0) << i)
        };
        let moves = if longest < DIGIT_BITS { [0; MOVES] } else { std::array::from_fn(|i| lanes(1 << i)) };
        Self { bits: _mm512_setr_epi64(b0, b1, b2, b3, b4, b5, b6, b7), moves, longest }
    }

    /// Digits to move by, and the lanes that do.
    fn moves(&self) -> impl Iterator<Item = (usize, u8)> {
        self.moves.into_iter().enumerate().filter(|(_, lanes)| *lanes != 0).map(|(i, lanes)| (1 << i, lanes))
    }

    /// The longest distance, in bits.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }

    /// `to = from·2^distance` of reduced digits, as many as `to` has: there must be room.
    #[target_feature(enable = "avx512f")]
    pub(super) fn up(&self, from: &[__m512i], to: &mut [__m512i]) {
        let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
        let back = _mm512_sub_epi64(_mm512_set1_epi64(DIGIT_BITS as i64), self.bits);
        let mut below = zero;
        let above = from.len().min(to.len());
        for (to, from) in to.iter_mut().zip(from) {
            let bits = _mm512_or_si512(_mm512_sllv_epi64(*from, self.bits), _mm512_srlv_epi64(below, back));
            *to = _mm512_and_si512(bits, mask);
            below = *from;
        }
        if let Some((next, rest)) = to[above..].split_first_mut() {
            *next = _mm512_srlv_epi64(below, back);
            rest.fill(zero);
        }
        for (step, lanes) in self.moves() {
            for k in (0..to.len()).rev() {
                let moved = if k < step { zero } else { to[k - step] };
                to[k] = _mm512_mask_mov_epi64(to[k], lanes, moved);
            }
        }
    }

    /// `⌊x / 2^distance⌋` of reduced digits, in place.
    #[target_feature(enable = "avx512f")]
    pub(super) fn down(&self, x: &mut [__m512i]) {
        let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
        for (step, lanes) in self.moves() {
            for k in 0..x.len() {
                let moved = x.get(k + step).copied().unwrap_or(zero);
                x[k] = _mm512_mask_mov_epi64(x[k], lanes, moved);
            }
        }
        let back = _mm512_sub_epi64(_mm512_set1_epi64(DIGIT_BITS as i64), self.bits);
        for k in 0..x.len() {
            let above = x.get(k + 1).copied().unwrap_or(zero);
            let bits = _mm512_or_si512(_mm512_srlv_epi64(x[k], self.bits), _mm512_sllv_epi64(above, back));
            x[k] = _mm512_and_si512(bits, mask);
        }
    }
}
