//! Multiplication of batches in host memory: in chunks, uploading, computing and downloading at once.
//!
//! ```text
//! worker 0   upload 0 │ kernel 0 │ download 0 │ upload 3 │ …
//! worker 1              upload 1 │ kernel 1   │ download 1 │ …
//! worker 2                         upload 2   │ kernel 2   │ download 2 │ …
//! ```
//!
//! A worker is a thread with a [`Slot`]: it takes the next chunk and does all of it, one step after the
//! other. The steps of different workers overlap: the bus carries both directions while the kernels
//! run. Memory that is not page-locked goes through the slot's staging memory; the workers do these
//! copies too, each on its own core, and are more in number for that.
//!
//! bound: chunks are whole tiles of lanes but the last, so their rows start where the kernels expect.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use warpmp_device::{Buffer, Kind};

use super::slot::{Sizes, Slot};
use super::{Engine, Loaded, padded};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::memory::HostBuffer;
use crate::plan::TILE_LANES;
use crate::report::Run;

/// Bytes of a chunk, both operands and result, that are transferred where they lie: large enough to
/// hide what a step costs to start, small enough that the first upload and the last download, which
/// overlap with nothing, are short.
const CHUNK_BYTES: usize = 16 << 20;
/// The same where chunks are staged: they should stay in the cache between the two copies.
const STAGED_CHUNK_BYTES: usize = 8 << 20;
/// Smaller chunks cost more to start than they gain by overlapping.
const LEAST_CHUNK_BYTES: usize = 1 << 20;
/// Chunks that a batch is cut into at least, if they are not too small then.
const LEAST_CHUNKS: usize = 8;
/// One worker uploads, one computes, one downloads, and one is between two steps.
const WORKERS: usize = 4;
/// One core copies about 10 GB/s, the bus takes 55 in each direction.
const STAGING_WORKERS: usize = 16;

/// One multiplication under way.
struct Pipeline<'p> {
    engine: &'p Engine,
    loaded: Loaded,
    operands: [&'p Batch<'p>; 2],
    /// The second operand, on the device, if all lanes share it.
    shared: Option<Buffer>,
    /// Must operands and result be staged?
    staged: [bool; 3],
    /// Limbs a lane of operands and result.
    limbs: [usize; 3],
    lanes: usize,
}

/// The chunks that are left, and what the finished ones have brought.
struct Work<'w> {
    chunks: std::iter::Enumerate<std::slice::ChunksMut<'w, u32>>,
    kernel: Duration,
    error: Option<Error>,
}

impl Engine {
    /// Multiplies `a` by `b` into `out`, whose length fits.
    pub(crate) fn mul(&self, a: &Batch, b: &Batch, algorithm: Option<&str>, out: &mut HostBuffer) -> Result<Run> {
        let pipeline = Pipeline::new(self, a, b, algorithm, out)?;
        let mut chunk = pipeline.chunk_lanes()?;
        let slots = loop {
            match pipeline.take_slots(chunk) {
                Ok(slots) => break slots,
                Err(Error::OutOfMemory { .. }) if chunk > TILE_LANES => chunk = padded(chunk / 2),
                Err(error) => return Err(error),
            }
        };
        let kernel = pipeline.run(chunk, slots, out.as_mut_slice())?;
        Ok(Run { algorithm: pipeline.loaded.plan.algorithm().into(), kernel })
    }
}

impl<'p> Pipeline<'p> {
    fn new(
        engine: &'p Engine,
        a: &'p Batch<'p>,
        b: &'p Batch<'p>,
        algorithm: Option<&str>,
        out: &HostBuffer,
    ) -> Result<Self> {
        let loaded = engine.load(a.shape(), b.shape(), algorithm)?;
        let [a, b] = loaded.order([a, b]);
        let shared = match loaded.row_bytes[1] {
            0 => Some(engine.upload_buffer(b)?),
            _ => None,
        };
        // The simulator has no bus: all memory is as good.
        let staged = |pinned: bool| !pinned && engine.device.info().kind == Kind::Cuda;
        Ok(Self {
            engine,
            loaded,
            operands: [a, b],
            staged: [staged(a.is_pinned()), staged(b.is_pinned()) && shared.is_none(), staged(out.is_pinned())],
            shared,
            limbs: [a.shape().limbs(), b.shape().limbs(), out.len() / a.lanes()],
            lanes: a.lanes(),
        })
    }

    /// Bytes that a lane of a chunk takes on the device.
    fn lane_bytes(&self) -> usize {
        let [a, b, c] = self.limbs;
        4 * (a + if self.shared.is_some() { 0 } else { b } + c)
    }

    /// Lanes a chunk: whole tiles, chunks of about equal size, and room for a chunk of each worker.
    fn chunk_lanes(&self) -> Result<usize> {
        let most = if self.staged.contains(&true) { STAGED_CHUNK_BYTES } else { CHUNK_BYTES };
        let bytes = (self.lanes * self.lane_bytes() / LEAST_CHUNKS).clamp(LEAST_CHUNK_BYTES, most);
        let chunks = self.lanes.div_ceil((bytes / self.lane_bytes()).max(TILE_LANES));
        let chunk = padded(self.lanes.div_ceil(chunks));
        // What earlier calls have left in the slots counts as free.
        let kept: u64 = lock(&self.engine.slots).iter().map(Slot::device_bytes).sum();
        let free_bytes = self.engine.device.free_bytes()? + kept;
        Ok(chunk.min(self.loaded.plan.chunk_lanes(free_bytes, self.workers(chunk) as u64)))
    }

    fn sizes(&self, chunk: usize) -> Sizes {
        let [a, b, c] = self.limbs.map(|limbs| limbs * chunk);
        let staging = [a, b, c].into_iter().zip(self.staged).filter(|(_, staged)| *staged);
        Sizes {
            device: [a, if self.shared.is_some() { 0 } else { b }, c, self.loaded.plan.scratch_words(chunk)],
            staging: staging.map(|(words, _)| words).max().unwrap_or(0),
        }
    }

    /// How many workers chunks of this many lanes can occupy.
    fn workers(&self, chunk: usize) -> usize {
        let wanted = match self.engine.device.info().kind {
            Kind::Sim => 1,
            Kind::Cuda if self.staged.contains(&true) => {
                thread::available_parallelism().map_or(WORKERS, usize::from).clamp(WORKERS, STAGING_WORKERS)
            }
            Kind::Cuda => WORKERS,
        };
        wanted.min(self.lanes.div_ceil(chunk))
    }

    /// A slot for each worker, those of earlier calls if they fit. One at the least; fewer than wanted if
    /// the memory is short.
    fn take_slots(&self, chunk: usize) -> Result<Vec<Slot>> {
        let (sizes, device) = (self.sizes(chunk), &*self.engine.device);
        let mut slots = mem::take(&mut *lock(&self.engine.slots));
        slots.retain(|slot| slot.holds(sizes));
        slots.truncate(self.workers(chunk));
        while slots.len() < self.workers(chunk) {
            match Slot::new(device, sizes) {
                Ok(slot) => slots.push(slot),
                Err(Error::OutOfMemory { .. }) if !slots.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(slots)
    }

    /// Runs all chunks; returns the kernels' time. The slots go back to the engine.
    fn run(&self, chunk: usize, mut slots: Vec<Slot>, out: &mut [u32]) -> Result<Duration> {
        let chunks = out.chunks_mut(chunk * self.limbs[2]).enumerate();
        let work = Mutex::new(Work { chunks, kernel: Duration::ZERO, error: None });
        if let [slot] = &mut *slots {
            self.work(chunk, slot, &work);
        } else {
            thread::scope(|scope| {
                for slot in &mut slots {
                    scope.spawn(|| self.work(chunk, slot, &work));
                }
            });
        }
        let work = work.into_inner().unwrap_or_else(PoisonError::into_inner);
        match work.error {
            None => {
                *lock(&self.engine.slots) = slots;
                Ok(work.kernel)
            }
            Some(error) => Err(error),
        }
    }

    /// A worker: takes chunks until none is left, or one has failed.
    fn work(&self, chunk: usize, slot: &mut Slot, work: &Mutex<Work<'_>>) {
        loop {
            let next = {
                let mut work = lock(work);
                if work.error.is_some() { None } else { work.chunks.next() }
            };
            let Some((number, out)) = next else { return };
            let done = self.chunk(slot, number * chunk, out);
            let mut work = lock(work);
            match done {
                Ok(kernel) => work.kernel += kernel,
                Err(error) => work.error = Some(error),
            }
        }
    }

    /// One chunk, from the first lane on: as many lanes as `out` has room for.
    fn chunk(&self, slot: &mut Slot, first: usize, out: &mut [u32]) -> Result<Duration> {
        let lanes = out.len() / self.limbs[2];
        let device = &*self.engine.device;
        let Slot { stream, events, buffers, staging } = slot;
        let uploads = if self.shared.is_some() { 1 } else { 2 };
        for (i, buffer) in buffers.iter().enumerate().take(uploads) {
            let limbs = self.limbs[i];
            let mut rows = &self.operands[i].limbs()[first * limbs..][..lanes * limbs];
            if self.staged[i] {
                staging[..rows.len()].copy_from_slice(rows);
                rows = &staging[..rows.len()];
            }
            device.upload(stream, rows, buffer, 0)?;
            self.engine.clear_padding(stream, buffer, lanes, limbs)?;
        }
        let [a, b, c, scratch] = buffers;
        let b = self.shared.as_ref().unwrap_or(b);
        self.engine.launch(stream, &self.loaded, [a, b, c, scratch], lanes, Some(events))?;
        if self.staged[2] {
            device.download(stream, c, 0, &mut staging[..out.len()])?;
            out.copy_from_slice(&staging[..out.len()]);
        } else {
            device.download(stream, c, 0, out)?;
        }
        let [start, end] = events;
        Ok(device.elapsed(start, end)?)
    }
}

/// A worker that panicked has left nothing half-done that matters here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
