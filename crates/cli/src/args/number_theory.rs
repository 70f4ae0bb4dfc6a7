//! Commands built from several operations.

use clap::Args as Group;

use super::{
    ChunkArgs, DeviceArgs, FormatArgs, SummaryArgs,
    values::{any, within},
};
use crate::commands::is_prime::MAX_BASES;

/// Say of every integer whether it is prime: 1, or composite: 0
#[derive(Debug, Group)]
#[command(after_help = "\
Trial division by the primes below 100, and by more where that saves time; then Miller-Rabin: a strong test to base 2,
and further bases for what is left. The last line of the summary counts strong tests and says how fast they were.
0 is a proof. So is 1 for integers below 3317044064679887385961981, where the first 13 primes are bases enough. Above,
bases after 2 are random, and a composite is called prime with a probability of at most 4^(1-K), 2^-64 without --bases.

Examples:
  warpmp is-prime candidates.txt -o verdicts.txt
  warpmp is-prime candidates.npy --bases 1 --json -o verdicts.npy")]
pub(crate) struct IsPrime {
    /// Integers, of any widths: a file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Strong tests at most for an integer; below 3.3e24 fewer where they are a proof
    #[arg(long, value_name = "K", default_value_t = 33, value_parser = within(1, MAX_BASES))]
    pub(crate) bases: u32,
    /// Start of the random bases; without this they differ from run to run
    #[arg(long, value_name = "S", value_parser = any)]
    pub(crate) seed: Option<u64>,
    /// Write the verdicts here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Find about this many verdicts again by another test, of Baillie and Wagstaff, on another library
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = any)]
    pub(crate) check: u64,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,
}

/// Find the integers of a file that have a factor in common with another
#[derive(Debug, Group)]
#[command(after_help = "\
Bernstein's product tree, and what the product of the others is modulo each integer. Levels of the tree go to a GPU or
to the processor's cores, wherever they take less time; the summary says where, and how long each stage took. A line of
the result is one of these, with tabs; lines of the file are counted from 1, rows of an array too:

  shared LINE GCD          the gcd of the integer and the product of all different ones
  pair LINE LINE GCD       two integers and their gcd
  duplicate LINE FIRST     the same integer as in the line FIRST; otherwise left out
  zero LINE, one LINE      left out: no modulus

Examples:
  warpmp batch-gcd examples/batch-gcd/moduli.txt
  warpmp batch-gcd moduli.npy -o weak.txt --json")]
pub(crate) struct BatchGcd {
    /// Integers, of any widths: a file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Write the result here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<String>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Find the common factors of about this many integers again, by one product after the other on another library
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = any)]
    pub(crate) check: u64,
    /// Write common factors as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}
