//! The experiments of the papers that this project builds on, repeated on this machine: their figures beside ours.
//!
//! ```text
//! tables.rs   the papers' figures, from data/, and their names
//! times.rs    tables of times: the paper's workload on a session and on the CPU
//! cpu.rs      the CPU by one core and by all;  gmp.rs: by GMP, if it is built in
//! counts.rs   tables of operation counts, from the simulator
//! forms/      figures of the EPFL report: forms of an operation over grids and blocks
//! kernels/    the kernels that only the experiments launch
//! rates/      tables and figures of the Collatz schemes: rates, and the contents of their tables
//! line.rs     the paper's figure beside ours;  record.rs: as JSON and CSV
//! ```
//!
//! Work that takes long reports to a [`Watch`], which can also stop it. Nothing here reads files or writes to a terminal:
//! the program `warpmp bench --reproduce` shows the results.
#![forbid(unsafe_code)]

pub mod counts;
mod cpu;
pub mod error;
pub mod forms;
#[cfg(feature = "gmp")]
mod gmp;
pub mod kernels;
pub mod line;
pub mod rates;
mod record;
pub mod tables;
pub mod times;
pub mod watch;

pub use error::{Error, Result};
pub use line::{Figure, Line, Outcome};
pub use watch::{Settings, Watch};
