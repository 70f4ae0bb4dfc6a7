//! What each operation does with numbers, once for all frames.
//!
//! bound: a result of `r` bits is computed modulo `2^(32·capacity)` with `32·capacity ≥ r`, and stored modulo
//! `2^r`; exact results fit in their bits, as the table of operations has them, wrapping ones are meant so.
//! A carry or borrow out of `r` bits is bit `r` of the sum or difference where the capacity has it (a negative
//! difference has ones in all bits above), else what leaves the capacity.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use warpmp_kernel::build::{Emit, R32};
use warpmp_kernel::ir::Cmp;

use super::frame::{Frame, Number};
use crate::kernels::OperationShape;
use crate::operation::{
    Operation, Status, division, linear, linear_modular, modular, montgomery, product, product_part,
};

/// `(mask ∧ a) ∨ (¬mask ∧ b)` for `lop3`.
const CHOOSE: u8 = 0xCA;

/// Writes the operation.
pub(super) fn write(f: &mut impl Frame, shape: &OperationShape) {
    use Operation as O;
    match shape.operation {
        O::AddMod => add_mod(f),
        O::SubMod => sub_mod(f),
        O::NegMod => neg_mod(f),
        O::MulLo => {
            let product = f.product(0);
            f.store(0, &product);
        }
        O::MulHi => {
            let shift = shape.max_bits();
            let result = shifted_right(f, shift, Frame::product);
            f.store(0, &result);
        }
        O::MulAdd => {
            let (product, c) = (f.product(0), f.operand(2, 0));
            let (sum, _) = f.add(&product, &c, None);
            f.store(0, &sum);
        }
        O::SignedMul => signed_mul(f, shape),
        linear!() => sum(f, shape),
        // These groups have kernels of their own.
        product!() | division!() | modular!() | montgomery!() => {}
    }
}

/// Sums, differences, comparisons.
fn sum(f: &mut impl Frame, shape: &OperationShape) {
    use Operation as O;
    match shape.operation {
        O::Add | O::WrappingAdd => {
            let (a, b) = (f.operand(0, 0), f.operand(1, 0));
            let (sum, _) = f.add(&a, &b, None);
            f.store(0, &sum);
        }
        O::CarryingAdd => {
            let (a, b, carry) = (f.operand(0, 0), f.operand(1, 0), bit(f, 2));
            let (sum, carry) = f.add(&a, &b, Some(carry));
            let out = bit_above(f, &sum, carry, shape.results()[0]);
            f.store(0, &sum);
            f.store_word(1, out);
        }
        O::Sub | O::WrappingSub => {
            let (a, b) = (f.operand(0, 0), f.operand(1, 0));
            let (difference, _) = f.sub(&a, &b, None);
            f.store(0, &difference);
        }
        O::BorrowingSub => {
            let (a, b, borrow) = (f.operand(0, 0), f.operand(1, 0), bit(f, 2));
            let (difference, borrow) = f.sub(&a, &b, Some(borrow));
            let borrow = f.builder().and(borrow, 1);
            let out = bit_above(f, &difference, borrow, shape.results()[0]);
            f.store(0, &difference);
            f.store_word(1, out);
        }
        O::Neg | O::WrappingNeg => {
            let (zero, a) = (f.zero(), f.operand(0, 0));
            let (negative, _) = f.sub(&zero, &a, None);
            f.store(0, &negative);
        }
        O::SignedAdd => {
            let (a, b) = (f.signed_operand(0), f.signed_operand(1));
            let (sum, _) = f.add(&a, &b, None);
            f.store(0, &sum);
        }
        O::SignedSub => {
            let (a, b) = (f.signed_operand(0), f.signed_operand(1));
            let (difference, _) = f.sub(&a, &b, None);
            f.store(0, &difference);
        }
        O::SignedNeg => {
            let (zero, a) = (f.zero(), f.signed_operand(0));
            let (negative, _) = f.sub(&zero, &a, None);
            f.store(0, &negative);
        }
        O::Cmp => {
            let (a, b) = (f.operand(0, 0), f.operand(1, 0));
            compare(f, &a, &b);
        }
        O::SignedCmp => {
            // The order of two's complements is that of unsigned numbers with the top bit turned over.
            let top = f.capacity() - 1;
            let [a, b] = [0, 1].map(|i| {
                let mut x = f.signed_operand(i);
                f.change(&mut x, top, |b, limb| b.xor(limb, 1 << 31));
                x
            });
            compare(f, &a, &b);
        }
        O::And
        | O::Or
        | O::Xor
        | O::Not
        | O::Select
        | O::Shl(_)
        | O::WrappingShl(_)
        | O::Shr(_)
        | O::SignExtend(_)
        | O::ToSignMagnitude
        | O::FromSignMagnitude => bits(f, shape),
        product!() | product_part!() | linear_modular!() | division!() | modular!() | montgomery!() => {}
    }
}

/// Logic, shifts, signs.
fn bits(f: &mut impl Frame, shape: &OperationShape) {
    use Operation as O;
    let constant = shape.operation.constant().unwrap_or(0);
    match shape.operation {
        O::And => {
            let (a, b) = (f.operand(0, 0), f.operand(1, 0));
            let result = f.zip(&a, &b, Emit::and);
            f.store(0, &result);
        }
        O::Or => {
            let (a, b) = (f.operand(0, 0), f.operand(1, 0));
            let result = f.zip(&a, &b, Emit::or);
            f.store(0, &result);
        }
        O::Xor => {
            let (a, b) = (f.operand(0, 0), f.operand(1, 0));
            let result = f.zip(&a, &b, Emit::xor);
            f.store(0, &result);
        }
        O::Not => {
            let a = f.operand(0, 0);
            let result = f.map(&a, Emit::not);
            f.store(0, &result);
        }
        O::Select => {
            let condition = bit(f, 0);
            let mask = f.builder().sub(0, condition);
            let (a, b) = (f.operand(1, 0), f.operand(2, 0));
            let result = f.zip(&a, &b, |code, x, y| code.lop3(mask, x, y, CHOOSE));
            f.store(0, &result);
        }
        O::Shl(_) | O::WrappingShl(_) => {
            let result = shifted_left(f, 0, constant);
            f.store(0, &result);
        }
        O::Shr(_) => {
            let result = shifted_right(f, constant, |f, from| f.operand(0, from));
            f.store(0, &result);
        }
        O::SignExtend(_) => {
            let a = f.signed_operand(0);
            f.store(0, &a);
        }
        O::ToSignMagnitude => {
            // −a = ¬a + 1.
            let (a, sign) = (f.signed_operand(0), f.sign(0));
            let turned = f.map(&a, |code, x| code.xor(x, sign));
            let negative = f.builder().and(sign, 1);
            let zero = f.zero();
            let (magnitude, _) = f.add(&turned, &zero, Some(negative));
            f.store(0, &magnitude);
            f.store_word(1, negative);
        }
        O::FromSignMagnitude => {
            let (a, negative) = (f.operand(0, 0), bit(f, 1));
            let sign = f.builder().sub(0, negative);
            let turned = f.map(&a, |code, x| code.xor(x, sign));
            let zero = f.zero();
            let (result, _) = f.add(&turned, &zero, Some(negative));
            f.store(0, &result);
        }
        O::Add
        | O::WrappingAdd
        | O::CarryingAdd
        | O::Sub
        | O::WrappingSub
        | O::BorrowingSub
        | O::Neg
        | O::WrappingNeg
        | O::Cmp
        | O::SignedAdd
        | O::SignedSub
        | O::SignedNeg
        | O::SignedCmp
        | product!()
        | product_part!()
        | linear_modular!()
        | division!()
        | modular!()
        | montgomery!() => {}
    }
}

/// Bit 0 of operand `i`.
fn bit(f: &mut impl Frame, i: usize) -> R32 {
    let word = f.low_word(i);
    f.builder().and(word, 1)
}

/// Bit number `bits` of a sum or difference: of the number itself, or what left its capacity.
fn bit_above(f: &mut impl Frame, x: &Number, out: R32, bits: u32) -> R32 {
    if bits == 32 * f.capacity() {
        return out;
    }
    let limb = f.limb(x, bits / 32);
    f.builder().bfe(limb, bits % 32, 1)
}

/// Stores the order of two numbers as −1, 0 or 1 in two bits.
fn compare(f: &mut impl Frame, a: &Number, b: &Number) {
    let (difference, less) = f.sub(a, b, None);
    let differs = f.any(&difference);
    let code = f.builder();
    let differs = code.and(differs, 1);
    let less = code.and(less, 2);
    let order = code.or(differs, less);
    f.store_word(0, order);
}

/// Operand `i` times `2^n`.
fn shifted_left(f: &mut impl Frame, i: usize, n: u32) -> Number {
    let (words, bits) = ((n / 32) as i32, n % 32);
    let high = f.operand(i, -words);
    if bits == 0 {
        return high;
    }
    let low = f.operand(i, -words - 1);
    f.zip(&low, &high, |code, low, high| code.funnel_left(low, high, bits))
}

/// A number, given from any limb on, over `2^n`.
fn shifted_right<F: Frame>(f: &mut F, n: u32, from: impl Fn(&mut F, i32) -> Number) -> Number {
    let (words, bits) = ((n / 32) as i32, n % 32);
    let low = from(f, words);
    if bits == 0 {
        return low;
    }
    let high = from(f, words + 1);
    f.zip(&low, &high, |code, low, high| code.funnel_right(low, high, bits))
}

/// The product of two's complements: with the operands' bit patterns `A`, `B` and signs `s`, `t` it is
/// `A·B − s·B·2^p − t·A·2^q` modulo `2^(p+q)`.
fn signed_mul(f: &mut impl Frame, shape: &OperationShape) {
    let mut product = f.product(0);
    for (sign_of, other) in [(0, 1), (1, 0)] {
        let sign = f.sign(sign_of);
        let shifted = shifted_left(f, other, shape.operands()[sign_of].bits);
        let correction = f.map(&shifted, |code, x| code.and(x, sign));
        product = f.sub(&product, &correction, None).0;
    }
    f.store(0, &product);
}

/// All ones where every operand before the modulus, which is the last, is below it; stores the status.
fn check_reduced(f: &mut impl Frame, operands: &[&Number], m: &Number, status: usize) -> R32 {
    let mut valid = None;
    for operand in operands {
        let (_, below) = f.sub(operand, m, None);
        valid = Some(valid.map_or(below, |valid| f.builder().and(valid, below)));
    }
    let valid = valid.unwrap_or_else(|| f.builder().copy(u32::MAX));
    let not_zero = f.any(m);
    let code = f.builder();
    let is_zero = code.compare(Cmp::Eq, not_zero, 0);
    let fault = code.select(Status::DivisionByZero.code(), Status::NotReduced.code(), is_zero);
    let word = code.not(valid);
    let word = code.and(word, fault);
    f.store_word(status, word);
    valid
}

/// Adds the modulus back where `mask` holds, and stores the result where it is valid.
fn add_back(f: &mut impl Frame, x: &Number, m: &Number, mask: R32, valid: R32) {
    let back = f.map(m, |code, m| code.and(m, mask));
    let (result, _) = f.add(x, &back, None);
    let result = f.map(&result, |code, x| code.and(x, valid));
    f.store(0, &result);
}

/// `a + b − m`, and `m` again if that is negative.
///
/// bound: `a, b < m` gives `a + b < 2m`. The subtraction borrows from the sum with its carry exactly if it borrows
/// from the sum without it and there was no carry.
/// source: Carlessi and Kashani 2013, Listing 3.14; the carry of full words, which they left out, is ours.
fn add_mod(f: &mut impl Frame) {
    let (a, b, m) = (f.operand(0, 0), f.operand(1, 0), f.operand(2, 0));
    let valid = check_reduced(f, &[&a, &b], &m, 1);
    let (sum, carry) = f.add(&a, &b, None);
    let (difference, borrow) = f.sub(&sum, &m, None);
    let code = f.builder();
    let no_carry = code.sub(carry, 1);
    let mask = code.and(borrow, no_carry);
    add_back(f, &difference, &m, mask, valid);
}

/// `a − b`, and `m` more if that is negative.
///
/// source: Carlessi and Kashani 2013, Listing 3.16.
fn sub_mod(f: &mut impl Frame) {
    let (a, b, m) = (f.operand(0, 0), f.operand(1, 0), f.operand(2, 0));
    let valid = check_reduced(f, &[&a, &b], &m, 1);
    let (difference, borrow) = f.sub(&a, &b, None);
    add_back(f, &difference, &m, borrow, valid);
}

/// `m − a`, and 0 for 0.
fn neg_mod(f: &mut impl Frame) {
    let (a, m) = (f.operand(0, 0), f.operand(1, 0));
    let valid = check_reduced(f, &[&a], &m, 1);
    let (difference, _) = f.sub(&m, &a, None);
    let not_zero = f.any(&a);
    let keep = f.builder().and(valid, not_zero);
    let result = f.map(&difference, |code, x| code.and(x, keep));
    f.store(0, &result);
}
