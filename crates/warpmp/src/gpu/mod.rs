//! The GPU engine: plan → kernel → device, on resident batches or through the chunked pipeline.
//!
//! ```text
//! mod.rs       the engine: transfers, launches on resident batches
//! pipeline.rs  batches in host memory: chunks, on several streams at once
//! deal.rs      the chunks, dealt to the workers of one GPU or of several
//! slot.rs      what one chunk needs on the way: a stream, buffers, staging memory
//! pool.rs      memory of resident batches
//! ```
//!
//! Nothing here decides how to compute: that is the plan's, and the engine carries it out.

mod deal;
mod pipeline;
mod pool;
mod slot;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use warpmp_device::{Buffer, Device, DeviceInfo, Event, Kind, Pool, Rows, Stream};
use warpmp_launch::{Program, RowBuffer};

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::kernels::{Algorithm, Register};
use crate::memory::{DeviceBatch, HostBuffer, Place};
use crate::operation::Operation;
use crate::plan::{Plan, TILE_LANES};
use crate::report::{EngineInfo, EngineKind, Run};
use crate::tuning::{self, Table};
use slot::Slot;

pub(crate) use pipeline::apply;
pub(crate) use pool::Lease;

/// Some devices refuse to allocate nothing.
const LEAST_BYTES: u64 = 4;

/// A device, and what is kept on it from call to call.
#[derive(Debug)]
pub(crate) struct Engine {
    device: Arc<dyn Device>,
    /// What the plans are made by.
    table: Arc<Table>,
    /// What they choose from.
    register: Register,
    /// Everything on resident batches happens in this stream's order.
    stream: Stream,
    /// The memory of resident batches that were dropped.
    pool: Arc<Pool>,
    /// What the stages of operations on resident batches hand on; the stream's order lets all share it.
    scratch: Mutex<Arc<Buffer>>,
    /// The plans used last, the latest first: repeating an operation does not write the texts of its kernels again.
    latest: Mutex<Vec<(Wish, Arc<Loaded>)>>,
    /// The pipeline's slots, while no call uses them.
    slots: Mutex<Vec<Slot>>,
}

/// Plans that are kept: more than the operations of a program's inner loop.
const KEPT_PLANS: usize = 64;
/// Batches of at most this many words are uploaded by fills, which wait for nothing.
const FEW_WORDS: usize = 8;

/// Into a batch, or out of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    In,
    Out,
}

/// What a plan is made for: operation, operands, algorithm.
type Wish = (Operation, Vec<Shape>, Option<String>);

/// A plan, its kernels loaded.
#[derive(Debug)]
struct Loaded {
    plan: Plan,
    program: Program,
    /// Words from lane to lane of each operand and result; 0 if all lanes share the row.
    row_words: Vec<usize>,
}

impl Loaded {
    /// The caller's operands as the kernel's.
    fn order<T: Copy>(&self, operands: &[T]) -> Vec<T> {
        self.plan.order().iter().map(|&i| operands[i]).collect()
    }
}

impl Engine {
    pub(crate) fn new(device: Arc<dyn Device>) -> Result<Self> {
        let scratch = Mutex::new(Arc::new(device.alloc(LEAST_BYTES)?));
        let table = tuning::shipped(device.info().capability);
        Ok(Self {
            stream: device.stream()?,
            pool: pool::new(device.clone()),
            scratch,
            latest: Mutex::default(),
            slots: Mutex::default(),
            register: Register::shipped(),
            table,
            device,
        })
    }

    pub(crate) fn set_table(&mut self, table: Table) {
        let shipped = tuning::shipped(self.device.info().capability);
        self.table = Arc::new(table.completed_by(shipped));
        self.forget_plans();
    }

    pub(crate) fn add_algorithms(&mut self, operation: Operation, algorithms: &'static [Algorithm]) {
        self.register = std::mem::take(&mut self.register).with(operation, algorithms);
        self.forget_plans();
    }

    fn forget_plans(&mut self) {
        self.latest.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(crate) const fn register(&self) -> &Register {
        &self.register
    }

    /// Plans an operation for this device.
    pub(crate) fn plan(&self, operation: Operation, operands: &[Shape], algorithm: Option<&str>) -> Result<Plan> {
        Plan::with_register(operation, operands, self.device.info(), (&self.table, &self.register), algorithm)
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn info(&self) -> EngineInfo {
        let DeviceInfo { name, kind, ordinal, .. } = self.device.info();
        let kind = match kind {
            Kind::Cuda => EngineKind::Cuda,
            Kind::Sim => EngineKind::Sim,
        };
        EngineInfo { kind, name: name.clone(), ordinal: *ordinal }
    }

    pub(crate) const fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    pub(crate) fn host_buffer(&self, words: usize) -> Result<HostBuffer> {
        Ok(self.device.pinned(words)?.into())
    }

    pub(crate) fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        let resident = self.reserve(batch.shape())?;
        self.upload_to(batch, self.resident(&resident)?)?;
        Ok(resident)
    }

    /// A batch in memory of its own, for any stream.
    fn upload_buffer(&self, batch: &Batch) -> Result<Buffer> {
        let shape = batch.shape();
        let buffer = self.pool.alloc(padded_bytes(shape))?;
        self.clear_padding(&self.stream, &buffer, shape.lanes, shape.limbs())?;
        self.device.upload(&self.stream, batch.limbs(), &buffer, 0)?;
        Ok(buffer)
    }

    fn upload_to(&self, batch: &Batch, buffer: &Buffer) -> Result<()> {
        let words = batch.limbs();
        if words.len() > FEW_WORDS {
            return Ok(self.device.upload(&self.stream, words, buffer, 0)?);
        }
        for (place, &word) in words.iter().enumerate() {
            self.device.fill(&self.stream, buffer, place, word, 1)?;
        }
        Ok(())
    }

    pub(crate) fn download(&self, batch: &DeviceBatch, out: &mut [u32]) -> Result<()> {
        Ok(self.device.download(&self.stream, self.resident(batch)?, 0, out)?)
    }

    pub(crate) fn wait(&self) -> Result<()> {
        Ok(self.device.synchronize(&self.stream)?)
    }

    /// Copies words of a batch, from word `first` on, to another batch, from word `at` on.
    pub(crate) fn copy_words(
        &self,
        from: &DeviceBatch,
        first: usize,
        into: &DeviceBatch,
        at: usize,
        words: usize,
    ) -> Result<()> {
        let (source, target) = (self.resident(from)?, self.resident(into)?);
        Ok(self.device.copy(&self.stream, source, first, target, at, words)?)
    }

    /// Copies limbs of all lanes, from limb `first` on, to all limbs of another batch.
    pub(crate) fn copy_limbs(&self, from: &DeviceBatch, first: usize, into: &DeviceBatch) -> Result<()> {
        let [src_stride, words] = [from, into].map(|it| it.shape.limbs());
        let rows = Rows { count: into.shape.lanes, words, src_first: first, src_stride, dst_stride: words };
        Ok(self.device.copy_rows(&self.stream, rows, self.resident(from)?, self.resident(into)?)?)
    }

    /// Copies all lanes from or to memory with `stride` words from row to row.
    pub(crate) fn copy_rows(
        &self,
        shape: Shape,
        memory: &Buffer,
        stride: usize,
        batch: &DeviceBatch,
        direction: Direction,
    ) -> Result<()> {
        let (device, stream, resident) = (&*self.device, &self.stream, self.resident(batch)?);
        let words = shape.limbs();
        let rows = |src_stride, dst_stride| Rows { count: shape.lanes, words, src_first: 0, src_stride, dst_stride };
        match direction {
            Direction::In => device.copy_rows(stream, rows(stride, words), memory, resident)?,
            Direction::Out => {
                if stride > words {
                    device.fill(stream, memory, 0, 0, shape.lanes.saturating_mul(stride))?;
                }
                device.copy_rows(stream, rows(words, stride), resident, memory)?;
            }
        }
        Ok(())
    }

    /// Does an operation on resident batches into `into`, whose shapes are the results'. Timed, it returns
    /// when the kernels have ended; otherwise at once.
    pub(crate) fn apply_device(
        &self,
        operation: Operation,
        operands: &[&DeviceBatch],
        algorithm: Option<&str>,
        into: Vec<DeviceBatch>,
        timed: bool,
    ) -> Result<(Vec<DeviceBatch>, Run)> {
        let shapes: Vec<Shape> = operands.iter().map(|batch| batch.shape).collect();
        let loaded = self.load(operation, &shapes, algorithm)?;
        let lanes = loaded.plan.lanes();
        let scratch = self.scratch(loaded.plan.scratch_words(lanes))?;
        let batches = loaded.order(operands).into_iter().chain(&into);
        let buffers = batches.map(|batch| self.resident(batch)).collect::<Result<Vec<_>>>()?;
        let events = if timed { Some([self.device.event()?, self.device.event()?]) } else { None };
        self.launch(&self.stream, &loaded, &buffers, &scratch, lanes, events.as_ref())?;
        let kernel = match events {
            Some([start, end]) => self.device.elapsed(&start, &end)?,
            None => Duration::ZERO,
        };
        Ok((into, Run { algorithm: loaded.plan.algorithm().into(), kernel, left_out: Vec::new() }))
    }

    /// Memory for a result, to be overwritten: only the lanes that pad the last tile are zeroed.
    pub(crate) fn reserve(&self, shape: Shape) -> Result<DeviceBatch> {
        let lease = Lease::take(&self.pool, padded_bytes(shape))?;
        let batch = DeviceBatch { shape, place: Place::Device(lease) };
        self.clear_padding(&self.stream, self.resident(&batch)?, shape.lanes, shape.limbs())?;
        Ok(batch)
    }

    /// Sets all lanes to zero.
    pub(crate) fn clear(&self, batch: &DeviceBatch) -> Result<()> {
        Ok(self.device.fill(&self.stream, self.resident(batch)?, 0, 0, batch.shape.words())?)
    }

    /// Are the kernels of this operation loaded, so that [`Engine::apply_device`] only queues work?
    pub(crate) fn only_queues(&self, operation: Operation, operands: &[Shape]) -> bool {
        self.device.info().kind == Kind::Cuda && self.known(&(operation, operands.to_vec(), None)).is_some()
    }

    /// Loads the kernels of this operation.
    pub(crate) fn prepare(&self, operation: Operation, operands: &[Shape]) -> Result<()> {
        self.load(operation, operands, None).map(drop)
    }

    /// The plan that was made before, if it is kept.
    fn known(&self, wish: &Wish) -> Option<Arc<Loaded>> {
        let mut latest = lock(&self.latest);
        let place = latest.iter().position(|(known, _)| known == wish)?;
        latest[..=place].rotate_right(1);
        Some(Arc::clone(&latest[0].1))
    }

    /// Scratch memory of at least this many words.
    fn scratch(&self, words: usize) -> Result<Arc<Buffer>> {
        let mut kept = lock(&self.scratch);
        if kept.words() < words {
            *kept = Arc::new(self.pool.alloc(4 * words as u64)?);
        }
        Ok(Arc::clone(&kept))
    }

    /// Plans an operation for this device and loads its kernels.
    fn load(&self, operation: Operation, operands: &[Shape], algorithm: Option<&str>) -> Result<Arc<Loaded>> {
        let wish = (operation, operands.to_vec(), algorithm.map(str::to_owned));
        if let Some(loaded) = self.known(&wish) {
            return Ok(loaded);
        }
        let plan = self.plan(operation, operands, algorithm)?;
        let program = Program::load(&*self.device, plan.spec(), plan.max_launch_lanes())?;
        let lanes = plan.lanes();
        let row_words = plan.rows().map(|row| if row.lanes < lanes { 0 } else { row.limbs() }).collect();
        let loaded = Arc::new(Loaded { plan, program, row_words });
        let mut latest = lock(&self.latest);
        latest.truncate(KEPT_PLANS - 1);
        latest.insert(0, (wish, Arc::clone(&loaded)));
        Ok(loaded)
    }

    /// Launches the kernels for `lanes` lanes, between two events; `buffers`: operands, then results.
    fn launch(
        &self,
        stream: &Stream,
        loaded: &Loaded,
        buffers: &[&Buffer],
        scratch: &Buffer,
        lanes: usize,
        events: Option<&[Event; 2]>,
    ) -> Result<()> {
        if let Some([start, _]) = events {
            self.device.record(stream, start)?;
        }
        let rows = buffers.iter().zip(&loaded.row_words);
        let rows: Vec<RowBuffer<'_>> = rows.map(|(&buffer, &stride)| RowBuffer { buffer, stride }).collect();
        let scratch = (loaded.plan.scratch_limbs() > 0).then_some(scratch);
        loaded.program.launch(&*self.device, stream, &rows, scratch, lanes)?;
        if let Some([_, end]) = events {
            self.device.record(stream, end)?;
        }
        Ok(())
    }

    /// The memory of a batch, for work on this engine's stream.
    fn resident<'b>(&self, batch: &'b DeviceBatch) -> Result<&'b Buffer> {
        batch.resident(&self.pool).ok_or(Error::ForeignBatch)
    }

    fn clear_padding(&self, stream: &Stream, buffer: &Buffer, lanes: usize, limbs: usize) -> Result<()> {
        let missing = padded(lanes) - lanes;
        if missing > 0 {
            self.device.fill(stream, buffer, lanes * limbs, 0, missing * limbs)?;
        }
        Ok(())
    }
}

/// A worker that panicked has left nothing half-done that matters here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lanes of whole tiles.
const fn padded(lanes: usize) -> usize {
    lanes.next_multiple_of(TILE_LANES)
}

/// The bytes of whole tiles.
fn padded_bytes(shape: Shape) -> u64 {
    Shape { lanes: shape.lanes.checked_next_multiple_of(TILE_LANES).unwrap_or(usize::MAX), ..shape }.bytes()
}
