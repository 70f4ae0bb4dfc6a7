//! One file a subcommand.

mod apply;
mod bench;
pub(crate) mod check;
mod devices;
mod expect;
mod explain;
mod generate;
mod oracle;
mod pattern;
mod reproduce;
mod results;
mod selftest;
mod tune;

use crate::{
    args::{Bench, Command},
    error::Result,
};

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Apply(args) => apply::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Bench(Bench { operation: Some(args), .. }) => bench::run(args.operation, &args.options),
        Command::Bench(Bench { operation: None, reproduce }) => reproduce::run(&reproduce),
        Command::Explain { operation } => explain::run(operation.operation, &operation.options),
        Command::Tune(args) => tune::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Selftest(args) => selftest::run(&args),
    }
}
