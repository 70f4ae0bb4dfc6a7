//! Symbols of Jacobi by divsteps, thirty steps at a time.
//!
//! computes   for odd `f > 0` and `g ≥ 0` with the steps of [`divsteps`](super::divsteps) the last `f`, the greatest common
//!            divisor or its negative, and the parity of the signs that the symbol `(g / f)` takes on the way
//! requires   as there
//! cost       as there, and 15 instructions more a step
//!
//! A step changes the symbol `(g / |f|)` by these rules, where `f₁` is bit 1 of `f`:
//!
//! * A halving `g → g/2` multiplies it by `(2 / |f|)`, which is −1 where bits 1 and 2 of `f` differ. The sign of `f` does not
//!   matter.
//! * `g → g + f` keeps it.
//! * `(f, g) → (g, g − f)`: `(g / |f|)·(f / |g|)` is −1 to the power `f₁·g₁ + [f < 0]·[g < 0]`, and `(−1 / |g|)` is −1 to the
//!   power `g₁ + [g < 0]`. Together: `g₁·(1 − f₁) + [f > 0]·[g < 0]`.
//!
//! The bits come from the lowest words: before step `i` of a batch `32 − i ≥ 3` bits of `f` and `g` are right. What is
//! missing is how often `f` turns from positive to negative in a batch: the sum of the last term.
//!
//! The signs are those of the whole numbers, which the steps do not see. But only a swap changes the sign of `f`. As a
//! vector, `(f, g)` then turns by a right angle, always the same way round, and every other part of a step is a shear or
//! a scaling that leaves the sign of `f`. The vector `(1, 0)`, whose image `(u, q)` is a column of the matrix, takes the
//! same path. It changes the sign of its first coordinate `S` times, where `u = 0` counts with the sign of `q`: the side to
//! which it turns.
//!
//! bound: two vectors less than half a turn apart stay so, in the same order: the maps are continuous paths of invertible
//! maps. So `f` changes its sign `S` times, or once less if `g/f > 0`, or once more if `g/f < 0`, with the signs from before
//! the batch. The signs of `f` before and after the batch tell whether the number is even, which decides. Of `n` changes
//! `⌈n/2⌉` are from positive to negative if `f` was positive before, else `⌊n/2⌋`.
//!
//! source: Hamburg, Computing the Jacobi symbol using Bernstein-Yang, 2021, for the symbol by divsteps; the signs by the
//! turns of a column are ours.

use super::divsteps::{Pair, STEPS, combine, exchange, sign};
use super::{Spread, assign, repeat};
use crate::build::{Builder, Emit, R32};
use crate::ir::{Cmp, Vote};

/// Steps in the body of the loop.
const UNROLL: u32 = 6;

/// Steps until `g = 0` in all lanes of the warp: then `f` is the greatest common divisor or its negative. The result is odd
/// where the symbol of the numbers of the beginning is the negative of the symbol at the end; only bit 0 counts.
pub fn symbol(b: &mut Builder, spread: &Spread, numbers: &Pair) -> R32 {
    let (delta, parity) = (b.copy(1), b.copy(0));
    b.do_while(|b| {
        let before = [&numbers.first, &numbers.second].map(|number| sign(b, spread, number));
        let [f, g] = [&numbers.first, &numbers.second].map(|number| spread.broadcast(b, number[0], 0));
        let matrix = [1, 0, 0, 1].map(|word: u32| b.copy(word));
        let (signs, turns) = (b.copy(0), b.copy(0));
        let values = [matrix[0], matrix[1], matrix[2], matrix[3], signs, turns];
        let words = spread.by_one_warp(b, &values, |b| steps(b, delta, [f, g], matrix, signs, turns));
        let rows = [[words[0], words[1]], [words[2], words[3]]];
        let next = rows.map(|row| {
            let terms = [(row[0], &numbers.first[..], before[0]), (row[1], &numbers.second[..], before[1])];
            combine(b, spread, &terms)
        });
        assign(b, &numbers.first, &next[0]);
        assign(b, &numbers.second, &next[1]);
        // The changes of the column, and from these the changes of f.
        let after = sign(b, spread, &numbers.first);
        let changed = b.xor(before[0], after);
        let differs = b.xor(changed, words[5]);
        let differs = b.and(differs, 1);
        let opposite = b.xor(before[0], before[1]);
        // All ones, which is −1, where g/f > 0; 1 where g/f < 0.
        let step = b.xor(opposite, u32::MAX);
        let step = b.or(step, 1);
        let changes = b.mad_lo(differs, step, words[5]);
        let up = b.add(before[0], 1);
        let changes = b.add(changes, up);
        let falls = b.shr(changes, 1);
        let flips = b.xor(falls, words[4]);
        let next = b.xor(parity, flips);
        b.set(parity, next);
        let done = spread.is_zero(b, &numbers.second);
        let more = b.not_pred(done);
        b.vote(Vote::Any, more)
    });
    parity
}

/// A batch of steps on the lowest words; `delta` goes on. The matrix begins as one; bit 0 of `signs` collects the signs of
/// the symbol, and `turns` counts the changes of sign of the column.
fn steps(b: &mut Builder, delta: R32, numbers: [R32; 2], [u, v, q, r]: [R32; 4], signs: R32, turns: R32) {
    let [f, g] = numbers.map(|word| b.copy(word));
    // Bit 31: the sign of the column's first coordinate.
    let side = b.copy(0);
    repeat(b, STEPS / UNROLL, |b| {
        for _ in 0..UNROLL {
            let odd = b.and(g, 1);
            let is_odd = b.compare(Cmp::Ne, odd, 0);
            let positive = b.compare_signed(Cmp::Gt, delta, 0);
            let swap = b.and_pred(is_odd, positive);
            let (down, up) = (b.sub(1, delta), b.add(delta, 1));
            let next_delta = b.select(down, up, swap);
            // A swap: g₁·(1 − f₁), at bit 1.
            let not_f = b.xor(f, u32::MAX);
            let exchanged = b.and(g, not_f);
            let exchanged = b.select(exchanged, 0, swap);
            let (f_next, g_sum) = exchange(b, swap, f, g);
            let (u_next, q_sum) = exchange(b, swap, u, q);
            let (v_next, r_sum) = exchange(b, swap, v, r);
            let g_next = b.mad_lo(odd, f_next, g_sum);
            let g_next = b.shr(g_next, 1);
            let q_next = b.mad_lo(odd, u_next, q_sum);
            let r_next = b.mad_lo(odd, v_next, r_sum);
            // A halving: bits 1 and 2 of f, at bit 1.
            let upper = b.shr(f_next, 1);
            let halved = b.xor(f_next, upper);
            let both = b.xor(halved, exchanged);
            let both = b.shr(both, 1);
            let signs_next = b.xor(signs, both);
            // u = 0 counts with the sign of q.
            let zero = b.compare(Cmp::Eq, u_next, 0);
            let side_next = b.select(q_next, u_next, zero);
            let change = b.xor(side, side_next);
            let change = b.shr(change, 31);
            let turns_next = b.add(turns, change);
            let (u_next, v_next) = (b.add(u_next, u_next), b.add(v_next, v_next));
            let to = [delta, f, g, u, v, q, r, signs, turns, side];
            let from = [next_delta, f_next, g_next, u_next, v_next, q_next, r_next, signs_next, turns_next, side_next];
            for (to, from) in to.into_iter().zip(from) {
                b.set(to, from);
            }
        }
    });
}
