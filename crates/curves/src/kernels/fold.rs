//! Residues modulo a prime `p` with `m·p = B^L − c`, `m` and `c` small: secp112r1 has `76439·p = 2^128 − 3`.
//!
//! computes   products and squares modulo `m·p`, as any number below `B^L` (`B = 2³²`); [`Fold::canonical`]: the number modulo `p`
//! requires   `c < 2^16`, `m < 2^24`, and seven spare bits above `p`
//! cost       a product `L² + L` wide products, a square `L(L + 1)/2 + L`, a canonical form `L`; each 2 more on words
//!
//! `B^L` is `c` modulo `p`, so the high half of a product is multiplied by `c` and added to the low half. There are no
//! quotients. The walk's residue of `x` is `x·B^L mod p = c·x mod p`: the walk is the same function as with Montgomery's
//! products. A product of two residues has one factor `c` too many, so a slope is a plain number: `λ·(c·x)` is the residue of
//! `λ·x`, and `c·λ²` the residue of `λ²`.
//!
//! bound: `low + c·high < (c + 1)·B^L`. The limb above is at most `c`. Folded again, it gives less than `B^L + c²`, and where
//! that carries the rest is below `c²`, so the last `c` fits in limb 0.
//! The canonical form of `v < 2^7·B^L`: let `h = ⌊v/B^(L−1)⌋`. The quotient `⌊h·m/B⌋` is at most `⌊v/p⌋`, and too small by at most 1,
//! since `v·m/B^L − h·m/B < m/B < 2^-8` and `v/p − v·m/B^L < 2^-32`.
//!
//! source: Bos, Kaihara, Kleinjung, Lenstra, Montgomery, *Solving a 112-bit prime elliptic curve discrete logarithm
//! problem on game consoles using sloppy reduction* (IJACT 2012), for residues modulo `2^128 − 3`. The exact canonical form
//! and the factors `c` are ours.

use num_bigint::BigUint;
use warpmp_kernel::build::{Builder, Emit, R32, V32};
use warpmp_kernel::fragment::{Rows, add_limbs, square};

use super::curve::{constant, reduce};

/// Limbs of a number from which a square is cheaper than a product.
const SQUARE_FROM: usize = 4;

/// The numbers `m` and `c` of a prime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiple {
    /// `m`.
    pub factor: u32,
    /// `c`.
    pub excess: u32,
}

impl Multiple {
    /// The numbers of a prime for residues of so many limbs, if they are small.
    pub fn of(p: &BigUint, limbs: u32) -> Option<Self> {
        let radix = BigUint::from(1_u32) << (32 * limbs);
        let excess = u32::try_from(&radix % p).ok().filter(|excess| *excess < 1 << 16)?;
        let factor = u32::try_from((radix - excess) / p).ok().filter(|factor| *factor < 1 << 24)?;
        Some(Self { factor, excess })
    }
}

/// The residues in the registers of a thread.
pub(super) struct Fold {
    multiple: Multiple,
    p: Vec<R32>,
    /// `B^L − p`.
    complement: Vec<R32>,
    excess: R32,
    /// `3/c mod p`.
    thirds: Vec<R32>,
}

impl Fold {
    pub(super) fn new(b: &mut Builder, multiple: Multiple, p: &BigUint, limbs: u32) -> Self {
        let thirds = BigUint::from(multiple.excess).modinv(p).unwrap_or_default() * 3_u32 % p;
        let complement = (BigUint::from(1_u32) << (32 * limbs)) - p;
        let [p, complement, thirds] = [p, &complement, &thirds].map(|value| constant(b, value, limbs));
        let excess = b.copy(multiple.excess);
        Self { multiple, p, complement, excess, thirds }
    }

    /// `x·y`.
    pub(super) fn mul(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let mut rows = Rows::new(x);
        let low: Vec<R32> = y.iter().map(|&y| rows.row(b, y)).collect();
        let high = rows.finish(b);
        self.fold(b, &low, &high)
    }

    /// `x²`.
    pub(super) fn sqr(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        if x.len() < SQUARE_FROM {
            return self.mul(b, x, x);
        }
        let product = square(b, x);
        let (low, high) = product.split_at(x.len());
        self.fold(b, low, high)
    }

    /// The residue of `3·x²` from the residue of `x`.
    pub(super) fn triple_square(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let square = self.sqr(b, x);
        if self.multiple.excess == 3 { square } else { self.mul(b, &square, &self.thirds) }
    }

    /// `x + y`.
    pub(super) fn add(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let (sum, carry) = add_limbs(b, x, y);
        self.fold_above(b, &sum, carry)
    }

    /// `c·x + y` modulo `p`, for `x < B^L` and `y < B^L`.
    pub(super) fn raised_sum(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let (sum, above) = self.multiply_add(b, x, y);
        self.canonical(b, &sum, above)
    }

    /// `x + y` modulo `p`, for `x < B^L` and `y < B^L`.
    pub(super) fn sum(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let (sum, above) = add_limbs(b, x, y);
        self.canonical(b, &sum, above)
    }

    /// The number `x + above·B^L` modulo `p`.
    pub(super) fn canonical(&self, b: &mut Builder, x: &[R32], above: impl Into<V32>) -> Vec<R32> {
        let part = b.mul_hi(x[x.len() - 1], self.multiple.factor);
        let quotient = b.mad_lo(above, self.multiple.factor, part);
        // x − quotient·p, modulo B^L: x + quotient·(B^L − p).
        let mut rows = Rows::on(b, &self.complement, x);
        let lowest = rows.row(b, quotient);
        let mut rest = rows.finish(b);
        rest.insert(0, lowest);
        rest.truncate(x.len());
        reduce(b, &rest, &self.p)
    }

    /// `low + c·high`.
    fn fold(&self, b: &mut Builder, low: &[R32], high: &[R32]) -> Vec<R32> {
        let (sum, above) = self.multiply_add(b, high, low);
        self.fold_above(b, &sum, above)
    }

    /// `c·x + y`, and the limb above.
    fn multiply_add(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> (Vec<R32>, R32) {
        let mut rows = Rows::on(b, x, y);
        let mut sum = vec![rows.row(b, self.excess)];
        sum.extend(rows.finish(b));
        let above = sum.pop().unwrap_or(self.excess);
        (sum, above)
    }

    /// `x + above·B^L`, for `above ≤ c`.
    fn fold_above(&self, b: &mut Builder, x: &[R32], above: R32) -> Vec<R32> {
        let addend = b.mul_lo(above, self.multiple.excess);
        let mut chain = b.chain();
        let mut sum: Vec<R32> = x
            .iter()
            .enumerate()
            .map(|(i, &limb)| chain.add(limb, if i == 0 { addend.into() } else { V32::Imm(0) }))
            .collect();
        let carry = chain.carry();
        sum[0] = b.mad_lo(carry, self.multiple.excess, sum[0]);
        sum
    }
}
