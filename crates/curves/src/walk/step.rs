//! Rounds of many walks at once.

use super::points::{Spot, chord, invert_all, tangent};
use super::{LOOK, Walk};
use crate::field::below;

/// What happened to a state in a round, for those who follow its coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// The entry of this branch was added.
    Added(usize),
    /// The point was doubled.
    Doubled,
}

/// A state's move, and what followed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: Move,
    /// The sum was replaced by its opposite.
    pub(super) flipped: bool,
    /// A cycle of two points was found. The state is the smaller of them, to be doubled.
    pub(super) two_cycle: Option<Smaller>,
}

/// The smaller point of a cycle of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Smaller {
    Before,
    After,
}

impl<const W: usize> Walk<W> {
    /// One step of every walk; one inversion.
    pub(crate) fn round(&self, spots: &mut [Spot<W>]) {
        self.round_with(spots, |_, _| {});
    }

    /// The same; `event` is told each move, by the walk's index.
    pub(super) fn round_with(&self, spots: &mut [Spot<W>], mut event: impl FnMut(usize, Event)) {
        let field = &self.field;
        let denominators: Vec<[u64; W]> = spots
            .iter()
            .map(|spot| match self.next(spot) {
                Move::Doubled => field.add(&spot.y, &spot.y),
                Move::Added(branch) => field.sub(&self.table[branch].x, &spot.x),
            })
            .collect();
        let inverses = invert_all(field, &denominators);
        for (i, (spot, inverse)) in spots.iter_mut().zip(&inverses).enumerate() {
            let kind = self.next(spot);
            let (rise, other) = match kind {
                Move::Doubled => (tangent(field, &self.a, &spot.x), spot.x),
                Move::Added(branch) => (field.sub(&self.table[branch].y, &spot.y), self.table[branch].x),
            };
            let mut after = chord(field, spot, &other, &field.mul(&rise, inverse));
            let flipped = self.represent(&mut after);
            let back = flipped && kind == Move::Added(self.branch(&after.x));
            let two_cycle = back.then(|| if below(&spot.x, &after.x) { Smaller::Before } else { Smaller::After });
            if two_cycle != Some(Smaller::Before) {
                *spot = after;
            }
            if back {
                // The state before the round was no flagged one, and neither is the one after it.
                spot.y = field.negate(&spot.y);
            }
            event(i, Event { kind, flipped, two_cycle });
        }
    }

    /// What the next round does with a state.
    fn next(&self, spot: &Spot<W>) -> Move {
        let branch = self.branch(&spot.x);
        if spot.is_flagged() || self.table[branch].x == spot.x { Move::Doubled } else { Move::Added(branch) }
    }

    /// Looks [`LOOK`] rounds ahead. A state that comes back is in a cycle; it becomes the cycle's smallest point, to be
    /// doubled. The others stay as they are. How many were in a cycle.
    pub(crate) fn leave_cycles(&self, spots: &mut [Spot<W>]) -> usize {
        let mut ahead = spots.to_vec();
        let mut smallest: Vec<Option<Spot<W>>> = vec![None; spots.len()];
        for _ in 0..LOOK {
            self.round(&mut ahead);
            for (smallest, spot) in smallest.iter_mut().zip(&ahead) {
                if !spot.is_flagged() && smallest.is_none_or(|known| below(&spot.x, &known.x)) {
                    *smallest = Some(*spot);
                }
            }
        }
        let mut left = 0;
        for ((spot, ahead), smallest) in spots.iter_mut().zip(&ahead).zip(smallest) {
            if let Some(smallest) = smallest.filter(|_| spot == ahead) {
                *spot = Spot { x: smallest.x, y: self.field.negate(&smallest.y) };
                left += 1;
            }
        }
        left
    }
}
