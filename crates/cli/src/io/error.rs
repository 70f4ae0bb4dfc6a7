//! What can be wrong with a file: the input's or output's name as it was given, the place in it, and the fault.

use std::io;

use warpmp_collatz::expression::ExpressionError;
use warpmp_numtheory::factor::SaveLineError;

use super::npy::NpyProblem;
use crate::error::{FAILED, USAGE, plural};

/// A file that cannot be read, written or understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("{path}: {}", plain(source))]
    Read { path: String, source: io::Error },
    #[error("{path}: {}", plain(source))]
    Write { path: String, source: io::Error },
    #[error("{text}: there is no such file, and it is no number: {error}")]
    NoNumber { text: String, error: ExpressionError },
    #[error("{text}: there is no such file, and the expression has a number that is too long: {error}")]
    LongNumber { text: String, error: ExpressionError },
    #[error("{path} is a directory")]
    Directory { path: String },
    #[error("{path}:{line}: {problem}")]
    Line { path: String, line: u64, problem: LineProblem },
    #[error("{path}: {problem}")]
    Npy { path: String, problem: NpyProblem },
    #[error("{path}: {reason}")]
    Table { path: String, reason: String },
    #[error("{path}: no column is called {column}; there are {columns}")]
    Column { path: String, column: String, columns: String },
    #[error("{path}: no numbers in it")]
    NoNumbers { path: String },
    #[error("{a} has {lanes_a} number{}, {b} has {lanes_b}: each operand has as many numbers as the others, or a single one",
            plural(*lanes_a))]
    Counts { a: String, lanes_a: u64, b: String, lanes_b: u64 },
    #[error("{path} is both input and output: the program would overwrite numbers before it reads them")]
    SamePath { path: String },
    #[error("standard input and standard output are the same file: the program would read its own results")]
    SameStreams,
    #[error("{path} is given for more than one output")]
    SameOutput { path: String },
    #[error(".npy is binary and does not go to a terminal: give -o FILE, or redirect standard output")]
    NpyToTerminal,
}

impl FileError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::SamePath { .. } | Self::SameStreams | Self::SameOutput { .. } | Self::NpyToTerminal => USAGE,
            Self::Read { .. }
            | Self::Write { .. }
            | Self::NoNumber { .. }
            | Self::LongNumber { .. }
            | Self::Directory { .. }
            | Self::Line { .. }
            | Self::Npy { .. }
            | Self::Table { .. }
            | Self::Column { .. }
            | Self::NoNumbers { .. }
            | Self::Counts { .. } => FAILED,
        }
    }
}

/// Why a line of text is not an operand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineProblem {
    #[error("not a number: \"{head}\"{}", hint(head))]
    NotANumber { head: String },
    #[error("this command takes no negative numbers: \"{head}\"")]
    Negative { head: String },
    #[error(
        "'-' stands for a lane without a result; the only number of a file serves all lanes, so it must be a number"
    )]
    NoResult,
    #[error("'-' stands for a lane without a result; this command needs a number in every lane")]
    Gap,
    #[error("write numbers without '+': \"{head}\"")]
    Plus { head: String },
    #[error("write numbers without '_': \"{head}\"")]
    Underscore { head: String },
    #[error("a zero byte: neither text nor an .npy array")]
    ZeroByte,
    #[error("not UTF-8 text")]
    NotUtf8,
    #[error("neither a number nor an expression: {0}")]
    Expression(ExpressionError),
    #[error("no save line: {0}")]
    SaveLine(SaveLineError),
    #[error("a blank line between numbers")]
    Blank,
    #[error("a number of {bits} bits; at most {limit} are supported")]
    TooWide { bits: usize, limit: usize },
    #[error("a line of more than {limit} bytes: no supported number is so long")]
    TooLong { limit: usize },
}

/// What to do with a line of another kind.
fn hint(head: &str) -> &'static str {
    if head.starts_with("-----BEGIN") || head.starts_with("ssh-") || head.starts_with("Modulus=") {
        "; `batch-gcd` reads keys"
    } else if head.contains([',', ';', '\t', ' ']) {
        "; one number a line is needed, and `batch-gcd --column NAME` reads tables"
    } else {
        ""
    }
}

/// The cause of an error of the crate `tempfile`, which adds its temporary name to the message: the person gave another.
pub(crate) fn inner(error: io::Error) -> io::Error {
    match error.get_ref().and_then(std::error::Error::source).and_then(|source| source.downcast_ref::<io::Error>()) {
        Some(inner) => inner.raw_os_error().map_or_else(|| inner.kind().into(), io::Error::from_raw_os_error),
        None => error,
    }
}

/// The operating system's words without Rust's "(os error 28)".
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
