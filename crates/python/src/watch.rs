//! Ctrl-C and progress of long work.
//!
//! The work runs on a thread of its own. The calling thread waits for it, and looks several times a second whether Python
//! has a signal to handle and whether somebody wants to hear of the progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use warpmp_collatz::engine::Control;

use crate::error::{Failure, Result};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// Work that was told to stop has this long to obey before the call returns without it.
const PATIENCE: Duration = Duration::from_millis(400);

/// What watched work reports to, and is stopped by.
pub(crate) trait Halt: Send + Sync + 'static {
    fn stop(&self);

    /// The share of the work that is done, from 0 to 1.
    fn share(&self) -> f64;
}

/// A flag to stop the work, and its progress.
#[derive(Debug, Default)]
pub(crate) struct Flag {
    stop: AtomicBool,
    /// The bits of the share.
    share: AtomicU64,
}

impl Flag {
    /// Notes the share of the work that is done; an error once the work shall stop.
    pub(crate) fn check(&self, share: f64) -> Result<()> {
        self.share.store(share.to_bits(), Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { Err(Failure::stopped()) } else { Ok(()) }
    }
}

impl Halt for Flag {
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn share(&self) -> f64 {
        f64::from_bits(self.share.load(Ordering::Relaxed))
    }
}

impl warpmp_numtheory::Watch for Flag {
    fn go_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn progress(&self, share: f64) {
        self.share.store(share.to_bits(), Ordering::Relaxed);
    }
}

impl Halt for Control {
    fn stop(&self) {
        Control::stop(self);
    }

    fn share(&self) -> f64 {
        self.progress()
    }
}

/// Does the work on another thread. Ctrl-C, and an exception of `progress`, stop it.
///
/// # Errors
/// The work's; `KeyboardInterrupt`; the exception of `progress`.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    halt: &dyn Halt,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, mut receiver) = mpsc::channel();
    let run = move || {
        // Nobody listens any more if the caller was interrupted.
        let _ = sender.send(work());
    };
    thread::Builder::new().name("warpmp".into()).spawn(run).map_err(PyErr::from)?;
    loop {
        let outcome;
        (outcome, receiver) = py.detach(move || (receiver.recv_timeout(LOOK), receiver));
        match outcome {
            Ok(result) => {
                let result = result?;
                if let Some(progress) = progress {
                    progress.call1((1.0,))?;
                }
                return Ok(result);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::bug()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(error) = look(py, halt, progress) {
            halt.stop();
            py.detach(move || receiver.recv_timeout(PATIENCE).map(drop)).ok();
            return Err(error.into());
        }
    }
}

fn look(py: Python<'_>, halt: &dyn Halt, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1((halt.share().clamp(0.0, 1.0),))?;
    }
    Ok(())
}

/// A flag, shared with the work.
pub(crate) fn flag() -> Arc<Flag> {
    Arc::default()
}
