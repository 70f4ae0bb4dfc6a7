//! The order in which one of many processes asks for the units of a directory.
//!
//! Each process asks in an order of its own, so that many seldom want the same unit. A unit that has a certificate is forgotten; after
//! many of these the directory is listed again. A unit that another process has claimed comes back later; after many of these the
//! process waits, longer each time: then most units are done, and thousands of processes must not read the same claims all the time.
//! Nothing here touches a file, so a test runs 10,000 processes at once.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use crate::claim::PATIENCE;

/// So many units with certificates, and the directory is listed again.
const DONE: u32 = 64;
/// So many claims of others in a row, and the process waits.
const CLAIMED: u32 = 8;
/// The first wait, and the longest one: a claim that is looked at twice as far apart can be found dead.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = PATIENCE;

/// What the process does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<U> {
    /// It asks for this unit, and tells the outcome by [`Order::taken`], [`Order::done`] or [`Order::claimed`].
    Ask(U),
    /// It lists the units without a certificate, and gives them to [`Order::listed`].
    List,
    /// It waits.
    Wait(Duration),
    /// All units have certificates.
    End,
}

/// The units that a process has not seen done, and the place where it is.
#[derive(Debug)]
pub(crate) struct Order<U> {
    units: Arc<[U]>,
    /// The order of `units`: number `i` is at `place + i·stride`, modulo their count.
    place: usize,
    stride: usize,
    next: usize,
    /// Claimed by others.
    later: VecDeque<U>,
    done: u32,
    claimed: u32,
    wait: Duration,
}

impl<U: Clone> Order<U> {
    /// An order of these units; the seed differs from process to process.
    pub(crate) fn new(units: Arc<[U]>, seed: u64) -> Self {
        let count = units.len().max(1) as u64;
        let place = (seed >> 32) % count;
        let mut stride = (seed & 0xffff_ffff) % count + 1;
        // Without a common factor, every unit has its turn.
        while common_divisor(stride, count) > 1 {
            stride += 1;
        }
        let [place, stride] = [place, stride % count].map(|it| it as usize);
        Self { units, place, stride, next: 0, later: VecDeque::new(), done: 0, claimed: 0, wait: SHORTEST }
    }

    /// The units that were listed last.
    pub(crate) fn units(&self) -> impl Iterator<Item = U> + '_ {
        self.units.iter().cloned()
    }

    /// What the process does now.
    pub(crate) fn step(&mut self) -> Step<U> {
        if self.done >= DONE {
            return Step::List;
        }
        let left = self.units.len() - self.next + self.later.len();
        if left == 0 {
            return Step::End;
        }
        if self.claimed as usize >= left.min(CLAIMED as usize) {
            let wait = self.wait;
            self.claimed = 0;
            self.wait = LONGEST.min(2 * wait);
            return Step::Wait(wait);
        }
        if self.next < self.units.len() {
            let at = (self.place as u128 + self.next as u128 * self.stride as u128) % self.units.len() as u128;
            self.next += 1;
            return Step::Ask(self.units[at as usize].clone());
        }
        self.later.pop_front().map_or(Step::End, Step::Ask)
    }

    /// The unit is this process's own now.
    pub(crate) fn taken(&mut self) {
        self.claimed = 0;
        self.wait = SHORTEST;
    }

    /// The unit has a certificate.
    pub(crate) fn done(&mut self) {
        self.done += 1;
    }

    /// Another process works on the unit.
    pub(crate) fn claimed(&mut self, unit: U) {
        self.claimed += 1;
        self.later.push_back(unit);
    }

    /// These units have no certificate. The order of the others stays.
    pub(crate) fn listed(&mut self, missing: Arc<[U]>) {
        let seed = (self.place as u64) << 32 | self.stride as u64;
        let wait = self.wait;
        *self = Self { wait, ..Self::new(missing, seed) };
    }
}

const fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
