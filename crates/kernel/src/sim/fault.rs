//! The mistakes of kernels, and where they happened.

use std::fmt;

use crate::ir::Reg;

/// An error of a kernel, found while it ran; or of the host in touching the device's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The mistake.
    pub kind: FaultKind,
    /// Where in the kernel; none if the host did it.
    pub site: Option<Box<Site>>,
}

/// The place of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The kernel's name.
    pub kernel: String,
    /// Line of the kernel's text, from 1; 0 if no line is to blame.
    pub line: usize,
    /// The instruction.
    pub instruction: String,
    /// The block.
    pub block: u32,
    /// The warp within the block.
    pub warp: u32,
    /// The lane, if one is to blame.
    pub lane: Option<u32>,
}

/// The kinds of faults. Addresses are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A register is read that no instruction has written in this lane.
    #[error("register {register} is read but was never written")]
    UninitialisedRegister {
        /// The register.
        register: Reg,
    },
    /// The carry flag is read, but nothing wrote it since the last label or branch.
    #[error("the carry flag is read but is undefined here: it does not live across labels and branches")]
    PoisonCarry,
    /// A subtraction takes the carry of an addition as its borrow, or the other way round: the machine keeps
    /// borrows inverted, and `ptxas` does not convert.
    #[error("a subtraction takes the carry of an addition, or an addition the borrow of a subtraction")]
    MixedCarry,
    /// An access outside every allocation.
    #[error("access to {bytes} bytes at global address {address:#x}, outside every allocation")]
    GlobalOutOfBounds {
        /// First byte.
        address: u64,
        /// Size of the access.
        bytes: u64,
    },
    /// An access outside the block's shared memory.
    #[error("access to {bytes} bytes at offset {offset:#x} of {size:#x} bytes of shared memory")]
    SharedOutOfBounds {
        /// Distance from the start of the shared memory (wraps below it).
        offset: u32,
        /// Size of the access.
        bytes: u32,
        /// Size of the block's shared memory.
        size: u32,
    },
    /// An address that is no multiple of the access's size.
    #[error("address {address:#x} is not aligned to the {bytes} bytes of the access")]
    Misaligned {
        /// The address.
        address: u64,
        /// Size of the access.
        bytes: u32,
    },
    /// A word of global memory is read that nothing has written.
    #[error("global memory at {address:#x} is read but was never written")]
    UninitialisedGlobal {
        /// The word's address.
        address: u64,
    },
    /// A word of shared memory is read that this block has not written.
    #[error("shared memory at offset {offset:#x} is read but was never written")]
    UninitialisedShared {
        /// The word's distance from the start of the shared memory.
        offset: u32,
    },
    /// The target of an asynchronous copy is touched before the thread that issued it has waited.
    #[error("shared memory at offset {offset:#x} is touched while an asynchronous copy to it is in flight")]
    PendingCopy {
        /// The word's distance from the start of the shared memory.
        offset: u32,
    },
    /// A register is touched that a matrix product of the warpgroup uses, for which the warp has not waited.
    #[error("register {register} is touched while a matrix product of the warpgroup uses it")]
    PendingProduct {
        /// The register.
        register: Reg,
    },
    /// A matrix product of the warpgroup uses a register that another instruction wrote since the last `wgmma.fence`.
    #[error(
        "a matrix product of the warpgroup uses register {register}, which was written after the last `wgmma.fence`"
    )]
    UnfencedRegister {
        /// The register.
        register: Reg,
    },
    /// A matrix product of the warpgroup reads a word of shared memory whose writer has not executed `fence.proxy.async` since.
    #[error("a matrix product reads offset {offset:#x} of shared memory, written without `fence.proxy.async` after it")]
    UnfencedShared {
        /// The word's distance from the start of the shared memory.
        offset: u32,
    },
    /// A word of shared memory is written that a matrix product of a warpgroup reads, for which a warp has not waited.
    #[error("offset {offset:#x} of shared memory is written while a matrix product reads it")]
    HeldByProduct {
        /// The word's distance from the start of the shared memory.
        offset: u32,
    },
    /// A descriptor of a matrix that asks for more than the simulator knows: swizzling, or a base offset.
    #[error("the descriptor {descriptor:#x} of a matrix has bits other than addresses")]
    Descriptor {
        /// The descriptor.
        descriptor: u64,
    },
    /// The four warps of a warpgroup do not execute the same `wgmma` instructions with the same operands, or one is missing.
    #[error("the warps of a warpgroup must execute this together, with the same descriptor")]
    WarpgroupApart,
    /// Two lanes touch a word of shared memory, one of them writes, and nothing orders them.
    #[error("race at offset {offset:#x} of shared memory with an unordered {} by {}", if *.written { "write" } else { "read" }, Peer(*.warp, *.lane))]
    Race {
        /// The word's distance from the start of the shared memory.
        offset: u32,
        /// The other access was a write.
        written: bool,
        /// The other access's warp; none: several.
        warp: Option<u32>,
        /// The other access's lane; none: several.
        lane: Option<u32>,
    },
    /// A member mask names a lane that is alive but does not take part.
    #[error("member mask {mask:#010x} names inactive lanes; active are {active:#010x}")]
    InactiveMember {
        /// The member mask.
        mask: u32,
        /// The lanes that execute the instruction.
        active: u32,
    },
    /// The executing lane is not in its own member mask.
    #[error("member mask {mask:#010x} lacks the executing lane")]
    NotAMember {
        /// The member mask.
        mask: u32,
    },
    /// Lanes of one group give different member masks.
    #[error("member mask {mask:#010x} differs from the mask {other:#010x} of a lane it names")]
    MaskMismatch {
        /// This lane's mask.
        mask: u32,
        /// The mask of the other lane.
        other: u32,
    },
    /// A block-wide barrier or matrix product is executed by some lanes of a warp only.
    #[error("all lanes must execute this together: active are {active:#010x} of {expected:#010x}")]
    Divergent {
        /// The lanes that execute it.
        active: u32,
        /// The lanes that should.
        expected: u32,
    },
    /// Warps wait at a barrier that others never reach.
    #[error("deadlock: {waiting} warps wait at barrier {barrier}, {exited} have exited, {elsewhere} wait elsewhere")]
    Deadlock {
        /// The barrier's number.
        barrier: u32,
        /// Warps that wait at it.
        waiting: u32,
        /// Warps that have ended.
        exited: u32,
        /// Warps that wait at another barrier.
        elsewhere: u32,
    },
    /// A warp ran longer than allowed.
    #[error("a warp executed {limit} instructions without coming to an end")]
    Runaway {
        /// The limit, in instructions of one warp.
        limit: u64,
    },
    /// Control ran past the last instruction.
    #[error("control runs past the last instruction: `ret` is missing")]
    MissingReturn,
    /// A word is read through the read-only path that this launch writes.
    #[error("global memory at {address:#x} is read through the read-only path, but the launch writes it")]
    NotReadOnly {
        /// The word's address.
        address: u64,
    },
    /// The launch gives another number of arguments than the kernel has parameters.
    #[error("{given} arguments for {expected} parameters")]
    Arguments {
        /// Parameters of the kernel.
        expected: usize,
        /// Arguments given.
        given: usize,
    },
    /// An argument does not fit in its parameter's 32 bits.
    #[error("argument {index} is {value:#x}, its parameter has 32 bits")]
    ArgumentTooWide {
        /// Number of the argument, from 0.
        index: usize,
        /// Its value.
        value: u64,
    },
    /// The grid has no threads, or more than a block can have.
    #[error("cannot launch {blocks} blocks of {threads} threads (at most {limit} a block)")]
    LaunchShape {
        /// Blocks asked for.
        blocks: u32,
        /// Threads a block asked for.
        threads: u32,
        /// The most threads a block can have.
        limit: u32,
    },
    /// More shared memory is asked for than a block can have.
    #[error("{shared_bytes} bytes of shared memory a block, at most {limit}")]
    LaunchShared {
        /// Bytes asked for.
        shared_bytes: u32,
        /// The most a block can have.
        limit: u32,
    },
}

/// "warp 3, lane 4", as far as it is known.
struct Peer(Option<u32>, Option<u32>);

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (None, _) => f.write_str("several warps"),
            (Some(warp), None) => write!(f, "several lanes of warp {warp}"),
            (Some(warp), Some(lane)) => write!(f, "lane {lane} of warp {warp}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(site) = &self.site else { return write!(f, "{}", self.kind) };
        let Site { kernel, line, instruction, block, warp, lane } = &**site;
        write!(f, "{kernel}, line {line}: `{instruction}`, block {block}, warp {warp}")?;
        if let Some(lane) = lane {
            write!(f, ", lane {lane}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl std::error::Error for Fault {}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Self { kind, site: None }
    }
}

/// A fault on its way up to where its site is known.
#[derive(Debug)]
pub(super) struct Cause {
    pub(super) kind: FaultKind,
    pub(super) lane: Option<u32>,
}

impl Cause {
    /// A fault of one lane.
    pub(super) fn at(lane: usize, kind: FaultKind) -> Self {
        Self { kind, lane: Some(lane as u32) }
    }

    /// A fault of the lowest lane in the mask.
    pub(super) fn first(lanes: u32, kind: FaultKind) -> Self {
        Self { kind, lane: Some(lanes.trailing_zeros()) }
    }
}

impl From<FaultKind> for Cause {
    fn from(kind: FaultKind) -> Self {
        Self { kind, lane: None }
    }
}
