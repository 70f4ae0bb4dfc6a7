//! Sums and differences, limb by limb.
//!
//! bound: sums are modulo 2^(32·limbs of the result). 64 bits hold two words and a carry: `2·(B − 1) + 1 < 2⁶⁴`. Of
//! two words and a carry at most one of both additions wraps: if `x + y` does, it leaves at most `B − 2`.
//!
//! source: Carlessi and Kashani 2013, 3.6.4 to 3.6.6. Their form in C (Listing 3.1) takes a carry to be
//! `c < max(a, b)`, which misses that of `a = b = B − 1` with a carry in: the sum is `B − 1` again, and not less.

use warpmp_kernel::build::{Builder, Chain, Emit, Pred, R32, R64, V32};
use warpmp_kernel::ir::Cmp;

use super::Arithmetic;
use super::number::Number;

/// `out = x + y`.
pub(super) fn add(b: &mut Builder, arithmetic: Arithmetic, x: &Number, y: &Number, out: &mut Number) {
    match arithmetic {
        Arithmetic::Flag | Arithmetic::Rows => {
            let mut chain = b.chain();
            for i in 0..out.len() - 1 {
                let (x, y) = (x.get(&mut chain, i), y.get(&mut chain, i));
                let sum = chain.add(x, y);
                out.set(&mut chain, i, sum);
            }
            let top = out.len() - 1;
            let (x, y) = (x.get(&mut chain, top), y.get(&mut chain, top));
            let sum: R32 = chain.register();
            chain.wrap_add(sum, x, y);
            out.set(b, top, sum);
        }
        Arithmetic::Wide => {
            let mut carry: Option<R64> = None;
            for i in 0..out.len() {
                let (x, y) = (x.get(b, i), y.get(b, i));
                let (x, y) = (b.widen(x), b.widen(y));
                let mut sum = b.add64(x, y);
                if let Some(carry) = carry {
                    sum = b.add64(sum, carry);
                }
                let limb = b.truncate(sum);
                out.set(b, i, limb);
                carry = (i + 1 < out.len()).then(|| b.shr64(sum, 32));
            }
        }
        Arithmetic::Compared => {
            let mut carry: Option<R32> = None;
            for i in 0..out.len() {
                let (x, y) = (x.get(b, i), y.get(b, i));
                let sum = b.add(x, y);
                let wrapped = b.compare(Cmp::Lt, sum, y);
                let (limb, wrapped) = match carry {
                    None => (sum, wrapped),
                    Some(carry) => {
                        let limb = b.add(sum, carry);
                        let again = b.compare(Cmp::Lt, limb, sum);
                        (limb, b.or_pred(wrapped, again))
                    }
                };
                out.set(b, i, limb);
                carry = (i + 1 < out.len()).then(|| one_if(b, wrapped));
            }
        }
    }
}

/// `out = x − y`.
pub(super) fn sub(b: &mut Builder, arithmetic: Arithmetic, x: &Number, y: &Number, out: &mut Number) {
    let top = out.len() - 1;
    if matches!(arithmetic, Arithmetic::Flag | Arithmetic::Rows) {
        let mut chain = chain_of_differences(b, x, y, out, top);
        let (x, y) = (x.get(&mut chain, top), y.get(&mut chain, top));
        let difference: R32 = chain.register();
        chain.wrap_sub(difference, x, y);
        out.set(b, top, difference);
    } else {
        differences(b, arithmetic, x, y, out, false);
    }
}

/// `out = x − y`; all ones if that is negative, else zero.
fn sub_and_borrow(b: &mut Builder, arithmetic: Arithmetic, x: &Number, y: &Number, out: &mut Number) -> R32 {
    if matches!(arithmetic, Arithmetic::Flag | Arithmetic::Rows) {
        return chain_of_differences(b, x, y, out, out.len()).borrow_mask();
    }
    let borrow = differences(b, arithmetic, x, y, out, true);
    b.sub(0, borrow)
}

/// The lowest `limbs` limbs of `x − y`, by one chain that is still open.
fn chain_of_differences<'b>(b: &'b mut Builder, x: &Number, y: &Number, out: &mut Number, limbs: u32) -> Chain<'b> {
    let mut chain = b.chain();
    for i in 0..limbs {
        let (x, y) = (x.get(&mut chain, i), y.get(&mut chain, i));
        let difference = chain.sub(x, y);
        out.set(&mut chain, i, difference);
    }
    chain
}

/// `out = x − y` without the flag; 1 if that is negative, if anybody asks.
fn differences(
    b: &mut Builder,
    arithmetic: Arithmetic,
    x: &Number,
    y: &Number,
    out: &mut Number,
    to_the_end: bool,
) -> V32 {
    let mut borrow = V32::Imm(0);
    for i in 0..out.len() {
        let goes_on = to_the_end || i + 1 < out.len();
        let (x, y) = (x.get(b, i), y.get(b, i));
        let limb;
        if arithmetic == Arithmetic::Wide {
            let (x, y) = (b.widen(x), b.widen(y));
            let mut difference = b.sub64(x, y);
            if i > 0 {
                let before = b.widen(borrow);
                difference = b.sub64(difference, before);
            }
            limb = b.truncate(difference);
            if goes_on {
                let sign = b.shr64(difference, 63);
                borrow = b.truncate(sign).into();
            }
        } else {
            let difference = b.sub(x, y);
            let mut wrapped = b.compare(Cmp::Lt, x, y);
            limb = if i == 0 { difference } else { b.sub(difference, borrow) };
            if i > 0 {
                let again = b.compare(Cmp::Lt, difference, borrow);
                wrapped = b.or_pred(wrapped, again);
            }
            if goes_on {
                borrow = one_if(b, wrapped).into();
            }
        }
        out.set(b, i, limb);
    }
    borrow
}

/// `out = x + y mod m` for `x, y < m`: the sum less `m`, and `m` again if that is negative. Of a width that is a multiple of
/// 32 bits the sum has a limb more.
pub(super) fn add_mod(b: &mut Builder, arithmetic: Arithmetic, bits: u32, [x, y, m]: [&Number; 3], out: &mut Number) {
    let mut sum = if bits.is_multiple_of(32) { out.and_one_more() } else { out.clone() };
    add(b, arithmetic, x, y, &mut sum);
    let minuend = sum.clone();
    let negative = sub_and_borrow(b, arithmetic, &minuend, m, &mut sum);
    let mut back = Number::new(out.len());
    for i in 0..out.len() {
        let limb = m.get(b, i);
        let limb = b.and(limb, negative);
        back.set(b, i, limb);
    }
    let difference = sum.part(0, out.len());
    add(b, arithmetic, &difference, &back, out);
}

/// 1 where it holds, else 0.
pub(super) fn one_if(b: &mut Builder, holds: Pred) -> R32 {
    b.select(1, 0, holds)
}
