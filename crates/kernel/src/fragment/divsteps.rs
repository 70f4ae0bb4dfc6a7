//! Divsteps: greatest common divisors and inverses, thirty steps at a time.
//!
//! computes   for odd `f` and any `g`: steps `(δ, f, g) → (1−δ, g, (g−f)/2)` if `δ > 0` and `g` is odd, else
//!            `(1+δ, f, (g + (g mod 2)·f)/2)`; they keep the greatest common divisor, and in the end `g = 0`
//! requires   numbers in two's complement, with two bits to spare above `f`, `g` and a modulus
//! cost       thirty steps: about 650 instructions, whatever the length, or about 370 for a number a warp; their effect on a pair of numbers:
//!            `4·length` wide products and about as many additions, `6·length` modulo a number
//!
//! The steps look at the lowest bits of `f` and `g` alone, so thirty of them are done on one word each and give a
//! matrix, `2^30·(f', g') = (u, v; q, r)·(f, g)`. That matrix is then applied to the numbers. All lanes do the same.
//!
//! bound: `|u| + |v| ≤ 2^30`, `|q| + |r| ≤ 2^30`, since a step adds at most the doubled other row to a row that is
//! half as large. So `|f'|, |g'|` do not exceed the greater of `|f|, |g|`, and three terms with coefficients below
//! `2^31` fit in one limb more than the number. For `|f|, |g| ≤ 2^d` at most `⌊(49d + 80)/17⌋` steps are needed.
//! Modulo odd `m`, with `d, e` in `(−2m, m)`: a negative one counts as `d + m`, so that the sum is in
//! `(−2^30·m, 2^30·m)`; what makes it divisible subtracts less than `2^30·m`, and the quotient is in `(−2m, m)`.
//!
//! source: Bernstein and Yang, Fast constant-time gcd computation and modular inversion, 2019, theorem 11.2 for
//! the number of steps; the range of `d, e` is that of P. Wuille's notes on the method.

use super::{Spread, Window, assign, negated_inverse, repeat};
use crate::build::{Builder, Emit, Pred, R32};
use crate::ir::{Cmp, Vote};

/// Steps of a batch.
pub(super) const STEPS: u32 = 30;

/// Steps in the body of the loop.
const UNROLL: u32 = 6;

/// Steps that a multiple of `f` takes the place of, at most.
const LEAP: u32 = 6;

/// A pair of numbers in two's complement, to which the matrices are applied.
#[derive(Clone, Debug)]
pub struct Pair {
    /// `f`, or its cofactor.
    pub first: Vec<R32>,
    /// `g`, or its cofactor.
    pub second: Vec<R32>,
}

/// A row of the matrix.
type Row = [R32; 2];

impl Pair {
    /// Copies of two numbers.
    pub fn new(b: &mut Builder, first: &[R32], second: &[R32]) -> Self {
        let mut copy = |limbs: &[R32]| limbs.iter().map(|&limb| b.copy(limb)).collect();
        Self { first: copy(first), second: copy(second) }
    }
}

/// Steps until `g = 0` in all lanes of the warp: then `f` is the greatest common divisor or its negative. `f` odd.
pub fn greatest_common_divisor(b: &mut Builder, spread: &Spread, numbers: &Pair) {
    run(b, spread, numbers, |_, _| {});
}

/// The same; and `x` with `x·g = f mod m` for the `f` of the end, where `f = m` in the beginning: in `(−2m, m)`.
pub fn inverse(b: &mut Builder, spread: &Spread, numbers: &Pair) -> Vec<R32> {
    let modulus: Vec<R32> = numbers.first.iter().map(|&limb| b.copy(limb)).collect();
    let inverse = lowest_inverse(b, spread, &modulus);
    let factors = first_factors(b, spread, &modulus);
    follow(b, spread, numbers, &factors, &modulus, inverse);
    factors.first
}

/// `m⁻¹` modulo 2³².
pub fn lowest_inverse(b: &mut Builder, spread: &Spread, modulus: &[R32]) -> R32 {
    let lowest = spread.broadcast(b, modulus[0], 0);
    let negated = negated_inverse(b, lowest);
    b.sub(0, negated)
}

/// Cofactors of `f = m` and any `g` by which `g` is multiplied, modulo `m`.
pub fn first_factors(b: &mut Builder, spread: &Spread, modulus: &[R32]) -> Pair {
    // One in the range, also modulo 1: 1 − m.
    let [zero, one] = [0, 1].map(|value| spread.small(b, value));
    let (one, _) = spread.sub(b, &one, modulus);
    Pair::new(b, &zero, &one)
}

/// Steps until `g = 0` in all lanes of the warp, which cofactors in `(−2m, m)` follow, modulo odd `m`. `inverse`: the
/// [`lowest_inverse`].
pub fn follow(b: &mut Builder, spread: &Spread, numbers: &Pair, factors: &Pair, modulus: &[R32], inverse: R32) {
    run(b, spread, numbers, |b, rows| {
        let signs = [&factors.first, &factors.second].map(|number| sign(b, spread, number));
        let lows = [&factors.first, &factors.second].map(|number| spread.broadcast(b, number[0], 0));
        let next = rows.map(|row| {
            // The multiple of m that makes the sum divisible, and makes good for negative factors.
            let [u, v] = [0, 1].map(|i| b.and(row[i], signs[i]));
            let made_good = b.add(u, v);
            let low = b.mul_lo(row[0], lows[0]);
            let low = b.mad_lo(row[1], lows[1], low);
            let excess = b.mad_lo(inverse, low, made_good);
            let excess = b.and(excess, (1 << STEPS) - 1);
            let multiple = b.sub(made_good, excess);
            let zero = b.copy(0);
            let terms = [
                (row[0], &factors.first[..], signs[0]),
                (row[1], &factors.second[..], signs[1]),
                (multiple, modulus, zero),
            ];
            combine(b, spread, &terms)
        });
        assign(b, &factors.first, &next[0]);
        assign(b, &factors.second, &next[1]);
    });
}

/// All ones if the number is negative, else zero; the same in all lanes of the group.
pub fn sign(b: &mut Builder, spread: &Spread, number: &[R32]) -> R32 {
    let sign = b.shr_signed(number[number.len() - 1], 31);
    spread.top(b, sign)
}

/// `number` where `mask` is zero, its negative where it is all ones.
pub fn negate_where(b: &mut Builder, spread: &Spread, mask: R32, number: &[R32]) -> Vec<R32> {
    let flipped: Vec<R32> = number.iter().map(|&limb| b.xor(limb, mask)).collect();
    let one = b.and(mask, 1);
    let one = spread.small(b, one);
    spread.add(b, &flipped, &one).0
}

/// `number + addend` where `mask` is all ones, `number` where it is zero.
pub fn add_where(b: &mut Builder, spread: &Spread, mask: R32, number: &[R32], addend: &[R32]) -> Vec<R32> {
    let masked: Vec<R32> = addend.iter().map(|&limb| b.and(limb, mask)).collect();
    spread.add(b, number, &masked).0
}

/// Batches of steps until all `g` are zero; `also` is told the matrices.
fn run(b: &mut Builder, spread: &Spread, numbers: &Pair, also: impl FnOnce(&mut Builder, [Row; 2])) {
    let delta = b.copy(1);
    b.do_while(|b| {
        let [f, g] = [&numbers.first, &numbers.second].map(|number| spread.broadcast(b, number[0], 0));
        let matrix = [1, 0, 0, 1].map(|word: u32| b.copy(word));
        let words = spread.by_one_warp(b, &matrix, |b| {
            if spread.group < 32 { steps(b, delta, [f, g], matrix) } else { leaps(b, delta, [f, g], matrix) }
        });
        let rows = [[words[0], words[1]], [words[2], words[3]]];
        let signs = [&numbers.first, &numbers.second].map(|number| sign(b, spread, number));
        let next = rows.map(|row| {
            let terms = [(row[0], &numbers.first[..], signs[0]), (row[1], &numbers.second[..], signs[1])];
            combine(b, spread, &terms)
        });
        assign(b, &numbers.first, &next[0]);
        assign(b, &numbers.second, &next[1]);
        also(b, rows);
        let done = spread.is_zero(b, &numbers.second);
        let more = b.not_pred(done);
        b.vote(Vote::Any, more)
    });
}

/// A batch of steps on the lowest words; `delta` goes on. The matrix begins as one.
fn steps(b: &mut Builder, delta: R32, numbers: [R32; 2], [u, v, q, r]: [R32; 4]) {
    let [f, g] = numbers.map(|word| b.copy(word));
    repeat(b, STEPS / UNROLL, |b| {
        for _ in 0..UNROLL {
            let odd = b.and(g, 1);
            let is_odd = b.compare(Cmp::Ne, odd, 0);
            let positive = b.compare_signed(Cmp::Gt, delta, 0);
            let swap = b.and_pred(is_odd, positive);
            let (down, up) = (b.sub(1, delta), b.add(delta, 1));
            let next_delta = b.select(down, up, swap);
            let (f_next, g_sum) = exchange(b, swap, f, g);
            let (u_next, q_sum) = exchange(b, swap, u, q);
            let (v_next, r_sum) = exchange(b, swap, v, r);
            let g_next = b.mad_lo(odd, f_next, g_sum);
            let g_next = b.shr(g_next, 1);
            let q_next = b.mad_lo(odd, u_next, q_sum);
            let r_next = b.mad_lo(odd, v_next, r_sum);
            let (u_next, v_next) = (b.add(u_next, u_next), b.add(v_next, v_next));
            for (to, from) in
                [delta, f, g, u, v, q, r].into_iter().zip([next_delta, f_next, g_next, u_next, v_next, q_next, r_next])
            {
                b.set(to, from);
            }
        }
    });
}

/// The same batch for a warp whose lanes all have one number: the same matrix in fewer instructions, whose number depends on the
/// numbers.
///
/// A run of zeros of `g` is a shift by as many steps. Then `g` is odd, and the numbers change places if `δ > 0`. While `δ ≤ 0` the
/// following steps only add multiples of `f` to `g`: `w·f` makes all the bits of `g` zero that these steps look at. `w = −g/f`,
/// and `f·(2 − f²) = 1/f` modulo 64.
///
/// source: the shifts and the multiple are P. Wuille's, in the notes above.
fn leaps(b: &mut Builder, delta: R32, numbers: [R32; 2], [u, v, q, r]: [R32; 4]) {
    let [f, g] = numbers.map(|word| b.copy(word));
    let left = b.copy(STEPS);
    let zeros = |b: &mut Builder| {
        let beyond = b.shl(u32::MAX, left);
        let bits = b.or(g, beyond);
        let negated = b.sub(0, bits);
        let lowest = b.and(bits, negated);
        let zeros = b.bfind(lowest);
        for word in [u, v] {
            let shifted = b.shl(word, zeros);
            b.set(word, shifted);
        }
        let values = [b.shr(g, zeros), b.add(delta, zeros), b.sub(left, zeros)];
        for (to, from) in [g, delta, left].into_iter().zip(values) {
            b.set(to, from);
        }
        b.compare(Cmp::Ne, left, 0)
    };
    b.while_(zeros, |b| {
        let swap = b.compare_signed(Cmp::Gt, delta, 0);
        let negated = b.sub(0, delta);
        let next_delta = b.select(negated, delta, swap);
        let pairs = [(f, g), (u, q), (v, r)].map(|(x, y)| exchange(b, swap, x, y));
        // As many steps as leave δ at most 0, and as the inverse is right for.
        let most = b.sub(1, next_delta);
        let most = b.min(most, left);
        let most = b.min(most, LEAP);
        let (f_next, g_next) = pairs[0];
        let inverse = b.mad_lo(f_next, f_next, 2_u32.wrapping_neg());
        let product = b.mul_lo(f_next, g_next);
        let multiple = b.mul_lo(product, inverse);
        let beyond = b.shl(u32::MAX, most);
        let below = b.not(beyond);
        let multiple = b.and(multiple, below);
        b.set(delta, next_delta);
        for ((first, second), (x, y)) in [(f, g), (u, q), (v, r)].into_iter().zip(pairs) {
            b.set(first, x);
            let sum = b.mad_lo(x, multiple, y);
            b.set(second, sum);
        }
    });
}

/// `(y, −x)` where `swap`, else `(x, y)`.
pub(super) fn exchange(b: &mut Builder, swap: Pred, x: R32, y: R32) -> (R32, R32) {
    let negated = b.sub(0, x);
    (b.select(y, x, swap), b.select(negated, y, swap))
}

/// The sum of coefficients times numbers, divided by `2^30`. Each number comes with its sign.
pub(super) fn combine(b: &mut Builder, spread: &Spread, terms: &[(R32, &[R32], R32)]) -> Vec<R32> {
    // With c = −|c|: c·x = |c|·(¬x) + |c|, and a negative ¬x is its limbs less B^n.
    let mut window = Window::new(spread.length);
    let (mut low, mut correction) = (b.copy(0), b.copy(0));
    let mut factors = Vec::new();
    for &(coefficient, number, sign) in terms {
        let negative = b.shr_signed(coefficient, 31);
        let flipped = b.xor(coefficient, negative);
        let size = b.sub(flipped, negative);
        let ones = b.and(size, negative);
        low = b.add(low, ones);
        let sign = b.xor(sign, negative);
        let below = b.and(size, sign);
        correction = b.add(correction, below);
        let number: Vec<R32> = number.iter().map(|&limb| b.xor(limb, negative)).collect();
        factors.push((number, size));
    }
    let zero = b.copy(0);
    let low = spread.at_bottom(b, low, zero);
    for (i, (number, size)) in factors.iter().enumerate() {
        window.add(b, number, *size);
        if i == 0 {
            window.add_low(low);
        }
    }
    let (limbs, excess) = window.finish(b);
    let (limbs, above) = spread.settle(b, &limbs, excess);
    let above = b.sub(above, correction);
    let next = spread.from_above(b, limbs[0]);
    let is_top = b.compare(Cmp::Eq, spread.member, spread.group - 1);
    let next = b.select(above, next, is_top);
    (0..limbs.len()).map(|k| b.funnel_right(limbs[k], limbs.get(k + 1).copied().unwrap_or(next), STEPS)).collect()
}
