//! Lines for people, on standard error and standard output, without a panic if nobody listens.

use std::io::{self, Write as _};

use serde::Serialize;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::{
    args::SummaryArgs,
    closed,
    error::{Error, Result},
    progress,
};

/// Standard error takes log lines from `warn` upwards; `WARPMP_LOG` says otherwise.
pub(crate) fn init_tracing() {
    let asked = std::env::var("WARPMP_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    // The crate is built without its feature for colours, and panics if they are asked for.
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    let filter = asked.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    tracing_subscriber::registry().with(lines).with(filter).init();
}

/// One line on standard error. It is lost if standard error is closed.
pub(crate) fn note(line: &str) {
    let _ = progress::beside_bar(|| writeln!(io::stderr().lock(), "{line}"));
}

/// Was standard output open when the program started? The standard library opens a closed one anew, on a device that takes everything
/// and keeps nothing.
///
/// # Errors
/// [`FileError::Write`](crate::io::error::FileError::Write) if not.
pub(crate) fn check_stdout() -> Result<()> {
    if closed::stdout_was_closed() { Err(Error::write("standard output", closed::error())) } else { Ok(()) }
}

/// Text on standard output, as it stands.
pub(crate) fn print(text: &str) -> Result<()> {
    check_stdout()?;
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|source| Error::write("standard output", source))
}

/// The help or the version that was asked for, on standard output.
///
/// # Errors
/// As [`print`].
pub(crate) fn help(help: &clap::Error) -> Result<()> {
    check_stdout()?;
    help.print().and_then(|()| io::stdout().flush()).map_err(|source| Error::write("standard output", source))
}

/// Text on standard output of a command whose exit code is its verdict: it is found whether or not somebody reads on.
///
/// # Errors
/// What printing gives, but for a reader that has seen enough.
pub(crate) fn report(text: &str) -> Result<()> {
    match print(text) {
        Err(Error::BrokenPipe) => Ok(()),
        printed => printed,
    }
}

/// An object on one line.
fn json(object: &impl Serialize) -> String {
    serde_json::to_string(object).unwrap_or_default()
}

/// An object on one line of standard output.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_object(object: &impl Serialize) -> Result<()> {
    print(&(json(object) + "\n"))
}

/// The same for a command whose exit code is its verdict.
///
/// # Errors
/// As [`report`].
pub(crate) fn report_object(object: &impl Serialize) -> Result<()> {
    report(&(json(object) + "\n"))
}

/// A command's summary, as it is asked for: beside results on standard output it goes to standard error.
///
/// # Errors
/// What printing gives.
pub(crate) fn summary(args: SummaryArgs, is_stdout_taken: bool, object: &impl Serialize, text: &str) -> Result<()> {
    match (args.json, is_stdout_taken) {
        (true, false) => print_object(object)?,
        (true, true) => note(&json(object)),
        (false, _) if !args.quiet => note(text),
        (false, _) => {}
    }
    Ok(())
}

/// Columns with two spaces between them; the first is flush left, the others flush right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(column, (cell, width))| {
                    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(table(&[row(&["bits", "rate"]), row(&["64", "1"])]), "bits  rate\n64       1\n");
    }
}
