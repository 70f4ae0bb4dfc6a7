//! The first stage of a group of lanes.
//!
//! A ladder checks itself: its two points always differ by the start, so the start's `x` is a root of a quadratic in both `x`. About ten
//! products find a slip anywhere in the ladder; they cannot find a wrong bit of the exponent.

use num_bigint::BigUint;

use super::cpu::{Group, views};
use super::exponent::Exponent;
use super::lane::{Ended, Line};
use super::line::{CurveLine, LucasLine, Projective, ladder};
use super::ring::{Arithmetic, Ring};

/// Bits between two reports.
const LOOK: usize = 256;
/// Bits of a window of a power.
const WINDOW: usize = 5;

/// Runs the stage. `report` gets numbers of bits that are done, and says whether to go on.
pub(super) fn run<A: Arithmetic>(
    arithmetic: A,
    line: Line,
    group: &Group<'_>,
    exponent: &Exponent,
    report: &dyn Fn(u64) -> bool,
) -> Vec<Ended> {
    let mut ring = group.ring(arithmetic);
    let x = ring.enter(&views(&group.rows(|lane| BigUint::clone(&lane.x))));
    let one = constant(&mut ring, group, 1);
    let each = |left: usize| !left.is_multiple_of(LOOK) || report(LOOK as u64);
    let bit = |place| exponent.bit(place);
    let (x, z, consistent) = match line {
        Line::Curve => {
            let d = ring.enter(&views(&group.rows(|lane| lane.d().into_owned())));
            let start = Projective { x, z: one, affine: true };
            let mut curve = CurveLine::new(&ring, d.clone());
            let [low, high] = ladder(&mut curve, &mut ring, &start, exponent.bits(), bit, each);
            let four = constant(&mut ring, group, 4);
            let same = curve_is_consistent(&mut ring, [&low, &high], &start.x, &d, &four);
            (low.x, Some(low.z), same)
        }
        Line::Lucas => {
            let (two, four) = (constant(&mut ring, group, 2), constant(&mut ring, group, 4));
            let mut lucas = LucasLine::new(&ring, two);
            let [low, high] = ladder(&mut lucas, &mut ring, &x, exponent.bits(), bit, each);
            let same = lucas_is_consistent(&mut ring, [&low, &high], &x, &four);
            (low, None, same)
        }
        Line::Power => (power(&mut ring, &one, &x, exponent, each), None, u8::MAX),
    };
    let numbers = |ring: &mut A::Ring, it: &_| numbers_of(&ring.leave(it), group.lanes.len());
    let x = numbers(&mut ring, &x);
    let z = z.map(|z| numbers(&mut ring, &z));
    let ended = |(lane, x): (usize, BigUint)| Ended {
        x,
        z: z.as_ref().map_or_else(|| BigUint::from(1_u32), |z| z[lane].clone()),
        consistent: consistent >> lane & 1 == 1,
    };
    x.into_iter().enumerate().map(ended).collect()
}

/// Rows as numbers, a row a lane.
pub(super) fn numbers_of(rows: &[u32], lanes: usize) -> Vec<BigUint> {
    rows.chunks_exact(rows.len() / lanes).map(BigUint::from_slice).collect()
}

/// The same small number in every lane.
pub(super) fn constant<R: Ring>(ring: &mut R, group: &Group<'_>, number: u32) -> R::Residue {
    ring.enter(&views(&group.rows(|lane| BigUint::from(number) % lane.n)))
}

/// `xᵉ` with windows from the top.
fn power<R: Ring>(
    ring: &mut R,
    one: &R::Residue,
    x: &R::Residue,
    exponent: &Exponent,
    each: impl Fn(usize) -> bool,
) -> R::Residue {
    let mut table = vec![one.clone(), x.clone()];
    for i in 2..1 << WINDOW {
        let mut next = ring.zero();
        ring.mul(&table[i - 1], x, &mut next);
        table.push(next);
    }
    let (mut result, mut product) = (one.clone(), ring.zero());
    let mut top = exponent.bits();
    while top > 0 {
        // The first window takes what the others leave.
        let bottom = (top - 1) / WINDOW * WINDOW;
        let mut digit = 0;
        for place in (bottom..top).rev() {
            ring.square(&mut result);
            digit = 2 * digit + usize::from(exponent.bit(place));
            if !each(place) {
                return result;
            }
        }
        ring.mul(&result, &table[digit], &mut product);
        std::mem::swap(&mut result, &mut product);
        top = bottom;
    }
    result
}

/// With `s = x·u`, `t = z·v`, `f = x·v`, `g = u·z` of the points `(x : z)` and `(u : v)`, the start `(a : 1)` fulfils
/// `(f − g)²·a² + (s − t)² = 2a·((f + g)(s + t) + 2A·s·t)`.
fn curve_is_consistent<R: Ring>(
    ring: &mut R,
    [low, high]: [&Projective<R::Residue>; 2],
    a: &R::Residue,
    d: &R::Residue,
    four: &R::Residue,
) -> u8 {
    let mut products = [(&low.x, &high.x), (&low.z, &high.z), (&low.x, &high.z), (&high.x, &low.z)].map(|(x, y)| {
        let mut product = ring.zero();
        ring.mul(x, y, &mut product);
        product
    });
    let [s, t, f, g] = &mut products;
    let [mut difference, mut left, mut right] = [ring.zero(), ring.zero(), ring.zero()];
    // Left: ((f − g)·a)² + (s − t)².
    ring.sub(f, g, &mut difference);
    ring.mul(&difference, a, &mut left);
    ring.square(&mut left);
    ring.sub(s, t, &mut difference);
    ring.square(&mut difference);
    let first = left.clone();
    ring.add(&first, &difference, &mut left);
    // 2A = 8d − 4.
    let mut twice_a = d.clone();
    for _ in 0..3 {
        let half = twice_a.clone();
        ring.add(&half, &half, &mut twice_a);
        ring.fold(&mut twice_a);
    }
    let eight_d = twice_a.clone();
    ring.sub(&eight_d, four, &mut twice_a);
    // Right: 2a·((f + g)(s + t) + 2A·s·t).
    ring.mul(s, t, &mut right);
    let st = right.clone();
    ring.mul(&st, &twice_a, &mut right);
    let [mut sum, mut other, mut product] = [ring.zero(), ring.zero(), ring.zero()];
    ring.add(f, g, &mut sum);
    ring.add(s, t, &mut other);
    ring.mul(&sum, &other, &mut product);
    ring.add(&product, &right, &mut sum);
    ring.mul(&sum, a, &mut product);
    ring.add(&product, &product, &mut right);
    ring.same(&left, &right)
}

/// The values `x` and `u` that follow one another, and the start `a`, fulfil `x² + u² + a² = x·u·a + 4`.
fn lucas_is_consistent<R: Ring>(ring: &mut R, [low, high]: [&R::Residue; 2], a: &R::Residue, four: &R::Residue) -> u8 {
    let mut squares = [low, high, a].map(Clone::clone);
    for it in &mut squares {
        ring.square(it);
    }
    let mut left = ring.zero();
    ring.add(&squares[0], &squares[1], &mut left);
    ring.fold(&mut left);
    let sum = left.clone();
    ring.add(&sum, &squares[2], &mut left);
    let [mut product, mut right] = [ring.zero(), ring.zero()];
    ring.mul(low, high, &mut right);
    ring.mul(&right, a, &mut product);
    ring.add(&product, four, &mut right);
    ring.same(&left, &right)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::factor::lane::{Lane, TWO};
    use crate::factor::ring::Words;

    /// Ladders pass their checks. A point that is wrong by one in one coordinate does not, whichever it is.
    #[test]
    fn a_slip_is_found() {
        let n = 1_000_000_007_u32.into();
        let lane = Lane::new(&n, 1234_u32.into(), Cow::Owned(TWO.into()));
        let group = Group { places: vec![0], lanes: vec![&lane] };
        let mut ring = group.ring(Words);
        let [one, two, four, d] = [1, 2, 4, 1234].map(|number| constant(&mut ring, &group, number));
        let start = Projective { x: two.clone(), z: one.clone(), affine: true };
        let mut points = ladder(&mut CurveLine::new(&ring, d.clone()), &mut ring, &start, 20, |i| i % 3 > 0, |_| true);
        let passes = |ring: &mut _, [low, high]: &[Projective<_>; 2]| {
            curve_is_consistent(ring, [low, high], &start.x, &d, &four) == 1
        };
        assert!(passes(&mut ring, &points));
        for which in 0..4 {
            let [low, high] = &mut points;
            let coordinate = [&mut low.x, &mut low.z, &mut high.x, &mut high.z].into_iter().nth(which).unwrap();
            let right = coordinate.clone();
            ring.add(&right, &one, coordinate);
            assert!(!passes(&mut ring, &points), "coordinate {which}");
            let [low, high] = &mut points;
            *[&mut low.x, &mut low.z, &mut high.x, &mut high.z].into_iter().nth(which).unwrap() = right;
        }
        let start = constant(&mut ring, &group, 5);
        let [low, high] = ladder(&mut LucasLine::new(&ring, two), &mut ring, &start, 20, |i| i % 3 > 0, |_| true);
        assert_eq!(lucas_is_consistent(&mut ring, [&low, &high], &start, &four), 1);
        let mut wrong = ring.zero();
        ring.add(&low, &one, &mut wrong);
        assert_eq!(lucas_is_consistent(&mut ring, [&wrong, &high], &start, &four), 0);
        ring.add(&high, &one, &mut wrong);
        assert_eq!(lucas_is_consistent(&mut ring, [&low, &wrong], &start, &four), 0);
    }
}
