//! Row-by-row product with one wide multiplication a limb product.
//!
//! computes   Σ aⱼ·bᵢ·2^(32(i+j)), a row (fixed i) at a time, on top of a window of `L` limbs
//! cost       `L` wide products a row; `L` + 2 additions (none but one in the very first row)
//!
//! A 64-bit product needs an aligned register pair, and pairs that start at neighbouring limbs
//! cannot share registers. So there are two rows of accumulators, pairs starting at even and at
//! odd limbs; the products of even `j` go to one, those of odd `j` to the other, and each row of
//! accumulators is one carry chain. When the window slides by one limb, even and odd swap.
//!
//! bound: every accumulator is at most the value of the window divided by its place, since nothing
//! is ever subtracted. After a row the window is worth at most `(B^L−1)(B−1) + B^L−1 < B^(L+1)` with
//! `B = 2³²`; so the pair of the top product, at limb `L−1`, stays below `B²`, and nothing carries
//! out of it. Every other carry lands at a limb of a pair of the same chain, or in the top pair's
//! high word.
//!
//! source: accumulators for even and odd limbs are folklore of GPU arithmetic (CGBN, sppark); the
//! treatment of odd lengths and of a window that is not empty, and the bound, are ours.

use crate::build::{Builder, Chain, Emit, R32, R64, V32};

/// A product under way: `a` fixed, limbs of `b` one by one.
#[derive(Debug)]
pub struct Rows {
    a: Vec<R32>,
    /// Accumulators whose pairs start at even limbs of the window; none: still empty.
    even: Vec<Option<R64>>,
    /// The same for odd limbs.
    odd: Vec<Option<R64>>,
    /// The high word that the last row's bottom pair left behind, at limb 0 of the window.
    left: Option<R32>,
}

impl Rows {
    /// A product with the multiplicand `a`, at least one limb, and an empty window.
    pub fn new(a: &[R32]) -> Self {
        let length = a.len();
        Self { a: a.to_vec(), even: vec![None; length.div_ceil(2)], odd: vec![None; length / 2], left: None }
    }

    /// A product on top of a window of as many limbs as `a`: `window + a·b`.
    ///
    /// The sum fits: `(B^L−1)(B^n−1) + B^L−1 < B^(L+n)` for `n` rows.
    pub fn on(b: &mut Builder, a: &[R32], window: &[R32]) -> Self {
        let mut rows = Self::new(a);
        for (pair, limbs) in rows.even.iter_mut().zip(window.chunks(2)) {
            *pair = Some(b.pack(limbs[0], limb(limbs, 1)));
        }
        rows
    }

    /// Adds the row `a·y` and slides the window up by one limb; the limb that leaves at the bottom.
    pub fn row(&mut self, b: &mut Builder, y: R32) -> R32 {
        let top_included = self.odd_products(b, y);
        self.even_products(b, y, top_included);
        let bottom = self.even.remove(0).map(|pair| b.unpack(pair));
        let (low, high) = bottom.unwrap_or_else(|| unreachable!("a row fills every accumulator"));
        self.left = Some(high);
        // The sums that started at odd limbs of the window start at even limbs now, and the top is empty.
        std::mem::swap(&mut self.even, &mut self.odd);
        let top_pairs = if self.a.len().is_multiple_of(2) { &mut self.odd } else { &mut self.even };
        top_pairs.push(None);
        low
    }

    /// The window: the `L` limbs above the finished ones.
    pub fn finish(self, b: &mut Builder) -> Vec<R32> {
        self.finish_adding(b, &[], &[]).1
    }

    /// Ends the product and adds `incoming` to the limbs that left: the sums, and the window with
    /// the carry. One chain through both.
    ///
    /// With a window of `L` limbs, `L` rows and `L` incoming limbs the sum still fits:
    /// `(B^L−1)² + 2(B^L−1) = B^(2L) − 1`.
    pub fn finish_adding(self, b: &mut Builder, gone: &[R32], incoming: &[R32]) -> (Vec<R32>, Vec<R32>) {
        debug_assert_eq!(gone.len(), incoming.len());
        self.finish_adding_with(b, gone, |_, i| incoming[i])
    }

    /// The same with incoming limbs that are brought one by one when their turn comes: limb `i` by
    /// `incoming(chain, i)`, which may emit code that leaves the carry alone, such as loads.
    pub fn finish_adding_with(
        self,
        b: &mut Builder,
        gone: &[R32],
        mut incoming: impl FnMut(&mut Chain<'_>, usize) -> R32,
    ) -> (Vec<R32>, Vec<R32>) {
        let mut words = |pairs: &[Option<R64>]| -> Vec<R32> {
            pairs.iter().flatten().flat_map(|&pair| <[R32; 2]>::from(b.unpack(pair))).collect()
        };
        let low = words(&self.even);
        let high: Vec<R32> = self.left.into_iter().chain(words(&self.odd)).collect();
        if low.is_empty() && gone.is_empty() {
            return (Vec::new(), high);
        }
        let top = self.a.len() - 1;
        let last: R32 = b.register();
        let mut chain = b.chain();
        let mut sums = Vec::new();
        for (i, &limb) in gone.iter().enumerate() {
            let addend = incoming(&mut chain, i);
            sums.push(chain.add(limb, addend));
        }
        let mut window: Vec<R32> = (0..top).map(|k| chain.add(limb(&low, k), limb(&high, k))).collect();
        chain.end_add(last, limb(&low, top), limb(&high, top));
        window.push(last);
        (sums, window)
    }

    /// The left limb and the products of odd `j`. Returns whether the product of an even top limb
    /// had to be put into its (empty) pair already, to take the carry.
    fn odd_products(&mut self, b: &mut Builder, y: R32) -> bool {
        let top = self.a.len() - 1;
        let left = self.left.take();
        if left.is_none() && self.odd.iter().all(Option::is_none) {
            for (pair, j) in self.odd.iter_mut().zip((1..=top).step_by(2)) {
                *pair = Some(b.mul_wide(self.a[j], y));
            }
            return false;
        }
        let top_included = top.is_multiple_of(2) && self.even[top / 2].is_none();
        if top_included {
            self.even[top / 2] = Some(b.mul_wide(self.a[top], y));
        }
        let mut chain = b.chain();
        if let (Some(left), Some(bottom)) = (left, self.even[0]) {
            // Limb 0 of the window; its carry is due at limb 1, where the odd pairs begin.
            let (lo, hi) = chain.unpack(bottom);
            let sum = chain.add(lo, left);
            if top == 0 {
                let high: R32 = chain.register();
                chain.end_add(high, hi, 0);
                b.set_pair(bottom, sum, high);
                return top_included;
            }
            chain.set_pair(bottom, sum, hi);
        }
        for j in (1..=top).step_by(2) {
            let product = chain.mul_wide(self.a[j], y);
            let Some(pair) = self.odd[j / 2] else {
                // Only the top pair is empty here: the end of the chain.
                let pair = chain.register();
                self.odd[j / 2] = Some(pair);
                chain.end_add64(pair, product, 0);
                return top_included;
            };
            chain.add64_into(pair, product, pair);
        }
        carry_into_top(chain, self.even[top / 2]);
        top_included
    }

    /// The products of even `j`.
    fn even_products(&mut self, b: &mut Builder, y: R32, top_included: bool) {
        let top = self.a.len() - 1;
        if self.even.iter().all(Option::is_none) {
            for (pair, j) in self.even.iter_mut().zip((0..=top).step_by(2)) {
                *pair = Some(b.mul_wide(self.a[j], y));
            }
            return;
        }
        if top == 0 && top_included {
            return;
        }
        let mut chain = b.chain();
        for (pair, j) in self.even.iter().flatten().copied().zip((0..=top).step_by(2)) {
            if j == top && top_included {
                chain.end_add64(pair, pair, 0);
                return;
            }
            let product = chain.mul_wide(self.a[j], y);
            if j == top {
                chain.end_add64(pair, product, pair);
                return;
            }
            chain.add64_into(pair, product, pair);
        }
        carry_into_top(chain, self.odd[top / 2]);
    }
}

/// Ends a chain whose carry is due at the high word of the pair of the top product.
fn carry_into_top(mut chain: Chain<'_>, pair: Option<R64>) {
    let Some(pair) = pair else { unreachable!("the other chain has filled the top pair") };
    let (lo, hi) = chain.unpack(pair);
    let sum: R32 = chain.register();
    chain.end_add(sum, hi, 0).set_pair(pair, lo, sum);
}

/// Limb `k`, zero above the end.
fn limb(limbs: &[R32], k: usize) -> V32 {
    limbs.get(k).map_or(V32::Imm(0), |&limb| V32::Reg(limb))
}
