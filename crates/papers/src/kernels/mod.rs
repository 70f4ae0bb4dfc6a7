//! Kernels that only the experiments launch.

pub mod epfl;
