//! The kernel as data: registers, instructions, items.
//!
//! The instruction set is one table, `table.rs`. A row gives an operation's modifiers, its text, its operands, its pipe, its
//! semantics on the simulator and its methods in [`build`](crate::build). The printer, the parser, the builder, the simulator
//! and its counters read that row and know nothing else about the operation.
//!
//! source: the PTX ISA reference, the chapters of the same names as the groups of the table.

mod kernel;
mod modifier;
mod op;
mod register;
mod table;

pub use kernel::{Bounds, Guard, Inst, Item, Kernel, Label, Param, Target};
pub use modifier::{Carry, Cmp, Elem, Funnel, Half, Int, Logic, Round, Shuffle, Space, Special, Vector, Vote, Width};
pub use op::{Op, Part, Pipe};
pub use register::{Class, Operand, Reg};
pub(crate) use table::instruction_table;
