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
pub(crate) mod verify;
mod watch;

use std::path::Path;

use crate::{args::ObjectArgs, error::Result};
use args::CollatzCommand;
pub(crate) use error::CollatzFailure;

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
