//! Sums of points, many at a time.
//!
//! cost       an addition 5 products, a square and a share of one inversion

use super::Coefficients;
use crate::affine::Point;
use crate::field::Field;
use crate::problem::Problem;

/// An affine point in Montgomery's form, never the point at infinity. In the state of a walk an odd `y` is a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot<const W: usize> {
    pub(crate) x: [u64; W],
    pub(crate) y: [u64; W],
}

impl<const W: usize> Spot<W> {
    /// Is the ordinate odd?
    pub(crate) fn is_flagged(&self) -> bool {
        self.y[0] & 1 == 1
    }
}

/// `sᵢ + tᵢ`; `2·sᵢ` where the abscissas agree. One inversion.
pub(crate) fn add<const W: usize>(field: &Field<W>, a: &[u64; W], s: &[Spot<W>], t: &[Spot<W>]) -> Vec<Spot<W>> {
    let denominators: Vec<[u64; W]> =
        s.iter().zip(t).map(|(s, t)| if s.x == t.x { field.add(&s.y, &s.y) } else { field.sub(&t.x, &s.x) }).collect();
    let inverses = invert_all(field, &denominators);
    let sum = |((s, t), inverse): ((&Spot<W>, &Spot<W>), &[u64; W])| {
        let (rise, other) = if s.x == t.x { (tangent(field, a, &s.x), s) } else { (field.sub(&t.y, &s.y), t) };
        chord(field, s, &other.x, &field.mul(&rise, inverse))
    };
    s.iter().zip(t).zip(&inverses).map(sum).collect()
}

/// `3x² + a`.
pub(crate) fn tangent<const W: usize>(field: &Field<W>, a: &[u64; W], x: &[u64; W]) -> [u64; W] {
    let square = field.sqr(x);
    field.add(&field.add(&field.add(&square, &square), &square), a)
}

/// The third point of the line through `s` and a point with the other abscissa, negated.
pub(crate) fn chord<const W: usize>(field: &Field<W>, s: &Spot<W>, other: &[u64; W], slope: &[u64; W]) -> Spot<W> {
    let x = field.sub(&field.sub(&field.sqr(slope), &s.x), other);
    let y = field.sub(&field.mul(slope, &field.sub(&s.x, &x)), &s.y);
    Spot { x, y }
}

/// The inverses of numbers that are not zero: Montgomery's trick.
pub(crate) fn invert_all<const W: usize>(field: &Field<W>, numbers: &[[u64; W]]) -> Vec<[u64; W]> {
    let mut product = field.one;
    let mut inverses: Vec<[u64; W]> = Vec::with_capacity(numbers.len());
    for number in numbers {
        inverses.push(product);
        product = field.mul(&product, number);
    }
    let mut inverse = field.invert(&product);
    for (prefix, number) in inverses.iter_mut().zip(numbers).rev() {
        *prefix = field.mul(&inverse, prefix);
        inverse = field.mul(&inverse, number);
    }
    inverses
}

/// The doublings of base point and target, from which combinations are added up.
#[derive(Clone, Debug)]
pub(crate) struct Sums<const W: usize> {
    a: [u64; W],
    base: Vec<Option<Spot<W>>>,
    target: Vec<Option<Spot<W>>>,
}

impl<const W: usize> Sums<W> {
    pub(crate) fn new(problem: &Problem, field: &Field<W>, a: [u64; W]) -> Self {
        let doublings = |point: &Point| {
            let mut spot = point.as_ref().map(|(x, y)| Spot { x: field.residue(x), y: field.residue(y) });
            (0..problem.n.bits())
                .map(|_| {
                    let doubled = spot.map(|spot| add(field, &a, &[spot], &[spot])[0]);
                    std::mem::replace(&mut spot, doubled)
                })
                .collect()
        };
        Self { a, base: doublings(&problem.base), target: doublings(&problem.target) }
    }

    /// `u·P + w·Q` for each pair of coefficients; none for the point at infinity.
    pub(crate) fn combine(&self, field: &Field<W>, pairs: &[Coefficients]) -> Vec<Option<Spot<W>>> {
        let mut sums = vec![None; pairs.len()];
        for (bit, doubling) in self.base.iter().enumerate() {
            self.add_where(field, &mut sums, *doubling, |i| pairs[i].base.bit(bit as u64));
        }
        for (bit, doubling) in self.target.iter().enumerate() {
            self.add_where(field, &mut sums, *doubling, |i| pairs[i].target.bit(bit as u64));
        }
        sums
    }

    fn add_where(
        &self,
        field: &Field<W>,
        sums: &mut [Option<Spot<W>>],
        addend: Option<Spot<W>>,
        included: impl Fn(usize) -> bool,
    ) {
        let Some(addend) = addend else { return };
        let mut places = Vec::new();
        let mut spots = Vec::new();
        for (i, sum) in sums.iter_mut().enumerate().filter(|(i, _)| included(*i)) {
            match sum {
                None => *sum = Some(addend),
                // Opposite points.
                Some(spot) if spot.x == addend.x && spot.y != addend.y => *sum = None,
                Some(spot) => {
                    places.push(i);
                    spots.push(*spot);
                }
            }
        }
        let addends = vec![addend; spots.len()];
        for (place, sum) in places.into_iter().zip(add(field, &self.a, &spots, &addends)) {
            sums[place] = Some(sum);
        }
    }
}
