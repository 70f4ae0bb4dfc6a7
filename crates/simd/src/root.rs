//! Square roots of vectors of digits: one independent root and remainder for each lane.
//!
//! computes   `s = ⌊√a⌋` and `a − s²` for `a` in `[x^2n/64, x^2n/16)`, `n` digits of the root, `x = 2^DIGIT_BITS`
//! cost       about `n²/2` digit products to 48 digits; above, a division and a square of half the length, and the same
//!            for the upper half
//!
//! Short roots are made a digit at a time. With the upper digits `s₁` of the root and their remainder, the next digit `q` is the largest with
//! `(2s₁·x + q)·q` not above `r`, the remainder and the next two digits of the number. So it is a division whose divisor gets a digit longer at each step,
//! and [`division`] explains columns, complements and the rare digit that is too small. The first two digits come from doubles,
//! and integers correct them.
//!
//! bound: `a ≥ x^2n/64` makes `2s ≥ xⁿ/4`, and `a < x^2n/16` makes `2s < xⁿ/2`: as divisors want it. Let `y` be the real number with
//! `(2s₁·x + y)·y = r`. It is `r/2s₁x` less `y²/2s₁x`, which is less than `5/x` because `s₁` has two digits or more. Two units of `4/x` are taken
//! from the estimate for that. The digits below the highest two of the divisor, which are known from the beginning, add less than 2 to these: the reciprocal is
//! `8` units of its lower digit nearer to the quotient, and below it. Together an estimate lacks less than `2^10/x`, so a digit is `⌊y⌋` or
//! one less, the latter only if the fraction of `y` is below `2^10/x`. The next `y` is then below `x + 2^10`, as with quotients. At the end the root is
//! right, or one too small.
//!
//! Long roots: let `l` be nearly half of the digits. The upper digits give `s₁` and `r₁` with `aₕ = s₁² + r₁`. Dividing `r₁·x^l` and the
//! next `l` digits by `2s₁` gives `q` and `w`. The root is `s₁·x^l + q`, or less. The remainder is `w·x^l + a₀ − q²` with the
//! lowest digits `a₀`; while it is negative, the root is one less.
//!
//! bound: `aₕ ≥ x^2h/64` with `h` upper digits makes `2s₁ ≥ x^h/4`, and `aₕ < x^2h/16` makes `2s₁ < x^h/2`: divisors have one bit
//! less than their digits, as the division wants them. `r₁ ≤ 2s₁`, so `q ≤ x^l`, and the remainder is at least `−x^2l`, which is `−4s·x^(l−h)` at most: with
//! `l < h` one correction is enough.
//! source: Zimmermann, Karatsuba Square Root, 1999.

use crate::division::{self, Divisors};
use crate::product::{reduce, subtract_if_not_less};
use crate::simd::{MAX_LANES, Simd};
use crate::square;

/// Digits of the longest root that is made a digit at a time (measured).
const BASE_DIGITS: usize = 48;
/// What is taken from an estimate for the square of the digit, in units of `4/x`.
const SQUARE_UNITS: u64 = 2;

/// Memory for roots of a length.
#[derive(Clone, Debug)]
pub struct Roots<S: Simd> {
    s: S,
    /// Divisors for each length of an upper half, the longest one first.
    levels: Vec<Divisors<S>>,
    divisor: Vec<S::Vector>,
    quotient: Vec<S::Vector>,
    rest: Vec<S::Vector>,
    square: Vec<S::Vector>,
    scratch: Vec<S::Vector>,
    /// `xⁿ − 1 − 2s` of a short root.
    complement: Vec<S::Vector>,
}

impl<S: Simd> Roots<S> {
    /// Memory for roots of so many digits.
    pub fn new(s: S, digits: usize) -> Self {
        let halves = std::iter::successors(Some(digits), |n| (*n > BASE_DIGITS).then(|| n - lower(*n))).skip(1);
        let memory = |count: usize| vec![s.zero(); count];
        Self {
            s,
            levels: halves.map(|half| Divisors::new(s, half)).collect(),
            divisor: memory(digits),
            quotient: memory(digits + 3),
            rest: memory(2 * digits + 3),
            square: memory(digits + 4),
            scratch: memory(square::scratch::<S>(digits / 2 + 1)),
            complement: memory(digits.min(BASE_DIGITS)),
        }
    }

    /// The roots of `2n` digits, into `n` digits. The remainders are the first `n` digits of `a` afterwards.
    ///
    /// # Panics
    /// With another `n` than the memory is for.
    pub fn run(&mut self, a: &mut [S::Vector], root: &mut [S::Vector]) {
        self.level(0, a, root);
    }

    fn level(&mut self, level: usize, a: &mut [S::Vector], root: &mut [S::Vector]) {
        let (s, n) = (self.s, root.len());
        if n <= BASE_DIGITS {
            return self.short(a, root);
        }
        let (l, h) = (lower(n), n - lower(n));
        self.level(level + 1, &mut a[2 * l..], &mut root[l..]);
        // a: the lower digits, and the remainder above them.
        s.vectorize(
            #[inline(always)]
            || {
                for (double, digit) in self.divisor.iter_mut().zip(&root[l..]) {
                    *double = s.add(*digit, *digit);
                }
            },
        );
        let divisor = &mut self.divisor[..h];
        reduce(s, divisor);
        let (divisors, bits) = (&mut self.levels[level], S::DIGIT_BITS * n);
        divisors.set(divisor, &[S::DIGIT_BITS * h - 1; MAX_LANES]);
        divisors.divide(&a[l..][..n], bits, &mut self.quotient, &mut self.rest);
        let q = &self.quotient[..=l];
        let square = &mut self.square[..2 * l + 2];
        square::sqr(s, q, square, &mut self.scratch);
        a[l..n].copy_from_slice(&self.rest[..h]);
        root[..l].copy_from_slice(&q[..l]);
        s.vectorize(
            #[inline(always)]
            || {
                // The remainder has up to n digits and a sign.
                let mut top = s.zero();
                for (i, digit) in square.iter().enumerate() {
                    if i < n {
                        a[i] = s.sub(a[i], *digit);
                    } else {
                        top = s.sub(top, *digit);
                    }
                }
                root[l] = s.add(root[l], q[l]);
                let mut sign = s.add(s.carry_up_signed(&mut a[..n], s.zero()), top);
                s.carry_up(&mut root[l..]);
                loop {
                    let negative = s.is_negative(sign);
                    if !s.any(negative) {
                        break;
                    }
                    root[0] = s.sub_where(negative, root[0], s.splat(1));
                    s.carry_up_signed(root, s.zero());
                    // 2s + 1 for the smaller root.
                    a[0] = s.add_where(negative, a[0], s.splat(1));
                    for (a, root) in a.iter_mut().zip(&*root) {
                        *a = s.add_where(negative, *a, s.add(*root, *root));
                    }
                    sign = s.add(sign, s.carry_up_signed(&mut a[..n], s.zero()));
                }
            },
        );
    }

    /// A root of a few digits, a digit at a time.
    fn short(&mut self, a: &mut [S::Vector], root: &mut [S::Vector]) {
        let (s, n) = (self.s, root.len());
        if n == 1 {
            return first(s, a, root);
        }
        let (complement, next) = (&mut self.complement[..n], &mut self.divisor[..n]);
        s.vectorize(
            #[inline(always)]
            || {
                first_two(s, &mut a[2 * n - 4..], &mut root[n - 2..]);
                for i in [n - 1, n - 2] {
                    append(s, root[i], &mut complement[i..]);
                }
                let divisor = |digit| s.sub(s.splat(S::DIGIT), digit);
                let reciprocal = s.reciprocal(divisor(complement[n - 1]), divisor(complement[n - 2]));
                for place in (0..n - 2).rev() {
                    step(s, reciprocal, &mut a[2 * place..=n + place], &mut root[place..], &mut complement[place..]);
                }
                // 2s + 1: the lowest digit of 2s is even.
                for (next, digit) in next.iter_mut().zip(&*complement) {
                    *next = s.sub(s.splat(S::DIGIT), *digit);
                }
                next[0] = s.add(next[0], s.splat(1));
                s.carry_up(&mut a[..n]);
            },
        );
        let corrected = subtract_if_not_less(s, &mut a[..n], next);
        root[0] = s.add_where(corrected, root[0], s.splat(1));
        reduce(s, root);
    }
}

/// The digits below the upper ones.
const fn lower(digits: usize) -> usize {
    (digits - 1) / 2
}

/// One digit `q` of the root: `r ← r − (2s·x + q)·q`. The root and the complement begin at its place. `r`, the remainder and two digits, is one
/// column longer than the divisor.
#[inline(always)]
fn step<S: Simd>(
    s: S,
    reciprocal: [S::Vector; 2],
    r: &mut [S::Vector],
    root: &mut [S::Vector],
    complement: &mut [S::Vector],
) {
    let n = complement.len();
    let one_digit = s.splat(S::DIGIT_BITS as u64);
    let [high, low] = division::highest(s, &mut r[..=n]);
    let units = SQUARE_UNITS + u64::from(S::SIGNED_COLUMNS);
    let (digit, over) = division::quotient(s, reciprocal, high, low, units);
    let is_over = s.except(s.mask(u8::MAX), s.equal(over, s.zero()));
    if s.any(is_over) {
        // It is 1 there: the digit before was one too small. (2s + 1)·x² is subtracted, and s becomes s + 1.
        let above = &mut complement[1..];
        for (r, digit) in r[2..].iter_mut().zip(&*above) {
            *r = s.add_where(is_over, *r, *digit);
        }
        r[n] = s.sub(r[n], s.shl(over, one_digit));
        above[0] = s.sub_where(is_over, above[0], s.splat(2));
        s.carry_up_signed(above, s.zero());
        root[1] = s.add(root[1], over);
    }
    // −q·d = q·(xᵐ − 1 − d) + q − q·xᵐ for the divisor d of m digits, whose lowest digit is q.
    complement[0] = s.sub(s.splat(S::DIGIT), digit);
    s.strip(&[digit], complement, r);
    r[0] = s.add(r[0], digit);
    r[n] = s.sub(r[n], digit);
    // The remainder is below xᵐ: the column above goes with the carry that it lacks.
    r[n - 1] = s.add(r[n - 1], s.shl(r[n], one_digit));
    root[0] = digit;
    append(s, digit, complement);
}

/// The digit of `2s` for a new digit of the root, as a complement. A digit of `2s` is even before the carry from below: it has room.
#[inline(always)]
fn append<S: Simd>(s: S, digit: S::Vector, complement: &mut [S::Vector]) {
    let double = s.add(digit, digit);
    complement[0] = s.sub(s.splat(S::DIGIT), s.digit(double));
    if let Some(above) = complement.get_mut(1) {
        *above = s.sub(*above, s.carry(double));
    }
}

/// One digit of the root of two digits, and a remainder of one digit.
fn first<S: Simd>(s: S, a: &mut [S::Vector], root: &mut [S::Vector]) {
    let (low, high) = (s.to_words(a[0]), s.to_words(a[1]));
    let (mut roots, mut rests) = ([0; MAX_LANES], [0; MAX_LANES]);
    for lane in 0..S::LANES {
        (roots[lane], rests[lane]) = word::<S>(high[lane], low[lane]);
    }
    root[0] = s.from_words(roots);
    a[0] = s.from_words(rests);
}

/// Two digits of the root of four digits, and a remainder of two digits.
#[inline(always)]
fn first_two<S: Simd>(s: S, a: &mut [S::Vector], root: &mut [S::Vector]) {
    let digits = [0, 1, 2, 3].map(|i| s.to_words(a[i]));
    let (mut roots, mut rests) = ([[0; MAX_LANES]; 2], [[0; MAX_LANES]; 2]);
    for lane in 0..S::LANES {
        let [a0, a1, low, high] = digits.map(|digit| digit[lane]);
        let (upper, rest) = word::<S>(high, low);
        // (divisor·x + q)·q is to be nearly rest·x + a0. Doubles err by a few units; modulo 2^128 the remainder tells it.
        let (x, divisor) = ((S::DIGIT + 1) as f64, 2 * upper);
        let near = (rest as f64 * x + a1 as f64) / divisor as f64;
        let mut q = (near - near * near / (divisor as f64 * x)) as u64;
        let rest = u128::from(rest) << S::DIGIT_BITS | u128::from(a1);
        let whole = u128::from(divisor) << S::DIGIT_BITS;
        let mut rest = (rest << S::DIGIT_BITS | u128::from(a0))
            .wrapping_sub((whole + u128::from(q)).wrapping_mul(u128::from(q)))
            .cast_signed();
        while rest < 0 {
            q -= 1;
            rest += (whole + 2 * u128::from(q) + 1).cast_signed();
        }
        while rest > (whole + 2 * u128::from(q)).cast_signed() {
            rest -= (whole + 2 * u128::from(q) + 1).cast_signed();
            q += 1;
        }
        (roots[0][lane], roots[1][lane]) = (q, upper);
        (rests[0][lane], rests[1][lane]) = (rest as u64 & S::DIGIT, (rest >> S::DIGIT_BITS) as u64);
    }
    for i in 0..2 {
        root[i] = s.from_words(roots[i]);
        a[i] = s.from_words(rests[i]);
    }
}

/// The root of two digits of one lane, and the remainder. The root of the double errs by less than 1 before it is rounded.
#[inline(always)]
fn word<S: Simd>(high: u64, low: u64) -> (u64, u64) {
    let double = high as f64 * (S::DIGIT + 1) as f64 + low as f64;
    let mut root = double.sqrt() as u64;
    // The remainder is small: its lowest word tells it.
    let number = high << S::DIGIT_BITS | low;
    let mut rest = number.wrapping_sub(root.wrapping_mul(root)).cast_signed();
    while rest < 0 {
        root -= 1;
        rest += 2 * root.cast_signed() + 1;
    }
    while rest > 2 * root.cast_signed() {
        rest -= 2 * root.cast_signed() + 1;
        root += 1;
    }
    (root, rest.cast_unsigned())
}
