//! The engine on all cores: the schemes in safe Rust, many lanes at a time so that independent jumps overlap. Where the processor has
//! vectors, it uses them.

mod delay;
mod delay_paper;
mod dfs;
mod finish;
mod honda;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod simd;
#[cfg(not(target_arch = "x86_64"))]
#[path = "absent.rs"]
mod simd;
mod vectors;

use std::{path::PathBuf, thread};

use warpmp_simd::{Ifma, Simd as _};

pub(crate) use delay::Prepared as DelayTables;
pub use delay_paper::PaperDelays;
pub(crate) use dfs::Prepared as Tester;

use crate::{
    dfs::Plan as DfsPlan,
    engine::{Control, Engine, Outcome, kept},
    error::{Allowed, Error, Result},
    honda::Plan as HondaPlan,
    rules::FLOOR,
    window::Window,
};

/// Starts that one call may cover: offsets within a window are 64 bits.
const MAX_COUNT: u128 = 1 << 63;

/// All cores of this machine, or as many as the current rayon pool has.
#[derive(Debug, Default)]
pub struct Cpu {
    cache: Option<PathBuf>,
    portable: bool,
    dfs: Option<dfs::Prepared>,
    honda: Option<honda::Prepared>,
    delay: Option<delay::Prepared>,
}

impl Cpu {
    /// An engine without tables yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An engine that keeps table S in this folder.
    pub fn with_cache(folder: impl Into<PathBuf>) -> Self {
        Self { cache: Some(folder.into()), ..Self::default() }
    }

    /// Without vector instructions, even where there are some: the results are the same.
    #[must_use]
    pub fn portable(self) -> Self {
        Self { portable: true, cache: self.cache, ..Self::default() }
    }

    /// The delays of any starts of at least 1, one for each place of `delays`: as many as both have.
    ///
    /// # Errors
    /// [`Error::ZeroStart`], [`Error::Stopped`].
    pub fn delays_of(&mut self, starts: &[u128], delays: &mut [u32], control: &Control) -> Result<()> {
        self.delay_tables()?.of(starts, delays, control)
    }

    fn delay_tables(&mut self) -> Result<&delay::Prepared> {
        let portable = self.portable;
        Ok(kept(&mut self.delay, |_| true, || delay::Prepared::new(portable))?)
    }

    /// Calls `visit` with every start of the window that the plan tests, with the starts below the floor, in no particular
    /// order: for checks of the starts that the plan skips.
    ///
    /// # Errors
    /// [`Error::Parameter`] for windows of more than `2^63` starts.
    pub fn tested(plan: &DfsPlan, window: &Window, mut visit: impl FnMut(u128)) -> Result<()> {
        let (low, high) = bounded(window)?.split_at(FLOOR);
        if let Some(low) = low {
            (low.from()..low.end()).for_each(&mut visit);
        }
        if let Some(high) = high {
            dfs::Prepared::new(plan).tested(&high, &mut visit);
        }
        Ok(())
    }
}

impl Engine for Cpu {
    fn name(&self) -> String {
        let threads = rayon::current_num_threads();
        let cores = thread::available_parallelism().map_or(threads, usize::from);
        let vectors = if self.portable || Ifma::detect().is_none() { "" } else { ", AVX-512 IFMA" };
        format!("cpu, {threads} threads on {cores} cores{vectors}")
    }

    fn dfs(&mut self, plan: &DfsPlan, window: &Window, control: &Control) -> Result<Outcome> {
        let portable = self.portable;
        let make = || {
            let prepared = dfs::Prepared::new(plan);
            Ok(if portable { prepared.portable() } else { prepared })
        };
        run(&mut self.dfs, |it| it.plan() == plan, make, window, |it, high| it.run(high, control))
    }

    fn honda(&mut self, plan: &HondaPlan, window: &Window, control: &Control) -> Result<Outcome> {
        let (cache, portable) = (self.cache.as_deref(), self.portable);
        let make = || honda::Prepared::new(*plan, honda::mandatory(plan.sieve_bits, cache)?, portable);
        run(&mut self.honda, |it| it.plan() == plan, make, window, |it, high| it.run(high, control))
    }

    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> Result<()> {
        self.delay_tables()?.run(from, delays, control)
    }
}

/// Does a window: the starts below the floor step by step, the others with the tables of a plan, which are kept for the next window.
fn run<T>(
    tables: &mut Option<T>,
    fits: impl Fn(&T) -> bool,
    make: impl FnOnce() -> Result<T>,
    window: &Window,
    work: impl FnOnce(&T, &Window) -> Result<Outcome>,
) -> Result<Outcome> {
    let (low, high) = bounded(window)?.split_at(FLOOR);
    let mut outcome = finish::plain(low)?;
    let Some(high) = high else { return Ok(outcome) };
    outcome.add(&work(kept(tables, fits, make)?, &high)?);
    Ok(outcome)
}

fn bounded(window: &Window) -> Result<&Window> {
    if window.count() > MAX_COUNT {
        let allowed = Allowed::AtMost(MAX_COUNT);
        return Err(Error::Parameter { name: "the numbers of a window", value: window.count(), allowed });
    }
    Ok(window)
}
