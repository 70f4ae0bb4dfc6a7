//! Options of the commands that measure: `bench`, `tune`.

use std::ffi::OsString;

use clap::{Args as Group, Subcommand};
use warpmp::{Operation, Selector};
use warpmp_campaign::Part;

use super::{
    BenchEcm, DeviceArgs, Pattern, PerOperation, ProgressArgs,
    values::{bits, operation, plot_parser, positive, selector},
};
use crate::commands::{collatz::args::BenchCollatz, ecdlp::args::BenchEcdlp};

/// Measure an operation, or reproduce the tables of the papers
#[derive(Debug, Group)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    subcommand_value_name = "OPERATION",
    after_help = "\
--reproduce runs a table's own workload: its sizes and counts, means of ten runs, operands and products in
device memory. A row holds the paper's figure, ours by the same method, and ours by what is chosen
without a name. A sample of the products is checked first. Tables of operation counts are counted on
the simulator. Where there is no GPU, times are the CPU engine's. Forms of an operation are kernels of
their own, over grids and blocks; without a GPU their instructions are counted. The papers' tables are

  candar:I, candar:II, candar:III
  dissertation:3.1, dissertation:3.2, dissertation:3.3, dissertation:3.4, dissertation:fig3.5,
  dissertation:4.1, dissertation:4.2, dissertation:4.3, dissertation:4.4, dissertation:4.5,
  dissertation:fig4.2, dissertation:fig4.3, dissertation:fig4.4, dissertation:fig4.5
  epfl:2.4, epfl:3.4, epfl:fig3.5, epfl:fig3.6, epfl:fig4.1, epfl:fig4.2, epfl:fig4.3

or, but for epfl, shorter: III, 3.4, fig3.5. A document's name is all of its tables: epfl. `list` says what
they hold.

Examples:
  warpmp bench --reproduce candar:II --plot candar-II.svg
  warpmp bench --reproduce epfl --csv epfl.csv --plot .svg
  warpmp bench --reproduce all --csv tables.csv --plot tables.svg
  warpmp bench mul --bits 128,256,512,1024,2048"
)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) operation: Option<BenchOperation>,
    #[command(flatten)]
    pub(crate) reproduce: Reproduce,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchOperation {
    #[command(flatten)]
    Rows(PerOperation<BenchRows>),
    Collatz(BenchCollatz),
    Ecdlp(BenchEcdlp),
    Ecm(BenchEcm),
}

/// Rows of a benchmark
#[derive(Debug, Group)]
#[command(after_help = "\
A sample of every row's results is checked by another library before anything is timed. On a GPU,
operands and results are in device memory. Bytes are those of operands and results, each once.

Examples:
  warpmp bench mul --bits 128,256,512,1024,2048
  warpmp bench mul --bits 1024 --count 100000 --algorithm sum-rotate --device cuda --json
  warpmp bench mul --bits 1024 --algorithm sum-rotate,group --pattern random,ones,carry
  warpmp bench div-rem --bits 4096,16384 --first-ratio 2      quotients of 2R by R bits")]
pub(crate) struct BenchRows {
    /// Bits of every operand
    #[arg(long, value_name = "R", value_delimiter = ',', required = true, value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// The first operand has N times as many bits: a dividend, a longer factor
    #[arg(long, value_name = "N", value_parser = bits)]
    pub(crate) first_ratio: Option<usize>,
    /// Lanes; without this 1 GiB an operand on a GPU, 64 MiB on the CPU, and of powers as many as take a second or two
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = positive)]
    pub(crate) count: Vec<usize>,
    /// Algorithms by name; without this the one that is chosen for the width
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) algorithm: Vec<String>,
    /// Kinds of operands; all ones and carry are the worst cases of algorithms that chase carries
    #[arg(long, value_enum, value_delimiter = ',', default_value = "random")]
    pub(crate) pattern: Vec<Pattern>,
    /// One last operand for all lanes: a factor, a divisor, an exponent or a modulus
    #[arg(long)]
    pub(crate) common: bool,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Timed runs of each row
    #[arg(long, default_value_t = 20, value_parser = positive)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) report: RowReport,
    /// Draw the time a lane against the width here, a line for each algorithm
    #[arg(long, value_name = "FILE.svg", value_parser = plot_parser())]
    pub(crate) plot: Option<OsString>,
}

/// How rows that were measured are reported.
#[derive(Debug, Group)]
pub(crate) struct RowReport {
    /// Print one JSON object with all rows
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the rows here as CSV, too
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<OsString>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// The tables of the papers.
#[derive(Debug, Group)]
pub(crate) struct Reproduce {
    /// Reproduce these tables of the papers; a document's name: its tables; all: every one; list: say which there are
    #[arg(long = "reproduce", value_name = "TABLE", value_delimiter = ',', required = true)]
    pub(crate) tables: Vec<String>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Products, or numbers of the Collatz tables, instead of as many as in the paper; of forms over grids and blocks
    /// the most in a launch
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) count: Option<usize>,
    /// Timed runs of each row; on the CPU fewer where they take long
    #[arg(long, default_value_t = 10, value_parser = positive)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) report: RowReport,
    /// Draw a chart here, too; of several tables each has its name added: FILE-candar-II.svg
    #[arg(long, value_name = "FILE.svg", value_parser = plot_parser())]
    pub(crate) plot: Option<OsString>,
}

/// Measure every algorithm on this GPU, and keep what is fastest where
#[derive(Debug, Group)]
#[command(after_help = "\
Every algorithm is measured with the settings that may matter, over sizes and batch counts; a sample of
its results is checked first. Operations that are not measured keep the rows they have. The table goes to
your configuration directory, as $XDG_CONFIG_HOME/warpmp/tuning/sm_NN.json (~/.config without that variable), a picture beside it. From
then on every command uses it on GPUs of this architecture; explain names the row that decides. The table
before is kept as sm_NN.json.bak. Ctrl-C changes nothing. Leave the GPU alone meanwhile.

Examples:
  warpmp tune                             some five minutes
  warpmp tune --quick --operation mul     about half a minute
  warpmp tune --operation div-rem,gcd     these alone
  warpmp tune --output mine.json          WARPMP_TUNING=mine.json uses it")]
pub(crate) struct Tune {
    /// The GPU: cuda (the first usable one), cuda:I
    #[arg(long, value_name = "ENGINE", default_value = "cuda", value_parser = selector)]
    pub(crate) device: Selector,
    /// Operations; without this one of every kind, whose rows serve those of its kind
    #[arg(long, visible_alias = "operations", value_name = "NAME", value_delimiter = ',', value_parser = operation)]
    pub(crate) operation: Vec<Operation>,
    /// Fewer sizes and batch counts, in about a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Bits of the operands, instead of the usual sizes; between them the nearest decides
    #[arg(long, value_name = "R", value_delimiter = ',', value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Write the table here instead of to the configuration directory
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<OsString>,
    /// Draw the picture here; without this beside the table
    ///
    /// Of several operations each has its name added: FILE-mul.svg.
    #[arg(long, value_name = "FILE.svg", value_parser = plot_parser())]
    pub(crate) plot: Option<OsString>,
    /// Write every measurement here
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<OsString>,
    /// Only say what would be measured, and where the table would be
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Compile this part of the kernels, and measure nothing: what `tune` starts further processes for
    #[arg(long, hide = true, value_name = "I/N")]
    pub(crate) compile: Option<Part>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}
