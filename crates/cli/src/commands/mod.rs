//! One file a subcommand.

pub(crate) mod apply;
pub(crate) mod as_ecm;
pub(crate) mod batch_gcd;
mod bench;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod collatz;
mod devices;
pub(crate) mod ecdlp;
pub(crate) mod expect;
mod explain;
pub(crate) mod factor;
mod generate;
pub(crate) mod is_prime;
mod next_prime;
pub(crate) mod pattern;
pub(crate) mod pow;
pub(crate) mod reproduce;
mod results;
pub(crate) mod resume;
pub(crate) mod selftest;
mod shell;
pub(crate) mod tune;
mod whole;

use std::path::Path;

use warpmp_campaign::Restored;
use warpmp_numtheory::fold::Fold;

use crate::{
    args::{Bench, BenchOperation, Command, Explained},
    console,
    error::Result,
};

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Apply(args) => apply::run(&args),
        Command::IsPrime(args) => is_prime::run(&args),
        Command::Pow(args) => pow::run(&args),
        Command::Sum(args) => whole::run(Fold::Sum, "sum", &args),
        Command::Product(args) => whole::run(Fold::Product, "product", &args),
        Command::GcdAll(args) => whole::run(Fold::Gcd, "gcd-all", &args),
        Command::LcmAll(args) => whole::run(Fold::Lcm, "lcm-all", &args),
        Command::NextPrime(args) => next_prime::run(&args),
        Command::BatchGcd(args) => batch_gcd::run(&args),
        Command::Factor(args) => factor::whole::run(&args),
        Command::AsEcm(args) => as_ecm::run(&args.words),
        Command::Ecm(args) => factor::ecm(&args),
        Command::Pm1(args) => factor::pm1(&args),
        Command::Pp1(args) => factor::pp1(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Bench(Bench { operation: Some(BenchOperation::Rows(args)), .. }) => {
            bench::run(args.operation, &args.options)
        }
        Command::Bench(Bench { operation: Some(BenchOperation::Collatz(args)), .. }) => collatz::bench::run(&args),
        Command::Bench(Bench { operation: None, reproduce }) => reproduce::run(&reproduce),
        Command::Bench(Bench { operation: Some(BenchOperation::Ecdlp(args)), .. }) => ecdlp::bench::run(&args),
        Command::Bench(Bench { operation: Some(BenchOperation::Ecm(args)), .. }) => factor::bench::run(&args),
        Command::Collatz { command } => collatz::run(&command),
        Command::Ecdlp { command } => ecdlp::run(&command),
        Command::Explain { operation: Explained::Operation(asked) } => explain::run(asked.operation, &asked.options),
        Command::Explain { operation: Explained::Ecm(args) } => factor::explain::run(&args),
        Command::Explain { operation: Explained::IsPrime(args) } => explain::many::is_prime(&args),
        Command::Explain { operation: Explained::BatchGcd(args) } => explain::many::batch_gcd(&args),
        Command::Explain { operation: Explained::Collatz(args) } => collatz::verify::explain(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Campaign { command } => campaign::run(&command),
        Command::Resume(args) => resume::run(&args),
        Command::Status(args) => resume::status(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}

/// Tells of the process that left the directory of a campaign, and of a specification that was written again.
fn note_opened(folder: &Path, stale: Option<&str>, restored: Option<&Restored>, quiet: bool) {
    let folder = folder.display();
    if let (Some(holder), false) = (stale, quiet) {
        console::note(&format!("note: {folder} was left by {holder}, which has ended; going on from its certificates"));
    }
    if let Some(restored) = restored {
        console::note(&format!("note: {folder}/campaign.json {restored}"));
    }
}
