//! Kernels, one file an algorithm. Each is a pure function of its parameters.
//!
//! `register.rs` has the algorithms of each operation: to add an algorithm, write its file and give it a row. A row
//! says what the algorithm accepts and how the settings of the tuning table become a kernel. The
//! [plan](crate::plan) does the rest. A [`Register`] adds algorithms of other crates.
//!
//! Ideas, pictures and measurements are in the
//! [book](https://github.com/warpmp/warpmp/blob/main/book/src/introduction.md), a section an algorithm.

#[doc(hidden)]
pub mod candidates;
pub mod column;
mod common;
pub mod fft;
pub mod karatsuba_group;
pub mod linear;
mod long;
pub mod modular;
pub mod mul_group;
pub mod mul_thread;
pub mod ntt;
#[doc(hidden)]
pub mod packed;
mod register;
mod settings;
mod shape;
pub mod sqr_thread;
pub mod sum_rotate;
pub mod sum_rotate_shared;
pub mod tensor;
mod tile;
pub mod toom;
mod transform;
pub mod warpgroup;

pub use warpmp_launch::{Entry, Geometry, Spec, Stage};
use warpmp_launch::{name_suffix as suffix, piece, vector};

use crate::operation::{Group, Operation};
pub use register::{Abilities, Algorithm, Gpus, On, Order, Recipe, Register, With};
pub use settings::{
    ChainSettings, CommonSettings, FftSettings, FixedSettings, GroupSettings, HeldSettings, KaratsubaSettings,
    LongSettings, OwnSettings, Settings, SettingsFault, SharedGroupSettings, TensorSettings, ThreadSettings,
    ThreadSquareSettings, WarpSettings, WarpgroupSettings,
};
pub(crate) use shape::GROUP_BITS;
pub use shape::{OperandShape, OperationShape};

/// The multiplications that are a default somewhere, and two of the dissertation's beside them. The crate `warpmp-papers` has the others of the papers.
const MUL: &[Algorithm] = &[
    mul_thread::ALGORITHM,
    sum_rotate::ALGORITHM,
    column::SHUFFLE,
    column::SHARED,
    sum_rotate_shared::ALGORITHM,
    mul_group::ALGORITHM,
    karatsuba_group::ALGORITHM,
    tensor::ALGORITHM,
    warpgroup::ALGORITHM,
    common::PRODUCT,
    fft::ALGORITHM,
    long::WRAPAROUND,
    ntt::ALGORITHM,
    toom::algorithm::<8>("toom-8"),
];

/// Every squaring on the GPU. A squaring has the name of the multiplication with the same idea.
const SQR: &[Algorithm] = &[
    sqr_thread::ALGORITHM,
    karatsuba_group::squares::GROUP,
    karatsuba_group::squares::KARATSUBA,
    tensor::SQUARES,
    warpgroup::SQUARES,
    fft::SQUARES,
    long::WRAPAROUND_SQUARES,
    ntt::SQUARES,
];

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
