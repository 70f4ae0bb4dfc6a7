//! Algorithm 6 on a device as the dissertation has it: a start a thread, every table of a size that can be chosen.

use std::sync::Arc;

use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::{Arguments as _, At};

use super::{
    delay::{Starts, finish},
    leaves::upload,
    report::Report,
    tables,
};
use crate::{
    error::{Allowed, Error, Result},
    kernels::{
        delay::{Arguments, Delay, Source},
        honda::Place,
    },
};

/// Overflowed starts that there is room for at first.
const REPORT_CAPACITY: u32 = 1 << 16;
/// Threads of a multiprocessor.
const THREADS: u32 = 2048;

/// The kernel and tables.
#[derive(Debug)]
pub struct PaperDelays {
    device: Arc<dyn Device>,
    spec: Delay,
    stream: Stream,
    module: Arc<Module>,
    table: Buffer,
    known: Buffer,
    report: Report,
}

impl PaperDelays {
    /// Makes the tables.
    ///
    /// # Errors
    /// [`Error::Parameter`], the device's.
    pub fn new(device: &Arc<dyn Device>, spec: Delay) -> Result<Self> {
        let most = if spec.place == Place::Shared { 13 } else { 20 };
        Error::parameter("base bits", spec.base_bits.into(), 4, most)?;
        Error::parameter("bits of table A", spec.known_bits.into(), spec.base_bits.into(), 28)?;
        Error::parameter("threads a block", spec.threads.into(), 32, 1024)?;
        let stream = device.stream()?;
        Ok(Self {
            module: device.load(&spec.build())?,
            table: upload(&**device, &stream, &tables::delay(spec.base_bits))?,
            known: upload(&**device, &stream, &tables::known_delays(spec.known_bits)?)?,
            report: Report::new(&**device, REPORT_CAPACITY)?,
            device: device.clone(),
            spec,
            stream,
        })
    }

    /// Writes the delay of every start to `out`, a word each. Returns how many the host finished. The starts are as the
    /// kernel's [`Source`] says.
    ///
    /// # Errors
    /// [`Error::Parameter`] for starts of the other kind, [`Error::ZeroStart`], [`Error::PastLimit`] for a range past 2⁶⁴; the
    /// device's.
    pub fn run(&mut self, starts: Starts<'_>, count: u32, out: &Buffer) -> Result<u64> {
        let device = &*self.device;
        let is_expected =
            matches!((starts, self.spec.source), (Starts::From(_), Source::Range) | (Starts::In(_), Source::Array));
        if !is_expected {
            return Err(Error::Parameter { name: "starts of another kind", value: 1, allowed: Allowed::AtMost(0) });
        }
        starts.check(count)?;
        if count == 0 {
            return Ok(0);
        }
        let full = device.info().multiprocessors * (THREADS / self.spec.threads).max(1);
        let grid = self.spec.grid(full.min(count.div_ceil(self.spec.threads)));
        let stream = &self.stream;
        let records = self.report.collect(device, stream, None, |report| {
            let [table, known, out] = [&self.table, &self.known, out].map(At::from);
            let arguments = Arguments { from: starts, count, table, known, out, report: report.arguments() };
            arguments.launch(device, stream, &self.module, grid)
        })?;
        finish(device, stream, &records, out)
    }
}
