//! The engine on a device: a GPU, or the simulator.
//!
//! Starts below [`tables::LEAST_START`], starts whose values would not fit into four words, and what a window has outside of
//! whole units of 2^(L + 10) starts are done by the CPU engine with the same plan.

pub mod delay;
mod dfs;
pub mod honda;
pub mod leaves;
mod report;
pub mod tables;
pub mod vectors;

use std::sync::Arc;

use warpmp_device::Device;

use crate::{
    cpu::Cpu,
    dfs::Plan as DfsPlan,
    engine::{Control, Engine, Outcome},
    error::Result,
    kernels::lookahead::CANDIDATE_BITS,
    window::Window,
};

/// What decides the speed only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Steps of a table jump.
    pub jump_bits: u32,
    /// Warps a block.
    pub warps: u32,
    /// Blocks on a multiprocessor.
    pub blocks: u32,
    /// Overflowed starts of a launch that there is room for at first.
    pub report_capacity: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { jump_bits: 12, warps: 16, blocks: 3, report_capacity: 1 << 18 }
    }
}

/// A device and what it keeps for the windows to come.
#[derive(Debug)]
pub struct Gpu {
    device: Arc<dyn Device>,
    settings: Settings,
    cpu: Cpu,
    dfs: Option<dfs::Prepared>,
}

impl Gpu {
    /// An engine on this device, without tables yet.
    pub fn new(device: Arc<dyn Device>, settings: Settings) -> Self {
        Self { device, settings, cpu: Cpu::new(), dfs: None }
    }

    /// Makes the leaves and vectors of a plan, unless they are there; how many leaves there are.
    ///
    /// # Errors
    /// The device's, of which running out of memory is the likeliest: 2^S bits for each main class.
    pub fn prepare(&mut self, plan: &DfsPlan) -> Result<u64> {
        Ok(self.prepared(plan)?.leaf_count())
    }

    fn prepared(&mut self, plan: &DfsPlan) -> Result<&mut dfs::Prepared> {
        dfs::check(&self.settings, plan)?;
        match self.dfs.take().filter(|prepared| prepared.plan() == plan) {
            Some(prepared) => Ok(self.dfs.insert(prepared)),
            None => Ok(self.dfs.insert(dfs::Prepared::new(&self.device, &self.settings, plan)?)),
        }
    }
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.device.info().to_string()
    }

    fn dfs(&mut self, plan: &DfsPlan, window: &Window, control: &Control) -> Result<Outcome> {
        let bits = plan.leaf_bits + CANDIDATE_BITS;
        let (low, rest) = window.split_at(tables::LEAST_START);
        let (rest, high) = rest.map_or((None, None), |rest| rest.split_at(dfs::Prepared::end(plan)));
        let parts = rest.map(|rest| rest.units(bits));
        let units = parts.as_ref().map_or(0..0, |parts| parts.units.clone());
        let mut outcome = Outcome::default();
        if !units.is_empty() {
            let count = window.count() >> bits;
            let prepared = self.prepared(plan)?;
            for unit in units {
                outcome.add(&prepared.run(unit, control)?);
                control.advance(1, count as u64);
            }
        }
        let edges = parts.into_iter().flat_map(|parts| [parts.head, parts.tail]);
        for edge in [low, high].into_iter().chain(edges).flatten() {
            outcome.add(&self.cpu.dfs(plan, &edge, control)?);
        }
        Ok(outcome)
    }
}
