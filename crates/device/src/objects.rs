//! The objects that devices make: buffers, page-locked memory, streams, events, modules, transfers.
//!
//! Each is one type for all devices, so that [`Device`](crate::Device) can be used as an object; inside
//! it is the one or the other backend's. Dropping it gives everything back; what goes wrong there is
//! logged, never a panic.

use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use warpmp_kernel::ir::Param;

use crate::error::{Error, Result};
use crate::{cuda, sim};

/// The backend's side of an object.
#[derive(Debug)]
pub(crate) enum Backend<C, S> {
    Cuda(C),
    Sim(S),
}

impl<C, S> Backend<C, S> {
    pub(crate) fn cuda(&self, what: &'static str) -> Result<&C> {
        match self {
            Self::Cuda(cuda) => Ok(cuda),
            Self::Sim(_) => Err(Error::WrongDevice { what }),
        }
    }

    pub(crate) fn sim(&self, what: &'static str) -> Result<&S> {
        match self {
            Self::Sim(sim) => Ok(sim),
            Self::Cuda(_) => Err(Error::WrongDevice { what }),
        }
    }
}

/// Device memory. Dropping it waits for all work on the device, then frees it.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) bytes: u64,
    pub(crate) backend: Backend<cuda::Allocation, sim::Allocation>,
}

impl Buffer {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its size in whole 32-bit words.
    pub fn words(&self) -> usize {
        (self.bytes / 4) as usize
    }

    /// Its address in the GPU's memory, for other libraries that read it; none on the simulator.
    pub fn address(&self) -> Option<u64> {
        self.backend.cuda("buffer").ok().map(cuda::Allocation::raw_address)
    }
}

/// Host memory that a GPU copies from and to at full speed, beside the processor: a slice of words.
#[derive(Debug)]
pub struct Pinned {
    pub(crate) backend: Backend<cuda::HostMemory, Vec<u32>>,
}

impl Default for Pinned {
    /// No words.
    fn default() -> Self {
        Self { backend: Backend::Sim(Vec::new()) }
    }
}

impl Deref for Pinned {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.backend {
            Backend::Cuda(memory) => memory.words(),
            Backend::Sim(words) => words,
        }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u32] {
        match &mut self.backend {
            Backend::Cuda(memory) => memory.words_mut(),
            Backend::Sim(words) => words,
        }
    }
}

/// A queue of work. The work of one stream happens in order.
#[derive(Debug)]
pub struct Stream {
    pub(crate) backend: Backend<cuda::Stream, sim::Stream>,
}

/// A point in a stream, and the time when it was passed.
#[derive(Debug)]
pub struct Event {
    pub(crate) backend: Backend<cuda::Event, sim::Event>,
}

/// A kernel, compiled and loaded.
pub struct Module {
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    pub(crate) resources: Resources,
    pub(crate) backend: Backend<cuda::Function, sim::Program>,
}

/// What a compiled kernel takes of a multiprocessor. Of the simulator, which compiles nothing, only the
/// threads are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers a thread.
    pub registers: Option<u32>,
    /// Local memory a thread in bytes: spilled registers.
    pub local_bytes: Option<u32>,
    /// The most threads that a block of it may have.
    pub threads_per_block: u32,
    /// How long the compiler took, or its cache.
    pub load_time: Duration,
}

impl Module {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters, in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// What it takes of a multiprocessor.
    pub fn resources(&self) -> Resources {
        self.resources
    }

    /// The most threads that a block of it may have.
    pub fn threads_per_block(&self) -> u32 {
        self.resources.threads_per_block
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).field("resources", &self.resources).finish_non_exhaustive()
    }
}

/// A copy in progress. It owns its host memory until it is done. Dropping it waits for its end.
///
/// ```
/// # fn main() -> warpmp_device::Result<()> {
/// let device = warpmp_device::open_sim();
/// let (stream, buffer) = (device.stream()?, device.alloc(4096)?);
/// let mut memory = device.pinned(1024)?;
/// memory.fill(7);
/// let upload = device.upload_pinned(&stream, memory, 1024, &buffer, 0)?;
/// // … other work …
/// let memory = upload.wait()?; // and fill it with the next piece
/// # assert_eq!(memory[1023], 7);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a dropped transfer waits for the copy and frees its memory"]
pub struct Transfer {
    memory: Pinned,
    /// None if the copy is done.
    done: Option<cuda::Event>,
}

impl Transfer {
    /// A transfer that ends with an event, or has ended.
    pub(crate) fn new(memory: Pinned, done: Option<cuda::Event>) -> Self {
        Self { memory, done }
    }

    /// Waits for the copy and gives the memory back.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or the driver's; the memory is then lost too.
    pub fn wait(mut self) -> Result<Pinned> {
        self.settle()?;
        Ok(mem::take(&mut self.memory))
    }

    fn settle(&mut self) -> Result<()> {
        let Some(done) = self.done.take() else { return Ok(()) };
        // If waiting fails the copy may still go on: the memory must never be freed or reused.
        done.synchronize().inspect_err(|_| mem::forget(mem::take(&mut self.memory)))
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if let Err(error) = self.settle() {
            tracing::warn!(%error, "a dropped transfer failed");
        }
    }
}
