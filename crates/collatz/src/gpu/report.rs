//! Starts that kernels report, so that the host finishes them.

use warpmp_device::{Buffer, Device, Stream};

use crate::{
    error::Result,
    kernels::{REPORT_HEADER_BYTES, REPORT_RECORD_BYTES, ReportArguments},
};

/// Words before the records.
const HEADER_WORDS: usize = (REPORT_HEADER_BYTES / 4) as usize;

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

    /// The report as an argument of a launch.
    pub(super) fn arguments(&self) -> ReportArguments<'_> {
        ReportArguments { report: (&self.buffer).into(), report_capacity: self.capacity }
    }

    /// Launches a kernel, waits for it, and returns its records. If the records have no room, the work is done again with
    /// more room. Each launch finds `zeroed` zeroed.
    pub(super) fn collect(
        &mut self,
        device: &dyn Device,
        stream: &Stream,
        zeroed: Option<&Buffer>,
        launch: impl Fn(&Self) -> warpmp_device::Result<()>,
    ) -> Result<Vec<u128>> {
        loop {
            self.clear(device, stream)?;
            if let Some(buffer) = zeroed {
                device.fill(stream, buffer, 0, 0, buffer.words())?;
            }
            launch(self)?;
            device.synchronize(stream)?;
            if let Some(records) = self.read(device, stream)? {
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
