//! The kernels: generators of PTX, pure functions of their parameters.
//!
//! | kernel | what it does |
//! |---|---|
//! | [`honda`] | convergence, the dissertation's Algorithm 5 |
//! | [`alpha`] | the published checksum of work units |
//! | [`delay`] | delays, the dissertation's Algorithm 6 |
//! | [`delay_pools`] | delays, the lanes of a warp regrouped by the size of their values |
//! | [`delay_records`] | starts whose delay exceeds a bound |
//! | [`leaves`] | residues that survive the rules, level by level |
//! | [`vector`] | which residues survive the next steps, as bits |
//! | [`lookahead`] | convergence: leaves, bit vectors, thresholds |
//!
//! In all of them T(n) is n/2 for even and (3n + 1)/2 for odd n, and d steps of T on z = 2ᵈ·h + l give
//! 3ᶜ·h + Tᵈ(l), with c the odd steps among them.

pub mod alpha;
mod common;
pub mod delay;
pub mod delay_pools;
pub mod delay_records;
pub mod honda;
pub mod leaves;
pub mod lookahead;
pub mod starts;
pub mod vector;

pub(crate) use common::ReportArguments;
pub use common::{REPORT_HEADER_BYTES, REPORT_RECORD_BYTES};
