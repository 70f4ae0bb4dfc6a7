//! From coefficients to limbs: `Σ cⱼ·2^(bj)` with signed coefficients.
//!
//! bound: [`Plan::is_exact`](super::Plan) has two neighbours together below `2^62`. The carry is below `2^63`, and a pair
//! moves up by less than 64 places: the sum is below `2^127`.

use super::doubles::{Complex, Doubles};
use super::ends::ROUNDER;
use crate::MAX_LANES;

/// A number on the way to its limbs.
struct Stream {
    sum: i128,
    /// Where the next pair of coefficients belongs, below 64.
    place: u32,
    /// Words written.
    written: usize,
}

impl Stream {
    #[inline(always)]
    fn push(&mut self, pair: i64, pair_bits: u32, out: &mut [u32]) {
        self.sum += i128::from(pair) << self.place;
        self.place += pair_bits;
        if self.place >= 64 {
            self.place -= 64;
            put(out, self.written, self.sum as u64);
            self.sum >>= 64;
            self.written += 1;
        }
    }
}

/// Writes a word, or as much of it as the limbs have room for: beyond, the number is zero.
#[inline(always)]
fn put(out: &mut [u32], word: usize, value: u64) {
    if let Some([low, high]) = out.get_mut(2 * word..2 * word + 2) {
        (*low, *high) = (value as u32, (value >> 32) as u32);
    } else if let Some(low) = out.get_mut(2 * word) {
        *low = value as u32;
    }
}

/// The number with these coefficients of `digit_bits` bits, two streams at once: the lower half, and the upper half.
pub(super) fn limbs<S: Doubles>(s: S, coefficients: &[Complex<S::Vector>], digit_bits: usize, out: &mut [u32]) {
    let (low, high) = coefficients.split_at(coefficients.len() / 2);
    // Both halves have a multiple of 64 coefficients, so the upper one begins with a word.
    let middle = (low.len() * 2 * S::LANES * digit_bits / 32).min(out.len());
    let (low_out, high_out) = out.split_at_mut(middle);
    let mut streams = [0, 1].map(|_| Stream { sum: 0, place: 0, written: 0 });
    s.compiled(
        #[inline(always)]
        || {
            let pair_bits = 2 * digit_bits as u32;
            let rounder = ROUNDER.to_bits() as i64;
            let combine = |pair: &[u64; 2]| {
                let [first, second] = pair.map(|bits| (bits as i64).wrapping_sub(rounder));
                first + (second << digit_bits)
            };
            let [lower, upper] = &mut streams;
            for (low, high) in low.iter().zip(high) {
                for (low, high) in [(low.re, high.re), (low.im, high.im)] {
                    let (low, high): ([u64; MAX_LANES], [u64; MAX_LANES]) = (s.bits(low), s.bits(high));
                    let pairs = low.as_chunks::<2>().0.iter().zip(high.as_chunks::<2>().0).take(S::LANES / 2);
                    for (low, high) in pairs {
                        lower.push(combine(low), pair_bits, low_out);
                        upper.push(combine(high), pair_bits, high_out);
                    }
                }
            }
        },
    );
    let [lower, upper] = streams;
    // The digits are all in: what is left of the upper half is above the number, so it is zero.
    upper.finish(high_out);
    add_signed(high_out, lower.sum);
    low_out.get_mut(2 * lower.written..).unwrap_or_default().fill(0);
}

impl Stream {
    fn finish(mut self, out: &mut [u32]) {
        while 2 * self.written < out.len() {
            put(out, self.written, self.sum as u64);
            self.sum >>= 64;
            self.written += 1;
        }
    }
}

/// `x ← x + carry`, wrapping.
fn add_signed(x: &mut [u32], mut carry: i128) {
    for limb in x {
        if carry == 0 {
            break;
        }
        carry += i128::from(*limb);
        *limb = carry as u32;
        carry >>= 32;
    }
}
