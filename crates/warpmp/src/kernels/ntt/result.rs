//! From residues modulo the primes to coefficients, and to numbers of two words.
//!
//! A thread joins the last transforms modulo each prime, and has the residues of the same coefficients. With the product `P` of the
//! primes and `M = P/p` for each prime `p`, a coefficient is `c = Σ t·M − q·P`, where `t` is the residue over `M` modulo `p`. The three words of a
//! coefficient begin at its own word of the result: the upper two go to the next word through shared memory, and are added to the
//! lowest word of its coefficient.
//!
//! bound: `t` is from `p/4` to `7p/4` ([`REDUCED`](super::residues::REDUCED)). `c < P/4` (`bound.rs`), so `Σ t/p` is from `q` to `q + 1/4`.
//! The primes differ from 2²⁶ by less than 2⁻⁸ of it, so `Σ t/2²⁶` is from `q − 1/16` to `q + 1/4`, and `q = ⌊Σ t/2²⁶ + 1/2⌋`. The
//! sums of products of words are below 2⁶²; the higher ones may wrap, as `c` is computed modulo 2⁹⁶. `c < 2⁷⁵`, so the upper half of
//! the sum at a word is at most 2¹¹.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::bound::product_of_primes;
use super::primes::{PRIMES, Prime};
use super::residues::{Residues, sum_and_difference};
use crate::kernels::transform::Place;
use crate::kernels::transform::angle::TURN;
use crate::kernels::transform::carry::Halves;
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{JOINED, Layout, Points};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// The words of a coefficient, the lowest one first.
type Coefficient = [R32; 3];

impl Layout {
    /// Finishes the product and writes its limbs to the row whose address `row` computes. `table`: of the first prime.
    pub(super) fn finish_residues(
        self,
        b: &mut Builder,
        place: &Place,
        table: R64,
        row: impl FnOnce(&mut Builder) -> R64,
    ) {
        let first = b.add(place.shared, self.first_factor());
        let from = b.mad_wide(place.thread, ROOT_BYTES, table);
        let upper = b.mad_lo(place.thread, 4, first);
        let lows: Vec<Vec<R32>> = (0..self.columns())
            .map(|column| {
                let coefficients = self.coefficients(b, place, (first, from), column);
                b.section("exchange");
                // A warp's words lie where its points were.
                b.warp_barrier();
                let keep = |(row, [low, middle, high]): (usize, Coefficient)| {
                    let at = self.upper_word(row, column as usize);
                    b.store_shared(&[middle], upper, at);
                    b.store_shared(&[high], upper, at + 4 * self.digits());
                    low
                };
                coefficients.into_iter().enumerate().map(keep).collect()
            })
            .collect();
        let halves = self.add_upper_words(b, place, upper, &lows);
        self.finish(b, place, &halves, row);
    }

    /// Where the middle word of a coefficient is, after the thread's first one. The high word is in the next prime's region.
    fn upper_word(self, row: usize, column: usize) -> u32 {
        4 * (self.row_numbers() * row as u32 + self.threads() * column as u32)
    }

    /// The coefficients of a column, a row after the other.
    fn coefficients(self, b: &mut Builder, place: &Place, (first, from): (R32, R64), column: u32) -> Vec<Coefficient> {
        let residues: Vec<Vec<R32>> = (0..PRIMES.len() as u32)
            .map(|number| {
                let ring = Residues::constant(PRIMES[number as usize]);
                let mut points = Points::new(b, ring, self.swizzle(), place.thread, first);
                let mut x = self.join_residues(b, ring, &mut points, (from, number, column));
                x.truncate(self.rows() as usize);
                b.section("residues");
                let prime = PRIMES[number as usize];
                let scale = prime.factor(self.scale(prime)).map(Into::into);
                x.into_iter().map(|x| ring.add_product(b, prime.modulus, x, scale)).collect()
            })
            .collect();
        b.section("coefficients");
        (0..residues[0].len()).map(|i| coefficient(b, [0, 1, 2].map(|prime| residues[prime][i]))).collect()
    }

    /// The last inverse pass of a column modulo the prime of this number.
    fn join_residues(
        self,
        b: &mut Builder,
        ring: Residues,
        points: &mut Points<Residues>,
        (from, number, column): (R64, u32, u32),
    ) -> Vec<R32> {
        b.section("inverse 3");
        let (offset, table) = (self.threads() * column, number * self.entries());
        let of_prime = number * self.digits();
        let mut x: Vec<R32> = (0..self.joins()).map(|i| points.load(b, of_prime + i * JOINED + offset)).collect();
        for level in 0..self.joins_by_two().ilog2() {
            let (before, count) = codelet::roots_of_level(level);
            let roots = ring.load_roots(b, from, table + self.joining() + before * JOINED + offset, JOINED, count);
            codelet::inverse_level(b, ring, &mut x, &roots, level);
        }
        if self.odd() > 1 {
            let turning = table + self.turning() + offset;
            join_three(b, ring, &mut x, (from, turning, PRIMES[number as usize]));
        }
        x
    }

    /// The factor that makes a coefficient modulo a prime its `t`: the inverse of the number of points and of `M`, and 2³²
    /// because the product of points divides by it.
    fn scale(self, prime: Prime) -> u32 {
        let others = product_of_primes() / u128::from(prime.modulus) % u128::from(prime.modulus);
        let divisor = prime.inverse(prime.product(others as u32, self.digits()));
        prime.product(divisor, ((1_u64 << 32) % u64::from(prime.modulus)) as u32)
    }

    /// Adds the upper words of each coefficient, which are in shared memory, to the next one.
    fn add_upper_words(self, b: &mut Builder, place: &Place, upper: R32, lows: &[Vec<R32>]) -> Vec<Vec<Halves>> {
        b.barrier();
        let below = b.sub(upper, 4);
        let mut add = |row: usize, column: usize, low: R32| {
            let at = self.upper_word(row, column);
            let words = if at == 0 {
                let words = [b.copy(0), b.copy(0)];
                let inside = b.compare(Cmp::Ne, place.thread, 0);
                b.guarded(inside, true, |g| {
                    for (word, at) in words.iter().zip([0, 4 * self.digits()]) {
                        g.load_into(Space::Shared, Vector::V1, &[*word], below, at);
                    }
                });
                words
            } else {
                [at, at + 4 * self.digits()].map(|at| b.load_shared(Vector::V1, below, at)[0])
            };
            let sum = [b.register(), b.register()];
            let mut chain = b.chain();
            chain.add_into(sum[0], low, words[0]);
            chain.end_add(sum[1], words[1], 0);
            (sum[0], sum[1])
        };
        let halves = lows
            .iter()
            .enumerate()
            .map(|(column, lows)| lows.iter().enumerate().map(|(row, &low)| add(row, column, low)).collect());
        halves.collect()
    }
}

/// Joins three parts, each of which has a run of `x`: `Σ x[q]·e(−pq/3)` for part `p`.
fn join_three(b: &mut Builder, ring: Residues, x: &mut [R32], (from, turning, prime): (R64, u32, Prime)) {
    // e(∓1/3) = −1/2 ± h.
    let [second, third] = [2, 1].map(|thirds| prime.root(TURN / 3 * thirds));
    let half = prime.inverse(2);
    let minus_half = prime.factor(prime.modulus - half).map(Into::into);
    let h = prime.factor(prime.product(second + prime.modulus - third, half)).map(Into::into);
    let points = x.len() / 3;
    for i in 0..points {
        let [y, z] = [0, 1].map(|part| {
            let root = ring.load_roots(b, from, turning + (part * points + i) as u32 * JOINED, 1, 1)[0];
            ring.add_product(b, 0, x[(part + 1) * points + i], root.factor())
        });
        let [sum, difference] = sum_and_difference(b, [y, z]);
        let middle = ring.add_product(b, x[i], sum, minus_half);
        let outer = ring.add_product(b, 0, difference, h);
        x[i] = b.add(x[i], sum);
        [x[points + i], x[2 * points + i]] = sum_and_difference(b, [middle, outer]);
    }
}

/// The coefficient of three residues `t`, one for each prime.
fn coefficient(b: &mut Builder, t: [R32; 3]) -> Coefficient {
    let product = product_of_primes();
    let sum = b.add(t[0], t[1]);
    let sum = b.add(sum, t[2]);
    let sum = b.add(sum, 1 << 25);
    let q = b.shr(sum, 26);
    let others = PRIMES.map(|prime| product / u128::from(prime.modulus));
    let minus = (1_u128 << 96) - product;
    let words = |number: u128| [0, 32, 64].map(|bits| (number >> bits) as u32);
    let mut sum_of_word = |word: usize| {
        let first = b.mul_wide(t[0], words(others[0])[word]);
        let sum = [1, 2].into_iter().fold(first, |sum, i| b.mad_wide(t[i], words(others[i])[word], sum));
        let sum = b.mad_wide(q, words(minus)[word], sum);
        b.unpack(sum)
    };
    let [(low, carried), (middle, high)] = [sum_of_word(0), sum_of_word(1)];
    let high = b.mad_lo(q, words(minus)[2], high);
    let sum = [b.register(), b.register()];
    let mut chain = b.chain();
    chain.add_into(sum[0], middle, carried);
    chain.wrap_add(sum[1], high, 0);
    [low, sum[0], sum[1]]
}
