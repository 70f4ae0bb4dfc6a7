//! The C interface of WarpMP: `include/warpmp.h`, `libwarpmp.so` and `libwarpmp.a`.
//!
//! ```text
//! failure.rs  codes of errors, the text of a thread's last error, and the guard that no panic passes
//! session.rs  the version, engines
//! batch.rs    integers on the host and on the device
//! memory.rs   limbs in memory of a GPU that the caller has
//! apply.rs    operations by name, and their statuses
//! ```
//!
//! This crate is one of the few that may contain `unsafe`: it reads and writes the memory of C programs. It checks every
//! pointer for null and every length; that a pointer is valid and a handle alive, the caller promises.

#![allow(
    clippy::doc_markdown,
    reason = "the comments become those of the header, where backticks around each name disturb"
)]
#![allow(non_camel_case_types, reason = "the names of the header are those of C")]

pub mod apply;
pub mod batch;
pub mod failure;
pub mod memory;
pub mod session;
