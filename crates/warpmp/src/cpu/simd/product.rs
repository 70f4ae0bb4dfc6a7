//! Products of vectors of digits: eight independent products at once.
//!
//! A number is a slice of vectors, least significant digit first. *Reduced* digits are below 2⁵²;
//! operands and results are reduced.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpge_epi64_mask, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_mask_sub_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64,
};

use super::DIGIT_BITS;
use super::digits::MASK;

/// Karatsuba's method is used from this many digits on (measured; flat from 32 to 64).
const KARATSUBA_DIGITS: usize = 48;
/// Digits of one operand that are kept in registers.
pub(super) const STRIP: usize = 8;
/// The shift that gives the carry.
const CARRY: u32 = DIGIT_BITS as u32;

/// Vectors of scratch that [`mul`] needs for m × n digits.
pub(super) const fn scratch(m: usize, n: usize) -> usize {
    let (long, short) = if m < n { (n, m) } else { (m, n) };
    if short < KARATSUBA_DIGITS {
        return 0;
    }
    // Karatsuba on `short` digits: 4·(h + 1) with h = ⌈short / 2⌉, then the same for h + 1, …; above
    // that one partial product for each level of unequal lengths: they at least halve every other level.
    let partial = if long == short { 0 } else { 4 * short };
    partial + 4 * short + 128
}

/// `c = a·b`; `c` has as many digits as both together.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn mul(a: &[__m512i], b: &[__m512i], c: &mut [__m512i], scratch: &mut [__m512i]) {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if short.len() < KARATSUBA_DIGITS {
        schoolbook(short, long, c);
    } else if short.len() == long.len() {
        karatsuba(short, long, c, scratch);
    } else {
        unequal(long, short, c, scratch);
    }
}

/// Unequal lengths: the longer operand in parts of the length of the shorter.
#[target_feature(enable = "avx512f,avx512ifma")]
fn unequal(long: &[__m512i], short: &[__m512i], c: &mut [__m512i], scratch: &mut [__m512i]) {
    let n = short.len();
    let (partial, scratch) = scratch.split_at_mut(2 * n);
    c.fill(_mm512_setzero_si512());
    for (i, part) in long.chunks(n).enumerate() {
        let partial = &mut partial[..part.len() + n];
        mul(part, short, partial, scratch);
        // The sum is at most the product so far: its carry ends within these digits.
        add_reduced(&mut c[i * n..][..part.len() + n], partial);
    }
}

/// `c = a₀b₀ + ((a₀+a₁)(b₀+b₁) − a₀b₀ − a₁b₁)·x + a₁b₁·x²`, halves of h and n − h ≤ h digits.
#[target_feature(enable = "avx512f,avx512ifma")]
fn karatsuba(a: &[__m512i], b: &[__m512i], c: &mut [__m512i], scratch: &mut [__m512i]) {
    let h = a.len().div_ceil(2);
    let (a0, a1) = a.split_at(h);
    let (b0, b1) = b.split_at(h);
    let (sums, scratch) = scratch.split_at_mut(2 * (h + 1));
    let (middle, scratch) = scratch.split_at_mut(2 * (h + 1));
    let (sum_a, sum_b) = sums.split_at_mut(h + 1);
    sum(a0, a1, sum_a);
    sum(b0, b1, sum_b);
    mul(sum_a, sum_b, middle, scratch);
    let (low, high) = c.split_at_mut(2 * h);
    mul(a0, b0, low, scratch);
    mul(a1, b1, high, scratch);
    add_middle(middle, c, h);
}

/// The last step of Karatsuba's method on halves of h and n − h ≤ h digits: `c` has the products of the
/// lower and of the upper halves, `middle` that of the sums.
#[target_feature(enable = "avx512f")]
pub(super) fn add_middle(middle: &mut [__m512i], c: &mut [__m512i], h: usize) {
    let (low, high) = c.split_at(2 * h);
    // Digits of the difference lie between −2⁵³ and 2⁵²: signed, and reduced by the addition.
    for (middle, low) in middle.iter_mut().zip(low) {
        *middle = _mm512_sub_epi64(*middle, *low);
    }
    for (middle, high) in middle.iter_mut().zip(high) {
        *middle = _mm512_sub_epi64(*middle, *high);
    }
    // 2h + 2 digits fit above the first h of 2n ≥ 4h − 2: h is 4 at the least.
    add_reduced(&mut c[h..], middle);
}

/// `c = a + b` with one digit more than `a`, which has as many as `b` or more.
#[target_feature(enable = "avx512f")]
pub(super) fn sum(a: &[__m512i], b: &[__m512i], c: &mut [__m512i]) {
    for (c, (a, b)) in c.iter_mut().zip(a.iter().zip(b)) {
        *c = _mm512_add_epi64(*a, *b);
    }
    c[b.len()..a.len()].copy_from_slice(&a[b.len()..]);
    c[a.len()] = _mm512_setzero_si512();
    reduce(c);
}

/// `c += a`: `a` of signed digits, `c` and the result reduced and not negative.
#[target_feature(enable = "avx512f")]
fn add_reduced(c: &mut [__m512i], a: &[__m512i]) {
    let mask = _mm512_set1_epi64(MASK);
    let mut carry = _mm512_setzero_si512();
    let (below, above) = c.split_at_mut(a.len());
    for (c, a) in below.iter_mut().zip(a) {
        let digit = _mm512_add_epi64(_mm512_add_epi64(*c, *a), carry);
        carry = _mm512_srai_epi64::<CARRY>(digit);
        *c = _mm512_and_si512(digit, mask);
    }
    for c in above {
        let digit = _mm512_add_epi64(*c, carry);
        carry = _mm512_srai_epi64::<CARRY>(digit);
        *c = _mm512_and_si512(digit, mask);
    }
}

/// Carries unsigned columns up.
#[target_feature(enable = "avx512f")]
pub(super) fn reduce(c: &mut [__m512i]) {
    let mask = _mm512_set1_epi64(MASK);
    let mut carry = _mm512_setzero_si512();
    for c in c {
        let column = _mm512_add_epi64(*c, carry);
        carry = _mm512_srli_epi64::<CARRY>(column);
        *c = _mm512_and_si512(column, mask);
    }
}

/// Carries signed columns up; their sum is not negative.
#[target_feature(enable = "avx512f")]
pub(super) fn reduce_signed(c: &mut [__m512i]) {
    let mask = _mm512_set1_epi64(MASK);
    let mut carry = _mm512_setzero_si512();
    for c in c {
        let column = _mm512_add_epi64(*c, carry);
        carry = _mm512_srai_epi64::<CARRY>(column);
        *c = _mm512_and_si512(column, mask);
    }
}

/// `c ← c − m` in the lanes where `c ≥ m`; both reduced and of equal lengths. Returns those lanes.
#[target_feature(enable = "avx512f")]
pub(super) fn subtract_if_not_less(c: &mut [__m512i], m: &[__m512i]) -> u8 {
    let zero = _mm512_setzero_si512();
    let mut borrow = zero;
    for (c, m) in c.iter().zip(m) {
        borrow = _mm512_srai_epi64::<CARRY>(_mm512_add_epi64(_mm512_sub_epi64(*c, *m), borrow));
    }
    let lanes = _mm512_cmpge_epi64_mask(borrow, zero);
    if lanes != 0 {
        let mask = _mm512_set1_epi64(MASK);
        borrow = zero;
        for (c, m) in c.iter_mut().zip(m) {
            let digit = _mm512_add_epi64(_mm512_mask_sub_epi64(*c, lanes, *c, *m), borrow);
            borrow = _mm512_srai_epi64::<CARRY>(digit);
            *c = _mm512_and_si512(digit, mask);
        }
    }
    lanes
}

/// All products of digits, summed by columns.
#[target_feature(enable = "avx512f,avx512ifma")]
fn schoolbook(a: &[__m512i], b: &[__m512i], c: &mut [__m512i]) {
    c.fill(_mm512_setzero_si512());
    strips(a, b, c);
    reduce(c);
}

/// `c += a·b` in columns that are not carried.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn strips(a: &[__m512i], b: &[__m512i], c: &mut [__m512i]) {
    let (whole, rest) = a.as_chunks::<STRIP>();
    for (i, a) in whole.iter().enumerate() {
        strip(a, b, &mut c[i * STRIP..]);
    }
    let top = &mut c[whole.len() * STRIP..];
    match *rest {
        [a] => strip(&[a], b, top),
        [a0, a1] => strip(&[a0, a1], b, top),
        [a0, a1, a2] => strip(&[a0, a1, a2], b, top),
        [a0, a1, a2, a3] => strip(&[a0, a1, a2, a3], b, top),
        [a0, a1, a2, a3, a4] => strip(&[a0, a1, a2, a3, a4], b, top),
        [a0, a1, a2, a3, a4, a5] => strip(&[a0, a1, a2, a3, a4, a5], b, top),
        [a0, a1, a2, a3, a4, a5, a6] => strip(&[a0, a1, a2, a3, a4, a5, a6], b, top),
        _ => {}
    }
}

/// `c += a·b` for a few digits of `a`: a window of columns slides over `b` in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn strip<const T: usize>(a: &[__m512i; T], b: &[__m512i], c: &mut [__m512i]) {
    let zero = _mm512_setzero_si512();
    // low[i] belongs to column j + i, high[i] to column j + i + 1, carried to column j.
    let (mut low, mut high, mut carried) = ([zero; T], [zero; T], zero);
    let (sliding, last) = c.split_at_mut(b.len());
    for (b, c) in b.iter().zip(sliding) {
        let column = _mm512_add_epi64(_mm512_madd52lo_epu64(low[0], a[0], *b), carried);
        *c = _mm512_add_epi64(*c, column);
        carried = _mm512_madd52hi_epu64(high[0], a[0], *b);
        // Multiply and slide in one step: a loop that only moved would go through memory.
        for i in 1..T {
            low[i - 1] = _mm512_madd52lo_epu64(low[i], a[i], *b);
            high[i - 1] = _mm512_madd52hi_epu64(high[i], a[i], *b);
        }
        low[T - 1] = zero;
        high[T - 1] = zero;
    }
    for (i, c) in last[..T].iter_mut().enumerate() {
        *c = _mm512_add_epi64(*c, _mm512_add_epi64(low[i], carried));
        carried = high[i];
    }
}
