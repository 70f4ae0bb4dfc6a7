//! Progress of a stage whose lanes are computed by several threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::watch::{Watch, check};

/// A stage's part of the whole work, and how much of it is done.
pub(super) struct Meter<'w> {
    watch: &'w dyn Watch,
    /// The share of the work before the stage, and at its end.
    from: f64,
    to: f64,
    done: AtomicU64,
}

impl<'w> Meter<'w> {
    pub(super) fn new(watch: &'w dyn Watch, from: f64, to: f64) -> Self {
        Self { watch, from, to, done: AtomicU64::new(0) }
    }

    /// Some more of `total` steps are done. Shall the work go on?
    pub(super) fn step(&self, steps: u64, total: u64) -> bool {
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        self.watch.progress(self.from + (self.to - self.from) * (done as f64 / total.max(1) as f64).min(1.0));
        self.watch.go_on()
    }

    pub(super) fn goes_on(&self) -> bool {
        self.watch.go_on()
    }

    pub(super) fn check(&self) -> Result<()> {
        check(self.watch)
    }
}
