//! Ctrl-C, requests to terminate, and the end of the processor time that a limit allows: the work stops, unfinished files go, the exit code is 130.
//!
//! A signal sets a flag. The work looks at the flag between chunks and normally ends in an orderly way. A request to terminate comes
//! from a scheduler or a system that soon kills the process: then the program ends within five seconds, whatever it has to save.
//! Some work cannot look: a read that waits for a person, one very large product. The program ends
//! such work a second later. A list holds all files that are not complete yet. Every step that completes
//! a file holds the lock of the list, so that a file is either whole or gone.

use std::{
    fs, io,
    path::PathBuf,
    process,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::{
    console,
    error::{Error, FAILED, INTERRUPTED, Result},
    progress,
};

/// How long the work has to end by itself.
const GRACE: Duration = Duration::from_secs(1);
/// How much longer work that has a [`Closing`] may take to end after Ctrl-C.
const LONG_GRACE: Duration = Duration::from_secs(60);
/// And after a request to terminate.
const SHORT_GRACE: Duration = Duration::from_secs(3);
/// How often the flag is looked at.
const LOOK: Duration = Duration::from_millis(50);

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static TERMINATE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static CLOSING: AtomicUsize = AtomicUsize::new(0);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes signals stop the work from now on. If the system refuses the handler, a signal ends the process at once.
pub(crate) fn install() {
    if let Err(error) = listen() {
        console::note(&format!("warning: Ctrl-C ends the program at once, and unfinished files may stay: {error}"));
    }
}

fn listen() -> io::Result<()> {
    thread::Builder::new().name("signals".into()).spawn(watch)?;
    // The request is known before the work is told to stop.
    flag::register(SIGTERM, Arc::clone(&TERMINATE))?;
    for signal in [SIGINT, SIGTERM].into_iter().chain(others()) {
        flag::register(signal, Arc::clone(&STOP))?;
    }
    // A file at the limit of its size: handled, the signal lets the write fail, and the error names the file.
    #[cfg(unix)]
    flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    // Memory that runs out: the standard library names the size on standard error and aborts. The command has failed.
    #[cfg(unix)]
    flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, FAILED.into(), Arc::new(AtomicBool::new(true)))?;
    Ok(())
}

/// The signals of a closed terminal, of Ctrl-\, and of a limit of processor time, but for signals that were ignored when the program
/// started, as under `nohup`. Only Linux tells which signals are ignored; elsewhere these signals keep their meaning.
#[cfg(target_os = "linux")]
fn others() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGQUIT, SIGXCPU};

    let ignored = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(ignored.trim(), 16).ok()
    };
    let Some(ignored) = ignored() else { return Vec::new() };
    [SIGHUP, SIGQUIT, SIGXCPU].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}

#[cfg(not(target_os = "linux"))]
const fn others() -> [i32; 0] {
    []
}

/// Ends the program if the work does not.
fn watch() {
    while check().is_ok() {
        thread::sleep(LOOK);
    }
    thread::sleep(GRACE);
    let begin = Instant::now();
    // A request to terminate may follow Ctrl-C.
    let grace = || if TERMINATE.load(Ordering::SeqCst) { SHORT_GRACE } else { LONG_GRACE };
    while CLOSING.load(Ordering::SeqCst) > 0 && begin.elapsed() < grace() {
        thread::sleep(LOOK);
    }
    let files = unfinished();
    for path in files.iter() {
        let _ = fs::remove_file(path);
    }
    progress::end();
    console::note("error: interrupted");
    process::exit(INTERRUPTED.into());
}

/// Fails with [`Error::Interrupted`] once the work must stop.
pub(crate) fn check() -> Result<()> {
    if STOP.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { Ok(()) }
}

/// While it lives, Ctrl-C gives the work a minute to end by itself, and a request to terminate three seconds: it has something to save.
#[derive(Debug)]
pub(crate) struct Closing(());

impl Closing {
    pub(crate) fn new() -> Self {
        CLOSING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        CLOSING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The files that a signal has to remove. While the guard lives, none is removed.
pub(crate) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
