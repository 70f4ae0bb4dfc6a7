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
//! interrupt.rs   Ctrl-C leaves nothing half-written
//! ```
#![forbid(unsafe_code)]

mod args;
mod channel;
mod commands;
mod console;
mod engine;
mod error;
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

use clap::Parser as _;

fn main() -> ExitCode {
    let args = args::Args::parse();
    console::init_tracing();
    interrupt::install();
    match threads::start().and_then(|()| commands::run(args.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A reader that leaves has seen enough: nothing to report.
            if !matches!(error, error::Error::BrokenPipe) {
                console::note(&format!("error: {error}"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}
