//! What no fixed width serves: small starts, and starts whose values grew too large.

use rayon::prelude::*;

use crate::{engine::Outcome, error::Result, number::descend, window::Window};

/// Follows every start of the window step by step.
pub(super) fn plain(window: Option<Window>) -> Result<Outcome> {
    let Some(window) = window else { return Ok(Outcome::default()) };
    let starts = window.from() as u64..window.end() as u64;
    starts.into_par_iter().try_for_each(|start| descend(start.into()).map(drop))?;
    Ok(Outcome { plain: window.count() as u64, ..Outcome::default() })
}

/// Finishes overflowed starts in unbounded arithmetic.
pub(super) fn wide(starts: impl IntoIterator<Item = u128>) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for start in starts {
        outcome.overflowed += 1;
        descend(start)?;
        outcome.finished += 1;
    }
    Ok(outcome)
}
