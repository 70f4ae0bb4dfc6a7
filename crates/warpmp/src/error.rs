//! What can go wrong, and what the caller may do about it.

use crate::kernels::SettingsFault;
use crate::operation::Operation;

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error. Numbers are numbers, their units are in their names; nothing was computed unless the
/// variant says so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Give both operands the same number of lanes, or one of them a single lane.
    #[error("operands have {lanes_a} and {lanes_b} lanes; they must be equal, or one of them 1")]
    ShapeMismatch {
        /// Lanes of the first operand.
        lanes_a: usize,
        /// Lanes of the second operand.
        lanes_b: usize,
    },
    /// Give the operation the operands it takes.
    #[error("'{operation}' takes {expected} operands; there are {found}")]
    OperandCount {
        /// The operation.
        operation: Operation,
        /// Operands that it takes.
        expected: usize,
        /// Operands that were given.
        found: usize,
    },
    /// Give memory for every result, or for none.
    #[error("'{operation}' gives {expected} results; there is memory for {found}")]
    ResultCount {
        /// The operation.
        operation: Operation,
        /// Results that it gives.
        expected: usize,
        /// Pieces of memory that were given.
        found: usize,
    },
    /// Split the operand, or use another operation.
    #[error("'{operation}' takes operands of at most {limit} bits; one has {bits}")]
    TooWide {
        /// The operation.
        operation: Operation,
        /// Width of the operand.
        bits: usize,
        /// The operation's limit.
        limit: usize,
    },
    /// Give the operation a smaller constant.
    #[error("'{operation}' would give a result of {bits} bits; at most {limit} are supported")]
    ResultTooWide {
        /// The operation.
        operation: Operation,
        /// Width of the result.
        bits: usize,
        /// The most that there may be.
        limit: usize,
    },
    /// A lane has at least one bit.
    #[error("a batch whose lanes have no bits")]
    ZeroBits,
    /// Give `lanes · ⌈bits / 32⌉` limbs.
    #[error("{lanes} lanes of {bits} bits are {expected_limbs} limbs of 32 bits; there are {found_limbs}")]
    LimbCount {
        /// Lanes of the batch.
        lanes: usize,
        /// Bits a lane.
        bits: usize,
        /// Limbs that the shape needs (saturated, should it overflow).
        expected_limbs: usize,
        /// Limbs that were given.
        found_limbs: usize,
    },
    /// Give the batch more bits a lane, or clear the bits above.
    #[error("lane {lane} does not fit in {bits} bits")]
    NotReduced {
        /// The first lane that does not fit.
        lane: usize,
        /// Bits a lane of the batch.
        bits: usize,
    },
    /// Write the number with digits alone.
    #[error("row {lane} is not a {} number", if *.radix == 16 { "hexadecimal" } else { "decimal" })]
    NotANumber {
        /// The first row that is no number.
        lane: usize,
        /// The radix of its digits.
        radix: u32,
    },
    /// Give the batch the two's complement, or the magnitude and the sign.
    #[error("number {lane} is negative; a batch has numbers from zero on")]
    Negative {
        /// The first number below zero.
        lane: usize,
    },
    /// Give the statuses that an operation made.
    #[error("statuses have {expected} bits a lane; this batch has {found}")]
    NotStatuses {
        /// Bits of a status.
        expected: usize,
        /// Bits of a lane of the batch.
        found: usize,
    },
    /// Retry with fewer lanes.
    #[error("{required_bytes} B are needed, {}", free(*available_bytes))]
    OutOfMemory {
        /// What the operation needs at the least.
        required_bytes: u64,
        /// What the device has. None: the host has too little.
        available_bytes: Option<u64>,
    },
    /// Open the session on a GPU.
    #[error("the session has no GPU")]
    NoDevice,
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped,
    /// Choose one of `known`.
    #[error("this engine has no algorithm '{name}' for '{operation}'; there are: {}", known.join(", "))]
    UnknownAlgorithm {
        /// The operation.
        operation: Operation,
        /// What was asked for.
        name: String,
        /// Every name of the engine.
        known: Vec<String>,
    },
    /// Correct the row of the tuning table.
    #[error("the tuning table's row for '{operation}': {fault}")]
    Settings {
        /// The operation.
        operation: Operation,
        /// The setting, and why the algorithm cannot use it.
        fault: SettingsFault,
    },
    /// Choose one of `fits`, or let the plan choose.
    #[error("'{algorithm}' does not do '{operation}' of {} bits here; what fits: {}", widths(bits), listed(fits))]
    AlgorithmUnfit {
        /// The operation.
        operation: Operation,
        /// What was asked for.
        algorithm: String,
        /// Bits of each operand.
        bits: Vec<usize>,
        /// The names of the algorithms that fit.
        fits: Vec<String>,
    },
    /// Use the CPU engine: [`Session::cpu`](crate::Session::cpu), or `--device cpu` on the command line.
    #[error(
        "no kernel does '{operation}' of {} bits; kernels take up to {limit} bits, and the CPU engine takes these",
        widths(bits)
    )]
    NoKernel {
        /// The operation.
        operation: Operation,
        /// Bits of each operand.
        bits: Vec<usize>,
        /// Bits that every kernel family takes.
        limit: usize,
    },
    /// Give the operation memory of the result's shape: [`Session::reserve`](crate::Session::reserve).
    #[error(
        "the result is {expected_lanes} lanes of {expected_bits} bits; the memory given for it has {found_lanes} of {found_bits}"
    )]
    ResultShape {
        /// Lanes of the result.
        expected_lanes: usize,
        /// Bits of the result.
        expected_bits: usize,
        /// Lanes of the memory.
        found_lanes: usize,
        /// Bits of the memory.
        found_bits: usize,
    },
    /// Use the batch with the session that made it, or download it and upload it again.
    #[error("a batch of another engine's memory")]
    ForeignBatch,
    /// What the device says.
    #[error(transparent)]
    Device(warpmp_device::Error),
}

/// Names for people, also if there are none.
fn free(available_bytes: Option<u64>) -> String {
    match available_bytes {
        Some(bytes) => format!("{bytes} B are free"),
        None => "more than the system gives".into(),
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing on this engine; the CPU has every operation".into() } else { names.join(", ") }
}

/// Widths of operands for people: `131 × 64`.
pub(crate) fn widths(bits: &[usize]) -> String {
    bits.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ")
}

impl From<warpmp_device::Error> for Error {
    fn from(error: warpmp_device::Error) -> Self {
        use warpmp_device::Error as Device;
        match error {
            Device::OutOfMemory { required_bytes, available_bytes } => {
                Self::OutOfMemory { required_bytes, available_bytes: Some(available_bytes) }
            }
            Device::OutOfHostMemory { required_bytes } => Self::OutOfMemory { required_bytes, available_bytes: None },
            Device::WrongDevice { .. } => Self::ForeignBatch,
            other => Self::Device(other),
        }
    }
}
