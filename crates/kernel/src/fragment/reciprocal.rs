//! Limbs of quotients from the top limbs of dividend and divisor, by a reciprocal.
//!
//! computes   `⌊(u₂B² + u₁B + u₀) / (d₁B + d₀)⌋` for `u₂B + u₁ ≤ d₁B + d₀`, at most `B − 1`, `B = 2³²`
//! requires   `d₁ ≥ B/2`
//! cost       the reciprocal about 40 instructions; a quotient about 25, with 4 products
//!
//! bound: with `v = ⌊(B³ − 1) / (d₁B + d₀)⌋ − B` the estimate is wrong by one step up and one step down at most, and
//! both are corrected. Where `u₂B + u₁ = d₁B + d₀`, the first limb of the quotient of longer numbers is `B − 1`:
//! with `R < D` and equal top limbs `D − R < B^(n−2)`, so `B·R > B·D − B^(n−1) ≥ (B − 1)·D`.
//!
//! source: Möller and Granlund, Improved division by invariant integers, 2011, algorithms 4 and 6. The reciprocal
//! of a word is Newton's, in doubles: from 48/17 − 32/17·d, wrong by 1/17 at most, four steps.

use crate::build::{Builder, Emit, R32, R64, V32};
use crate::ir::Cmp;

/// The top of a divisor, and its reciprocal.
#[derive(Clone, Copy, Debug)]
pub struct Reciprocal {
    high: R32,
    low: R32,
    inverse: R32,
}

impl Reciprocal {
    /// The reciprocal of `high·B + low`. If `high < B/2`, it is some value, and so are the quotients.
    pub fn new(b: &mut Builder, high: R32, low: R32) -> Self {
        let mut v = of_word(b, high);
        // The reciprocal of one word, made less until it serves both.
        let mut p = b.mad_lo(high, v, low);
        let carried = b.compare(Cmp::Lt, p, low);
        let reaches = b.compare(Cmp::Ge, p, high);
        let both = b.and_pred(carried, reaches);
        let steps = b.select(1, 0, carried);
        let twice = b.select(2, steps, both);
        v = b.sub(v, twice);
        let multiple = b.mul_lo(twice, high);
        p = b.sub(p, multiple);
        let product = b.mul_wide(v, low);
        let (t0, t1) = b.unpack(product);
        p = b.add(p, t1);
        let carried = b.compare(Cmp::Lt, p, t1);
        let rest = b.pack(t0, p);
        let divisor = b.pack(low, high);
        let reaches = b.compare64(Cmp::Ge, rest, divisor);
        let both = b.and_pred(carried, reaches);
        let steps = b.select(1, 0, carried);
        let twice = b.select(2, steps, both);
        Self { high, low, inverse: b.sub(v, twice) }
    }

    /// `⌊(B³ − 1) / (d₁B + d₀)⌋ − B`.
    pub const fn inverse(&self) -> R32 {
        self.inverse
    }

    /// The quotient.
    pub fn quotient(&self, b: &mut Builder, u2: R32, u1: R32, u0: impl Into<V32>) -> R32 {
        let top = b.pack(u1, u2);
        let divisor = b.pack(self.low, self.high);
        let estimate = b.mad_wide(self.inverse, u2, top);
        let (q0, q1) = b.unpack(estimate);
        let negated = b.sub(0, q1);
        let r1 = b.mad_lo(negated, self.high, u1);
        let product = b.mul_wide(self.low, q1);
        let rest = b.pack(u0, r1);
        let rest = b.sub64(rest, product);
        let rest = b.sub64(rest, divisor);
        let (_, r1) = b.unpack(rest);
        // One step down: the quotient is q₁, not q₁ + 1, where the rest has gone below zero.
        let below = b.compare(Cmp::Ge, r1, q0);
        let restored = b.add64(rest, divisor);
        let rest: R64 = b.select64(restored, rest, below);
        let next = b.add(q1, 1);
        let q = b.select(q1, next, below);
        // One step up, very rarely.
        let reaches = b.compare64(Cmp::Ge, rest, divisor);
        let next = b.add(q, 1);
        let q = b.select(next, q, reaches);
        let equal = b.compare64(Cmp::Ge, top, divisor);
        b.select(u32::MAX, q, equal)
    }

    /// The registers of `self` get the values of `other`: in a loop.
    pub fn become_(&self, b: &mut Builder, other: &Self) {
        b.set(self.high, other.high);
        b.set(self.low, other.low);
        b.set(self.inverse, other.inverse);
    }
}

/// `⌊(B² − 1) / d⌋ − B` for `d ≥ B/2`.
fn of_word(b: &mut Builder, d: R32) -> R32 {
    let scale = 2f64.powi(-32);
    let whole = b.u32_to_f64(d);
    let negated = b.mul_f64(whole, -scale);
    let mut x = b.fma(negated, 32.0 / 17.0, 48.0 / 17.0);
    for _ in 0..4 {
        let error = b.fma(negated, x, 1.0);
        x = b.fma(x, error, x);
    }
    let estimate = b.fma(x, 2f64.powi(32), -(2f64.powi(32)));
    let v = b.f64_to_u32(estimate);
    // The estimate is the nearest word to within 2⁻¹⁸: the floor, or one more.
    let complement = b.not(d);
    let all = b.pack(u32::MAX, complement);
    let product = b.mul_wide(v, d);
    let rest = b.sub64(all, product);
    let (_, high) = b.unpack(rest);
    let negative = b.shr(high, 31);
    b.sub(v, negative)
}
