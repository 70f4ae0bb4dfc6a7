//! A slot: what one chunk needs on its way through the device.

use warpmp_device::{Buffer, Device, Event, Pinned, Stream};

use super::LEAST_BYTES;
use crate::error::Result;

/// Sizes of a slot in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Words of the chunk's operands and results on the device.
    pub(super) rows: Vec<usize>,
    /// Words of scratch memory on the device.
    pub(super) scratch: usize,
    /// Words of page-locked memory on the host; none if the caller's memory is page-locked.
    pub(super) staging: usize,
}

/// A stream with the buffers of one chunk.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) stream: Stream,
    /// The start and the end of the kernels.
    pub(super) events: [Event; 2],
    /// Operands and results.
    pub(super) rows: Vec<Buffer>,
    pub(super) scratch: Buffer,
    /// Between pageable memory and the device.
    pub(super) staging: Pinned,
}

impl Slot {
    pub(super) fn new(device: &dyn Device, sizes: &Sizes) -> Result<Self> {
        let alloc = |words: usize| device.alloc((4 * words as u64).max(LEAST_BYTES));
        Ok(Self {
            stream: device.stream()?,
            events: [device.event()?, device.event()?],
            rows: sizes.rows.iter().map(|&words| alloc(words)).collect::<Result<_, _>>()?,
            scratch: alloc(sizes.scratch)?,
            staging: if sizes.staging == 0 { Pinned::default() } else { device.pinned(sizes.staging)? },
        })
    }

    /// Is everything at least of these sizes?
    pub(super) fn holds(&self, sizes: &Sizes) -> bool {
        let enough = |(buffer, words): (&Buffer, &usize)| buffer.words() >= *words;
        self.rows.len() == sizes.rows.len()
            && self.rows.iter().zip(&sizes.rows).all(enough)
            && self.scratch.words() >= sizes.scratch
            && self.staging.len() >= sizes.staging
    }

    /// What it takes of the device's memory.
    pub(super) fn device_bytes(&self) -> u64 {
        self.rows.iter().chain([&self.scratch]).map(Buffer::bytes).sum()
    }
}
