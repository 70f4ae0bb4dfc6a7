//! What may be asked for.

use std::str::FromStr;

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use serde::Serialize;
use warpmp::{Operation, Selector, operation::MUL_MAX_BITS};

use crate::{
    commands::collatz::args::{BenchCollatz, CollatzCommand},
    io::sink::Format,
};
pub(crate) use number_theory::{BatchGcd, IsPrime};
pub(crate) use per_operation::PerOperation;

mod number_theory;
mod per_operation;

/// Bulk big-integer arithmetic on NVIDIA GPUs and CPUs.
#[derive(Debug, Parser)]
#[command(
    name = "warpmp",
    version,
    after_help = "\
Exit codes: 0 done, 1 failed, 2 usage, 130 interrupted.
WARPMP_LOG=debug writes a log to standard error. WARPMP_TUNING=FILE takes this tuning table instead
of your own (see warpmp tune --help), WARPMP_TUNING=none the one that ships with the program."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// More than any memory holds, and few enough to be multiplied by a width in bytes.
const MAX_COUNT: usize = 1 << 40;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Apply(PerOperation<Apply>),
    IsPrime(IsPrime),
    BatchGcd(BatchGcd),
    Gen(Gen),
    Bench(Bench),
    /// Say how an operation would be done, and why, without doing it
    Explain {
        #[command(subcommand)]
        operation: PerOperation<Explain>,
    },
    Tune(Tune),
    /// Collatz: convergence, delays, records and certificates
    Collatz {
        #[command(subcommand)]
        command: CollatzCommand,
    },
    Devices(Devices),
    Selftest(Selftest),
}

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
the simulator. Where there is no GPU, times are the CPU engine's. The papers' tables are

  candar:I, candar:II, candar:III
  dissertation:3.1, dissertation:3.2, dissertation:3.3, dissertation:3.4, dissertation:fig3.5,
  dissertation:4.1, dissertation:4.2, dissertation:4.3, dissertation:4.4, dissertation:4.5,
  dissertation:fig4.2, dissertation:fig4.3, dissertation:fig4.4, dissertation:fig4.5

or shorter where one document has the name: III, 3.4, fig3.5. `list` says what they hold.

Examples:
  warpmp bench --reproduce candar:II --plot candar-II.svg
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
}

/// The engine, for all commands that have one.
#[derive(Debug, Group)]
pub(crate) struct EngineArgs {
    /// Engine: auto (the first usable GPU, else the CPU), cpu, cuda, cuda:I or sim
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) device: DeviceArg,
    /// Algorithm by name; `warpmp explain mul` says which is chosen without this
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Option<String>,
}

/// Options of a command that does an operation with files
#[derive(Debug, Group)]
pub(crate) struct Apply {
    /// Write the results here; the file appears once it is complete. Of several results each has its own -o, or
    /// all go to one text file, in columns
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Vec<String>,
    /// Take every operand as an integer of R bits; without this each is as wide as its digits
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits: Option<usize>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Compute about this many results again with another library; 0: none
    ///
    /// They are spread over the input; of standard input, whose length is not known, it is as many a chunk.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) check: u64,
    /// Compare every result with the integers in this file, and fail at the first that differs; of several
    /// results the first, or each with its own --expect
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Vec<String>,
    /// Write text as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    /// Format of the output; without this what -o ends in, else text
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// Print the summary as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No summary, no progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Bytes of input in a chunk
    #[arg(long, hide = true, default_value_t = 32 << 20, value_parser = positive)]
    pub(crate) chunk_bytes: usize,
}

/// Write operands for tests and measurements
#[derive(Debug, Group)]
#[command(after_help = "\
The same options give the same file, on every machine; a longer file starts with the shorter one.

Examples:
  warpmp gen --bits 1024 --count 1000000 -o a.txt
  warpmp gen --bits 4096 --count 65536 --pattern carry --seed 7 -o a.npy")]
pub(crate) struct Gen {
    /// Every integer is below 2^R
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits: usize,
    /// How many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    /// Start of the pseudo-random sequence
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Kind of integers
    #[arg(long, value_enum, default_value_t = Pattern::Random)]
    pub(crate) pattern: Pattern,
    /// Write here; text on standard output without this
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Write text as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    /// Format of the output; without this what -o ends in, else text
    #[arg(long)]
    pub(crate) format: Option<Format>,
    /// No progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Kinds of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pattern {
    /// Uniform below 2^R
    Random,
    /// 2^R − 1: every bit set
    Ones,
    /// Limbs that make carries run: zero, all ones, 2^31 and random ones
    Carry,
    /// One to four bits set
    Sparse,
    /// 2^(R−1) + 1: multiplied by all ones, as `bench` does, a carry runs through the whole upper half
    Ripple,
}

/// Rows of a benchmark
#[derive(Debug, Group)]
#[command(after_help = "\
A sample of every row's results is checked by another library before anything is timed. On a GPU,
operands and results are in device memory. Bytes are those of operands and results, each once.

Examples:
  warpmp bench mul --bits 128,256,512,1024,2048
  warpmp bench mul --bits 1024 --count 100000 --algorithm sum-rotate --device cuda --json
  warpmp bench mul --bits 1024 --algorithm sum-rotate,group --pattern random,ones,carry")]
pub(crate) struct BenchRows {
    /// Bits of every operand
    #[arg(long, value_name = "R", value_delimiter = ',', required = true, value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Lanes; without this 1 GiB an operand on a GPU, 64 MiB on the CPU
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = positive)]
    pub(crate) count: Vec<usize>,
    /// Algorithms by name; without this the one that is chosen for the width
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) algorithm: Vec<String>,
    /// Kinds of operands; all ones and carry are the worst cases of algorithms that chase carries
    #[arg(long, value_enum, value_delimiter = ',', default_value = "random")]
    pub(crate) pattern: Vec<Pattern>,
    /// Engine: auto (the first usable GPU, else the CPU), cpu, cuda, cuda:I or sim
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) device: DeviceArg,
    /// Timed runs of each row
    #[arg(long, default_value_t = 20, value_parser = positive)]
    pub(crate) runs: usize,
    /// Print one JSON object with all rows
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the rows here as CSV, too
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<String>,
    /// Draw the time a lane against the width here, a line for each algorithm
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<String>,
    /// No progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// The tables of the papers.
#[derive(Debug, Group)]
pub(crate) struct Reproduce {
    /// Reproduce these tables of the papers; all: every one; list: say which there are
    #[arg(long = "reproduce", value_name = "TABLE", value_delimiter = ',', required = true)]
    pub(crate) tables: Vec<String>,
    /// Engine: auto (the first usable GPU, else the CPU), cpu, cuda or cuda:I
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) device: DeviceArg,
    /// Products, or numbers of the Collatz tables, instead of as many as in the paper
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) count: Option<usize>,
    /// Timed runs of each row; on the CPU fewer where they take long
    #[arg(long, default_value_t = 10, value_parser = positive)]
    pub(crate) runs: usize,
    /// Print one JSON object with all tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the rows here as CSV, too
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<String>,
    /// Draw a chart here, too; of several tables each has its name added: FILE-candar-II.svg
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<String>,
    /// No progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What is to be explained
#[derive(Debug, Group)]
pub(crate) struct Explain {
    /// Bits of the first operand, and of the others if nothing else is said
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits: usize,
    /// Bits of the second operand
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits_b: Option<usize>,
    /// Bits of the third operand
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits_c: Option<usize>,
    /// Lanes
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Measure every algorithm on this GPU, and keep what is fastest where
#[derive(Debug, Group)]
#[command(after_help = "\
Every algorithm is measured with the settings that may matter, over sizes and batch counts; a sample of
its results is checked first. The table goes to your configuration directory, as
$XDG_CONFIG_HOME/warpmp/tuning/sm_NN.json (~/.config without that variable), a picture beside it. From
then on every command uses it on GPUs of this architecture; explain names the row that decides. The table
before is kept as sm_NN.json.bak. Ctrl-C changes nothing. Leave the GPU alone meanwhile.

Examples:
  warpmp tune                             about five minutes
  warpmp tune --quick --operation mul     about half a minute
  warpmp tune --output mine.json          WARPMP_TUNING=mine.json uses it")]
pub(crate) struct Tune {
    /// The GPU: cuda (the first usable one), cuda:I
    #[arg(long, value_name = "ENGINE", default_value = "cuda")]
    pub(crate) device: DeviceArg,
    /// Operations; without this all
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = operation)]
    pub(crate) operation: Vec<Operation>,
    /// Fewer sizes and batch counts, in about a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Bits of the operands, instead of the usual sizes; between them the nearest decides
    #[arg(long, value_name = "R", value_delimiter = ',', value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Write the table here instead of to the configuration directory
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Draw the picture here; without this beside the table
    ///
    /// Of several operations each has its name added: FILE-mul.svg.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<String>,
    /// Write every measurement here
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<String>,
    /// Only say what would be measured, and where the table would be
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Compile this part of the kernels, and measure nothing: what `tune` starts further processes for
    #[arg(long, hide = true, value_name = "I/N")]
    pub(crate) compile: Option<Part>,
    /// No progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Every `of`-th of some things, the first being that of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) number: usize,
    pub(crate) of: usize,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if number < of => Ok(Self { number, of }),
            _ => Err("I/N with I below N is needed".into()),
        }
    }
}

/// List every engine with its capabilities
#[derive(Debug, Group)]
pub(crate) struct Devices {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run known answers through every algorithm of an engine
#[derive(Debug, Group)]
pub(crate) struct Selftest {
    /// Engine: auto (the first usable GPU, else the CPU), cpu, cuda, cuda:I or sim
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) device: DeviceArg,
}

/// An engine by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceArg(pub(crate) Selector);

impl FromStr for DeviceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let selector = match text {
            "auto" => Selector::Auto,
            "cpu" => Selector::Cpu,
            "sim" => Selector::Sim,
            "cuda" => Selector::Cuda(None),
            _ => match text.strip_prefix("cuda:").map(str::parse) {
                Some(Ok(ordinal)) => Selector::Cuda(Some(ordinal)),
                _ => return Err("there are auto, cpu, cuda, cuda:0, cuda:1, … and sim".into()),
            },
        };
        Ok(Self(selector))
    }
}

fn bits(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bits @ 1..=MUL_MAX_BITS) => Ok(bits),
        _ => Err(format!("a number from 1 to {MUL_MAX_BITS} is needed")),
    }
}

fn operation(text: &str) -> Result<Operation, String> {
    let names = || Operation::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
    Operation::named(text).ok_or_else(|| format!("there are {}", names()))
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=MAX_COUNT) => Ok(number),
        _ => Err(format!("a number from 1 to {MAX_COUNT} is needed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }

    #[test]
    fn engines_by_name() {
        let device = |text: &str| text.parse::<DeviceArg>().map(|device| device.0);
        assert_eq!(device("cuda:3"), Ok(Selector::Cuda(Some(3))));
        assert_eq!(device("cuda"), Ok(Selector::Cuda(None)));
        for wrong in ["gpu", "cuda:", "cuda:x", "cuda:-1", "CPU"] {
            assert!(device(wrong).is_err(), "{wrong}");
        }
    }
}
