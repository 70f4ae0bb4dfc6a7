//! The modifiers of operations: each value with its meaning and its text in a mnemonic.

use std::fmt;

use super::register::Class;

/// Defines modifiers: the type, all its values, and their texts.
macro_rules! modifiers {
    ($($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$value),*];

            /// The text in a kernel.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.text())
            }
        }
    )* };
}

modifiers! {
    /// Width of an integer operation in bits.
    Width {
        /// 32 bits.
        W32 = "32",
        /// 64 bits.
        W64 = "64",
    }

    /// An integer type: width and signedness.
    Int {
        /// Unsigned 32 bits.
        U32 = "u32",
        /// Unsigned 64 bits.
        U64 = "u64",
        /// Signed 32 bits.
        S32 = "s32",
        /// Signed 64 bits.
        S64 = "s64",
    }

    /// Which half of a product is kept.
    Half {
        /// The low half.
        Lo = "lo",
        /// The high half.
        Hi = "hi",
    }

    /// A two-operand logic operation.
    Logic {
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
    }

    /// A comparison: signed or unsigned by the type of its operands. Of doubles it is ordered, so it is false if either is NaN.
    Cmp {
        /// Equal.
        Eq = "eq",
        /// Different.
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
    }

    /// Direction of a funnel shift.
    Funnel {
        /// `shf.l`: the high word of `{b, a} << n`.
        Left = "l",
        /// `shf.r`: the low word of `{b, a} >> n`.
        Right = "r",
    }

    /// Rounding of a double to an integer.
    Round {
        /// To the nearest, ties to even.
        Nearest = "rni",
        /// Toward zero.
        Zero = "rzi",
    }

    /// The element of a memory access.
    Elem {
        /// 32 bits.
        U32 = "u32",
        /// 64 bits.
        U64 = "u64",
        /// A double.
        F64 = "f64",
    }

    /// How many elements one access moves.
    Vector {
        /// One.
        V1 = "",
        /// Two.
        V2 = ".v2",
        /// Four (32-bit elements only: an access moves at most 16 bytes).
        V4 = ".v4",
    }

    /// A state space and, for global memory, how the access uses the caches.
    Space {
        /// Global memory.
        Global = ".global",
        /// Global memory, read or written once: evict first.
        GlobalStream = ".global.cs",
        /// Global memory that no thread of the launch writes: the read-only path, loads only.
        GlobalConst = ".global.nc",
        /// The block's shared memory.
        Shared = ".shared",
    }

    /// Mode of a warp shuffle.
    Shuffle {
        /// From lane − b.
        Up = "up",
        /// From lane + b.
        Down = "down",
        /// From lane xor b.
        Bfly = "bfly",
        /// From lane b.
        Idx = "idx",
    }

    /// Mode of a warp vote.
    Vote {
        /// True if the predicate of every participating lane is true.
        All = "all",
        /// True if the predicate of at least one participating lane is true.
        Any = "any",
    }

    /// A read-only special register.
    Special {
        /// Thread number within the block.
        Tid = "%tid.x",
        /// Threads a block.
        Ntid = "%ntid.x",
        /// Block number.
        Ctaid = "%ctaid.x",
        /// Blocks in the grid.
        Nctaid = "%nctaid.x",
        /// Lane within the warp.
        Lane = "%laneid",
        /// Mask of this lane.
        LaneMaskEq = "%lanemask_eq",
        /// Mask of the lanes below.
        LaneMaskLt = "%lanemask_lt",
        /// Mask of the lanes above.
        LaneMaskGt = "%lanemask_gt",
        /// The multiprocessor's clock, low 32 bits. The simulator gives the number of instructions so far.
        Clock = "%clock",
    }

    /// What an operation does with the carry flag `CC.CF`. The text is the letter after the operation's name.
    Carry {
        /// Neither reads nor writes it: `add`.
        None = "",
        /// Writes it: `add.cc`.
        Out = "",
        /// Reads it: `addc`.
        In = "c",
        /// Reads and writes it: `addc.cc`.
        InOut = "c",
    }
}

impl Width {
    /// The register class of this width.
    pub const fn class(self) -> Class {
        match self {
            Self::W32 => Class::B32,
            Self::W64 => Class::B64,
        }
    }

    /// Number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }
}

impl Int {
    /// The types of 32 bits.
    pub(crate) const NARROW: [Self; 2] = [Self::U32, Self::S32];

    /// The width.
    pub const fn width(self) -> Width {
        match self {
            Self::U32 | Self::S32 => Width::W32,
            Self::U64 | Self::S64 => Width::W64,
        }
    }

    /// Is it signed?
    pub const fn signed(self) -> bool {
        matches!(self, Self::S32 | Self::S64)
    }
}

impl Carry {
    /// Does the instruction read the flag?
    pub const fn reads(self) -> bool {
        matches!(self, Self::In | Self::InOut)
    }

    /// Does the instruction write the flag?
    pub const fn writes(self) -> bool {
        matches!(self, Self::Out | Self::InOut)
    }

    pub(crate) const fn suffix(self) -> &'static str {
        if self.writes() { ".cc" } else { "" }
    }
}

impl Elem {
    /// Size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }

    /// The register class that holds it.
    pub const fn class(self) -> Class {
        match self {
            Self::U32 => Class::B32,
            Self::U64 => Class::B64,
            Self::F64 => Class::F64,
        }
    }
}

impl Vector {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty, reason = "a vector has at least one element")]
    pub const fn len(self) -> usize {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V4 => 4,
        }
    }

    /// The elements that an access of this length can move.
    pub(crate) fn elements(self) -> impl Iterator<Item = Elem> {
        Elem::ALL.into_iter().filter(move |elem| self.len() as u32 * elem.bytes() <= 16)
    }
}

impl Space {
    /// The spaces that a kernel can write.
    pub(crate) const WRITABLE: [Self; 3] = [Self::Global, Self::GlobalStream, Self::Shared];
    /// The spaces with atomic operations.
    pub(crate) const ATOMIC: [Self; 2] = [Self::Global, Self::Shared];

    /// Is it (any kind of) global memory?
    pub const fn is_global(self) -> bool {
        !matches!(self, Self::Shared)
    }

    /// The class of an address in this space.
    pub const fn address(self) -> Class {
        if self.is_global() { Class::B64 } else { Class::B32 }
    }
}
