//! Errors as Python's exceptions, with the texts of the library.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyValueError};

/// The result of this crate's functions.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A Python exception. It can be made by a thread that the interpreter does not know.
pub(crate) struct Failure(PyErr);

impl Failure {
    pub(crate) fn value(text: impl Into<String>) -> Self {
        Self(PyValueError::new_err(text.into()))
    }

    pub(crate) fn overflow(text: impl Into<String>) -> Self {
        Self(PyOverflowError::new_err(text.into()))
    }

    pub(crate) fn stopped() -> Self {
        Self(PyKeyboardInterrupt::new_err("stopped"))
    }

    pub(crate) fn memory(text: impl Into<String>) -> Self {
        Self(PyMemoryError::new_err(text.into()))
    }

    pub(crate) fn bug() -> Self {
        Self(PyRuntimeError::new_err("a part of the work stopped unexpectedly; please report this as a bug"))
    }

    fn runtime(text: String) -> Self {
        Self(PyRuntimeError::new_err(text))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<warpmp::Error> for Failure {
    fn from(error: warpmp::Error) -> Self {
        use warpmp::Error;
        let text = error.to_string();
        match error {
            Error::OutOfMemory { .. } => Self::memory(text),
            Error::TooWide { .. } | Error::ResultTooWide { .. } | Error::NotReduced { .. } | Error::Negative { .. } => {
                Self::overflow(text)
            }
            Error::Stopped => Self::stopped(),
            Error::Device(_) | Error::NoDevice | Error::ForeignBatch => Self::runtime(text),
            _ => Self::value(text),
        }
    }
}

impl From<warpmp::device::Error> for Failure {
    fn from(error: warpmp::device::Error) -> Self {
        warpmp::Error::from(error).into()
    }
}

impl From<warpmp_numtheory::Error> for Failure {
    fn from(error: warpmp_numtheory::Error) -> Self {
        use warpmp_numtheory::Error;
        match error {
            Error::Stopped => Self::stopped(),
            Error::OutOfMemory { .. } => Self::memory(error.to_string()),
            Error::Threads(error) => Self(PyOSError::new_err(error.to_string())),
            Error::Campaign(error) => Self::runtime(error.to_string()),
            Error::Engine(error) => error.into(),
        }
    }
}

impl From<warpmp_collatz::Error> for Failure {
    fn from(error: warpmp_collatz::Error) -> Self {
        use warpmp_collatz::Error;
        let text = error.to_string();
        match error {
            Error::Stopped => Self::stopped(),
            Error::ZeroStart | Error::ZeroCount | Error::PastLimit { .. } | Error::Parameter { .. } => {
                Self::value(text)
            }
            _ => Self::runtime(text),
        }
    }
}

impl From<warpmp_curves::Error> for Failure {
    fn from(error: warpmp_curves::Error) -> Self {
        use warpmp_curves::Error;
        let text = error.to_string();
        match error {
            Error::Stopped => Self::stopped(),
            Error::UnknownCurve { .. } | Error::Refused(_) | Error::Setting { .. } => Self::value(text),
            _ => Self::runtime(text),
        }
    }
}
