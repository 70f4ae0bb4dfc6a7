//! One file a subcommand.

mod bench;
pub(crate) mod check;
pub(crate) mod collatz;
mod devices;
mod expect;
mod explain;
mod generate;
mod mul;
mod pattern;
mod selftest;

use crate::{
    args::{BenchOperation, Command, ExplainOperation},
    error::Result,
};

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Mul(args) => mul::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Bench { operation: BenchOperation::Mul(args) } => bench::run(&args),
        Command::Bench { operation: BenchOperation::Collatz(args) } => collatz::bench::run(&args),
        Command::Collatz { command } => collatz::run(&command),
        Command::Explain { operation: ExplainOperation::Mul(args) } => explain::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Selftest(args) => selftest::run(&args),
    }
}
