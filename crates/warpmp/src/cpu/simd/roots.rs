//! Square roots of a group of lanes at once.

use warpmp_simd::root::Roots;
use warpmp_simd::shift::Distances;
use warpmp_simd::{Simd, digits, product, square};

use super::super::rows::Piece;
use super::group::bits;
use super::rows;

/// Roots, and remainders.
///
/// Numbers are shifted up by an even distance, twice the shift of their roots. Where no root moves by a digit, its remainder follows from the remainder of the
/// shifted number; else it is taken from the number as it comes.
pub(super) fn run<S: Simd>(s: S, piece: Piece<'_>) {
    let a = piece.operands[0];
    // The shift leaves 4 or 5 bits of the digits free.
    let n = (32 * a.limbs() + 4).div_ceil(2 * S::DIGIT_BITS);
    let zero = s.zero();
    let mut words = vec![zero; digits::words::<S>(a.limbs())];
    let memory = |count: usize| vec![zero; count];
    let (mut number, mut shifted, mut root, mut power) = (memory(2 * n), memory(2 * n), memory(n), memory(2 * n));
    let mut scratch = memory(square::scratch::<S>(n));
    let mut roots = Roots::new(s, n);
    let mut results = piece.results;
    let lanes = results[0].words.len() / results[0].limbs;
    let longest = 2 * S::DIGIT_BITS * n - 4;
    for first in (0..lanes).step_by(S::LANES) {
        let filled = S::LANES.min(lanes - first);
        let of = rows(a, first, filled);
        let lengths = of.map(bits);
        digits::load(s, &of, &mut words, &mut number);
        // A zero, or a lane that is missing, is taken for a number of full length and leaves no root.
        let zeros = lengths.iter().enumerate().fold(0, |lanes, (i, length)| lanes | u8::from(*length == 0) << i);
        let is_zero = s.mask(zeros);
        number[2 * n - 1] = s.add_where(is_zero, number[2 * n - 1], s.splat(1 << (S::DIGIT_BITS - 5)));
        let half = lengths.map(|length| if length == 0 { 0 } else { (longest - length) / 2 });
        let (single, double) = (Distances::new(s, &half), Distances::new(s, &half.map(|half| 2 * half)));
        double.up(&number, &mut shifted);
        roots.run(&mut shifted, &mut root);
        if single.longest() < S::DIGIT_BITS {
            power[..n].copy_from_slice(&root);
            remainder(s, s.from_words(half.map(|half| (1 << half) - 1)), &mut power[..n], &mut shifted[..=n]);
            double.down(&mut shifted[..=n]);
            shifted[n + 1..].fill(zero);
            single.down(&mut root);
        } else {
            single.down(&mut root);
            square::sqr(s, &root, &mut power, &mut scratch);
            product::difference(s, &number, &power, &mut shifted);
        }
        if zeros != 0 {
            for digit in root.iter_mut().chain(&mut shifted) {
                *digit = s.select(is_zero, zero, *digit);
            }
        }
        for (result, digits) in results.iter_mut().zip([&root, &shifted]) {
            let out = &mut result.words[first * result.limbs..][..filled * result.limbs];
            digits::store(s, digits, &mut words, out, result.limbs);
        }
    }
}

/// `r + (2s − e)·e`, reduced, with the bits `e` of the root `s` that the mask has: what `s − e` as the root leaves, if `s` leaves `r`. The
/// remainder has a digit of room; the root is overwritten.
fn remainder<S: Simd>(s: S, mask: S::Vector, root: &mut [S::Vector], rest: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            let last = s.and(root[0], mask);
            for digit in &mut *root {
                *digit = s.add(*digit, *digit);
            }
            root[0] = s.sub(root[0], last);
            s.carry_up(root);
            rest[root.len()] = s.zero();
            s.strip(&[last], root, rest);
            s.carry_up(rest);
        },
    );
}
