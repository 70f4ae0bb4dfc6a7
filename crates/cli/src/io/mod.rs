//! Numbers from files and to files.
//!
//! ```text
//! source.rs   an operand's file, text or .npy, one integer after the other
//! plain.rs    regular files that all threads read at once
//! lines.rs    the lines of a plain file, split by all threads
//! tuple.rs    the operands together, in chunks of bounded size; their counts of numbers
//! error.rs    faults of files, with the place in the file
//! text.rs     lines: decimal and hexadecimal, both ways
//! decimal.rs  decimal digits of long integers, both ways
//! npy.rs      NumPy's header and rows, both ways
//! column.rs   results with their signs
//! sink.rs     where integers go: text or .npy
//! early.rs    bytes on their way to the disk while others are written
//! compressed.rs .gz, .zst and .npz
//! output.rs   standard output, a device, a pipe, a file
//! aside.rs    a file that appears whole
//! ```

mod aside;
pub(crate) mod column;
pub(crate) mod compressed;
mod decimal;
mod early;
pub(crate) mod error;
pub(crate) mod lines;
pub(crate) mod npy;
pub(crate) mod output;
mod plain;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod text;
pub(crate) mod tuple;

/// The name that stands for standard input.
pub(crate) const STDIN: &str = "-";
