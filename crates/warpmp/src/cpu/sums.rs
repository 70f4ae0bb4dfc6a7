//! The frequent operations of `cpu-linear`, where operands have the same length: without a copy, a lane as it lies.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::limbs::{add, clear_above, compare, shift_left, shift_right, sub};
use super::rows::{Piece, Rows};
use crate::operation::{Operation, Status, division, modular, montgomery, product, product_part};

/// Computes a piece if there is a quick way.
pub(super) fn run(piece: &mut Piece<'_>) -> bool {
    use Operation as O;
    let distance = piece.operation.constant().unwrap_or(0) as usize;
    match piece.operation {
        O::Add | O::WrappingAdd => two(piece, |a, b, out| extend(a.len(), out, |out| add(a, b, out))),
        O::Sub | O::WrappingSub => two(piece, |a, b, out| extend(a.len(), out, |out| sub(a, b, out))),
        O::Cmp => two(piece, |a, b, out| out[0] = compare(a, b) as i8 as u32),
        O::And => two(piece, |a, b, out| bitwise(a, b, out, |x, y| x & y)),
        O::Or => two(piece, |a, b, out| bitwise(a, b, out, |x, y| x | y)),
        O::Xor => two(piece, |a, b, out| bitwise(a, b, out, |x, y| x ^ y)),
        O::Not => one(piece, |a, out| out.iter_mut().zip(a).for_each(|(out, a)| *out = !a)),
        O::Shl(_) | O::WrappingShl(_) => one(piece, |a, out| shift_left(a, distance, out)),
        O::Shr(_) => one(piece, |a, out| shift_right(a, distance, out)),
        O::AddMod => modular_sums(piece, true),
        O::SubMod => modular_sums(piece, false),
        O::CarryingAdd
        | O::BorrowingSub
        | O::Neg
        | O::WrappingNeg
        | O::Select
        | O::SignedAdd
        | O::SignedSub
        | O::SignedNeg
        | O::SignedCmp
        | O::SignExtend(_)
        | O::ToSignMagnitude
        | O::FromSignMagnitude
        | O::NegMod
        | product!()
        | product_part!()
        | division!()
        | modular!()
        | montgomery!() => false,
    }
}

/// Have the operands the same number of limbs?
fn alike(piece: &Piece<'_>) -> bool {
    piece.operands.windows(2).all(|pair| pair[0].limbs() == pair[1].limbs())
}

/// A row of one operand.
fn one(piece: &mut Piece<'_>, apply: impl Fn(&[u32], &mut [u32])) -> bool {
    let a = piece.operands[0];
    each(piece, |lane, out| apply(a.row(lane), out));
    true
}

/// Rows of two operands, if they have the same length.
fn two(piece: &mut Piece<'_>, apply: impl Fn(&[u32], &[u32], &mut [u32])) -> bool {
    let [a, b] = [0, 1].map(|i| piece.operands[i]);
    let alike = alike(piece);
    if alike {
        each(piece, |lane, out| apply(a.row(lane), b.row(lane), out));
    }
    alike
}

/// The rows of the first result, from which what is above their bits is cleared.
fn each(piece: &mut Piece<'_>, mut apply: impl FnMut(usize, &mut [u32])) {
    let result = &mut piece.results[0];
    let bits = result.bits;
    for (lane, out) in result.words.chunks_exact_mut(result.limbs).enumerate() {
        apply(lane, out);
        clear_above(out, bits);
    }
}

/// A sum or difference, and in a limb of its own, where there is one, what leaves it. A difference of `p` bits has its
/// sign in bit `p`.
#[inline]
fn extend(limbs: usize, out: &mut [u32], apply: impl Fn(&mut [u32]) -> bool) {
    let (low, high) = out.split_at_mut(limbs);
    let carry = apply(low);
    if let [high] = high {
        *high = u32::from(carry);
    }
}

#[inline]
fn bitwise(a: &[u32], b: &[u32], out: &mut [u32], apply: impl Fn(u32, u32) -> u32) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = apply(*a, *b));
}

/// Modular sums, or differences, if the operands have the same length; zero where the status is not fine.
///
/// source: as for `add_mod` and `sub_mod` in `linear.rs`.
fn modular_sums(piece: &mut Piece<'_>, is_sum: bool) -> bool {
    let preconditions = piece.operation.preconditions();
    let alike = alike(piece);
    let operands: [Rows<'_>; 3] = [0, 1, 2].map(|i| piece.operands[i]);
    let [results, statuses] = &mut piece.results[..] else { return false };
    if !alike {
        return false;
    }
    let limbs = results.limbs;
    let mut other = vec![0; limbs];
    for (lane, (out, code)) in results.words.chunks_exact_mut(limbs).zip(&mut *statuses.words).enumerate() {
        let [a, b, m] = operands.map(|rows| rows.row(lane));
        let status = preconditions.check(|i| [a, b, m][i]);
        *code = status.code();
        if status != Status::Fine {
            out.fill(0);
        } else if is_sum {
            if add(a, b, out) | compare(out, m).is_ge() {
                // The borrow, if there is one, is the carry.
                sub(out, m, &mut other);
                out.copy_from_slice(&other);
            }
        } else if sub(a, b, out) {
            add(out, m, &mut other);
            out.copy_from_slice(&other);
        }
    }
    true
}
