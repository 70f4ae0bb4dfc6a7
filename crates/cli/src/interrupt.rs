//! Ctrl-C, and a request to terminate: the work stops, unfinished files go, the exit code is 130.
//!
//! The signal sets a flag, which the work looks at between chunks, so that it normally ends in an
//! orderly way. Work that cannot look (a read that waits for a person, one very large product) is
//! cut off a second later. Files that are not complete are listed here while they exist; the list's
//! lock is held over every step that makes one complete, so that a file is either whole or gone.

use std::{
    fs,
    path::PathBuf,
    process,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    console,
    error::{Error, INTERRUPTED, Result},
};

/// How long the work has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

static STOP: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on a signal stops the work. Without the handler, should the system refuse it, the signal
/// ends the process at once.
pub(crate) fn install() {
    if let Err(error) = ctrlc::set_handler(stop) {
        tracing::warn!("no handler for Ctrl-C: {error}");
    }
}

fn stop() {
    STOP.store(true, Ordering::SeqCst);
    thread::sleep(GRACE);
    let files = unfinished();
    for path in files.iter() {
        let _ = fs::remove_file(path);
    }
    console::note("error: interrupted");
    process::exit(INTERRUPTED.into());
}

/// [`Error::Interrupted`] once the work shall stop.
pub(crate) fn check() -> Result<()> {
    if STOP.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { Ok(()) }
}

/// The files that a signal has to remove. Nothing is removed while the guard lives.
pub(crate) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
