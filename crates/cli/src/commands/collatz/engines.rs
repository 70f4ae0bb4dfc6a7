//! The Collatz engines that a `--device` stands for.

use std::{env, path::PathBuf};

use warpmp::Selector;
use warpmp_collatz::{cpu::Cpu, engine::Engine};

use crate::{console, error::Result};

/// All engines that serve together: every GPU, or the CPU.
///
/// # Errors
/// For a device that was named and cannot be had.
pub(super) fn open(selector: Selector, cache: Option<&str>, quiet: bool) -> Result<Vec<Box<dyn Engine>>> {
    match selector {
        Selector::Cpu => Ok(vec![cpu(cache)]),
        Selector::Auto => {
            if !quiet {
                console::note("note: the CPU engine serves");
            }
            Ok(vec![cpu(cache)])
        }
        Selector::Sim | Selector::Cuda(_) => Err(crate::error::Error::NoCollatzEngine),
    }
}

/// The first of the engines, for work that is not dealt out.
///
/// # Errors
/// As [`open`].
pub(super) fn open_one(selector: Selector, cache: Option<&str>, quiet: bool) -> Result<Box<dyn Engine>> {
    Ok(open(selector, cache, quiet)?.swap_remove(0))
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
