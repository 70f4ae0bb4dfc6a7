//! The campaign of a request: the request decides first, then the campaign that the directory has begun, then the engines.

use std::{fs, path::Path};

use super::{Begun, Campaign, Part, Specification};
use crate::{
    dfs,
    error::{Error, Result},
    scheme::Scheme,
    team::Engines,
    window::Window,
};

/// A campaign has at most this many windows: nobody can list a larger directory.
const MAX_WINDOWS: u128 = 1 << 24;

/// A range, and the wishes for its verification.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The range.
    pub range: Window,
    /// The scheme.
    pub wanted: Wanted,
    /// Starts of a window; none: the default for scheme and engines.
    pub window_count: Option<u128>,
}

/// The scheme of a request.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// The scheme of the campaign that the directory has begun; for a new campaign the default scheme.
    Any,
    /// The default scheme. Parameters without a value are chosen for engines and range.
    Default {
        /// Depth of the leaves.
        leaf_bits: Option<u32>,
        /// Steps of the look-ahead for the main classes.
        lookahead_bits: Option<u32>,
    },
    /// A scheme with all its parameters.
    Exactly(Scheme),
}

impl Request {
    /// The campaign. One that the directory has begun goes on as it is, unless the request says something else: another machine, with
    /// another best plan, does not begin another campaign. If the request's range contains the campaign's and is longer, the campaign
    /// is extended. Where the specification is lost, the certificates tell it.
    ///
    /// # Errors
    /// If the directory cannot be read, or has a campaign of another program or rule set; [`Error::PlanMemory`];
    /// [`Error::TooManyWindows`]; [`Error::Parameter`].
    pub fn specification(&self, folder: Option<&Path>, engines: &Engines) -> Result<Specification> {
        let count = self.count(self.range, None, engines);
        let found = match folder.map_or(Ok(Begun::Nothing), Campaign::begun)? {
            Begun::Nothing => None,
            Begun::Campaign(specification) => Some(specification),
            Begun::Certificates(certificates) => Specification::of(self.range, count, &certificates),
        };
        let specification = match found.filter(|found| self.suits(found)) {
            Some(found) if found.whole() == self.range => found,
            Some(found) => found.extended(self.range, |range| {
                let before = Some(found.scheme);
                Ok((self.count(range, before, engines), self.scheme(range, before, engines)?))
            })?,
            None => Specification::new(self.range, count, self.scheme(self.range, None, engines)?)?,
        };
        let windows = specification.windows();
        if windows > MAX_WINDOWS {
            return Err(Error::TooManyWindows { windows, limit: MAX_WINDOWS });
        }
        if engines.gpu_bytes.is_none() {
            fits_memory(specification.parts().map(|part| part.scheme.cpu_bytes()).max().unwrap_or(0))?;
        }
        Ok(specification)
    }

    /// Has the campaign everything that is asked for, or can it be extended so that it has? Wishes for windows and plan are wishes for a
    /// range that is added; a campaign of this very range must have them.
    fn suits(&self, found: &Specification) -> bool {
        let (whole, range) = (found.whole(), self.range);
        if whole != range {
            let contains = range.from() <= whole.from() && whole.end() <= range.end();
            let same_scheme = match self.wanted {
                Wanted::Any => true,
                Wanted::Default { .. } => matches!(found.scheme, Scheme::Dfs(_)),
                Wanted::Exactly(scheme) => scheme == found.scheme,
            };
            return contains && same_scheme;
        }
        let has_scheme = |found: &Scheme| match (self.wanted, *found) {
            (Wanted::Any, _) => true,
            (Wanted::Default { leaf_bits, lookahead_bits }, Scheme::Dfs(plan)) => {
                leaf_bits.is_none_or(|bits| bits == plan.leaf_bits)
                    && lookahead_bits.is_none_or(|bits| bits == plan.lookahead_bits)
            }
            (Wanted::Default { .. }, _) => false,
            (Wanted::Exactly(scheme), found) => scheme == found,
        };
        let has_count =
            |part: &Part<'_>| self.window_count.is_none_or(|count| count.min(part.range.count()) == part.window_size());
        found.parts().any(|part| has_scheme(part.scheme) && has_count(&part))
    }

    /// Starts of a window of a range. `found`: the scheme of the campaign that is extended.
    fn count(&self, range: Window, found: Option<Scheme>, engines: &Engines) -> u128 {
        let gpu_share = engines.gpu_bytes.map(|_| range.count() / engines.list.len().max(1) as u128);
        let default = || match (self.wanted, found) {
            (Wanted::Exactly(scheme), _) | (Wanted::Any, Some(scheme)) => scheme.window_count(gpu_share),
            (Wanted::Any | Wanted::Default { .. }, _) => dfs::window_count(gpu_share),
        };
        self.window_count.unwrap_or_else(default).min(range.count())
    }

    /// The scheme of a range. `found`: the scheme of the campaign that is extended.
    fn scheme(&self, range: Window, found: Option<Scheme>, engines: &Engines) -> Result<Scheme> {
        let (leaf_bits, lookahead_bits) = match (self.wanted, found) {
            (Wanted::Exactly(scheme), _) | (Wanted::Any, Some(scheme @ (Scheme::Honda(_) | Scheme::Alpha(_)))) => {
                return Ok(scheme);
            }
            (Wanted::Any, _) => (None, None),
            (Wanted::Default { leaf_bits, lookahead_bits }, _) => (leaf_bits, lookahead_bits),
        };
        let plan = engines.plan(self.count(range, found, engines), range.count());
        Ok(Scheme::Dfs(dfs::Plan::new(
            leaf_bits.unwrap_or(plan.leaf_bits),
            lookahead_bits.unwrap_or(plan.lookahead_bits),
            lookahead_bits.unwrap_or(plan.rare_lookahead_bits).min(plan.rare_lookahead_bits),
            plan.main_classes,
        )?))
    }
}

/// Is there memory for the plan on the CPU? A GPU may have begun it, and the system would end this program without a word.
fn fits_memory(required_bytes: u64) -> Result<()> {
    match available_bytes() {
        Some(available_bytes) if available_bytes < required_bytes => {
            Err(Error::PlanMemory { required_bytes, available_bytes })
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
