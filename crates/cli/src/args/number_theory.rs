//! Commands built from several operations.

use std::ffi::OsString;

use clap::Args as Group;

use super::{
    ChunkArgs, DeviceArgs, FormatArgs, SummaryArgs,
    values::{any, within},
};
use crate::commands::is_prime::MAX_BASES;

/// Tell for every integer whether it is prime (1) or composite (0)
#[derive(Debug, Group)]
#[command(after_help = "\
The program divides each integer by the primes below 100, and by more primes where that saves time. An integer without
such a factor takes a strong test (Miller-Rabin) to base 2. If it passes, it takes strong tests to further bases. The
summary counts the strong tests and gives their rate.

The verdict 0 is a proof. The verdict 1 is a proof below 3317044064679887385961981, where the first 13 primes suffice as
bases. Above, all bases after 2 are random: a composite gets the verdict 1 with a probability of at most 4^(1-K), which
is 2^-64 without --bases.

Examples:
  warpmp is-prime candidates.txt -o verdicts.txt
  warpmp is-prime candidates.npy --bases 1 --json -o verdicts.npy")]
pub(crate) struct IsPrime {
    /// Integers, of any widths: a file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: OsString,
    /// The most strong tests for an integer; below 3.3e24 the program makes no more than a proof needs
    #[arg(long, value_name = "K", default_value_t = 33, value_parser = within(1, MAX_BASES))]
    pub(crate) bases: u32,
    /// Seed of the random bases; without it they differ from run to run
    #[arg(long, value_name = "S", value_parser = any)]
    pub(crate) seed: Option<u64>,
    /// Write the verdicts here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Check about this many verdicts by another test (Baillie and Wagstaff) with another library
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = any)]
    pub(crate) check: u64,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,
}

/// Find the integers of a file that share a factor with another integer of the file
#[derive(Debug, Group)]
#[command(after_help = "\
The program builds Bernstein's product tree and finds, for each integer, its gcd with the product of all others. Each
level of the tree runs on the GPU or on the processor's cores, wherever it takes less time. The summary gives the time
of each stage. The result has these lines, with tabs between the columns. LINE is a line of the file, or a row of the
array, counted from 1:

  shared LINE GCD          the gcd of this integer and the product of all different ones
  pair LINE LINE GCD       two different integers and their gcd
  duplicate LINE FIRST     this integer stands in line FIRST, too; the program uses the first only
  zero LINE, one LINE      this integer is 0 or 1; the program does not use it

Examples:
  warpmp batch-gcd examples/batch-gcd/moduli.txt
  warpmp batch-gcd moduli.npy -o weak.txt --json")]
pub(crate) struct BatchGcd {
    /// Integers, of any widths: a file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: OsString,
    /// Write the result here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Check the lines of about this many integers, by one product after the other with another library
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = any)]
    pub(crate) check: u64,
    /// Write common factors as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}
