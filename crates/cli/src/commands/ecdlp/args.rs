//! What may be asked for of `warpmp ecdlp`.

use clap::{Args as Group, Subcommand};
use warpmp_curves::{MAX_BITS, MIN_BITS};

use crate::args::{
    DeviceArgs, ObjectArgs, ProgressArgs, SummaryArgs,
    values::{any, positive, within},
};

/// Memory of the index of points without `--memory`, in MiB.
pub(super) const MEMORY: u64 = 1024;

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum EcdlpCommand {
    Solve(Solve),
    Status(Status),
    Check(Check),
    Join(Join),
    Explain(Explain),
}

/// The curve of a command.
#[derive(Debug, Group)]
pub(crate) struct CurveArgs {
    /// A built-in curve (eccp-79, eccp-89, eccp-97, eccp-109, eccp-131, secp112r1), or a JSON file
    ///
    /// The file is {"p": …, "a": …, "b": …, "n": …, "P": [x, y], "Q": [x, y]}: the curve y² = x³ + a·x + b modulo the prime
    /// p, the point P of prime order n, and the point Q whose logarithm is wanted. Numbers or strings, decimal or 0x.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) curve: String,
    /// Start of the pseudo-random table and starting points
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = any)]
    pub(crate) seed: u64,
}

/// The walk and its layout.
#[derive(Debug, Group)]
pub(crate) struct WalkArgs {
    /// Zero bits of a distinguished point: 2^D steps lie between two of a walk; without this as few as lose a tenth of the steps
    #[arg(long, value_name = "D", value_parser = within(0_u32, 32))]
    pub(crate) distinguished_bits: Option<u32>,
    /// Points a thread of a GPU; without this the number for which the search is shortest
    #[arg(long, value_name = "B", value_parser = positive)]
    pub(crate) points: Option<usize>,
}

/// Find k with Q = k·P on an elliptic curve over a prime field of 32 to 256 bits
#[derive(Debug, Group)]
#[command(after_help = "\
Pollard's rho with distinguished points and the negation map: about sqrt(pi·n/4) steps. k is alone on standard output; the
summary says how many steps it took. The result is checked by independent arithmetic.

All GPUs of --device search together. Without --output nothing is kept: memory holds the distinguished points, and an
interrupted search begins anew. With --output DIR the points are files of a directory: several processes on any hosts may
work there, and each may be killed at any time. `warpmp resume DIR` goes on where they stopped, as the same command
does; then --curve and --seed may be left out. Machines without a common file system have a directory each;
`warpmp ecdlp join` brings the directories together.

Exit codes: 0 the logarithm is found, 3 the time of --for is over, 130 interrupted.

Examples:
  warpmp ecdlp solve --curve eccp-79 --device cuda
  warpmp ecdlp solve --curve mine.json
  warpmp ecdlp solve --curve eccp-97 -o campaign --for 3600
  warpmp ecdlp solve -o campaign")]
pub(crate) struct Solve {
    /// A built-in curve (eccp-79, eccp-89, eccp-97, eccp-109, eccp-131, secp112r1), or a JSON file
    ///
    /// The file is {"p": …, "a": …, "b": …, "n": …, "P": [x, y], "Q": [x, y]}: the curve y² = x³ + a·x + b modulo the prime
    /// p, the point P of prime order n, and the point Q whose logarithm is wanted. Numbers or strings, decimal or 0x.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "output")]
    pub(crate) curve: Option<String>,
    /// Start of the pseudo-random table and starting points; 0 without this
    #[arg(long, value_name = "S", value_parser = any)]
    pub(crate) seed: Option<u64>,
    /// Keep the search in this directory, or go on with the one that is there
    #[arg(short, long, alias = "out", value_name = "DIR")]
    pub(crate) output: Option<String>,
    /// End in order after searching for this time, with exit code 3 if the logarithm is not found
    #[arg(long = "for", value_name = "SECONDS", requires = "output", value_parser = within(1_u64, 1 << 40))]
    pub(crate) seconds: Option<u64>,
    /// Memory of the index of points; points that do not fit are sorted on disk
    #[arg(long, value_name = "MIB", requires = "output", default_value_t = MEMORY, value_parser = within(1_u64, 1 << 24))]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}

/// Say how far a campaign is, and how long it may take
#[derive(Debug, Group)]
#[command(after_help = "\
Example:
  warpmp ecdlp status campaign --plot campaign.svg")]
pub(crate) struct Status {
    /// The directory of `solve --output`
    #[arg(value_name = "DIR")]
    pub(crate) folder: String,
    /// Draw the probability that the logarithm is found against the steps
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<String>,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// Check all files of a campaign, and make a sample of its walks again by independent code
#[derive(Debug, Group)]
#[command(after_help = "\
Found are: damaged blocks and lost files, points that their walks do not reach, points that are not distinguished. The
exit code is 1 if anything is wrong. A walk of 2^20 steps takes some 20 seconds of a core.

Example:
  warpmp ecdlp check campaign --sample 100")]
pub(crate) struct Check {
    /// The directory of `solve --output`
    #[arg(value_name = "DIR")]
    pub(crate) folder: String,
    /// Walks that are made again
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = within(0_usize, 1 << 32))]
    pub(crate) sample: usize,
    /// Chooses the sample
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = any)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// Bring directories of several machines together
#[derive(Debug, Group)]
#[command(after_help = "\
The points of the other directories are copied; nothing is removed there. Points that are in DIR already are not copied again. All
directories must have the same curve, seed and distinguished bits.

Example:
  warpmp ecdlp join campaign from-host-2 from-host-3")]
pub(crate) struct Join {
    /// The directory that gets all points; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) folder: String,
    /// Directories of `solve --output`
    #[arg(value_name = "FROM", required = true)]
    pub(crate) from: Vec<String>,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// Say how a search would be done, without doing it
#[derive(Debug, Group)]
#[command(after_help = "\
Example:
  warpmp ecdlp explain --curve eccp-109 --device cuda --distinguished-bits 24")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) curve: CurveArgs,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

/// The curve that is measured.
#[derive(Debug, Group)]
#[group(required = true, multiple = false)]
pub(crate) struct Measured {
    /// A built-in curve (eccp-79, eccp-89, eccp-97, eccp-109, eccp-131, secp112r1), or a JSON file as that of `ecdlp solve`
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) curve: Option<String>,
    /// A curve over a prime field of this many bits: every curve of these bits takes the same time, but for special primes
    #[arg(long, value_name = "BITS", value_parser = within(MIN_BITS, MAX_BITS))]
    pub(crate) bits: Option<u64>,
}

/// Measure the steps of Pollard's rho on an elliptic curve
#[derive(Debug, Group)]
#[command(
    name = "ecdlp",
    after_help = "\
Reported walks are replayed and checked before anything is timed.

Examples:
  warpmp bench ecdlp --curve eccp-131 --device cuda
  warpmp bench ecdlp --bits 160 --points 128"
)]
pub(crate) struct BenchEcdlp {
    #[command(flatten)]
    pub(crate) measured: Measured,
    /// Start of the pseudo-random table and starting points
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = any)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Points a thread of a GPU; without this as many as a long search has
    #[arg(long, value_name = "B", value_parser = positive)]
    pub(crate) points: Option<usize>,
    /// Threads a block of a GPU; without this the usual number
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) threads: Option<usize>,
    /// Timed runs
    #[arg(long, default_value_t = 5, value_parser = positive)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}
