//! What can go wrong in the commands of `warpmp ecdlp`.

use warpmp_curves::{Error as LibraryError, FolderError};

use crate::error::{Error, FAILED, TIME_OVER, USAGE, plural};
use crate::io::error::inner;

/// A search that cannot begin, or ends without a logarithm.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EcdlpError {
    /// The file of a curve, or its name.
    #[error("{curve}: {source}")]
    Curve { curve: String, source: Box<LibraryError> },
    #[error("{folder}: no campaign; `warpmp ecdlp solve --curve … -o {folder}` begins one")]
    NoCampaign { folder: String },
    #[error("no logarithm yet, the time is over; `{resume}` goes on")]
    TimeOver { resume: String },
    #[error("interrupted; `{resume}` goes on")]
    Interrupted { resume: String },
    #[error("{folder}: the check found {count} fault{}", plural(*count as u64))]
    Wrong { folder: String, count: usize },
    #[error(transparent)]
    Library(Box<LibraryError>),
}

impl EcdlpError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::TimeOver { .. } => TIME_OVER,
            Self::Interrupted { .. } => crate::error::INTERRUPTED,
            Self::NoCampaign { .. } | Self::Wrong { .. } => FAILED,
            Self::Curve { source, .. } | Self::Library(source) => match **source {
                LibraryError::Setting { .. } | LibraryError::UnknownCurve { .. } => USAGE,
                _ => FAILED,
            },
        }
    }
}

impl From<LibraryError> for Error {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Stopped => Self::Interrupted,
            LibraryError::Campaign(FolderError::File { path, source }) => {
                Self::write(&path.to_string_lossy(), inner(source))
            }
            error => EcdlpError::Library(error.into()).into(),
        }
    }
}
