//! Device memory, page-locked host memory, copies.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::context::Context;
use super::raw::Failure;
use super::result::code;
use super::stream::Stream;
use crate::error::{Error, Result};
use crate::launch::Rows;

/// Device memory of a GPU.
#[derive(Debug)]
pub(crate) struct Allocation {
    context: Arc<Context>,
    address: u64,
    /// Is it this library's to free?
    is_owned: bool,
}

impl Allocation {
    /// An empty one is a byte: it has an address too.
    pub(super) fn new(context: &Arc<Context>, bytes: u64) -> Result<Self> {
        // A size beyond all bounds may be called an invalid value; it is the only value there is.
        let answer = context.with(|raw| match raw.alloc(usize::try_from(bytes.max(1)).unwrap_or(usize::MAX)) {
            Err(Failure { code: code::OUT_OF_MEMORY | code::INVALID_VALUE, .. }) => Ok(Err(raw.free_memory()?)),
            other => other.map(Ok),
        })?;
        match answer {
            Ok(address) => Ok(Self { context: context.clone(), address, is_owned: true }),
            Err(available_bytes) => Err(Error::OutOfMemory { required_bytes: bytes, available_bytes }),
        }
    }

    /// Memory of another library.
    pub(super) fn borrowed(context: &Arc<Context>, address: u64) -> Self {
        Self { context: context.clone(), address, is_owned: false }
    }

    /// Where it starts, for other libraries.
    pub(crate) fn raw_address(&self) -> u64 {
        self.address
    }

    /// Where it starts, for a user of the same context.
    pub(super) fn address(&self, context: &Context) -> Result<u64> {
        if self.context.same(context) { Ok(self.address) } else { Err(Error::WrongDevice { what: "buffer" }) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.context.release("device memory", |raw| {
            // Freeing waits in practice, but only this is promised.
            raw.synchronize_context()?;
            if !self.is_owned {
                return Ok(());
            }
            // SAFETY: allocated in `new`, freed only here, and no work is pending.
            unsafe { raw.free(self.address) }
        });
    }
}

/// Page-locked host memory: words that the GPU copies directly.
#[derive(Debug)]
pub(crate) struct HostMemory {
    context: Arc<Context>,
    start: NonNull<u32>,
    words: usize,
}

// SAFETY: it owns its memory, as a boxed slice does.
unsafe impl Send for HostMemory {}
// SAFETY: shared access only reads.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Zeros.
    pub(super) fn new(context: &Arc<Context>, words: usize) -> Result<Self> {
        let refused = Error::OutOfHostMemory { required_bytes: (words as u64).saturating_mul(4) };
        let Some(bytes) = words.max(1).checked_mul(4).filter(|&bytes| isize::try_from(bytes).is_ok()) else {
            return Err(refused);
        };
        let pointer = context.with(|raw| match raw.alloc_host(bytes) {
            Err(Failure { code: code::OUT_OF_MEMORY | code::INVALID_VALUE, .. }) => Ok(std::ptr::null_mut()),
            other => other,
        })?;
        let Some(start) = NonNull::new(pointer.cast::<u32>()) else { return Err(refused) };
        // SAFETY: the driver allocated that many bytes, aligned to a page.
        unsafe { start.as_ptr().cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { context: context.clone(), start, words })
    }

    pub(crate) fn words(&self) -> &[u32] {
        // SAFETY: allocated, initialised, and not written by others while it is borrowed: a copy to it
        // owns it (`Transfer`).
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let pointer: *mut c_void = self.start.as_ptr().cast();
        // SAFETY: allocated in `new`, freed only here; a copy that uses it owns it until it is done.
        self.context.release("page-locked memory", |raw| unsafe { raw.free_host(pointer) });
    }
}

/// Starts a copy to the device.
///
/// # Safety
/// The words at `dst` are allocated, and `src` lives, unchanged, until the stream is past the copy.
pub(super) unsafe fn start_upload(stream: &Stream, src: &[u32], dst: u64) -> Result<()> {
    if src.is_empty() {
        return Ok(());
    }
    // SAFETY: handed on to the caller; the stream is alive.
    stream.context.with(|raw| unsafe { raw.copy_to_device(dst, src.as_ptr(), src.len(), stream.handle.get()) })
}

/// Starts a copy to the host.
///
/// # Safety
/// The words at `src` are allocated, and `dst` lives, untouched, until the stream is past the copy.
pub(super) unsafe fn start_download(stream: &Stream, src: u64, dst: &mut [u32]) -> Result<()> {
    if dst.is_empty() {
        return Ok(());
    }
    let (start, words) = (dst.as_mut_ptr(), dst.len());
    // SAFETY: handed on to the caller; the stream is alive.
    stream.context.with(|raw| unsafe { raw.copy_to_host(start, src, words, stream.handle.get()) })
}

/// Copies within the device.
///
/// # Safety
/// Both ranges are allocated and do not overlap.
pub(super) unsafe fn copy(stream: &Stream, src: u64, dst: u64, words: usize) -> Result<()> {
    if words == 0 {
        return Ok(());
    }
    // SAFETY: handed on to the caller; the stream is alive.
    stream.context.with(|raw| unsafe { raw.copy_on_device(dst, src, words, stream.handle.get()) })
}

/// Copies rows within the device. Rows that follow one another without gaps are one linear copy, which is faster than a copy of
/// rows.
///
/// # Safety
/// All rows are allocated, and those of the source and the target do not overlap.
pub(super) unsafe fn copy_rows(stream: &Stream, src: u64, dst: u64, rows: Rows) -> Result<()> {
    let is_dense = rows.src_stride == rows.words && rows.dst_stride == rows.words;
    if rows.count <= 1 || rows.words == 0 || is_dense {
        // SAFETY: handed on to the caller.
        return unsafe { copy(stream, src, dst, rows.count * rows.words) };
    }
    // SAFETY: handed on to the caller; the stream is alive.
    stream.context.with(|raw| unsafe { raw.copy_rows(dst, src, rows, stream.handle.get()) })
}

/// Sets words to a value.
///
/// # Safety
/// The words are allocated.
pub(super) unsafe fn fill(stream: &Stream, dst: u64, value: u32, words: usize) -> Result<()> {
    if words == 0 {
        return Ok(());
    }
    // SAFETY: handed on to the caller; the stream is alive.
    stream.context.with(|raw| unsafe { raw.fill(dst, value, words, stream.handle.get()) })
}
