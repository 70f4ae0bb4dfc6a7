//! `cpu-word`: common divisors, cofactors and inverses of numbers of one word, a lane at a time.
//!
//! computes   `g = gcd(a, b)`, the least `x ≥ 0` with `a·x = g mod b`, and `y` with `a·x + b·y = g`
//! cost       a division of the processor for each quotient of Euclid, 0.58 for each bit; the divisor alone takes a subtraction and a
//!            shift for each step, 0.7 for each bit
//!
//! bound: the multiples `s` and `t` of `a` never exceed `b / g`: no sum is lost.
//! source: Knuth, The Art of Computer Programming 2, 4.5.2, algorithms B and X.

use super::rows::Piece;
use super::word::{each, number, put};
use crate::operation::Status;

/// Lanes whose divisors are found together (measured).
const TOGETHER: usize = 4;

pub(super) fn gcd(mut piece: Piece<'_>) {
    let lanes = piece.lanes();
    for first in (0..lanes).step_by(TOGETHER) {
        let value = |operand: usize, lane: usize| number(piece.operands[operand].row(lane.min(lanes - 1))) as u64;
        let found = divisors(std::array::from_fn(|i| [0, 1].map(|operand| value(operand, first + i))));
        for (lane, divisor) in (first..lanes).zip(found) {
            put(&mut piece, 0, lane, divisor.into());
        }
    }
}

pub(super) fn inverse(piece: Piece<'_>) {
    each(piece, |[a, _, m]| match cofactor(a as u64, m as u64) {
        (1, inverse) => Ok([inverse.into()]),
        _ => Err(Status::NoInverse),
    });
}

pub(super) fn gcd_ext(piece: Piece<'_>) {
    let sign_bits = piece.results[2].bits;
    each(piece, |[a, _, b]| {
        if b == 0 {
            return Ok([a, u128::from(a != 0), 0]);
        }
        let (g, x) = cofactor(a as u64, b as u64);
        let (g, product) = (u128::from(g), a * u128::from(x));
        let y = if product < g { 1 } else { ((product - g) / b).wrapping_neg() };
        Ok([g, x.into(), y & (u128::MAX >> (128 - sign_bits))])
    });
}

/// Greatest common divisors by halves and differences. A step waits for the one before, so several lanes take it in turn.
///
/// Equal numbers become zero and their divisor, in either order, and stay so.
fn divisors(pairs: [[u64; 2]; TOGETHER]) -> [u64; TOGETHER] {
    let twos = pairs.map(|[a, b]| (a | b).trailing_zeros());
    // A zero stays zero.
    let mut odd = pairs.map(|pair| pair.map(|it| it >> (it.trailing_zeros() % u64::BITS)));
    while odd.iter().any(|[_, b]| *b != 0) {
        for [a, b] in &mut odd {
            // The zeros of `a − b` are those of `b − a`: they are counted while the sign is found.
            let difference = a.wrapping_sub(*b);
            let zeros = difference.trailing_zeros() % u64::BITS;
            let is_less = *a < *b;
            let least = if is_less { *a } else { *b };
            *a = if is_less { difference.wrapping_neg() } else { difference } >> zeros;
            *b = least;
        }
    }
    std::array::from_fn(|i| (odd[i][0] | odd[i][1]) << (twos[i] % u64::BITS))
}

/// `g = gcd(a, b)`, and the least `x ≥ 0` with `a·x = g` modulo `b`, which is not zero.
fn cofactor(a: u64, b: u64) -> (u64, u64) {
    // After an odd number of quotients `x = s·a` and `y = −t·a` modulo `b`, else the opposite.
    let (mut x, mut y, mut s, mut t) = (b, a % b, 0_u64, 1_u64);
    let mut is_odd = false;
    while y != 0 {
        let quotient = x / y;
        (x, y) = (y, x - quotient * y);
        (s, t) = (t, s + quotient * t);
        is_odd = !is_odd;
    }
    // Now `t = b / g`, and `s` is below it.
    (x, if is_odd || s == 0 { s } else { t - s })
}
