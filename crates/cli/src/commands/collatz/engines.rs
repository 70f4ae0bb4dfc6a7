//! The Collatz engines that a `--device` stands for.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use warpmp::{
    Selector,
    device::{Device, DeviceInfo, devices, open_cuda, open_sim},
};
use warpmp_collatz::{
    Error as CollatzError,
    team::{Engines, Team},
};

use crate::{
    console,
    error::{Error, Result},
};

/// The first phase of a command: tables take seconds, and so do kernels that the driver compiles for the first time.
pub(super) const PREPARING: &str = "making tables and kernels";

/// All engines that serve together: every GPU, or the CPU.
///
/// # Errors
/// For a device that was named and cannot be had.
pub(super) fn open(selector: Selector, cache: Option<&Path>, quiet: bool) -> Result<Engines> {
    let cache = cache.map(PathBuf::from).or_else(cache_folder);
    Ok(Engines::new(gpus(selector, quiet)?, cache)?)
}

/// The GPUs that a `--device` stands for; none: the CPU serves.
///
/// # Errors
/// For a device that was named and cannot be had.
pub(crate) fn gpus(selector: Selector, quiet: bool) -> Result<Vec<Arc<dyn Device>>> {
    let open = |ordinal| open_cuda(ordinal).map_err(CollatzError::from).map_err(Error::from);
    match selector {
        Selector::Sim => Ok(vec![open_sim()]),
        Selector::Cuda(Some(ordinal)) => Ok(vec![open(ordinal)?]),
        Selector::Cuda(None) => {
            let all = devices().cuda.map_err(CollatzError::from)?;
            // None at all: the error of opening the first one says so.
            (0..all.len().max(1)).map(open).collect()
        }
        Selector::Auto => {
            let usable = devices().cuda.unwrap_or_default().into_iter().filter(DeviceInfo::supported);
            let opened: Vec<_> = usable.filter_map(|gpu| open_cuda(gpu.ordinal).ok()).collect();
            if opened.is_empty() && !quiet {
                console::note("note: the CPU engine serves: no usable GPU");
            }
            Ok(opened)
        }
        Selector::Cpu => Ok(Vec::new()),
    }
}

/// All engines as one, for work that is not cut into windows. The flag says whether they are GPUs.
///
/// # Errors
/// As [`open`].
pub(super) fn open_team(selector: Selector, cache: Option<&Path>, quiet: bool) -> Result<(Team, bool)> {
    let engines = open(selector, cache, quiet)?;
    Ok((Team::new(engines.list), engines.gpu_bytes.is_some()))
}

/// The folder for tables if no option names one; none if there is no home.
fn cache_folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("WARPMP_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|folder| folder.join("warpmp")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/warpmp")))
}
