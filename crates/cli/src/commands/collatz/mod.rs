//! `warpmp collatz`: convergence, delays, records, certificates.

pub(crate) mod args;
pub(crate) mod bench;
mod check;
mod delay;
mod draw;
pub(super) mod engines;
mod error;
pub(crate) mod facts;
mod folder;
mod range;
mod records;
mod status;
mod trace;
mod verify;
mod watch;

use std::path::Path;

use crate::{
    args::{DeviceArgs, ObjectArgs, SharingArgs, SummaryArgs},
    console,
    error::Result,
};
use args::CollatzCommand;
pub(crate) use error::CollatzFailure;

/// Says how a range would be verified.
pub(crate) fn explain(args: &args::Verify) -> Result<()> {
    verify::explain(args)
}

/// Goes on with the campaign of a directory.
pub(crate) fn resume(folder: &Path, device: DeviceArgs, sharing: SharingArgs, summary: SummaryArgs) -> Result<()> {
    verify::resume(folder, device, sharing, summary)
}

/// Tells how far the campaign of a directory is.
pub(crate) fn status(folder: &Path, object: ObjectArgs) -> Result<()> {
    status::run(&args::Status { folder: folder.to_owned(), complete: false, plot: None, object })
}

/// Runs a subcommand.
pub(crate) fn run(command: &CollatzCommand) -> Result<()> {
    match command {
        CollatzCommand::Verify(args) => verify::run(args),
        CollatzCommand::Status(args) => status::run(args),
        CollatzCommand::Check(args) => check::run(args),
        CollatzCommand::Delay(args) => delay::run(args),
        CollatzCommand::Records(args) => records::run(args),
        CollatzCommand::Trace(args) => trace::run(args),
    }
}

/// Prints one JSON object on one line of standard output: the last output of a command.
fn print_json(object: &serde_json::Value) -> Result<()> {
    console::report(&format!("{object}\n"))
}
