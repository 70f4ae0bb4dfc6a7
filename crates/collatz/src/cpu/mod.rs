//! The engine on all cores: the schemes in safe Rust, many lanes at a time so that independent jumps overlap.

mod dfs;
mod finish;
mod lanes;

use std::thread;

use crate::{
    dfs::Plan as DfsPlan,
    engine::{Control, Engine, Outcome},
    error::{Error, Result},
    rules::FLOOR,
    window::Window,
};

/// Starts that one call may cover: offsets within a window are 64 bits.
const MAX_COUNT: u128 = 1 << 63;

/// All cores of this machine, or as many as the current rayon pool has.
#[derive(Debug, Default)]
pub struct Cpu {
    dfs: Option<dfs::Prepared>,
}

impl Cpu {
    /// An engine without tables yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Engine for Cpu {
    fn name(&self) -> String {
        let threads = rayon::current_num_threads();
        let cores = thread::available_parallelism().map_or(threads, usize::from);
        format!("cpu, {threads} threads on {cores} cores")
    }

    fn dfs(&mut self, plan: &DfsPlan, window: &Window, control: &Control) -> Result<Outcome> {
        let (low, high) = bounded(window)?.split_at(FLOOR);
        let mut outcome = finish::plain(low)?;
        if let Some(high) = high {
            if self.dfs.as_ref().is_none_or(|prepared| prepared.plan() != plan) {
                self.dfs = None;
                self.dfs = Some(dfs::Prepared::new(plan));
            }
            if let Some(prepared) = &self.dfs {
                outcome.add(&prepared.run(&high, control)?);
            }
        }
        Ok(outcome)
    }
}

fn bounded(window: &Window) -> Result<&Window> {
    if window.count() > MAX_COUNT {
        let value = (window.count() >> 63).min(u64::MAX.into()) as u64;
        return Err(Error::Parameter { name: "numbers of a window / 2^63", value, low: 0, high: 1 });
    }
    Ok(window)
}
