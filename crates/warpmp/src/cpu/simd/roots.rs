//! Square roots of a group of lanes at once.

use warpmp_simd::root::Roots;
use warpmp_simd::shift::Distances;
use warpmp_simd::{Simd, digits, product, square};

use super::super::rows::Piece;
use super::group::bits;
use super::rows;

/// Roots, and remainders.
///
/// Numbers are shifted up by an even distance, twice the shift of their roots; remainders are taken from the numbers as they come.
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
    for first in (0..lanes).step_by(S::LANES) {
        let filled = S::LANES.min(lanes - first);
        let of = rows(a, first, filled);
        // A zero, or a lane that is missing, is taken for 1 and leaves no root.
        let lengths = of.map(|row| bits(row).max(1));
        digits::load(s, &of, &mut words, &mut number);
        let mut any = zero;
        s.vectorize(
            #[inline(always)]
            || {
                for digit in &number {
                    any = s.or(any, *digit);
                }
            },
        );
        let is_zero = s.equal(any, zero);
        number[0] = s.add_where(is_zero, number[0], s.splat(1));
        let half = lengths.map(|length| (2 * S::DIGIT_BITS * n - 4 - length) / 2);
        Distances::new(s, &half.map(|half| 2 * half)).up(&number, &mut shifted);
        roots.run(&mut shifted, &mut root);
        Distances::new(s, &half).down(&mut root);
        square::sqr(s, &root, &mut power, &mut scratch);
        product::difference(s, &number, &power, &mut shifted);
        root[0] = s.sub_where(is_zero, root[0], s.splat(1));
        for (result, digits) in results.iter_mut().zip([&root, &shifted]) {
            let out = &mut result.words[first * result.limbs..][..filled * result.limbs];
            digits::store(s, digits, &mut words, out, result.limbs);
        }
    }
}
