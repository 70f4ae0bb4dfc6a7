//! What tests share: operands that provoke carries, oracles, the conformance suite.
//!
//! Uniformly random operands hardly ever let a carry run: a limb of all ones, which passes one on,
//! turns up once in 2³² times. The patterns of [`operands`] make such limbs common. The oracles are
//! num-bigint's: what checks is independent of what is checked.
//!
//! The suites take closures: of the crates under test they know the description of an operation alone. Only the harness of
//! [`kernels`] knows what a kernel is.
#![forbid(unsafe_code)]

pub mod changed;
pub mod conformance;
pub mod gpu;
pub mod kernels;
pub mod operands;
pub mod operations;
pub mod oracle;
pub mod planted;
pub mod structured;

pub use operands::{Operands, Pattern};
