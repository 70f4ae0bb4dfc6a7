//! The list of GPUs, with their descriptions.

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute};

use super::context::explain;
use super::raw::{Failure, Raw, raw};
use super::result::code;
use crate::error::{Error, Result};
use crate::info::{DeviceInfo, Kind};

/// The least CUDA version: the first that knows PTX 7.0, and the primary context's present rules.
const LEAST_DRIVER: (u32, u32) = (11, 0);

/// The driver, ready for use, and how many GPUs it shows.
pub(super) fn driver() -> Result<(&'static Raw, usize)> {
    let raw = raw()?;
    match raw.init() {
        Ok(()) => {}
        Err(Failure { code: code::NO_DEVICE, .. }) => return Err(Error::NoDevice { ordinal: 0, count: 0 }),
        Err(failure) => return Err(explain(raw, failure)),
    }
    let found = raw.version().map_err(|failure| explain(raw, failure))?;
    if found < LEAST_DRIVER {
        return Err(Error::DriverTooOld { found, required: LEAST_DRIVER });
    }
    let count = raw.device_count().map_err(|failure| explain(raw, failure))?;
    if count == 0 {
        return Err(Error::NoDevice { ordinal: 0, count });
    }
    Ok((raw, count))
}

/// All visible GPUs.
pub(crate) fn survey() -> Result<Vec<DeviceInfo>> {
    let (raw, count) = driver()?;
    (0..count).map(|ordinal| describe(raw, ordinal).map(|(_, info)| info)).collect()
}

/// A visible GPU.
pub(super) fn describe(raw: &Raw, ordinal: usize) -> Result<(CUdevice, DeviceInfo)> {
    query(raw, ordinal).map_err(|failure| explain(raw, failure))
}

fn query(raw: &Raw, ordinal: usize) -> Result<(CUdevice, DeviceInfo), Failure> {
    let device = raw.device(ordinal)?;
    let get = |attribute| raw.attribute(device, attribute);
    let major = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    // Figures that only inform: a driver that no longer tells them is no reason to fail.
    let tell = |attribute| get(attribute).ok().filter(|&value| value > 0);
    let memory_clock_khz = tell(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    let memory_bits = tell(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    let info = DeviceInfo {
        name: raw.device_name(device)?,
        kind: Kind::Cuda,
        ordinal,
        capability: 10 * major + minor,
        multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory_bytes: raw.total_memory(device)?,
        shared_bytes_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        shared_bytes_per_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        registers_per_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        threads_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        threads_per_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        blocks_per_grid: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
        l2_bytes: u64::from(tell(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).unwrap_or(0)),
        clock_khz: tell(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0),
        driver: Some(raw.version()?),
        // Two transfers a clock.
        memory_bandwidth_bytes_per_second: memory_clock_khz
            .zip(memory_bits)
            .map(|(khz, bits)| 2 * 1000 * u64::from(khz) * u64::from(bits) / 8),
        copy_engines: tell(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT).unwrap_or(0),
    };
    Ok((device, info))
}
