//! Bulk multiple-length arithmetic: millions of independent products of integers of any width, on
//! NVIDIA GPUs and on the CPU.
//!
//! ```
//! use warpmp::{Batch, Session};
//!
//! let session = Session::open();
//! let a = Batch::from_u64s(&[3, 5, u64::MAX]);
//! let b = Batch::from_u64s(&[7, 11, u64::MAX]);
//! let c = session.mul(&a, &b)?;
//! assert_eq!(c.to_dec(2).as_deref(), Some("340282366920938463426481119284349108225"));
//! # Ok::<(), warpmp::Error>(())
//! ```
//!
//! A [`Batch`] holds `lanes × bits`: one unsigned integer a lane, all of the same width, each a row
//! of little-endian 32-bit limbs. A [`Session`] is an engine made ready: a GPU, its simulator, or
//! the CPU. Every operation takes batches and gives a batch; what it cost is in its [`Report`].
//!
//! ```text
//! Batch ─► Session ─► Engine (GPU: plan → kernels → device; CPU: cores) ─► Batch
//! ```
// The SIMD files of the CPU engine alone may lift this; a test of the layers holds them to it.
#![deny(unsafe_code)]

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

/// The frames of kernels, to write algorithms of other crates with.
#[doc(hidden)]
pub use warpmp_launch as launch;

pub use batch::{Batch, Shape};
pub use error::{Error, Result};
pub use memory::{DeviceBatch, HostBuffer};
pub use operation::{Operation, Status, Statuses};
pub use plan::Plan;
pub use report::{EngineInfo, EngineKind, Report};
pub use session::{Options, Selector, Session};
pub use tuning::{Table, TableError};
