//! Montgomery squares: each product of two different limbs once.
//!
//! computes   `x²/R mod m` for `x < m`, with the rows of [`Montgomery`]
//! cost       a lane: `rows·(length + 1)/2` wide products and the modulus's `rows·length`, where a product has
//!            `2·rows·length`; a row has 1 addition and 3 other instructions more than one of a product
//! registers  `4·length` and about 24: there is no second factor
//!
//! With `x = Σ xₗ·B^(l·length)` a lane's rows of the product `xₗ·xₛ` are `xₗ[j]·xₛ[i]` for all `i` and `j`. Of these
//! a lane takes those with `j > i`, doubled, and with `j = i`, as they are. That is enough: for two different
//! lanes `l` and `s` the pair `xₗ[j]·xₛ[i]`, `j > i`, is taken by lane `l` with the limb `xₛ[i]`, and for `j < i` by lane `s`
//! with the limb `xₗ[j]`, each twice, as it must be; and `xₗ[i]·xₛ[i]` by both. So all lanes do the same work, whatever
//! their number, and the products stand where the rows of a product have them.
//!
//! Doubled is the limb: `2·xₛ[i] = y − c·B + c'` with the limb `y` of `2·xₛ` and the bits `c`, `c'` that leave and enter it.
//! Row `i` takes `y` instead of `2·xₛ[i]`, so the limbs above have `c·B` too little, which row `i + 1` makes up with its
//! `c'` — all but that of the limb `i + 1` itself, which row `i + 1` does not double: `c·xₗ[i+1]` is added there as a
//! word. A row that is the last of a number, but not of a block, has no next one; then a row of products by `c` follows.
//!
//! bound: row `i` adds less than `B·xₗ` where a product adds `(B − 1)·xₗ`, so that a window is below
//! `3·B^length + 2·B^(length−1)` before each row and what is above a lane's block in the end is at most 3. The rows are worth
//! `x²` together, so the result is that of a product; words that count carries hold them whatever a window is worth.
//!
//! source: each pair once, *Handbook of Applied Cryptography*, algorithm 14.16; the division over rows and lanes
//! is ours.

use super::factor::Reader;
use super::{Factor, Montgomery, Window};
use crate::build::{Builder, Emit, R32};

impl Montgomery {
    /// Squares have code of their own from this many limbs a lane on: before, what is saved are fewer products than what
    /// is added are other instructions.
    pub const SQUARE_FROM: usize = 4;

    /// `x²/R mod m`: about 3/4 of the wide products of [`mul`](Self::mul).
    pub fn sqr(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let (limbs, above) = self.sqr_lazy(b, x);
        self.spread.reduce_once(b, &limbs, above, &self.modulus)
    }

    /// The same, not reduced, as [`mul_lazy`](Self::mul_lazy).
    pub fn sqr_lazy(&self, b: &mut Builder, x: &[R32]) -> (Vec<R32>, R32) {
        if !self.squares_apart() {
            return self.mul_lazy(b, x, x);
        }
        let mut window = self.empty(b);
        if self.spread.group == 1 {
            self.square_block(b, &mut window, x, None, self.rows);
        } else {
            window = self.blocks(b, window, |b, window, step, rows| self.square_block(b, window, x, Some(step), rows));
        }
        self.settled(b, window)
    }

    /// Is a square cheaper than a product?
    pub const fn squares_apart(&self) -> bool {
        self.spread.length >= Self::SQUARE_FROM
    }

    /// The first rows of a block, whose limbs are in lane `member` of the group.
    fn square_block(&self, b: &mut Builder, window: &mut Window, x: &[R32], member: Option<R32>, rows: usize) {
        let mut limbs = Reader::new(b, Factor::Registers(x), &self.spread, member, rows);
        let mut next = limbs.limb(b);
        let mut below: Option<R32> = None;
        for i in 0..rows {
            let Some(limb) = next else { break };
            let doubled = match below {
                // The top limb of a block has none above it.
                _ if i + 1 == x.len() => limb,
                None => b.shl(limb, 1),
                Some(below) => b.funnel_left(below, limb, 1),
            };
            let word = below.map(|below| {
                let mask = b.shr_signed(below, 31);
                b.and(mask, x[i])
            });
            // Only the first row reaches limb 0: the quotients of the others are known before they begin.
            if i == 0 {
                window.add_from(b, i, x, limb, doubled);
            }
            let quotient = self.quotient(b, window);
            next = limbs.limb(b);
            if i > 0 {
                window.add_from(b, i, x, limb, doubled);
            }
            window.add_rest_from(b, i, x, doubled, word);
            self.cancel(b, window, quotient);
            below = Some(limb);
        }
        if let Some(last) = below
            && rows < x.len()
        {
            let bit = b.shr(last, 31);
            window.add_from(b, rows, x, bit, bit);
            window.add_rest_from(b, rows, x, bit, None);
        }
    }
}
