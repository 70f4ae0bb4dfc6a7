//! What can go wrong in the commands of `warpmp ecdlp`.

use warpmp_curves::Error as LibraryError;

use crate::error::{Error, FAILED, USAGE};

/// A search that cannot begin, or ends without a logarithm.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EcdlpError {
    /// The file of a curve, or its name.
    #[error("{curve}: {source}")]
    Curve { curve: String, source: Box<LibraryError> },
    #[error(transparent)]
    Library(Box<LibraryError>),
}

impl EcdlpError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        let (Self::Curve { source, .. } | Self::Library(source)) = self;
        match **source {
            LibraryError::Setting { .. } | LibraryError::UnknownCurve { .. } => USAGE,
            _ => FAILED,
        }
    }
}

impl From<LibraryError> for Error {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Stopped => Self::Interrupted,
            error => EcdlpError::Library(error.into()).into(),
        }
    }
}
