//! `warpmp`: bulk big-integer arithmetic from the command line.
//!
//! ```text
//! args.rs        what may be asked for
//! commands/      one file a subcommand
//! io/            numbers from files and to files: text and .npy, streamed in chunks
//! numbers.rs     the integers of a chunk, in batches by width
//! engine.rs      the library's session, opened as asked for
//! tables.rs      the user's tuning tables
//! pool.rs        memory that is used again by later chunks
//! measure.rs     timed runs
//! plot/          charts, as SVG
//! progress.rs    a bar for people who wait
//! summary.rs     what it cost, for people and as JSON
//! threads.rs     the threads that compute
//! channel.rs     the other threads, and waiting for them
//! closed.rs      a standard output that nobody opened
//! fuzz.rs        the readers of operands, for fuzz targets
//! interrupt.rs   Ctrl-C leaves nothing half-written
//! ```
#![forbid(unsafe_code)]

mod args;
mod channel;
mod closed;
mod commands;
mod console;
mod engine;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod interrupt;
mod io;
mod numbers;
mod plot;
mod pool;
mod progress;
mod summary;
mod tables;
mod threads;

use std::process::ExitCode;

use clap::FromArgMatches as _;

fn run() -> error::Result<()> {
    let mut words = std::env::args_os();
    if words.next().is_some_and(|program| commands::as_ecm::is_called(&program)) {
        return within(|| commands::as_ecm::run(&words.collect::<Vec<_>>()));
    }
    let mut command = args::command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let args = match parsed.and_then(|matches| args::Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) if error.use_stderr() => match args::suggest::unknown_command(&error, &command) {
            Some(text) => {
                console::note(&text);
                return Err(error::Error::Usage);
            }
            None => args::suggest::without_wrong_advice(error).exit(),
        },
        Err(help) => return console::help(&help),
    };
    within(|| commands::run(args.command))
}

/// Does some work with signals and threads in place.
fn within(work: impl FnOnce() -> error::Result<()>) -> error::Result<()> {
    interrupt::install();
    threads::start()?;
    work()
}

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    console::init_tracing();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A reader that leaves has seen enough: nothing to report.
            if !matches!(error, error::Error::BrokenPipe | error::Error::Usage | error::Error::Status(_)) {
                console::note(&format!("error: {error}"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}
