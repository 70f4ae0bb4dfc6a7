//! Delays on a device.

use std::sync::Arc;

use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::Arguments as _;

use super::{leaves::upload, report::Report, tables};
use crate::{
    error::{Error, Result},
    kernels::{
        delay::Source,
        delay_pools::{Arguments, DelayPools},
    },
    number::trace,
};

/// Overflowed starts that there is room for at first: of random 64-bit starts about one in 5·10⁶.
const REPORT_CAPACITY: u32 = 1 << 16;

pub use crate::kernels::delay::Starts;

impl Starts<'_> {
    /// A range must begin above 0 and end at 2⁶⁴ at the latest.
    pub(super) fn check(self, count: u32) -> Result<()> {
        match self {
            Self::From(0) => Err(Error::ZeroStart),
            Self::From(first) if u128::from(first) + u128::from(count) > 1 << 64 => {
                Err(Error::PastLimit { from: first.into(), count: count.into() })
            }
            _ => Ok(()),
        }
    }
}

/// Finishes reported starts on the host, and writes their delays to their places; how many there are.
pub(super) fn finish(device: &dyn Device, stream: &Stream, records: &[u128], out: &Buffer) -> Result<u64> {
    let finished: Vec<(u32, u32)> = records
        .par_iter()
        .map(|&record| {
            let trace = trace(u128::from(record as u64), |_| true)?;
            Ok(((record >> 64) as u32, trace.delay() as u32))
        })
        .collect::<Result<_>>()?;
    for (index, delay) in &finished {
        device.upload(stream, &[*delay], out, *index as usize)?;
    }
    Ok(finished.len() as u64)
}

/// The kernels and tables for delays on a device.
#[derive(Debug)]
pub struct Delays {
    device: Arc<dyn Device>,
    spec: DelayPools,
    stream: Stream,
    /// For ranges, and for arrays.
    modules: [Arc<Module>; 2],
    tables: Buffer,
    known: Buffer,
    next: Buffer,
    report: Report,
}

/// The settings for large GPUs.
pub const SETTINGS: DelayPools = DelayPools {
    base_bits: 14,
    known_bits: 21,
    large_jumps: 2,
    small_jumps: 5,
    source: Source::Range,
    chunk: 2048,
    warps: 24,
    blocks: 2,
};

impl Delays {
    /// Makes the tables; the settings' source does not matter.
    ///
    /// # Errors
    /// [`Error::Parameter`], the device's.
    pub fn new(device: &Arc<dyn Device>, spec: DelayPools) -> Result<Self> {
        Error::parameter("base bits", spec.base_bits.into(), 10, 15)?;
        Error::parameter("bits of table A", spec.known_bits.into(), spec.base_bits.into(), 28)?;
        Error::parameter("warps a block", spec.warps.into(), 1, 32)?;
        Error::parameter("starts of a chunk", spec.chunk.into(), 32, 4096)?;
        Error::parameter("ones of the chunk's size", spec.chunk.count_ones().into(), 1, 1)?;
        let stream = device.stream()?;
        let module = |source| device.load(&DelayPools { source, ..spec }.build());
        Ok(Self {
            modules: [module(Source::Range)?, module(Source::Array)?],
            tables: upload(&**device, &stream, &tables::delay_pools(spec.base_bits))?,
            known: upload(&**device, &stream, &tables::known_delays(spec.known_bits)?)?,
            next: device.alloc(4)?,
            report: Report::new(&**device, REPORT_CAPACITY)?,
            device: device.clone(),
            spec,
            stream,
        })
    }

    /// Writes the delay of every start to `out`, a word each; how many were finished on the host.
    ///
    /// # Errors
    /// [`Error::ZeroStart`], [`Error::PastLimit`] for a range past 2⁶⁴; the device's. `out` then holds anything.
    pub fn run(&mut self, starts: Starts<'_>, count: u32, out: &Buffer) -> Result<u64> {
        let device = &*self.device;
        starts.check(count)?;
        let module = match starts {
            Starts::From(_) => &self.modules[0],
            Starts::In(_) => &self.modules[1],
        };
        if count == 0 {
            return Ok(0);
        }
        let full = device.info().multiprocessors * self.spec.blocks;
        let grid = self.spec.grid(full.min(count.div_ceil(self.spec.chunk * self.spec.warps)));
        let records = self.report.collect(device, &self.stream, Some(&self.next), |report| {
            let arguments = Arguments {
                from: starts,
                count,
                tables: (&self.tables).into(),
                known: (&self.known).into(),
                out: out.into(),
                next: (&self.next).into(),
                report: report.arguments(),
            };
            arguments.launch(device, &self.stream, module, grid)
        })?;
        finish(device, &self.stream, &records, out)
    }

    /// The delays of consecutive starts, on the host: one for each place, of which there are fewer than 2³².
    ///
    /// # Errors
    /// As [`Delays::run`].
    pub fn range(&mut self, first: u64, delays: &mut [u32]) -> Result<()> {
        let out = self.device.alloc(4 * delays.len().max(1) as u64)?;
        self.run(Starts::From(first), delays.len() as u32, &out)?;
        Ok(self.device.download(&self.stream, &out, 0, delays)?)
    }
}
