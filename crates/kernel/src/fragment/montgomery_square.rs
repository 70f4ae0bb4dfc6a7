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

use super::{Montgomery, Term, Window};
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
        self.one_lazy(b, Term::Square(x))
    }

    /// Is a square cheaper than a product?
    pub const fn squares_apart(&self) -> bool {
        self.spread.length >= Self::SQUARE_FROM
    }
}

/// A row of a square.
pub(super) struct SquareRow<'a> {
    i: usize,
    x: &'a [R32],
    limb: R32,
    doubled: R32,
    /// What the limb below has left to add.
    word: Option<R32>,
}

impl<'a> SquareRow<'a> {
    /// Row `i`: its limb, and the limb below in its block.
    pub(super) fn new(b: &mut Builder, x: &'a [R32], i: usize, limb: R32, below: Option<R32>) -> Self {
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
        Self { i, x, limb, doubled, word }
    }

    /// What must be known for the quotient: only the first row reaches limb 0, so the quotients of the others are known before they begin.
    pub(super) fn add_first(&self, b: &mut Builder, window: &mut Window) {
        if self.i == 0 {
            window.add_from(b, self.i, self.x, self.limb, self.doubled);
        }
    }

    pub(super) fn add_rest(&self, b: &mut Builder, window: &mut Window) {
        if self.i > 0 {
            window.add_from(b, self.i, self.x, self.limb, self.doubled);
        }
        window.add_rest_from(b, self.i, self.x, self.doubled, self.word);
    }

    /// The row of products by the bit that leaves the last limb of a number, where its block has more limbs: row `rows`.
    pub(super) fn add_last(b: &mut Builder, window: &mut Window, x: &[R32], rows: usize, last: R32) {
        let bit = b.shr(last, 31);
        window.add_from(b, rows, x, bit, bit);
        window.add_rest_from(b, rows, x, bit, None);
    }
}
