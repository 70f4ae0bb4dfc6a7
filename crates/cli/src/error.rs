//! What can go wrong, in words for the person who typed the command, and the exit code it gives.

use std::io;

use warpmp::tuning::TableError;
use warpmp_collatz::campaign::FolderError;

use crate::io::npy::NpyProblem;

/// The result of a command or of a part of one.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Exit code of a command that was understood and failed.
const FAILED: u8 = 1;
/// Exit code of a command that makes no sense as it was given; clap's too.
const USAGE: u8 = 2;
/// Exit code after Ctrl-C: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// An error, one or two lines long. `path` is the input's or output's name as it was given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{path}: {}", plain(source))]
    Read { path: String, source: io::Error },
    #[error("{path}: {}", plain(source))]
    Write { path: String, source: io::Error },
    #[error("{path}:{line}: {problem}")]
    Line { path: String, line: u64, problem: LineProblem },
    #[error("{path}: {problem}")]
    Npy { path: String, problem: NpyProblem },
    #[error("{path}: no numbers in it")]
    NoNumbers { path: String },
    #[error("{a} has {lanes_a} number{}, {b} has {lanes_b}; they must have equally many, or {b} a single one{}",
            plural(*lanes_a), if *lanes_a == 1 { " (exchange the operands)" } else { "" })]
    Counts { a: String, lanes_a: u64, b: String, lanes_b: u64 },
    #[error("{path} is both input and output: reading and writing would meet")]
    SamePath { path: String },
    #[error("{path} is given for more than one output")]
    SameOutput { path: String },
    #[error("more than one file is '-': standard input can be read only once")]
    BothStdin,
    #[error("{operation} has {}", files(*operation, "-o"))]
    Outputs { operation: warpmp::Operation },
    #[error("{operation} has {}", files(*operation, "--expect"))]
    Expectations { operation: warpmp::Operation },
    #[error("what {operation} gives depends on the width of its operands: give --bits R")]
    WidthNeeded { operation: warpmp::Operation },
    #[error("{operation} takes {} operand{}: {option} has no meaning", operation.arity(), plural(operation.arity() as u64))]
    NoSuchOperand { operation: warpmp::Operation, option: &'static str },
    #[error("{option} has no meaning with {scheme}")]
    OtherScheme { option: &'static str, scheme: String },
    #[error("{path} is a directory")]
    Directory { path: String },
    #[error(".npy is binary: give -o FILE, or redirect standard output")]
    NpyToTerminal,
    #[error("lane {lane}: the engine's {operation} is wrong\n  {operands}\n  engine {found}, expected {expected}")]
    WrongResult { operation: warpmp::Operation, lane: u64, operands: String, found: String, expected: String },
    #[error("integer {line}, {number}: {found} by at most {bases} strong test{}, {expected} by Baillie's and Wagstaff's test",
            plural((*bases).into()))]
    WrongVerdict { line: u64, number: String, found: &'static str, expected: &'static str, bases: u32 },
    #[error("integer {line}: its gcd with the others is {found}, by one product after the other {expected}")]
    WrongFactor { line: u64, found: String, expected: String },
    #[error("lane {lane}: {kernel} is wrong\n  found {found}, expected {expected}")]
    WrongExperiment { kernel: String, lane: u64, found: String, expected: String },
    #[error("{place}: {expected} is expected, found {found}")]
    NotExpected { place: String, expected: String, found: String },
    #[error("{place}: missing; there are more results than the file has")]
    ExpectedMissing { place: String },
    #[error("{place}: too many; there {} {lanes} result{}", if *lanes == 1 { "is" } else { "are" }, plural(*lanes))]
    ExpectedExtra { place: String, lanes: u64 },
    #[error("{place}: {columns} column{} where {results} {} expected", plural(*columns as u64), if *results == 1 { "is" } else { "are" })]
    ExpectedColumns { place: String, columns: usize, results: usize },
    #[error("{bytes} bytes of memory are needed for the operands, and not to be had")]
    Memory { bytes: u64 },
    #[error("{failed} of {total} known answers were wrong")]
    SelfTest { failed: usize, total: usize },
    #[error("{folder}: no campaign; `warpmp collatz verify --out` begins one")]
    NoCampaign { folder: String },
    #[error("{folder}: {files} certificate{} not trusted, but in good order; --redo moves aside what is not trusted and does its windows again",
            if *files == 1 { " is" } else { "s are" })]
    Untrusted { folder: String, files: usize },
    #[error("{folder}: {missing} number{} of the range {} no certificate", if *missing == 1 { "" } else { "s" },
            if *missing == 1 { "has" } else { "have" })]
    Incomplete { folder: String, missing: u128 },
    #[error("{wrong} certificate{} wrong", if *wrong == 1 { " is" } else { "s are" })]
    WrongCertificates { wrong: usize },
    #[error("the delay of {start} is {expected}, the engine says {found}")]
    WrongDelay { start: u128, found: u64, expected: u64 },
    #[error("the engine and the independent path disagree on {count} numbers from {from}")]
    WrongSample { from: u128, count: u128 },
    #[error("there are no starts below {below}: --below 2 has the first")]
    NoStarts { below: u128 },
    #[error("the records differ from the known ones at {start}")]
    OtherRecords { start: u128 },
    #[error(transparent)]
    Collatz(warpmp_collatz::Error),
    #[error("no table is called '{name}'; there are {known}, and all")]
    UnknownTable { name: String, known: String },
    #[error("'{name}' stands in several documents; which is meant: {meant}?")]
    AmbiguousTable { name: String, meant: String },
    #[error(
        "{table} holds times, and the simulator has none: use --device cuda or cpu, or reproduce counts: \
             candar:I, dissertation:3.1, dissertation:3.2, dissertation:4.1 to 4.3, epfl"
    )]
    SimulatorTime { table: String },
    #[error("nothing to draw in \"{title}\"")]
    NothingToDraw { title: String },
    #[error("nothing to tune {place}")]
    NothingToTune { place: String },
    #[error("neither XDG_CONFIG_HOME nor HOME says where your configuration is: give --output FILE")]
    NoConfiguration,
    #[error("{}\n  `warpmp tune` measures a new table; WARPMP_TUNING=none goes without, as deleting the file does", table(.0))]
    Table(#[from] TableError),
    #[error("{faults} candidate{} left out because of wrong results; please report this as a bug", if *faults == 1 { " was" } else { "s were" })]
    WrongCandidates { faults: usize },
    #[error(transparent)]
    Library(#[from] warpmp::Error),
    #[error("a part of the program stopped unexpectedly; please report this as a bug")]
    Bug,
    #[error("interrupted")]
    Interrupted,
    #[error("nobody reads the output")]
    BrokenPipe,
}

impl Error {
    /// A failed read of the input called `path`.
    pub(crate) fn read(path: &str, source: io::Error) -> Self {
        let path = shown(path);
        if source.kind() == io::ErrorKind::IsADirectory {
            return Self::Directory { path: path.into() };
        }
        Self::Read { path: path.into(), source }
    }

    /// A failed write to the output called `path`.
    pub(crate) fn write(path: &str, source: io::Error) -> Self {
        let path = shown(path);
        match source.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::IsADirectory => Self::Directory { path: path.into() },
            _ => Self::Write { path: path.into(), source },
        }
    }

    /// The exit code that this error gives the program.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::SamePath { .. }
            | Self::SameOutput { .. }
            | Self::Collatz(
                warpmp_collatz::Error::ZeroStart
                | warpmp_collatz::Error::ZeroCount
                | warpmp_collatz::Error::PastLimit { .. }
                | warpmp_collatz::Error::Parameter { .. }
                | warpmp_collatz::Error::TooManyWindows { .. },
            )
            | Self::BothStdin
            | Self::Outputs { .. }
            | Self::Expectations { .. }
            | Self::WidthNeeded { .. }
            | Self::NoSuchOperand { .. }
            | Self::NoStarts { .. }
            | Self::OtherScheme { .. }
            | Self::NpyToTerminal
            | Self::UnknownTable { .. }
            | Self::AmbiguousTable { .. }
            | Self::SimulatorTime { .. }
            | Self::NothingToTune { .. }
            | Self::NoConfiguration
            | Self::Library(
                warpmp::Error::UnknownAlgorithm { .. }
                | warpmp::Error::AlgorithmUnfit { .. }
                | warpmp::Error::ResultTooWide { .. },
            ) => USAGE,
            Self::Interrupted => INTERRUPTED,
            // The reader of a pipe left of its own will, as `head` does.
            Self::BrokenPipe => 0,
            _ => FAILED,
        }
    }
}

impl From<warpmp_collatz::Error> for Error {
    fn from(error: warpmp_collatz::Error) -> Self {
        match error {
            warpmp_collatz::Error::Campaign(error) => error.into(),
            other => Self::Collatz(other),
        }
    }
}

impl From<FolderError> for Error {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::File { path, source } => Self::write(&path.to_string_lossy(), inner(source)),
            other => Self::Collatz(other.into()),
        }
    }
}

/// Why a line of text is not an operand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineProblem {
    #[error("not a number: \"{head}\"")]
    NotANumber { head: String },
    #[error("negative numbers are not supported: \"{head}\"")]
    Negative { head: String },
    #[error("write numbers without '+': \"{head}\"")]
    Plus { head: String },
    #[error("write numbers without '_': \"{head}\"")]
    Underscore { head: String },
    #[error("a zero byte: neither text nor an .npy array")]
    ZeroByte,
    #[error("not UTF-8 text")]
    NotUtf8,
    #[error("a blank line between numbers")]
    Blank,
    #[error("a number of {bits} bits; at most {limit} are supported")]
    TooWide { bits: usize, limit: usize },
    #[error("a line of more than {limit} bytes: no number that is supported needs that")]
    TooLong { limit: usize },
}

/// tempfile adds the temporary name to the message; the person gave another.
pub(crate) fn inner(error: io::Error) -> io::Error {
    match error.get_ref().and_then(std::error::Error::source).and_then(|source| source.downcast_ref::<io::Error>()) {
        Some(inner) => inner.raw_os_error().map_or_else(|| inner.kind().into(), io::Error::from_raw_os_error),
        None => error,
    }
}

/// A name that can be seen.
fn shown(path: &str) -> &str {
    if path.is_empty() { "''" } else { path }
}

/// How many files an operation's results may have.
fn files(operation: warpmp::Operation, option: &str) -> String {
    match operation.result_names().len() {
        1 => format!("1 result: give 1 {option}"),
        results => format!("{results} results: give {results} {option}, or a single text file for all"),
    }
}

/// What is wrong with a table.
fn table(error: &TableError) -> String {
    match error {
        TableError::Read { path, source } => format!("{}: {}", path.display(), plain(source)),
        TableError::Syntax { path, source } => format!("{}: not a tuning table: {source}", path.display()),
        other => other.to_string(),
    }
}

/// The operating system's words without Rust's "(os error 28)".
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

pub(crate) fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
