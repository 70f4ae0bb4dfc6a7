//! The kernels of the search, one file each.
//!
//! ```text
//! curve.rs    residues of a fixed field, the third point of a line
//! fold.rs     products modulo a multiple of the prime a little below R
//! numbers.rs  where the numbers of a thread lie in memory
//! walk.rs     rounds of many walks
//! begin.rs    the first points of walks
//! escape.rs   walks leave long cycles
//! starts.rs   new starting points
//! sums.rs     sums of points of a batch
//! ```

pub mod begin;
mod curve;
pub mod escape;
mod fold;
pub(crate) mod numbers;
pub mod starts;
pub mod sums;
pub mod walk;

pub use curve::{Constants, Reduction};
pub use fold::Multiple;
