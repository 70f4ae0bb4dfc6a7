//! The share of the work that is done.
//!
//! A level of products counts as one unit at the leaves, and [`GROWTH`] times the level below it further up; a level of
//! remainders counts three times as much as its products.

use crate::watch::Watch;

/// A level has half the operations of the level below, each of `2^1.5` times the work.
const GROWTH: f64 = 1.41;
/// Remainders of a level take this many times as long as its products.
const REMAINDERS: f64 = 3.0;

/// Reports progress to the watch.
pub(crate) struct Meter<'s> {
    watch: &'s dyn Watch,
    /// Levels of products above the leaves.
    levels: usize,
    /// Where the present step begins and ends, in units.
    begin: f64,
    end: f64,
}

impl<'s> Meter<'s> {
    /// No work yet.
    pub(super) const fn new(watch: &'s dyn Watch) -> Self {
        Self { watch, levels: 0, begin: 0.0, end: 0.0 }
    }

    /// The work is a tree above so many leaves.
    pub(crate) const fn plan(&mut self, leaves: usize) {
        self.plan_levels(leaves.next_power_of_two().ilog2() as usize);
    }

    /// The work is a tree of so many levels of products.
    pub(super) const fn plan_levels(&mut self, levels: usize) {
        self.levels = levels;
    }

    /// The products of level `level` begin; the leaves are level 0.
    pub(super) fn up(&mut self, level: usize) {
        self.step(below(level), below(level + 1));
    }

    /// All steps above level `level` begin, in one.
    pub(super) fn around(&mut self, level: usize) {
        self.step(below(level), self.total() - REMAINDERS * below(level));
    }

    /// The remainders of level `level` begin.
    pub(super) fn down(&mut self, level: usize) {
        self.step(self.total() - REMAINDERS * below(level + 1), self.total() - REMAINDERS * below(level));
    }

    /// `done` of `count` operations of the present step are done.
    pub(super) fn part(&self, done: usize, count: usize) {
        let share = done as f64 / count.max(1) as f64;
        self.watch.progress((self.begin + share * (self.end - self.begin)) / self.total().max(1.0));
    }

    fn step(&mut self, begin: f64, end: f64) {
        (self.begin, self.end) = (begin, end);
        self.part(0, 1);
    }

    /// The units of the whole work.
    fn total(&self) -> f64 {
        (1.0 + REMAINDERS) * below(self.levels)
    }
}

/// The units of all levels of products below this one.
fn below(level: usize) -> f64 {
    (GROWTH.powi(level as i32) - 1.0) / (GROWTH - 1.0)
}
