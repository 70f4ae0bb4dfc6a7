//! Kernels, one file an algorithm. Each is a pure function of its parameters.
//!
//! `register.rs` has the algorithms of each operation: to add an algorithm, write its file and give it a row. A row
//! says what the algorithm accepts and how the settings of the tuning table become a kernel. The
//! [plan](crate::plan) does the rest. A [`Register`] adds algorithms of other crates.
//!
//! Ideas, pictures and measurements are in the
//! [book](https://github.com/warpmp/warpmp/blob/main/book/src/introduction.md), a section an algorithm.

mod blocks;
mod candidates;
pub mod column;
pub mod comba;
pub mod comba_sum_rotate;
pub mod karatsuba;
pub mod karatsuba_group;
pub mod karatsuba_sum_rotate;
mod limbs;
pub mod linear;
pub mod modular;
pub mod mul_group;
pub mod mul_thread;
mod packed;
mod register;
pub mod school;
mod shape;
pub mod sqr_thread;
pub mod sum_rotate;
pub mod sum_rotate_shared;
mod tile;
pub mod toom;

use serde::{Deserialize, Serialize};
use warpmp_kernel::build::Glue;
pub use warpmp_launch::{Entry, Geometry, Spec, Stage};
use warpmp_launch::{name_suffix as suffix, piece, vector};

use crate::operation::{Group, Operation};
pub use register::{Algorithm, Order, Register};
pub use shape::{OperandShape, OperationShape};

/// What a tuning table may say about a kernel; what it leaves out the algorithm chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Warps a block of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u32>,
    /// Every how many carry chains are joined to the one before; 0: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glue: Option<u32>,
    /// How operands reach the registers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<mul_thread::Input>,
    /// Limbs a block of `group` and `karatsuba/group`, at most; where a lane squares by halves, of a half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Levels of `karatsuba/group`; of squares by `thread`: 0 whole, else by halves if the limbs are even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Products a block of threads of `karatsuba/group`: with one, all its warps work on one product.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<u32>,
}

impl Settings {
    /// What cannot be, whatever the algorithm; none if every number is possible.
    pub(crate) fn fault(&self) -> Option<String> {
        let limits = [
            ("warps", self.warps, 1..=32),
            ("glue", self.glue, 0..=1 << 16),
            ("block", self.block, 1..=1 << 16),
            ("levels", self.levels, 0..=16),
            ("products", self.products, 1..=32),
        ];
        limits.into_iter().find_map(|(name, value, limit)| {
            let value = value.filter(|it| !limit.contains(it))?;
            Some(format!("{name} is {value}; it may be {} to {}", limit.start(), limit.end()))
        })
    }

    /// Does it say nothing?
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn glue_or(&self, default: Glue) -> Glue {
        self.glue.map_or(default, |n| if n == 0 { Glue::None } else { Glue::Every(n) })
    }
}

/// Every multiplication on the GPU.
const MUL: &[Algorithm] = &[
    mul_thread::ALGORITHM,
    school::ALGORITHM,
    comba::ALGORITHM,
    karatsuba::ALGORITHM,
    karatsuba::TWICE,
    sum_rotate::ALGORITHM,
    comba_sum_rotate::ALGORITHM,
    column::SHUFFLE,
    column::SHARED,
    sum_rotate_shared::ALGORITHM,
    karatsuba_sum_rotate::ONCE,
    karatsuba_sum_rotate::TWICE,
    mul_group::ALGORITHM,
    karatsuba_group::ALGORITHM,
    toom::algorithm::<2>("toom-2"),
    toom::algorithm::<3>("toom-3"),
    toom::algorithm::<4>("toom-4"),
    toom::algorithm::<5>("toom-5"),
    toom::algorithm::<6>("toom-6"),
    toom::algorithm::<7>("toom-7"),
    toom::algorithm::<8>("toom-8"),
    toom::algorithm::<9>("toom-9"),
];

/// Every squaring on the GPU. A squaring has the name of the multiplication with the same idea.
const SQR: &[Algorithm] =
    &[sqr_thread::ALGORITHM, karatsuba_group::squares::GROUP, karatsuba_group::squares::KARATSUBA];

/// The algorithms of this crate for an operation.
pub fn register(operation: Operation) -> &'static [Algorithm] {
    match operation.group() {
        Group::Product if operation == Operation::Sqr => SQR,
        Group::Product => MUL,
        Group::Linear | Group::LinearModular => linear::ALGORITHMS,
        Group::ProductPart => linear::PARTS,
        Group::Division | Group::Modular | Group::Montgomery => modular::ALGORITHMS,
    }
}
