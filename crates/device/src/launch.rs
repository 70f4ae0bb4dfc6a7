//! Launches: the grid, the arguments, and the checks before either backend sees them.

use warpmp_kernel::ir::{Kernel, Param, Width};

use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::objects::{Buffer, Module};

pub use warpmp_kernel::sim::Grid;

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A 32-bit value.
    U32(u32),
    /// A 64-bit value.
    U64(u64),
    /// The address in a buffer, this many words from its start.
    Buffer(&'a Buffer, usize),
}

impl<'a> From<&'a Buffer> for Arg<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self::Buffer(buffer, 0)
    }
}

impl Arg<'_> {
    fn bits(&self) -> u32 {
        match self {
            Self::U32(_) => Width::W32.bits(),
            Self::U64(_) | Self::Buffer(..) => Width::W64.bits(),
        }
    }

    /// The argument's bits, given where a buffer starts.
    fn value(&self, address: impl Fn(&Buffer) -> Result<u64>) -> Result<u64> {
        match *self {
            Self::U32(value) => Ok(value.into()),
            Self::U64(value) => Ok(value),
            Self::Buffer(buffer, offset) => {
                check_words(buffer, offset, 0)?;
                Ok(address(buffer)? + 4 * offset as u64)
            }
        }
    }
}

/// Rows of words at two places, for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The number of rows.
    pub count: usize,
    /// Words of a row.
    pub words: usize,
    /// Words before the first row in the source.
    pub src_first: usize,
    /// Words from the start of a row to the start of the next one in the source.
    pub src_stride: usize,
    /// The same in the target.
    pub dst_stride: usize,
}

impl Rows {
    /// Refuses rows that overlap, or that are not in their buffers.
    pub(crate) fn check(&self, src: &Buffer, dst: &Buffer) -> Result<()> {
        for (buffer, first, stride) in [(src, self.src_first, self.src_stride), (dst, 0, self.dst_stride)] {
            check_range("row (in words)", 0, self.words as u64, stride as u64)?;
            if let Some(rows_before) = self.count.checked_sub(1) {
                check_words(buffer, rows_before.saturating_mul(stride).saturating_add(first), self.words)?;
            }
        }
        Ok(())
    }
}

/// The arguments' bits, one word of 64 bits each, if number and widths are those of the kernel's parameters.
pub(crate) fn argument_values(
    module: &Module,
    args: &[Arg<'_>],
    address: impl Fn(&Buffer) -> Result<u64>,
) -> Result<Vec<u64>> {
    let params = module.params();
    if params.len() != args.len() {
        let (expected, given) = (params.len(), args.len());
        return Err(Error::ArgumentCount { kernel: module.name().into(), expected, given });
    }
    let check = |(Param { name, width }, arg): (&Param, &Arg<'_>)| {
        if width.bits() == arg.bits() {
            return arg.value(&address);
        }
        Err(Error::ArgumentWidth {
            kernel: module.name().into(),
            parameter: name.clone(),
            expected_bits: width.bits(),
            given_bits: arg.bits(),
        })
    };
    params.iter().zip(args).map(check).collect()
}

/// Refuses a kernel with instructions that the device lacks.
pub(crate) fn check_target(info: &DeviceInfo, kernel: &Kernel) -> Result<()> {
    let (target, capability) = (kernel.target(), info.capability);
    if target.runs_on(capability) {
        return Ok(());
    }
    Err(Error::KernelTooNew { kernel: kernel.name.clone(), required: target.capability(), capability })
}

/// Refuses a grid that is empty, or larger than the device or the kernel allows.
pub(crate) fn check_grid(info: &DeviceInfo, module: &Module, grid: Grid) -> Result<()> {
    let threads = info.threads_per_block.min(module.threads_per_block());
    for (what, given, limit) in
        [("blocks", grid.blocks, info.blocks_per_grid), ("threads a block", grid.threads, threads)]
    {
        if given == 0 || given > limit {
            let (kernel, given, limit) = (module.name().into(), given.into(), limit.into());
            return Err(Error::GridLimit { kernel, what, given, limit });
        }
    }
    if grid.shared_bytes > info.shared_bytes_per_block {
        return Err(Error::SharedMemory {
            kernel: module.name().into(),
            required_bytes: grid.shared_bytes,
            available_bytes: info.shared_bytes_per_block,
        });
    }
    Ok(())
}

/// Refuses a range that is not inside `available`.
pub(crate) fn check_range(what: &'static str, offset: u64, length: u64, available: u64) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= available => Ok(()),
        _ => Err(Error::OutOfRange { what, offset, length, available }),
    }
}

/// The same in the words of a buffer.
pub(crate) fn check_words(buffer: &Buffer, offset: usize, words: usize) -> Result<()> {
    check_range("buffer (in words)", offset as u64, words as u64, buffer.bytes() / 4)
}

/// The same in the words of page-locked memory, from its start.
pub(crate) fn check_pinned(pinned: &[u32], words: usize) -> Result<()> {
    check_range("pinned memory (in words)", 0, words as u64, pinned.len() as u64)
}
