//! Kernels for NVIDIA GPUs as data: typed PTX instructions, a builder whose carry is a value, a
//! printer, a parser, and a strict simulator that runs the printed text.
//!
//! ```text
//! Builder ─► Kernel ─► text ─► device
//!                       └────► parse ─► simulator
//! ```
//!
//! Everything here is pure: no GPU, no files, no environment. The same calls give the same bytes.
#![forbid(unsafe_code)]

pub mod build;
pub mod fragment;
pub mod ir;
pub mod parse;
mod print;
pub mod sim;
