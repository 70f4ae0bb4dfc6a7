//! What may be asked for of `warpmp ecdlp`.

use clap::{Args as Group, Subcommand};

use crate::args::{
    DeviceArgs, ObjectArgs, SummaryArgs,
    values::{any, positive},
};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum EcdlpCommand {
    Solve(Solve),
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

/// Find k with Q = k·P on an elliptic curve over a prime field of 32 to 256 bits
#[derive(Debug, Group)]
#[command(after_help = "\
Pollard's rho with distinguished points and the negation map: about sqrt(pi·n/4) steps. k is alone on standard output; the
summary says how many steps it took. The result is checked by independent arithmetic. Without --out nothing is kept:
memory holds the distinguished points, and an interrupted search begins anew.

Examples:
  warpmp ecdlp solve --curve eccp-79 --device cuda
  warpmp ecdlp solve --curve mine.json")]
pub(crate) struct Solve {
    #[command(flatten)]
    pub(crate) curve: CurveArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}

/// Measure the steps of Pollard's rho on an elliptic curve
#[derive(Debug, Group)]
#[command(
    name = "ecdlp",
    after_help = "\
Reported walks are replayed and checked before anything is timed.

Examples:
  warpmp bench ecdlp --curve eccp-131 --device cuda
  warpmp bench ecdlp --curve eccp-79 --points 128"
)]
pub(crate) struct BenchEcdlp {
    #[command(flatten)]
    pub(crate) curve: CurveArgs,
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
