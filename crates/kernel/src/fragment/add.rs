//! Sums of limb arrays.

use crate::build::{Builder, Emit, R32, V32};

/// `x + y` of equal lengths, with the carry out as a word.
pub fn add_limbs(b: &mut Builder, x: &[R32], y: &[R32]) -> (Vec<R32>, R32) {
    debug_assert_eq!(x.len(), y.len());
    let mut chain = b.chain();
    let sum = x.iter().zip(y).map(|(&x, &y)| chain.add(x, y)).collect();
    (sum, chain.carry())
}

/// `x + small` modulo `2^(32·length)`.
pub fn wrapping_add_small(b: &mut Builder, x: &[R32], small: R32) -> Vec<R32> {
    let sum: Vec<R32> = x.iter().map(|_| b.register()).collect();
    let Some(top) = x.len().checked_sub(1) else { return sum };
    let addend = |k: usize| if k == 0 { V32::from(small) } else { V32::from(0) };
    let mut chain = b.chain();
    for k in 0..top {
        chain.add_into(sum[k], x[k], addend(k));
    }
    chain.wrap_add(sum[top], x[top], addend(top));
    sum
}

/// `x − small` modulo `2^(32·length)`.
pub fn wrapping_sub_small(b: &mut Builder, x: &[R32], small: R32) -> Vec<R32> {
    let difference: Vec<R32> = x.iter().map(|_| b.register()).collect();
    let Some(top) = x.len().checked_sub(1) else { return difference };
    let subtrahend = |k: usize| if k == 0 { V32::from(small) } else { V32::from(0) };
    let mut chain = b.chain();
    for k in 0..top {
        chain.sub_into(difference[k], x[k], subtrahend(k));
    }
    chain.wrap_sub(difference[top], x[top], subtrahend(top));
    difference
}
