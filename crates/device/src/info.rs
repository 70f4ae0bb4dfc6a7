//! The description of a device.

use std::fmt;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An NVIDIA GPU.
    Cuda,
    /// The simulator.
    Sim,
}

/// The figures of a device, as the driver reports them. None is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The product's name (`NVIDIA H200`), or `simulator`.
    pub name: String,
    /// A GPU or the simulator.
    pub kind: Kind,
    /// Its number among the visible GPUs, from 0.
    pub ordinal: usize,
    /// Ten times the compute capability: 9.0 is 90.
    pub capability: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Memory in all.
    pub memory_bytes: u64,
    /// The most shared memory a block may ask for.
    pub shared_bytes_per_block: u32,
    /// Shared memory of a multiprocessor.
    pub shared_bytes_per_multiprocessor: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// The most threads a block may have.
    pub threads_per_block: u32,
    /// The most threads that a multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// The most blocks a grid may have.
    pub blocks_per_grid: u32,
    /// Second-level cache.
    pub l2_bytes: u64,
    /// The multiprocessors' highest clock, in kHz; 0 if unknown.
    pub clock_khz: u32,
    /// The CUDA version that the driver serves, major and minor.
    pub driver: Option<(u32, u32)>,
    /// The memory bandwidth by clock and width, for reads and writes together.
    pub memory_bandwidth_bytes_per_second: Option<u64>,
    /// Engines that copy beside the kernels: with two, both directions go on at once.
    pub copy_engines: u32,
}

impl DeviceInfo {
    /// The least capability of a GPU that is served.
    pub const LEAST_CAPABILITY: u32 = 70;

    /// Can it be opened? A GPU that is too old is listed all the same.
    pub fn supported(&self) -> bool {
        self.capability >= Self::LEAST_CAPABILITY
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, capability, multiprocessors, memory_bytes, .. } = self;
        let (major, minor, gib) = (capability / 10, capability % 10, memory_bytes >> 30);
        write!(f, "{name} (capability {major}.{minor}, {multiprocessors} multiprocessors, {gib} GiB)")
    }
}
