//! The options of `warpmp collatz`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args as Group, Subcommand, ValueEnum};
use dashu_int::UBig;
use warpmp_collatz::expression;

use super::{
    CollatzFailure,
    range::{CampaignRange, Number, RangeArgs},
};
use crate::{
    args::{
        DeviceArgs, ObjectArgs, ProgressArgs, SharingArgs, SummaryArgs,
        values::{any, plot_parser, share, sieve_modulus, small, within},
    },
    error::Error,
};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum CollatzCommand {
    Verify(Verify),
    Status(Status),
    Check(Check),
    Delay(Delay),
    Records(Records),
    Trace(Trace),
}

/// A number of any length that a trajectory can start from.
fn long(text: &str) -> Result<UBig, String> {
    expression::integer(text, 1 << 24).map_err(|error| error.to_string())
}

/// The tables of the schemes.
#[derive(Debug, Default, Group)]
pub(crate) struct TablesArgs {
    /// honda: base bits of table S; alpha: bits of the sieve; 32 without this
    #[arg(long, value_name = "K", value_parser = small)]
    sieve_bits: Option<u32>,
    /// honda: base bits of tables B and C; 12 without this
    #[arg(long, value_name = "D", value_parser = small)]
    base_bits: Option<u32>,
    /// honda: folder in which table S is kept; `WARPMP_CACHE` or the user's cache folder without this
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

impl TablesArgs {
    /// Bits of table S, or of the sieve.
    pub(crate) fn sieve_bits(&self) -> u32 {
        self.sieve_bits.unwrap_or(32)
    }

    /// Base bits of tables B and C.
    pub(crate) fn base_bits(&self) -> u32 {
        self.base_bits.unwrap_or(12)
    }

    /// Refuses bits that the scheme called `scheme` does not have.
    ///
    /// # Errors
    /// [`CollatzFailure::OtherScheme`].
    pub(crate) fn check(&self, scheme: &str, has_sieve: bool, has_bases: bool) -> Result<(), Error> {
        refuse("--sieve-bits", self.sieve_bits.filter(|_| !has_sieve), scheme)?;
        refuse("--base-bits", self.base_bits.filter(|_| !has_bases), scheme)
    }
}

fn refuse(option: &'static str, value: Option<u32>, scheme: &str) -> Result<(), Error> {
    value.map_or(Ok(()), |_| Err(CollatzFailure::OtherScheme { option, scheme: scheme.into() }.into()))
}

impl Verify {
    /// Refuses options that belong to other schemes, since they would have no effect.
    ///
    /// # Errors
    /// [`CollatzFailure::OtherScheme`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (name, is_dfs, has_bases) = match (self.checksum, self.scheme) {
            (Some(Checksum::Alpha), _) => ("--checksum alpha", false, false),
            (None, Some(SchemeName::Honda)) => ("--scheme honda", false, true),
            (None, Some(SchemeName::Dfs) | None) => ("--scheme dfs", true, false),
        };
        refuse("--leaf-bits", self.leaf_bits.filter(|_| !is_dfs), name)?;
        refuse("--lookahead-bits", self.lookahead_bits.filter(|_| !is_dfs), name)?;
        self.tables.check(name, !is_dfs, has_bases)
    }
}

/// How convergence is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeName {
    /// Depth-first sieve with look-ahead
    Dfs,
    /// The dissertation's: table S and jumps by tables B and C
    Honda,
}

/// Checksums that other programs publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Checksum {
    /// The sum of all ctz(n+1) under the sieve of rules 1 and 2
    Alpha,
}

/// Verify that every start of a range comes below itself
#[derive(Debug, Group)]
#[command(after_help = "\
Numbers are expressions: 2^64-2^40, 3*2^20+1, 1_000_000. Starts are below 2^127.

With --output, every window leaves a certificate in DIR. After Ctrl-C, kill -9 or a power cut
`warpmp resume DIR` goes on, as the same command does. A longer range that contains the range of the
campaign extends the campaign: all certificates stay, and the new part has windows and a plan of its
own. One process at a time works in a directory, or any number on any hosts, each with --shared. The command names files that do not count, and never
deletes them. It moves broken certificates aside (NAME.aside), and does their windows again. A
certificate in good order of another program version, rule set or campaign stops the command; with
--redo it is moved aside, too. Other files are left alone. If DIR/campaign.json is lost or broken, the
command writes it again, if all certificates belong to the given range.

Examples:
  warpmp collatz verify --from 2^40 --to 2^41
  warpmp collatz verify --from 2^64-2^50 --to 2^64 -o campaign
  warpmp collatz verify --to 2^64+2^50 -o campaign
  warpmp collatz verify --from 98999215*2^40 --count 2^40 --checksum alpha --sieve-bits 24 --sieve-mod 9")]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) range: CampaignRange,
    /// Directory of the certificates; without this no certificate is written
    #[arg(short, long, alias = "out", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Scheme; without this the scheme of the campaign in --output, and dfs for a new one
    #[arg(long, value_enum)]
    pub(crate) scheme: Option<SchemeName>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Starts of a window; without this as many as take the engine some seconds
    #[arg(long, value_name = "W")]
    pub(crate) window: Option<Number>,
    /// dfs: depth of the leaves
    #[arg(long, value_name = "L", value_parser = small)]
    pub(crate) leaf_bits: Option<u32>,
    /// dfs: steps of the look-ahead for the main classes
    #[arg(long, value_name = "S", value_parser = small)]
    pub(crate) lookahead_bits: Option<u32>,
    #[command(flatten)]
    pub(crate) tables: TablesArgs,
    /// Run the published scheme instead, and print its sum of ctz(n+1) and the start with the highest value
    #[arg(long, value_enum, conflicts_with = "scheme")]
    pub(crate) checksum: Option<Checksum>,
    /// With --checksum alpha: modulus of the sieve, 1, 3 or 9
    #[arg(long, value_name = "Q", default_value_t = 1, requires = "checksum", value_parser = sieve_modulus)]
    pub(crate) sieve_mod: u32,
    /// Move all certificates aside that are not trusted, also those in good order, and do their windows again
    #[arg(long, requires = "output", conflicts_with = "shared")]
    pub(crate) redo: bool,
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}

/// Say which starts the certificates of a directory cover, and which are missing
#[derive(Debug, Group)]
#[command(after_help = "\
The exit code is 0 even if starts are missing: a campaign under way is no error. With --complete it is 1
unless every start of the range has a certificate. The JSON object always has `complete`.

Examples:
  warpmp collatz status campaign --complete
  warpmp collatz status campaign --plot campaign.svg")]
pub(crate) struct Status {
    /// Directory of a campaign
    pub(crate) folder: PathBuf,
    /// Exit with 1 if a part of the range has no certificate
    #[arg(long)]
    pub(crate) complete: bool,
    /// Draw the covered starts and the windows' rates into this file
    #[arg(long, value_name = "FILE.svg", value_parser = plot_parser())]
    pub(crate) plot: Option<OsString>,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// Recompute certificates by an independent path
#[derive(Debug, Group)]
#[command(after_help = "\
The independent path shares no code with the engines and is some hundred times slower: a window of
2^40 takes a core some ten minutes. With --sample P a share P of the certificates, chosen at random,
is recomputed whole; of all others only the samples that they name are recomputed. The exit code is 1
if a certificate is wrong or not readable, with --complete also if a part of the range has none.

Examples:
  warpmp collatz check campaign
  warpmp collatz check campaign --sample 0.01 --complete")]
pub(crate) struct Check {
    /// Directory of a campaign
    pub(crate) folder: PathBuf,
    /// Exit with 1 if a part of the range has no certificate, too
    #[arg(long)]
    pub(crate) complete: bool,
    /// Share of the certificates that are recomputed whole, from 0 to 1
    #[arg(long, value_name = "P", value_parser = share)]
    pub(crate) sample: Option<f64>,
    /// Seed of the random choice; the same seed makes the same choice
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = any)]
    pub(crate) seed: u64,
    /// Print the result as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// Count the steps down to 1 of every start of a range
#[derive(Debug, Group)]
#[command(after_help = "\
The delay of n is the number of steps down to 1; 3n+1 is a step, and n/2 is a step. Output is CSV
(n,delay), or an .npy array of uint32 with a delay a row.

Examples:
  warpmp collatz delay --from 1 --to 2^20 -o delays.npy
  warpmp collatz delay --from 2^64 --count 2^24 --max")]
pub(crate) struct Delay {
    #[command(flatten)]
    pub(crate) range: RangeArgs,
    /// Write here, CSV or .npy by the name; CSV on standard output without this
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<OsString>,
    /// Print only the first start with the longest delay
    #[arg(long, conflicts_with = "output")]
    pub(crate) max: bool,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// With --max: print one JSON object
    #[arg(long, requires = "max")]
    pub(crate) json: bool,
    /// No summary, no progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Longest delay so far
    Delay,
    /// Highest value so far
    Path,
}

/// Search for records, and compare them with the known ones
#[derive(Debug, Group)]
#[command(after_help = "\
3n+1 is a step, and n/2 is a step; values are the values after each step. Proved rules skip starts that
cannot be records. GPUs search from 2^24 (delay) or 2^32 (path) on, the CPU below. Records go to
standard output, or to the file of --output.

Examples:
  warpmp collatz records --kind delay --below 2^45 --device cuda
  warpmp collatz records --kind path --below 2^48 --device cuda
  warpmp collatz records --kind delay --below 2^33
  warpmp collatz records --kind path --below 2^36 -o path.csv")]
pub(crate) struct Records {
    /// Kind of records
    #[arg(long, value_enum)]
    pub(crate) kind: Kind,
    /// All starts below this
    #[arg(long, value_name = "N")]
    pub(crate) below: Number,
    /// Write the records into this file, as CSV, and not to standard output
    #[arg(short, long, alias = "out", value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// Follow one start down to 1
#[derive(Debug, Group)]
#[command(after_help = "\
3n+1 is a step, and n/2 is a step. The delay is the number of steps down to 1. The glide is the number
of steps until the value is below the start.

Examples:
  warpmp collatz trace 27
  warpmp collatz trace 2^64-1 --plot trace.svg")]
pub(crate) struct Trace {
    /// The start, of up to 2^24 bits; the time grows with the square of its length
    #[arg(value_parser = long)]
    pub(crate) start: UBig,
    /// Print the value after every step, one a line, before the figures
    #[arg(long)]
    pub(crate) values: bool,
    /// Draw the values against the steps into this file
    #[arg(long, value_name = "FILE.svg", value_parser = plot_parser())]
    pub(crate) plot: Option<OsString>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "values")]
    pub(crate) json: bool,
}

/// Collatz: numbers a second for a scheme and a range
#[derive(Debug, Group)]
#[command(after_help = "\
Before the timed runs the command makes the tables, and the independent path recomputes a sample of the
range. Sieved starts count as verified, as in every published rate. The range is one window, and each
GPU has a share of it. The records of the range must be the known ones, and making their tables is part
of the time. The CPU searches records from 1 on.

Examples:
  warpmp bench collatz --from 2^64-2^40 --count 2^40 --device cpu
  warpmp bench collatz --from 2^71 --count 2^44 --device cuda
  warpmp bench collatz --operation honda --sieve-bits 37 --base-bits 18 --from 2^63 --count 2^46
  warpmp bench collatz --operation alpha --sieve-bits 24 --sieve-mod 9 --from 98999215*2^40 --count 2^40
  warpmp bench collatz --operation delay --from 2^63 --count 2^26
  warpmp bench collatz --operation delay-records --from 2^50 --count 2^42 --device cuda
  warpmp bench collatz --operation path-records --from 2^50 --count 2^50 --device cuda")]
pub(crate) struct BenchCollatz {
    /// Operation to measure
    #[arg(long, value_enum, default_value_t = Operation::Dfs)]
    pub(crate) operation: Operation,
    /// First start
    #[arg(long, value_name = "N", default_value = "2^64-2^36")]
    pub(crate) from: Number,
    /// End of the range: every start from --from on and below M
    #[arg(long, value_name = "M", conflicts_with = "count")]
    pub(crate) to: Option<Number>,
    /// How many starts, in place of --to [default: 2^36]
    #[arg(long, value_name = "K")]
    pub(crate) count: Option<Number>,
    #[command(flatten)]
    pub(crate) tables: TablesArgs,
    /// alpha: modulus of the sieve, 1, 3 or 9
    #[arg(long, value_name = "Q", default_value_t = 1, value_parser = sieve_modulus)]
    pub(crate) sieve_mod: u32,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Timed runs
    #[arg(long, default_value_t = 3, value_parser = within(1_u32, 1000))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// The operations that `bench collatz` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// Convergence by the default scheme
    Dfs,
    /// Convergence by the dissertation's scheme
    Honda,
    /// The published checksum
    Alpha,
    /// Delays, all of them stored: on GPUs in their memory
    Delay,
    /// The search for delay records
    DelayRecords,
    /// The search for path records
    PathRecords,
}

impl Operation {
    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
