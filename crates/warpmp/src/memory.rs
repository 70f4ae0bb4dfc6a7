//! Memory of operands and results: on the host, page-locked or not, and on the device.

use std::fmt;
use std::sync::Arc;

use warpmp_device::{Buffer, Pinned, Pool};

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::gpu::Lease;

/// Host memory for operands and results, which a [`Batch`] can take over and give back.
///
/// Memory from [`Session::host_buffer`](crate::Session::host_buffer) is page-locked where the
/// session's device has a bus to cross: transfers from and to it run at full speed, and without a
/// copy on the way. Any `Vec<u32>` serves too.
pub struct HostBuffer(Memory);

enum Memory {
    Ordinary(Vec<u32>),
    Pinned(Pinned),
}

impl HostBuffer {
    /// The words.
    pub fn as_slice(&self) -> &[u32] {
        match &self.0 {
            Memory::Ordinary(words) => words,
            Memory::Pinned(words) => words,
        }
    }

    /// The words, to fill them.
    pub fn as_mut_slice(&mut self) -> &mut [u32] {
        match &mut self.0 {
            Memory::Ordinary(words) => words,
            Memory::Pinned(words) => words,
        }
    }

    /// Number of 32-bit words.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Has it no words?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is it page-locked?
    pub const fn is_pinned(&self) -> bool {
        matches!(self.0, Memory::Pinned(_))
    }

    /// The words as a vector: without a copy if they are in one already.
    pub fn into_vec(self) -> Vec<u32> {
        match self.0 {
            Memory::Ordinary(words) => words,
            Memory::Pinned(words) => words.to_vec(),
        }
    }

    /// `words` zeros in ordinary memory, whose pages are touched when they are used.
    pub(crate) fn zeroed(words: usize) -> Result<Self> {
        // A vector of zeros aborts the program if there is no memory: ask first.
        let probe = Vec::<u32>::new().try_reserve_exact(words);
        let required_bytes = (words as u64).saturating_mul(4);
        probe.map_err(|_| Error::OutOfMemory { required_bytes, available_bytes: None })?;
        Ok(vec![0; words].into())
    }
}

/// The number of words, not the words.
impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuffer").field("len", &self.len()).field("is_pinned", &self.is_pinned()).finish()
    }
}

impl From<Vec<u32>> for HostBuffer {
    fn from(words: Vec<u32>) -> Self {
        Self(Memory::Ordinary(words))
    }
}

impl From<Pinned> for HostBuffer {
    fn from(words: Pinned) -> Self {
        Self(Memory::Pinned(words))
    }
}

/// A batch where its session's engine computes: on the GPU's side of the bus, or in the host's memory
/// for the CPU. Operations on such batches chain without transfers.
#[derive(Debug)]
pub struct DeviceBatch {
    pub(crate) shape: Shape,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Place {
    Host(HostBuffer),
    /// Whole tiles of 32 lanes, those beyond the last lane zero.
    Device(Lease),
}

impl DeviceBatch {
    /// Lanes and bits.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The device's memory, for kernels of the caller: whole tiles of 32 lanes. None on the CPU.
    ///
    /// Work on an earlier batch in this memory may still run: before another stream reads or writes it, call
    /// [`Session::wait`](crate::Session::wait). The memory of a batch whose buffer was asked for is not used again for other batches: dropping the batch waits for
    /// all work on the device.
    pub fn buffer(&self) -> Option<&Buffer> {
        match &self.place {
            Place::Host(_) => None,
            Place::Device(lease) => lease.shown(),
        }
    }

    /// The device's memory, for work in the order of the stream that this pool serves.
    pub(crate) fn resident(&self, pool: &Arc<Pool>) -> Option<&Buffer> {
        match &self.place {
            Place::Host(_) => None,
            Place::Device(lease) => lease.buffer_for(pool),
        }
    }

    /// The batch, if its memory is the host's.
    pub(crate) fn on_host(&self) -> Result<Batch<'_>> {
        match &self.place {
            Place::Host(words) => Batch::borrow_buffer(self.shape, words),
            Place::Device(_) => Err(Error::ForeignBatch),
        }
    }

    /// The memory, to be overwritten, if it is the host's.
    pub(crate) fn host_words(&mut self) -> Result<&mut [u32]> {
        match &mut self.place {
            Place::Host(words) => Ok(words.as_mut_slice()),
            Place::Device(_) => Err(Error::ForeignBatch),
        }
    }
}
