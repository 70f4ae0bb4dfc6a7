//! The dissertation's convergence scheme on a device.

use std::sync::Arc;

use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::Arguments as _;

use super::{
    leaves::{Nodes, upload},
    report::Report,
    tables,
};
use crate::{
    engine::Outcome,
    error::{Error, Result},
    honda::{Plan, descend_by_jumps},
    kernels::honda::{Arguments, Begin, Honda as Kernel, Place, STARTS_PER_RESIDUE},
};

/// Overflowed starts that there is room for at first: the dissertation found 22932.
const REPORT_CAPACITY: u32 = 1 << 18;
/// Threads of a multiprocessor, and how often a block is replaced by another: the last ones should end together.
const THREADS: u32 = 2048;
const ROUNDS: u32 = 4;

/// The kernel for a plan: tables in shared memory while two blocks fit.
pub fn spec(plan: &Plan) -> Kernel {
    let Plan { sieve_bits, base_bits } = *plan;
    let place = if base_bits <= 13 { Place::Shared } else { Place::Global };
    Kernel { base_bits, place, begin: Begin::Start, sieve_bits, threads: 256 }
}

/// The sieve and the tables on a device.
#[derive(Debug)]
pub struct Honda {
    device: Arc<dyn Device>,
    spec: Kernel,
    stream: Stream,
    module: Arc<Module>,
    /// For ranges, once there was one.
    ranged: Option<Arc<Module>>,
    sieve: Nodes,
    table: Buffer,
    powers: Buffer,
    sums: Buffer,
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
            sums: device.alloc(16)?,
            ranged: None,
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
        self.ranged = None;
        self.table = upload(&*self.device, &self.stream, &tables::base_table(spec.base_bits))?;
        self.spec = spec;
        Ok(())
    }

    /// The kernel.
    pub fn spec(&self) -> Kernel {
        self.spec
    }

    /// Residues of the sieve.
    pub fn residues(&self) -> u32 {
        self.sieve.count
    }

    /// The dissertation's workload: tests the starts t·2⁵⁶ + `constant`·2ᵏ + s for all t < 256 and all residues s, for
    /// 2ᵏ⁺⁸ numbers.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `constant` has more than 56 − k bits; [`Error::NoDescent`]; the device's.
    pub fn run(&mut self, constant: u64) -> Result<Outcome> {
        Error::parameter("constant", constant, 0, (1 << (56 - self.spec.sieve_bits)) - 1)?;
        self.test(constant << self.spec.sieve_bits, 56, None)
    }

    /// The consecutive numbers of unit `unit`, of 2ᵏ⁺⁸; of a range, from the first start to the second.
    ///
    /// # Errors
    /// [`Error::Parameter`] for the whole of unit 0, whose first starts no sieve is for, and past 2⁶⁴; [`Error::NoDescent`]; the
    /// device's.
    pub fn unit(&mut self, unit: u64, range: Option<[u64; 2]>) -> Result<Outcome> {
        let bits = self.spec.sieve_bits + STARTS_PER_RESIDUE.ilog2();
        Error::parameter("unit", unit, u64::from(range.is_none()), u64::MAX >> bits)?;
        self.test(unit << bits, self.spec.sieve_bits, range)
    }

    fn test(&mut self, base: u64, shift: u32, range: Option<[u64; 2]>) -> Result<Outcome> {
        let device = &*self.device;
        let full = device.info().multiprocessors * (THREADS / self.spec.threads).max(1) * ROUNDS;
        let all = u64::from(self.sieve.count) * u64::from(STARTS_PER_RESIDUE);
        let needed = all / u64::from(self.spec.threads) + 1;
        let module = match (range, &self.ranged) {
            (None, _) => &self.module,
            (Some(_), Some(ranged)) => ranged,
            (Some(_), None) => self.ranged.insert(device.load(&self.spec.build_ranged())?),
        };
        let grid = self.spec.grid(needed.min(full.into()) as u32);
        let starts = self.report.collect(device, &self.stream, Some(&self.sums), |report| {
            let arguments = Arguments {
                residues: (&self.sieve.values).into(),
                odd_steps: (&self.sieve.states).into(),
                count: self.sieve.count,
                constant: base,
                shift,
                powers: (&self.powers).into(),
                table: (&self.table).into(),
                sum: (&self.sums).into(),
                report: report.arguments(),
                range,
            };
            arguments.launch(device, &self.stream, module, grid)
        })?;
        let mut sums = [0; 4];
        device.download(&self.stream, &self.sums, 0, &mut sums)?;
        let pair = |at: usize| u64::from(sums[at]) | u64::from(sums[at + 1]) << 32;
        let bits = self.spec.base_bits;
        let finish = |&start: &u128| Ok(descend_by_jumps(start, bits)? as u64);
        let rest = starts.par_iter().map(finish).try_reduce(|| 0, |a, b| Ok::<_, Error>(a.wrapping_add(b)))?;
        let overflowed = starts.len() as u64;
        let tested = if range.is_none() { all } else { pair(2) };
        let checksum = pair(0).wrapping_add(rest);
        Ok(Outcome { tested, overflowed, finished: overflowed, checksum, ..Outcome::default() })
    }
}
