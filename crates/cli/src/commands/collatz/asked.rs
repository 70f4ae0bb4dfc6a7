//! What `verify` was asked for, as a campaign: what stands on the command line, then what the directory has begun, then what suits the
//! engines.

use std::{fs, path::Path};

use warpmp_collatz::{
    alpha,
    campaign::{Begun, Campaign, Specification},
    certificate::Scheme,
    dfs, honda,
    kernels::alpha::UNIT_BITS,
    window::Window,
};

use super::{
    CollatzFailure,
    args::{Checksum, SchemeName, Verify},
    engines::Engines,
};
use crate::error::Result;

/// Starts of a window on the CPU: some seconds on two cores.
const DFS_WINDOW: u128 = 1 << 38;
const SIEVE_WINDOW: u128 = 1 << 36;
/// Starts of a window on a GPU, a few seconds' work and multiples of the units that it works in; each GPU shall have several.
const GPU_DFS_WINDOW: u128 = 1 << 50;
const LEAST_GPU_DFS_WINDOW: u128 = 1 << 44;
const WINDOWS_A_GPU: u128 = 4;
const GPU_HONDA_WINDOW: u128 = 1 << 45;

/// A range, and what was said about how to verify it.
pub(super) struct Asked<'a> {
    args: &'a Verify,
    range: Window,
    /// The scheme, if that was said in full: a plan of the default one depends on engine and range.
    named: Option<Scheme>,
}

impl<'a> Asked<'a> {
    /// Checks what can be checked without engines.
    ///
    /// # Errors
    /// For parameters that are not supported.
    pub(super) fn new(args: &'a Verify, range: Window) -> Result<Self> {
        let named = match (args.checksum, args.scheme) {
            (Some(Checksum::Alpha), _) => {
                Some(Scheme::Alpha(alpha::Plan::new(args.tables.sieve_bits(), args.sieve_mod)?))
            }
            (None, SchemeName::Honda) => {
                Some(Scheme::Honda(honda::Plan::new(args.tables.sieve_bits(), args.tables.base_bits())?))
            }
            (None, SchemeName::Dfs) => None,
        };
        if matches!(named, Some(Scheme::Alpha(_))) {
            alpha::above_floor(&range)?;
        }
        Ok(Self { args, range, named })
    }

    /// The campaign. One that the directory has begun goes on as it is, unless something else was asked for: what suits another machine
    /// better does not start another one. Where the description of a campaign is lost, its certificates tell.
    ///
    /// # Errors
    /// If the directory cannot be read, or has a campaign of another program or rule set; [`CollatzFailure::PlanMemory`].
    pub(super) fn specification(&self, engines: &Engines) -> Result<Specification> {
        let begun = match &self.args.out {
            Some(out) => Campaign::begun(Path::new(out))?,
            None => Begun::Nothing,
        };
        let found = match begun {
            Begun::Nothing => None,
            Begun::Campaign(specification) => Some(specification),
            Begun::Certificates(certificates) => Specification::of(self.range, self.size(engines), &certificates),
        };
        let specification = match found.filter(|found| self.suits(found)) {
            Some(specification) => specification,
            None => Specification::new(self.range, self.size(engines), self.scheme(engines)?)?,
        };
        if engines.gpu_bytes.is_none() {
            fits_memory(&specification.scheme)?;
        }
        Ok(specification)
    }

    /// Is it a campaign of this range, and all else that was asked for?
    fn suits(&self, found: &Specification) -> bool {
        let scheme = match (self.named, found.scheme) {
            (None, Scheme::Dfs(plan)) => {
                self.args.leaf_bits.is_none_or(|bits| bits == plan.leaf_bits)
                    && self.args.lookahead_bits.is_none_or(|bits| bits == plan.lookahead_bits)
            }
            (named, scheme) => named == Some(scheme),
        };
        let window = self.args.window.map(|count| count.0.min(self.range.count()).to_string());
        scheme && found.range == self.range && window.is_none_or(|count| count == found.window_count)
    }

    /// Starts of a window.
    fn size(&self, engines: &Engines) -> u128 {
        let default = match (self.named, engines.gpu_bytes.is_some()) {
            (None | Some(Scheme::Dfs(_)), false) => DFS_WINDOW,
            (None | Some(Scheme::Dfs(_)), true) => {
                let share = self.range.count() / (WINDOWS_A_GPU * engines.list.len().max(1) as u128);
                let power = 1 << (127 - share.max(1).leading_zeros().min(127));
                power.clamp(LEAST_GPU_DFS_WINDOW, GPU_DFS_WINDOW)
            }
            (Some(Scheme::Honda(_) | Scheme::Alpha(_)), false) => SIEVE_WINDOW,
            (Some(Scheme::Honda(_)), true) => GPU_HONDA_WINDOW,
            (Some(Scheme::Alpha(_)), true) => 1 << UNIT_BITS,
        };
        self.args.window.map_or(default, |number| number.0).min(self.range.count())
    }

    fn scheme(&self, engines: &Engines) -> Result<Scheme> {
        if let Some(named) = self.named {
            return Ok(named);
        }
        let (args, plan) = (self.args, engines.plan(self.size(engines), self.range.count()));
        Ok(Scheme::Dfs(dfs::Plan::new(
            args.leaf_bits.unwrap_or(plan.leaf_bits),
            args.lookahead_bits.unwrap_or(plan.lookahead_bits),
            args.lookahead_bits.unwrap_or(plan.rare_lookahead_bits).min(plan.rare_lookahead_bits),
            plan.main_classes,
        )?))
    }
}

/// Is there memory for the scheme on the CPU? What a GPU began may be too large; the system would end the program without a word.
fn fits_memory(scheme: &Scheme) -> Result<()> {
    let Scheme::Dfs(plan) = scheme else { return Ok(()) };
    let required_bytes = plan.lookahead_bytes();
    match available_bytes() {
        Some(available_bytes) if available_bytes < required_bytes => {
            Err(CollatzFailure::PlanMemory { required_bytes, available_bytes }.into())
        }
        _ => Ok(()),
    }
}

/// Memory that is free or can be freed, where the system says that.
fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
