//! Arithmetic on arrays of registers, shared by every kernel: least significant limb first,
//! limbs of 32 bits.

mod add;
mod carry;
mod rows;

pub use add::{add_limbs, wrapping_add_small};
pub use carry::resolve_carries;
pub use rows::Rows;
