//! The safe layer's base: a GPU's primary context, entered for every call, and its errors.

use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::{CUcontext, CUctx_st, CUdevice};

use super::raw::{Failure, Outcome, Raw};
use super::result::code;
use crate::error::{Error, Result};

/// A name that the driver gave to something of its own. Null never occurs after a successful call.
#[derive(Debug)]
pub(super) struct Handle<T>(*mut T);

// SAFETY: a handle is a name, never dereferenced here, and the driver takes it on any thread.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above; the driver itself puts concurrent calls with one handle in order.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    pub(super) fn new(name: *mut T) -> Self {
        Self(name)
    }

    pub(super) fn get(&self) -> *mut T {
        self.0
    }
}

/// A GPU's primary context, the one that other users of the GPU in this process share. All that lives in
/// it holds an [`Arc`] of it, and so keeps it.
#[derive(Debug)]
pub(crate) struct Context {
    raw: RawRef,
    device: CUdevice,
    handle: Handle<CUctx_st>,
    /// The first failure that destroyed it.
    lost: OnceLock<Failure>,
}

/// The table, silent in debug output.
struct RawRef(&'static Raw);

impl std::fmt::Debug for RawRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("libcuda")
    }
}

impl Context {
    /// Retains the primary context of a device.
    pub(super) fn new(raw: &'static Raw, device: CUdevice) -> Result<Arc<Self>> {
        let handle: CUcontext = raw.retain_primary(device).map_err(|failure| explain(raw, failure))?;
        Ok(Arc::new(Self { raw: RawRef(raw), device, handle: Handle::new(handle), lost: OnceLock::new() }))
    }

    /// Do both live in the same place? (Two users of one GPU share its primary context.)
    pub(super) fn same(&self, other: &Self) -> bool {
        self.handle.get() == other.handle.get()
    }

    /// Calls the driver with this context current on the calling thread, then restores the context before.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Raw) -> Outcome<T>) -> Result<T> {
        if let Some(&failure) = self.lost.get() {
            return Err(lost(self.raw.0, failure));
        }
        let entered = Entered::new(self).map_err(|failure| self.note(failure))?;
        let outcome = work(self.raw.0);
        drop(entered);
        outcome.map_err(|failure| self.note(failure))
    }

    /// The same for something that is given back: what goes wrong is only logged, and nothing is done
    /// if the context is lost (the driver has taken everything back, or still uses it).
    pub(super) fn release(&self, what: &str, work: impl FnOnce(&Raw) -> Outcome<()>) {
        match self.with(work) {
            Ok(()) => {}
            Err(error @ Error::DeviceLost { .. }) => tracing::debug!(%error, "{what} is not released"),
            Err(error) => tracing::warn!(%error, "{what} is not released"),
        }
    }

    /// The failure as an error, remembered if it is the end of the context.
    fn note(&self, failure: Failure) -> Error {
        if code::LOST.contains(&failure.code) {
            let first = *self.lost.get_or_init(|| failure);
            return lost(self.raw.0, first);
        }
        explain(self.raw.0, failure)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: ends the retain in `new`; whatever lives in the context holds it, so nothing does.
        if let Err(Failure { call, code }) = unsafe { self.raw.0.release_primary(self.device) } {
            tracing::debug!(call, code, "the primary context is not released");
        }
    }
}

/// A context while it is current on this thread.
struct Entered<'a>(&'a Context);

impl<'a> Entered<'a> {
    fn new(context: &'a Context) -> Outcome<Self> {
        // SAFETY: the context is retained as long as it is borrowed, and dropping this pops it.
        unsafe { context.raw.0.push_context(context.handle.get()) }?;
        Ok(Self(context))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Err(Failure { call, code }) = self.0.raw.0.pop_context() {
            tracing::debug!(call, code, "the context was not on top");
        }
    }
}

/// A failure in the driver's words.
pub(super) fn explain(raw: &Raw, failure: Failure) -> Error {
    let (name, meaning) = raw.describe(failure.code);
    Error::Driver { call: failure.call, code: name, meaning }
}

fn lost(raw: &Raw, failure: Failure) -> Error {
    Error::DeviceLost { call: failure.call, code: raw.describe(failure.code).0 }
}
