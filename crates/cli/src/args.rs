//! What may be asked for.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Serialize;
use warpmp::Operation;

use crate::commands::{
    campaign::args::CampaignCommand,
    collatz::args::{CollatzCommand, Verify},
    ecdlp::args::EcdlpCommand,
};
pub(crate) use error::ArgsError;
pub(crate) use factors::{AsEcm, BenchEcm, Ecm, ExplainEcm, Factor, FactorArgs, Pm1, Pp1};
pub(crate) use many::{NextPrime, Power, Whole};
pub(crate) use measuring::{Bench, BenchOperation, BenchRows, Reproduce, Tune};
pub(crate) use number_theory::{BatchGcd, IsPrime, Print};
pub(crate) use overview::command;
pub(crate) use per_operation::PerOperation;
pub(crate) use shared::{
    ChunkArgs, DeviceArgs, EngineArgs, FormatArgs, ObjectArgs, ProgressArgs, SharingArgs, SummaryArgs,
};
use values::{any, bits, operation, positive, within};

mod error;
mod factors;
mod many;
mod measuring;
mod number_theory;
mod overview;
mod per_operation;
mod shared;
pub(crate) mod suggest;
pub(crate) mod values;

/// Bulk big-integer arithmetic on NVIDIA GPUs and CPUs.
#[derive(Debug, Parser)]
#[command(
    name = "warpmp",
    version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("WARPMP_BUILD"), ")"),
    after_help = "\
Exit codes: 0 done, 1 failed, 2 usage, 3 time over (ecdlp solve --for), 130 interrupted.
WARPMP_LOG=debug writes a log to standard error. WARPMP_TUNING=FILE takes this tuning table instead
of your own (see warpmp tune --help), WARPMP_TUNING=none the one that ships with the program."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Apply(PerOperation<Apply>),
    Pow(Power),
    /// The sum of all integers of some files
    Sum(Whole),
    /// The product of all integers of some files
    Product(Whole),
    /// The greatest common divisor of all integers of some files
    GcdAll(Whole),
    /// The least common multiple of all integers of some files
    LcmAll(Whole),
    IsPrime(IsPrime),
    NextPrime(NextPrime),
    BatchGcd(BatchGcd),
    Factor(Factor),
    Ecm(Ecm),
    Pm1(Pm1),
    Pp1(Pp1),
    AsEcm(AsEcm),
    Gen(Gen),
    Bench(Bench),
    /// Say how an operation would be done, and why, without doing it
    Explain {
        #[command(subcommand)]
        operation: Explained,
    },
    Tune(Tune),
    /// Collatz: convergence, delays, records and certificates
    Collatz {
        #[command(subcommand)]
        command: CollatzCommand,
    },
    /// Discrete logarithms on elliptic curves
    Ecdlp {
        #[command(subcommand)]
        command: EcdlpCommand,
    },
    /// Campaigns of every kind: a page, shares of the work, copies
    Campaign {
        #[command(subcommand)]
        command: CampaignCommand,
    },
    Resume(Resume),
    Status(Status),
    Devices(Devices),
    Selftest(Selftest),
    Completions(Completions),
    Man(ManPages),
}

/// Options of a command that does an operation with files
#[derive(Debug, Group)]
pub(crate) struct Apply {
    /// Write the results here; the file appears once it is complete. Of several results each has its own -o, or
    /// all go to one text file, in columns
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Vec<OsString>,
    /// Take every operand as an integer of R bits (redc: R of the modulus, and t below m·2^(32·⌈R/32⌉)); without this
    /// each is as wide as its digits
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits: Option<usize>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Compute about this many results again with another library; 0: none
    ///
    /// They are spread over the input; of standard input, whose length is not known, it is as many a chunk.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = any)]
    pub(crate) check: u64,
    /// Compare every result with this file, which is as -o writes it, and fail at the first that differs
    ///
    /// A file of several columns has all results, one of a single column the first; or each result has its own --expect.
    /// - is standard input, if no operand is.
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Vec<OsString>,
    /// Promise that operands are below their moduli; a lane with another one has no result then. Without this the program
    /// reduces operands
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Fail at the first lane without a result: no file appears then
    #[arg(long)]
    pub(crate) strict: bool,
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
    #[arg(long, value_name = "N", value_parser = within(1, u64::MAX))]
    pub(crate) count: u64,
    /// Start of the pseudo-random sequence
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = any)]
    pub(crate) seed: u64,
    /// Kind of integers
    #[arg(long, value_enum, default_value_t = Pattern::Random)]
    pub(crate) pattern: Pattern,
    /// Write here; text on standard output without this
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<OsString>,
    /// Write text as hexadecimal with 0x
    #[arg(long)]
    pub(crate) hex: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
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

impl From<Pattern> for warpmp_oracle::pattern::Pattern {
    fn from(pattern: Pattern) -> Self {
        match pattern {
            Pattern::Random => Self::Random,
            Pattern::Ones => Self::Ones,
            Pattern::Carry => Self::Carry,
            Pattern::Sparse => Self::Sparse,
            Pattern::Ripple => Self::Ripple,
        }
    }
}

/// What can be explained.
#[derive(Debug, Subcommand)]
pub(crate) enum Explained {
    #[command(flatten)]
    Operation(PerOperation<Explain>),
    /// The primality test of `is-prime`
    IsPrime(ExplainMany),
    /// The product tree of `batch-gcd`
    BatchGcd(ExplainMany),
    /// The plan of the curves of `ecm`: layout, products, both stages, memory
    Ecm(ExplainEcm),
    /// The scheme and the windows of `collatz verify`, with its options
    Collatz(Verify),
}

/// What is to be explained of a command built from several operations
#[derive(Debug, Group)]
pub(crate) struct ExplainMany {
    /// Bits of the integers
    #[arg(long, value_name = "R", value_parser = bits)]
    pub(crate) bits: usize,
    /// Integers
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = positive)]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
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
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = positive)]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Print completions for a shell
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  warpmp completions bash > ~/.local/share/bash-completion/completions/warpmp
  warpmp completions zsh > ~/.zfunc/_warpmp
  warpmp completions fish > ~/.config/fish/completions/warpmp.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Print the program's manual page, or write the pages of all commands
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  warpmp man | man -l -
  warpmp man ~/.local/share/man/man1")]
pub(crate) struct ManPages {
    /// Write the pages of all commands into this folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Go on with a campaign: curves, Collatz, or a discrete logarithm
#[derive(Debug, Group)]
#[command(after_help = "\
The directory says which campaign it has. A campaign goes on with other engines than it began with, too.
More options have the commands that begin a campaign: `ecm --campaign DIR`, `collatz verify -o DIR` and `ecdlp solve -o DIR`.

With --shared any number of processes on any hosts work in one directory; each may be killed at any time. A search for a
logarithm is always shared, and has no parts: every process draws its own starts. SIGTERM ends the command within five
seconds: the unit under way is dropped, and done again later.

Examples:
  warpmp resume campaign
  warpmp resume campaign --shared
  warpmp resume copy-of-campaign --part 3/8
  warpmp resume campaign --device cuda:1")]
pub(crate) struct Resume {
    /// Directory of a campaign
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}

/// Say how far a campaign is
#[derive(Debug, Group)]
#[command(after_help = "\
The directory says which campaign it has: curves of `ecm`, a Collatz verification, or a search for a discrete logarithm. More
options have `collatz status` and `ecdlp status`.

Example:
  warpmp status campaign --json")]
pub(crate) struct Status {
    /// Directory of a campaign
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// List every engine with its capabilities
#[derive(Debug, Group)]
#[command(after_help = "\
Example:
  warpmp devices --json")]
pub(crate) struct Devices {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// Run known answers through every algorithm of an engine
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  warpmp selftest
  warpmp selftest --device cuda:1
  warpmp selftest --operation mul,div-rem")]
pub(crate) struct Selftest {
    /// Operations; without this all of them
    #[arg(long, visible_alias = "operations", value_name = "NAME", value_delimiter = ',', value_parser = operation)]
    pub(crate) operation: Vec<Operation>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }

    /// A parser that gives another type than the field has shows only when the option is read.
    #[test]
    fn options_have_the_types_that_are_read() {
        for line in [
            "mul a b --bits 5 --device cuda:1 --algorithm x --check 5 --hex --format npy --json -q --chunk-bytes 5",
            "shl a --by 5",
            "pow-mod-public a m --exponent 5",
            "strong-test n --base 5",
            "gen --bits 5 --count 5 --seed 5 --pattern ones --hex --format npy -q",
            "is-prime n --bases 5 --seed 5 --device sim --check 5 --format text --json -q --chunk-bytes 5",
            "batch-gcd n m --column x --label y --no-pairs --min-factor 2^70 --device cpu --check 5 --hex --json -q",
            "pow a 5 --device cpu --check 5 --hex --json -q",
            "product a b --device cpu --hex --json -q",
            "next-prime a --device cpu --hex --json -q",
            "div a b --check 5 --strict",
            "bench mul --bits 5,6 --count 5,6 --algorithm x,y --pattern ones,carry --device cpu --runs 5 --json -q",
            "bench --reproduce x,y --device cpu --count 5 --runs 5 --json -q --csv x --plot y",
            "bench collatz --operation alpha --from 5 --count 5 --sieve-bits 5 --sieve-mod 3 --base-bits 5 --runs 5 --json",
            "explain is-prime --bits 5 --count 5 --device cpu",
            "explain batch-gcd --bits 5",
            "explain collatz --from 5 --count 5",
            "explain ecm --bits 50 --b1 5e4 --b2 5e6 --device cpu",
            "explain mul --bits 5 --bits-b 5 --bits-c 5 --count 5 --device cpu --algorithm x",
            "tune --device cuda:1 --operation mul,gcd --quick --bits 5,6 --dry-run --compile 1/2 -q",
            "collatz verify --from 5 --count 5 --window 5 --leaf-bits 5 --lookahead-bits 5 --sieve-bits 5 --base-bits 5 \
             --checksum alpha --sieve-mod 9 --cache x --json -q",
            "collatz check x --sample 0.5 --seed 5 --json -q",
            "collatz delay --from 5 --count 5 --max --json -q",
            "collatz records --kind path --below 5 --json -q",
            "collatz status x --json",
            "collatz trace 5 --json",
            "collatz verify --from 5 --to 9 -o x",
            "collatz verify -o x",
            "collatz delay --from 5 --to 9 -o x",
            "status x --json",
            "campaign report x -o y",
            "campaign serve x --port 5",
            "campaign shards x --tasks 5 --task 4",
            "campaign shards x --tasks 5 --json",
            "campaign sync x y --json",
            "ecm x --digits 20 --campaign y",
            "resume x --device cuda --json -q",
            "resume x --shared --part 3/8",
            "collatz verify -o x --shared --part 0/2",
            "ecm x --digits 20 --campaign y --shared",
            "ecdlp solve --curve x --seed 5 --out x --for 5 --memory 5 --distinguished-bits 5 --points 5 --device cuda --json -q",
            "ecdlp status x --plot y --json",
            "ecdlp check x --sample 5 --seed 5 --json -q",
            "ecdlp join x y z --json",
            "ecdlp explain --curve x --seed 5 --distinguished-bits 5 --points 5 --device sim",
            "as-ecm -sigma 3:5 -save x -gpu 1e6 1",
            "factor x y --digits 5 --seed 5 --expect x -o y --json -q",
            "devices --json",
            "selftest --device cpu --operation mul,div-rem",
        ] {
            let words = std::iter::once("warpmp").chain(line.split_whitespace());
            assert!(Args::try_parse_from(words).is_ok(), "{line}");
        }
    }
}
