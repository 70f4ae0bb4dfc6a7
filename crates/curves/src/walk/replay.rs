//! A walk again, with the coefficients of its points: what turns two reports into a logarithm.

use num_bigint::BigUint;

use super::points::Spot;
use super::step::{Event, Move, Smaller};
use super::{LOOK, Walk};
use crate::field::below;

/// Rounds between two looks for long cycles in a replay. Any rhythm gives the same way out.
const RHYTHM: u64 = 512;

/// A point as `base·P + target·Q`, modulo the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coefficients {
    /// The multiple of the base point.
    pub base: BigUint,
    /// The multiple of the target.
    pub target: BigUint,
}

impl Coefficients {
    pub(super) fn plus(&self, other: &Self, n: &BigUint) -> Self {
        Self { base: (&self.base + &other.base) % n, target: (&self.target + &other.target) % n }
    }

    pub(super) fn negated(&self, n: &BigUint) -> Self {
        Self { base: (n - &self.base) % n, target: (n - &self.target) % n }
    }

    /// The `k` with `self = ±other` for `Q = k·P`; both signs are tried by `is_solution`. None if the coefficients of `Q`
    /// agree: such a meeting tells nothing.
    pub fn solve(&self, other: &Self, n: &BigUint, is_solution: impl Fn(&BigUint) -> bool) -> Option<BigUint> {
        [other.clone(), other.negated(n)].into_iter().find_map(|other| {
            let difference = self.plus(&other.negated(n), n);
            let k = (n - &difference.base) * difference.target.modinv(n)? % n;
            Some(k).filter(&is_solution)
        })
    }
}

/// Where a replayed walk ends.
#[derive(Clone, Debug)]
pub(crate) struct End<const W: usize> {
    pub(crate) x: [u64; W],
    pub(crate) coefficients: Coefficients,
}

impl<const W: usize> Walk<W> {
    /// The walk of a start to its distinguished point; none if it takes more than `most` rounds, or if `go_on`, which is asked now
    /// and then, says no.
    pub(crate) fn replay(&self, start: u64, most: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Option<End<W>> {
        let (spot, mut coefficients) = self.start_coefficients(start);
        let mut spots = [spot];
        for rounds in 1..=most {
            if rounds % RHYTHM == 0 {
                if !go_on() {
                    return None;
                }
                self.leave_followed(&mut spots, &mut coefficients);
            }
            coefficients = self.follow(&mut spots, coefficients);
            if self.is_distinguished(&spots[0]) {
                return Some(End { x: spots[0].x, coefficients });
            }
        }
        None
    }

    /// A round of one walk; the coefficients after it.
    fn follow(&self, spots: &mut [Spot<W>; 1], before: Coefficients) -> Coefficients {
        let n = &self.n;
        let mut after = before;
        self.round_with(spots, |_, Event { kind, flipped, two_cycle }| {
            let sum = match kind {
                Move::Doubled => after.plus(&after, n),
                Move::Added(branch) => {
                    Coefficients { base: (&after.base + &self.table_scalars[branch]) % n, target: after.target.clone() }
                }
            };
            let sum = if flipped { sum.negated(n) } else { sum };
            after = match two_cycle {
                None => sum,
                Some(Smaller::After) => sum.negated(n),
                Some(Smaller::Before) => after.negated(n),
            };
        });
        after
    }

    /// [`Walk::leave_cycles`] for one walk with coefficients.
    fn leave_followed(&self, spots: &mut [Spot<W>; 1], coefficients: &mut Coefficients) {
        let mut ahead = *spots;
        if self.leave_cycles(&mut ahead) == 0 {
            return;
        }
        // In a cycle: go round once more, to the smallest point's coefficients.
        let target = ahead[0];
        let mut here = *spots;
        let mut followed = coefficients.clone();
        for _ in 0..LOOK {
            followed = self.follow(&mut here, followed);
            if !here[0].is_flagged() && here[0].x == target.x {
                *coefficients = followed.negated(&self.n);
                *spots = ahead;
                return;
            }
        }
        debug_assert!(!below(&here[0].x, &target.x), "the smallest point of a cycle is among its points");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficients(base: u32, target: u32) -> Coefficients {
        Coefficients { base: base.into(), target: target.into() }
    }

    /// Modulo 101, with `Q = 7·P`: a point is `base + 7·target`, or its opposite.
    #[test]
    fn meetings_by_their_coefficients() {
        let (n, k) = (BigUint::from(101_u32), BigUint::from(7_u32));
        let solve = |one: Coefficients, other: Coefficients| one.solve(&other, &n, |found| *found == k);
        assert_eq!(solve(coefficients(3, 5), coefficients(31, 1)), Some(k.clone()));
        assert_eq!(solve(coefficients(3, 5), coefficients(70, 100)), Some(k.clone()));
        // Equal or opposite multiples of Q: two walks whose starts differ by a known multiple of P.
        assert_eq!(solve(coefficients(3, 5), coefficients(3, 5)), None);
        assert_eq!(solve(coefficients(3, 5), coefficients(98, 96)), None);
        // Different points.
        assert_eq!(solve(coefficients(3, 5), coefficients(4, 9)), None);
    }
}
