//! The two ends of a transform: from digits to parts in vectors, and from there to coefficients.
//!
//! Digit `t + h·p` is at place `p` of column `t`, with `h` columns and `lanes·s` places. A column goes through the steps
//! of the split and the step to the lanes. As many columns at a time as a vector has lanes, and a transposition turns them
//! into vectors of a part: lane `l` of vector `t` of part `σ` is child `l` of the part's node.

use super::butterfly::transform;
use super::digits::{Bytes, Window};
use super::doubles::{Complex, ComplexDoubles, Doubles};
use super::plan::Plan;
use super::table::Steps;
use crate::MAX_LANES;

/// `1.5·2⁵²`: a sum with it is an integer in the lower bits.
pub(super) const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// A number's digits: those below the length of the transform, and the others, which become imaginary parts.
#[derive(Debug)]
pub(super) struct Digits {
    bytes: Bytes,
    window: Window,
    /// Digits that are not zero.
    count: usize,
    /// What the top digit must be raised by to keep its value.
    raise: f64,
}

impl Digits {
    pub(super) fn new(limbs: &[u32], plan: &Plan) -> Self {
        let window = Window::new(plan.digit_bits);
        let bits = 32 * limbs.len();
        // Only a top digit with all its bits can have the uppermost one.
        let is_lowered = bits.is_multiple_of(plan.digit_bits) && limbs.last().is_some_and(|top| top >> 31 == 1);
        let raise = if is_lowered { (plan.digit_bits as f64).exp2() } else { 0.0 };
        Self { bytes: Bytes::new(limbs), window, count: plan.digits_of(bits), raise }
    }

    /// A vector of digits from digit `first` on, which is a multiple of the lanes.
    #[inline(always)]
    fn load<S: Doubles>(&self, s: S, first: usize) -> Option<S::Vector> {
        if first >= self.count {
            return None;
        }
        let chunk = self.bytes.chunk(&self.window, first / 8)?;
        let digits = s.digits(chunk, &self.window, !first.is_multiple_of(8));
        if first + S::LANES < self.count || self.raise == 0.0 {
            return Some(digits);
        }
        // The top digit is not lowered, so it raises no digit above it.
        let mut raise = [0.0; MAX_LANES + 1];
        raise[self.count - 1 - first] = self.raise;
        raise[self.count - first] = -1.0;
        let [raise @ .., _] = raise;
        Some(s.plus(digits, s.lanes_of(raise)))
    }
}

/// From digits to the parts, which have `plan.length()` numbers together.
pub(super) fn enter<S: Doubles>(
    s: S,
    plan: &Plan,
    steps: &Steps<S::Vector>,
    digits: &Digits,
    parts: &mut [Complex<S::Vector>],
) {
    let (columns, places) = (plan.part_length(), S::LANES * plan.parts());
    let mut work = vec![s.nothing(); places];
    s.compiled(
        #[inline(always)]
        || {
            for column in (0..columns).step_by(S::LANES) {
                load_column(s, plan, &steps[0], digits, column, &mut work);
                let mut nodes = 1;
                for (number, radix) in plan.split.iter().copied().chain([plan.lane_radix()]).enumerate() {
                    let size = places / nodes;
                    for (node, block) in work.chunks_exact_mut(size).enumerate() {
                        if number > 0 {
                            let roots = &steps[number][node * (radix.size() - 1)..][..radix.size() - 1];
                            for (part, root) in
                                block[size / radix.size()..].chunks_exact_mut(size / radix.size()).zip(roots)
                            {
                                for x in part {
                                    *x = s.product(*x, *root);
                                }
                            }
                        }
                        transform::<S, false>(s, block, radix);
                    }
                    nodes *= radix.size();
                }
                for (part, block) in work.chunks_exact_mut(S::LANES).enumerate() {
                    turn(s, block);
                    parts[part * columns + column..][..S::LANES].copy_from_slice(block);
                }
            }
        },
    );
}

/// The digits of a column times the roots of the first step.
#[inline(always)]
fn load_column<S: Doubles>(
    s: S,
    plan: &Plan,
    roots: &[Complex<S::Vector>],
    digits: &Digits,
    column: usize,
    work: &mut [Complex<S::Vector>],
) {
    let (columns, places) = (plan.part_length(), work.len());
    let part = places / (roots.len() + 1);
    for (k, block) in work.chunks_exact_mut(part).enumerate() {
        for (i, x) in block.iter_mut().enumerate() {
            let first = column + columns * (k * part + i);
            let Some(re) = digits.load(s, first) else {
                *x = s.nothing();
                continue;
            };
            let root = k.checked_sub(1).map(|k| roots[k]);
            *x = match (digits.load(s, first + plan.length()), root) {
                (None, None) => Complex { re, im: s.all(0.0) },
                (None, Some(root)) => Complex { re: s.times(re, root.re), im: s.times(re, root.im) },
                (Some(im), None) => Complex { re, im },
                (Some(im), Some(root)) => s.product(Complex { re, im }, root),
            };
        }
    }
}

/// From the parts to the coefficients plus `rounder`, the lower `plan.length()` of them and then the upper ones: with [`ROUNDER`]
/// they are rounded.
pub(super) fn leave<S: Doubles>(
    s: S,
    plan: &Plan,
    steps: &Steps<S::Vector>,
    parts: &[Complex<S::Vector>],
    coefficients: &mut [Complex<S::Vector>],
    rounder: f64,
) {
    let (columns, places) = (plan.part_length(), S::LANES * plan.parts());
    let mut work = vec![s.nothing(); places];
    // Coefficients lie vector by vector, two of them in a complex vector.
    let (low, high) = coefficients.split_at_mut(coefficients.len() / 2);
    s.compiled(
        #[inline(always)]
        || {
            let (scale, rounder) = (s.all(1.0 / plan.length() as f64), s.all(rounder));
            for column in (0..columns).step_by(S::LANES) {
                for (part, block) in work.chunks_exact_mut(S::LANES).enumerate() {
                    block.copy_from_slice(&parts[part * columns + column..][..S::LANES]);
                    turn(s, block);
                }
                let mut nodes = places;
                let radices = plan.split.iter().copied().chain([plan.lane_radix()]);
                for number in (0..=plan.split.len()).rev() {
                    let Some(radix) = radices.clone().nth(number) else { continue };
                    nodes /= radix.size();
                    let size = places / nodes;
                    for (node, block) in work.chunks_exact_mut(size).enumerate() {
                        transform::<S, true>(s, block, radix);
                        let roots = &steps[number][node * (radix.size() - 1)..][..radix.size() - 1];
                        for (part, root) in
                            block[size / radix.size()..].chunks_exact_mut(size / radix.size()).zip(roots)
                        {
                            for x in part {
                                *x = s.product_conjugate(*x, *root);
                            }
                        }
                    }
                }
                for (place, x) in work.iter().enumerate() {
                    let vector = (column + columns * place) / S::LANES;
                    let (re, im) = (s.times_plus(x.re, scale, rounder), s.times_plus(x.im, scale, rounder));
                    let (low, high) = (&mut low[vector / 2], &mut high[vector / 2]);
                    if vector.is_multiple_of(2) {
                        (low.re, high.re) = (re, im);
                    } else {
                        (low.im, high.im) = (re, im);
                    }
                }
            }
        },
    );
}

/// Columns become vectors of a part, and back.
#[inline(always)]
fn turn<S: Doubles>(s: S, block: &mut [Complex<S::Vector>]) {
    let zero = s.all(0.0);
    let (mut re, mut im) = ([zero; MAX_LANES], [zero; MAX_LANES]);
    for ((x, re), im) in block.iter().zip(&mut re).zip(&mut im) {
        (*re, *im) = (x.re, x.im);
    }
    s.transpose(&mut re);
    s.transpose(&mut im);
    for ((x, re), im) in block.iter_mut().zip(re).zip(im) {
        *x = Complex { re, im };
    }
}
