//! What can go wrong, with the numbers as numbers.

use std::{io, path::PathBuf};

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A start of zero: zero never reaches 1. Begin at 1.
    #[error("the first start must be at least 1")]
    ZeroStart,
    /// A window without numbers. Ask for at least one.
    #[error("the count must be at least 1")]
    ZeroCount,
    /// A window that ends past `2^127`. Ask for fewer numbers.
    #[error("the range from {from} with {count} numbers ends past 2^127")]
    PastLimit {
        /// First start of the window.
        from: u128,
        /// Numbers in it.
        count: u128,
    },
    /// A parameter outside of what the scheme supports.
    #[error("{name} = {value} is not supported: {low} to {high} are")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What was asked for.
        value: u64,
        /// The least supported value.
        low: u64,
        /// The largest supported value.
        high: u64,
    },
    /// A start whose trajectory did not come below it. Either a bug, or news: trace it.
    #[error("start {start} did not come below itself in {steps} steps: trace it, and tell the world")]
    NoDescent {
        /// The start.
        start: u128,
        /// Steps of `T` that were taken.
        steps: u64,
    },
    /// The work was told to stop.
    #[error("stopped")]
    Stopped,
    /// A file or a directory could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The GPU or the simulator failed; the window it worked on is not done.
    #[error(transparent)]
    Device(#[from] warpmp_device::Error),
}

impl Error {
    /// [`Error::Parameter`] unless `low ≤ value ≤ high`.
    pub(crate) fn parameter(name: &'static str, value: u64, low: u64, high: u64) -> Result<()> {
        if (low..=high).contains(&value) { Ok(()) } else { Err(Self::Parameter { name, value, low, high }) }
    }

    /// A failed access to `path`.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
