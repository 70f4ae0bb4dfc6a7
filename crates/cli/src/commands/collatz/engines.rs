//! The Collatz engines that a `--device` stands for.

use std::{env, path::PathBuf, sync::Arc};

use warpmp::{
    Selector,
    device::{Device, DeviceInfo, devices, open_cuda, open_sim},
};
use warpmp_collatz::{
    Error as CollatzError,
    cpu::Cpu,
    dfs::Plan,
    engine::Engine,
    gpu::{Gpu, Settings},
};

use crate::{
    console,
    error::{Error, Result},
};

/// Engines that serve together.
pub(super) struct Engines {
    pub(super) list: Vec<Box<dyn Engine>>,
    /// Memory of the smallest GPU; none for the CPU.
    pub(super) gpu_bytes: Option<u64>,
}

impl Engines {
    /// The plan that suits these engines for windows of about `count` starts.
    pub(super) fn plan(&self, count: u128) -> Plan {
        match self.gpu_bytes {
            // Some of it is taken by the driver and by others.
            Some(bytes) => Plan::for_gpu(count, bytes / 10 * 9),
            None => Plan::for_cpu(count),
        }
    }
}

/// All engines that serve together: every GPU, or the CPU.
///
/// # Errors
/// For a device that was named and cannot be had.
pub(super) fn open(selector: Selector, cache: Option<&str>, quiet: bool) -> Result<Engines> {
    let gpus = |devices: Vec<Arc<dyn Device>>| {
        let engine = |device| -> Box<dyn Engine> { Box::new(Gpu::new(device, Settings::default())) };
        let gpu_bytes = devices.iter().map(|device| device.info().memory_bytes).min();
        Engines { list: devices.into_iter().map(engine).collect(), gpu_bytes }
    };
    let open = |ordinal| open_cuda(ordinal).map_err(CollatzError::from).map_err(Error::from);
    match selector {
        Selector::Sim => Ok(gpus(vec![open_sim()])),
        Selector::Cuda(Some(ordinal)) => Ok(gpus(vec![open(ordinal)?])),
        Selector::Cuda(None) => {
            let all = devices().cuda.map_err(CollatzError::from)?;
            // None at all: the error of opening the first one says so.
            Ok(gpus((0..all.len().max(1)).map(open).collect::<Result<_>>()?))
        }
        Selector::Auto => {
            let usable = devices().cuda.unwrap_or_default().into_iter().filter(DeviceInfo::supported);
            let opened: Vec<_> = usable.filter_map(|gpu| open_cuda(gpu.ordinal).ok()).collect();
            if !opened.is_empty() {
                return Ok(gpus(opened));
            }
            if !quiet {
                console::note("note: the CPU engine serves: no usable GPU");
            }
            Ok(Engines { list: vec![cpu(cache)], gpu_bytes: None })
        }
        Selector::Cpu => Ok(Engines { list: vec![cpu(cache)], gpu_bytes: None }),
    }
}

/// The first of the engines, for work that is not dealt out.
///
/// # Errors
/// As [`open`].
pub(super) fn open_one(selector: Selector, cache: Option<&str>, quiet: bool) -> Result<Box<dyn Engine>> {
    open(selector, cache, quiet)?.list.pop().ok_or(Error::Bug)
}

fn cpu(cache: Option<&str>) -> Box<dyn Engine> {
    match cache.map(PathBuf::from).or_else(cache_folder) {
        Some(folder) => Box::new(Cpu::with_cache(folder)),
        None => Box::new(Cpu::new()),
    }
}

/// Where tables are kept if nobody says where: none if there is no home.
fn cache_folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("WARPMP_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|folder| folder.join("warpmp")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/warpmp")))
}
