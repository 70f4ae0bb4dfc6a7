//! Transforms of a few points, and steps of the tree with them.
//!
//! bound: the largest error of an output over the sum of the moduli of all inputs, in units of `u = 2⁻⁵³` and to first
//! order, is [`Radix::elementwise`]:
//!
//! * 2, 4: a sum is rounded once a layer. Products with `i` are exact.
//! * 8: three layers, and a product with `√½·(±1 ± i)`: a sum, a constant wrong by at most `0.71u`, a fused operation.
//! * 3: at most three roundings or wrong constants on the way of an input to an output, each of them on a part. The parts
//!   of a complex number exchange through factors `c`, `s` with `|c| + |s| ≤ √2`: times `√2`.
//! * 5: five of them in the same way.

use super::doubles::{Complex, ComplexDoubles, Doubles};

/// How many children a node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    Two,
    Three,
    Four,
    Five,
    Eight,
}

impl Radix {
    pub(super) const fn size(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
            Self::Four => 4,
            Self::Five => 5,
            Self::Eight => 8,
        }
    }

    /// The error of an output over the sum of the inputs' moduli, in units of 2⁻⁵³.
    pub(super) const fn elementwise(self) -> f64 {
        match self {
            Self::Two => 1.0,
            Self::Four => 2.0,
            Self::Eight => 3.0 + 2.71,
            Self::Three => 3.0 * std::f64::consts::SQRT_2,
            Self::Five => 5.0 * std::f64::consts::SQRT_2,
        }
    }

    /// The error of all outputs over all outputs, both as Euclidean norms, in units of 2⁻⁵³.
    ///
    /// A layer of sums errs by `u` of its outputs, so radices of such layers are as good as elementwise. Of others
    /// `Σⱼ|errorⱼ|² ≤ r·γ²·(Σ|xᵢ|)² ≤ r²γ²·‖x‖²`, and the outputs' norm is `√r·‖x‖`.
    pub(super) fn euclidean(self) -> f64 {
        match self {
            Self::Two | Self::Four | Self::Eight => self.elementwise(),
            Self::Three | Self::Five => self.elementwise() * (self.size() as f64).sqrt(),
        }
    }
}

/// `√½`, and cosines and sines of thirds and fifths of a turn: the nearest doubles.
const HALF_ROOT: f64 = std::f64::consts::FRAC_1_SQRT_2;
const SIN_3: f64 = 0.866_025_403_784_438_6;
const COS_5: [f64; 2] = [0.309_016_994_374_947_45, -0.809_016_994_374_947_5];
const SIN_5: [f64; 2] = [0.951_056_516_295_153_5, 0.587_785_252_292_473_1];

type Of<S> = Complex<<S as Doubles>::Vector>;

/// `yⱼ = Σ xₖ·i^(jk)`; backwards with `−i`.
#[inline(always)]
pub(super) fn four<S: Doubles, const BACKWARDS: bool>(s: S, x: [Of<S>; 4]) -> [Of<S>; 4] {
    let (s0, d0) = (s.sum(x[0], x[2]), s.difference(x[0], x[2]));
    let (s1, d1) = (s.sum(x[1], x[3]), s.difference(x[1], x[3]));
    let (one, three) = (s.plus_i(d0, d1), s.minus_i(d0, d1));
    let (one, three) = if BACKWARDS { (three, one) } else { (one, three) };
    [s.sum(s0, s1), one, s.difference(s0, s1), three]
}

/// `yⱼ = Σ xₖ·e^(2πi·jk/8)`; backwards with the conjugate.
#[inline(always)]
fn eight<S: Doubles, const BACKWARDS: bool>(s: S, x: [Of<S>; 8]) -> [Of<S>; 8] {
    let even = four::<S, BACKWARDS>(s, [x[0], x[2], x[4], x[6]]);
    let odd = four::<S, BACKWARDS>(s, [x[1], x[3], x[5], x[7]]);
    let r = s.all(HALF_ROOT);
    // `e ± r·z` with `z = (1 ± i)·o` up to a factor that is a power of i.
    let turned = |e: Of<S>, z: Of<S>| {
        let plus = Complex { re: s.times_plus(r, z.re, e.re), im: s.times_plus(r, z.im, e.im) };
        let minus = Complex { re: s.minus_times(r, z.re, e.re), im: s.minus_times(r, z.im, e.im) };
        (plus, minus)
    };
    let (y0, y4) = (s.sum(even[0], odd[0]), s.difference(even[0], odd[0]));
    let (y2, y6) = (s.plus_i(even[2], odd[2]), s.minus_i(even[2], odd[2]));
    let (y2, y6) = if BACKWARDS { (y6, y2) } else { (y2, y6) };
    let [o1, o3] = [odd[1], odd[3]];
    // (1 + i)·o₁ and (−1 + i)·o₃; backwards (1 − i)·o₁ and (−1 − i)·o₃.
    let (z1, z3) = if BACKWARDS {
        (
            Complex { re: s.plus(o1.re, o1.im), im: s.minus(o1.im, o1.re) },
            Complex { re: s.minus(o3.im, o3.re), im: s.minus(s.all(0.0), s.plus(o3.re, o3.im)) },
        )
    } else {
        (
            Complex { re: s.minus(o1.re, o1.im), im: s.plus(o1.re, o1.im) },
            Complex { re: s.minus(s.all(0.0), s.plus(o3.re, o3.im)), im: s.minus(o3.re, o3.im) },
        )
    };
    let ((y1, y5), (y3, y7)) = (turned(even[1], z1), turned(even[3], z3));
    [y0, y1, y2, y3, y4, y5, y6, y7]
}

/// `yⱼ = Σ xₖ·e^(2πi·jk/3)`; backwards with the conjugate.
#[inline(always)]
fn three<S: Doubles, const BACKWARDS: bool>(s: S, x: [Of<S>; 3]) -> [Of<S>; 3] {
    let (t, d) = (s.sum(x[1], x[2]), s.difference(x[1], x[2]));
    let (half, sine) = (s.all(0.5), s.all(if BACKWARDS { -SIN_3 } else { SIN_3 }));
    let m = Complex { re: s.minus_times(half, t.re, x[0].re), im: s.minus_times(half, t.im, x[0].im) };
    let one = Complex { re: s.minus_times(sine, d.im, m.re), im: s.times_plus(sine, d.re, m.im) };
    let two = Complex { re: s.times_plus(sine, d.im, m.re), im: s.minus_times(sine, d.re, m.im) };
    [s.sum(x[0], t), one, two]
}

/// `yⱼ = Σ xₖ·e^(2πi·jk/5)`; backwards with the conjugate.
#[inline(always)]
fn five<S: Doubles, const BACKWARDS: bool>(s: S, x: [Of<S>; 5]) -> [Of<S>; 5] {
    let (t1, d1) = (s.sum(x[1], x[4]), s.difference(x[1], x[4]));
    let (t2, d2) = (s.sum(x[2], x[3]), s.difference(x[2], x[3]));
    let [c1, c2] = [s.all(COS_5[0]), s.all(COS_5[1])];
    let sign = if BACKWARDS { -1.0 } else { 1.0 };
    let [s1, s2] = [s.all(sign * SIN_5[0]), s.all(sign * SIN_5[1])];
    let mixed = |p: S::Vector, q: S::Vector| Complex {
        re: s.times_plus(p, t1.re, s.times_plus(q, t2.re, x[0].re)),
        im: s.times_plus(p, t1.im, s.times_plus(q, t2.im, x[0].im)),
    };
    let (m1, m2) = (mixed(c1, c2), mixed(c2, c1));
    let n1 =
        Complex { re: s.times_plus(s1, d1.re, s.times(s2, d2.re)), im: s.times_plus(s1, d1.im, s.times(s2, d2.im)) };
    let n2 =
        Complex { re: s.times_minus(s2, d1.re, s.times(s1, d2.re)), im: s.times_minus(s2, d1.im, s.times(s1, d2.im)) };
    let zero = s.sum(x[0], s.sum(t1, t2));
    [zero, s.plus_i(m1, n1), s.plus_i(m2, n2), s.minus_i(m2, n2), s.minus_i(m1, n1)]
}

/// Transforms of `N` points `stride` apart, for each of the first `stride` places.
macro_rules! each_place {
    ($s:ident, $x:ident, $stride:ident, $n:literal, $transform:expr) => {
        for place in 0..$stride {
            let mut points = [$x[place]; $n];
            for (k, point) in points.iter_mut().enumerate() {
                *point = $x[place + k * $stride];
            }
            let points = $transform($s, points);
            for (k, point) in points.into_iter().enumerate() {
                $x[place + k * $stride] = point;
            }
        }
    };
}

/// Transforms of so many points, as many as there are places in a part of `x`: point `k` is in part `k`.
#[inline(always)]
pub(super) fn transform<S: Doubles, const BACKWARDS: bool>(s: S, x: &mut [Of<S>], radix: Radix) {
    let stride = x.len() / radix.size();
    match radix {
        Radix::Two => {
            let (low, high) = x.split_at_mut(stride);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (s.sum(*low, *high), s.difference(*low, *high));
            }
        }
        Radix::Three => each_place!(s, x, stride, 3, three::<S, BACKWARDS>),
        Radix::Four => each_place!(s, x, stride, 4, four::<S, BACKWARDS>),
        Radix::Five => each_place!(s, x, stride, 5, five::<S, BACKWARDS>),
        Radix::Eight => each_place!(s, x, stride, 8, eight::<S, BACKWARDS>),
    }
}
