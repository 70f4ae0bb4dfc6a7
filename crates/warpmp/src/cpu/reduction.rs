//! `cpu-words`: Montgomery's products and reductions, a lane at a time in words of 64 bits.
//!
//! computes   `t/R mod m` with `R = 2^(32L)` for `L` limbs of `m`, odd; `t` is given, or a product of two residues
//! cost       `2n² + n` word products for `n` words of the modulus, half of them for what is given
//!
//! An odd number of limbs is half a word more: then `t` is multiplied by `2^32` first, so that dividing by `2^(64n)`
//! divides by `R`.
//!
//! bound: a step computes `x·y + t + carry ≤ 2^128 − 1`. Rows of the quotient leave `t + q·m < 2·2^(64n)·m`, whose top
//! bit is a carry of its own; over `2^(64n)` it is below `2m`, and one subtraction reduces it.
//! source: Montgomery 1985, by words as in Koç, Acar and Kaliski 1996.

use super::limbs::{compare, sub};
use super::rows::{Piece, load, store};
use crate::operation::Status;

/// The number that is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Residue {
    /// The product of two residues.
    Product,
    /// The square of a residue.
    Square,
    /// The operand itself.
    Given,
}

/// Reduces the lanes of a piece.
pub(super) fn run(mut piece: Piece<'_>, residue: Residue) {
    let m_rows = piece.operands[piece.operands.len() - 1];
    let limbs = m_rows.limbs();
    let n = limbs.div_ceil(2);
    let (mut m, mut a, mut b, mut t) = (vec![0; n], vec![0; n], vec![0; n], vec![0; 2 * n]);
    let (mut row, mut reduced) = (vec![0; 2 * n], vec![0; 2 * n]);
    let (preconditions, operands) = (piece.operation.preconditions(), &piece.operands);
    let [results, statuses] = &mut piece.results[..] else { return };
    for (lane, (out, code)) in results.words.chunks_exact_mut(limbs).zip(&mut *statuses.words).enumerate() {
        let modulus = m_rows.row(lane);
        let first = operands[0].row(lane);
        let second = if residue == Residue::Product { operands[1].row(lane) } else { first };
        let status = preconditions.check(|i| operands[i].row(lane));
        *code = status.code();
        if status != Status::Fine {
            out.fill(0);
            continue;
        }
        load(modulus, &mut m);
        t.fill(0);
        if residue == Residue::Given {
            // What is cut off is zero: the number is below m·R.
            load(&first[..first.len().min(2 * limbs)], &mut t);
        } else {
            load_zeros(first, limbs, &mut a);
            load_zeros(second, limbs, &mut b);
            for (i, &x) in a.iter().enumerate() {
                t[i + n] = add_row(x, &b, &mut t[i..i + n]);
            }
        }
        if limbs % 2 == 1 {
            // There is half a word free at the top.
            (0..2 * n).rev().for_each(|i| t[i] = t[i] << 32 | i.checked_sub(1).map_or(0, |i| t[i] >> 32));
        }
        let carry = reduce(&mut t, &m);
        store(&t[n..], &mut row);
        let (row, reduced) = (&row[..limbs], &mut reduced[..limbs]);
        // An odd modulus has its top half word free: there is no carry, but the half word may have it.
        let over = carry || limbs % 2 == 1 && t[2 * n - 1] >> 32 != 0;
        if over || compare(row, modulus).is_ge() {
            sub(row, modulus, reduced);
            out.copy_from_slice(reduced);
        } else {
            out.copy_from_slice(row);
        }
    }
}

/// The first limbs of a row as words, and zeros above.
fn load_zeros(row: &[u32], limbs: usize, words: &mut [u64]) {
    words.fill(0);
    load(&row[..row.len().min(limbs)], words);
}

/// `t ← t + q·m`, a multiple of `2^(64n)`; returns the carry.
fn reduce(t: &mut [u64], m: &[u64]) -> bool {
    let n = m.len();
    // m·m = 1 modulo 8; each step doubles the bits that are right.
    let inverse = (0..5).fold(m[0], |x, _| x.wrapping_mul(2_u64.wrapping_sub(m[0].wrapping_mul(x))));
    let mut over = false;
    for i in 0..n {
        let quotient = t[i].wrapping_mul(inverse.wrapping_neg());
        let carry = add_row(quotient, m, &mut t[i..i + n]);
        let (sum, first) = t[i + n].overflowing_add(carry);
        let (sum, second) = sum.overflowing_add(u64::from(over));
        (t[i + n], over) = (sum, first | second);
    }
    over
}

/// `t ← t + x·y`; returns the carry.
fn add_row(x: u64, y: &[u64], t: &mut [u64]) -> u64 {
    let mut carry = 0;
    for (t, y) in t.iter_mut().zip(y) {
        let sum = u128::from(x) * u128::from(*y) + u128::from(*t) + u128::from(carry);
        (*t, carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry
}
