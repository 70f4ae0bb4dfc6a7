//! Virtual registers and operands.

use std::fmt;

use super::modifier::{Elem, Int, Width};

/// The class of a virtual register: what it can hold, and its prefix in the printed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One bit: the result of a comparison (`%p`).
    Pred,
    /// 32 untyped bits (`%r`).
    B32,
    /// 64 untyped bits (`%rd`).
    B64,
    /// A double (`%fd`).
    F64,
}

impl Class {
    /// Every class, in the order in which a kernel declares them.
    pub const ALL: [Self; 4] = [Self::Pred, Self::B32, Self::B64, Self::F64];
    /// The classes of logic operations.
    pub(crate) const BITS: [Self; 3] = [Self::Pred, Self::B32, Self::B64];
    /// The classes that hold numbers.
    pub(crate) const NUMBERS: [Self; 3] = [Self::B32, Self::B64, Self::F64];

    /// The prefix of the register's name.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Pred => "%p",
            Self::B32 => "%r",
            Self::B64 => "%rd",
            Self::F64 => "%fd",
        }
    }
}

/// The type in a declaration or a mnemonic, without its dot.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pred => "pred",
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::F64 => "f64",
        })
    }
}

impl From<Width> for Class {
    fn from(width: Width) -> Self {
        width.class()
    }
}

impl From<Int> for Class {
    fn from(int: Int) -> Self {
        int.width().class()
    }
}

impl From<Elem> for Class {
    fn from(elem: Elem) -> Self {
        elem.class()
    }
}

/// A virtual register of some class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg {
    /// What the register holds.
    pub class: Class,
    /// Its number within the class.
    pub index: u32,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.prefix(), self.index)
    }
}

/// An operand: a register, or a constant as raw bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant: the bits, zero-extended (a double's bits for [`Class::F64`]).
    Imm(u64),
}
