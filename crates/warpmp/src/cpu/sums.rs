//! The frequent operations of `cpu-linear`, where operands have the same length: without a copy, a lane as it lies.

use super::limbs::{add, clear_above, compare, is_zero, shift_left, shift_right, sub};
use super::rows::{Piece, Rows};
use crate::operation::{Operation, Status};

/// Does the operation of a piece if it is one of these.
pub(super) fn run(piece: &mut Piece<'_>) -> bool {
    use Operation as O;
    let alike = piece.operands.windows(2).all(|pair| pair[0].limbs() == pair[1].limbs());
    let distance = piece.operation.constant().unwrap_or(0) as usize;
    match piece.operation {
        O::Add | O::WrappingAdd if alike => two(piece, |a, b, out| extend(a.len(), out, |out| add(a, b, out))),
        O::Sub | O::WrappingSub if alike => two(piece, |a, b, out| extend(a.len(), out, |out| sub(a, b, out))),
        O::Cmp if alike => two(piece, |a, b, out| out[0] = compare(a, b) as i8 as u32),
        O::And if alike => two(piece, |a, b, out| bitwise(a, b, out, |x, y| x & y)),
        O::Or if alike => two(piece, |a, b, out| bitwise(a, b, out, |x, y| x | y)),
        O::Xor if alike => two(piece, |a, b, out| bitwise(a, b, out, |x, y| x ^ y)),
        O::Not => one(piece, |a, out| out.iter_mut().zip(a).for_each(|(out, a)| *out = !a)),
        O::Shl(_) | O::WrappingShl(_) => one(piece, |a, out| shift_left(a, distance, out)),
        O::Shr(_) => one(piece, |a, out| shift_right(a, distance, out)),
        O::AddMod | O::SubMod if alike => modular(piece),
        _ => return false,
    }
    true
}

/// A row of one operand.
fn one(piece: &mut Piece<'_>, apply: impl Fn(&[u32], &mut [u32])) {
    let a = piece.operands[0];
    each(piece, |lane, out| apply(a.row(lane), out));
}

/// Rows of two operands.
fn two(piece: &mut Piece<'_>, apply: impl Fn(&[u32], &[u32], &mut [u32])) {
    let [a, b] = [0, 1].map(|i| piece.operands[i]);
    each(piece, |lane, out| apply(a.row(lane), b.row(lane), out));
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

/// Modular sums and differences; zero where the status is not fine.
///
/// source: as those in `linear.rs`.
fn modular(piece: &mut Piece<'_>) {
    let [a, b, m]: [Rows<'_>; 3] = [0, 1, 2].map(|i| piece.operands[i]);
    let is_sum = piece.operation == Operation::AddMod;
    let mut difference = vec![0; m.limbs()];
    let [results, statuses] = &mut piece.results[..] else { return };
    let rows = results.words.chunks_exact_mut(m.limbs()).zip(&mut *statuses.words);
    for (lane, (out, code)) in rows.enumerate() {
        let (a, b, m) = (a.row(lane), b.row(lane), m.row(lane));
        let status = if is_zero(m) {
            Status::DivisionByZero
        } else if compare(a, m).is_ge() || compare(b, m).is_ge() {
            Status::NotReduced
        } else {
            Status::Fine
        };
        *code = status.code();
        if status != Status::Fine {
            out.fill(0);
        } else if is_sum {
            if add(a, b, out) | compare(out, m).is_ge() {
                // The borrow, if there is one, is the carry.
                sub(out, m, &mut difference);
                out.copy_from_slice(&difference);
            }
        } else if sub(a, b, out) {
            add(out, m, &mut difference);
            out.copy_from_slice(&difference);
        }
    }
}
