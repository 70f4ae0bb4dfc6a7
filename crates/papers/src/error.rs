//! What can go wrong, and what the caller may do about it.

use warpmp_oracle::check::WrongResult;
use warpmp_oracle::measure;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a table was not reproduced.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The [`Watch`](crate::Watch) stopped the work.
    #[error("stopped")]
    Stopped,
    /// Choose one of `known`.
    #[error("no table is called '{name}'; there are {known}, and all")]
    UnknownTable {
        /// The name that was given.
        name: String,
        /// The names of all tables.
        known: String,
    },
    /// Choose one of `meant`.
    #[error("several documents have a table '{name}': give one of {meant}")]
    AmbiguousTable {
        /// The name that was given.
        name: String,
        /// The full names of the tables with this name.
        meant: String,
    },
    /// A kernel of an experiment computes a wrong result: nothing was timed.
    #[error("lane {lane}: {kernel} is wrong\n  found {found}, expected {expected}")]
    WrongExperiment {
        /// The kernel's name.
        kernel: String,
        /// The lane.
        lane: u64,
        /// Its result.
        found: String,
        /// The result of num-bigint.
        expected: String,
    },
    /// An engine counts the steps of a Collatz trajectory wrongly: nothing was timed.
    #[error("the delay of {start} is {expected}, the engine says {found}")]
    WrongDelay {
        /// The start of the trajectory.
        start: u128,
        /// The delay by the engine.
        found: u64,
        /// The delay by single steps.
        expected: u64,
    },
    /// A product is wrong: nothing was timed.
    #[error(transparent)]
    WrongResult(#[from] WrongResult),
    /// The engine failed: see its error.
    #[error(transparent)]
    Engine(#[from] warpmp::Error),
    /// The Collatz engine failed: see its error.
    #[error(transparent)]
    Collatz(#[from] warpmp_collatz::Error),
    /// The system starts no more threads.
    #[error("the system starts no more threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// A kernel lacks the section that holds its arithmetic.
    #[error("{kernel} has no section with its arithmetic; please report this as a bug")]
    NoSection {
        /// The kernel's name.
        kernel: String,
    },
}

impl From<measure::Error> for Error {
    fn from(error: measure::Error) -> Self {
        match error {
            measure::Error::Stopped => Self::Stopped,
            measure::Error::WrongResult(error) => Self::WrongResult(error),
            measure::Error::Engine(error) => Self::Engine(error),
        }
    }
}

impl From<warpmp::device::Error> for Error {
    fn from(error: warpmp::device::Error) -> Self {
        Self::Engine(error.into())
    }
}
