//! Progress and cancellation of work that takes long.

use crate::error::{Error, Result};

/// Watches work that takes long. `()` watches nothing and lets all work go on to its end.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use warpmp_numtheory::Watch;
///
/// /// Stops the work once the flag is up.
/// struct Flag(AtomicBool);
///
/// impl Watch for Flag {
///     fn go_on(&self) -> bool {
///         !self.0.load(Ordering::Relaxed)
///     }
/// }
/// ```
pub trait Watch: Sync {
    /// Shall the work go on? The work asks between its pieces, from several threads, and ends with
    /// [`Error::Stopped`] after the first no.
    fn go_on(&self) -> bool {
        true
    }

    /// A share of the work is done, from 0 to 1. The share never falls.
    fn progress(&self, share: f64) {
        let _ = share;
    }
}

impl Watch for () {}

/// Asks whether to go on.
pub(crate) fn check(watch: &dyn Watch) -> Result<()> {
    if watch.go_on() { Ok(()) } else { Err(Error::Stopped) }
}

/// A part of watched work.
pub(crate) struct Share<'w> {
    pub(crate) watch: &'w dyn Watch,
    /// The share of the work before the part.
    pub(crate) from: f64,
    /// The part's share.
    pub(crate) of: f64,
}

impl Watch for Share<'_> {
    fn go_on(&self) -> bool {
        self.watch.go_on()
    }

    fn progress(&self, share: f64) {
        self.watch.progress(self.from + share * self.of);
    }
}
