//! Memory that later chunks use again. For a GPU it is page-locked, which makes copies fast, but takes long to allocate.
//!
//! ```text
//! reader ── operands ──► engine ── products ──► writer
//!    ▲                     │  ▲                   │
//!    └────────── given back ┴──┴──────────────────┘
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpmp::{Batch, HostBuffer, Session};

/// Memory of chunks that were written, for later chunks.
#[derive(Debug)]
pub(crate) struct Pool {
    /// None if lengths differ from chunk to chunk: returned memory would seldom fit.
    session: Option<Arc<Session>>,
    /// Is the session's memory page-locked? Ordinary memory is not kept then: transfers from and to it are slow.
    is_pinned: bool,
    free: Mutex<Vec<HostBuffer>>,
}

impl Pool {
    /// Memory for this session's chunks, if they all have the same length.
    pub(crate) fn new(session: &Arc<Session>, alike: bool) -> Self {
        let session = alike.then(|| Arc::clone(session));
        let sample = session.as_ref().and_then(|session| session.host_buffer(1).ok());
        Self { session, is_pinned: sample.is_some_and(|sample| sample.is_pinned()), free: Mutex::default() }
    }

    /// Memory of exactly `words` words, with any content; none if ordinary memory serves as well.
    pub(crate) fn take(&self, words: usize) -> Option<HostBuffer> {
        let session = self.session.as_ref()?;
        let returned = {
            let mut free = self.free();
            free.iter().position(|buffer| buffer.len() == words).map(|place| free.swap_remove(place))
        };
        returned.or_else(|| session.host_buffer(words).ok())
    }

    /// Takes back the memory of these batches.
    pub(crate) fn give(&self, batches: Vec<Batch<'static>>) {
        if self.session.is_some() {
            let buffers = batches.into_iter().map(Batch::into_buffer);
            self.free().extend(buffers.filter(|buffer| buffer.is_pinned() || !self.is_pinned));
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<HostBuffer>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use warpmp::{Selector, Shape};

    use super::*;

    #[test]
    fn returned_memory_is_used_again() {
        let pool = Pool::new(&Arc::new(Session::cpu()), true);
        let mut memory = pool.take(4).unwrap();
        memory.as_mut_slice()[3] = 7;
        pool.give(vec![Batch::from_buffer(Shape::new(2, 64), memory).unwrap()]);
        assert_eq!(pool.take(3).unwrap().as_slice(), [0; 3]);
        assert_eq!(pool.take(4).unwrap().as_slice(), [0, 0, 0, 7]);
        assert_eq!(pool.take(4).unwrap().as_slice(), [0; 4]);
        assert!(Pool::new(&Arc::new(Session::cpu()), false).take(4).is_none());
    }

    /// The reader's first chunk is in ordinary memory. A GPU's transfers would be slow if later chunks took it.
    #[test]
    fn a_gpu_keeps_page_locked_memory_only() {
        let batch = |memory| vec![Batch::from_buffer(Shape::new(2, 64), memory).unwrap()];
        let pool = Pool::new(&Arc::new(Session::on(Selector::Sim).unwrap()), true);
        pool.give(batch(vec![7; 4].into()));
        let mut memory = pool.take(4).unwrap();
        assert_eq!((memory.is_pinned(), memory.as_slice()), (true, &[0; 4][..]));
        memory.as_mut_slice()[0] = 7;
        pool.give(batch(memory));
        assert_eq!(pool.take(4).unwrap().as_slice(), [7, 0, 0, 0]);
        let cpu = Pool::new(&Arc::new(Session::cpu()), true);
        cpu.give(batch(vec![7; 4].into()));
        assert_eq!(cpu.take(4).unwrap().as_slice(), [7; 4]);
    }
}
