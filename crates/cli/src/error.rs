//! What can go wrong, in words for the person who typed the command, and the exit code it gives.
//!
//! Each part of the program has an error type of its own, next to its code. Here they come together with the few
//! errors that every part can meet.

use std::io;

use crate::{
    args::ArgsError,
    commands::{
        apply::{LostLane, SignError},
        as_ecm::AsEcmError,
        batch_gcd::WrongFactor,
        campaign::{ServeError, ShardsError, SyncError},
        check::WrongResult,
        collatz::CollatzFailure,
        ecdlp::EcdlpError,
        expect::ExpectError,
        factor::FactorError,
        is_prime::WrongVerdict,
        pow::PowerError,
        reproduce::ReproduceError,
        resume::ResumeError,
        selftest::WrongAnswers,
        tune::TuneError,
    },
    io::error::{FileError, plain},
    plot::NothingToDraw,
    tables::TablesError,
};

/// The result of a command or of a part of one.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Exit code of a command that was understood and failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code of a command that makes no sense as it was given; clap's too.
pub(crate) const USAGE: u8 = 2;
/// Exit code of a search whose time was limited, and is over.
pub(crate) const TIME_OVER: u8 = 3;
/// Exit code after Ctrl-C: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// An error, one or two lines long.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Args(#[from] ArgsError),
    #[error(transparent)]
    LostLane(#[from] LostLane),
    #[error(transparent)]
    Sign(#[from] SignError),
    #[error(transparent)]
    WrongResult(#[from] WrongResult),
    #[error(transparent)]
    Expect(#[from] ExpectError),
    #[error(transparent)]
    WrongVerdict(#[from] WrongVerdict),
    #[error(transparent)]
    WrongFactor(#[from] WrongFactor),
    #[error(transparent)]
    Collatz(#[from] CollatzFailure),
    #[error(transparent)]
    Ecdlp(#[from] EcdlpError),
    #[error(transparent)]
    AsEcm(#[from] AsEcmError),
    #[error(transparent)]
    Factor(#[from] FactorError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Shards(#[from] ShardsError),
    #[error(transparent)]
    Sync(#[from] SyncError),
    #[error(transparent)]
    Reproduce(#[from] ReproduceError),
    #[error(transparent)]
    Plot(#[from] NothingToDraw),
    #[error(transparent)]
    Tune(#[from] TuneError),
    #[error(transparent)]
    Tables(#[from] TablesError),
    #[error(transparent)]
    SelfTest(#[from] WrongAnswers),
    #[error(transparent)]
    Power(#[from] PowerError),
    #[error("{}{}", .0, option_for(.0))]
    Library(warpmp::Error),
    #[error("{bytes} bytes of memory are needed, more than the system gives")]
    Memory { bytes: u64 },
    #[error("the system starts no more threads: {}", plain(.0))]
    Threads(io::Error),
    #[error("a part of the program stopped unexpectedly; please report this as a bug")]
    Bug,
    #[error("interrupted")]
    Interrupted,
    #[error("the command line is told already")]
    Usage,
    #[error("the command ends with code {0}, and has told why")]
    Status(u8),
    #[error("nobody reads the output")]
    BrokenPipe,
}

impl Error {
    /// A failed read of the input called `path`.
    pub(crate) fn read(path: &str, source: io::Error) -> Self {
        let path = shown(path);
        match source.kind() {
            io::ErrorKind::IsADirectory => FileError::Directory { path }.into(),
            _ => FileError::Read { path, source }.into(),
        }
    }

    /// A failed write to the output called `path`.
    pub(crate) fn write(path: &str, source: io::Error) -> Self {
        let path = shown(path);
        match source.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::IsADirectory => FileError::Directory { path }.into(),
            _ => FileError::Write { path, source }.into(),
        }
    }

    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::File(error) => error.exit_code(),
            Self::Collatz(error) => error.exit_code(),
            Self::Ecdlp(error) => error.exit_code(),
            Self::Factor(error) => error.exit_code(),
            Self::Reproduce(error) => error.exit_code(),
            Self::Tune(error) => error.exit_code(),
            Self::Tables(error) => error.exit_code(),
            Self::Usage
            | Self::Args(_)
            | Self::Shards(_)
            | Self::Library(
                warpmp::Error::UnknownAlgorithm { .. }
                | warpmp::Error::AlgorithmUnfit { .. }
                | warpmp::Error::ResultTooWide { .. },
            ) => USAGE,
            Self::LostLane(_)
            | Self::AsEcm(_)
            | Self::Sign(_)
            | Self::WrongResult(_)
            | Self::Expect(_)
            | Self::WrongVerdict(_)
            | Self::WrongFactor(_)
            | Self::Plot(_)
            | Self::Resume(_)
            | Self::Serve(_)
            | Self::Sync(_)
            | Self::SelfTest(_)
            | Self::Power(_)
            | Self::Library(_)
            | Self::Memory { .. }
            | Self::Threads(_)
            | Self::Bug => FAILED,
            Self::Interrupted => INTERRUPTED,
            Self::Status(code) => *code,
            // The reader of a pipe has seen enough, as `head` has.
            Self::BrokenPipe => 0,
        }
    }
}

impl From<warpmp::Error> for Error {
    fn from(error: warpmp::Error) -> Self {
        if error == warpmp::Error::Stopped { Self::Interrupted } else { Self::Library(error) }
    }
}

impl From<warpmp_oracle::measure::Error> for Error {
    fn from(error: warpmp_oracle::measure::Error) -> Self {
        match error {
            warpmp_oracle::measure::Error::Stopped => Self::Interrupted,
            warpmp_oracle::measure::Error::WrongResult(error) => error.into(),
            warpmp_oracle::measure::Error::Engine(error) => error.into(),
        }
    }
}

impl From<warpmp_papers::Error> for Error {
    fn from(error: warpmp_papers::Error) -> Self {
        match error {
            warpmp_papers::Error::Stopped => Self::Interrupted,
            warpmp_papers::Error::WrongResult(error) => error.into(),
            warpmp_papers::Error::Engine(error) => error.into(),
            warpmp_papers::Error::Collatz(error) => error.into(),
            other => ReproduceError::Papers(other.into()).into(),
        }
    }
}

/// The option that does as an error of the library advises.
const fn option_for(error: &warpmp::Error) -> &'static str {
    match error {
        warpmp::Error::NoKernel { .. } => " (--device cpu)",
        _ => "",
    }
}

impl From<warpmp_numtheory::Error> for Error {
    fn from(error: warpmp_numtheory::Error) -> Self {
        match error {
            warpmp_numtheory::Error::Stopped => Self::Interrupted,
            warpmp_numtheory::Error::OutOfMemory { required_bytes } => Self::Memory { bytes: required_bytes },
            warpmp_numtheory::Error::Threads(source) => Self::Threads(source),
            warpmp_numtheory::Error::Campaign(source) => FactorError::Campaign(source).into(),
            warpmp_numtheory::Error::Engine(source) => source.into(),
        }
    }
}

/// A name that can be seen.
fn shown(path: &str) -> String {
    if path.is_empty() { "''".into() } else { path.into() }
}

pub(crate) fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
