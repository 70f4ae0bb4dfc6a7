//! Operations, generated from the table: their texts, operands, pipes and targets.

use super::kernel::Target;
use super::modifier::{
    Carry, Cmp, Elem, Funnel, Half, Int, Logic, Round, Shuffle, Space, Special, Vector, Vote, Width,
};
use super::register::Class::{self, B32, B64, F64, Pred};
use super::table::instruction_table;
use crate::print::{SHARED_NAME, TABLE_NAME};

/// The part an operand plays in an instruction's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A register that is written.
    Dst(Class),
    /// A register or constant that is read.
    Src(Class),
    /// A register that is read, or a constant up to this limit.
    SrcUpTo(Class, u64),
    /// A constant up to this limit.
    Const(u64),
    /// `{…}`: this many registers that are written.
    DstVec(Class, usize),
    /// `{…}`: this many registers or constants that are read.
    SrcVec(Class, usize),
    /// `{…}`: this many registers that are read, a part of a matrix.
    Matrix(Class, usize),
    /// `{…}`: this many registers that are written and may be read before, a part of a matrix of sums.
    Sums(Class, usize),
    /// `[register + constant]`: two operands, the register of this class.
    Addr(Class),
    /// `[parameter]`: one constant, the parameter's number.
    Param,
    /// Fixed text, no operand.
    Fixed(&'static str),
}

impl Part {
    /// How many operands the part takes.
    pub const fn arity(self) -> usize {
        match self {
            Self::Dst(_) | Self::Src(_) | Self::SrcUpTo(..) | Self::Const(_) | Self::Param => 1,
            Self::DstVec(_, n) | Self::SrcVec(_, n) | Self::Matrix(_, n) | Self::Sums(_, n) => n,
            Self::Addr(_) => 2,
            Self::Fixed(_) => 0,
        }
    }

    /// The class and number of the operands that are data and written. They come first.
    pub const fn written(self) -> Option<(Class, usize)> {
        match self {
            Self::Dst(class) => Some((class, 1)),
            Self::DstVec(class, n) | Self::Sums(class, n) => Some((class, n)),
            _ => None,
        }
    }

    /// The class and number of the operands that are data and read. They come first.
    pub const fn read(self) -> Option<(Class, usize)> {
        match self {
            Self::Src(class) | Self::SrcUpTo(class, _) | Self::Addr(class) => Some((class, 1)),
            Self::SrcVec(class, n) | Self::Matrix(class, n) => Some((class, n)),
            _ => None,
        }
    }
}

/// The part of the machine that an instruction keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pipe {
    /// 32×32 → 64-bit products: `mul.wide`, `mad.wide`, and an adjacent pair `mad.lo.cc; madc.hi` of
    /// the same factors, which the assembler makes one instruction.
    WideMul,
    /// The second half of such a pair: free.
    Fused,
    /// All other integer products.
    Mul,
    /// Integer sums, logic, shifts, comparisons, selections, bit fields.
    Alu,
    /// Copies and changes of class, which keep the bits: usually free after register allocation.
    Move,
    /// Shuffles and votes.
    Shuffle,
    /// Loads, stores and atomic operations in shared memory.
    Shared,
    /// Loads, stores and atomic operations in global memory.
    Global,
    /// Double precision, conversions included.
    Fp64,
    /// Matrix products.
    Tensor,
    /// Asynchronous copies, their groups and waits; prefetches.
    Async,
    /// Branches, barriers, `ret`.
    Control,
}

/// The values of a modifier: the list in the row, or all values of its type.
macro_rules! values {
    ($type:ty) => {
        <$type>::ALL
    };
    ($type:ty, $values:expr) => {
        $values
    };
}

/// Runs the body for every choice of values.
macro_rules! every {
    ([] $body:block) => { $body };
    ([$modifier:ident in $values:expr $(, $more:ident in $more_values:expr)*] $body:block) => {
        for $modifier in $values { every!([$($more in $more_values),*] $body); }
    };
}

/// The modifier that says what happens to the carry flag; without one, nothing happens.
macro_rules! carry {
    () => {
        Carry::None
    };
    ($carry:expr) => {
        $carry
    };
}

/// The first target; without one, the oldest.
macro_rules! since {
    () => {
        Target::Sm70
    };
    ($target:expr) => {
        $target
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident $(($($modifier:ident: $type:ty $(= $values:expr)?),*))? {
        $text:literal $(, $argument:expr)*; $($part:expr),*; $pipe:expr; $semantics:ident $arguments:tt
        $(; carry $carry:expr)? $(; since $target:expr)?
    } $methods:tt)*) => {
        /// An operation with all its modifiers: the opcode of an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op { $($(#[$doc])* $name $(($($type),*))?,)* }

        #[allow(unused_variables, reason = "a row gives all modifiers to each of its columns, and few columns need them all")]
        impl Op {
            /// The text of the opcode. Different operations may share it (`mov.b64`); the operands tell them apart.
            pub fn mnemonic(self) -> String {
                match self { $(Self::$name $(($($modifier),*))? => format!($text $(, $argument)*),)* }
            }

            /// The operands in the order of the text.
            pub fn layout(self) -> Vec<Part> {
                use Part::{Addr, Const, DstVec, Fixed, Matrix, Param, SrcUpTo, SrcVec, Sums};
                match self { $(Self::$name $(($($modifier),*))? => vec![$($part),*],)* }
            }

            /// The pipe of an operation on its own.
            pub const fn pipe(self) -> Pipe {
                use Pipe::{Alu, Async, Control, Fp64, Move, Mul, Shared, Shuffle, Tensor, WideMul};
                match self { $(Self::$name $(($($modifier),*))? => $pipe,)* }
            }

            /// What the operation does with the carry flag.
            pub const fn carry(self) -> Carry {
                match self { $(Self::$name $(($($modifier),*))? => carry!($($carry)?),)* }
            }

            /// The lowest target that has the operation.
            pub const fn target(self) -> Target {
                match self { $(Self::$name $(($($modifier),*))? => since!($($target)?),)* }
            }

            /// Every operation of the set, each once.
            pub fn all() -> Vec<Self> {
                let mut ops = Vec::new();
                $(every!([$($($modifier in values!($type $(, $values)?)),*)?] { ops.push(Self::$name $(($($modifier),*))?); });)*
                ops
            }
        }
    };
}

instruction_table!(define);

/// The numbers of columns of a warpgroup's matrix product, as far as kernels need them.
const WGMMA_COLUMNS: [u8; 10] = [8, 16, 24, 32, 48, 64, 80, 96, 112, 128];

/// Any constant of 32 bits.
const ANY: u64 = u32::MAX as u64;

fn dst(class: impl Into<Class>) -> Part {
    Part::Dst(class.into())
}

fn src(class: impl Into<Class>) -> Part {
    Part::Src(class.into())
}

/// The registers that a load writes.
const fn loaded(vector: Vector, elem: Elem) -> Part {
    match vector {
        Vector::V1 => Part::Dst(elem.class()),
        Vector::V2 | Vector::V4 => Part::DstVec(elem.class(), vector.len()),
    }
}

/// The registers that a store reads.
const fn stored(vector: Vector, elem: Elem) -> Part {
    match vector {
        Vector::V1 => Part::Src(elem.class()),
        Vector::V2 | Vector::V4 => Part::SrcVec(elem.class(), vector.len()),
    }
}

const fn memory(space: Space) -> Pipe {
    if space.is_global() { Pipe::Global } else { Pipe::Shared }
}

const fn byte_count(n: u8) -> &'static str {
    match n {
        4 => "4",
        8 => "8",
        _ => "16",
    }
}
