//! Squares of vectors of digits: half the products of a multiplication.
//!
//! computes   `c = a²`, one for each lane
//! cost       m²/2 + 4·m digit products for m digits; below Karatsuba's threshold
//!
//! A strip of digits is multiplied by the digits above it, once. The sum of all strips is doubled, and the strips' own
//! squares are added.
//!
//! bound: a column of the doubled sum and the own squares is the column of the product `a·a`: see [`product`](crate::product).

use crate::product::{STRIP, add_middle, reduce, strips, sum};
use crate::simd::Simd;

/// Vectors of scratch that [`sqr`] needs for m digits.
pub const fn scratch<S: Simd>(m: usize) -> usize {
    // 3·(h + 1) a level with h = ⌈m / 2⌉, and at most as much below it.
    if m < S::SQUARE_KARATSUBA_DIGITS { 0 } else { 3 * m + 96 }
}

/// `c = a²`; `c` has twice as many digits.
///
/// # Panics
/// With too little scratch: see [`scratch`].
pub fn sqr<S: Simd>(s: S, a: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    if a.len() < S::SQUARE_KARATSUBA_DIGITS {
        schoolbook(s, a, c);
        reduce(s, c);
    } else {
        karatsuba(s, a, c, scratch);
    }
}

/// The columns of `a²`, not all of them carried: a reduction follows, which carries them. See [`sqr`].
pub(crate) fn columns<S: Simd>(s: S, a: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    if a.len() < S::SQUARE_KARATSUBA_DIGITS {
        schoolbook(s, a, c);
    } else {
        sqr(s, a, c, scratch);
    }
}

/// `c = a₀² + ((a₀+a₁)² − a₀² − a₁²)·x + a₁²·x²`, halves of h and n − h ≤ h digits.
fn karatsuba<S: Simd>(s: S, a: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    let h = a.len().div_ceil(2);
    let (a0, a1) = a.split_at(h);
    let (total, scratch) = scratch.split_at_mut(h + 1);
    let (middle, scratch) = scratch.split_at_mut(2 * (h + 1));
    sum(s, a0, a1, total);
    sqr(s, total, middle, scratch);
    let (low, high) = c.split_at_mut(2 * h);
    sqr(s, a0, low, scratch);
    sqr(s, a1, high, scratch);
    add_middle(s, middle, c, h);
}

/// Each product of two different digits once, doubled, and the squares of the digits.
fn schoolbook<S: Simd>(s: S, a: &[S::Vector], c: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            c.fill(s.zero());
            for start in (0..a.len()).step_by(STRIP) {
                let end = (start + STRIP).min(a.len());
                strips(s, &a[start..end], &a[end..], &mut c[start + end..]);
            }
            for c in &mut *c {
                *c = s.add(*c, *c);
            }
            for start in (0..a.len()).step_by(STRIP) {
                let own = &a[start..(start + STRIP).min(a.len())];
                strips(s, own, own, &mut c[2 * start..]);
            }
        },
    );
}
