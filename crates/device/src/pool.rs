//! Memory of work that is done, kept for the next work of the same size.
//!
//! Allocating and freeing the memory of a million numbers takes the driver longer than a kernel takes to compute them, and
//! freeing waits for all work on the device.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::cache::lock;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::objects::Buffer;

/// The most buffers that are kept.
const KEPT_BUFFERS: usize = 64;

/// Buffers that nobody uses.
#[derive(Debug)]
pub struct Pool {
    device: Arc<dyn Device>,
    /// The oldest first.
    kept: Mutex<VecDeque<Buffer>>,
    limit_bytes: u64,
}

impl Pool {
    /// A pool that keeps so many bytes at the most.
    pub fn new(device: Arc<dyn Device>, limit_bytes: u64) -> Self {
        Self { device, kept: Mutex::default(), limit_bytes }
    }

    /// Memory that can be had: free memory of the device, and the buffers that are kept.
    ///
    /// # Errors
    /// As [`Device::free_bytes`].
    pub fn free_bytes(&self) -> Result<u64> {
        let kept: u64 = self.kept().iter().map(Buffer::bytes).sum();
        Ok(self.device.free_bytes()? + kept)
    }

    /// New memory. If the device has no room, the kept buffers are freed first.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn alloc(&self, bytes: u64) -> Result<Buffer> {
        match self.device.alloc(bytes) {
            Err(Error::OutOfMemory { .. }) if self.clear() => self.device.alloc(bytes),
            other => other,
        }
    }

    /// Memory of exactly this size and of unknown content, kept or new.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn take(&self, bytes: u64) -> Result<Buffer> {
        match self.find(bytes) {
            Some(buffer) => {
                self.device.forget(&buffer)?;
                Ok(buffer)
            }
            None => self.alloc(bytes),
        }
    }

    /// Frees all kept buffers. Was there one?
    pub fn clear(&self) -> bool {
        let kept = mem::take(&mut *self.kept());
        !kept.is_empty()
    }

    /// Removes the latest buffer of this size. Search and removal are under one lock: threads take buffers at the same time.
    fn find(&self, bytes: u64) -> Option<Buffer> {
        let mut kept = self.kept();
        let place = kept.iter().rposition(|buffer| buffer.bytes() == bytes)?;
        kept.remove(place)
    }

    /// Keeps a buffer for the next taker. Work that uses it has ended, or comes before the next taker's work in the same stream.
    pub fn keep(&self, buffer: Buffer) {
        let mut kept = self.kept();
        kept.push_back(buffer);
        let mut bytes: u64 = kept.iter().map(Buffer::bytes).sum();
        let mut oldest = Vec::new();
        while kept.len() > KEPT_BUFFERS || bytes > self.limit_bytes {
            let Some(buffer) = kept.pop_front() else { break };
            bytes -= buffer.bytes();
            oldest.push(buffer);
        }
        // Freeing waits for the device: others can use the pool meanwhile.
        drop(kept);
        drop(oldest);
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Buffer>> {
        lock(&self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimConfig, open_sim_with};

    fn pool(memory_bytes: u64, limit_bytes: u64) -> Pool {
        Pool::new(open_sim_with(&SimConfig { memory_bytes, ..SimConfig::default() }), limit_bytes)
    }

    #[test]
    fn memory_is_used_again_and_its_content_is_unknown() {
        let pool = pool(1 << 20, 1 << 20);
        let free = || pool.device.free_bytes().unwrap();
        let buffer = pool.take(4096).unwrap();
        let stream = pool.device.stream().unwrap();
        pool.device.fill(&stream, &buffer, 0, 7, 1024).unwrap();
        let left = free();
        pool.keep(buffer);
        assert_eq!(free(), left, "the buffer is kept");
        assert_eq!(pool.free_bytes().unwrap(), 1 << 20, "and can be had");
        let again = pool.take(4096).unwrap();
        assert_eq!(free(), left, "the buffer is used again");
        let unwritten = pool.device.download(&stream, &again, 0, &mut [0; 1]);
        assert!(matches!(unwritten, Err(Error::Fault { .. })), "{unwritten:?}");
        assert_eq!(pool.take(2048).unwrap().bytes(), 2048);
        assert_eq!(free(), left, "another size is another buffer, and it is freed where it is dropped");
    }

    #[test]
    fn the_pool_has_bounds_and_makes_room() {
        let pool = pool(1 << 20, 128 << 10);
        let free = || pool.device.free_bytes().unwrap();
        let buffers: Vec<_> = (0..3).map(|_| pool.take(60 << 10).unwrap()).collect();
        for buffer in buffers {
            pool.keep(buffer);
        }
        assert_eq!(free(), (1 << 20) - (120 << 10), "there is room for two");
        pool.keep(pool.take(1 << 20).unwrap());
        assert_eq!(free(), 1 << 20, "they made room for the largest, which is more than is kept");
        assert!(matches!(pool.take(2 << 20), Err(Error::OutOfMemory { .. })));
        let small: Vec<_> = (1..=KEPT_BUFFERS as u64 + 5).map(|n| pool.take(4 * n).unwrap()).collect();
        for buffer in small {
            pool.keep(buffer);
        }
        assert_eq!(pool.kept().len(), KEPT_BUFFERS);
        assert_eq!(pool.kept().front().map(Buffer::bytes), Some(24), "the oldest ones go");
    }
}
