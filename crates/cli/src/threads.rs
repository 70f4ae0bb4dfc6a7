//! The threads that compute: one for each core, or fewer where the system starts no more.

use std::{
    env, io,
    sync::{Arc, PoisonError, RwLock},
    thread,
};

use rayon::ThreadPoolBuilder;

use crate::error::{Error, Result};

/// The most threads that a user may ask for, if the machine has fewer cores. Idle threads look for work, and a thousand of
/// them keep the cores from it.
const MOST: usize = 256;
/// Threads of the program that do not compute: they read, write, wait for signals, and drive a GPU.
const OTHERS: usize = 6;
/// The variable with another number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Starts the threads that compute, which all parts of the program share.
///
/// # Errors
/// [`Error::Threads`] if the system starts none.
pub(crate) fn start() -> Result<()> {
    let asked = env::var(VARIABLE).ok().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let wanted = asked.unwrap_or(cores).min(MOST.max(cores));
    let mut threads = wanted;
    // The shared pool can be built only once, so the attempts need threads of their own.
    while threads > 1 && !can_start(threads + OTHERS) {
        threads /= 2;
    }
    if threads < wanted {
        // The limit may be one of memory, and the work needs memory, too.
        threads = threads.div_ceil(2);
        tracing::warn!("{threads} threads compute instead of {wanted}: the system starts no more");
    }
    let started = ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.map_err(|error| Error::Threads(io::Error::other(error)))
}

/// Does the system start so many threads more?
fn can_start(count: usize) -> bool {
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write().unwrap_or_else(PoisonError::into_inner);
    let pass = || {
        let gate = Arc::clone(&gate);
        thread::Builder::new().spawn(move || drop(gate.read()))
    };
    let started: Vec<_> = (0..count).map_while(|_| pass().ok()).collect();
    let is_enough = started.len() == count;
    drop(closed);
    for thread in started {
        let _ = thread.join();
    }
    is_enough
}

#[cfg(test)]
mod tests {
    use super::can_start;

    #[test]
    fn a_few_threads_start() {
        assert!(can_start(3));
    }
}
