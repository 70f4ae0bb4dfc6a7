//! Square roots of vectors of digits: one independent root and remainder for each lane.
//!
//! computes   `s = ⌊√a⌋` and `a − s²` for `a` in `[x^2n/64, x^2n/16)`, `n` digits of the root, `x = 2^DIGIT_BITS`
//! cost       a division and a square of half the length, and the same for the upper half: about `n²/2` digit products
//!
//! Let `l` be nearly half of the digits. The upper digits give `s₁` and `r₁` with `aₕ = s₁² + r₁`. Dividing `r₁·x^l` and the
//! next `l` digits by `2s₁` gives `q` and `w`. The root is `s₁·x^l + q`, or less. The remainder is `w·x^l + a₀ − q²` with the
//! lowest digits `a₀`; while it is negative, the root is one less.
//!
//! bound: `aₕ ≥ x^2h/64` with `h` upper digits makes `2s₁ ≥ x^h/4`, and `aₕ < x^2h/16` makes `2s₁ < x^h/2`: divisors have one bit
//! less than their digits, as the division wants them. `r₁ ≤ 2s₁`, so `q ≤ x^l`, and the remainder is at least `−x^2l`, which is `−4s·x^(l−h)` at most: with
//! `l < h` one correction is enough, and two digits need four. A single digit of the root comes from doubles: the
//! square root errs by less than 1 before it is rounded, and integers correct it.
//! source: Zimmermann, Karatsuba Square Root, 1999.

use crate::division::Divisors;
use crate::product::reduce;
use crate::simd::{MAX_LANES, Simd};
use crate::square;

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
}

impl<S: Simd> Roots<S> {
    /// Memory for roots of so many digits.
    pub fn new(s: S, digits: usize) -> Self {
        let halves = std::iter::successors(Some(digits), |n| (*n > 1).then(|| n - lower(*n))).skip(1);
        let memory = |count: usize| vec![s.zero(); count];
        Self {
            s,
            levels: halves.map(|half| Divisors::new(s, half)).collect(),
            divisor: memory(digits),
            quotient: memory(digits + 3),
            rest: memory(2 * digits + 3),
            square: memory(digits + 4),
            scratch: memory(square::scratch::<S>(digits / 2 + 1)),
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
        if n == 1 {
            return first(s, a, root);
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
}

/// The digits below the upper ones.
const fn lower(digits: usize) -> usize {
    if digits < 3 { digits / 2 } else { (digits - 1) / 2 }
}

/// One digit of the root of two digits, and a remainder of one digit.
fn first<S: Simd>(s: S, a: &mut [S::Vector], root: &mut [S::Vector]) {
    let (low, high) = (s.to_words(a[0]), s.to_words(a[1]));
    let (mut roots, mut rests) = ([0; MAX_LANES], [0; MAX_LANES]);
    for lane in 0..S::LANES {
        let double = high[lane] as f64 * (1_u64 << S::DIGIT_BITS) as f64 + low[lane] as f64;
        let number = u128::from(high[lane]) << S::DIGIT_BITS | u128::from(low[lane]);
        let mut root = double.sqrt() as u64;
        // The remainder is small: its lowest word tells it.
        let rest = |root: u64| (number as u64).wrapping_sub(root.wrapping_mul(root)) as i64;
        while rest(root) < 0 {
            root -= 1;
        }
        while rest(root) > 2 * root as i64 {
            root += 1;
        }
        (roots[lane], rests[lane]) = (root, rest(root) as u64);
    }
    root[0] = s.from_words(roots);
    a[0] = s.from_words(rests);
}
