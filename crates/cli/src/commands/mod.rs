//! One file a subcommand.

mod bench;
pub(crate) mod check;
mod devices;
mod expect;
mod explain;
mod generate;
mod mul;
mod pattern;
mod reproduce;
mod selftest;

use warpmp::Operation;

use crate::{
    args::{Bench, BenchOperation, Command, ExplainOperation},
    error::Result,
};

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Mul(args) => mul::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Bench(Bench { operation: Some(BenchOperation::Mul(args)), .. }) => bench::run(Operation::Mul, &args),
        Command::Bench(Bench { operation: Some(BenchOperation::Sqr(args)), .. }) => bench::run(Operation::Sqr, &args),
        Command::Bench(Bench { operation: None, reproduce }) => reproduce::run(&reproduce),
        Command::Explain { operation: ExplainOperation::Mul(args) } => explain::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Selftest(args) => selftest::run(&args),
    }
}
