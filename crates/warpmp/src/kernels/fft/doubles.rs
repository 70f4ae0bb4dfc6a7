//! The ring of complex doubles: butterflies, products and transforms that have instructions of their own.
//!
//! A butterfly computes `a + w·b` by four fused operations, and `a − w·b` as `2a − (a + w·b)` by two more.
//!
//! bound: the rounding errors are computed from the instructions that these functions write: see `bound.rs`.

use warpmp_kernel::build::{Builder, Emit, F64, R32, R64, VF64};
use warpmp_kernel::ir::{Space, Vector};

use crate::kernels::transform::Place;
use crate::kernels::transform::angle::{self, Angle, QUARTER, cosine_and_sine, divided_cosine_and_sine, tangent};
use crate::kernels::transform::codelet::{forward_level, join_pairs};
use crate::kernels::transform::layout::{Layout, POINT_BYTES};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// The ring of complex doubles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubles;

/// A complex number in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complex {
    pub(super) re: F64,
    pub(super) im: F64,
}

/// A root of unity: registers or constants, with their negatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    re: VF64,
    im: VF64,
    minus_re: VF64,
    minus_im: VF64,
}

impl Root {
    /// The root of this angle, as constants.
    pub(super) fn constant(angle: Angle) -> Self {
        let [re, im] = cosine_and_sine(angle);
        Self { re: re.into(), im: im.into(), minus_re: (-re).into(), minus_im: (-im).into() }
    }

    /// The root in these registers.
    pub(super) fn register(b: &mut Builder, root: Complex) -> Self {
        let [minus_re, minus_im] = [root.re, root.im].map(|it| b.neg_f64(it).into());
        Self { re: root.re.into(), im: root.im.into(), minus_re, minus_im }
    }
}

impl Ring for Doubles {
    type Point = Complex;
    type Root = Root;

    const POINT_BYTES: u32 = POINT_BYTES;

    fn load(self, b: &mut Builder, address: R32, offset: u32, count: u32) -> Vec<Complex> {
        let point = |i| {
            let pair = b.load_f64(Space::Shared, Vector::V2, address, offset + POINT_BYTES * i);
            Complex { re: pair[0], im: pair[1] }
        };
        (0..count).map(point).collect()
    }

    fn store(self, b: &mut Builder, address: R32, offset: u32, points: &[Complex]) {
        for (point, i) in points.iter().zip(0..) {
            b.store_f64(Space::Shared, &[point.re, point.im], address, offset + POINT_BYTES * i);
        }
    }

    fn load_roots(self, b: &mut Builder, from: R64, first: u32, stride: u32, count: u32) -> Vec<Root> {
        let loaded: Vec<Complex> = (0..count).map(|i| load_root(b, from, first + i * stride)).collect();
        loaded.into_iter().map(|root| Root::register(b, root)).collect()
    }

    fn times_i(self, root: Root) -> Root {
        Root { re: root.minus_im, im: root.re, minus_re: root.im, minus_im: root.minus_re }
    }

    fn over_i(self, root: Root) -> Root {
        Root { re: root.im, im: root.minus_re, minus_re: root.minus_im, minus_im: root.re }
    }

    fn butterfly(self, b: &mut Builder, w: Root, [x, y]: [Complex; 2]) -> [Complex; 2] {
        let re = b.fma(w.minus_im, y.im, x.re);
        let im = b.fma(w.im, y.re, x.im);
        let re = b.fma(w.re, y.re, re);
        let im = b.fma(w.re, y.im, im);
        let [minus_re, minus_im] = [re, im].map(|it| b.neg_f64(it));
        let other = Complex { re: b.fma(x.re, 2.0, minus_re), im: b.fma(x.im, 2.0, minus_im) };
        [Complex { re, im }, other]
    }

    /// The sum of two products and their difference: the first level of the inverse transform. The second product is a factor of a
    /// butterfly.
    fn products(self, b: &mut Builder, [[x, y], [w, z]]: [[Complex; 2]; 2]) -> [Complex; 2] {
        let first = product(b, x, y);
        let w = Root::register(b, w);
        self.butterfly(b, w, [first, z])
    }

    fn squares(self, b: &mut Builder, [x, z]: [Complex; 2]) -> [Complex; 2] {
        let both = b.mul_f64(x.im, x.im);
        let minus = b.neg_f64(both);
        let re = b.fma(x.re, x.re, minus);
        let doubled = b.add_f64(x.re, x.re);
        let first = Complex { re, im: b.mul_f64(doubled, x.im) };
        let w = Root::register(b, z);
        self.butterfly(b, w, [first, z])
    }

    fn inverse_of_points(self, b: &mut Builder, _: Layout, _: &Place, x: &mut [Complex]) {
        for level in 1..x.len().ilog2() {
            inverse_level_of_points(b, x, level);
        }
    }
}

/// Loads a root.
pub(super) fn load_root(b: &mut Builder, from: R64, number: u32) -> Complex {
    let pair = b.load_f64(Space::GlobalConst, Vector::V2, from, ROOT_BYTES * number);
    Complex { re: pair[0], im: pair[1] }
}

/// `(a + w·b, a − w·b)` for real `a` and `b`.
fn real_butterfly(b: &mut Builder, w: Root, [x, y]: [F64; 2]) -> [Complex; 2] {
    let re = b.fma(w.re, y, x);
    let im = b.mul_f64(w.im, y);
    let [minus_re, minus_im] = [re, im].map(|it| b.neg_f64(it));
    [Complex { re, im }, Complex { re: b.fma(x, 2.0, minus_re), im: minus_im }]
}

/// `(a + b, a − b)`.
fn sum_and_difference(b: &mut Builder, [x, y]: [Complex; 2]) -> [Complex; 2] {
    let sum = Complex { re: b.add_f64(x.re, y.re), im: b.add_f64(x.im, y.im) };
    [sum, Complex { re: b.sub_f64(x.re, y.re), im: b.sub_f64(x.im, y.im) }]
}

/// `(a − i·b, a + i·b)`.
fn turned_sum_and_difference(b: &mut Builder, [x, y]: [Complex; 2]) -> [Complex; 2] {
    let first = Complex { re: b.add_f64(x.re, y.im), im: b.sub_f64(x.im, y.re) };
    [first, Complex { re: b.sub_f64(x.re, y.im), im: b.add_f64(x.im, y.re) }]
}

/// As [`forward`](crate::kernels::transform::codelet::forward), for real coefficients.
pub(super) fn forward_real(b: &mut Builder, digits: &[F64], roots: &[Root]) -> Vec<Complex> {
    let half = digits.len() / 2;
    let pairs: Vec<[Complex; 2]> =
        (0..half).map(|i| real_butterfly(b, roots[0], [digits[i], digits[i + half]])).collect();
    forward_of_pairs(b, &pairs, roots)
}

/// As [`forward`](crate::kernels::transform::codelet::forward), from the pairs that the first level makes.
pub(super) fn forward_of_pairs(b: &mut Builder, pairs: &[[Complex; 2]], roots: &[Root]) -> Vec<Complex> {
    let mut x: Vec<Complex> = (0..2).flat_map(|side| pairs.iter().map(move |pair| pair[side])).collect();
    for level in 1..x.len().ilog2() {
        forward_level(b, Doubles, &mut x, roots, level);
    }
    x
}

/// The inverse transform of 2, 4, 8 or 16 points.
pub(super) fn inverse_of_points(b: &mut Builder, x: &mut [Complex]) {
    for level in 0..x.len().ilog2() {
        inverse_level_of_points(b, x, level);
    }
}

/// A level of [`inverse_of_points`].
pub(super) fn inverse_level_of_points(b: &mut Builder, x: &mut [Complex], level: u32) {
    join_pairs(x, level, |i, pair| {
        if i == 0 {
            sum_and_difference(b, pair)
        } else if 2 * i == 1 << level {
            turned_sum_and_difference(b, pair)
        } else {
            let angle = angle::turns(i as u64, 2 << level);
            Doubles.butterfly(b, Root::constant(angle::opposite(angle)), pair)
        }
    });
}

/// Joins an odd number of parts, each of which has a run of `x`. `turn` turns term `i` of a part but the first one.
pub(super) fn join_parts(
    b: &mut Builder,
    x: &mut [Complex],
    parts: usize,
    mut turn: impl FnMut(&mut Builder, [usize; 2], Complex) -> Complex,
) {
    let points = x.len() / parts;
    for i in 0..points {
        let mut column = vec![x[i]];
        for part in 1..parts {
            column.push(turn(b, [part, i], x[part * points + i]));
        }
        for (part, joined) in inverse_odd(b, &column).into_iter().enumerate() {
            x[part * points + i] = joined;
        }
    }
}

/// The same for transforms that begin with the same coefficient: term `i` of a part is turned by a constant.
pub(super) fn join_parts_by_constants(b: &mut Builder, x: &mut [Complex], parts: usize) {
    let points = x.len() as u64;
    join_parts(b, x, parts, |b, [part, i], x| {
        let angle = angle::turns((part * i) as u64, points);
        if i == 0 { x } else { product_with_constant(b, cosine_and_sine(angle::opposite(angle)), x) }
    });
}

/// Joins 3, 5, 7 or 9 parts: replaces `x[p]` by `Σ x[q]·e(−pq/n)`.
fn inverse_odd(b: &mut Builder, x: &[Complex]) -> Vec<Complex> {
    let halves = (x.len() - 1) / 2;
    let (sums, differences): (Vec<Complex>, Vec<Complex>) = (0..halves)
        .map(|i| {
            let [sum, difference] = sum_and_difference(b, [x[1 + i], x[x.len() - 1 - i]]);
            (sum, difference)
        })
        .unzip();
    let first = sums.iter().fold(x[0], |total, &sum| add(b, total, sum));
    let mut outputs = vec![first; x.len()];
    for p in 1..=halves {
        let root = |q: usize| cosine_and_sine(angle::turns((p * (q + 1)) as u64, x.len() as u64));
        let cosine = |q: usize| if x.len() == 3 { -0.5 } else { root(q)[0] };
        let even = (0..halves).fold(x[0], |total, q| Complex {
            re: b.fma(sums[q].re, cosine(q), total.re),
            im: b.fma(sums[q].im, cosine(q), total.im),
        });
        // All but the last one: the last one goes into the outputs.
        let odd = (0..halves - 1).fold(None, |total: Option<Complex>, q| {
            let sine = root(q)[1];
            Some(match total {
                None => Complex { re: b.mul_f64(differences[q].re, sine), im: b.mul_f64(differences[q].im, sine) },
                Some(total) => Complex {
                    re: b.fma(differences[q].re, sine, total.re),
                    im: b.fma(differences[q].im, sine, total.im),
                },
            })
        });
        let (last, sine) = (differences[halves - 1], root(halves - 1)[1]);
        // `even ∓ i·(odd + sine·last)`.
        let outer = odd.map_or([even; 2], |odd| turned_sum_and_difference(b, [even, odd]));
        for (number, outer, sine) in [(p, outer[0], sine), (x.len() - p, outer[1], -sine)] {
            outputs[number] = Complex { re: b.fma(last.im, sine, outer.re), im: b.fma(last.re, -sine, outer.im) };
        }
    }
    outputs
}

fn add(b: &mut Builder, x: Complex, y: Complex) -> Complex {
    Complex { re: b.add_f64(x.re, y.re), im: b.add_f64(x.im, y.im) }
}

/// `x·y`.
pub(super) fn product(b: &mut Builder, x: Complex, y: Complex) -> Complex {
    let both = b.mul_f64(x.im, y.im);
    let cross = b.mul_f64(x.im, y.re);
    let minus = b.neg_f64(both);
    Complex { re: b.fma(x.re, y.re, minus), im: b.fma(x.re, y.im, cross) }
}

/// `x·y` for a constant `x`.
pub(super) fn product_with_constant(b: &mut Builder, [re, im]: [f64; 2], y: Complex) -> Complex {
    let both = b.mul_f64(y.im, im);
    let cross = b.mul_f64(y.re, im);
    let minus = b.neg_f64(both);
    Complex { re: b.fma(y.re, re, minus), im: b.fma(y.im, re, cross) }
}

/// `x·e(−angle)` over a divisor, plus `addend` for both parts, for an angle below a quarter of a turn. A constant is a tangent or a
/// cotangent of at most 1; the cosine or the sine is a factor of the last operation, which adds.
pub(super) fn turn_back_and_add(b: &mut Builder, x: Complex, (angle, divisor): (Angle, u32), addend: f64) -> Complex {
    let [cosine, sine] = divided_cosine_and_sine(angle, divisor);
    let (x, scale) = if angle == 0 {
        (x, cosine)
    } else if 2 * angle < QUARTER {
        let tangent = tangent(angle);
        (Complex { re: b.fma(x.im, tangent, x.re), im: b.fma(x.re, -tangent, x.im) }, cosine)
    } else {
        let cotangent = tangent(QUARTER - angle);
        let minus = b.neg_f64(x.re);
        (Complex { re: b.fma(x.re, cotangent, x.im), im: b.fma(x.im, cotangent, minus) }, sine)
    };
    Complex { re: b.fma(x.re, scale, addend), im: b.fma(x.im, scale, addend) }
}
