//! Arithmetic on arrays of registers, shared by every kernel: least significant limb first,
//! limbs of 32 bits.

mod add;
mod block;
mod carry;
mod digit;
pub mod divsteps;
mod factor;
pub mod lehmer;
mod low_rows;
mod montgomery;
mod montgomery_square;
mod reciprocal;
mod remainder;
mod rows;
mod spread;
mod square;
mod square_halves;
mod strand;
mod symbol;
mod window;

pub use add::{add_limbs, wrapping_add_small, wrapping_sub_small};
pub use block::{ballots_of_flags, carries_of_warps};
pub use carry::{Carries, add_carry_to_row, all_ones, all_zeros, resolve_carries, top_lane};
pub use digit::Digits;
pub use factor::Factor;
pub use low_rows::LowRows;
pub use montgomery::{Montgomery, negated_inverse, repeat};
pub use reciprocal::Reciprocal;
pub use remainder::{Divisor, Remainder, Settled};
pub use rows::Rows;
pub use spread::{Spread, Sum, assign, select};
pub use square::{double_plus_squares, double_plus_squares_carrying, products_of_pairs, square};
pub use square_halves::{Quarters, square_by_halves};
pub use strand::Term;
pub use symbol::symbol;
pub use window::Window;
