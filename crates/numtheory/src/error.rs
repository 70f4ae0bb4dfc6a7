//! What can go wrong, and what the caller may do about it.

use std::io;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why some work was not done. None of its results count then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The [`Watch`](crate::Watch) stopped the work.
    #[error("stopped")]
    Stopped,
    /// Give fewer integers at a time, or free memory.
    #[error("the work needs about {required_bytes} bytes of memory, more than the system gives")]
    OutOfMemory {
        /// An estimate of all memory that the work needs at a time.
        required_bytes: u64,
    },
    /// Allow the process another thread.
    #[error("the system starts no more threads: {0}")]
    Threads(io::Error),
    /// The directory of a campaign cannot be used: see its error.
    #[error(transparent)]
    Campaign(Box<warpmp_campaign::Error>),
    /// The engine failed: see its error.
    #[error(transparent)]
    Engine(#[from] warpmp::Error),
}

impl From<warpmp_device::Error> for Error {
    fn from(error: warpmp_device::Error) -> Self {
        Self::Engine(error.into())
    }
}
