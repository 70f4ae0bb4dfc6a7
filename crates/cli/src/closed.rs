//! Was standard output closed when the program started (`warpmp … >&-`)?
//!
//! Before `main` the standard library opens `/dev/null` in place of a closed standard output. Later nothing tells it from the `/dev/null` of
//! a person who wants no output. So this module looks before the standard library does.

use std::io;

/// The error of writing to a closed standard output.
pub(crate) fn error() -> io::Error {
    io::Error::other("closed")
}

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// Runs before `main`, and before the standard library begins. It makes a system call and no more.
    #[ctor::ctor]
    fn look() {
        let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }

    pub(crate) fn stdout_was_closed() -> bool {
        WAS_CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
pub(crate) use unix::stdout_was_closed;

#[cfg(not(unix))]
pub(crate) const fn stdout_was_closed() -> bool {
    false
}
