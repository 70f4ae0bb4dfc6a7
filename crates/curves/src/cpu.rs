//! Walks on the processor's cores, by words of 64 bits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::error::Result;
use crate::search::{Report, Walks, hash_of, limbs_of};
use crate::walk::{BLOCK, LOOK, Spot, Walk};

/// Walks that share an inversion.
pub(crate) const GROUP: u64 = 256;

/// The walks of all cores.
#[derive(Debug)]
pub(crate) struct Engine<const W: usize> {
    walk: Arc<Walk<W>>,
    groups: Vec<Group<W>>,
    next: AtomicU64,
    rounds: u64,
    /// Rounds since the last look for long cycles.
    unwatched: u32,
    /// Steps that were made ahead to find cycles.
    looked: u64,
}

/// Walks that share an inversion.
#[derive(Debug)]
struct Group<const W: usize> {
    spots: Vec<Spot<W>>,
    starts: Vec<u64>,
    births: Vec<u64>,
    /// Starts that the group has taken and not used, the next one last.
    waiting: Vec<(u64, Spot<W>)>,
}

impl<const W: usize> Engine<W> {
    /// So many walks, from block `first` of the starts on.
    pub(crate) fn new(walk: &Arc<Walk<W>>, walks: u64, first: u64) -> Self {
        let next = AtomicU64::new(first);
        let sizes = (0..walks.div_ceil(GROUP)).map(|group| GROUP.min(walks - group * GROUP));
        let groups = sizes.map(|size| Group::new(walk, &next, size)).collect();
        Self { walk: walk.clone(), groups, next, rounds: 0, unwatched: 0, looked: 0 }
    }
}

impl<const W: usize> Walks for Engine<W> {
    fn advance(&mut self, rounds: u32, meanwhile: &mut dyn FnMut()) -> Result<Vec<Report>> {
        meanwhile();
        let Self { walk, groups, next, .. } = self;
        let before = self.rounds;
        let look = self.unwatched + rounds >= walk.settings.rhythm();
        let reports = groups
            .par_iter_mut()
            .flat_map_iter(|group| {
                let reports = group.advance(walk, next, before, rounds);
                if look {
                    walk.leave_cycles(&mut group.spots);
                }
                reports
            })
            .collect();
        self.rounds += u64::from(rounds);
        self.unwatched = if look { 0 } else { self.unwatched + rounds };
        self.looked += if look { u64::from(LOOK) * self.walks() } else { 0 };
        Ok(reports)
    }

    fn steps(&self) -> u64 {
        self.rounds * self.walks() + self.looked
    }

    fn walks(&self) -> u64 {
        self.groups.iter().map(|group| group.spots.len() as u64).sum()
    }

    fn next_block(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

impl<const W: usize> Group<W> {
    fn new(walk: &Walk<W>, next: &AtomicU64, walks: u64) -> Self {
        let mut group = Self { spots: Vec::new(), starts: Vec::new(), births: Vec::new(), waiting: Vec::new() };
        for _ in 0..walks {
            let (start, spot) = group.take(walk, next);
            group.spots.push(spot);
            group.starts.push(start);
            group.births.push(0);
        }
        group
    }

    /// A start that no walk has had.
    fn take(&mut self, walk: &Walk<W>, next: &AtomicU64) -> (u64, Spot<W>) {
        loop {
            if let Some(start) = self.waiting.pop() {
                return start;
            }
            let block = next.fetch_add(1, Ordering::Relaxed);
            self.waiting = (block * BLOCK..).zip(walk.starts(block)).collect();
        }
    }

    fn advance(&mut self, walk: &Walk<W>, next: &AtomicU64, before: u64, rounds: u32) -> Vec<Report> {
        let mut reports = Vec::new();
        for round in before + 1..=before + u64::from(rounds) {
            walk.round(&mut self.spots);
            for i in 0..self.spots.len() {
                if walk.is_distinguished(&self.spots[i]) {
                    let hash = hash_of(limbs_of(&self.spots[i].x, walk.limbs));
                    reports.push(Report { start: self.starts[i], rounds: (round - self.births[i]) as u32, hash });
                    let (start, spot) = self.take(walk, next);
                    (self.spots[i], self.starts[i], self.births[i]) = (spot, start, round);
                }
            }
        }
        reports
    }
}
