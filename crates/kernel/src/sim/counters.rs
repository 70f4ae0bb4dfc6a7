//! The counts of a launch: instructions by operation and by pipe, and traffic with the memories.
//!
//! The counts are exact and reproducible, so a test can hold a kernel to its cost.

use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;

use crate::ir::{Op, Pipe};

use super::memory::Memory;
use super::program::{Action, Program};

/// A number of executed instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Instructions of warps: issued once for 32 lanes, whatever their guard says.
    pub warps: u64,
    /// Instructions of threads: lanes that were active and whose guard held.
    pub threads: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.warps += other.warps;
        self.threads += other.threads;
    }
}

/// The memory traffic of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) wavefronts: u64,
    pub(super) minimum_wavefronts: u64,
    pub(super) load_sectors: u64,
    pub(super) minimum_load_sectors: u64,
    pub(super) store_sectors: u64,
    pub(super) minimum_store_sectors: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.wavefronts += other.wavefronts;
        self.minimum_wavefronts += other.minimum_wavefronts;
        self.load_sectors += other.load_sectors;
        self.minimum_load_sectors += other.minimum_load_sectors;
        self.store_sectors += other.store_sectors;
        self.minimum_store_sectors += other.minimum_store_sectors;
    }
}

/// The counts of launches. Add counters to merge launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    total: Count,
    ops: HashMap<Op, Count>,
    pipes: BTreeMap<Pipe, Count>,
    branches: Count,
    traffic: Traffic,
    distinct_load_sectors: u64,
    distinct_store_sectors: u64,
    sections: BTreeMap<String, Counters>,
}

impl Counters {
    /// All instructions, branches included.
    pub fn instructions(&self) -> Count {
        self.total
    }

    /// Instructions of one operation.
    pub fn op(&self, op: Op) -> Count {
        self.ops.get(&op).copied().unwrap_or_default()
    }

    /// Every operation that was executed, by mnemonic.
    pub fn ops(&self) -> Vec<(Op, Count)> {
        let mut ops: Vec<_> = self.ops.iter().map(|(&op, &count)| (op, count)).collect();
        ops.sort_by_cached_key(|(op, _)| (op.mnemonic(), format!("{op:?}")));
        ops
    }

    /// Branches, taken or not.
    pub fn branches(&self) -> Count {
        self.branches
    }

    /// Instructions of one pipe.
    pub fn pipe(&self, pipe: Pipe) -> Count {
        self.pipes.get(&pipe).copied().unwrap_or_default()
    }

    /// Barriers of the block, counted a warp.
    pub fn barriers(&self) -> u64 {
        self.op(Op::BarSync).warps
    }

    /// Passes over shared memory: one serves each bank once.
    pub fn shared_wavefronts(&self) -> u64 {
        self.traffic.wavefronts
    }

    /// The passes that the same accesses need without a bank conflict.
    pub fn minimum_shared_wavefronts(&self) -> u64 {
        self.traffic.minimum_wavefronts
    }

    /// Passes over shared memory beyond the minimum.
    pub fn bank_conflicts(&self) -> u64 {
        self.traffic.wavefronts - self.traffic.minimum_wavefronts
    }

    /// 32-byte sectors requested by loads of global memory, each counted once an instruction of a warp.
    pub fn load_sectors(&self) -> u64 {
        self.traffic.load_sectors
    }

    /// The least number of sectors that hold the bytes of each load.
    pub fn minimum_load_sectors(&self) -> u64 {
        self.traffic.minimum_load_sectors
    }

    /// 32-byte sectors written by stores and atomic operations, each counted once an instruction of a warp.
    pub fn store_sectors(&self) -> u64 {
        self.traffic.store_sectors
    }

    /// The least number of sectors that hold the bytes of each store.
    pub fn minimum_store_sectors(&self) -> u64 {
        self.traffic.minimum_store_sectors
    }

    /// Sectors of loads and stores.
    pub fn global_sectors(&self) -> u64 {
        self.traffic.load_sectors + self.traffic.store_sectors
    }

    /// The least number of sectors of loads and stores.
    pub fn minimum_global_sectors(&self) -> u64 {
        self.traffic.minimum_load_sectors + self.traffic.minimum_store_sectors
    }

    /// Different sectors loaded by a launch, summed over launches. Not known by section.
    pub fn distinct_load_sectors(&self) -> u64 {
        self.distinct_load_sectors
    }

    /// Different sectors stored by a launch, summed over launches. Not known by section.
    pub fn distinct_store_sectors(&self) -> u64 {
        self.distinct_store_sectors
    }

    /// The counts of one section of the kernel's text; none if no kernel had a section of this name.
    pub fn section(&self, name: &str) -> Option<&Self> {
        self.sections.get(name)
    }

    /// All sections, by name.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.sections.iter().map(|(name, counters)| (name.as_str(), counters))
    }

    /// Adds up the counts of each step of a program.
    pub(super) fn fold(program: &Program, tallies: &[Tally], memory: &Memory) -> Self {
        let mut counters = Self::default();
        for name in &program.sections {
            counters.sections.insert(name.clone(), Self::default());
        }
        for ((step, tag), tally) in program.steps.iter().zip(&program.tags).zip(tallies) {
            let section = tag.section.and_then(|s| counters.sections.get_mut(&program.sections[s]));
            if let Some(section) = section {
                section.note(step.action, tag.pipe, tally);
            }
            counters.note(step.action, tag.pipe, tally);
        }
        (counters.distinct_load_sectors, counters.distinct_store_sectors) = memory.distinct_sectors();
        counters
    }

    fn note(&mut self, action: Action, pipe: Pipe, tally: &Tally) {
        if tally.count == Count::default() {
            return;
        }
        match action {
            Action::Op(op) => *self.ops.entry(op).or_default() += tally.count,
            Action::Branch(_) => self.branches += tally.count,
        }
        *self.pipes.entry(pipe).or_default() += tally.count;
        self.total += tally.count;
        self.traffic += tally.traffic;
    }
}

impl AddAssign<&Counters> for Counters {
    fn add_assign(&mut self, other: &Counters) {
        self.total += other.total;
        for (&op, &count) in &other.ops {
            *self.ops.entry(op).or_default() += count;
        }
        for (&pipe, &count) in &other.pipes {
            *self.pipes.entry(pipe).or_default() += count;
        }
        self.branches += other.branches;
        self.traffic += other.traffic;
        self.distinct_load_sectors += other.distinct_load_sectors;
        self.distinct_store_sectors += other.distinct_store_sectors;
        for (name, section) in &other.sections {
            *self.sections.entry(name.clone()).or_default() += section;
        }
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        *self += &other;
    }
}

/// The counts of one step during a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) count: Count,
    pub(super) traffic: Traffic,
}
