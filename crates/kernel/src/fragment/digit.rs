//! Digits of a quotient, from below: an estimate that is quick, hardly ever wrong, and never too large.
//!
//! computes   `q ≤ U/D` with `U/D − q < 1 + 16/B`, from the top of `U` and the reciprocal of the top of `D`; `B = 2³²`
//! requires   `D ≥ B^n/2`, `U` of at most `n + 1` limbs or a little more
//! cost       the reciprocal about 100 instructions; a digit 3 wide products and 8 others
//!
//! `U` may come as a sum whose carries are not resolved: `u₂B + u₁` is what its limbs from `n − 1` on say by themselves,
//! up to 3 less than the truth, so perhaps negative. Then the digit is 0.
//!
//! bound: `V ≤ B⁴/(d + 1)` for the top two limbs `d` of `D`, so `u·V/B³ ≤ U/D`, and what is left out makes it less
//! still. Left out are, in units of `1/B` of the digit: of `U` 3, which count double as `D ≥ B^n/2`; of `V` 6; of the
//! products 2; of `D` below its two limbs 2. So one digit in `B/16` of random operands is one too small.
//!
//! source: ours; the reciprocal from that of Möller and Granlund, see [`Reciprocal`].

use super::Reciprocal;
use crate::build::{Builder, Emit, R32, V32};
use crate::ir::Cmp;

/// The reciprocal of a divisor's top: `V = B² + v₁B + v₀`.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    high: R32,
    low: R32,
}

impl Digits {
    /// For a divisor whose top two limbs these are. If `high < B/2`, digits are some values.
    pub fn new(b: &mut Builder, high: R32, low: R32) -> Self {
        let first = Reciprocal::new(b, high, low);
        let v1 = first.inverse();
        // B³ − 1 − (B + v₁)·d, below d; and as a limb more of the same division v₀.
        let product = b.mul_wide(v1, low);
        let (p0, p1) = b.unpack(product);
        let p1 = b.mad_lo(v1, high, p1);
        let p1 = b.add(p1, low);
        let [r0, r1] = [p0, p1].map(|word| b.not(word));
        let v0 = first.quotient(b, r1, r0, u32::MAX);
        // From B⁴/d to B⁴/(d + 1) it is less than 4.
        let whole = b.pack(v0, v1);
        let less = b.sub64(whole, 4);
        let small = b.compare64(Cmp::Lt, whole, 4);
        let zero = b.copy64(0);
        let less = b.select64(zero, less, small);
        let (low, high) = b.unpack(less);
        Self { high, low }
    }

    /// The digit of `above·B^(n+1) + u₂·B^n + (x + y)·B^(n−1) + …`, where `above` counts modulo `B`. It is `B − 2` or more
    /// where there is no digit, because that is not below `B·D`.
    pub fn next(&self, b: &mut Builder, above: R32, u2: R32, x: R32, y: impl Into<V32>) -> R32 {
        let sign: R32 = b.register();
        let mut chain = b.chain();
        let u1 = chain.add(x, y);
        let u2 = chain.add(u2, 0);
        chain.wrap_add(sign, above, 0);
        // u·V/B² without its lowest product, less u itself.
        let mut middle = b.mul_wide(u1, self.high);
        let mut chain = b.chain();
        let product = chain.mul_wide(u2, self.low);
        middle = chain.add64(product, middle);
        let carry = chain.carry();
        let (_, middle) = b.unpack(middle);
        let middle = b.pack(middle, carry);
        let part = b.mad_wide(u2, self.high, middle);
        let (part, digit) = b.unpack(part);
        // The value above the digit, less one: its complement has ones where the value is not zero.
        let excess: R32 = b.register();
        let mut chain = b.chain();
        chain.add(part, u1);
        let digit = chain.add(digit, u2);
        chain.wrap_add(excess, sign, u32::MAX);
        // Below zero the digit is zero.
        b.lop3(digit, excess, sign, 0x51)
    }
}
