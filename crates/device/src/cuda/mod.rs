//! NVIDIA GPUs, through the driver's interface.

mod context;
mod log;
mod memory;
mod module;
mod raw;
mod result;
mod stream;
mod survey;

use std::sync::Arc;
use std::time::Duration;

use warpmp_kernel::ir::Kernel;

use self::context::Context;
use self::raw::Raw;
use crate::cache::Cache;
use crate::device::{Device, LoadOptions};
use crate::error::{Error, Result};
use crate::info::DeviceInfo;
use crate::launch::{Arg, Grid, Rows, argument_values, check_grid, check_pinned, check_target, check_words};
use crate::objects::{self, Backend, Buffer, Module, Pinned, Transfer};

pub(crate) use self::memory::{Allocation, HostMemory};
pub(crate) use self::module::Function;
pub(crate) use self::stream::{Event, Stream};
pub(crate) use self::survey::survey;

/// A GPU.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    info: DeviceInfo,
    // Before the context only by habit: every module keeps it.
    modules: Cache,
    context: Arc<Context>,
}

impl CudaDevice {
    /// Opens the GPU of this number.
    pub(crate) fn open(ordinal: usize) -> Result<Self> {
        let (raw, count) = survey::driver()?;
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        let (device, info) = survey::describe(raw, ordinal)?;
        if !info.supported() {
            let DeviceInfo { name, capability, .. } = info;
            return Err(Error::UnsupportedArchitecture { name, capability, required: DeviceInfo::LEAST_CAPABILITY });
        }
        Ok(Self { info, modules: Cache::default(), context: Context::new(raw, device)? })
    }

    fn own<'s>(&self, stream: &'s objects::Stream) -> Result<&'s Stream> {
        stream.backend.cuda("stream")?.of(&self.context)
    }

    fn own_event<'e>(&self, event: &'e objects::Event) -> Result<&'e Event> {
        event.backend.cuda("event")?.of(&self.context)
    }

    fn address(&self, buffer: &Buffer) -> Result<u64> {
        buffer.backend.cuda("buffer")?.address(&self.context)
    }

    /// The address of these words of a buffer, if it has them.
    fn words(&self, buffer: &Buffer, offset: usize, words: usize) -> Result<u64> {
        check_words(buffer, offset, words)?;
        Ok(self.address(buffer)? + 4 * offset as u64)
    }

    /// Ends a transfer whose copy was just started.
    fn transfer(stream: &Stream, memory: Pinned, done: Event) -> Result<Transfer> {
        if let Err(error) = done.record(stream) {
            if stream.synchronize().is_err() {
                // The copy may still go on: the memory must never be freed or reused.
                std::mem::forget(memory);
            }
            return Err(error);
        }
        Ok(Transfer::new(memory, Some(done)))
    }
}

/// Memory of a GPU that another library has, as a buffer. Dropping the buffer waits for all work on the GPU, and frees
/// nothing.
///
/// # Errors
/// As for [`open_cuda`](crate::open_cuda).
///
/// # Safety
/// `address` is device memory of the GPU of this number, in its primary context, `bytes` long. It stays allocated as long as
/// the buffer lives. While work on the buffer is queued or runs, nothing else writes to the memory, and nothing else reads what
/// the work writes. The buffer must not share memory with another buffer of the same copy or launch: [`Device`] compares
/// whole buffers, and does not see that two buffers overlap.
pub unsafe fn borrowed(ordinal: usize, address: u64, bytes: u64) -> Result<Buffer> {
    let device = CudaDevice::open(ordinal)?;
    Ok(Buffer { bytes, backend: Backend::Cuda(Allocation::borrowed(&device.context, address)) })
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn free_bytes(&self) -> Result<u64> {
        self.context.with(Raw::free_memory)
    }

    fn alloc(&self, bytes: u64) -> Result<Buffer> {
        Ok(Buffer { bytes, backend: Backend::Cuda(Allocation::new(&self.context, bytes)?) })
    }

    fn pinned(&self, words: usize) -> Result<Pinned> {
        Ok(Pinned { backend: Backend::Cuda(HostMemory::new(&self.context, words)?) })
    }

    fn stream(&self) -> Result<objects::Stream> {
        Ok(objects::Stream { backend: Backend::Cuda(Stream::new(&self.context)?) })
    }

    fn load_with(&self, kernel: &Kernel, options: LoadOptions) -> Result<Arc<Module>> {
        check_target(&self.info, kernel)?;
        self.modules.get(kernel, options, |text| module::load(&self.context, kernel, text, options))
    }

    fn launch(&self, stream: &objects::Stream, module: &Module, grid: Grid, args: &[Arg<'_>]) -> Result<()> {
        let stream = self.own(stream)?;
        let function = module.backend.cuda("module")?.of(&self.context)?;
        check_grid(&self.info, module, grid)?;
        let mut values = argument_values(module, args, |buffer| self.address(buffer))?;
        // SAFETY: one value a parameter. What the kernel does with them is the subject of "What the
        // safety rests on" in the trait's documentation.
        unsafe { function.launch(stream, grid, &mut values) }
    }

    fn upload(&self, stream: &objects::Stream, src: &[u32], dst: &Buffer, dst_offset_words: usize) -> Result<()> {
        let (stream, dst) = (self.own(stream)?, self.words(dst, dst_offset_words, src.len())?);
        // SAFETY: the destination is in its buffer; the source is borrowed until the copy is done (or the
        // context destroyed, which ends it).
        unsafe { memory::start_upload(stream, src, dst) }?;
        stream.synchronize()
    }

    fn download(&self, stream: &objects::Stream, src: &Buffer, src_offset_words: usize, dst: &mut [u32]) -> Result<()> {
        let (stream, src) = (self.own(stream)?, self.words(src, src_offset_words, dst.len())?);
        // SAFETY: the source is in its buffer; the destination is borrowed until the copy is done (or the
        // context destroyed, which ends it).
        unsafe { memory::start_download(stream, src, dst) }?;
        stream.synchronize()
    }

    fn upload_pinned(
        &self,
        stream: &objects::Stream,
        src: Pinned,
        words: usize,
        dst: &Buffer,
        dst_offset_words: usize,
    ) -> Result<Transfer> {
        let (stream, dst) = (self.own(stream)?, self.words(dst, dst_offset_words, words)?);
        check_pinned(&src, words)?;
        let done = Event::new(&self.context)?;
        // SAFETY: the destination is in its buffer, whose drop waits; the transfer owns the source until
        // the copy is done.
        unsafe { memory::start_upload(stream, &src[..words], dst) }?;
        Self::transfer(stream, src, done)
    }

    fn download_pinned(
        &self,
        stream: &objects::Stream,
        src: &Buffer,
        src_offset_words: usize,
        mut dst: Pinned,
        words: usize,
    ) -> Result<Transfer> {
        let (stream, src) = (self.own(stream)?, self.words(src, src_offset_words, words)?);
        check_pinned(&dst, words)?;
        let done = Event::new(&self.context)?;
        // SAFETY: the source is in its buffer, whose drop waits; the transfer owns the destination until
        // the copy is done.
        unsafe { memory::start_download(stream, src, &mut dst[..words]) }?;
        Self::transfer(stream, dst, done)
    }

    fn copy(
        &self,
        stream: &objects::Stream,
        src: &Buffer,
        src_offset_words: usize,
        dst: &Buffer,
        dst_offset_words: usize,
        words: usize,
    ) -> Result<()> {
        let stream = self.own(stream)?;
        let src = self.words(src, src_offset_words, words)?;
        let dst = self.words(dst, dst_offset_words, words)?;
        if src.abs_diff(dst) < 4 * words as u64 {
            return Err(Error::Overlap);
        }
        // SAFETY: both ranges are in their buffers, whose drops wait, and apart.
        unsafe { memory::copy(stream, src, dst, words) }
    }

    fn copy_rows(&self, stream: &objects::Stream, rows: Rows, src: &Buffer, dst: &Buffer) -> Result<()> {
        rows.check(src, dst)?;
        let stream = self.own(stream)?;
        let (src, dst) = (self.address(src)?, self.address(dst)?);
        if src == dst {
            return Err(Error::Overlap);
        }
        // SAFETY: all rows are in their buffers, whose drops wait, and the buffers are apart.
        unsafe { memory::copy_rows(stream, src + 4 * rows.src_first as u64, dst, rows) }
    }

    fn fill(
        &self,
        stream: &objects::Stream,
        dst: &Buffer,
        dst_offset_words: usize,
        value: u32,
        words: usize,
    ) -> Result<()> {
        let (stream, dst) = (self.own(stream)?, self.words(dst, dst_offset_words, words)?);
        // SAFETY: the words are in their buffer, whose drop waits.
        unsafe { memory::fill(stream, dst, value, words) }
    }

    fn event(&self) -> Result<objects::Event> {
        Ok(objects::Event { backend: Backend::Cuda(Event::new(&self.context)?) })
    }

    fn record(&self, stream: &objects::Stream, event: &objects::Event) -> Result<()> {
        self.own_event(event)?.record(self.own(stream)?)
    }

    fn wait(&self, stream: &objects::Stream, event: &objects::Event) -> Result<()> {
        self.own(stream)?.wait(self.own_event(event)?)
    }

    fn elapsed(&self, start: &objects::Event, end: &objects::Event) -> Result<Duration> {
        self.own_event(start)?.elapsed(self.own_event(end)?)
    }

    fn synchronize(&self, stream: &objects::Stream) -> Result<()> {
        self.own(stream)?.synchronize()
    }

    fn synchronize_all(&self) -> Result<()> {
        self.context.with(Raw::synchronize_context)
    }
}
