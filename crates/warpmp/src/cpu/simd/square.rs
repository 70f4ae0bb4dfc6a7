//! Squares of vectors of digits: half the products of a multiplication.
//!
//! computes   c = a², eight at once
//! cost       m²/2 + 4·m digit products for m digits; below Karatsuba's threshold
//!
//! A strip of digits is multiplied by what stands above it, once; the sum of all strips is doubled, and
//! the strips' own squares are added.
//!
//! bound: a column of the doubled sum and the own squares is that of the product `a·a`: see `product.rs`.

use std::arch::x86_64::{__m512i, _mm512_add_epi64, _mm512_setzero_si512};

use super::product::{STRIP, add_middle, reduce, strips, sum};

/// Karatsuba's method is used from this many digits on (measured).
const KARATSUBA_DIGITS: usize = 80;

/// Vectors of scratch that [`sqr`] needs for m digits.
pub(super) const fn scratch(m: usize) -> usize {
    // 3·(h + 1) a level with h = ⌈m / 2⌉, and at most as much below it.
    if m < KARATSUBA_DIGITS { 0 } else { 3 * m + 96 }
}

/// `c = a²`; `c` has twice as many digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sqr(a: &[__m512i], c: &mut [__m512i], scratch: &mut [__m512i]) {
    if a.len() < KARATSUBA_DIGITS {
        schoolbook(a, c);
    } else {
        karatsuba(a, c, scratch);
    }
}

/// `c = a₀² + ((a₀+a₁)² − a₀² − a₁²)·x + a₁²·x²`, halves of h and n − h ≤ h digits.
#[target_feature(enable = "avx512f,avx512ifma")]
fn karatsuba(a: &[__m512i], c: &mut [__m512i], scratch: &mut [__m512i]) {
    let h = a.len().div_ceil(2);
    let (a0, a1) = a.split_at(h);
    let (total, scratch) = scratch.split_at_mut(h + 1);
    let (middle, scratch) = scratch.split_at_mut(2 * (h + 1));
    sum(a0, a1, total);
    sqr(total, middle, scratch);
    let (low, high) = c.split_at_mut(2 * h);
    sqr(a0, low, scratch);
    sqr(a1, high, scratch);
    add_middle(middle, c, h);
}

/// Each product of two different digits once, doubled, and the squares of the digits.
#[target_feature(enable = "avx512f,avx512ifma")]
fn schoolbook(a: &[__m512i], c: &mut [__m512i]) {
    c.fill(_mm512_setzero_si512());
    for start in (0..a.len()).step_by(STRIP) {
        let end = (start + STRIP).min(a.len());
        strips(&a[start..end], &a[end..], &mut c[start + end..]);
    }
    for c in &mut *c {
        *c = _mm512_add_epi64(*c, *c);
    }
    for start in (0..a.len()).step_by(STRIP) {
        let own = &a[start..(start + STRIP).min(a.len())];
        strips(own, own, &mut c[2 * start..]);
    }
    reduce(c);
}
