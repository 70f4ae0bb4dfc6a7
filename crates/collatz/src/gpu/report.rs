//! What kernels report for the host to finish.

use warpmp_device::{Arg, Buffer, Device, Grid, Module, Stream};

use crate::{
    error::Result,
    kernels::{REPORT_HEADER_BYTES, REPORT_RECORD_BYTES},
};

/// Words before the records.
const HEADER_WORDS: usize = (REPORT_HEADER_BYTES / 4) as usize;

/// A launch of a kernel that reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch<'a> {
    pub(super) stream: &'a Stream,
    pub(super) module: &'a Module,
    pub(super) grid: Grid,
    /// What is before the report and its capacity, and what is behind.
    pub(super) args: &'a [Arg<'a>],
    pub(super) more: &'a [Arg<'a>],
    /// What is zero at first.
    pub(super) zeroed: Option<&'a Buffer>,
}

/// A report's memory on a device.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) buffer: Buffer,
    pub(super) capacity: u32,
}

impl Report {
    pub(super) fn new(device: &dyn Device, capacity: u32) -> Result<Self> {
        let buffer = device.alloc(REPORT_HEADER_BYTES + REPORT_RECORD_BYTES * u64::from(capacity))?;
        Ok(Self { buffer, capacity })
    }

    /// Launches a kernel, and waits for it; what it reported. If there was not room for all, it is done again with more.
    pub(super) fn launch(&mut self, device: &dyn Device, launch: Launch<'_>) -> Result<Vec<u128>> {
        loop {
            self.clear(device, launch.stream)?;
            if let Some(buffer) = launch.zeroed {
                device.fill(launch.stream, buffer, 0, 0, buffer.words())?;
            }
            let own = [Arg::from(&self.buffer), Arg::U32(self.capacity)];
            let args = [launch.args, &own, launch.more].concat();
            device.launch(launch.stream, launch.module, launch.grid, &args)?;
            device.synchronize(launch.stream)?;
            if let Some(records) = self.read(device, launch.stream)? {
                return Ok(records);
            }
        }
    }

    /// Nothing is reported yet.
    pub(super) fn clear(&self, device: &dyn Device, stream: &Stream) -> Result<()> {
        Ok(device.fill(stream, &self.buffer, 0, 0, HEADER_WORDS)?)
    }

    /// The records, once the kernels are done; none if there were more than there is room for: then there
    /// is room now, and the work has to be done again.
    pub(super) fn read(&mut self, device: &dyn Device, stream: &Stream) -> Result<Option<Vec<u128>>> {
        let mut count = [0];
        device.download(stream, &self.buffer, 0, &mut count)?;
        let [count] = count;
        if count > self.capacity {
            *self = Self::new(device, count.saturating_add(count / 4))?;
            return Ok(None);
        }
        let mut words = vec![0; 4 * count as usize];
        device.download(stream, &self.buffer, HEADER_WORDS, &mut words)?;
        let record = |words: &[u32]| words.iter().rev().fold(0_u128, |sum, &word| sum << 32 | u128::from(word));
        Ok(Some(words.chunks(4).map(record).collect()))
    }
}
