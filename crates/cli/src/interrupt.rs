//! Ctrl-C, and requests to terminate: the work stops, unfinished files go, the exit code is 130.
//!
//! A signal sets a flag, which the work looks at between chunks, so that it normally ends in an
//! orderly way. Work that cannot look (a read that waits for a person, one very large product) is
//! cut off a second later. Files that are not complete are listed here while they exist; the list's
//! lock is held over every step that makes one complete, so that a file is either whole or gone.

use std::{
    fs, io,
    path::PathBuf,
    process,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::{
    console,
    error::{Error, INTERRUPTED, Result},
};

/// How long the work has to end by itself.
const GRACE: Duration = Duration::from_secs(1);
/// How often the flag is looked at.
const LOOK: Duration = Duration::from_millis(50);

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on a signal stops the work. Without the handler, should the system refuse it, the signal
/// ends the process at once.
pub(crate) fn install() {
    if let Err(error) = listen() {
        tracing::warn!("no handler for Ctrl-C: {error}");
    }
}

fn listen() -> io::Result<()> {
    thread::Builder::new().name("signals".into()).spawn(watch)?;
    for signal in [Some(SIGINT), Some(SIGTERM), hangup()].into_iter().flatten() {
        flag::register(signal, Arc::clone(&STOP))?;
    }
    // A file at the limit of its size: handled, the signal lets the write fail, and the error names the file.
    #[cfg(unix)]
    flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(())
}

/// The signal that the terminal is gone, unless it was ignored when the program started, as `nohup` has
/// it. Only Linux tells; elsewhere the signal keeps the meaning it has.
#[cfg(target_os = "linux")]
fn hangup() -> Option<i32> {
    use signal_hook::consts::SIGHUP;

    let status = fs::read_to_string("/proc/self/status").ok()?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    (ignored >> (SIGHUP - 1) & 1 == 0).then_some(SIGHUP)
}

#[cfg(not(target_os = "linux"))]
const fn hangup() -> Option<i32> {
    None
}

/// Ends the program if the work does not.
fn watch() {
    while check().is_ok() {
        thread::sleep(LOOK);
    }
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
