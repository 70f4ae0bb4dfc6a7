//! Modular arithmetic and division.
//!
//! ```text
//! product.rs  Montgomery products, squares, reduction, conversions
//! power.rs    powers modulo an odd number
//! even_power.rs  powers modulo any number
//! strong/     strong tests of Miller and Rabin
//! division.rs quotients and remainders
//! digits.rs   limbs of dividends and quotients, from the top
//! exact.rs    division digit by digit, for the rare cases
//! div_exact.rs  divisions that leave nothing
//! gcd.rs      greatest common divisors
//! lcm.rs      least common multiples
//! jacobi.rs   Kronecker symbols
//! inverse.rs  inverses modulo any number
//! sqrt.rs     square roots
//! cofactors.rs  divisors with their cofactors, in stages
//! ends.rs     what comes before and after a power by matrix products
//! checks.rs   operands on their way in: faults, residues
//! register.rs the operations that these kernels do
//! shifted.rs  numbers that are shifted as they are read and written
//! ```
//!
//! Every kernel takes the addresses of its operands in their order, of its results, of the statuses, the number
//! of lanes, and the address of the scratch memory if it needs any. All buffers hold whole tiles of 32 lanes, of
//! common operands one row. A status is a word a lane, see [`Status`](crate::Status); the results of a lane with a fault are zero.

pub(super) mod checks;
mod cofactors;
mod digits;
mod div_exact;
pub mod division;
mod ends;
mod even_power;
mod exact;
pub mod gcd;
pub mod inverse;
pub mod jacobi;
mod lcm;
pub mod power;
pub mod product;
mod register;
mod shifted;
pub mod sqrt;
pub mod strong;

pub use warpmp_launch::Layout;

pub(super) use ends::{Begin, End};
pub(super) use even_power::EvenPowMod;

use super::OperandShape;
pub(super) use power::{Exponent, PowMod};
use register::product_of;
pub(super) use register::{ALGORITHMS, Copy};
