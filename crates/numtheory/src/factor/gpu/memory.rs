//! Memory of chunks, kept for the next ones: freeing waits for all work on the device, also of other chunks.
//!
//! Rows of the host lie in page-locked memory that is kept, too. The device copies them at full speed, and beside the processor. Memory that the
//! system gives anew costs a page fault for each 4 KiB, which is more than writing the rows, and threads wait for each other there.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpmp_device::{Buffer, Device, Error as DeviceError, Pinned, Pool};

use super::cards::WORKERS;
use crate::error::Result;

/// Sizes from here on are not rounded.
const LARGE: u64 = 1 << 20;
/// Pieces of the host's memory that are kept: a worker has at most two at a time.
const KEPT_ROWS: usize = 2 * WORKERS;

/// The memory of a device, and the host's memory for its rows.
#[derive(Debug)]
pub(super) struct Memory {
    device: Arc<dyn Device>,
    pool: Pool,
    rows: Mutex<Vec<Words>>,
}

impl Memory {
    /// The pool may keep all of the device's memory: nobody else here needs it.
    pub(super) fn new(device: Arc<dyn Device>) -> Self {
        let limit_bytes = device.info().memory_bytes;
        Self { pool: Pool::new(device.clone(), limit_bytes), device, rows: Mutex::default() }
    }

    /// Memory that a chunk can have.
    pub(super) fn free_bytes(&self) -> Result<u64> {
        Ok(self.pool.free_bytes()?)
    }

    /// Memory of unknown content, kept or new.
    pub(super) fn take(&self, bytes: u64) -> Result<Lease<'_>> {
        // Lists of pairs have many sizes; rounded, they have few.
        let bytes = if bytes < LARGE { bytes.max(256).next_power_of_two() } else { bytes };
        Ok(Lease { pool: &self.pool, buffer: Some(self.pool.take(bytes)?) })
    }

    /// Words of the host, of unknown content.
    pub(super) fn rows(&self, count: usize) -> Result<HostRows<'_>> {
        let kept = {
            let mut rows = self.kept_rows();
            // The shortest that is long enough.
            let place = rows.iter().position(|words| words.len() >= count);
            place.map(|place| rows.remove(place))
        };
        let words = match kept {
            Some(words) => words,
            None => match self.device.pinned(count) {
                Ok(words) => Words::Pinned(words),
                // Systems limit the memory that may be locked. Ordinary memory does it, too.
                Err(DeviceError::OutOfHostMemory { .. }) => Words::Ordinary(vec![0; count]),
                Err(error) => return Err(error.into()),
            },
        };
        Ok(HostRows { memory: self, words, count })
    }

    /// The rows that are kept, the shortest first.
    fn kept_rows(&self) -> MutexGuard<'_, Vec<Words>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_rows(&self, words: Words) {
        let mut rows = self.kept_rows();
        let place = rows.partition_point(|other| other.len() < words.len());
        rows.insert(place, words);
        let shortest = (rows.len() > KEPT_ROWS).then(|| rows.remove(0));
        // Giving memory back takes time.
        drop(rows);
        drop(shortest);
    }
}

/// Memory of the host.
#[derive(Debug)]
enum Words {
    Pinned(Pinned),
    Ordinary(Vec<u32>),
}

impl Words {
    fn len(&self) -> usize {
        match self {
            Self::Pinned(words) => words.len(),
            Self::Ordinary(words) => words.len(),
        }
    }
}

/// Words of the host for rows of a chunk. No copy uses them when they are dropped: copies to and from slices are waited for.
#[derive(Debug)]
pub(super) struct HostRows<'m> {
    memory: &'m Memory,
    words: Words,
    count: usize,
}

impl Deref for HostRows<'_> {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.words {
            Words::Pinned(words) => &words[..self.count],
            Words::Ordinary(words) => &words[..self.count],
        }
    }
}

impl DerefMut for HostRows<'_> {
    fn deref_mut(&mut self) -> &mut [u32] {
        match &mut self.words {
            Words::Pinned(words) => &mut words[..self.count],
            Words::Ordinary(words) => &mut words[..self.count],
        }
    }
}

impl Drop for HostRows<'_> {
    fn drop(&mut self) {
        self.memory.keep_rows(mem::replace(&mut self.words, Words::Ordinary(Vec::new())));
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
