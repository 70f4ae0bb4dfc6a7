//! Finding and opening devices.

use std::sync::Arc;

use crate::cuda::{self, CudaDevice};
use crate::device::Device;
use crate::error::Result;
use crate::info::DeviceInfo;
use crate::sim::{SimConfig, SimDevice};

/// Every device there is.
#[derive(Debug)]
pub struct Survey {
    /// The GPUs, or why there are none. Those that are too old are among them, see
    /// [`DeviceInfo::supported`].
    pub cuda: Result<Vec<DeviceInfo>>,
    /// The simulator, which is always there.
    pub sim: DeviceInfo,
}

/// Looks for devices. It never fails: no GPU is an answer. Nothing is opened.
pub fn devices() -> Survey {
    Survey { cuda: cuda::survey(), sim: SimConfig::default().info() }
}

/// Opens a GPU by its number. Opening it again gives the same memory, with another module cache.
///
/// # Errors
/// No driver, an unfit driver, no such GPU, a GPU that is too old or in nobody's reach: each its own
/// [`Error`](crate::Error).
pub fn open_cuda(ordinal: usize) -> Result<Arc<dyn Device>> {
    Ok(Arc::new(CudaDevice::open(ordinal)?))
}

/// Opens a simulator of the default configuration. Each is a device of its own.
pub fn open_sim() -> Arc<dyn Device> {
    open_sim_with(&SimConfig::default())
}

/// Opens a simulator.
pub fn open_sim_with(config: &SimConfig) -> Arc<dyn Device> {
    Arc::new(SimDevice::new(config))
}
