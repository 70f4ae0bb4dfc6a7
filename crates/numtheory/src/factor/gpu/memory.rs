//! Memory of chunks, kept for the next ones: freeing waits for all work on the device, also of other chunks.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpmp_device::{Buffer, Device, Error as DeviceError};

use crate::error::Result;

/// Buffers are kept up to this number.
const KEPT: usize = 64;
/// Sizes from here on are not rounded.
const LARGE: u64 = 1 << 20;

/// The memory of a device.
#[derive(Debug)]
pub(super) struct Memory {
    device: Arc<dyn Device>,
    kept: Mutex<Vec<Buffer>>,
}

impl Memory {
    pub(super) fn new(device: Arc<dyn Device>) -> Self {
        Self { device, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Buffer>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a buffer of this size. Search and removal are under one lock: workers take buffers at the same time.
    fn find(&self, bytes: u64) -> Option<Buffer> {
        let mut kept = self.kept();
        let place = kept.iter().position(|buffer| buffer.bytes() == bytes)?;
        Some(kept.swap_remove(place))
    }

    /// Memory that a chunk can have.
    pub(super) fn free_bytes(&self) -> Result<u64> {
        let kept: u64 = self.kept().iter().map(Buffer::bytes).sum();
        Ok(self.device.free_bytes()? + kept)
    }

    /// Memory of unknown content, kept or new.
    pub(super) fn take(&self, bytes: u64) -> Result<Lease<'_>> {
        // Lists of pairs have many sizes; rounded, they have few.
        let bytes = if bytes < LARGE { bytes.max(256).next_power_of_two() } else { bytes };
        let buffer = match self.find(bytes) {
            Some(buffer) => {
                self.device.forget(&buffer)?;
                buffer
            }
            None => match self.device.alloc(bytes) {
                Err(DeviceError::OutOfMemory { .. }) => {
                    drop(std::mem::take(&mut *self.kept()));
                    self.device.alloc(bytes)?
                }
                other => other?,
            },
        };
        Ok(Lease { memory: self, buffer: Some(buffer) })
    }
}

/// A buffer. Whoever drops it has waited for its work.
#[derive(Debug)]
pub(super) struct Lease<'m> {
    memory: &'m Memory,
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
        let Some(buffer) = self.buffer.take() else { return };
        let mut kept = self.memory.kept();
        kept.push(buffer);
        let oldest = if kept.len() > KEPT { Some(kept.remove(0)) } else { None };
        // Freeing waits for the device: others can use the memory meanwhile.
        drop(kept);
        drop(oldest);
    }
}
