//! A slot: what one chunk needs on its way through the device.

use warpmp_device::{Buffer, Device, Event, Pinned, Stream};

use super::LEAST_BYTES;
use crate::error::Result;

/// Sizes of a slot in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Words of the chunk's first operand, second operand, result and scratch memory on the device.
    pub(super) device: [usize; 4],
    /// Words of page-locked memory on the host; none if the caller's memory is page-locked.
    pub(super) staging: usize,
}

/// A stream with the buffers of one chunk.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) stream: Stream,
    /// The start and the end of the kernels.
    pub(super) events: [Event; 2],
    /// Operands, result, scratch memory.
    pub(super) buffers: [Buffer; 4],
    /// Between pageable memory and the device.
    pub(super) staging: Pinned,
}

impl Slot {
    pub(super) fn new(device: &dyn Device, sizes: Sizes) -> Result<Self> {
        let [a, b, c, scratch] = sizes.device;
        let alloc = |words: usize| device.alloc((4 * words as u64).max(LEAST_BYTES));
        Ok(Self {
            stream: device.stream()?,
            events: [device.event()?, device.event()?],
            buffers: [alloc(a)?, alloc(b)?, alloc(c)?, alloc(scratch)?],
            staging: if sizes.staging == 0 { Pinned::default() } else { device.pinned(sizes.staging)? },
        })
    }

    /// Is everything at least of these sizes?
    pub(super) fn holds(&self, sizes: Sizes) -> bool {
        let enough = |(buffer, words): (&Buffer, usize)| buffer.words() >= words;
        self.buffers.iter().zip(sizes.device).all(enough) && self.staging.len() >= sizes.staging
    }

    /// What it takes of the device's memory.
    pub(super) fn device_bytes(&self) -> u64 {
        self.buffers.iter().map(Buffer::bytes).sum()
    }
}
