//! Discrete logarithms on elliptic curves over prime fields of 32 to 256 bits, by Pollard's rho.
//!
//! ```text
//! problem      a curve, a base point of prime order, a target; every parameter checked
//! challenges   the curves of published challenges, by name
//! affine       plain arithmetic by num-bigint: the definition that all else is checked against
//! points       batches of points: sums, multiples, sums of multiples
//! walk         the function that all engines iterate, and a walk again with its coefficients
//! field        residues by words of 64 bits
//! kernels      the walk on GPUs
//! search       points, meetings, the logarithm; a search in memory by several engines
//! meetings     distinguished points by their hash
//! campaign     a search in a directory: points on disk, an index, several processes, checks
//! cpu          walks on the processor's cores, in vectors
//! gpu          walks on a device: rounds, reports, starts, long cycles
//! ```
#![forbid(unsafe_code)]

pub mod affine;
pub mod campaign;
pub mod challenges;
mod cpu;
mod error;
mod field;
mod gpu;
pub mod kernels;
mod meetings;
pub mod points;
mod prime;
mod problem;
pub mod search;
pub mod walk;

pub use cpu::Instructions;
pub use error::{Error, Refusal, Result};
pub use gpu::Layout;
pub use meetings::{Distinguished, Meeting};
pub use problem::{MAX_BITS, MIN_BITS, Problem};
pub use warpmp_campaign::Error as FolderError;
