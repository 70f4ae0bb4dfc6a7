//! Products, quotients and roots of long numbers of the library: by transforms, and by Newton's iteration on them.
//!
//! computes   `a·b`; `a = q·b + r` with `r < b`; `a = s² + r` with `r ≤ 2s`; all of [`dashu_int::UBig`]
//! cost       in products of two numbers as long as the divisor: a reciprocal 2.5, a quotient as long as the divisor 2 more
//!
//! **Reciprocal.** For `v` of `n` bits `x ≈ 2^(2n)/v`. From `y ≈ 2^(2h)/w` for the upper `h = ⌈n/2⌉ + 8` bits `w` of `v`, one
//! step of Newton gives `x = y·2^(n−h) + y·e/2^(2h)` with `e = 2^(n+h) − v·y`.
//!
//! bound: let `y` err by at most 4. With `w` for `v` it errs relatively by at most `4·2^-h + 2·2^-h`, so the step errs by the
//! square, `36·2^(-2h)`, of at most `2^(n+1)`: less than 1. What is cut off `e` changes `x` by less than 1, and rounding down by
//! less than 1. So `x` errs by at most 3. A quotient errs by at most 3 more than Barrett's 2, and is corrected by comparing.
//!
//! sources: R. Brent, P. Zimmermann, Modern Computer Arithmetic, 2010, sections 3.4.1 and 2.4.1 (Newton's reciprocal, Barrett);
//! P. Zimmermann, Karatsuba square root, 1999.

use dashu_int::ops::{BitTest, DivRem, SquareRootRem};
use dashu_int::{IBig, UBig};
use warpmp_simd::fft::{Doubles, Eight, Four, Multiplier};

use super::library::{limbs, words};

/// Bits of the shorter factor from which on a transform is faster than the library (measured).
const PRODUCT_BITS: usize = 16384;

/// Bits of divisor and quotient from which on Newton's iteration is faster than the library's division (measured).
const DIVISION_BITS: usize = 60_000;

/// Bits of a radicand from which on the division above is.
const ROOT_BITS: usize = 4 * DIVISION_BITS;

/// `a·b`, by a transform if both are long.
pub fn product(a: &UBig, b: &UBig) -> UBig {
    if a.bit_len().min(b.bit_len()) < PRODUCT_BITS {
        return a * b;
    }
    let by_eight = Eight::find().and_then(|s| transformed(s, a, b));
    by_eight.or_else(|| Four::find().and_then(|s| transformed(s, a, b))).unwrap_or_else(|| a * b)
}

fn transformed<S: Doubles>(s: S, a: &UBig, b: &UBig) -> Option<UBig> {
    let x = limbs(a);
    let is_square = a == b;
    let y = if is_square { Vec::new() } else { limbs(b) };
    let mut c = vec![0; x.len() + if is_square { x.len() } else { y.len() }];
    let mut multiplier = Multiplier::new(s, x.len(), c.len() - x.len())?;
    if is_square {
        multiplier.square(&x, &mut c);
    } else {
        multiplier.multiply(&x, &y, &mut c);
    }
    Some(UBig::from_words(&words(&c).collect::<Vec<_>>()))
}

/// Quotient and remainder; `b` is not zero.
pub(super) fn div_rem(a: &UBig, b: &UBig) -> (UBig, UBig) {
    let (a_bits, n) = (a.bit_len(), b.bit_len());
    let quotient_bits = (a_bits + 1).saturating_sub(n);
    if n.min(quotient_bits) < DIVISION_BITS {
        return a.div_rem(b);
    }
    if quotient_bits + 2 < n {
        // The upper bits suffice for the quotient, or for one that differs by 1 or 2.
        let cut = n - quotient_bits - 2;
        let (quotient, _) = div_rem(&(a >> cut), &(b >> cut));
        return corrected(a, b, quotient);
    }
    by_reciprocal(a, b, &reciprocal(b))
}

/// The quotient in blocks as long as the divisor, from above.
fn by_reciprocal(a: &UBig, b: &UBig, reciprocal: &UBig) -> (UBig, UBig) {
    let n = b.bit_len();
    let mask = (UBig::ONE << n) - UBig::ONE;
    let (mut quotient, mut rest) = (UBig::ZERO, UBig::ZERO);
    for block in (0..a.bit_len().div_ceil(n)).rev() {
        let value = (rest << n) + ((a >> (block * n)) & &mask);
        let estimate = product(&(&value >> (n - 1)), reciprocal) >> (n + 1);
        let (digit, below) = corrected(&value, b, estimate);
        (quotient, rest) = ((quotient << n) + digit, below);
    }
    (quotient, rest)
}

/// The remainder; `b` is not zero.
pub(super) fn rem(a: &UBig, b: &UBig) -> UBig {
    div_rem(a, b).1
}

/// A divisor of several numbers: its reciprocal is computed once.
#[derive(Debug)]
pub struct Divisor {
    value: UBig,
    reciprocal: Option<UBig>,
}

impl Divisor {
    /// Prepares a divisor.
    ///
    /// # Panics
    /// If it is zero.
    pub fn new(value: UBig) -> Self {
        assert!(!value.is_zero(), "a divisor of zero");
        let reciprocal = (value.bit_len() >= DIVISION_BITS).then(|| reciprocal(&value));
        Self { value, reciprocal }
    }

    /// The divisor.
    pub const fn value(&self) -> &UBig {
        &self.value
    }

    /// Quotient and remainder.
    pub fn div_rem(&self, a: &UBig) -> (UBig, UBig) {
        let is_short = a.bit_len() < self.value.bit_len() + DIVISION_BITS;
        match self.reciprocal.as_ref().filter(|_| !is_short) {
            Some(reciprocal) => by_reciprocal(a, &self.value, reciprocal),
            None => a.div_rem(&self.value),
        }
    }
}

/// Quotient and remainder from a quotient that may be wrong by a few units.
fn corrected(a: &UBig, b: &UBig, mut quotient: UBig) -> (UBig, UBig) {
    let mut taken = product(&quotient, b);
    while taken > *a {
        taken -= b;
        quotient -= UBig::ONE;
    }
    let mut rest = a - taken;
    while rest >= *b {
        rest -= b;
        quotient += UBig::ONE;
    }
    (quotient, rest)
}

/// `2^(2n)/v`, wrong by at most 4, for `v` of `n` bits.
fn reciprocal(v: &UBig) -> UBig {
    let n = v.bit_len();
    if n < DIVISION_BITS {
        return (UBig::ONE << (2 * n)) / v;
    }
    let h = n.div_ceil(2) + 8;
    let y = reciprocal(&(v >> (n - h)));
    let e = IBig::from(UBig::ONE << (n + h)) - IBig::from(product(v, &y));
    // `e` has about n bits, and `y` h of them: the lowest ones change nothing.
    let cut = n - h - 8;
    let (sign, e) = (e >> cut).into_parts();
    let step = IBig::from_parts(sign, product(&e, &y)) >> (2 * h - cut);
    let x = IBig::from(y << (n - h)) + step;
    x.into_parts().1
}

/// The square root, rounded down, and the remainder.
pub(super) fn sqrt_rem(a: &UBig) -> (UBig, UBig) {
    if a.bit_len() < ROOT_BITS {
        return a.sqrt_rem();
    }
    // Four parts of `l` bits, the uppermost with one of its two upper bits: an even shift.
    let l = a.bit_len().div_ceil(4);
    let shift = (4 * l - a.bit_len()) / 2;
    let (root, rest) = normalized_root(&(a << (2 * shift)), l);
    if shift == 0 {
        return (root, rest);
    }
    let root = root >> shift;
    let rest = a - product(&root, &root);
    (root, rest)
}

/// The same for `a` of `4l` or `4l − 1` bits.
fn normalized_root(a: &UBig, l: usize) -> (UBig, UBig) {
    let (upper, rest) = sqrt_rem(&(a >> (2 * l)));
    let part = |i: usize| (a >> (i * l)) & ((UBig::ONE << l) - UBig::ONE);
    let (quotient, below) = div_rem(&((rest << l) + part(1)), &(&upper << 1));
    let mut root = (upper << l) + &quotient;
    let mut rest = IBig::from((below << l) + part(0)) - IBig::from(product(&quotient, &quotient));
    if rest < IBig::ZERO {
        rest += IBig::from(&root << 1) - IBig::ONE;
        root -= UBig::ONE;
    }
    (root, rest.into_parts().1)
}

/// What Montgomery's reduction modulo `m` needs: `−1/m mod R`, `R = 2^bits`.
#[derive(Debug)]
pub(super) struct Montgomery<'m> {
    m: &'m UBig,
    bits: usize,
    minus_inverse: UBig,
}

impl<'m> Montgomery<'m> {
    /// For an odd `m < R`.
    ///
    /// Newton again: if `m·x = 1` modulo `2^k`, then `x·(2 − m·x)` is the inverse modulo `2^(2k)`.
    pub(super) fn new(m: &'m UBig, bits: usize) -> Self {
        let low = |x: &UBig, bits: usize| x & &((UBig::ONE << bits) - UBig::ONE);
        // An odd number is its own inverse modulo 8.
        let (mut x, mut known) = (low(m, 3), 3);
        while known < bits {
            known = (2 * known).min(bits);
            let modulus = UBig::ONE << known;
            let two_minus = &modulus + UBig::from(2_u8) - low(&product(&low(m, known), &x), known);
            x = low(&product(&x, &low(&two_minus, known)), known);
        }
        Self { m, bits, minus_inverse: low(&((UBig::ONE << bits) - x), bits) }
    }

    /// `t/R mod m` for `t < m·R`.
    pub(super) fn reduce(&self, t: &UBig) -> UBig {
        let mask = (UBig::ONE << self.bits) - UBig::ONE;
        let factor = product(&(t & &mask), &self.minus_inverse) & mask;
        // Below 2m, as t < m·R and factor < R.
        let quotient = (t + product(&factor, self.m)) >> self.bits;
        if quotient >= *self.m { quotient - self.m } else { quotient }
    }
}

#[cfg(test)]
mod tests {
    use dashu_int::Word;

    use super::*;

    /// Numbers of so many bits: all ones, a power of two, bits without a pattern, ones and zeros in halves.
    fn numbers(bits: usize) -> Vec<UBig> {
        let ones = (UBig::ONE << bits) - UBig::ONE;
        let mut state = bits as u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state ^ state >> 29) as Word
        };
        let words: Vec<Word> = (0..bits.div_ceil(64)).map(|_| word()).collect();
        let mixed = (UBig::from_words(&words) & &ones) | (UBig::ONE << (bits - 1));
        let halves = (&ones >> (bits / 2)) << (bits / 2);
        vec![ones, UBig::ONE << (bits - 1), mixed, halves]
    }

    #[test]
    fn quotients_agree_with_the_library() {
        let n = DIVISION_BITS;
        for (a_bits, b_bits) in [(2 * n, n), (2 * n + 1, n + 1), (3 * n, 2 * n - 9), (5 * n, n + 77), (4 * n, n + 1)] {
            for b in numbers(b_bits) {
                for a in numbers(a_bits) {
                    assert!(div_rem(&a, &b) == (&a).div_rem(&b), "{a_bits} by {b_bits} bits");
                }
                // Quotients whose remainder is 0, or as large as it can be.
                let multiple = &b * &numbers(a_bits - b_bits)[2];
                assert!(div_rem(&multiple, &b) == (&multiple).div_rem(&b));
                let below = multiple - UBig::ONE;
                assert!(div_rem(&below, &b) == (&below).div_rem(&b));
                assert!(Divisor::new(b.clone()).div_rem(&below) == (&below).div_rem(&b));
            }
        }
    }

    #[test]
    fn reciprocals_err_as_little_as_is_proved() {
        for bits in [DIVISION_BITS, DIVISION_BITS + 1, 2 * DIVISION_BITS + 5] {
            for v in numbers(bits) {
                let error = IBig::from(reciprocal(&v)) - IBig::from((UBig::ONE << (2 * bits)) / &v);
                assert!(error.into_parts().1 <= UBig::from(4_u8), "{bits}");
            }
        }
    }

    #[test]
    fn roots_agree_with_the_library() {
        for bits in (0..4).map(|more| ROOT_BITS + more) {
            for a in numbers(bits) {
                assert!(sqrt_rem(&a) == a.sqrt_rem(), "{bits}");
            }
            let root = &numbers(bits / 2)[2];
            assert!(sqrt_rem(&(root * root)) == (root.clone(), UBig::ZERO));
            assert!(sqrt_rem(&(root * root - UBig::ONE)).0 == root - UBig::ONE);
        }
    }

    #[test]
    fn reductions_are_right() {
        for bits in [1, 32, 1000, 70_001] {
            let radix_bits = bits + 7;
            for m in numbers(bits).into_iter().map(|m| m | UBig::ONE) {
                let ring = Montgomery::new(&m, radix_bits);
                for t in [UBig::ZERO, (&m << radix_bits) - UBig::ONE, &m * &m - &m] {
                    let found = ring.reduce(&t);
                    assert!(found < m || m.is_one());
                    assert!(((found << radix_bits) + &m * &m - t % &m) % &m == UBig::ZERO);
                }
            }
        }
    }
}
