//! The errors of devices.

use warpmp_kernel::parse::ParseError;
use warpmp_kernel::sim::Fault;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a device did not do its work. Units are in the names; a version is `(major, minor)`;
/// a capability is ten times NVIDIA's number (9.0 is 90).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no `libcuda`: no NVIDIA driver, or one outside the library path. Go on without a GPU.
    #[error("no NVIDIA driver on this machine (libcuda was not found); install one, or go on without a GPU")]
    NoDriver,
    /// The driver serves an older CUDA than the kernels need. Update it.
    #[error("the NVIDIA driver serves CUDA {}.{}, {}.{} or newer is needed: update the driver", found.0, found.1, required.0, required.1)]
    DriverTooOld {
        /// The CUDA version that the driver serves.
        found: (u32, u32),
        /// The least that is needed.
        required: (u32, u32),
    },
    /// `libcuda` is there but lacks a function: very old, or a stub to link against.
    #[error("libcuda lacks {function}: very old, or a stub; install the NVIDIA driver")]
    DriverLacks {
        /// The first function that was missed.
        function: &'static str,
    },
    /// There is no GPU of this number. See `nvidia-smi` and `CUDA_VISIBLE_DEVICES`.
    #[error("there is no GPU {ordinal}, {count} visible (compare nvidia-smi and CUDA_VISIBLE_DEVICES)")]
    NoDevice {
        /// The one asked for, from 0.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The GPU is older than any kernel's target. Use another.
    #[error("{name} has compute capability {}, kernels need {} or more", tenths(*capability), tenths(*required))]
    UnsupportedArchitecture {
        /// The GPU.
        name: String,
        /// The GPU's compute capability, times ten.
        capability: u32,
        /// The least that kernels need.
        required: u32,
    },
    /// The kernel has instructions that this device lacks. Choose another kernel.
    #[error("kernel {kernel} needs compute capability {}, the device has {}", tenths(*required), tenths(*capability))]
    KernelTooNew {
        /// The kernel's name.
        kernel: String,
        /// The capability that its target needs: this or a later one, for `sm_90a` exactly this.
        required: u32,
        /// The capability of the device.
        capability: u32,
    },
    /// Not enough free device memory. Retry with less at a time.
    #[error("{required_bytes} B of device memory wanted, {available_bytes} B free")]
    OutOfMemory {
        /// The bytes that were asked for.
        required_bytes: u64,
        /// The free bytes right after the refusal. They may be enough, but in pieces.
        available_bytes: u64,
    },
    /// The system does not lock this much host memory. Retry with less.
    #[error("{required_bytes} B of page-locked host memory wanted, refused by the system")]
    OutOfHostMemory {
        /// The bytes that were asked for.
        required_bytes: u64,
    },
    /// A kernel's fault, a hardware error or a time-out has destroyed everything on the device, and
    /// every later call returns the same. Drop all that belongs to it; restart the program to go on.
    #[error("the GPU is lost for this process: {call} returned {code}")]
    DeviceLost {
        /// The driver function that told.
        call: &'static str,
        /// The driver's name of the fault.
        code: String,
    },
    /// The driver's compiler refuses the kernel.
    #[error("kernel {kernel} refused ({code}){}\n{log}", place(*line, source_line.as_deref()))]
    KernelRefused {
        /// The kernel's name.
        kernel: String,
        /// The driver's name of the refusal.
        code: String,
        /// All that the compiler said.
        log: String,
        /// The line of the text it first complains about, from 1.
        line: Option<usize>,
        /// That line.
        source_line: Option<String>,
    },
    /// The simulator cannot read the kernel.
    #[error("kernel {kernel} refused by the simulator: {reason}")]
    KernelUnreadable {
        /// The kernel's name.
        kernel: String,
        /// The line and what is wrong with it.
        reason: ParseError,
    },
    /// The simulator found the kernel, or a copy, at fault.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// Too many or too few arguments; nothing was launched.
    #[error("kernel {kernel} takes {expected} arguments, {given} given")]
    ArgumentCount {
        /// The kernel's name.
        kernel: String,
        /// Its number of parameters.
        expected: usize,
        /// The number of arguments.
        given: usize,
    },
    /// An argument of the wrong width; nothing was launched.
    #[error("kernel {kernel}: parameter `{parameter}` has {expected_bits} bits, the argument {given_bits}")]
    ArgumentWidth {
        /// The kernel's name.
        kernel: String,
        /// The parameter's name.
        parameter: String,
        /// Its width.
        expected_bits: u32,
        /// The argument's.
        given_bits: u32,
    },
    /// A grid that the device or the kernel does not allow; nothing was launched.
    #[error("kernel {kernel}: {given} {what}, allowed are 1 to {limit}")]
    GridLimit {
        /// The kernel's name.
        kernel: String,
        /// The unit of the count.
        what: &'static str,
        /// How many.
        given: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// More shared memory than a block may have; nothing was launched.
    #[error("kernel {kernel}: {required_bytes} B of shared memory a block, the device has {available_bytes} B")]
    SharedMemory {
        /// The kernel's name.
        kernel: String,
        /// The bytes that were asked for.
        required_bytes: u32,
        /// The most that a block may have.
        available_bytes: u32,
    },
    /// A range outside its memory; nothing was done.
    #[error("{length} from {offset} on is outside a {what} of {available}")]
    OutOfRange {
        /// Which memory, and the unit of the numbers.
        what: &'static str,
        /// Where the range starts.
        offset: u64,
        /// Its length.
        length: u64,
        /// The size of the memory.
        available: u64,
    },
    /// A copy within one buffer whose ranges overlap; nothing was done.
    #[error("the source and the destination of a copy overlap")]
    Overlap,
    /// Something that lives on another device; nothing was done.
    #[error("the {what} belongs to another device")]
    WrongDevice {
        /// The kind of object.
        what: &'static str,
    },
    /// The time of an event that was never recorded.
    #[error("the event was never recorded")]
    EventNotRecorded,
    /// Any other answer of the driver.
    #[error("{call} returned {code}: {meaning}")]
    Driver {
        /// The driver function.
        call: &'static str,
        /// The driver's name of its answer.
        code: String,
        /// The driver's words for it.
        meaning: String,
    },
}

/// The line, as far as it is known.
fn place(line: Option<usize>, source: Option<&str>) -> String {
    match (line, source) {
        (Some(line), Some(source)) => format!(" at line {line}: `{source}`"),
        (Some(line), None) => format!(" at line {line}"),
        _ => String::new(),
    }
}

/// 90 as 9.0.
fn tenths(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}
