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
    free: Mutex<Vec<HostBuffer>>,
}

impl Pool {
    /// Memory for this session's chunks, if they all have the same length.
    pub(crate) fn new(session: &Arc<Session>, alike: bool) -> Self {
        Self { session: alike.then(|| Arc::clone(session)), free: Mutex::default() }
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
            self.free().extend(batches.into_iter().map(Batch::into_buffer));
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<HostBuffer>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use warpmp::Shape;

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
}
