//! Lengths and digits: what a product is computed with, and why its rounding is right.
//!
//! A length is `d = lanes·s·4^k`, where `s` is a product of a few radices. The transform of a polynomial modulo `x^d − i` goes
//! down a tree of nodes `x^n − w`: the radices of `s`, then the lanes of a vector, then `k` times four.
//!
//! # The bound
//!
//! With `u = 2⁻⁵³`. A step from a node to its `r` children multiplies by stored roots and adds.
//!
//! * A complex product with one fused operation a part errs by at most `2u` of its modulus: the vector of the two rounded
//!   products has at most this length, and the two last roundings err by `u` of the parts. A root errs by `0.71u`, half a
//!   unit in the last place a part. Together `2.71u`.
//! * Sums: [`Radix`].
//! * *Forward*, with Euclidean norms: a step multiplies the norm of exact values by `√r`, and errs by `ε` of its outputs. So
//!   the transform errs by `Π(1 + ε) − 1` of its norm, `√d·|a|` for digits `a`.
//! * Products point by point: by Cauchy and Schwarz their moduli sum to at most `d·|a||b|`, and so do errors, `ε` times.
//! * *Backward*, with the norm `N(v)` = sum over the blocks of the largest modulus in the block. An exact step does not
//!   increase it, since each output of a block is a sum of one element of each block that it joins. A step errs by `ε`
//!   of it, elementwise. At the end there is one block, and `N` is `d` times the largest coefficient.
//! * A coefficient becomes an integer by one fused operation with `1/d`, which errs by at most `u/2`, and `1.5·2⁵²`: its
//!   rounding is the rounding to the integer. This is right if the error so far is below 1/2, and `|c| < 2⁵¹`.
//!
//! So `|error| ≤ |a||b|·F` with `F = Π(1+ε)²·(1+2u)·Π(1+ε)·(1+u/2) − 1`. With `m` and `n` digits, `m + n ≤ 2d`, each at most
//! `2^(b−1)` but for the top ones, which are at most twice that, `|a||b| ≤ √((m+3)(n+3))·4^(b−1) ≤ (d+3)·4^(b−1)`. Underflow adds at
//! most 2⁻¹⁰⁷⁵ an operation, in all less than 2⁻⁹⁰⁰.
//!
//! sources: C. Percival, Rapid multiplication modulo the sum and difference of highly composite numbers, 2003 (Euclidean
//! norms of errors); R. Crandall, B. Fagin, Discrete weighted transforms, 1994 (`x^d − i`); the norm for the way back is ours.

use super::butterfly::Radix;
use super::digits::MAX_DIGIT_BITS;

/// The radices of `s`. From one length to the next there is at most an eighth more: 8, 9, 10, 45/4, 12, 27/2, 15, 16.
const SPLITS: [&[Radix]; 14] = [
    &[],
    &[Radix::Two],
    &[Radix::Three],
    &[Radix::Five],
    &[Radix::Three, Radix::Two],
    &[Radix::Three, Radix::Three],
    &[Radix::Five, Radix::Two],
    &[Radix::Five, Radix::Three],
    &[Radix::Three, Radix::Three, Radix::Two],
    &[Radix::Five, Radix::Three, Radix::Two],
    &[Radix::Three, Radix::Three, Radix::Three],
    &[Radix::Five, Radix::Three, Radix::Three],
    &[Radix::Three, Radix::Three, Radix::Three, Radix::Two],
    &[Radix::Five, Radix::Three, Radix::Three, Radix::Two],
];

/// Half an ulp of 1: the relative error of a rounding.
const U: f64 = f64::EPSILON / 2.0;

/// A complex product with a stored root.
const ROOT_PRODUCT: f64 = 2.0 + 0.71;

/// The least and the largest number of steps by four.
const FOURS: [u32; 2] = [2, 9];

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The radices before the lanes.
    pub(super) split: &'static [Radix],
    /// The number of the split, for tables.
    pub(super) number: usize,
    /// Lanes of a vector.
    pub(super) lanes: usize,
    /// Steps by four.
    pub(super) fours: u32,
    /// Bits of a digit.
    pub(super) digit_bits: usize,
}

impl Plan {
    /// The splits that there are.
    pub(super) const SPLITS: usize = SPLITS.len();

    /// The plan for factors of so many bits with vectors of so many lanes; none if they are too long.
    pub fn new(a_bits: usize, b_bits: usize, lanes: usize) -> Option<Self> {
        Self::all(lanes).filter(|plan| plan.takes(a_bits, b_bits)).min_by(|x, y| x.work().total_cmp(&y.work()))
    }

    /// All plans.
    pub fn all(lanes: usize) -> impl Iterator<Item = Self> {
        let splits = SPLITS.iter().enumerate();
        splits.flat_map(move |(number, split)| {
            (FOURS[0]..=FOURS[1]).filter_map(move |fours| {
                let plan = Self { split, number, lanes, fours, digit_bits: MAX_DIGIT_BITS };
                (4..=MAX_DIGIT_BITS).rev().map(|digit_bits| Self { digit_bits, ..plan }).find(Self::is_exact)
            })
        })
    }

    /// Does it compute products of so many bits?
    fn takes(&self, a_bits: usize, b_bits: usize) -> bool {
        self.digits_of(a_bits) + self.digits_of(b_bits) <= 2 * self.length()
    }

    /// Digits of a number.
    pub(super) const fn digits_of(&self, bits: usize) -> usize {
        bits.div_ceil(self.digit_bits)
    }

    /// The radices of `s`, multiplied.
    pub(super) fn parts(&self) -> usize {
        self.split.iter().map(|radix| radix.size()).product()
    }

    /// Vectors of a part.
    pub(super) const fn part_length(&self) -> usize {
        1 << (2 * self.fours)
    }

    /// Points of the transform.
    pub fn length(&self) -> usize {
        self.lanes * self.parts() * self.part_length()
    }

    /// Bits of a digit.
    pub const fn digit_bits(&self) -> usize {
        self.digit_bits
    }

    /// The radix that makes the lanes.
    pub(super) const fn lane_radix(&self) -> Radix {
        if self.lanes == 8 { Radix::Eight } else { Radix::Four }
    }

    /// The radices of all steps.
    fn radices(&self) -> impl Iterator<Item = Radix> {
        let fours = std::iter::repeat_n(Radix::Four, self.fours as usize);
        self.split.iter().copied().chain([self.lane_radix()]).chain(fours)
    }

    /// The most that a coefficient differs from an integer before it is rounded.
    pub fn bound(&self) -> f64 {
        let forward: f64 = self.radices().map(|it| ROOT_PRODUCT + it.euclidean()).sum();
        let backward: f64 = self.radices().map(|it| ROOT_PRODUCT + it.elementwise()).sum();
        // The sums are below 10⁻¹³, so terms of second order are below a millionth of the first.
        let relative = (2.0 * forward + 2.0 + backward + 0.5) * U * 1.000_001;
        self.largest() * relative
    }

    /// A bound of the coefficients.
    fn largest(&self) -> f64 {
        (self.length() + 3) as f64 * ((2 * (self.digit_bits - 1)) as f64).exp2()
    }

    /// Is every coefficient rounded to the right integer, and do two of them together fit in a word?
    pub(super) fn is_exact(&self) -> bool {
        self.bound() < 0.499 && self.largest() * ((self.digit_bits as f64).exp2() + 1.0) < 62_f64.exp2()
    }

    /// About how long it takes.
    fn work(&self) -> f64 {
        let steps: f64 = self.split.iter().map(|radix| if radix.size() == 5 { 2.0 } else { 1.0 }).sum();
        self.length() as f64 * (2.5 + f64::from(self.fours) + 0.5 * steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_more_is_refused() {
        for plan in [4, 8].into_iter().flat_map(Plan::all) {
            assert!(plan.bound() < 0.499, "{plan:?}");
            let more = Plan { digit_bits: plan.digit_bits + 1, ..plan };
            assert!(plan.digit_bits == MAX_DIGIT_BITS || !more.is_exact(), "{plan:?}");
        }
    }

    /// From one length to the next there is at most an eighth more, and digits of a bit less.
    #[test]
    fn the_longest_product_has_a_plan() {
        for lanes in [4, 8] {
            let longest = Plan::new(1 << 24, 1 << 24, lanes).unwrap();
            assert_eq!((longest.length(), longest.digit_bits), (5 << 18, 13));
            let mut before = 0;
            for bits in (12..=1677).map(|n| n * 10_000) {
                let length = Plan::new(bits, bits, lanes).unwrap().length();
                assert!(before == 0 || length as f64 <= 1.25 * before as f64, "{bits}");
                before = length;
            }
        }
    }
}
