//! The memory of resident batches. All work on resident batches is in the order of one stream, so the next batch can have the memory of
//! a dropped one at once: its work comes after the work of the dropped one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use warpmp_device::{Buffer, Device, Pool};

use crate::error::Result;

/// The pool keeps at most this share of the device's memory: one part in eight.
const KEPT_SHARE: u64 = 8;

/// The pool of an engine.
pub(super) fn new(device: Arc<dyn Device>) -> Arc<Pool> {
    let limit_bytes = device.info().memory_bytes / KEPT_SHARE;
    Arc::new(Pool::new(device, limit_bytes))
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
    /// Memory of unknown content, kept or new.
    pub(super) fn take(pool: &Arc<Pool>, bytes: u64) -> Result<Self> {
        Ok(Self { buffer: Some(pool.take(bytes)?), pool: Arc::downgrade(pool), is_shown: AtomicBool::new(false) })
    }

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

    fn device(memory_bytes: u64) -> Arc<dyn Device> {
        let config = warpmp_device::SimConfig { memory_bytes, ..Default::default() };
        warpmp_device::open_sim_with(&config)
    }

    #[test]
    fn dropped_memory_is_kept() {
        let device = device(1 << 20);
        let pool = new(device.clone());
        let left = (1 << 20) - (100 << 10);
        for _ in 0..2 {
            let lease = Lease::take(&pool, 100 << 10).unwrap();
            assert!(lease.buffer_for(&pool).is_some());
            drop(lease);
            assert_eq!(device.free_bytes().unwrap(), left);
        }
    }

    #[test]
    fn memory_that_others_saw_is_freed() {
        let device = device(1 << 20);
        let pool = new(device.clone());
        let lease = Lease::take(&pool, 4096).unwrap();
        assert!(lease.shown().is_some());
        drop(lease);
        assert_eq!(device.free_bytes().unwrap(), 1 << 20);
        let lease = Lease::take(&pool, 4096).unwrap();
        let of_another_session = new(device.clone());
        assert!(lease.buffer_for(&of_another_session).is_some());
        drop(lease);
        assert_eq!(device.free_bytes().unwrap(), 1 << 20);
    }

    #[test]
    fn a_batch_outlives_its_pool() {
        let device = warpmp_device::open_sim();
        let pool = new(device.clone());
        let lease = Lease::take(&pool, 4096).unwrap();
        drop(pool);
        drop(lease);
        assert_eq!(device.free_bytes().unwrap(), device.info().memory_bytes);
    }
}
