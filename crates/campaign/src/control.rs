//! Stop and progress, shared by the work and the code that watches it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The work was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

/// How much of the present unit is done, and whether the work shall stop.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Parts per 2^32 of the present unit.
    done: AtomicU64,
}

impl Control {
    /// Asks the work to stop soon. The present unit then does not count.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// An error once the work shall stop. Workers ask every few milliseconds.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn check(&self) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Relaxed) { Err(Stopped) } else { Ok(()) }
    }

    /// `part` of the `parts` of the present unit are done, in addition to the parts before.
    pub fn advance(&self, part: u64, parts: u64) {
        let share = (u128::from(part) << 32) / u128::from(parts.max(1));
        self.done.fetch_add(share as u64, Ordering::Relaxed);
    }

    /// The share of the present unit that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        (self.done.load(Ordering::Relaxed) as f64 / 4_294_967_296.0).min(1.0)
    }

    /// A new unit begins.
    pub fn begin(&self) {
        self.done.store(0, Ordering::Relaxed);
    }
}
