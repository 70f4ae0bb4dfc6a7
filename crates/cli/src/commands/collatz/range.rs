//! Ranges of starts on the command line: the first start, and the end or a count.

use std::{path::Path, str::FromStr};

use clap::Args as Group;
use warpmp_collatz::{expression, window::Window};

use super::{CollatzFailure, folder::look};
use crate::error::Result;

/// A number, written as an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) u128);

impl FromStr for Number {
    type Err = expression::ExpressionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        expression::parse(text).map(Self)
    }
}

/// The starts that a command works on.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct RangeArgs {
    /// First start
    #[arg(long, value_name = "N")]
    from: Number,
    /// End of the range: every start from --from on and below M
    #[arg(long, value_name = "M", conflicts_with = "count", required_unless_present = "count")]
    to: Option<Number>,
    /// How many starts, in place of --to
    #[arg(long, value_name = "K")]
    count: Option<Number>,
}

impl RangeArgs {
    /// The range.
    ///
    /// # Errors
    /// As [`window`].
    pub(super) fn window(&self) -> Result<Window> {
        window(self.from, self.to, self.count)
    }
}

/// The starts of a campaign. One that a directory has begun has a range.
#[derive(Clone, Copy, Debug, Default, Group)]
pub(crate) struct CampaignRange {
    /// First start; without this the first start of the campaign in --output
    #[arg(long, value_name = "N", required_unless_present = "output")]
    from: Option<Number>,
    /// End of the range: every start from --from on and below M; without this the end of the campaign in --output
    #[arg(long, value_name = "M", conflicts_with = "count", required_unless_present_any = ["count", "output"])]
    to: Option<Number>,
    /// How many starts, in place of --to
    #[arg(long, value_name = "K")]
    count: Option<Number>,
}

impl CampaignRange {
    /// The range, with the campaign's bounds in place of those that are not given.
    ///
    /// # Errors
    /// As [`window`]; for a missing bound, the errors of [`look`].
    pub(super) fn window(&self, folder: Option<&Path>) -> Result<Window> {
        let campaign = || match folder {
            Some(folder) => Ok(look(folder)?.specification().whole()),
            // clap asks for all bounds where there is no directory.
            None => Err(crate::error::Error::Bug),
        };
        let from = self.from.map_or_else(|| campaign().map(|whole| Number(whole.from())), Ok)?;
        match (self.to, self.count) {
            (None, None) => window(from, Some(Number(campaign()?.end())), None),
            (to, count) => window(from, to, count),
        }
    }
}

/// The starts from `from` on, up to `to` or as many as `count`.
///
/// # Errors
/// [`CollatzFailure::EmptyRange`]; the errors of [`Window::new`].
pub(super) fn window(from: Number, to: Option<Number>, count: Option<Number>) -> Result<Window> {
    let count = match (to, count) {
        (Some(Number(to)), _) if to <= from.0 => {
            return Err(CollatzFailure::EmptyRange { from: from.0, to }.into());
        }
        (Some(Number(to)), _) => to - from.0,
        (None, count) => count.map_or(0, |count| count.0),
    };
    Ok(Window::new(from.0, count)?)
}

/// A range for people.
pub(super) fn starts(range: &Window) -> String {
    match range.count() {
        1 => format!("1 number, {},", range.from()),
        count => format!("{count} numbers from {} to {}", range.from(), range.end() - 1),
    }
}
