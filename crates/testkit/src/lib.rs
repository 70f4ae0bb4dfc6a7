//! What tests share: operands that provoke carries, oracles, the conformance suite.
//!
//! Uniformly random operands hardly ever let a carry run: a limb of all ones, which passes one on,
//! turns up once in 2³² times. The patterns of [`operands`] make such limbs common. The oracles are
//! num-bigint's: what checks is independent of what is checked.
//!
//! Of the crates under test this one knows the description of an operation alone, no engine: suites take closures.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod gpu;
pub mod operands;
pub mod operations;
pub mod oracle;
pub mod structured;

pub use operands::{Operands, Pattern};
