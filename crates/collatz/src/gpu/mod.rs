//! The engine on a device: a GPU, or the simulator.
//!
//! The CPU engine does the starts below [`tables::LEAST_START`] and the starts whose values would not fit into four words, with the same
//! plan. A kernel that looks at the bounds does the starts of a window outside of its whole units of 2^(L + 10) starts.

pub mod alpha;
mod deal;
pub mod delay;
pub mod delay_paper;
pub mod delay_records;
mod dfs;
pub mod honda;
pub mod leaves;
pub mod path_records;
mod report;
pub mod tables;
pub mod vectors;

use std::{ops::Range, sync::Arc};

use warpmp_device::Device;

use crate::{
    alpha::Plan as AlphaPlan,
    cpu::Cpu,
    dfs::Plan as DfsPlan,
    engine::{Control, Engine, Outcome, kept},
    error::Result,
    honda::Plan as HondaPlan,
    kernels::{delay_pools::DelayPools, honda::STARTS_PER_RESIDUE, lookahead::CANDIDATE_BITS},
    rules::FLOOR,
    scheme::Method as _,
    window::Window,
};

/// Delays of a part: between two parts the work can be stopped, and the next part uses the same memory on the device.
const DELAYS_AT_ONCE: usize = 1 << 26;

/// Settings that change the speed and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Steps of a table jump.
    pub jump_bits: u32,
    /// Warps a block.
    pub warps: u32,
    /// Blocks on a multiprocessor.
    pub blocks: u32,
    /// The first room for overflowed starts of a launch.
    pub report_capacity: u32,
    /// The kernel for delays.
    pub delays: DelayPools,
}

impl Default for Settings {
    fn default() -> Self {
        Self { jump_bits: 12, warps: 16, blocks: 3, report_capacity: 1 << 18, delays: delay::SETTINGS }
    }
}

/// A device, and the tables that it keeps from window to window.
#[derive(Debug)]
pub struct Gpu {
    device: Arc<dyn Device>,
    settings: Settings,
    cpu: Cpu,
    dfs: Option<dfs::Prepared>,
    honda: Option<honda::Honda>,
    alpha: Option<alpha::Prepared>,
    delays: Option<delay::Delays>,
}

impl Gpu {
    /// An engine on this device, without tables yet.
    pub fn new(device: Arc<dyn Device>, settings: Settings) -> Self {
        Self { device, settings, cpu: Cpu::new(), dfs: None, honda: None, alpha: None, delays: None }
    }

    /// Makes the leaves and vectors of a plan, unless they are there. Returns the number of leaves.
    ///
    /// # Errors
    /// The device's, of which running out of memory is the likeliest: 2^S bits for each main class.
    pub fn prepare(&mut self, plan: &DfsPlan) -> Result<u64> {
        Ok(self.prepared(plan)?.leaf_count())
    }

    fn prepared(&mut self, plan: &DfsPlan) -> Result<&mut dfs::Prepared> {
        dfs::check(&self.settings, plan)?;
        kept(&mut self.dfs, |it| it.plan() == plan, || dfs::Prepared::new(&self.device, &self.settings, plan))
    }
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.device.info().to_string()
    }

    fn dfs(&mut self, plan: &DfsPlan, window: &Window, control: &Control) -> Result<Outcome> {
        let bits = plan.leaf_bits + CANDIDATE_BITS;
        let parts = Parts::of(window, tables::LEAST_START, dfs::Prepared::end(plan), bits);
        let mut outcome = Outcome::none();
        if !parts.is_empty() {
            let prepared = self.prepared(plan)?;
            parts.run(&mut outcome, control, |unit, range| {
                let offset = |bound: u128| bound.saturating_sub(unit << bits).min(1 << bits) as u64;
                prepared.run(unit, range.map(|edge| [offset(edge.from()), offset(edge.end())]), control)
            })?;
        }
        for rest in &parts.rest {
            outcome.add(&self.cpu.dfs(plan, rest, control)?);
        }
        Ok(outcome)
    }

    fn honda(&mut self, plan: &HondaPlan, window: &Window, control: &Control) -> Result<Outcome> {
        let spec = honda::spec(plan);
        let parts = Parts::of(window, FLOOR, 1 << 64, plan.sieve_bits + STARTS_PER_RESIDUE.ilog2());
        let mut outcome = Outcome::default();
        if !parts.is_empty() {
            let scheme = kept(&mut self.honda, |it| it.spec() == spec, || honda::Honda::new(&self.device, spec))?;
            parts.run(&mut outcome, control, |unit, range| {
                scheme.unit(unit as u64, range.map(|edge| [edge.from() as u64, (edge.end() - 1) as u64]))
            })?;
        }
        for rest in &parts.rest {
            outcome.add(&self.cpu.honda(plan, rest, control)?);
        }
        Ok(outcome)
    }

    fn alpha(&mut self, plan: &AlphaPlan, window: &Window, control: &Control) -> Result<Outcome> {
        plan.admits(window)?;
        let prepared = kept(&mut self.alpha, |it| it.plan() == plan, || alpha::Prepared::new(*plan))?;
        prepared.run(&self.device, window, control)
    }

    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> Result<()> {
        let end = from + delays.len() as u128;
        if from == 0 || end > 1 << 64 {
            return self.cpu.delays(from, delays, control);
        }
        let engine = kept(&mut self.delays, |_| true, || delay::Delays::new(&self.device, self.settings.delays))?;
        let parts = delays.len().div_ceil(DELAYS_AT_ONCE) as u64;
        for (part, delays) in delays.chunks_mut(DELAYS_AT_ONCE).enumerate() {
            control.check()?;
            let first = from as u64 + (part * DELAYS_AT_ONCE) as u64;
            engine.range(first, delays)?;
            control.advance(1, parts);
        }
        Ok(())
    }
}

/// A window's whole units, the parts beside them that a device can do, and the rest for the CPU.
struct Parts {
    bits: u32,
    units: Range<u128>,
    edges: Vec<Window>,
    rest: Vec<Window>,
}

impl Parts {
    /// Units of 2^`bits` numbers between `least` and `end`.
    fn of(window: &Window, least: u128, end: u128, bits: u32) -> Self {
        let (low, middle) = window.split_at(least);
        let (middle, high) = middle.map_or((None, None), |middle| middle.split_at(end));
        let parts = middle.map(|middle| middle.units(bits));
        let units = parts.as_ref().map_or(0..0, |parts| parts.units.clone());
        let edges = parts.into_iter().flat_map(|parts| [parts.head, parts.tail]).flatten().collect();
        Self { bits, units, edges, rest: [low, high].into_iter().flatten().collect() }
    }

    /// Is there nothing for the device?
    fn is_empty(&self) -> bool {
        self.units.is_empty() && self.edges.is_empty()
    }

    /// Adds the outcome of every unit, and of the parts that edges have in units.
    fn run(
        &self,
        outcome: &mut Outcome,
        control: &Control,
        mut work: impl FnMut(u128, Option<&Window>) -> Result<Outcome>,
    ) -> Result<()> {
        let total = (self.units.end - self.units.start) as u64;
        for unit in self.units.clone() {
            control.check()?;
            outcome.add(&work(unit, None)?);
            control.advance(1, total);
        }
        for edge in &self.edges {
            for unit in edge.from() >> self.bits..=(edge.end() - 1) >> self.bits {
                control.check()?;
                outcome.add(&work(unit, Some(edge))?);
            }
        }
        Ok(())
    }
}
