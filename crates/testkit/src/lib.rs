//! What tests share: operands that provoke carries, oracles, the conformance suite.
//!
//! Uniformly random operands hardly ever let a carry run: a limb of all ones, which passes one on,
//! turns up once in 2³² times. The patterns of [`operands`] make such limbs common. The oracles are
//! num-bigint's: what checks is independent of what is checked.
//!
//! This crate knows limbs only, none of the crates that it tests: suites take closures.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod gpu;
pub mod operands;
pub mod operations;
pub mod oracle;
pub mod structured;

pub use operands::{Operands, Pattern};
