//! `starts`: the starting points of walks, several a thread with one inversion.
//!
//! computes   start `i` of a pool: the sum of point `i mod 4096` of the first kind and point `i div 4096` of the second,
//!            or twice the first if their abscissas agree; the representative of its class
//! requires   the points canonical; the pool holds whole blocks of 4096 starts
//! launch     `count/`[`EACH`] threads, [`THREADS`] a block
//! cost       a start: 6 products, a square and 1/[`EACH`] of an inversion
//! registers  about `10·L + 20`
//!
//! The prefix products wait in the pool, where the starts will be.
//!
//! source: Montgomery 1987 for inversions together.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::{assign, repeat, select};
use warpmp_kernel::ir::{Bounds, Kernel, Space, Vector};
use warpmp_launch::{Address, Word, parameters, thread_number};

use super::curve::{Constants, Curve, add, odd, same};
use crate::walk::BLOCK;

/// Threads a block.
pub const THREADS: u32 = 128;

/// Starts a thread.
pub const EACH: u32 = 16;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The points of the first kind: rows of `x` and `y`.
        firsts: Address,
        /// Those of the second kind, one for each block of 4096 starts.
        seconds: Address,
        /// The starts: rows of `x` and `y`.
        pool: Address,
        /// Threads of the launch.
        threads: Word,
    }
}

/// The launch for a pool of so many starts, a multiple of 4096.
pub const fn grid(starts: u32) -> Grid {
    Grid { blocks: starts / EACH / THREADS, threads: THREADS, shared_bytes: 0 }
}

/// Writes the kernel.
pub fn build(constants: &Constants) -> Kernel {
    let mut b = Builder::new(&format!("starts_{}", constants.name()), Glue::Every(1));
    b.bounds(Bounds { max_threads: Some(THREADS), ..Bounds::default() });
    let inputs = Inputs::of(&mut b, false);
    let number = thread_number(&mut b, THREADS);
    let curve = Curve::new(&mut b, constants, number);
    let rows = Rows { inputs, limbs: constants.limbs };
    let product = curve.one(&mut b);
    let start = b.copy(number);
    each(&mut b, start, inputs.threads, |b| {
        let [x, y, other, _] = rows.terms(b, start);
        let at = rows.row(b, inputs.pool, start);
        rows.store(b, at, 0, &product);
        let denominator = denominator(b, &curve, &x, &y, &other);
        let next = curve.mul(b, &product, &denominator);
        assign(b, &product, &next);
    });
    let inverse = curve.invert(&mut b, &product);
    let back = b.sub(0, inputs.threads);
    b.increase(start, back);
    each(&mut b, start, back, |b| {
        let [x, y, other, ordinate] = rows.terms(b, start);
        let at = rows.row(b, inputs.pool, start);
        let prefix = rows.load(b, at, 0);
        let denominator = denominator(b, &curve, &x, &y, &other);
        let own = curve.own(b, &inverse, &prefix);
        let rest = curve.mul(b, &inverse, &denominator);
        assign(b, &inverse, &rest);
        let doubles = same(b, &x, &other);
        let tangent = curve.tangent(b, &x);
        let run = curve.difference(b, &ordinate, &y);
        let rise = select(b, doubles, &tangent, &run);
        let slope = curve.slope(b, &rise, &own);
        let [x3, y3] = curve.chord(b, [&x, &y], &other, &slope);
        let flipped = odd(b, &y3);
        let opposite = curve.negate(b, &y3);
        let y3 = select(b, flipped, &opposite, &y3);
        rows.store(b, at, 0, &x3);
        rows.store(b, at, 1, &y3);
    });
    b.finish()
}

/// [`EACH`] starts, `step` apart; `start` ends behind the last.
fn each(b: &mut Builder, start: R32, step: R32, body: impl FnOnce(&mut Builder)) {
    repeat(b, EACH, |b| {
        body(b);
        b.increase(start, step);
    });
}

/// Of the sum of `(x, y)` and a point with the abscissa `other`.
fn denominator(b: &mut Builder, curve: &Curve, x: &[R32], y: &[R32], other: &[R32]) -> Vec<R32> {
    let doubles = same(b, x, other);
    let run = curve.difference(b, other, x);
    let twice = add(b, y, y);
    select(b, doubles, &twice, &run)
}

/// Points as rows of `x` and `y`.
struct Rows {
    inputs: Inputs,
    limbs: u32,
}

impl Rows {
    fn row(&self, b: &mut Builder, address: R64, number: R32) -> R64 {
        b.mad_wide(number, 8 * self.limbs, address)
    }

    fn load(&self, b: &mut Builder, row: R64, coordinate: u32) -> Vec<R32> {
        let limb = |i| 4 * (coordinate * self.limbs + i);
        (0..self.limbs).flat_map(|i| b.load_global(Space::Global, Vector::V1, row, limb(i))).collect()
    }

    fn store(&self, b: &mut Builder, row: R64, coordinate: u32, number: &[R32]) {
        for (i, &limb) in number.iter().enumerate() {
            b.store_global(Space::Global, &[limb], row, 4 * (coordinate * self.limbs + i as u32));
        }
    }

    /// The coordinates of a start's two points.
    fn terms(&self, b: &mut Builder, start: R32) -> [Vec<R32>; 4] {
        let (first, second) = (b.and(start, BLOCK as u32 - 1), b.shr(start, BLOCK.trailing_zeros()));
        let first = self.row(b, self.inputs.firsts, first);
        let second = self.row(b, self.inputs.seconds, second);
        [(first, 0), (first, 1), (second, 0), (second, 1)].map(|(row, coordinate)| self.load(b, row, coordinate))
    }
}
