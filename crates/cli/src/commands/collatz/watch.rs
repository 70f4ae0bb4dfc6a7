//! Work in the background while this thread looks after Ctrl-C and the progress bar.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use warpmp_collatz::{Error as CollatzError, engine::Control};

use super::CollatzFailure;
use crate::{
    error::{Error, Result},
    interrupt,
};

const LOOK: Duration = Duration::from_millis(100);

/// Runs `work`, stops the controls at Ctrl-C, and calls `look` now and then.
///
/// # Errors
/// [`Error::Interrupted`], or the error of the work.
pub(super) fn watch<T: Send>(
    controls: &[Control],
    work: impl FnOnce() -> Result<T> + Send,
    mut look: impl FnMut(),
) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    let result = thread::scope(|scope| {
        scope.spawn(move || {
            // Nobody listens only if this thread panicked.
            let _ = sender.send(work());
        });
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Bug),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt::check().is_err() {
                controls.iter().for_each(Control::stop);
            }
            look();
        }
    });
    match result {
        Err(Error::Collatz(CollatzFailure::Library(CollatzError::Stopped))) => Err(Error::Interrupted),
        result => result,
    }
}
