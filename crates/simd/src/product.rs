//! Products of vectors of digits: one independent product for each lane.
//!
//! A number is a slice of vectors, least significant digit first. Operands and results have reduced digits.
//!
//! bound: a column of an m × n product gets min(m, n) products of digits and a carry. [`Simd::MAX_DIGITS`] says how many
//! of them a word holds. So carries are propagated once, at the end.
//! source: Gueron, Krasnov, Software Implementation of Modular Exponentiation, Using Advanced Vector Instructions
//! Architectures, 2012 (carry-free columns); Drucker, Gueron, Fast modular squaring with AVX512IFMA, 2019.

use crate::simd::Simd;

/// Digits of one operand that are kept in registers.
pub(crate) const STRIP: usize = 8;

/// Vectors of scratch that [`mul`] needs for m × n digits.
pub const fn scratch<S: Simd>(m: usize, n: usize) -> usize {
    let (long, short) = if m < n { (n, m) } else { (m, n) };
    if short < S::KARATSUBA_DIGITS {
        return 0;
    }
    // Karatsuba on `short` digits: 4·(h + 1) with h = ⌈short / 2⌉, then the same for h + 1, …; above
    // that one partial product for each level of unequal lengths: they at least halve every other level.
    let partial = if long == short { 0 } else { 4 * short };
    partial + 4 * short + 128
}

/// `c = a·b`; `c` has as many digits as both together.
///
/// # Panics
/// With too little scratch: see [`scratch`].
pub fn mul<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if short.len() < S::KARATSUBA_DIGITS {
        schoolbook(s, short, long, c);
    } else if short.len() == long.len() {
        karatsuba(s, short, long, c, scratch);
    } else {
        unequal(s, long, short, c, scratch);
    }
}

/// The columns of `a·b`, not all of them carried: a reduction follows, which carries them. See [`mul`].
pub(crate) fn columns<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    if a.len().min(b.len()) < S::KARATSUBA_DIGITS {
        s.vectorize(
            #[inline(always)]
            || {
                c.fill(s.zero());
                strips(s, a, b, c);
            },
        );
    } else {
        mul(s, a, b, c, scratch);
    }
}

/// Unequal lengths: the longer operand in parts of the length of the shorter.
fn unequal<S: Simd>(s: S, long: &[S::Vector], short: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    let n = short.len();
    let (partial, scratch) = scratch.split_at_mut(2 * n);
    c.fill(s.zero());
    for (i, part) in long.chunks(n).enumerate() {
        let partial = &mut partial[..part.len() + n];
        mul(s, part, short, partial, scratch);
        // The sum is at most the product so far: its carry ends within these digits.
        add_reduced(s, &mut c[i * n..][..part.len() + n], partial);
    }
}

/// `c = a₀b₀ + ((a₀+a₁)(b₀+b₁) − a₀b₀ − a₁b₁)·x + a₁b₁·x²`, halves of h and n − h ≤ h digits.
fn karatsuba<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector], scratch: &mut [S::Vector]) {
    let h = a.len().div_ceil(2);
    let (a0, a1) = a.split_at(h);
    let (b0, b1) = b.split_at(h);
    let (sums, scratch) = scratch.split_at_mut(2 * (h + 1));
    let (middle, scratch) = scratch.split_at_mut(2 * (h + 1));
    let (sum_a, sum_b) = sums.split_at_mut(h + 1);
    sum(s, a0, a1, sum_a);
    sum(s, b0, b1, sum_b);
    mul(s, sum_a, sum_b, middle, scratch);
    let (low, high) = c.split_at_mut(2 * h);
    mul(s, a0, b0, low, scratch);
    mul(s, a1, b1, high, scratch);
    add_middle(s, middle, c, h);
}

/// The last step of Karatsuba's method on halves of h and n − h ≤ h digits. `c` holds the products of the lower and of the
/// upper halves, `middle` holds the product of the sums.
pub(crate) fn add_middle<S: Simd>(s: S, middle: &mut [S::Vector], c: &mut [S::Vector], h: usize) {
    s.vectorize(
        #[inline(always)]
        || {
            let (low, high) = c.split_at(2 * h);
            // Digits of the difference are signed and have two bits more; the addition reduces them.
            for (middle, low) in middle.iter_mut().zip(low) {
                *middle = s.sub(*middle, *low);
            }
            for (middle, high) in middle.iter_mut().zip(high) {
                *middle = s.sub(*middle, *high);
            }
        },
    );
    // 2h + 2 digits fit above the first h of 2n ≥ 4h − 2: h is 4 at the least.
    add_reduced(s, &mut c[h..], middle);
}

/// `c = a + b` with one digit more than `a`, which has as many as `b` or more.
pub(crate) fn sum<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            for (c, (a, b)) in c.iter_mut().zip(a.iter().zip(b)) {
                *c = s.add(*a, *b);
            }
            c[b.len()..a.len()].copy_from_slice(&a[b.len()..]);
            c[a.len()] = s.zero();
            s.carry_up(c);
        },
    );
}

/// `c += a`: `a` of signed digits, `c` and the result reduced and not negative.
fn add_reduced<S: Simd>(s: S, c: &mut [S::Vector], a: &[S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            let (below, above) = c.split_at_mut(a.len());
            for (c, a) in below.iter_mut().zip(a) {
                *c = s.add(*c, *a);
            }
            let upper = s.carry_up_signed(below, s.zero());
            s.carry_up_signed(above, upper);
        },
    );
}

/// `a ← a + b` for numbers of equal lengths; nothing leaves the highest digit.
pub fn add_to<S: Simd>(s: S, a: &mut [S::Vector], b: &[S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            for (a, b) in a.iter_mut().zip(b) {
                *a = s.add(*a, *b);
            }
            s.carry_up(a);
        },
    );
}

/// Carries unsigned columns up.
pub fn reduce<S: Simd>(s: S, c: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || s.carry_up(c),
    );
}

/// `c = a − b` for `a ≥ b`, reduced.
pub fn difference<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            for (c, (a, b)) in c.iter_mut().zip(a.iter().zip(b)) {
                *c = s.sub(*a, *b);
            }
            s.carry_up_signed(c, s.zero());
        },
    );
}

/// `c ← c − m` in the lanes where `c ≥ m`; both reduced and of equal lengths. Returns those lanes.
pub fn subtract_if_not_less<S: Simd>(s: S, c: &mut [S::Vector], m: &[S::Vector]) -> S::Mask {
    s.vectorize(
        #[inline(always)]
        || {
            let mut borrow = s.zero();
            for (c, m) in c.iter().zip(m) {
                borrow = s.signed_carry(s.add(s.sub(*c, *m), borrow));
            }
            let lanes = s.except(s.mask(u8::MAX), s.is_negative(borrow));
            if s.any(lanes) {
                borrow = s.zero();
                for (c, m) in c.iter_mut().zip(m) {
                    let digit = s.add(s.sub_where(lanes, *c, *m), borrow);
                    borrow = s.signed_carry(digit);
                    *c = s.digit(digit);
                }
            }
            lanes
        },
    )
}

/// The lanes in which two reduced numbers of equal lengths are equal.
pub fn equal<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector]) -> S::Mask {
    s.vectorize(
        #[inline(always)]
        || {
            let mut lanes = s.mask(u8::MAX);
            for (a, b) in a.iter().zip(b) {
                lanes = s.both(lanes, s.equal(*a, *b));
            }
            lanes
        },
    )
}

/// `x ← y` in the lanes of the mask.
pub fn assign<S: Simd>(s: S, lanes: S::Mask, x: &mut [S::Vector], y: &[S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            for (x, y) in x.iter_mut().zip(y) {
                *x = s.select(lanes, *y, *x);
            }
        },
    );
}

/// All products of digits, summed by columns.
fn schoolbook<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            c.fill(s.zero());
            strips(s, a, b, c);
            s.carry_up(c);
        },
    );
}

/// `c += a·b` in columns that are not carried.
pub(crate) fn strips<S: Simd>(s: S, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            let (whole, rest) = a.as_chunks::<STRIP>();
            for (i, a) in whole.iter().enumerate() {
                s.strip(a, b, &mut c[i * STRIP..]);
            }
            let top = &mut c[whole.len() * STRIP..];
            match *rest {
                [a] => s.strip(&[a], b, top),
                [a0, a1] => s.strip(&[a0, a1], b, top),
                [a0, a1, a2] => s.strip(&[a0, a1, a2], b, top),
                [a0, a1, a2, a3] => s.strip(&[a0, a1, a2, a3], b, top),
                [a0, a1, a2, a3, a4] => s.strip(&[a0, a1, a2, a3, a4], b, top),
                [a0, a1, a2, a3, a4, a5] => s.strip(&[a0, a1, a2, a3, a4, a5], b, top),
                [a0, a1, a2, a3, a4, a5, a6] => s.strip(&[a0, a1, a2, a3, a4, a5, a6], b, top),
                _ => {}
            }
        },
    );
}

/// `c += a·b` for a few digits of `a`: a window of columns slides over `b` in registers.
#[inline(always)]
pub(crate) fn sliding_strip<S: Simd, const T: usize>(s: S, a: &[S::Vector; T], b: &[S::Vector], c: &mut [S::Vector]) {
    let zero = s.zero();
    // low[i] belongs to column j + i, high[i] to column j + i + 1, carried to column j.
    let (mut low, mut high, mut carried) = ([zero; T], [zero; T], zero);
    let (sliding, last) = c.split_at_mut(b.len());
    for (b, c) in b.iter().zip(sliding) {
        let column = s.add(s.mul_low(low[0], a[0], *b), carried);
        *c = s.add(*c, column);
        carried = s.mul_high(high[0], a[0], *b);
        // Multiply and slide in one step: a loop that only moved would go through memory.
        for i in 1..T {
            low[i - 1] = s.mul_low(low[i], a[i], *b);
            high[i - 1] = s.mul_high(high[i], a[i], *b);
        }
        low[T - 1] = zero;
        high[T - 1] = zero;
    }
    for (i, c) in last[..T].iter_mut().enumerate() {
        *c = s.add(*c, s.add(low[i], carried));
        carried = high[i];
    }
}
