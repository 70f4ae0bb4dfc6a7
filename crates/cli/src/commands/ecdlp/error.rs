//! What can go wrong in the commands of `warpmp ecdlp`.

use warpmp_curves::Error as LibraryError;

use crate::error::{Error, FAILED, USAGE};

/// A search that cannot begin, or ends without a logarithm.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EcdlpError {
    /// The file of a curve, or its name.
    #[error("{curve}: {source}")]
    Curve { curve: String, source: LibraryError },
    #[error(transparent)]
    Library(LibraryError),
}

impl EcdlpError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Library(LibraryError::Setting { .. })
            | Self::Curve { source: LibraryError::UnknownCurve { .. }, .. } => USAGE,
            Self::Curve { .. } | Self::Library(_) => FAILED,
        }
    }
}

impl From<LibraryError> for Error {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Stopped => Self::Interrupted,
            error => EcdlpError::Library(error).into(),
        }
    }
}
