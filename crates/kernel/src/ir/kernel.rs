//! A kernel: its parameters, its launch hints and its body.

use super::modifier::Width;
use super::op::{Op, Part};
use super::register::Operand;

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
    /// The condition under which a thread executes it.
    pub guard: Option<Guard>,
    /// The operation.
    pub op: Op,
    /// Destination first, as the layout lists them.
    pub operands: Vec<Operand>,
}

impl Inst {
    /// The parts of the text, each with its operands.
    pub fn parts(&self) -> impl Iterator<Item = (Part, &[Operand])> {
        let mut rest = self.operands.as_slice();
        self.op.layout().into_iter().map(move |part| {
            let (own, others) = rest.split_at(part.arity().min(rest.len()));
            rest = others;
            (part, own)
        })
    }
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

impl Param {
    /// A 32-bit parameter.
    pub fn u32(name: &str) -> Self {
        Self { name: name.into(), width: Width::W32 }
    }

    /// A 64-bit parameter or pointer.
    pub fn u64(name: &str) -> Self {
        Self { name: name.into(), width: Width::W64 }
    }
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

/// The language version and architecture that a text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// PTX 6.3, `sm_70`: the oldest we serve.
    Sm70,
    /// PTX 7.0, `sm_80`: asynchronous copies, integer matrix products.
    Sm80,
    /// PTX 8.0, `sm_90a`: matrix products of warpgroups. No other compute capability runs it, not even a later one.
    Sm90a,
}

impl Target {
    /// The `.version` directive's value.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Sm70 => "6.3",
            Self::Sm80 => "7.0",
            Self::Sm90a => "8.0",
        }
    }

    /// The `.target` directive's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm70 => "sm_70",
            Self::Sm80 => "sm_80",
            Self::Sm90a => "sm_90a",
        }
    }

    /// The least compute capability that runs it, times ten.
    pub const fn capability(self) -> u32 {
        match self {
            Self::Sm70 => 70,
            Self::Sm80 => 80,
            Self::Sm90a => 90,
        }
    }

    /// Does a GPU of this compute capability, times ten, run it?
    pub const fn runs_on(self, capability: u32) -> bool {
        match self {
            Self::Sm70 | Self::Sm80 => capability >= self.capability(),
            Self::Sm90a => capability == self.capability(),
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
    /// Registers declared of each class, in the order of [`Class::ALL`](super::Class::ALL).
    pub registers: [u32; 4],
    /// Does it use dynamic shared memory?
    pub shared: bool,
    /// Constants that the kernel reads from global memory, of 64 bits each.
    pub table: Vec<u64>,
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
