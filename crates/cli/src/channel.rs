//! Threads, and waiting for them.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    error::{Error, Result},
    interrupt,
};

/// Time between two looks for an interruption.
const LOOK: Duration = Duration::from_millis(50);

/// Starts a thread.
///
/// # Errors
/// [`Error::Threads`] if the system starts no more.
pub(crate) fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    thread::Builder::new().name(name.into()).spawn(work).map_err(Error::Threads)
}

/// The next thing that the other thread sends. Looks for an interruption while it waits.
///
/// # Errors
/// The error that the other thread sends; [`Error::Interrupted`]; [`Error::Bug`] if the thread is gone.
pub(crate) fn receive<T>(channel: &Receiver<Result<T>>) -> Result<T> {
    loop {
        interrupt::check()?;
        match channel.recv_timeout(LOOK) {
            Ok(thing) => return thing,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Bug),
        }
    }
}
