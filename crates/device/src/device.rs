//! The trait that every device has.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use warpmp_kernel::ir::Kernel;
use warpmp_kernel::sim::Counters;

use crate::error::Result;
use crate::info::DeviceInfo;
use crate::launch::{Arg, Grid, Rows};
use crate::objects::{Buffer, Event, Module, Pinned, Stream, Transfer};

/// How to load a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LoadOptions {
    /// The compiler's optimisation level, 0 to 4; none: the driver's default, 4. The simulator
    /// ignores it.
    pub optimisation: Option<u32>,
}

/// A device: memory, copies, kernels, time.
///
/// Everything that it makes keeps what it needs of the device alive, may be used by any thread, and
/// belongs to its device: another one refuses it with [`Error::WrongDevice`](crate::Error::WrongDevice).
///
/// # Order
///
/// The work on one [`Stream`] happens in order. Streams do not wait for each other, unless one
/// is told to [`wait`](Device::wait) for an [`Event`] of the other. [`upload`](Device::upload) and
/// [`download`](Device::download) return when the copy is done; everything else returns at once, and an
/// error of the work itself appears in a later call, at the latest in
/// [`synchronize`](Device::synchronize). The simulator does everything at once.
///
/// A [`Buffer`] or [`Module`] may be dropped while work that uses it is pending: the drop waits for all
/// work on the device. So keep buffers, and do not drop them between launches. A [`Stream`] or
/// [`Event`] may be dropped at any time, its work is still done.
///
/// # What the safety rests on
///
/// [`launch`](Device::launch) is a safe function. What it checks: the number and width of the arguments,
/// and that the buffers live on this device. What it cannot check is what the kernel does with them: a
/// wrong kernel can overwrite any buffer. It does so in the GPU's own address space; Rust keeps no
/// object there, this crate only hands copies of it back, and a word of a buffer may hold any value.
/// That is why no launch needs `unsafe`: *data* on the device can be wrong, the host's memory is not the
/// device's to write.
///
/// One thing remains a matter of trust. Some GPU addresses are host memory: page-locked memory
/// ([`Pinned`]), and on systems with heterogeneous memory management all of the process. No such
/// address is ever given to a kernel (a [`Buffer`] is always device memory), so that a kernel has to
/// make one up: from an [`Arg::U64`], from data, or by running far out of its buffer. Kernels are
/// therefore trusted as a compiler's output is. The simulator runs the same text and calls every access
/// outside the buffers a fault, which is how a kernel earns that trust.
pub trait Device: Send + Sync + Debug {
    /// The description of the device.
    fn info(&self) -> &DeviceInfo;

    /// Memory that is free right now, in bytes. Other processes may take it.
    ///
    /// # Errors
    /// [`Error::DeviceLost`](crate::Error::DeviceLost).
    fn free_bytes(&self) -> Result<u64>;

    /// Device memory of unknown content, aligned to 256 bytes. The simulator faults on reading a word
    /// that was never written.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); nothing was taken.
    fn alloc(&self, bytes: u64) -> Result<Buffer>;

    /// Makes the content of a buffer unknown, as [`alloc`](Device::alloc) does: for a pool of buffers. Only the simulator
    /// does something: it faults on reading a word that was not written since.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice).
    fn forget(&self, _buffer: &Buffer) -> Result<()> {
        Ok(())
    }

    /// Zeroed, page-locked host memory for [`upload_pinned`](Device::upload_pinned) and
    /// [`download_pinned`](Device::download_pinned). Locking takes a second for some gigabytes: keep it.
    /// Ordinary memory on the simulator.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`](crate::Error::OutOfHostMemory).
    fn pinned(&self, words: usize) -> Result<Pinned>;

    /// A new stream.
    ///
    /// # Errors
    /// The driver's.
    fn stream(&self) -> Result<Stream>;

    /// Compiles and loads a kernel, with default options. See [`load_with`](Device::load_with).
    ///
    /// # Errors
    /// As [`load_with`](Device::load_with).
    fn load(&self, kernel: &Kernel) -> Result<Arc<Module>> {
        self.load_with(kernel, LoadOptions::default())
    }

    /// Compiles and loads a kernel. A text that was loaded before with the same options is the same
    /// module, at the cost of printing it. Different kernels compile at the same time on different
    /// threads; the same one only once.
    ///
    /// # Errors
    /// [`Error::KernelTooNew`](crate::Error::KernelTooNew) without asking the compiler, and
    /// [`Error::KernelRefused`](crate::Error::KernelRefused) with its log, or the simulator's
    /// [`Error::KernelUnreadable`](crate::Error::KernelUnreadable).
    fn load_with(&self, kernel: &Kernel, options: LoadOptions) -> Result<Arc<Module>>;

    /// Launches a kernel, after all that is on the stream. See "What the safety rests on" above.
    ///
    /// # Errors
    /// Nothing is launched with wrong arguments ([`ArgumentCount`](crate::Error::ArgumentCount),
    /// [`ArgumentWidth`](crate::Error::ArgumentWidth), [`OutOfRange`](crate::Error::OutOfRange)) or a
    /// grid that does not fit ([`GridLimit`](crate::Error::GridLimit),
    /// [`SharedMemory`](crate::Error::SharedMemory)). The simulator's [`Fault`](crate::Error::Fault).
    fn launch(&self, stream: &Stream, module: &Module, grid: Grid, args: &[Arg<'_>]) -> Result<()>;

    /// Copies from any host memory, after all that is on the stream, and waits for it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange), and errors of earlier work on the stream.
    fn upload(&self, stream: &Stream, src: &[u32], dst: &Buffer, dst_offset_words: usize) -> Result<()>;

    /// Copies to any host memory, after all that is on the stream, and waits for it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange), and errors of earlier work on the stream.
    fn download(&self, stream: &Stream, src: &Buffer, src_offset_words: usize, dst: &mut [u32]) -> Result<()>;

    /// Starts a copy of the first `words` of `src`. The transfer owns the memory meanwhile.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange). The memory is dropped with any error.
    fn upload_pinned(
        &self,
        stream: &Stream,
        src: Pinned,
        words: usize,
        dst: &Buffer,
        dst_offset_words: usize,
    ) -> Result<Transfer>;

    /// Starts a copy to the first `words` of `dst`. The transfer owns the memory meanwhile.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange). The memory is dropped with any error.
    fn download_pinned(
        &self,
        stream: &Stream,
        src: &Buffer,
        src_offset_words: usize,
        dst: Pinned,
        words: usize,
    ) -> Result<Transfer>;

    /// Copies within the device.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange), and [`Error::Overlap`](crate::Error::Overlap)
    /// of ranges in the same buffer.
    fn copy(
        &self,
        stream: &Stream,
        src: &Buffer,
        src_offset_words: usize,
        dst: &Buffer,
        dst_offset_words: usize,
        words: usize,
    ) -> Result<()>;

    /// Copies rows of `words` within the device: from row to row `src_stride` words in the source, and `dst_stride` words in
    /// the target. The source starts at word `src_first`, the target at the start of its buffer.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange), also for rows that overlap, and
    /// [`Error::Overlap`](crate::Error::Overlap) if both are the same buffer.
    fn copy_rows(&self, stream: &Stream, rows: Rows, src: &Buffer, dst: &Buffer) -> Result<()>;

    /// Sets words to a value.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    fn fill(&self, stream: &Stream, dst: &Buffer, dst_offset_words: usize, value: u32, words: usize) -> Result<()>;

    /// A new event, not recorded yet.
    ///
    /// # Errors
    /// The driver's.
    fn event(&self) -> Result<Event>;

    /// Puts the event on the stream: it happens when all before it has. Recording again moves it.
    ///
    /// # Errors
    /// The driver's.
    fn record(&self, stream: &Stream, event: &Event) -> Result<()>;

    /// Makes the stream wait for the event as it was last recorded; not the caller. An event that was
    /// never recorded is not waited for.
    ///
    /// # Errors
    /// The driver's.
    fn wait(&self, stream: &Stream, event: &Event) -> Result<()>;

    /// Time from one event to another; waits for both. Resolution about half a microsecond on a GPU; on
    /// the simulator it is the host's clock and says nothing about any GPU.
    ///
    /// # Errors
    /// [`Error::EventNotRecorded`](crate::Error::EventNotRecorded), and errors of the work before them.
    fn elapsed(&self, start: &Event, end: &Event) -> Result<Duration>;

    /// Waits for all that is on the stream.
    ///
    /// # Errors
    /// [`Error::DeviceLost`](crate::Error::DeviceLost) if a kernel faulted.
    fn synchronize(&self, stream: &Stream) -> Result<()>;

    /// Waits for all work on the device by this process, also by other libraries. The simulator's work is always done.
    ///
    /// # Errors
    /// [`Error::DeviceLost`](crate::Error::DeviceLost) if a kernel faulted.
    fn synchronize_all(&self) -> Result<()> {
        Ok(())
    }

    /// What all launches since the last [`reset_counters`](Device::reset_counters) did; none where
    /// nothing is counted (on a GPU).
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Starts counting anew.
    fn reset_counters(&self) {}
}
