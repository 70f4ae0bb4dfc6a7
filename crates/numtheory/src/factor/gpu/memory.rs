//! Memory of chunks, kept for the next ones: freeing waits for all work on the device, also of other chunks.

use std::ops::Deref;
use std::sync::Arc;

use warpmp_device::{Buffer, Device, Pool};

use crate::error::Result;

/// Sizes from here on are not rounded.
const LARGE: u64 = 1 << 20;

/// The memory of a device.
#[derive(Debug)]
pub(super) struct Memory(Pool);

impl Memory {
    /// The pool may keep all of the device's memory: nobody else here needs it.
    pub(super) fn new(device: Arc<dyn Device>) -> Self {
        let limit_bytes = device.info().memory_bytes;
        Self(Pool::new(device, limit_bytes))
    }

    /// Memory that a chunk can have.
    pub(super) fn free_bytes(&self) -> Result<u64> {
        Ok(self.0.free_bytes()?)
    }

    /// Memory of unknown content, kept or new.
    pub(super) fn take(&self, bytes: u64) -> Result<Lease<'_>> {
        // Lists of pairs have many sizes; rounded, they have few.
        let bytes = if bytes < LARGE { bytes.max(256).next_power_of_two() } else { bytes };
        Ok(Lease { pool: &self.0, buffer: Some(self.0.take(bytes)?) })
    }
}

/// A buffer. Whoever drops it has waited for its work: see [`Chunk`](super::chunk::Chunk).
#[derive(Debug)]
pub(super) struct Lease<'m> {
    pool: &'m Pool,
    /// None only while it is dropped.
    buffer: Option<Buffer>,
}

impl Deref for Lease<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        match &self.buffer {
            Some(buffer) => buffer,
            None => unreachable!("only a lease that is dropped has no buffer"),
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.keep(buffer);
        }
    }
}
