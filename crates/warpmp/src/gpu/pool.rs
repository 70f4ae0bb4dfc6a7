//! Memory of resident batches, kept for the next batch of the same size.
//!
//! Allocating and freeing the memory of a million products takes the driver longer than the kernel takes to compute them,
//! and freeing waits for all work on the device. All work on resident batches is in the order of one stream, so the next
//! batch can have the memory at once: its work comes after the work of the last batch.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use warpmp_device::{Buffer, Device, Error};

use crate::error::Result;

/// The most buffers that are kept.
const KEPT_BUFFERS: usize = 64;
/// The pool keeps at most this share of the device's memory: one part in eight.
const KEPT_SHARE: u64 = 8;

/// Buffers that no batch uses.
#[derive(Debug)]
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    /// The oldest first.
    kept: Mutex<VecDeque<Buffer>>,
    limit_bytes: u64,
}

impl Pool {
    pub(super) fn new(device: Arc<dyn Device>) -> Arc<Self> {
        let limit_bytes = device.info().memory_bytes / KEPT_SHARE;
        Arc::new(Self { device, kept: Mutex::default(), limit_bytes })
    }

    /// New memory. If the device has no room, the kept buffers are freed first.
    pub(super) fn alloc(&self, bytes: u64) -> Result<Buffer> {
        match self.device.alloc(bytes) {
            Err(Error::OutOfMemory { .. }) if self.clear() => Ok(self.device.alloc(bytes)?),
            other => Ok(other?),
        }
    }

    /// Memory of unknown content, kept or new.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Result<Lease> {
        let buffer = match self.find(bytes) {
            Some(buffer) => {
                self.device.forget(&buffer)?;
                buffer
            }
            None => self.alloc(bytes)?,
        };
        Ok(Lease { buffer: Some(buffer), pool: Arc::downgrade(self), is_shown: AtomicBool::new(false) })
    }

    /// Frees all kept buffers. Was there one?
    pub(super) fn clear(&self) -> bool {
        let kept = mem::take(&mut *self.kept());
        !kept.is_empty()
    }

    /// Removes the latest buffer of this size.
    fn find(&self, bytes: u64) -> Option<Buffer> {
        let mut kept = self.kept();
        let place = kept.iter().rposition(|buffer| buffer.bytes() == bytes)?;
        kept.remove(place)
    }

    fn keep(&self, buffer: Buffer) {
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
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory of a resident batch. Dropping it gives the memory back to the pool.
#[derive(Debug)]
pub(crate) struct Lease {
    /// None only while it is dropped.
    buffer: Option<Buffer>,
    pool: Weak<Pool>,
    /// Has the caller seen the buffer? Other streams may use it then.
    is_shown: AtomicBool,
}

impl Lease {
    /// The memory, for work on the stream that this pool serves.
    pub(crate) fn buffer_for(&self, pool: &Arc<Pool>) -> Option<&Buffer> {
        let is_own = Weak::as_ptr(&self.pool) == Arc::as_ptr(pool);
        if is_own { self.buffer.as_ref() } else { self.shown() }
    }

    /// The memory, for anybody. The pool does not get it back: freeing it waits for all work on the device.
    pub(crate) fn shown(&self) -> Option<&Buffer> {
        self.is_shown.store(true, Ordering::Relaxed);
        self.buffer.as_ref()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(buffer) = self.buffer.take() else { return };
        match self.pool.upgrade() {
            Some(pool) if !*self.is_shown.get_mut() => pool.keep(buffer),
            _ => drop(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(memory_bytes: u64) -> Arc<Pool> {
        let config = warpmp_device::SimConfig { memory_bytes, ..Default::default() };
        Pool::new(warpmp_device::open_sim_with(&config))
    }

    #[test]
    fn memory_is_used_again_and_its_content_is_unknown() {
        let pool = pool(1 << 20);
        let free = || pool.device.free_bytes().unwrap();
        let lease = pool.take(4096).unwrap();
        let stream = pool.device.stream().unwrap();
        pool.device.fill(&stream, lease.buffer_for(&pool).unwrap(), 0, 7, 1024).unwrap();
        let left = free();
        drop(lease);
        assert_eq!(free(), left, "the buffer is kept");
        let again = pool.take(4096).unwrap();
        assert_eq!(free(), left, "the buffer is used again");
        let unwritten = pool.device.download(&stream, again.buffer_for(&pool).unwrap(), 0, &mut [0; 1]);
        assert!(matches!(unwritten, Err(Error::Fault { .. })), "{unwritten:?}");
        assert_eq!(pool.take(2048).unwrap().buffer_for(&pool).unwrap().bytes(), 2048);
        assert_eq!(free(), left - 2048, "another size is another buffer");
    }

    #[test]
    fn memory_that_others_saw_is_freed() {
        let pool = pool(1 << 20);
        let lease = pool.take(4096).unwrap();
        assert!(lease.shown().is_some());
        drop(lease);
        assert_eq!(pool.device.free_bytes().unwrap(), 1 << 20);
        let lease = pool.take(4096).unwrap();
        let of_another_session = Pool::new(pool.device.clone());
        assert!(lease.buffer_for(&of_another_session).is_some());
        drop(lease);
        assert_eq!(pool.device.free_bytes().unwrap(), 1 << 20);
    }

    #[test]
    fn the_pool_has_bounds_and_makes_room() {
        let pool = pool(1 << 20);
        let free = || pool.device.free_bytes().unwrap();
        let leases: Vec<_> = (0..3).map(|_| pool.take(60 << 10).unwrap()).collect();
        drop(leases);
        assert_eq!(free(), (1 << 20) - (120 << 10), "an eighth of the memory has room for two");
        drop(pool.take(1 << 20).unwrap());
        assert_eq!(free(), 1 << 20, "they made room for the largest, which is more than is kept");
        assert!(matches!(pool.take(2 << 20), Err(crate::Error::OutOfMemory { .. })));
        let small: Vec<_> = (1..=KEPT_BUFFERS as u64 + 5).map(|n| pool.take(4 * n).unwrap()).collect();
        drop(small);
        assert_eq!(pool.kept().len(), KEPT_BUFFERS);
        assert_eq!(pool.kept().front().map(Buffer::bytes), Some(24), "the oldest ones go");
    }

    #[test]
    fn a_batch_outlives_its_pool() {
        let device = warpmp_device::open_sim();
        let pool = Pool::new(device.clone());
        let lease = pool.take(4096).unwrap();
        drop(pool);
        drop(lease);
        assert_eq!(device.free_bytes().unwrap(), device.info().memory_bytes);
    }
}
