//! A square with one wide multiplication a pair of limbs.
//!
//! computes   a² = 2·S + D,   S = Σ aᵢ·aⱼ·B^(i+j) over i < j,   D = Σ aᵢ²·B^(2i),   `B = 2³²`
//! cost       n(n−1)/2 wide products for `S`, n for `D`; about 3·n additions and 2·n shifts
//!
//! `S` row by row, as in [`Rows`](super::Rows): row `i` adds `aᵢ·aⱼ`, j > i, to pairs of accumulators, those that
//! start at even limbs in one chain, those that start at odd limbs in another. Two limbs are complete after
//! each row; their sums stand at the beginning of the next chains, which take their carries along. Doubling is
//! a shift by one bit at the end, and the squares are added by a chain of aligned pairs, since those of `D` do not
//! overlap.
//!
//! The other way, to double the multiplicand of every row instead of the sum, saves the `2n` shifts but costs `2n`
//! to double `a` in two ways (with and without the bit that comes from the limb of the row), and `2n` to mask and add
//! the bit that leaves at the top; and it holds `2n` more registers.
//!
//! bound: nothing is ever subtracted, so every accumulator is at most the sum of the products so far. After
//! row `i` this is below `(Σ_{k≤i} aₖ·B^k)·a < B^(n+i+1)`: the pair of the row's top product, at limb `n−1+i`, stays
//! below `B²`, and nothing carries out of it. `S` is greatest where all limbs are: `B^(2n)/(B+1) − B^n + …`
//! is below `B^(2n−1)`. So limb `2n−1` of `S` is zero, and so is limb 0.
//!
//! source: pairs of limbs once, Menezes, van Oorschot, Vanstone, *Handbook of Applied Cryptography*, algorithm 14.16;
//! rows, carries and bound are ours.

use crate::build::{Builder, Emit, R32, R64, V32};

/// `a²`: twice as many limbs.
pub fn square(b: &mut Builder, a: &[R32]) -> Vec<R32> {
    let sum = products_of_pairs(b, a);
    double_plus_squares(b, a, &sum)
}

/// `Σ aᵢ·aⱼ·B^(i+j)` over i < j: twice as many limbs as `a`, the lowest and the highest zero.
pub fn products_of_pairs(b: &mut Builder, a: &[R32]) -> Vec<V32> {
    let n = a.len();
    let mut sum = vec![V32::Imm(0)];
    if n > 1 {
        let mut rows = Triangle::new(b, a);
        for i in 1..n - 1 {
            rows.row(b, i);
        }
        sum.extend(rows.finish(b).into_iter().map(V32::Reg));
    }
    sum.push(V32::Imm(0));
    sum
}

/// `2·sum + Σ aᵢ²·B^(2i)`, of which the caller knows that it has no more limbs than `sum`: twice those of `a`.
pub fn double_plus_squares(b: &mut Builder, a: &[R32], sum: &[V32]) -> Vec<R32> {
    doubled_plus_squares(b, a, sum, false).0
}

/// The same for any sum: the limbs, and the value above them.
pub fn double_plus_squares_carrying(b: &mut Builder, a: &[R32], sum: &[V32]) -> (Vec<R32>, R32) {
    let (limbs, above) = doubled_plus_squares(b, a, sum, true);
    (limbs, above.unwrap_or_else(|| unreachable!("it was asked for")))
}

fn doubled_plus_squares(b: &mut Builder, a: &[R32], sum: &[V32], carrying: bool) -> (Vec<R32>, Option<R32>) {
    debug_assert_eq!(sum.len(), 2 * a.len());
    let mut limbs = Vec::new();
    let mut below = V32::Imm(0);
    let mut chain = b.chain();
    for (i, (&limb, pair)) in a.iter().zip(sum.chunks(2)).enumerate() {
        let low = chain.funnel_left(below, pair[0], 1);
        let high = chain.funnel_left(pair[0], pair[1], 1);
        below = pair[1];
        let doubled = chain.pack(low, high);
        let product = chain.mul_wide(limb, limb);
        if i + 1 == a.len() && !carrying {
            let top: R64 = chain.register();
            let b = chain.end_add64(top, product, doubled);
            limbs.extend(<[R32; 2]>::from(b.unpack(top)));
            return (limbs, None);
        }
        let pair = chain.add64(product, doubled);
        limbs.extend(<[R32; 2]>::from(chain.unpack(pair)));
    }
    let bit = chain.shr(below, 31);
    let above: R32 = chain.register();
    chain.end_add(above, bit, 0);
    (limbs, Some(above))
}

/// The sum of the products of pairs under way.
struct Triangle<'a> {
    a: &'a [R32],
    /// The accumulators, by the limb at which they start; none below 1.
    pairs: Vec<Option<R64>>,
    /// The limbs that are complete, from limb 1 on.
    complete: Vec<R32>,
}

impl<'a> Triangle<'a> {
    /// Row 0.
    fn new(b: &mut Builder, a: &'a [R32]) -> Self {
        let mut pairs = vec![None];
        pairs.extend(a[1..].iter().map(|&limb| Some(b.mul_wide(a[0], limb))));
        let mut rows = Self { a, pairs, complete: Vec::new() };
        let (lowest, _) = rows.words(b, 1);
        rows.complete.push(lowest);
        rows
    }

    fn pair(&self, at: usize) -> R64 {
        self.pairs[at].unwrap_or_else(|| unreachable!("an earlier row has filled the accumulator at limb {at}"))
    }

    fn words(&self, b: &mut impl Emit, at: usize) -> (R32, R32) {
        b.unpack(self.pair(at))
    }

    /// Row `i`, from 1 on. Limb `2i` is complete before it, limb `2i + 1` after its products at odd limbs.
    fn row(&mut self, b: &mut Builder, i: usize) {
        let carry = self.products(b, i, 2 * i, None);
        let rest = self.products(b, i, 2 * i + 1, carry);
        debug_assert!(rest.is_none(), "the second chain has the top product, or finds it there");
    }

    /// A chain: limb `first`, then the products of row `i` from there on, every second limb. If the row's top
    /// product is one of them the chain ends with it, and `above` is due at its high word; else the chain's carry
    /// is due there: it is added, or returned if the top product is still to come.
    fn products(&mut self, b: &mut Builder, i: usize, first: usize, above: Option<R32>) -> Option<R32> {
        let top = self.a.len() - 1 + i;
        let ((low, _), (_, high)) = (self.words(b, first), self.words(b, first - 1));
        let mut chain = b.chain();
        self.complete.push(chain.add(low, high));
        for at in (first + 1..top).step_by(2) {
            let product = chain.mul_wide(self.a[i], self.a[at - i]);
            chain.add64_into(self.pair(at), product, self.pair(at));
        }
        if !(top - first).is_multiple_of(2) {
            let product = chain.mul_wide(self.a[i], self.a[top - i]);
            let pair = chain.register();
            match above {
                None => chain.end_add64(pair, product, 0),
                Some(above) => {
                    let addend = chain.pack(0, above);
                    chain.end_add64(pair, product, addend)
                }
            };
            self.pairs.push(Some(pair));
            return None;
        }
        let Some(&Some(pair)) = self.pairs.get(top) else { return Some(chain.carry()) };
        let (low, high) = chain.unpack(pair);
        let sum: R32 = chain.register();
        chain.end_add(sum, high, 0).set_pair(pair, low, sum);
        None
    }

    fn finish(mut self, b: &mut Builder) -> Vec<R32> {
        let (_, highest) = self.words(b, self.pairs.len() - 1);
        self.complete.push(highest);
        self.complete
    }
}
