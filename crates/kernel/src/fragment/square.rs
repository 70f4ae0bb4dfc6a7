//! Squares: each product of two different limbs once.
//!
//! computes   `a²` for `a` of `L` limbs, `2L` limbs
//! cost       `L(L+1)/2` wide products; about `7L` additions and shifts
//!
//! Row `i` adds the products `aᵢ·aⱼ`, `j > i`, at limbs `i + j`, to accumulators for pairs at even and at odd limbs,
//! as in [`Rows`](super::Rows). Their sum is doubled by shifts, and the squares `aᵢ²` are added in one chain, each at
//! its own pair.
//!
//! bound: the rows to `i` sum to less than `(Σ_{r ≤ i} a_r·B^r)·B^L < B^(i+L+1)`, and nothing is ever subtracted, so
//! the pair at limb `i + L − 1`, which row `i` begins, holds its part of it, the carry of the other chain included.
//! In the end twice the sum is less than `a² < B^(2L)`.
//!
//! source: Comba 1990 for squares by half the products; the rows are ours.

use crate::build::{Builder, Emit, R32, R64, V32};

/// The square of a number.
pub fn square(b: &mut Builder, a: &[R32]) -> Vec<R32> {
    let length = a.len();
    // The pair that starts at limb `p` is `pairs[p]`: those of even and of odd `p` overlap.
    let mut pairs: Vec<Option<R64>> = vec![None; 2 * length];
    for i in 0..length.saturating_sub(1) {
        row(b, a, i, &mut pairs);
    }
    let doubled = doubled_sum(b, &pairs);
    let last: R64 = b.register();
    let mut chain = b.chain();
    let mut sums = Vec::new();
    for k in 0..length {
        let product = chain.mul_wide(a[k], a[k]);
        let pair = chain.pack(doubled[2 * k], doubled[2 * k + 1]);
        if k + 1 == length {
            // The square fits: nothing carries out.
            chain.end_add64(last, product, pair);
            break;
        }
        sums.push(chain.add64(product, pair));
    }
    sums.push(last);
    sums.into_iter().flat_map(|sum| <[R32; 2]>::from(b.unpack(sum))).collect()
}

/// The products of `a[i]` and the limbs above it.
fn row(b: &mut Builder, a: &[R32], i: usize, pairs: &mut [Option<R64>]) {
    let top = i + a.len() - 1;
    if i == 0 {
        for (p, pair) in pairs.iter_mut().enumerate().take(top + 1).skip(1) {
            *pair = Some(b.mul_wide(a[0], a[p]));
        }
        return;
    }
    // The chain that ends in the new pair at the top, then the other one, whose carry goes into that pair.
    let places = |top: usize| (2 * i + 1..=top).filter(move |p| (top - p).is_multiple_of(2));
    let mut chain = b.chain();
    for p in places(top) {
        let product = chain.mul_wide(a[i], a[p - i]);
        if let Some(pair) = pairs[p] {
            chain.add64_into(pair, product, pair);
        }
        pairs[p].get_or_insert(product);
    }
    let Some(above) = pairs[top] else { unreachable!("the top place is the last one") };
    chain.end_add64(above, above, 0);
    if top == 2 * i + 1 {
        return;
    }
    let mut chain = b.chain();
    for p in places(top - 1) {
        let product = chain.mul_wide(a[i], a[p - i]);
        if let Some(pair) = pairs[p] {
            chain.add64_into(pair, product, pair);
        }
    }
    let (low, high) = chain.unpack(above);
    let sum: R32 = chain.register();
    chain.end_add(sum, high, 0).set_pair(above, low, sum);
}

/// Twice the sum of the pairs, limb by limb; the lowest limb is zero.
fn doubled_sum(b: &mut Builder, pairs: &[Option<R64>]) -> Vec<R32> {
    let words: Vec<Option<[R32; 2]>> =
        pairs.iter().map(|pair| pair.map(|pair| <[R32; 2]>::from(b.unpack(pair)))).collect();
    let at = |p: usize| {
        let low = words.get(p).copied().flatten().map(|pair| pair[0]);
        let high = p.checked_sub(1).and_then(|below| words[below]).map(|pair| pair[1]);
        [low, high]
    };
    // Limbs that only one pair has take no addition, but in the middle of the chain.
    let length = pairs.len();
    let first = (0..length).find(|&p| at(p).iter().flatten().count() == 2).unwrap_or(length);
    let mut sum: Vec<V32> =
        (0..first).map(|p| at(p).into_iter().flatten().next().map_or(V32::Imm(0), V32::Reg)).collect();
    if first < length {
        let word = |value: Option<R32>| value.map_or(V32::Imm(0), V32::Reg);
        let last: R32 = b.register();
        let mut chain = b.chain();
        for p in first..length - 1 {
            let [low, high] = at(p);
            sum.push(V32::Reg(chain.add(word(low), word(high))));
        }
        let [low, high] = at(length - 1);
        chain.end_add(last, word(low), word(high));
        sum.push(V32::Reg(last));
    }
    let below = |p: usize| p.checked_sub(1).map_or(V32::Imm(0), |below| sum[below]);
    (0..length).map(|p| b.funnel_left(below(p), sum[p], 1)).collect()
}
