//! A device with faults that are planted: kernels that are not what was asked for, and a GPU that is lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use warpmp_device::{
    Arg, Buffer, Device, DeviceInfo, Error, Event, Grid, LoadOptions, Module, Pinned, Result, Rows, Stream, Transfer,
    open_sim,
};
use warpmp_kernel::{ir::Kernel, parse::parse};

/// The simulator, with faults.
#[derive(Debug)]
pub(crate) struct Planted {
    inner: Arc<dyn Device>,
    /// The beginning of the kernels' names, an instruction, what is to be replaced in the first such one that has it, and by what.
    edit: Option<[&'static str; 4]>,
    /// Launches until the device is lost; how many calls fail then.
    launches: AtomicI64,
    failures: AtomicI64,
}

impl Planted {
    /// Loads kernels that are not what was asked for.
    pub(crate) fn changed(edit: [&'static str; 4]) -> Arc<dyn Device> {
        Arc::new(Self { inner: open_sim(), edit: Some(edit), launches: i64::MAX.into(), failures: 0.into() })
    }

    /// Is lost at a launch, for so many calls.
    pub(crate) fn lost(launches: i64, failures: i64) -> Arc<dyn Device> {
        Arc::new(Self { inner: open_sim(), edit: None, launches: launches.into(), failures: failures.into() })
    }

    fn alive(&self, call: &'static str) -> Result<()> {
        let counts = self.launches.load(Ordering::SeqCst) <= 0;
        if counts && self.failures.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Err(Error::DeviceLost { call, code: "CUDA_ERROR_ILLEGAL_ADDRESS".into() });
        }
        Ok(())
    }
}

impl Device for Planted {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn free_bytes(&self) -> Result<u64> {
        self.inner.free_bytes()
    }

    fn alloc(&self, bytes: u64) -> Result<Buffer> {
        self.alive("cuMemAlloc")?;
        self.inner.alloc(bytes)
    }

    fn pinned(&self, words: usize) -> Result<Pinned> {
        self.inner.pinned(words)
    }

    fn stream(&self) -> Result<Stream> {
        self.inner.stream()
    }

    fn load_with(&self, kernel: &Kernel, options: LoadOptions) -> Result<Arc<Module>> {
        self.alive("cuModuleLoadDataEx")?;
        let Some([_, instruction, from, to]) = self.edit.filter(|edit| kernel.name.starts_with(edit[0])) else {
            return self.inner.load_with(kernel, options);
        };
        let text = kernel.to_string();
        let line = text.lines().find(|line| line.contains(instruction) && line.contains(from)).unwrap();
        let text = text.replacen(line, &line.replacen(from, to, 1), 1);
        self.inner.load_with(&parse(&text).unwrap(), options)
    }

    fn launch(&self, stream: &Stream, module: &Module, grid: Grid, args: &[Arg<'_>]) -> Result<()> {
        self.launches.fetch_sub(1, Ordering::SeqCst);
        self.alive("cuLaunchKernel")?;
        self.inner.launch(stream, module, grid, args)
    }

    fn upload(&self, stream: &Stream, src: &[u32], dst: &Buffer, offset: usize) -> Result<()> {
        self.alive("cuMemcpyHtoD")?;
        self.inner.upload(stream, src, dst, offset)
    }

    fn download(&self, stream: &Stream, src: &Buffer, offset: usize, dst: &mut [u32]) -> Result<()> {
        self.alive("cuMemcpyDtoH")?;
        self.inner.download(stream, src, offset, dst)
    }

    fn copy_rows(&self, stream: &Stream, rows: Rows, src: &Buffer, dst: &Buffer) -> Result<()> {
        self.inner.copy_rows(stream, rows, src, dst)
    }

    fn upload_pinned(
        &self,
        stream: &Stream,
        src: Pinned,
        words: usize,
        dst: &Buffer,
        offset: usize,
    ) -> Result<Transfer> {
        self.alive("cuMemcpyHtoDAsync")?;
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
        self.alive("cuMemcpyDtoHAsync")?;
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
        self.alive("cuMemcpyDtoD")?;
        self.inner.copy(stream, src, src_offset, dst, dst_offset, words)
    }

    fn fill(&self, stream: &Stream, dst: &Buffer, offset: usize, value: u32, words: usize) -> Result<()> {
        self.alive("cuMemsetD32")?;
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
        self.alive("cuStreamSynchronize")?;
        self.inner.synchronize(stream)
    }
}
