//! The threads that compute: one for each core, or fewer where the system starts no more.

use std::{
    env, hint, io,
    sync::{Arc, PoisonError, RwLock, mpsc},
    thread,
};

use rayon::ThreadPoolBuilder;

use crate::{
    console,
    error::{Error, Result},
};

/// The most threads that a user may ask for, if the machine has fewer cores. Idle threads look for work, and a thousand of
/// them keep the cores from it.
const MOST: usize = 256;
/// Threads of the program that do not compute: they read, write, bring files to the disk, wait for signals, and drive a GPU.
const OTHERS: usize = 7;
/// Bytes that stay free beside the threads: some stacks. The allocators of C libraries keep smaller blocks (glibc: below
/// 32 MiB) after they are freed, and a block that was kept says nothing of the memory that is left.
const ROOM: usize = 48 << 20;
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
        let noun = if threads == 1 { "thread computes" } else { "threads compute" };
        console::note(&format!("warning: {threads} {noun} instead of {wanted}: the system starts no more"));
    }
    let started = ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.map_err(|error| Error::Threads(io::Error::other(error)))
}

/// Does the system start so many threads more, and has it memory left then?
fn can_start(count: usize) -> bool {
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write().unwrap_or_else(PoisonError::into_inner);
    let pass = || {
        let gate = Arc::clone(&gate);
        let (alive, is_alive) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            let _ = alive.send(());
            drop(gate.read());
        });
        // A thread takes memory after its start, too, and ends the program if there is none: one after the other.
        thread.ok().filter(|_| is_alive.recv().is_ok())
    };
    let started: Vec<_> = (0..count).map_while(|_| has_room().then(pass).flatten()).collect();
    let is_enough = started.len() == count;
    drop(closed);
    for thread in started {
        let _ = thread.join();
    }
    is_enough
}

/// Is there memory for a thread and what it begins with?
fn has_room() -> bool {
    let mut room = Vec::<u8>::new();
    let is_there = room.try_reserve_exact(ROOM).is_ok();
    // Else the compiler may leave the allocation out.
    hint::black_box(&room);
    is_there
}

#[cfg(test)]
mod tests {
    use super::can_start;

    #[test]
    fn a_few_threads_start() {
        assert!(can_start(3));
    }
}
