//! The ring of residues modulo a prime `p` below 2²⁶: signed words that are reduced as little as possible.
//!
//! A residue is a signed word of some multiples of `p`. Only products reduce it: `bound.rs` follows the magnitudes.
//!
//! bound: for a factor `w` and its quotient `w' = w·2³²/p + e`, `|e| ≤ 1/2`, let `q = ⌊(y·w' + 2³¹)/2³²⌋`. Then
//! `y·w − q·p = p·(y·w/p − q)` is at most `p·(1/2 + |y|/2³³)` in magnitude: at most [`REDUCED`] times `p`. A product of two points is
//! reduced by Montgomery's method: for `t = x·y` and `m = t/p modulo 2³²`, as a signed word, `t − m·p` is a multiple of 2³²,
//! and `(t − m·p)/2³²` is at most `|x·y|/2³² + p/2`.

use warpmp_kernel::build::{Builder, Emit, R32, R64, V32, V64};
use warpmp_kernel::ir::{Space, Vector};

use super::primes::Prime;
use crate::kernels::transform::Place;
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{Layout, RADIX};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// The greatest product by a root, in quarters of the prime.
pub(super) const REDUCED: u64 = 3;

/// The levels of the inverse transform of a thread's points at which the root 1 costs an addition, not a product.
pub(super) const SUMS: u32 = 3;

/// 2³¹: it rounds quotients.
const HALF: u64 = 1 << 31;

/// The ring modulo a prime: in registers, or as constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residues {
    /// The prime, negative.
    minus_prime: V32,
    /// The inverse of the prime modulo 2³².
    inverse: V32,
    half: V64,
}

/// A root of unity and its multiple by `i`, each with its quotient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    factors: [[V32; 2]; 2],
    /// Is the root its multiple by `i`?
    turned: bool,
    /// Is it negative?
    negative: bool,
}

impl Residues {
    /// The ring modulo a prime.
    pub(super) fn constant(prime: Prime) -> Self {
        let minus_prime = prime.modulus.wrapping_neg().into();
        Self { minus_prime, inverse: prime.inverse_of_modulus().into(), half: HALF.into() }
    }

    /// The ring whose prime is an entry of a table: see [`entry`](Self::entry).
    pub(super) fn load_ring(b: &mut Builder, table: R64, number: u32) -> Self {
        let words = b.load_global(Space::GlobalConst, Vector::V2, table, ROOT_BYTES * number);
        Self { minus_prime: words[0].into(), inverse: words[1].into(), half: HALF.into() }
    }

    /// The entry of a table for a prime.
    pub(super) fn entry(prime: Prime) -> [u64; 2] {
        [u64::from(prime.inverse_of_modulus()) << 32 | u64::from(prime.modulus.wrapping_neg()), 0]
    }

    /// A word as a residue that is not negative. It is at most `2³² − 1 − 63p`, because the prime is below 2²⁶: `bound.rs` has the
    /// greatest one in multiples of the prime.
    pub(super) fn digit(self, b: &mut Builder, word: R32) -> R32 {
        let quotient = b.shr(word, 26);
        b.mad_lo(quotient, self.minus_prime, word)
    }

    /// `x + y·w`, where the product is reduced.
    pub(super) fn add_product(self, b: &mut Builder, x: impl Into<V32>, y: R32, [factor, quotient]: [V32; 2]) -> R32 {
        let wide = b.mad_wide_signed(y, quotient, self.half);
        let (_, quotient) = b.unpack(wide);
        let sum = b.mad_lo(y, factor, x);
        b.mad_lo(quotient, self.minus_prime, sum)
    }
}

/// `(x + y, x − y)`.
pub(super) fn sum_and_difference(b: &mut Builder, [x, y]: [R32; 2]) -> [R32; 2] {
    [b.add(x, y), b.sub(x, y)]
}

impl Root {
    /// The root's magnitude and its quotient.
    pub(super) fn factor(self) -> [V32; 2] {
        self.factors[usize::from(self.turned)]
    }
}

impl Ring for Residues {
    type Point = R32;
    type Root = Root;

    const POINT_BYTES: u32 = 4;

    fn load(self, b: &mut Builder, address: R32, offset: u32, count: u32) -> Vec<R32> {
        let vector = match count {
            1 => Vector::V1,
            2 => Vector::V2,
            _ => Vector::V4,
        };
        b.load_shared(vector, address, offset)
    }

    fn store(self, b: &mut Builder, address: R32, offset: u32, points: &[R32]) {
        b.store_shared(points, address, offset);
    }

    fn load_roots(self, b: &mut Builder, from: R64, first: u32, stride: u32, count: u32) -> Vec<Root> {
        let mut load = |number: u32| {
            let words = b.load_global(Space::GlobalConst, Vector::V4, from, ROOT_BYTES * number);
            let words: Vec<V32> = words.into_iter().map(V32::from).collect();
            Root { factors: [[words[0], words[1]], [words[2], words[3]]], turned: false, negative: false }
        };
        (0..count).map(|i| load(first + i * stride)).collect()
    }

    fn times_i(self, root: Root) -> Root {
        Root { turned: true, ..root }
    }

    fn over_i(self, root: Root) -> Root {
        Root { turned: true, negative: true, ..root }
    }

    fn butterfly(self, b: &mut Builder, w: Root, [x, y]: [R32; 2]) -> [R32; 2] {
        let sum = self.add_product(b, x, y, w.factor());
        let twice = b.add(x, x);
        let difference = b.sub(twice, sum);
        if w.negative { [difference, sum] } else { [sum, difference] }
    }

    fn products(self, b: &mut Builder, factors: [[R32; 2]; 2]) -> [R32; 2] {
        factors.map(|[x, y]| {
            let product = b.mul_wide_signed(x, y);
            let (low, _) = b.unpack(product);
            let multiple = b.mul_lo(low, self.inverse);
            let reduced = b.mad_wide_signed(multiple, self.minus_prime, product);
            b.unpack(reduced).1
        })
    }

    fn squares(self, b: &mut Builder, points: [R32; 2]) -> [R32; 2] {
        self.products(b, points.map(|x| [x, x]))
    }

    fn inverse_of_points(self, b: &mut Builder, layout: Layout, place: &Place, x: &mut [R32]) {
        let roots = self.load_roots(b, place.table, layout.middle(), RADIX, RADIX / 2);
        for level in 0..x.len().ilog2() {
            let (before, count) = codelet::roots_of_level(level);
            let roots = &roots[before as usize..(before + count) as usize];
            if level >= SUMS {
                codelet::inverse_level(b, self, x, roots, level);
                continue;
            }
            codelet::join_pairs(x, level, |i, pair| match i {
                0 => sum_and_difference(b, pair),
                _ => self.butterfly(b, codelet::inverse_root(self, roots, i), pair),
            });
        }
    }
}
