//! The kernel as data: operations, operands, items.
//!
//! The instruction set is a table. [`Op`] names an operation with all its modifiers; its
//! [`mnemonic`](Op::mnemonic) and [`layout`](Op::layout) are everything the printer and the parser
//! know about it, and [`Op::all`] lists every one of them, so that a test can walk the whole set.
//! Adding an operation is: a variant, a mnemonic, a layout, a line in `all`, its semantics in the
//! simulator.
//!
//! source: the PTX ISA reference, the chapters of the same names as the groups below.

use std::fmt;

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

    /// The prefix of the register's name.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Pred => "%p",
            Self::B32 => "%r",
            Self::B64 => "%rd",
            Self::F64 => "%fd",
        }
    }

    /// The type in the register declaration.
    pub const fn declared(self) -> &'static str {
        match self {
            Self::Pred => ".pred",
            Self::B32 => ".b32",
            Self::B64 => ".b64",
            Self::F64 => ".f64",
        }
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

/// Width of an integer operation in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

/// An integer type: width and signedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Int {
    /// Unsigned 32 bits.
    U32,
    /// Unsigned 64 bits.
    U64,
    /// Signed 32 bits.
    S32,
    /// Signed 64 bits.
    S64,
}

/// Which half of a product is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// The low half.
    Lo,
    /// The high half.
    Hi,
}

/// What an addition or subtraction does with the carry flag `CC.CF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carry {
    /// Neither reads nor writes it: `add`.
    None,
    /// Writes it: `add.cc`.
    Out,
    /// Reads it: `addc`.
    In,
    /// Reads and writes it: `addc.cc`.
    InOut,
}

impl Carry {
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::Out, Self::In, Self::InOut];

    /// Does the instruction read the flag?
    pub const fn reads(self) -> bool {
        matches!(self, Self::In | Self::InOut)
    }

    /// Does the instruction write the flag?
    pub const fn writes(self) -> bool {
        matches!(self, Self::Out | Self::InOut)
    }

    pub(crate) const fn letter(self) -> &'static str {
        if self.reads() { "c" } else { "" }
    }

    pub(crate) const fn suffix(self) -> &'static str {
        if self.writes() { ".cc" } else { "" }
    }
}

/// A two-operand logic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// What a logic operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bits {
    /// A predicate.
    Pred,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

/// A comparison. Unsigned or signed by the type it is used with; ordered for doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the six comparisons name themselves")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What a comparison compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpType {
    /// Integers.
    Int(Int),
    /// Doubles, ordered: false if either is NaN.
    F64,
}

/// Direction of a funnel shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Funnel {
    /// `shf.l`: the high word of `{b, a} << n`.
    Left,
    /// `shf.r`: the low word of `{b, a} >> n`.
    Right,
}

/// What a funnel shift does with amounts of 32 and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunnelMode {
    /// The amount modulo 32.
    Wrap,
    /// The amount, at most 32.
    Clamp,
}

/// Rounding of a double to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// To the nearest, ties to even (`.rni`).
    Nearest,
    /// Toward zero (`.rzi`).
    Zero,
}

/// A memory access's element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
    /// A double.
    F64,
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

/// How many elements one access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vector {
    /// One.
    V1,
    /// Two.
    V2,
    /// Four (32-bit elements only: an access moves at most 16 bytes).
    V4,
}

impl Vector {
    /// The number of elements.
    pub const fn len(self) -> usize {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V4 => 4,
        }
    }

    /// Never: a vector has at least one element.
    pub const fn is_empty(self) -> bool {
        false
    }

    pub(crate) const fn infix(self) -> &'static str {
        match self {
            Self::V1 => "",
            Self::V2 => ".v2",
            Self::V4 => ".v4",
        }
    }
}

/// A state space and, for global memory, how the access uses the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Global,
    /// Global memory, read or written once: evict first (`.cs`).
    GlobalStream,
    /// Global memory that no thread of the launch writes: the read-only path (`.nc`), loads only.
    GlobalConst,
    /// The block's shared memory.
    Shared,
}

impl Space {
    /// Is it (any kind of) global memory?
    pub const fn is_global(self) -> bool {
        !matches!(self, Self::Shared)
    }

    /// The class of an address in this space.
    pub const fn address(self) -> Class {
        if self.is_global() { Class::B64 } else { Class::B32 }
    }
}

/// Mode of a warp shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// From lane − b.
    Up,
    /// From lane + b.
    Down,
    /// From lane xor b.
    Bfly,
    /// From lane b.
    Idx,
}

/// Mode of a warp vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    /// True if every participating lane's predicate is.
    All,
    /// True if any is.
    Any,
    /// True if all are the same.
    Uni,
}

/// A read-only special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Thread number within the block, `%tid.x`.
    Tid,
    /// Threads a block, `%ntid.x`.
    Ntid,
    /// Block number, `%ctaid.x`.
    Ctaid,
    /// Blocks in the grid, `%nctaid.x`.
    Nctaid,
    /// Lane within the warp, `%laneid`.
    Lane,
    /// Mask of this lane, `%lanemask_eq`.
    LaneMaskEq,
    /// Mask of the lanes below, `%lanemask_lt`.
    LaneMaskLt,
    /// Mask of the lanes above, `%lanemask_gt`.
    LaneMaskGt,
    /// The multiprocessor's clock, low 32 bits, `%clock`. Not a measure in the simulator.
    Clock,
}

impl Special {
    pub(crate) const ALL: [Self; 9] = [
        Self::Tid,
        Self::Ntid,
        Self::Ctaid,
        Self::Nctaid,
        Self::Lane,
        Self::LaneMaskEq,
        Self::LaneMaskLt,
        Self::LaneMaskGt,
        Self::Clock,
    ];

    /// Its name in the text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tid => "%tid.x",
            Self::Ntid => "%ntid.x",
            Self::Ctaid => "%ctaid.x",
            Self::Nctaid => "%nctaid.x",
            Self::Lane => "%laneid",
            Self::LaneMaskEq => "%lanemask_eq",
            Self::LaneMaskLt => "%lanemask_lt",
            Self::LaneMaskGt => "%lanemask_gt",
            Self::Clock => "%clock",
        }
    }
}

/// A double-precision operation, rounded to nearest even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// `d = a + b`.
    Add,
    /// `d = a − b`.
    Sub,
    /// `d = a·b`.
    Mul,
    /// `d = a·b + c`, rounded once.
    Fma,
    /// `d = −a`.
    Neg,
}

/// An operation with all its modifiers: the opcode of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `d = a + b (+ CF)`.
    Add(Width, Carry),
    /// `d = a − b (− CF)`; the flag is the borrow.
    Sub(Width, Carry),
    /// `d = half(a·b)`.
    Mul(Half, Int),
    /// `d = a·b`, 32×32 → 64 bits; signed or unsigned 32-bit type.
    MulWide(Int),
    /// `d = half(a·b) + c (+ CF)`, unsigned.
    Mad(Half, Width, Carry),
    /// `d = a·b + c`, 32×32 + 64 → 64 bits; signed or unsigned 32-bit type.
    MadWide(Int),
    /// The smaller.
    Min(Int),
    /// The larger.
    Max(Int),
    /// `d = a ∘ b`.
    Logic(Logic, Bits),
    /// `d = ¬a`.
    Not(Bits),
    /// Any function of three words, given by its truth table: the fourth source, a constant.
    Lop3,
    /// Four bytes picked from `{b, a}` by the nibbles of `c`.
    Prmt,
    /// `d = a << b`, zero from the width on.
    Shl(Width),
    /// `d = a >> b`, arithmetic for signed types, saturating at the width.
    Shr(Int),
    /// Funnel shift of `{b, a}` (`a` is the low word) by `c`.
    Shf(Funnel, FunnelMode),
    /// Extracts the field at `b` of length `c`, sign-extended for signed types.
    Bfe(Int),
    /// Inserts `a` into `b` at `c`, length `d`.
    Bfi(Width),
    /// Number of ones; the result is 32 bits.
    Popc(Width),
    /// Number of leading zeros; the result is 32 bits.
    Clz(Width),
    /// Number of the highest one, all ones if there is none; the result is 32 bits.
    Bfind(Width),
    /// Bits in reverse order.
    Brev(Width),
    /// `d = p ? a : b`.
    Selp(Class),
    /// `p = a ∘ b`.
    Setp(Cmp, CmpType),
    /// `d = a`.
    Mov(Class),
    /// `d = {lo, hi}`.
    Pack,
    /// `{lo, hi} = a`.
    Unpack,
    /// A double's bits.
    BitsOfF64,
    /// The double of these bits.
    F64OfBits,
    /// Zero extension, 32 to 64 bits.
    ZeroExtend,
    /// Sign extension, 32 to 64 bits.
    SignExtend,
    /// The low 32 of 64 bits.
    Truncate,
    /// An integer as a double, rounded to nearest even.
    IntToF64(Int),
    /// A double as an integer, saturating; NaN gives the top bit alone.
    F64ToInt(Round, Int),
    /// A special register.
    Special(Special),
    /// The address of the block's dynamic shared memory.
    SharedBase,
    /// Kernel parameter number `imm`.
    LdParam(Width),
    /// `vector = [address + offset]`.
    Ld(Space, Vector, Elem),
    /// `[address + offset] = vector`.
    St(Space, Vector, Elem),
    /// `d = [address + offset]`, 16 bits of shared memory, zero-extended.
    LdSharedHalf,
    /// `[address + offset] = a`, the low 16 bits, to shared memory.
    StSharedHalf,
    /// Asynchronous copy, global to shared, of 4, 8 or 16 bytes.
    CpAsync(u8),
    /// The same with a last operand: how many bytes to read, the rest are zeros.
    CpAsyncZfill(u8),
    /// Closes this thread's group of asynchronous copies.
    CpAsyncCommit,
    /// Waits until at most `imm` of this thread's groups are pending.
    CpAsyncWait,
    /// Waits for all of this thread's asynchronous copies.
    CpAsyncWaitAll,
    /// `d = [address + offset]; [address + offset] += a`, atomically.
    AtomAdd(Space, Width),
    /// `[address + offset] += a`, atomically.
    RedAdd(Space, Width),
    /// Warp shuffle: `a` of another lane; `b` the lane or distance, `c` clamp and segment mask, then
    /// the member mask.
    Shfl(Shuffle),
    /// Warp vote on a predicate.
    Vote(Vote),
    /// The lanes whose predicate is true, as a mask.
    Ballot,
    /// Barrier number `imm` of the block.
    BarSync,
    /// Barrier of the lanes in the mask, with memory ordering among them.
    BarWarpSync,
    /// Arithmetic on doubles.
    Float(Float),
    /// `mma.sync.m16n8k32`, unsigned bytes, 32-bit sums: `D = A·B + C`.
    MmaU8,
    /// Ends the thread.
    Ret,
}

/// The part an operand plays in an instruction's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A register that is written.
    Dst(Class),
    /// A register or constant that is read.
    Src(Class),
    /// A constant.
    Const,
    /// `{…}`: this many registers that are written.
    DstVec(Class, usize),
    /// `{…}`: this many registers that are read.
    SrcVec(Class, usize),
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
            Self::Dst(_) | Self::Src(_) | Self::Const | Self::Param => 1,
            Self::DstVec(_, n) | Self::SrcVec(_, n) => n,
            Self::Addr(_) => 2,
            Self::Fixed(_) => 0,
        }
    }
}

/// Condition on an instruction or branch: `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The number of the predicate register.
    pub pred: u32,
    /// Execute where it is false.
    pub negated: bool,
}

/// An instruction: an operation and its operands in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Which threads execute it.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// Destination first, as the layout lists them.
    pub operands: Vec<Operand>,
}

/// A branch target within a kernel, printed `$L<number>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// An element of a kernel's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An instruction.
    Inst(Inst),
    /// A branch target.
    Label(Label),
    /// A branch.
    Branch {
        /// Which threads take it; none: all.
        guard: Option<Guard>,
        /// Where to.
        target: Label,
    },
    /// The start of a named section, for the reader and for the simulator's counters.
    Section(String),
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name: a letter, then letters, digits and `_`.
    pub name: String,
    /// Its width (a pointer is 64 bits).
    pub width: Width,
}

/// Hints to the assembler about the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// At most this many threads a block (`.maxntid`).
    pub max_threads: Option<u32>,
    /// At least this many blocks on a multiprocessor (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// At most this many registers a thread (`.maxnreg`).
    pub max_registers: Option<u32>,
}

/// The language version and architecture a text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// PTX 6.3, `sm_70`: the oldest we serve.
    Sm70,
    /// PTX 7.0, `sm_80`: asynchronous copies, integer matrix products.
    Sm80,
}

impl Target {
    /// The `.version` directive's value.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Sm70 => "6.3",
            Self::Sm80 => "7.0",
        }
    }

    /// The `.target` directive's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm70 => "sm_70",
            Self::Sm80 => "sm_80",
        }
    }

    /// The least compute capability that runs it, times ten.
    pub const fn capability(self) -> u32 {
        match self {
            Self::Sm70 => 70,
            Self::Sm80 => 80,
        }
    }
}

/// A kernel: one entry point and all it needs. Two kernels are equal if their texts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The entry point's name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Launch hints.
    pub bounds: Bounds,
    /// Registers declared of each class, in the order of [`Class::ALL`].
    pub registers: [u32; 4],
    /// Does it use dynamic shared memory?
    pub shared: bool,
    /// The instructions.
    pub body: Vec<Item>,
}

impl Kernel {
    /// The lowest target that has every instruction of the kernel.
    pub fn target(&self) -> Target {
        self.instructions().map(|inst| inst.op.target()).max().unwrap_or(Target::Sm70)
    }

    /// The instructions of the body, in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Inst> {
        self.body.iter().filter_map(|item| match item {
            Item::Inst(inst) => Some(inst),
            _ => None,
        })
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
    /// All four.
    pub const ALL: [Self; 4] = [Self::U32, Self::U64, Self::S32, Self::S64];

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

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::S32 => "s32",
            Self::S64 => "s64",
        }
    }
}

impl Bits {
    pub(crate) const ALL: [Self; 3] = [Self::Pred, Self::B32, Self::B64];

    /// The register class.
    pub const fn class(self) -> Class {
        match self {
            Self::Pred => Class::Pred,
            Self::B32 => Class::B32,
            Self::B64 => Class::B64,
        }
    }
}
