//! Commands that look for factors.

use std::{ffi::OsString, path::PathBuf};

use clap::Args as Group;
use num_bigint::BigUint;
use warpmp_numtheory::factor::Sigma;

use super::{
    DeviceArgs, ObjectArgs, SharingArgs, SummaryArgs,
    values::{any, bound, digits, positive, ratio, sigma, within},
};

/// The most curves of a run.
const MOST_CURVES: u64 = 1 << 40;

/// Factor integers by trial division, P-1, P+1 and elliptic curves
#[derive(Debug, Group)]
#[command(after_help = "\
The result has a line for each integer, N = p * q * r. A part that is not prime stands in brackets. After # the line tells
how each prime was found, so that `warpmp ecm` or GMP-ECM can repeat it, and how far each composite was searched: t25.0 says that
a factor of 25 digits is still hidden with a probability of 1/e.

The program tries primes below 10000, roots and primality; then, for each level of 10, 15, 20, … to D digits, P-1, P+1 and
the curves of the table in `warpmp ecm --help`. A composite of at most 2D digits is factored completely.

An integer is decimal, 0x…, or an expression: 2^997-1, (2^101-1)/7432339208719, 100!+1, 97#-1.

Examples:
  warpmp factor 2^128+1
  warpmp factor numbers.txt --digits 25 -o factors.txt
  warpmp factor numbers.npy --json")]
pub(crate) struct Factor {
    /// Integers or expressions, one a line: files, .npy arrays, or - for standard input; or expressions
    #[arg(value_name = "FILE|EXPRESSION", required = true)]
    pub(crate) inputs: Vec<OsString>,
    /// Look for factors of up to D digits
    #[arg(long, value_name = "D", value_parser = digits, default_value_t = 30)]
    pub(crate) digits: u32,
    /// Seed of the curves; without it they differ from run to run
    #[arg(long, value_name = "S", value_parser = any)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Compare each line up to # with this file, and fail at the first that differs
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<OsString>,
    /// Write the result here
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}

/// Find factors by elliptic curves (ECM)
#[derive(Debug, Group)]
#[command(after_help = "\
The result has a line for each integer, N = p * q * r. A part that is not prime stands in brackets. Each find is also told on
standard error, with the parameters that repeat it: warpmp ecm N --b1 B1 --b2 B2 --sigma F:S, or GMP-ECM's -sigma F:S.

--digits D sets the bound B1 and the number N of curves for a factor of D digits:

  D    20     25     30    35    40     45     50      55      60      65
  B1   11e3   5e4    25e4  1e6   3e6    11e6   43e6    11e7    26e7    85e7
  N    88     287    682   1699  4911   10369  18732   47300   120880  209307

The families of curves have GMP-ECM's numbers: 0 is Suyama's family, the sigmas of 1 and 3 have 32 bits. Without --sigma the
curves are of family 0; they depend on --seed, on the integer and on the number of the curve alone.

With --campaign DIR the curves are cut into units, and each unit leaves a file. After a kill or Ctrl-C the same command, or
`warpmp resume DIR`, goes on; the unit under way begins anew. A unit on GPUs has as many curves as fill them. A unit on the
processor takes about 20 seconds, and longer with large bounds: it has 16 curves or more for each thread. More --curves than
before extend a campaign. `warpmp status DIR` says how far it is. With --shared several processes on any
hosts work in one directory.

An integer is decimal, 0x…, or an expression: 2^997-1, (2^101-1)/7432339208719, 100!+1, 97#-1. Save lines (--save, --resume)
are GMP-ECM's.

A GPU computes both stages of thousands of curves at a time, for integers to 16384 bits; auto takes it for 256 curves or more. Sigmas of
family 3 take the least time there. The engine changes no result.

Examples:
  warpmp ecm 2^128+1 --digits 20
  warpmp ecm numbers.txt --b1 1e6 --sigma 3:1 --curves 10000 --device cuda
  warpmp ecm numbers.txt --b1 5e4 --b2 5e6 --curves 300
  warpmp ecm 2^997-1 --b1 1e6 --sigma 3:17 --save residues.txt
  warpmp ecm 2^1061-1 --digits 45 --campaign m1061
  warpmp ecm --resume residues.txt --b2 1e9")]
pub(crate) struct Ecm {
    #[command(flatten)]
    pub(crate) common: FactorArgs,
    /// The bounds and the number of curves for factors of D digits
    #[arg(long, value_name = "D", value_parser = digits, conflicts_with_all = ["b1", "curves", "resume"])]
    pub(crate) digits: Option<u32>,
    /// Curves on each integer; 1 without this
    #[arg(long, value_name = "N", value_parser = within(1, MOST_CURVES), conflicts_with = "resume")]
    pub(crate) curves: Option<u64>,
    /// The first curve, FAMILY:SIGMA; the next ones have the next sigmas
    #[arg(long, value_name = "F:S", value_parser = sigma, conflicts_with_all = ["resume", "seed"])]
    pub(crate) sigma: Option<Sigma>,
    /// Seed of the curves; without it they differ from run to run
    #[arg(long, value_name = "S", value_parser = any, conflicts_with = "resume")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Keep the curves that are done in this directory, or go on with those that are there
    #[arg(long, alias = "out", value_name = "DIR", conflicts_with_all = ["resume", "save", "one", "output"])]
    pub(crate) campaign: Option<PathBuf>,
    /// Curves of a unit on each integer
    #[arg(long, hide = true, value_name = "N", requires = "campaign", value_parser = within(1, MOST_CURVES))]
    pub(crate) unit: Option<u64>,
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,
}

/// Find factors p for which p - 1 is a product of small primes (Pollard's P-1)
#[derive(Debug, Group)]
#[command(after_help = "\
The result has a line for each integer, N = p * q * r. A part that is not prime stands in brackets. The method finds p if all
prime powers of p - 1 are at most B1, but for one prime up to B2. An integer is decimal, 0x…, or an expression: 2^997-1.

A GPU computes both stages of 1000 integers or more together. The processor computes fewer integers.

Examples:
  warpmp pm1 2^67-1 --b1 1000
  warpmp pm1 numbers.txt --b1 1e6 --b2 1e8 --save residues.txt
  warpmp pm1 moduli.txt --b1 1e6 --device cuda")]
pub(crate) struct Pm1 {
    #[command(flatten)]
    pub(crate) common: FactorArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// The base, a number or a ratio
    #[arg(long, value_name = "X", value_parser = ratio, default_value = "3", conflicts_with = "resume")]
    pub(crate) x0: [BigUint; 2],
}

/// Find factors p for which p + 1 is a product of small primes (Williams' P+1)
#[derive(Debug, Group)]
#[command(after_help = "\
The result has a line for each integer, N = p * q * r. A part that is not prime stands in brackets. Each start finds p by p + 1
with a probability of one half, else by p - 1. An integer is decimal, 0x…, or an expression: 2^997-1.

A GPU computes both stages of 1000 attempts or more together. The processor computes fewer attempts.

Examples:
  warpmp pp1 numbers.txt --b1 1e6
  warpmp pp1 2^128+1 --b1 1e5 --x0 5 --x0 7")]
pub(crate) struct Pp1 {
    #[command(flatten)]
    pub(crate) common: FactorArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// The starts: 2/7, 6/5 and 5 without this
    #[arg(long, value_name = "X", value_parser = ratio, conflicts_with = "resume")]
    pub(crate) x0: Vec<[BigUint; 2]>,
}

/// Measure both stages of elliptic curves
#[derive(Debug, Group)]
#[command(
    name = "ecm",
    after_help = "\
Some curves are computed on the CPU, too, before anything is timed. The curves are of family 3, on a modulus without small factors.

Examples:
  warpmp bench ecm --bits 512 --b1 5e4
  warpmp bench ecm --bits 1024 --b1 1e6 --b2 1e8 --curves 2000 --runs 1 --device cuda"
)]
pub(crate) struct BenchEcm {
    /// Bits of the modulus
    #[arg(long, value_name = "BITS", value_parser = within(32_u64, 16_384))]
    pub(crate) bits: u64,
    /// Bound of the first stage
    #[arg(long, value_name = "B1", value_parser = bound)]
    pub(crate) b1: u64,
    /// Bound of the second stage, 100 times B1 without this; 0: no second stage
    #[arg(long, value_name = "B2", value_parser = bound)]
    pub(crate) b2: Option<u64>,
    /// Curves of a run; without this as many as fill the engine
    #[arg(long, value_name = "N", value_parser = within(1_u64, 1 << 30))]
    pub(crate) curves: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Timed runs
    #[arg(long, default_value_t = 5, value_parser = positive)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// What is to be explained of elliptic curves
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  warpmp explain ecm --bits 512 --b1 1e6
  warpmp explain ecm --bits 1024 --b1 11e6 --b2 1.1e9 --curves 4480 --device cuda")]
pub(crate) struct ExplainEcm {
    /// Bits of the modulus
    #[arg(long, value_name = "BITS", value_parser = within(3_u64, 1 << 16))]
    pub(crate) bits: u64,
    /// Bound of the first stage
    #[arg(long, value_name = "B1", value_parser = bound)]
    pub(crate) b1: u64,
    /// Bound of the second stage, 100 times B1 without this; 0: no second stage
    #[arg(long, value_name = "B2", value_parser = bound)]
    pub(crate) b2: Option<u64>,
    /// Curves on one integer; without this as many as fill the engine
    #[arg(long, value_name = "N", value_parser = within(1_u64, 1 << 30))]
    pub(crate) curves: Option<u64>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

/// Take GMP-ECM's place: its options, output and exit codes
#[derive(Debug, Group)]
#[command(after_help = "\
For programs that run GMP-ECM, such as yafu: give them a link called ecm that leads to warpmp. The integers come from standard
input, a line each.

  B1 [B2]                      bounds: 1e6, 4.7e9; B2 is 100 B1 without this, 1 means no second stage
  -c N                         curves; 0: until a factor is found
  -sigma [P:]S, -param P       first curve, and its family: 0, 1, 3
  -pm1, -pp1, -x0 X            other methods, and their start
  -save F, -savea F, -resume F save lines: written to a new file, appended, read
  -inp F                       read the integers from a file
  -one, -q, -v                 stop after a factor; only factors; expected curves
  -gpu, -cgbn, -gpucurves N, -gpudevice D    all curves at once, as GMP-ECM does on a GPU

Every other option is an error. Exit codes: 0 no factor, 1 error, 2 composite factor, 6 prime factor, 8 the integer itself; 10
and 14 as 2 and 6 with a prime cofactor.

Examples:
  ln -s $(which warpmp) ~/yafu/ecm
  echo '2^128+1' | warpmp as-ecm -c 100 -sigma 3:1 11e3")]
pub(crate) struct AsEcm {
    /// GMP-ECM's options
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub(crate) words: Vec<OsString>,
}

/// Options of all methods
#[derive(Debug, Group)]
pub(crate) struct FactorArgs {
    /// Integers or expressions, one a line: a file, an .npy array, or - for standard input; or one expression
    #[arg(value_name = "FILE", required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) file: Option<OsString>,
    /// Bound of the first stage: 1e6. With --resume: that of the lines without this
    #[arg(long, value_name = "B1", value_parser = bound)]
    pub(crate) b1: Option<u64>,
    /// Bound of the second stage, 100 times B1 without this; 0: no second stage
    #[arg(long, value_name = "B2", value_parser = bound)]
    pub(crate) b2: Option<u64>,
    /// Go on from the save lines of this file
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<OsString>,
    /// Write a save line for each first stage that finds nothing. The file must be new
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<OsString>,
    /// Be done with an integer after its first divisor
    #[arg(long)]
    pub(crate) one: bool,
    /// Write the result here
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<OsString>,
    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}
