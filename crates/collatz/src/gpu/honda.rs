//! The dissertation's convergence scheme on a device.

use std::sync::Arc;

use rayon::prelude::*;
use warpmp_device::{Arg, Buffer, Device, Module, Stream};

use super::{
    leaves::{Nodes, upload},
    report::Report,
    tables,
};
use crate::{
    engine::Outcome,
    error::{Error, Result},
    kernels::honda::{Honda as Kernel, Place, STARTS_PER_RESIDUE},
    number::descend,
};

/// Overflowed starts that there is room for at first: the dissertation found 22932.
const REPORT_CAPACITY: u32 = 1 << 18;
/// Threads of a multiprocessor, and how often a block is replaced by another: the last ones should end together.
const THREADS: u32 = 2048;
const ROUNDS: u32 = 4;

/// The sieve and the tables on a device.
#[derive(Debug)]
pub struct Honda {
    device: Arc<dyn Device>,
    spec: Kernel,
    stream: Stream,
    module: Arc<Module>,
    sieve: Nodes,
    table: Buffer,
    powers: Buffer,
    report: Report,
}

impl Honda {
    /// Makes the sieve on the device, and the tables.
    ///
    /// # Errors
    /// [`Error::Parameter`]; the device's: the sieve of 37 bits needs 52 GB while it is made, 19 GB then.
    pub fn new(device: &Arc<dyn Device>, spec: Kernel) -> Result<Self> {
        Error::parameter("sieve bits", spec.sieve_bits.into(), 3, 37)?;
        let most = if spec.place == Place::Shared { 14 } else { 20 };
        Error::parameter("base bits", spec.base_bits.into(), 4, most)?;
        Error::parameter("threads a block", spec.threads.into(), 32, 1024)?;
        let stream = device.stream()?;
        let sieve = Nodes::new(&**device, &stream, spec.sieve_bits, false)?;
        Ok(Self {
            module: device.load(&spec.build())?,
            table: upload(&**device, &stream, &tables::base_table(spec.base_bits))?,
            powers: upload(&**device, &stream, &tables::powers())?,
            report: Report::new(&**device, REPORT_CAPACITY)?,
            device: device.clone(),
            spec,
            stream,
            sieve,
        })
    }

    /// Another kernel for the same sieve.
    ///
    /// # Errors
    /// As [`Honda::new`]; [`Error::Parameter`] for another number of sieve bits.
    pub fn change(&mut self, spec: Kernel) -> Result<()> {
        let bits = self.spec.sieve_bits.into();
        Error::parameter("sieve bits", spec.sieve_bits.into(), bits, bits)?;
        self.module = self.device.load(&spec.build())?;
        self.table = upload(&*self.device, &self.stream, &tables::base_table(spec.base_bits))?;
        self.spec = spec;
        Ok(())
    }

    /// Residues of the sieve.
    pub fn residues(&self) -> u32 {
        self.sieve.count
    }

    /// Tests the starts t·2⁵⁶ + `constant`·2ᵏ + s for all t < 256 and all residues s: 2ᵏ⁺⁸ numbers are verified.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `constant` has more than 56 − k bits; [`Error::NoDescent`]; the device's.
    pub fn run(&mut self, constant: u64) -> Result<Outcome> {
        Error::parameter("constant", constant, 0, (1 << (56 - self.spec.sieve_bits)) - 1)?;
        let device = &*self.device;
        let full = device.info().multiprocessors * (THREADS / self.spec.threads).max(1) * ROUNDS;
        let needed = u64::from(self.sieve.count) * u64::from(STARTS_PER_RESIDUE) / u64::from(self.spec.threads) + 1;
        let grid = self.spec.grid(needed.min(full.into()) as u32);
        loop {
            self.report.clear(device, &self.stream)?;
            let args = [
                Arg::from(&self.sieve.values),
                Arg::from(&self.sieve.states),
                Arg::U32(self.sieve.count),
                Arg::U64(constant << self.spec.sieve_bits),
                Arg::from(&self.powers),
                Arg::from(&self.table),
                Arg::from(&self.report.buffer),
                Arg::U32(self.report.capacity),
            ];
            device.launch(&self.stream, &self.module, grid, &args)?;
            device.synchronize(&self.stream)?;
            let Some(starts) = self.report.read(device, &self.stream)? else { continue };
            starts.par_iter().try_for_each(|&start| descend(start).map(drop))?;
            let overflowed = starts.len() as u64;
            let tested = u64::from(self.sieve.count) * u64::from(STARTS_PER_RESIDUE);
            return Ok(Outcome { tested, overflowed, finished: overflowed, ..Outcome::default() });
        }
    }
}
