//! Groups of walks by words of 64 bits.

use std::sync::Arc;

use super::{Arrival, Lanes};
use crate::walk::{Spot, Walk};

/// Walks that share an inversion.
const SHARE: usize = 256;

/// Walks whose residues are words.
#[derive(Debug)]
pub(super) struct Words<const W: usize> {
    walk: Arc<Walk<W>>,
    spots: Vec<Spot<W>>,
}

impl<const W: usize> Words<W> {
    pub(super) const fn new(walk: Arc<Walk<W>>, spots: Vec<Spot<W>>) -> Self {
        Self { walk, spots }
    }
}

impl<const W: usize> Lanes<W> for Words<W> {
    fn rounds(&mut self, rounds: u32, arrive: &mut Arrival<'_, W>) {
        for (share, spots) in self.spots.chunks_mut(SHARE).enumerate() {
            for _ in 0..rounds {
                self.walk.round(spots);
                for (i, spot) in spots.iter_mut().enumerate() {
                    if self.walk.is_distinguished(spot) {
                        *spot = arrive(share * SHARE + i, &spot.x);
                    }
                }
            }
        }
    }

    fn leave_cycles(&mut self) {
        for spots in self.spots.chunks_mut(SHARE) {
            self.walk.leave_cycles(spots);
        }
    }

    fn spots(&self) -> Vec<Spot<W>> {
        self.spots.clone()
    }

    fn replace(&mut self, spots: Vec<Spot<W>>) {
        self.spots = spots;
    }
}
