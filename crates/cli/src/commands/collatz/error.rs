//! The errors of `warpmp collatz`.

use warpmp_collatz::{Error as LibraryError, campaign::FolderError};

use crate::error::{Error, FAILED, INTERRUPTED, USAGE};
use crate::io::error::inner;

/// A Collatz command that cannot do its work, or finds something wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollatzFailure {
    #[error("{option} has no meaning with {scheme}")]
    OtherScheme { option: &'static str, scheme: String },
    #[error("{folder}: no campaign; `warpmp collatz verify --from N --to M -o {folder}` begins one")]
    NoCampaign { folder: String },
    #[error("{folder}: {files} certificate{} not trusted, but in good order; `warpmp collatz verify -o {folder} --redo` moves all files aside that are not trusted, and does their windows again",
            if *files == 1 { " is" } else { "s are" })]
    Untrusted { folder: String, files: usize },
    #[error("{folder}: {files} certificate{} not trusted, and in the way of other processes; `warpmp collatz verify -o {folder}{}`, without --shared, moves {} aside",
            if *files == 1 { " is" } else { "s are" }, if *in_order { " --redo" } else { "" }, if *files == 1 { "it" } else { "them" })]
    InTheWay { folder: String, files: usize, in_order: bool },
    #[error("{path}: another process has certified the window with other figures; both are kept, and one of them is wrong: \
             `warpmp collatz check` says which{}", match *more { 0 => String::new(), more => format!("; {more} more") })]
    Disputed { path: String, more: usize },
    #[error("{folder}: {missing} number{} of the range {} no certificate", if *missing == 1 { "" } else { "s" },
            if *missing == 1 { "has" } else { "have" })]
    Incomplete { folder: String, missing: u128 },
    #[error("{wrong} certificate{} wrong", if *wrong == 1 { " is" } else { "s are" })]
    WrongCertificates { wrong: usize },
    #[error("the delay of {start} is {expected}, the engine says {found}")]
    WrongDelay { start: u128, found: u64, expected: u64 },
    #[error("the engine and the independent path disagree on {count} numbers from {from}")]
    WrongSample { from: u128, count: u128 },
    #[error("the range is empty: --to {to} is not above --from {from}")]
    EmptyRange { from: u128, to: u128 },
    #[error("interrupted; `{resume}` goes on")]
    Interrupted { resume: String },
    #[error("there are no starts below {below}: --below 2 has the first")]
    NoStarts { below: u128 },
    #[error("the records differ from the known ones at {start}")]
    OtherRecords { start: u128 },
    #[error(transparent)]
    Library(LibraryError),
}

impl CollatzFailure {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::OtherScheme { .. }
            | Self::NoStarts { .. }
            | Self::EmptyRange { .. }
            | Self::Library(
                LibraryError::ZeroStart
                | LibraryError::ZeroCount
                | LibraryError::PastLimit { .. }
                | LibraryError::Parameter { .. }
                | LibraryError::TooManyWindows { .. },
            ) => USAGE,
            Self::Interrupted { .. } => INTERRUPTED,
            Self::NoCampaign { .. }
            | Self::Untrusted { .. }
            | Self::InTheWay { .. }
            | Self::Disputed { .. }
            | Self::Incomplete { .. }
            | Self::WrongCertificates { .. }
            | Self::WrongDelay { .. }
            | Self::WrongSample { .. }
            | Self::OtherRecords { .. }
            | Self::Library(_) => FAILED,
        }
    }
}

impl From<LibraryError> for Error {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Campaign(error) => error.into(),
            other => CollatzFailure::Library(other).into(),
        }
    }
}

impl From<FolderError> for Error {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::File { path, source } => Self::write(&path.to_string_lossy(), inner(source)),
            other => CollatzFailure::Library(other.into()).into(),
        }
    }
}
