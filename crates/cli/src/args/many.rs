//! Commands built from several operations, for a whole file or for each of its integers.

use std::ffi::OsString;

use clap::Args as Group;

use super::{ChunkArgs, DeviceArgs, FormatArgs, SummaryArgs, values::any};

/// Options of a command that makes one number from all integers
#[derive(Debug, Group)]
#[command(after_help = "\
The integers are folded by a tree. Sums and products take negative integers.

Examples:
  warpmp product primes.txt -o primorial.txt
  seq 1 1000 | warpmp sum -
  warpmp gcd-all a.txt b.txt.gz")]
pub(crate) struct Whole {
    /// Integers, of any widths: files, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<OsString>,
    /// Write the number here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Write hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,
}

/// Find the least prime above each integer
#[derive(Debug, Group)]
#[command(after_help = "\
The program sieves the numbers after each integer by small primes, and tests what is left of all integers together, by the
test of Baillie, Pomerance, Selfridge and Wagstaff (see warpmp is-prime --help).

Examples:
  warpmp next-prime 2^512
  warpmp next-prime starts.txt -o primes.txt")]
pub(crate) struct NextPrime {
    /// Integers, of any widths: a file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: OsString,
    /// Write the primes here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Write text as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,
}

/// a^e, all bits
#[derive(Debug, Group)]
#[command(after_help = "\
A power has at most 131072 bits. pow-mod has powers modulo a number.

Examples:
  warpmp pow a.txt 3
  warpmp pow 10 exponents.txt -o powers.txt")]
pub(crate) struct Power {
    /// Bases: a file, a number, or - for standard input
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(crate) base: OsString,
    /// Exponents: as many as there are bases, or a single one
    #[arg(value_name = "E")]
    pub(crate) exponent: OsString,
    /// Write the powers here; the file appears once it is complete
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Compute as many results of each chunk again with another library; 0: none
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = any)]
    pub(crate) check: u64,
    /// Write text as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
    #[command(flatten)]
    pub(crate) chunk: ChunkArgs,
}
