//! Kernels that are never a default: the papers' multiplications, and the EPFL report's experiments.
//!
//! ```text
//! school.rs, comba.rs, karatsuba.rs   one product a thread;  limbs.rs: their numbers in memory
//! comba_sum_rotate.rs, karatsuba_sum_rotate.rs   one product a warp;  blocks.rs: their numbers in blocks
//! epfl/                               the experiments of the EPFL report
//! ```
//!
//! [`MULTIPLICATIONS`] are rows of a register: a session that has them multiplies by these names. The papers'
//! algorithms that are a default somewhere (`sum-rotate`, `column-shuffle`, `toom-8` and their like) are in `warpmp`.

mod blocks;
pub mod comba;
pub mod comba_sum_rotate;
pub mod epfl;
pub mod karatsuba;
pub mod karatsuba_sum_rotate;
mod limbs;
pub mod school;

use warpmp::Operation;
use warpmp::kernels::{Algorithm, Register, toom};

/// The papers' multiplications that are never a default.
pub const MULTIPLICATIONS: &[Algorithm] = &[
    school::ALGORITHM,
    comba::ALGORITHM,
    karatsuba::ALGORITHM,
    karatsuba::TWICE,
    comba_sum_rotate::ALGORITHM,
    karatsuba_sum_rotate::ONCE,
    karatsuba_sum_rotate::TWICE,
    toom::algorithm::<2>("toom-2"),
    toom::algorithm::<3>("toom-3"),
    toom::algorithm::<4>("toom-4"),
    toom::algorithm::<5>("toom-5"),
    toom::algorithm::<6>("toom-6"),
    toom::algorithm::<7>("toom-7"),
    toom::algorithm::<9>("toom-9"),
];

/// The algorithms of `warpmp`, and with them [`MULTIPLICATIONS`].
pub fn register() -> Register {
    Register::shipped().with(Operation::Mul, MULTIPLICATIONS)
}
