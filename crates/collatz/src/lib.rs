//! Verification of the Collatz conjecture.
#![forbid(unsafe_code)]

pub mod gpu;
pub mod kernels;
