//! A strict simulator: it runs the printed text of a kernel, warp by warp, and reports every mistake that a GPU
//! passes over in silence.
//!
//! ```text
//! text ─► Program ─► launch(grid, arguments, Memory) ─► Counters | Fault
//! ```
//!
//! A warp is 32 lanes in lock step with an active mask; after a divergent branch the lanes with the
//! lowest program counter run first, so structured code reconverges by itself. The warps of a block
//! take turns in a shuffled but reproducible order; blocks run one after another.
//!
//! **Errors**: reading an undefined register, memory word or carry flag; access out
//! of bounds or off its alignment; a shuffle or vote that names an inactive lane; a barrier that not
//! all reach; a race in shared memory; touching the target of an asynchronous copy in flight, or the operands
//! of a pending matrix product of a warpgroup. See
//! [`FaultKind`].
//!
//! **Not modelled**: time, caches, the memory model between blocks (blocks are sequential and
//! memory is sequentially consistent), races in global memory.

mod access;
mod banks;
mod compute;
mod convert;
mod copies;
mod counters;
mod exchange;
mod execution;
mod fault;
mod launch;
mod memory;
mod order;
mod products;
mod program;
mod registers;
mod scalar;
mod shared;
mod warp;

pub use crate::ir::Pipe;
pub use counters::{Count, Counters};
pub use fault::{Fault, FaultKind, Site};
pub use memory::{Memory, OutOfMemory};
pub use program::Program;

/// Threads of a warp.
pub const WARP: usize = 32;

/// The shape of a launch: a line of blocks, each a line of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Number of blocks.
    pub blocks: u32,
    /// Threads a block, 1 to 1024; need not be a multiple of 32.
    pub threads: u32,
    /// Dynamic shared memory a block, in bytes.
    pub shared_bytes: u32,
}
