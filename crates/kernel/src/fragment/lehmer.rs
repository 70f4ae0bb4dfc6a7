//! Lehmer's steps: Euclid's quotients from the highest bits, some 26 bits of both numbers at a time.
//!
//! computes   from `f, g > 0` a pair with the same common divisors, below `2^96` unless a quotient of about 2^29 or more comes
//! requires   numbers whose top bit is zero; whole warps for each number, four limbs a lane at least; shared memory
//! cost       a batch: about 350 instructions, whatever the length; its effect on a pair of numbers: `4·length` wide products and about
//!            `7·length` additions
//!
//! The numbers are `f` and `k = −g`. A quotient `t` turns `f` into `f + t·k`, or `k` into `k + t·f`. So the quotients of a batch are a
//! matrix, `(f', k') = (u, v; q, r)·(f, k)`, with entries that are not negative, and determinant 1. Every `t` that leaves `f', g' > 0`
//! will do: a quotient that comes from approximations needs no correction.
//!
//! A batch begins with the 64 highest bits of both numbers, and takes the 31 highest of these. Its first half ends when no quotient
//! leaves 2^16 or more. The matrix of the first half is applied to the 64 bits, and the second half takes 31 bits of the result. All
//! lanes do the same.
//!
//! bound: `a` and `b` are windows of `f` and `g` with the unit `W`, so `f/W < a + 1` and `g/W ≤ b + 1`.
//!
//! * All `a', b' ≥ 2^16` of a half fulfil `r·a' + v·b' = a < 2^31` and `q·a' + u·b' = b < 2^31`. So `r + v` and `q + u` are below
//!   2^15, and the entries of the product of two such matrices are below 2^30.
//! * First half: `f'/W = (u·f − v·g)/W > a' − v > 0`, and `g'/W > b' − q > 0`.
//! * After it, the 64 bits are at least `(2^16 − 2^15)·2^33 = 2^48`, and wrong by less than 2^15. So the 31 highest leave out at least
//!   18 bits, and `f'/W` is between `a' − 1/8` and `a' + 9/8` for the new windows and their unit.
//! * Second half: `f''/W > a'' − u/8 − 9v/8 > 2^16 − 2^15·10/8 > 0`, and the same for `g''`.
//! * As `r·f' + v·g' = f` and `q·f' + u·g' = g`, numbers do not grow. Cofactors `x, y ≥ 0` of the second number of the beginning fulfil
//!   `x·g' + y·f' = f₀`, so they do not exceed `f₀`.
//!
//! Where no quotient below 2^15 leaves enough, a batch takes the 64 bits at once, by shifts and subtractions, down to 2^33. Its entries
//! are below 2^31 for the same reason, and `f'/W > 2^33 − 2^31 > 0`. If that finds nothing either, the steps end.
//!
//! source: Lehmer, Euclid's algorithm for large numbers, 1938; two halves as in Knuth 2, 4.5.2. Quotients that need not be right, and
//! numbers of opposite signs, are ours.

use super::divsteps::Pair;
use super::{Spread, Window, assign, select};
use crate::build::{Builder, Emit, R32, R64};
use crate::ir::{Cmp, Vector, Vote};

/// Bits by which a batch makes random numbers shorter, about.
pub const BITS: u32 = 26;

/// The least that a quotient leaves.
const LEAST: u32 = 1 << 16;

/// The least that it leaves of the high words, where 64 bits are taken at once.
const LEAST_HIGH: u32 = 2;

/// The least limb at which the windows begin: they take in four limbs.
const LOWEST_TOP: u32 = 3;

/// `2^23` as a float. Added to a smaller number and rounded towards zero it drops what is behind the point.
const WHOLE: u32 = 0x4B00_0000;

/// `−(1 − 2^−20)` as a float: more than the conversions and the reciprocal are wrong by, so that no quotient is too large.
const SLIGHTLY_LESS: u32 = 0xBF7F_FFF0;

/// A matrix by rows.
type Matrix = [R32; 4];

/// A 64-bit number: its low and its high word.
type Words = [R32; 2];

/// Bytes of shared memory for a number of which a lane has `length` limbs.
pub const fn shared_bytes(length: u32) -> u32 {
    16 * length
}

/// Can numbers in this layout take these steps?
pub const fn applies(group: u32, length: u32) -> bool {
    group >= 32 && length > LOWEST_TOP
}

/// Takes `f > 0` and `g ≥ 0`, one of them odd, to numbers with the same common divisors, of which the first is odd. The second one is
/// negative if there were steps.
///
/// `factors`: cofactors `x` with `x·g = f`, modulo the `f` of the beginning, which is odd then. If there are steps, they become new in
/// `[−f, 0]`. `shared`: the address of [`shared_bytes`] of shared memory.
pub fn reduce(b: &mut Builder, spread: &Spread, shared: R32, numbers: &Pair, factors: Option<&Pair>) {
    let limbs = spread.group * spread.length as u32;
    let either: Vec<R32> = numbers.first.iter().zip(&numbers.second).map(|(&x, &y)| b.or(x, y)).collect();
    let bits = spread.bit_length(b, &either);
    let top = b.sub(bits, 1);
    let top = b.shr(top, 5);
    let none = spread.is_zero(b, &numbers.second);
    let some = b.not_pred(none);
    // Zero has more bits than there are, so the comparison has two ends.
    let long = b.sub(top, LOWEST_TOP);
    let long = b.compare(Cmp::Lt, long, limbs);
    let begins = b.and_pred(some, long);
    b.if_(begins, |b| {
        let negated = spread.negate(b, &numbers.second);
        assign(b, &numbers.second, &negated);
        if let Some(factors) = factors {
            for (number, value) in [(&factors.first, 0), (&factors.second, 1)] {
                let start = spread.small(b, value);
                assign(b, number, &start);
            }
        }
        b.do_while(|b| {
            let before = b.copy(top);
            let matrix = batch(b, spread, shared, numbers, top);
            apply(b, spread, matrix, numbers);
            if let Some(factors) = factors {
                apply(b, spread, matrix, factors);
            }
            let [_, v, q, _] = matrix;
            let moved = b.sub(before, top);
            let changed = b.lop3(v, q, moved, 0xFE);
            let changed = b.compare(Cmp::Ne, changed, 0);
            let long = b.compare(Cmp::Ge, top, LOWEST_TOP);
            let more = b.and_pred(changed, long);
            b.vote(Vote::Any, more)
        });
        if let Some(factors) = factors {
            for number in [&factors.first, &factors.second] {
                let negated = spread.negate(b, number);
                assign(b, number, &negated);
            }
        }
        let lowest = spread.broadcast(b, numbers.first[0], 0);
        let parity = b.and(lowest, 1);
        let odd = b.compare(Cmp::Ne, parity, 0);
        for pair in [Some(numbers), factors].into_iter().flatten() {
            let first = select(b, odd, &pair.first, &pair.second);
            let second = select(b, odd, &pair.second, &pair.first);
            assign(b, &pair.first, &first);
            assign(b, &pair.second, &second);
        }
    });
}

/// The matrix of a batch, for numbers whose highest limb is `top`, or lower; `top` goes down by at most a limb.
fn batch(b: &mut Builder, spread: &Spread, shared: R32, numbers: &Pair, top: R32) -> Matrix {
    let length = spread.length as u32;
    // Exact for all limbs, as the top lane's number is.
    let lane = b.mul_hi(top, u32::MAX / length + 1);
    let place = b.mad_lo(lane, length.wrapping_neg(), top);
    // The lane of the highest limb, and the lane below it, write all of their limbs.
    let distance = b.sub(spread.member, lane);
    let slot = b.add(distance, 1);
    let writes = b.compare(Cmp::Lt, slot, 2);
    let to = b.mad_lo(slot, 4 * length, shared);
    b.guarded(writes, true, |g| {
        for (number, start) in [(&numbers.first, 0), (&numbers.second, 8 * length)] {
            for (&limb, k) in number.iter().zip(0..) {
                g.store_shared(&[limb], to, start + 4 * k);
            }
        }
    });
    spread.fence(b);
    let matrix: Matrix = [1, 0, 0, 1].map(|word: u32| b.copy(word));
    let words = spread.by_one_warp(b, &[matrix[0], matrix[1], matrix[2], matrix[3], top], |b| {
        let from = b.mad_lo(place, 4, shared);
        let mut read = |start: u32, j: u32| b.load_shared(Vector::V1, from, start + 4 * (length - j))[0];
        let [x, y] = [0, 8 * length].map(|start| [0, 1, 2, 3].map(|j| read(start, j)));
        // The limbs of −1 − k = g − 1.
        let y = y.map(|limb| b.not(limb));
        let first = b.or(x[0], y[0]);
        let empty = b.compare(Cmp::Eq, first, 0);
        let down = b.select(1, 0, empty);
        b.decrease(top, down);
        let mut from_next = |limbs: [R32; 4]| [0, 1, 2].map(|j| b.select(limbs[j + 1], limbs[j], empty));
        let [x, y] = [x, y].map(&mut from_next);
        let first = b.or(x[0], y[0]);
        let zeros = b.clz(first);
        let windows =
            [x, y].map(|[high, middle, low]| [b.funnel_left(low, middle, zeros), b.funnel_left(middle, high, zeros)]);
        let found = halves(b, windows);
        assign(b, &matrix, &found);
        let changed = b.or(matrix[1], matrix[2]);
        let stuck = b.compare(Cmp::Eq, changed, 0);
        b.if_(stuck, |b| subtractions(b, windows, matrix));
    });
    if spread.group <= 32 {
        // The next batch writes where this one has read.
        spread.fence(b);
    }
    assign(b, &[top], &words[4..]);
    [words[0], words[1], words[2], words[3]]
}

/// The matrix of two halves.
fn halves(b: &mut Builder, [x, y]: [Words; 2]) -> Matrix {
    let first = quotients(b, [x[1], y[1]]);
    let [u, v, q, r] = first;
    let y = negated(b, y);
    let [x, y] = [[u, v], [q, r]].map(|[left, right]| {
        let sum = b.mul_wide(left, x[0]);
        let sum = b.mad_wide(right, y[0], sum);
        let (low, high) = b.unpack(sum);
        let high = b.mad_lo(left, x[1], high);
        [low, b.mad_lo(right, y[1], high)]
    });
    let y = negated(b, y);
    let either = b.or(x[1], y[1]);
    let zeros = b.clz(either);
    let highs = [x, y].map(|[low, high]| b.funnel_left(low, high, zeros));
    let second = quotients(b, highs);
    let row = |b: &mut Builder, [left, right]: [R32; 2]| {
        [(u, q), (v, r)].map(|(above, below)| {
            let product = b.mul_lo(left, above);
            b.mad_lo(right, below, product)
        })
    };
    let upper = row(b, [second[0], second[1]]);
    let lower = row(b, [second[2], second[3]]);
    [upper[0], upper[1], lower[0], lower[1]]
}

/// `−x`, modulo 2⁶⁴.
fn negated(b: &mut Builder, [low, high]: Words) -> Words {
    let number = b.pack(low, high);
    let negated = b.sub64(0, number);
    b.unpack(negated).into()
}

/// The matrix of the quotients of the 31 highest bits of two words.
///
/// The numbers are `a` and `c = −b`. A quotient that would leave less than [`LEAST`] is one less, which leaves at least the divisor.
///
/// bound: the reciprocal, the conversions and two roundings are together wrong by less than 2^−21, and the factor `1 − 2^−20` makes
/// good for them: no quotient is too large. It is too small by at most one, as `a/b < 2^15`. A quotient of zero leaves what is there.
/// So a quotient that is lowered is at least one, and `a, b ≥` [`LEAST`] stays. Two numbers that are nearly equal have two quotients of
/// zero one after the other, which end the loop. All others make the numbers smaller.
fn quotients(b: &mut Builder, highs: [R32; 2]) -> Matrix {
    let [a, c] = highs.map(|high| b.shr(high, 1));
    let smaller = b.min(a, c);
    let begins = b.compare(Cmp::Ge, smaller, LEAST);
    let negated = b.sub(0, c);
    b.set(c, negated);
    // The entries of a row, 16 bits each.
    let [above, below] = [1, 1 << 16].map(|row: u32| b.copy(row));
    b.if_(begins, |b| {
        let [whole, less] = [WHOLE, SLIGHTLY_LESS].map(|constant| b.copy(constant));
        let zero = b.copy(0);
        let quotient = |b: &mut Builder, numerator: R32, denominator: R32| {
            let reciprocal = b.reciprocal_f32(denominator);
            let less = b.fma_f32(numerator, less, zero);
            let sum = b.fma_f32(less, reciprocal, whole);
            b.sub(sum, WHOLE)
        };
        let a_float = b.s32_to_f32(a);
        b.do_while(|b| {
            let c_float = b.s32_to_f32(c);
            let t = quotient(b, a_float, c_float);
            let rest = b.mad_lo(t, c, a);
            let enough = b.compare_signed(Cmp::Ge, rest, LEAST);
            let [more, fewer] = [b.sub(rest, c), b.sub(t, 1)];
            let [rest, t] = [b.select(rest, more, enough), b.select(t, fewer, enough)];
            b.set(a, rest);
            let row = b.mad_lo(t, below, above);
            b.set(above, row);
            let next = b.s32_to_f32(a);
            b.set(a_float, next);
            let s = quotient(b, c_float, a_float);
            let rest = b.mad_lo(s, a, c);
            let also = b.compare_signed(Cmp::Le, rest, LEAST.wrapping_neg());
            let [more, fewer] = [b.sub(rest, a), b.sub(s, 1)];
            let [rest, s] = [b.select(rest, more, also), b.select(s, fewer, also)];
            b.set(c, rest);
            let row = b.mad_lo(s, above, below);
            b.set(below, row);
            let both = b.and_pred(enough, also);
            let either = b.or(t, s);
            let some = b.compare(Cmp::Ne, either, 0);
            b.and_pred(both, some)
        });
    });
    let [left, right] = [above, below].map(|row| [b.and(row, 0xFFFF), b.shr(row, 16)]);
    [left[0], left[1], right[0], right[1]]
}

/// The same for all of 64 bits, by shifts and subtractions. `matrix` is one before.
fn subtractions(b: &mut Builder, [x, y]: [Words; 2], [u, v, q, r]: Matrix) {
    let [x, y] = [x, y].map(|[low, high]| b.pack(low, high));
    let least = u64::from(LEAST_HIGH) << 32;
    let step = |b: &mut Builder, x: R64, y: R64| {
        let wide = b.add64(y, least);
        // Not above 2⁶⁴, and not above x.
        let fits = b.compare64(Cmp::Ge, wide, least);
        let less = b.compare64(Cmp::Ge, x, wide);
        let large = b.compare64(Cmp::Ge, y, least);
        let fits = b.and_pred(fits, less);
        b.and_pred(fits, large)
    };
    // All of the quotient's bits, from the highest on.
    let reduce = |b: &mut Builder, x: R64, y: R64, own: [R32; 2], other: [R32; 2]| {
        b.while_(
            |b| step(b, x, y),
            |b| {
                let [x_high, y_high] = [x, y].map(|number| b.unpack(number).1);
                let [x_zeros, y_zeros] = [x_high, y_high].map(|high| b.clz(high));
                let shift = b.sub(y_zeros, x_zeros);
                let part = b.shl64(y, shift);
                let most = b.sub64(x, least);
                let beyond = b.compare64(Cmp::Gt, part, most);
                let lower = b.select(1, 0, beyond);
                let shift = b.sub(shift, lower);
                let part = b.shl64(y, shift);
                let rest = b.sub64(x, part);
                b.set64(x, rest);
                for (entry, by) in own.into_iter().zip(other) {
                    let part = b.shl(by, shift);
                    b.increase(entry, part);
                }
            },
        );
    };
    b.do_while(|b| {
        reduce(b, x, y, [u, v], [q, r]);
        reduce(b, y, x, [q, r], [u, v]);
        step(b, x, y)
    });
}

/// Applies a matrix to numbers. What stands above them is dropped.
///
/// bound: the entries of a row add up to less than 2³², so a lane's part is below `B^(length + 1)`.
fn apply(b: &mut Builder, spread: &Spread, [u, v, q, r]: Matrix, numbers: &Pair) {
    let sums = [[u, v], [q, r]].map(|row| {
        let mut window = Window::spare(spread.length);
        for (number, factor) in [&numbers.first, &numbers.second].into_iter().zip(row) {
            window.add(b, number, factor);
        }
        window.finish(b)
    });
    let next = spread.settle_all_wrapping(b, sums.into());
    assign(b, &numbers.first, &next[0]);
    assign(b, &numbers.second, &next[1]);
}
