//! What may be asked for.

use std::str::FromStr;

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use serde::Serialize;
use warpmp::{Operation, Selector, operation::MUL_MAX_BITS};

use crate::{commands::collatz::args::CollatzCommand, io::sink::Format};
pub(crate) use measuring::{Bench, BenchOperation, BenchRows, Part, Reproduce, Tune};
pub(crate) use number_theory::{BatchGcd, IsPrime};
pub(crate) use per_operation::PerOperation;

mod measuring;
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
    /// Take every operand as an integer of R bits (redc: R of the modulus, and t below m·2^(32·⌈R/32⌉)); without this
    /// each is as wide as its digits
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits: Option<usize>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Compute about this many results again with another library; 0: none
    ///
    /// They are spread over the input; of standard input, whose length is not known, it is as many a chunk.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) check: u64,
    /// Compare every result with this file, which is as -o writes it, and fail at the first that differs
    ///
    /// A file of several columns has all results, one of a single column the first; or each result has its own --expect.
    /// - is standard input, if no operand is.
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
