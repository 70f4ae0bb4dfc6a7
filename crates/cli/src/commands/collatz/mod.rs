//! `warpmp collatz`: convergence, delays, records, certificates.

pub(crate) mod args;
mod asked;
pub(crate) mod bench;
mod check;
mod delay;
mod draw;
pub(super) mod engines;
mod folder;
mod records;
mod status;
mod sums;
mod trace;
mod verify;
mod watch;

use crate::error::Result;
use args::CollatzCommand;

/// Does what was asked for.
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

/// One JSON object on one line of standard output.
fn print_json(object: &serde_json::Value) -> Result<()> {
    crate::console::print(&format!("{object}\n"))
}
