//! Operations on batches in host memory: in chunks, uploading, computing and downloading at once.
//!
//! ```text
//! worker 0   upload 0 │ kernel 0 │ download 0 │ upload 3 │ …
//! worker 1              upload 1 │ kernel 1   │ download 1 │ …
//! worker 2                         upload 2   │ kernel 2   │ download 2 │ …
//! ```
//!
//! A worker is a thread with a [`Slot`]: it takes the next chunk ([`deal`]) and does all of it, one step after the
//! other. Several GPUs have workers of their own. The steps of different workers overlap: the bus carries both directions while the kernels
//! run. Memory that is not page-locked goes through the slot's staging memory; the workers do these
//! copies too, each on its own core, and are more in number for that.
//!
//! bound: chunks are whole tiles of lanes but the last, so their rows start where the kernels expect.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use warpmp_device::{Buffer, Kind};

use super::deal::{Hand, deal};
use super::slot::{Sizes, Slot};
use super::{Engine, Loaded, lock, padded};
use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::memory::HostBuffer;
use crate::operation::Operation;
use crate::plan::TILE_LANES;
use crate::report::{LeftOut, Run};

/// Bytes of a chunk, both operands and result, that are transferred where they lie: large enough to
/// hide what a step costs to start, small enough that the first upload and the last download, which
/// overlap with nothing, are short.
const CHUNK_BYTES: usize = 16 << 20;
/// The same where chunks are staged: they should stay in the cache between the two copies.
const STAGED_CHUNK_BYTES: usize = 8 << 20;
/// Smaller chunks cost more to start than they gain by overlapping.
const LEAST_CHUNK_BYTES: usize = 1 << 20;
/// Chunks for each GPU that a batch is cut into at least, if they are not too small then.
const LEAST_CHUNKS: usize = 8;
/// One worker uploads, one computes, one downloads, and one is between two steps.
const WORKERS: usize = 4;
/// One core copies about 10 GB/s, the bus takes 55 in each direction.
const STAGING_WORKERS: usize = 16;

/// One operation under way on a GPU.
pub(super) struct Pipeline<'p> {
    engine: &'p Engine,
    loaded: Arc<Loaded>,
    /// In the kernel's order.
    operands: Vec<Operand<'p>>,
    results: Vec<Outcome>,
    lanes: usize,
}

/// An operand on its way.
struct Operand<'p> {
    batch: &'p Batch<'p>,
    limbs: usize,
    /// It on the device, if all lanes share it.
    shared: Option<Buffer>,
    /// Must it be staged?
    staged: bool,
}

impl Operand<'_> {
    /// Limbs of a lane that go along with each chunk.
    const fn streamed_limbs(&self) -> usize {
        if self.shared.is_some() { 0 } else { self.limbs }
    }
}

/// What is known of a result beforehand.
struct Outcome {
    limbs: usize,
    /// Must it be staged?
    staged: bool,
}

/// Does an operation on these GPUs, the first of which is the session's, into `out`, whose lengths fit. A GPU that cannot be made ready
/// is left out, unless none can.
pub(crate) fn apply(
    engines: &[&Engine],
    operation: Operation,
    operands: &[&Batch],
    algorithm: Option<&str>,
    out: &mut [HostBuffer],
) -> Result<Run> {
    let prepare = |engine| Pipeline::new(engine, operation, operands, algorithm, out);
    let first = prepare(engines[0]);
    let others = match &first {
        // More GPUs would have nothing to do.
        Ok(first) => &engines[1..engines.len().min(first.least_chunks()).max(1)],
        Err(_) => &engines[1..],
    };
    let mut ready = vec![(engines[0], first)];
    ready.extend(others.iter().map(|engine| (*engine, prepare(engine))));
    let mut hands = Vec::new();
    let mut left_out = Vec::new();
    let mut chunk = usize::MAX;
    for (engine, pipeline) in ready {
        let made = pipeline.and_then(|pipeline| {
            let lanes = pipeline.chunk_lanes(engines.len())?.min(chunk);
            let (slots, lanes) = pipeline.some_slots(lanes)?;
            Ok((Hand { pipeline, slots }, lanes))
        });
        match made {
            Ok((hand, lanes)) => {
                chunk = lanes;
                hands.push(hand);
            }
            Err(error) => left_out.push((engine, error)),
        }
    }
    let Some(first) = hands.first() else { return Err(left_out.swap_remove(0).1) };
    let algorithm = first.pipeline.loaded.plan.algorithm().into();
    let engines: Vec<&Engine> = hands.iter().map(|hand| hand.pipeline.engine).collect();
    let dealt = deal(hands, chunk, out)?;
    left_out.extend(dealt.failed.into_iter().map(|(hand, error)| (engines[hand], error)));
    let left_out = left_out.into_iter().map(|(engine, reason)| LeftOut { device: engine.info(), reason });
    Ok(Run { algorithm, kernel: dealt.kernel, left_out: left_out.collect() })
}

impl<'p> Pipeline<'p> {
    fn new(
        engine: &'p Engine,
        operation: Operation,
        operands: &[&'p Batch<'p>],
        algorithm: Option<&str>,
        out: &[HostBuffer],
    ) -> Result<Self> {
        let shapes: Vec<Shape> = operands.iter().map(|batch| batch.shape()).collect();
        let loaded = engine.load(operation, &shapes, algorithm)?;
        // The simulator has no bus: all memory is as good.
        let staged = |pinned: bool| !pinned && engine.device.info().kind == Kind::Cuda;
        let operand = |(batch, row_words): (&'p Batch<'p>, &usize)| {
            let shared = if *row_words == 0 { Some(engine.upload_buffer(batch)?) } else { None };
            let staged = shared.is_none() && staged(batch.is_pinned());
            Ok(Operand { batch, limbs: batch.shape().limbs(), shared, staged })
        };
        let operands = loaded.order(operands).into_iter().zip(&loaded.row_words).map(operand).collect::<Result<_>>()?;
        let outcome =
            |(shape, out): (&Shape, &HostBuffer)| Outcome { limbs: shape.limbs(), staged: staged(out.is_pinned()) };
        let results = loaded.plan.results().iter().zip(out).map(outcome).collect();
        Ok(Self { engine, lanes: loaded.plan.lanes(), loaded, operands, results })
    }

    /// Limbs a lane of what is staged, operands and results.
    fn staged_limbs(&self) -> impl Iterator<Item = usize> + '_ {
        let operands = self.operands.iter().filter(|it| it.staged).map(|it| it.limbs);
        operands.chain(self.results.iter().filter(|it| it.staged).map(|it| it.limbs))
    }

    /// Is anything staged?
    fn stages(&self) -> bool {
        self.staged_limbs().next().is_some()
    }

    /// Limbs a lane of what a chunk holds on the device, operands and results.
    fn streamed_limbs(&self) -> impl Iterator<Item = usize> + '_ {
        self.operands.iter().map(Operand::streamed_limbs).chain(self.results.iter().map(|it| it.limbs))
    }

    /// Lanes a chunk: whole tiles, chunks of about equal size for so many GPUs, and room for a chunk of each worker.
    fn chunk_lanes(&self, gpus: usize) -> Result<usize> {
        let most = if self.stages() { STAGED_CHUNK_BYTES } else { CHUNK_BYTES };
        let lane_bytes = 4 * self.streamed_limbs().sum::<usize>();
        let bytes = (self.lanes * lane_bytes / (LEAST_CHUNKS * gpus)).clamp(LEAST_CHUNK_BYTES, most);
        let chunks = self.lanes.div_ceil((bytes / lane_bytes).max(TILE_LANES));
        let chunk = padded(self.lanes.div_ceil(chunks));
        // What earlier calls have left in the slots counts as free.
        let kept: u64 = lock(&self.engine.slots).iter().map(Slot::device_bytes).sum();
        let free_bytes = self.engine.device.free_bytes()? + kept;
        Ok(chunk.min(self.loaded.plan.chunk_lanes(free_bytes, self.workers(chunk) as u64)))
    }

    fn sizes(&self, chunk: usize) -> Sizes {
        let rows = self.streamed_limbs().map(|limbs| limbs * chunk);
        Sizes {
            rows: rows.collect(),
            scratch: self.loaded.plan.scratch_words(chunk),
            staging: self.staged_limbs().max().unwrap_or(0) * chunk,
        }
    }

    /// How many workers chunks of this many lanes can occupy.
    fn workers(&self, chunk: usize) -> usize {
        let wanted = match self.engine.device.info().kind {
            Kind::Sim => 1,
            Kind::Cuda if self.stages() => {
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
        slots.retain(|slot| slot.holds(&sizes));
        slots.truncate(self.workers(chunk));
        while slots.len() < self.workers(chunk) {
            match Slot::new(device, &sizes) {
                Ok(slot) => slots.push(slot),
                Err(Error::OutOfMemory { .. }) if !slots.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(slots)
    }

    /// As [`Pipeline::take_slots`], with fewer lanes a chunk if the memory is short; the lanes.
    fn some_slots(&self, mut chunk: usize) -> Result<(Vec<Slot>, usize)> {
        loop {
            match self.take_slots(chunk) {
                Ok(slots) => return Ok((slots, chunk)),
                Err(Error::OutOfMemory { .. }) if self.engine.pool.clear() => {}
                Err(Error::OutOfMemory { .. }) if chunk > TILE_LANES => chunk = padded(chunk / 2),
                Err(error) => return Err(error),
            }
        }
    }

    /// Keeps slots for the next operation.
    pub(super) fn keep(&self, slots: Vec<Slot>) {
        *lock(&self.engine.slots) = slots;
    }

    /// Limbs a lane of each result.
    pub(super) fn result_limbs(&self) -> impl Iterator<Item = usize> + '_ {
        self.results.iter().map(|it| it.limbs)
    }

    /// Chunks that the smallest ones would be.
    fn least_chunks(&self) -> usize {
        let bytes = self.lanes * 4 * self.streamed_limbs().sum::<usize>();
        bytes.div_ceil(LEAST_CHUNK_BYTES).min(self.lanes.div_ceil(TILE_LANES))
    }

    /// One chunk, from the first lane on: as many lanes as `out` has room for.
    pub(super) fn chunk(&self, slot: &mut Slot, first: usize, out: &mut [&mut [u32]]) -> Result<Duration> {
        let lanes = out[0].len() / self.results[0].limbs;
        let device = &*self.engine.device;
        let Slot { stream, events, rows, scratch, staging } = slot;
        let (operands, results) = rows.split_at(self.operands.len());
        for (operand, buffer) in self.operands.iter().zip(operands).filter(|(operand, _)| operand.shared.is_none()) {
            let limbs = operand.limbs;
            let mut rows = &operand.batch.limbs()[first * limbs..][..lanes * limbs];
            if operand.staged {
                staging[..rows.len()].copy_from_slice(rows);
                rows = &staging[..rows.len()];
            }
            device.upload(stream, rows, buffer, 0)?;
            self.engine.clear_padding(stream, buffer, lanes, limbs)?;
        }
        let inputs = self.operands.iter().zip(operands).map(|(operand, own)| operand.shared.as_ref().unwrap_or(own));
        let rows: Vec<&Buffer> = inputs.chain(results).collect();
        self.engine.launch(stream, &self.loaded, &rows, scratch, lanes, Some(events))?;
        for ((result, buffer), out) in self.results.iter().zip(results).zip(out) {
            if result.staged {
                device.download(stream, buffer, 0, &mut staging[..out.len()])?;
                out.copy_from_slice(&staging[..out.len()]);
            } else {
                device.download(stream, buffer, 0, out)?;
            }
        }
        let [start, end] = events;
        Ok(device.elapsed(start, end)?)
    }
}
