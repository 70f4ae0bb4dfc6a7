//! A square by one lane, from three squares of halves.
//!
//! computes   a² = z₀ + (z₀ + z₂ − m)·X + z₂·X²,   a = x₀ + x₁·X,   z₀ = x₀²,  z₂ = x₁²,  m = (x₀ − x₁)²
//! cost       3·h(h+1)/2 wide products for halves of `h` limbs, about 10·h additions more than the three squares take
//! registers  about 5·h + 25, as little as if the whole was squared at once: what is not needed waits in memory
//!
//! bound: the sign of `x₀ − x₁` vanishes in its square. `z₀ + z₂ − m = 2·x₀·x₁` is not negative and below `2·X²`, so after
//! the borrow of `z₀ − m` and the carry of adding `z₂` what is above it is 0 or 1. Nothing leaves the last sum: the
//! square has four halves.
//!
//! source: Karatsuba, Ofman 1962, with the difference; what waits in memory is ours.

use super::square;
use crate::build::{Builder, Emit, R32, V32};

/// The memory of a square: its four quarters, of which the first two may be the operand's place.
pub trait Quarters {
    /// Reads the operand's low (0) or high (1) half: at most until quarter 0 and 1, in this order, are stored.
    fn half(&self, b: &mut Builder, half: u32) -> Vec<R32>;

    /// Reads a quarter that was stored.
    fn load(&self, b: &mut Builder, quarter: u32) -> Vec<R32>;

    /// Stores a quarter.
    fn store(&self, b: &mut Builder, quarter: u32, limbs: &[R32]);
}

/// Squares the number whose halves, of the same length, `memory` brings, and stores the square there.
pub fn square_by_halves(b: &mut Builder, memory: &impl Quarters) {
    let m = {
        let (x0, x1) = (memory.half(b, 0), memory.half(b, 1));
        let difference = absolute_difference(b, &x0, &x1);
        square(b, &difference)
    };
    let (low_without_middle, borrow) = {
        let x0 = memory.half(b, 0);
        let z0 = square(b, &x0);
        let (low, high) = z0.split_at(x0.len());
        memory.store(b, 0, low);
        memory.store(b, 3, high);
        let mut chain = b.chain();
        let difference: Vec<R32> = z0.iter().zip(&m).map(|(&x, &y)| chain.sub(x, y)).collect();
        (difference, chain.borrow_mask())
    };
    let x1 = memory.half(b, 1);
    let z2 = square(b, &x1);
    let mut chain = b.chain();
    let middle: Vec<R32> = low_without_middle.iter().zip(&z2).map(|(&x, &y)| chain.add(x, y)).collect();
    let carry = chain.carry();
    // A borrow is −1.
    let above = b.add(carry, borrow);
    let z0_high = memory.load(b, 3);
    let outer: Vec<R32> = z0_high.into_iter().chain(z2).collect();
    let addend = |i: usize| match i.checked_sub(middle.len()) {
        None => V32::Reg(middle[i]),
        Some(0) => V32::Reg(above),
        Some(_) => V32::Imm(0),
    };
    let last: R32 = b.register();
    let top = outer.len() - 1;
    let mut chain = b.chain();
    let mut sum: Vec<R32> = outer[..top].iter().enumerate().map(|(i, &limb)| chain.add(limb, addend(i))).collect();
    let b = chain.end_add(last, outer[top], addend(top));
    sum.push(last);
    for (limbs, quarter) in sum.chunks(x1.len()).zip(1..) {
        memory.store(b, quarter, limbs);
    }
}

/// `|x − y|` of numbers of the same length.
fn absolute_difference(b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
    let mut chain = b.chain();
    let difference: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| chain.sub(x, y)).collect();
    let negative = chain.borrow_mask();
    // A negative one is complemented and gets 1 more.
    let complement: Vec<R32> = difference.iter().map(|&limb| b.xor(limb, negative)).collect();
    let one = b.and(negative, 1);
    super::wrapping_add_small(b, &complement, one)
}
