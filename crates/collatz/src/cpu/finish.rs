//! Starts that no fixed width serves: small starts, and starts whose values grew too large.

use rayon::prelude::*;

use crate::{engine::Outcome, error::Result, heights::Heights, window::Window};

/// Follows every start of the window step by step.
pub(super) fn plain(window: Option<Window>) -> Result<Outcome> {
    let Some(window) = window else { return Ok(Outcome::none()) };
    let starts = (window.from() as u64..window.end() as u64).into_par_iter();
    let heights = Heights::follow(starts.map(u128::from))?;
    Ok(Outcome { plain: window.count() as u64, heights, ..Outcome::default() })
}

/// Finishes starts in unbounded arithmetic.
pub(super) fn wide(starts: impl IntoIterator<Item = u128>) -> Result<Outcome> {
    let mut outcome = Outcome::none();
    for start in starts {
        outcome.add(&Outcome::finished(start)?);
    }
    Ok(outcome)
}
