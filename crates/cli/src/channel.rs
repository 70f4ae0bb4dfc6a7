//! Waiting for another thread.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use crate::{
    error::{Error, Result},
    interrupt,
};

/// How often a wait looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// The next thing that the other thread sends. Looks for an interruption while it waits.
///
/// # Errors
/// What the other thread sends as an error; [`Error::Interrupted`]; [`Error::Bug`] if the thread is gone.
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
