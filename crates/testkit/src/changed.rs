//! A device that passes its calls on to another one, with changes: for faults that are planted, for calls that are counted.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use warpmp_device::{
    Arg, Buffer, Device, DeviceInfo, Error, Event, Grid, LoadOptions, Module, Pinned, Result, Rows, Stream, Transfer,
};
use warpmp_kernel::ir::Kernel;
use warpmp_kernel::sim::Counters;

/// A call that [`Changes`] hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `free_bytes`.
    FreeBytes,
    /// `alloc`.
    Alloc,
    /// `stream`.
    Stream,
    /// `load_with`.
    Load,
    /// `launch`.
    Launch,
    /// `upload`.
    Upload,
    /// `download`.
    Download,
    /// `upload_pinned`.
    UploadPinned,
    /// `download_pinned`.
    DownloadPinned,
    /// `copy`.
    Copy,
    /// `fill`.
    Fill,
    /// `synchronize`.
    Synchronize,
}

impl Call {
    /// The driver's function.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FreeBytes => "cuMemGetInfo",
            Self::Alloc => "cuMemAlloc",
            Self::Stream => "cuStreamCreate",
            Self::Load => "cuModuleLoadDataEx",
            Self::Launch => "cuLaunchKernel",
            Self::Upload => "cuMemcpyHtoD",
            Self::Download => "cuMemcpyDtoH",
            Self::UploadPinned => "cuMemcpyHtoDAsync",
            Self::DownloadPinned => "cuMemcpyDtoHAsync",
            Self::Copy => "cuMemcpyDtoD",
            Self::Fill => "cuMemsetD32",
            Self::Synchronize => "cuStreamSynchronize",
        }
    }

    /// The error of this call where the device is lost.
    pub fn lost(self) -> Error {
        Error::DeviceLost { call: self.name(), code: "CUDA_ERROR_ILLEGAL_ADDRESS".into() }
    }
}

/// Work that [`Changes`] may do in place of the device.
#[derive(Debug)]
pub enum Work<'w> {
    /// A launch.
    Launch,
    /// A copy to the device.
    Upload,
    /// A copy to these words of the host.
    Download(&'w mut [u32]),
}

/// What is changed: nothing by default.
pub trait Changes: Debug + Send + Sync {
    /// Before a call. With an error the call fails, and is not passed on.
    ///
    /// # Errors
    /// Those that are planted.
    fn before(&self, _: Call) -> Result<()> {
        Ok(())
    }

    /// The kernel that is loaded in place of this one, if another one.
    fn kernel(&self, _: &Kernel) -> Option<Kernel> {
        None
    }

    /// Is the work done? Then it is not passed on.
    fn does(&self, _: Work<'_>) -> bool {
        false
    }
}

/// A device with changes.
#[derive(Debug)]
pub struct Changed<C> {
    inner: Arc<dyn Device>,
    info: DeviceInfo,
    /// The changes.
    pub changes: C,
}

impl<C: Changes> Changed<C> {
    /// The device with these changes.
    pub fn new(inner: Arc<dyn Device>, changes: C) -> Self {
        Self { info: inner.info().clone(), inner, changes }
    }

    /// The same device with another description.
    #[must_use]
    pub fn described(self, change: impl FnOnce(DeviceInfo) -> DeviceInfo) -> Self {
        Self { info: change(self.info), ..self }
    }
}

impl<C: Changes> Device for Changed<C> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn free_bytes(&self) -> Result<u64> {
        self.changes.before(Call::FreeBytes)?;
        self.inner.free_bytes()
    }

    fn alloc(&self, bytes: u64) -> Result<Buffer> {
        self.changes.before(Call::Alloc)?;
        self.inner.alloc(bytes)
    }

    fn forget(&self, buffer: &Buffer) -> Result<()> {
        self.inner.forget(buffer)
    }

    fn pinned(&self, words: usize) -> Result<Pinned> {
        self.inner.pinned(words)
    }

    fn stream(&self) -> Result<Stream> {
        self.changes.before(Call::Stream)?;
        self.inner.stream()
    }

    fn load_with(&self, kernel: &Kernel, options: LoadOptions) -> Result<Arc<Module>> {
        self.changes.before(Call::Load)?;
        let changed = self.changes.kernel(kernel);
        self.inner.load_with(changed.as_ref().unwrap_or(kernel), options)
    }

    fn launch(&self, stream: &Stream, module: &Module, grid: Grid, args: &[Arg<'_>]) -> Result<()> {
        self.changes.before(Call::Launch)?;
        if self.changes.does(Work::Launch) {
            return Ok(());
        }
        self.inner.launch(stream, module, grid, args)
    }

    fn upload(&self, stream: &Stream, src: &[u32], dst: &Buffer, offset: usize) -> Result<()> {
        self.changes.before(Call::Upload)?;
        if self.changes.does(Work::Upload) {
            return Ok(());
        }
        self.inner.upload(stream, src, dst, offset)
    }

    fn download(&self, stream: &Stream, src: &Buffer, offset: usize, dst: &mut [u32]) -> Result<()> {
        self.changes.before(Call::Download)?;
        if self.changes.does(Work::Download(dst)) {
            return Ok(());
        }
        self.inner.download(stream, src, offset, dst)
    }

    fn upload_pinned(
        &self,
        stream: &Stream,
        src: Pinned,
        words: usize,
        dst: &Buffer,
        offset: usize,
    ) -> Result<Transfer> {
        self.changes.before(Call::UploadPinned)?;
        self.inner.upload_pinned(stream, src, words, dst, offset)
    }

    fn download_pinned(
        &self,
        stream: &Stream,
        src: &Buffer,
        offset: usize,
        dst: Pinned,
        words: usize,
    ) -> Result<Transfer> {
        self.changes.before(Call::DownloadPinned)?;
        self.inner.download_pinned(stream, src, offset, dst, words)
    }

    fn copy(
        &self,
        stream: &Stream,
        src: &Buffer,
        src_offset: usize,
        dst: &Buffer,
        dst_offset: usize,
        words: usize,
    ) -> Result<()> {
        self.changes.before(Call::Copy)?;
        self.inner.copy(stream, src, src_offset, dst, dst_offset, words)
    }

    fn copy_rows(&self, stream: &Stream, rows: Rows, src: &Buffer, dst: &Buffer) -> Result<()> {
        self.inner.copy_rows(stream, rows, src, dst)
    }

    fn fill(&self, stream: &Stream, dst: &Buffer, offset: usize, value: u32, words: usize) -> Result<()> {
        self.changes.before(Call::Fill)?;
        self.inner.fill(stream, dst, offset, value, words)
    }

    fn event(&self) -> Result<Event> {
        self.inner.event()
    }

    fn record(&self, stream: &Stream, event: &Event) -> Result<()> {
        self.inner.record(stream, event)
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<()> {
        self.inner.wait(stream, event)
    }

    fn elapsed(&self, start: &Event, end: &Event) -> Result<Duration> {
        self.inner.elapsed(start, end)
    }

    fn synchronize(&self, stream: &Stream) -> Result<()> {
        self.changes.before(Call::Synchronize)?;
        self.inner.synchronize(stream)
    }

    fn synchronize_all(&self) -> Result<()> {
        self.inner.synchronize_all()
    }

    fn counters(&self) -> Option<Counters> {
        self.inner.counters()
    }

    fn reset_counters(&self) {
        self.inner.reset_counters();
    }
}
