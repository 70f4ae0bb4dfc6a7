//! Arithmetic on many big integers at once: the same operation on millions of independent integers, each from 1 to
//! 16,777,216 bits wide, on NVIDIA GPUs and on all cores of a CPU.
//!
//! ```
//! use warpmp::{Batch, Session};
//!
//! let session = Session::open(); // the first usable GPU, else the CPU
//! let a = Batch::from_u64s(&[3, 5, u64::MAX]);
//! let b = Batch::from_u64s(&[7, 11, u64::MAX]);
//! let c = session.mul(&a, &b)?; // three lanes of 128 bits
//! assert_eq!(c.to_dec(2).as_deref(), Some("340282366920938463426481119284349108225"));
//! # Ok::<(), warpmp::Error>(())
//! ```
//!
//! * A [`Batch`] holds `lanes × bits`: one unsigned integer a lane, all of the same width. Text, bytes, words and the
//!   integers of other libraries become batches, and batches become these.
//! * A [`Session`] is an engine made ready: a GPU, its simulator, or the CPU. Each operation is a method. It takes
//!   batches and gives batches. An operand with one lane serves every lane of the others.
//! * A lane may be at fault: a divisor is zero, an inverse does not exist. Operations with such lanes also give
//!   [`Statuses`]. The results of a lane at fault are zero; the other lanes do not notice.
//! * Batches can stay on the device between operations: [`Session::upload`], [`Session::apply_device`],
//!   [`Session::download`].
//!
//! The features `num-bigint` and `rug` add conversions: `Batch::from_biguints` and `Batch::from_integers`.
//!
//! # All operations
//!
#![doc = include_str!("operations.md")]
// The SIMD files of the CPU engine alone may lift this; a test of the layers holds them to it.
#![forbid(unsafe_code)]

pub mod batch;
mod cpu;
pub mod error;
mod gpu;
#[doc(hidden)]
pub mod kernels;
pub mod memory;
pub mod operation;
pub mod plan;
pub mod report;
pub mod session;
#[doc(hidden)]
pub mod tuning;

/// Devices: to find them, and for those who bring kernels of their own.
pub use warpmp_device as device;

/// Products and quotients of single long numbers of dashu-int on the processor, for trees of products and for text.
#[doc(hidden)]
pub mod long {
    pub use crate::cpu::newton::{Divisor, product};
}

/// The frames of kernels, to write algorithms of other crates with.
#[doc(hidden)]
pub use warpmp_launch as launch;

pub use batch::{Batch, Shape};
pub use error::{Error, Result};
pub use memory::{DeviceBatch, HostBuffer};
pub use operation::{Operation, Status, Statuses};
pub use plan::Plan;
pub use report::{EngineInfo, EngineKind, LeftOut, Report};
pub use session::{Options, Selector, Session};
pub use tuning::{Table, TableError};

/// The Rust programs of the documents are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../book/src/tutorial-rust.md")]
    mod rust {}
    #[doc = include_str!("../../../book/src/tutorial-kernels.md")]
    mod kernels {}
    #[doc = include_str!("../../../book/src/coming-from.md")]
    mod coming_from {}
}
