//! Typed handles to virtual registers, and the values that an instruction reads: registers and constants.

use crate::ir::{Class, Operand, Reg};

/// A value that an instruction can read.
pub trait Value {
    /// The value as an operand.
    fn operand(self) -> Operand;
}

/// A handle to a register of one class, which an instruction can write.
pub trait Register: Value + Copy {
    /// The register's class.
    const CLASS: Class;
    /// The handle of register `index`.
    fn of(index: u32) -> Self;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $class:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub(super) u32);

        impl Value for $name {
            fn operand(self) -> Operand {
                Operand::Reg(Reg { class: Class::$class, index: self.0 })
            }
        }

        impl Register for $name {
            const CLASS: Class = Class::$class;
            fn of(index: u32) -> Self {
                Self(index)
            }
        }
    )* };
}

handles! {
    /// A predicate register.
    Pred = Pred;
    /// A 32-bit register: a limb, an index, an address in shared memory.
    R32 = B32;
    /// A 64-bit register: a pair of limbs, an address in global memory.
    R64 = B64;
    /// A double-precision register.
    F64 = F64;
}

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $reg:ident, $imm:ty, $bits:expr };)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $name {
            /// A register.
            Reg($reg),
            /// A constant.
            Imm($imm),
        }

        impl From<$reg> for $name {
            fn from(reg: $reg) -> Self {
                Self::Reg(reg)
            }
        }

        impl From<$imm> for $name {
            fn from(value: $imm) -> Self {
                Self::Imm(value)
            }
        }

        impl Value for $name {
            fn operand(self) -> Operand {
                match self {
                    Self::Reg(reg) => reg.operand(),
                    Self::Imm(value) => Operand::Imm($bits(value)),
                }
            }
        }
    )* };
}

values! {
    /// A 32-bit register or constant.
    V32 { R32, u32, u64::from };
    /// A 64-bit register or constant.
    V64 { R64, u64, u64::from };
    /// A double register or constant.
    VF64 { F64, f64, f64::to_bits };
}

/// The constant part of an address, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset(u32);

impl From<u32> for Offset {
    fn from(bytes: u32) -> Self {
        Self(bytes)
    }
}

impl Value for Offset {
    fn operand(self) -> Operand {
        Operand::Imm(self.0.into())
    }
}
