//! Arithmetic on arrays of registers, shared by every kernel: least significant limb first,
//! limbs of 32 bits.

mod add;
mod carry;
mod rows;
mod square;
mod square_halves;

pub use add::{add_limbs, wrapping_add_small, wrapping_sub_small};
pub use carry::{Carries, all_ones, all_zeros, resolve_carries, top_lane};
pub use rows::Rows;
pub use square::{double_plus_squares, double_plus_squares_carrying, products_of_pairs, square};
pub use square_halves::{Quarters, square_by_halves};
