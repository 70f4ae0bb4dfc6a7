//! Commands built from several operations.

use std::ffi::OsString;

use clap::{Args as Group, ValueEnum};

use super::{
    ChunkArgs, DeviceArgs, FormatArgs, SummaryArgs,
    values::{any, within},
};
use crate::commands::is_prime::MAX_BASES;

/// Tell for every integer whether it is prime (1) or composite (0)
#[derive(Debug, Group)]
#[command(after_help = "\
The program divides each integer by the primes below 100, and by more primes where that saves time. An integer without
such a factor takes a strong test (Miller-Rabin) to base 2. If it passes, it takes a strong Lucas test: both together are
the test of Baillie, Pomerance, Selfridge and Wagstaff (BPSW). With --bases K it takes strong tests to K - 1 further bases
instead.

The verdict 0 is a proof. The verdict 1 of BPSW is a proof below 2^64, and nobody knows a composite that passes. The
verdict 1 with --bases K is a proof below 3317044064679887385961981 if K is 13 or more. Above, all bases after 2 are
random: a composite gets the verdict 1 with a probability of at most 4^(1-K), 2^-64 for K = 33.

Verdicts in .npy are an array of booleans, of one dimension.

Examples:
  warpmp is-prime candidates.txt -o verdicts.txt
  warpmp is-prime candidates.txt --print primes
  warpmp is-prime candidates.npy --bases 33 --json -o verdicts.npy")]
pub(crate) struct IsPrime {
    /// Integers, of any widths: a file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: OsString,
    /// Make at most K strong tests and no Lucas test; below 3.3e24 the program makes no more than a proof needs
    #[arg(long, value_name = "K", value_parser = within(1, MAX_BASES))]
    pub(crate) bases: Option<u32>,
    /// Seed of the random bases; without it they differ from run to run
    #[arg(long, value_name = "S", value_parser = any)]
    pub(crate) seed: Option<u64>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Print::Flags)]
    pub(crate) print: Print,
    /// Write integers as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    /// Write here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Check about this many verdicts with another library, by another test: BPSW by strong tests to 33 bases, strong
    /// tests by BPSW
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = any)]
    pub(crate) check: u64,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,
}

/// What `is-prime` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Print {
    /// 1 or 0 for each integer
    Flags,
    /// The primes
    Primes,
    /// The integers that are not prime
    Composites,
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
