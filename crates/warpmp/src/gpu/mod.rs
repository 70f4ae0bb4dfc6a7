//! The GPU engine: plan → kernel → device, on resident batches or through the chunked pipeline.
//!
//! ```text
//! mod.rs       the engine: transfers, launches on resident batches
//! pipeline.rs  batches in host memory: chunks, on several streams at once
//! slot.rs      what one chunk needs on the way: a stream, buffers, staging memory
//! ```
//!
//! Nothing here decides how to multiply: that is the plan's, and the engine carries it out.

mod pipeline;
mod slot;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use warpmp_device::{Arg, Buffer, Device, DeviceInfo, Event, Kind, Module, Stream};

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::memory::{DeviceBatch, HostBuffer, Place};
use crate::plan::{Plan, TILE_LANES};
use crate::report::{EngineInfo, EngineKind, Run};
use slot::Slot;

/// Some devices refuse to allocate nothing.
const LEAST_BYTES: u64 = 4;

/// A device, and what is kept on it from call to call.
#[derive(Debug)]
pub(crate) struct Engine {
    device: Arc<dyn Device>,
    /// Everything on resident batches happens in this stream's order.
    stream: Stream,
    /// What the stages of operations on resident batches hand on; the stream's order lets all share it.
    scratch: Mutex<Arc<Buffer>>,
    /// The pipeline's slots, while no call uses them.
    slots: Mutex<Vec<Slot>>,
}

/// A plan, its kernels loaded.
#[derive(Debug)]
struct Loaded {
    plan: Plan,
    modules: Vec<Arc<Module>>,
    /// Bytes from lane to lane of the kernel's `a`, `b` and `c`; 0 if all lanes share the row.
    row_bytes: [usize; 3],
}

impl Loaded {
    /// The caller's operands as the kernel's.
    fn order<T>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.plan.swapped() { [b, a] } else { [a, b] }
    }
}

impl Engine {
    pub(crate) fn new(device: Arc<dyn Device>) -> Result<Self> {
        let scratch = Mutex::new(Arc::new(device.alloc(LEAST_BYTES)?));
        Ok(Self { stream: device.stream()?, scratch, slots: Mutex::default(), device })
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
        Ok(DeviceBatch { shape: batch.shape(), place: Place::Device(self.upload_buffer(batch)?) })
    }

    fn upload_buffer(&self, batch: &Batch) -> Result<Buffer> {
        let buffer = self.alloc(batch.shape())?;
        self.device.upload(&self.stream, batch.limbs(), &buffer, 0)?;
        Ok(buffer)
    }

    pub(crate) fn download(&self, batch: &DeviceBatch, out: &mut [u32]) -> Result<()> {
        Ok(self.device.download(&self.stream, resident(batch)?, 0, out)?)
    }

    /// Multiplies resident batches into `into`, whose shape is the result's. Timed, it returns when the
    /// kernel has ended; otherwise at once.
    pub(crate) fn mul_device(
        &self,
        a: &DeviceBatch,
        b: &DeviceBatch,
        algorithm: Option<&str>,
        into: DeviceBatch,
        timed: bool,
    ) -> Result<(DeviceBatch, Run)> {
        let loaded = self.load(a.shape, b.shape, algorithm)?;
        let [a, b] = loaded.order([a, b]);
        let scratch = self.scratch(loaded.plan.scratch_words(a.shape.lanes))?;
        let buffers = [resident(a)?, resident(b)?, resident(&into)?, &scratch];
        let events = if timed { Some([self.device.event()?, self.device.event()?]) } else { None };
        self.launch(&self.stream, &loaded, buffers, a.shape.lanes, events.as_ref())?;
        let kernel = match events {
            Some([start, end]) => self.device.elapsed(&start, &end)?,
            None => Duration::ZERO,
        };
        Ok((into, Run { algorithm: loaded.plan.algorithm().into(), kernel }))
    }

    /// Memory for a result, to be overwritten: only what pads the last tile is zeroed.
    pub(crate) fn reserve(&self, shape: Shape) -> Result<DeviceBatch> {
        Ok(DeviceBatch { shape, place: Place::Device(self.alloc(shape)?) })
    }

    /// Scratch memory of at least this many words.
    fn scratch(&self, words: usize) -> Result<Arc<Buffer>> {
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.words() < words {
            *kept = Arc::new(self.device.alloc(4 * words as u64)?);
        }
        Ok(Arc::clone(&kept))
    }

    /// Plans a multiplication for this device and loads its kernels.
    fn load(&self, a: Shape, b: Shape, algorithm: Option<&str>) -> Result<Loaded> {
        let plan = Plan::mul(a, b, self.device.info(), algorithm)?;
        let modules = plan.kernels().iter().map(|kernel| self.device.load(kernel)).collect::<Result<_, _>>()?;
        let [a, b] = if plan.swapped() { [b, a] } else { [a, b] };
        let row = |shape: Shape| if shape.lanes < plan.lanes() { 0 } else { 4 * shape.limbs() };
        Ok(Loaded { row_bytes: [row(a), row(b), row(plan.result())], plan, modules })
    }

    /// Launches `c = a·b` for so many lanes, the kernel's `a` and `b`, between two events. More lanes
    /// than one launch takes are several launches; `buffers` ends with the scratch memory of one.
    fn launch(
        &self,
        stream: &Stream,
        loaded: &Loaded,
        buffers: [&Buffer; 4],
        lanes: usize,
        events: Option<&[Event; 2]>,
    ) -> Result<()> {
        if let Some([start, _]) = events {
            self.device.record(stream, start)?;
        }
        let most = loaded.plan.max_launch_lanes();
        for first in (0..lanes).step_by(most) {
            let count = (lanes - first).min(most) as u32;
            let [a, b, c] = [0, 1, 2].map(|i| Arg::Buffer(buffers[i], (first * loaded.row_bytes[i]) as u64));
            let args = [a, b, c, Arg::U32(count), Arg::Buffer(buffers[3], 0)];
            let args = if loaded.plan.scratch_limbs() > 0 { &args[..] } else { &args[..4] };
            for (stage, module) in loaded.modules.iter().enumerate() {
                self.device.launch(stream, module, loaded.plan.grid(stage, count), args)?;
            }
        }
        if let Some([_, end]) = events {
            self.device.record(stream, end)?;
        }
        Ok(())
    }

    /// Memory for whole tiles, what lies beyond the last lane zeroed.
    fn alloc(&self, shape: Shape) -> Result<Buffer> {
        let buffer = self.device.alloc(4 * (padded(shape.lanes) * shape.limbs()) as u64)?;
        self.clear_padding(&self.stream, &buffer, shape.lanes, shape.limbs())?;
        Ok(buffer)
    }

    fn clear_padding(&self, stream: &Stream, buffer: &Buffer, lanes: usize, limbs: usize) -> Result<()> {
        let missing = padded(lanes) - lanes;
        if missing > 0 {
            self.device.fill(stream, buffer, lanes * limbs, 0, missing * limbs)?;
        }
        Ok(())
    }
}

/// The lanes of whole tiles.
const fn padded(lanes: usize) -> usize {
    lanes.next_multiple_of(TILE_LANES)
}

fn resident(batch: &DeviceBatch) -> Result<&Buffer> {
    batch.buffer().ok_or(Error::ForeignBatch)
}
