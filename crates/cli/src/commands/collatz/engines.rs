//! The Collatz engines that a `--device` stands for.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use warpmp::{Selector, device::Device};
use warpmp_collatz::team::{Engines, Team};

use crate::{engine::gpus, error::Result};

/// The first phase of a command: tables take seconds, and so do kernels that the driver compiles for the first time.
pub(super) const PREPARING: &str = "making tables and kernels";

/// All engines that serve together: every GPU, or the CPU.
///
/// # Errors
/// For a device that was named and cannot be had.
pub(super) fn open(selector: Selector, cache: Option<&Path>, quiet: bool) -> Result<Engines> {
    of(gpus(selector, quiet)?, cache)
}

/// The engines of these GPUs; of none, the CPU.
///
/// # Errors
/// What the GPUs say.
pub(super) fn of(gpus: Vec<Arc<dyn Device>>, cache: Option<&Path>) -> Result<Engines> {
    let cache = cache.map(PathBuf::from).or_else(cache_folder);
    Ok(Engines::new(gpus, cache)?)
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
