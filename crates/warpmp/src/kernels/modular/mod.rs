//! Modular arithmetic and division.
//!
//! ```text
//! frame.rs    what all of these kernels begin and end with: places, rows, statuses
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
//! redirect.rs operations in stages
//! register.rs the operations that these kernels do
//! shifted.rs  numbers that are shifted as they are read and written
//! ```
//!
//! Every kernel takes the addresses of its operands in their order, of its results, of the statuses, the number
//! of lanes, and the address of the scratch memory if it needs any. All buffers hold whole tiles of 32 lanes, of
//! common operands one row. A status is a word a lane, see [`Status`](crate::Status); the results of a lane with a fault are zero.

mod cofactors;
mod digits;
mod div_exact;
pub mod division;
mod even_power;
mod exact;
mod frame;
pub mod gcd;
pub mod inverse;
pub mod jacobi;
mod lcm;
pub mod power;
pub mod product;
pub(super) mod redirect;
mod register;
mod shifted;
pub mod sqrt;
pub mod strong;

use warpmp_kernel::build::Glue;
use warpmp_kernel::fragment::Montgomery;

use super::OperandShape;
use register::product_of;
pub(super) use register::{ALGORITHMS, Copy};

/// How the limbs of a number are divided, and how kernels are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Lanes a number: a power of two. Above 32 they are all the lanes of a block.
    pub group: u32,
    /// Limbs a lane.
    pub length: u32,
    /// Warps a block of threads: `group / 32` if that is more than one.
    pub warps: u32,
    /// How carry chains are joined.
    pub glue: Glue,
}

/// Longest number that one thread holds, in limbs.
const THREAD_LIMBS: u32 = 16;

/// Most limbs a lane, unless 32 lanes need more.
const BLOCK_LIMBS: u32 = 16;

/// Most limbs a lane: of more the registers would not suffice. Longer numbers take the lanes of several warps.
const LANE_LIMBS: u32 = 32;

impl Layout {
    /// The usual layout for numbers of so many limbs.
    pub const fn of(limbs: u32) -> Self {
        let (warps, glue) = (2, Glue::None);
        if limbs <= THREAD_LIMBS {
            return Self { group: 1, length: limbs, warps, glue };
        }
        let mut group = 4;
        while group < 32 && limbs.div_ceil(group) > BLOCK_LIMBS {
            group *= 2;
        }
        Self { group, length: limbs.div_ceil(group), warps, glue }.of_lanes(limbs, LANE_LIMBS)
    }

    /// The same or, where the lanes would hold more than `most` limbs each, one with more lanes, in several warps.
    const fn of_lanes(self, limbs: u32, most: u32) -> Self {
        let mut group = self.group;
        while limbs.div_ceil(group) > most {
            group *= 2;
        }
        if group <= 32 { Self { group, ..self } } else { Self { group, warps: group / 32, ..self } }.holding(limbs)
    }

    const fn holding(self, limbs: u32) -> Self {
        Self { length: limbs.div_ceil(self.group), ..self }
    }

    /// A layout with as few lanes a number as this many limbs a lane allow: for what every lane does by itself.
    const fn narrow(limbs: u32, most: u32, beyond: u32) -> Self {
        let mut group = 1;
        while group < 32 && limbs.div_ceil(group) > most {
            group *= 2;
        }
        Self { group, ..Self::of(1) }.of_lanes(limbs, beyond)
    }

    /// Wide products of a Montgomery product for a modulus of so many limbs.
    const fn products(self, limbs: u32) -> u64 {
        2 * limbs as u64 * (self.group * self.length) as u64
    }

    /// Wide products of a Montgomery square.
    fn square_products(self, limbs: u32) -> u64 {
        if (self.length as usize) < Montgomery::SQUARE_FROM {
            return self.products(limbs);
        }
        // Row i of a block has those with limb i and the limbs above it; a block that ends early has one row more.
        let (length, blocks, rest) = (self.length, limbs / self.length, limbs % self.length);
        let above = (0..rest).map(|i| length - i).sum::<u32>() + if rest > 0 { length - rest } else { 0 };
        let lane = blocks * length * (length + 1) / 2 + above;
        u64::from(self.group * lane) + self.products(limbs) / 2
    }

    /// Its part of a kernel's name.
    fn name(self) -> String {
        format!("_k{}_t{}{}", self.length, self.group, super::suffix(self.glue, self.warps))
    }
}
