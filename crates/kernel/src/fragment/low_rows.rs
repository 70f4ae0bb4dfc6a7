//! The low half of a product, row by row, without the limbs above it.
//!
//! computes   Σ aⱼ·bᵢ·2^(32(i+j)) modulo 2^(32L) for an `a` of `L` limbs, a row (fixed i) at a time
//! cost       for `n` rows, `w = L − i`: Σ (w − 1) wide products, `n` low ones, and 2 additions a row; in all
//!            L(L−1)/2 + L products for `L` rows, where [`Rows`](super::Rows) have L²
//!
//! Accumulators for pairs that start at even and at odd limbs, as in [`Rows`](super::Rows), and a window that becomes
//! shorter by a limb a row. Of the product that starts at the top limb only the low word counts: those are summed in
//! a word of their own, to which goes also the carry of the chain that ends below the top limb. The other chain ends
//! with it, and its carry leaves.
//!
//! bound: everything is modulo `2^(32L)`: no carry that belongs below is dropped, because a chain's carry is due either
//! at the top limb or above it. None of a row's chains is known to end without a carry, so none is joined to the next.
//!
//! source: half products, e.g. Brent and Zimmermann, *Modern Computer Arithmetic*, 1.3.2 and 3.3; rows and carries are ours.

use crate::build::{Builder, Emit, R32, R64, V32};

/// The low half of a product under way: `a` fixed, limbs of `b` one by one.
#[derive(Debug)]
pub struct LowRows {
    a: Vec<R32>,
    /// Accumulators whose pairs start at even limbs of the window; none: no row yet.
    even: Vec<R64>,
    /// The same for odd limbs.
    odd: Vec<R64>,
    /// The high word that the last row's bottom pair left behind, at limb 0 of the window.
    left: Option<R32>,
    /// The low words of the products that start at the top limb, and carries; none: no row yet.
    top: Option<R32>,
}

impl LowRows {
    /// A product modulo `2^(32L)` with a multiplicand of `L` limbs, at least one.
    pub fn new(a: &[R32]) -> Self {
        Self { a: a.to_vec(), even: Vec::new(), odd: Vec::new(), left: None, top: None }
    }

    /// Adds the row `a·y` and slides the window up by one limb; the limb that leaves at the bottom. At most `L` rows.
    pub fn row(&mut self, b: &mut Builder, y: R32) -> R32 {
        let top = self.a.len() - 1;
        match self.top {
            None => self.first(b, y),
            Some(sum) if top == 0 => {
                let sum = b.mad_lo(self.a[0], y, sum);
                self.top = Some(self.left.map_or(sum, |left| b.add(sum, left)));
            }
            Some(sum) => {
                let sum = b.mad_lo(self.a[top], y, sum);
                let sum = self.odd_products(b, y, sum);
                self.top = Some(self.even_products(b, y, sum));
            }
        }
        // The next row is shorter by its top product.
        self.a.pop();
        if self.even.is_empty() {
            return self.top.unwrap_or_else(|| unreachable!("every row has a top product"));
        }
        let (low, high) = b.unpack(self.even.remove(0));
        self.left = Some(high);
        std::mem::swap(&mut self.even, &mut self.odd);
        low
    }

    /// The limbs above the finished ones.
    pub fn finish(self, b: &mut Builder) -> Vec<R32> {
        let count = self.a.len();
        let (Some(top), false) = (self.top, count == 0) else { return Vec::new() };
        let mut words =
            |pairs: &[R64]| -> Vec<R32> { pairs.iter().flat_map(|&pair| <[R32; 2]>::from(b.unpack(pair))).collect() };
        let low = words(&self.even);
        let high: Vec<R32> = self.left.into_iter().chain(words(&self.odd)).collect();
        let limb = |limbs: &[R32], k: usize| limbs.get(k).map_or(V32::Imm(0), |&limb| V32::Reg(limb));
        let own = b.add(top, limb(&high, count - 1));
        if count == 1 {
            return vec![own];
        }
        let last: R32 = b.register();
        let mut chain = b.chain();
        let mut limbs: Vec<R32> = (0..count - 1).map(|k| chain.add(limb(&low, k), limb(&high, k))).collect();
        chain.wrap_add(last, limb(&low, count - 1), own);
        limbs.push(last);
        limbs
    }

    /// The first row fills the accumulators.
    fn first(&mut self, b: &mut Builder, y: R32) {
        let (&top, below) = self.a.split_last().unwrap_or_else(|| unreachable!("there is a limb"));
        for (j, &x) in below.iter().enumerate() {
            let pairs = if j.is_multiple_of(2) { &mut self.even } else { &mut self.odd };
            pairs.push(b.mul_wide(x, y));
        }
        self.top = Some(b.mul_lo(top, y));
    }

    /// The left limb and the products of odd limbs; the sum at the top limb.
    fn odd_products(&self, b: &mut Builder, y: R32, sum: R32) -> R32 {
        let bottom = self.even[0];
        let mut chain = b.chain();
        let (low, high) = chain.unpack(bottom);
        let low = chain.add(low, self.left.unwrap_or_else(|| unreachable!("a row has gone before")));
        chain.set_pair(bottom, low, high);
        products(chain, &self.odd, self.a[1..].iter().step_by(2), y, self.a.len().is_multiple_of(2).then_some(sum))
            .unwrap_or(sum)
    }

    /// The products of even limbs; the sum at the top limb.
    fn even_products(&self, b: &mut Builder, y: R32, sum: R32) -> R32 {
        let into_top = (!self.a.len().is_multiple_of(2)).then_some(sum);
        products(b.chain(), &self.even, self.a.iter().step_by(2), y, into_top).unwrap_or(sum)
    }
}

/// The links of a chain, and its end: at `sum`, which it returns with the carry, or above the window.
fn products<'a>(
    mut chain: crate::build::Chain<'_>,
    pairs: &[R64],
    limbs: impl Iterator<Item = &'a R32>,
    y: R32,
    sum: Option<R32>,
) -> Option<R32> {
    let mut links: Vec<(R64, R32)> = pairs.iter().copied().zip(limbs.copied()).collect();
    let last = if sum.is_none() { links.pop() } else { None };
    for (pair, x) in links {
        let product = chain.mul_wide(x, y);
        chain.add64_into(pair, product, pair);
    }
    if let Some((pair, x)) = last {
        let product = chain.mul_wide(x, y);
        chain.wrap_add64(pair, product, pair);
        return None;
    }
    let with_carry = chain.register();
    chain.wrap_add(with_carry, sum.map_or(V32::Imm(0), V32::Reg), 0);
    Some(with_carry)
}
