//! Commands built from several operations.

use std::ffi::OsString;

use clap::{Args as Group, ValueEnum};
use num_bigint::BigUint;

use super::{
    ChunkArgs, DeviceArgs, FormatArgs, SummaryArgs,
    values::{any, integer, within},
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

/// Find the integers, or RSA keys, that share a factor with another one
#[derive(Debug, Group)]
#[command(after_help = "\
The program builds Bernstein's product tree and finds, for each integer, its gcd with the product of all others. Each
level of the tree runs on the GPU or on the processor's cores, wherever it takes less time. The summary gives the time
of each stage. The result has these lines, with tabs between the columns:

  shared LABEL P Q         P is the gcd of this integer and the product of all different ones, and Q the integer over P
  pair LABEL LABEL P       two different integers and their gcd
  duplicate LABEL FIRST    this integer is FIRST's, too; the program uses the first only
  zero LABEL, one LABEL    this integer is 0 or 1; the program does not use it

A file holds integers; or RSA keys: PEM (public keys, certificates, requests), DER, OpenSSH's public keys and authorized_keys,
lines Modulus=...; or with --column a table (CSV). A label is the line of the only file, FILE:LINE of several, FILE of a key
that is alone in its file, FILE#NUMBER of the keys in a PEM file. Keys that are not RSA are named on standard error.

--json prints one object. It has the findings, too; without -o it comes instead of the lines.

Examples:
  warpmp batch-gcd examples/batch-gcd/moduli.txt
  warpmp batch-gcd moduli.npy -o weak.txt --json
  warpmp batch-gcd --no-pairs certificates/*.pem hosts/*.pub
  warpmp batch-gcd --column modulus --label host scan.csv.gz")]
pub(crate) struct BatchGcd {
    /// Integers, of any widths, or keys: files, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<OsString>,
    /// The files are tables (CSV) with a line of names; their integers are in the column of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// The column with the labels
    #[arg(long, value_name = "NAME", requires = "column")]
    pub(crate) label: Option<String>,
    /// Leave out the pairs, whose number may be as large as the square of the number of integers with a common factor
    #[arg(long)]
    pub(crate) no_pairs: bool,
    /// Leave out common factors below N
    #[arg(long, value_name = "N", value_parser = integer)]
    pub(crate) min_factor: Option<BigUint>,
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
