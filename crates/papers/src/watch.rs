//! How much to measure, and who watches.

use crate::error::{Error, Result};

/// Watches work that takes long. `()` watches nothing and lets all work go on to its end.
pub trait Watch: Sync {
    /// Shall the work go on? The work asks between its pieces, and ends with [`Error::Stopped`] after the first no.
    fn go_on(&self) -> bool {
        true
    }

    /// `done` of `total` pieces of work are done. `name`: the name of a piece, in the plural.
    fn progress(&self, done: u64, total: u64, name: &'static str) {
        let _ = (done, total, name);
    }
}

impl Watch for () {}

/// How to measure.
#[derive(Clone, Copy)]
pub struct Settings<'w> {
    /// Timed runs of each row, at most.
    pub runs: usize,
    /// Products, or Collatz numbers, instead of the paper's number.
    pub products: Option<usize>,
    /// Who watches.
    pub watch: &'w dyn Watch,
}

impl Settings<'_> {
    /// Asks whether to go on.
    pub(crate) fn check(&self) -> Result<()> {
        if self.watch.go_on() { Ok(()) } else { Err(Error::Stopped) }
    }
}
