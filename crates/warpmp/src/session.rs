//! A session: an engine made ready, and the operations on it.

use std::sync::Arc;
use std::time::Instant;

use warpmp_device::{Device, open_cuda, open_sim};

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::memory::{DeviceBatch, HostBuffer, Place};
use crate::report::{EngineInfo, Report, Run};
use crate::{cpu, gpu};

/// The widest operand of a multiplication, in bits.
pub const MUL_MAX_BITS: usize = 65536;

/// Which engine a session shall have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Selector {
    /// The first usable GPU, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// This GPU; the first usable one if no number is given.
    Cuda(Option<usize>),
    /// The simulated GPU.
    Sim,
}

/// How a multiplication shall be done; the default lets the plan choose.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct MulOptions {
    /// The algorithm's name; none: what the plan chooses.
    pub algorithm: Option<String>,
    /// Memory for the products, exactly as long as they are; none: newly allocated.
    pub into: Option<HostBuffer>,
}

impl MulOptions {
    /// The plan chooses, the result is newly allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses the algorithm of this name.
    pub fn algorithm(self, name: impl Into<String>) -> Self {
        Self { algorithm: Some(name.into()), ..self }
    }

    /// Writes the products into this memory, which becomes the result's; [`Batch::into_buffer`] gives
    /// it back. A GPU writes directly to memory from [`Session::host_buffer`].
    pub fn into(self, buffer: HostBuffer) -> Self {
        Self { into: Some(buffer), ..self }
    }
}

/// An engine made ready. Threads may share it.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    info: EngineInfo,
    fallback: Option<Error>,
}

#[derive(Debug)]
enum Engine {
    Cpu(cpu::Engine),
    Gpu(Box<gpu::Engine>),
}

impl Session {
    /// A session on the first usable GPU, else on the CPU: [`Session::engine`] says which, and
    /// [`Session::fallback`] why.
    pub fn open() -> Self {
        Self::on(Selector::Cuda(None)).unwrap_or_else(|reason| Self { fallback: Some(reason), ..Self::cpu() })
    }

    /// A session on the CPU: all cores.
    pub fn cpu() -> Self {
        let engine = cpu::Engine::new();
        Self { info: engine.info(), engine: Engine::Cpu(engine), fallback: None }
    }

    /// A session on the engine that is asked for.
    ///
    /// # Errors
    /// For [`Selector::Cuda`] what prevents the use of the GPU, as [`Error::Device`].
    pub fn on(selector: Selector) -> Result<Self> {
        match selector {
            Selector::Auto => Ok(Self::open()),
            Selector::Cpu => Ok(Self::cpu()),
            Selector::Cuda(Some(ordinal)) => Self::with_device(open_cuda(ordinal)?),
            Selector::Cuda(None) => Self::with_device(open_first()?),
            Selector::Sim => Self::with_device(open_sim()),
        }
    }

    /// A session on a device that is open already.
    ///
    /// # Errors
    /// [`Error::Device`], what the device says.
    pub fn with_device(device: Arc<dyn Device>) -> Result<Self> {
        let engine = gpu::Engine::new(device)?;
        Ok(Self { info: engine.info(), engine: Engine::Gpu(Box::new(engine)), fallback: None })
    }

    /// The engine in use.
    pub const fn engine(&self) -> &EngineInfo {
        &self.info
    }

    /// The device in use; none on the CPU.
    pub const fn device(&self) -> Option<&Arc<dyn Device>> {
        match &self.engine {
            Engine::Cpu(_) => None,
            Engine::Gpu(engine) => Some(engine.device()),
        }
    }

    /// Why [`Session::open`] took the CPU; none if it did not.
    pub const fn fallback(&self) -> Option<&Error> {
        self.fallback.as_ref()
    }

    /// Zeroed memory for operands and results that this session transfers at full speed: page-locked
    /// for a GPU. It is slow to make and good to keep.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn host_buffer(&self, words: usize) -> Result<HostBuffer> {
        match &self.engine {
            Engine::Cpu(_) => HostBuffer::zeroed(words),
            Engine::Gpu(engine) => engine.host_buffer(words),
        }
    }

    /// Multiplies lane by lane, keeping the full product: `c[i] = a[i]·b[i]`.
    ///
    /// | operand | lanes    | bits a lane |
    /// |---------|----------|-------------|
    /// | `a`     | `n` or 1 | `p`         |
    /// | `b`     | `n` or 1 | `q`         |
    /// | result  | `n`      | `p + q`     |
    ///
    /// An operand with one lane multiplies every lane of the other. `1 ≤ p, q ≤ 65536`. A batch that is
    /// larger than the GPU's memory goes through it in chunks; transfers overlap with the computation.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the lanes differ and neither is 1; [`Error::TooWide`] above 65536
    /// bits; nothing was launched.
    /// [`Error::OutOfMemory`] if operands and result do not fit even in chunks.
    /// [`Error::Device`] if the device fails.
    pub fn mul(&self, a: &Batch, b: &Batch) -> Result<Batch<'static>> {
        Ok(self.mul_with(a, b, MulOptions::new())?.0)
    }

    /// [`Session::mul`] with options, and with a report of what it cost.
    ///
    /// # Errors
    /// As [`Session::mul`]; [`Error::UnknownAlgorithm`] and [`Error::AlgorithmUnfit`] list what there
    /// is; [`Error::LimbCount`] if the memory given for the result has not its length.
    pub fn mul_with(&self, a: &Batch, b: &Batch, options: MulOptions) -> Result<(Batch<'static>, Report)> {
        let start = Instant::now();
        let shape = product_shape(a.shape(), b.shape())?;
        let mut into = options.into.map_or_else(|| HostBuffer::zeroed(shape.words()), Ok)?;
        shape.check(into.len())?;
        let algorithm = options.algorithm.as_deref();
        let run = match &self.engine {
            Engine::Cpu(engine) => engine.mul(a, b, algorithm, into.as_mut_slice())?,
            Engine::Gpu(engine) => engine.mul(a, b, algorithm, &mut into)?,
        };
        let report = self.report(a.shape(), b.shape(), run, start);
        Ok((Batch::trusted(shape, into), report))
    }

    /// Copies a batch to where this session computes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it does not fit as a whole.
    pub fn upload(&self, batch: &Batch) -> Result<DeviceBatch> {
        match &self.engine {
            Engine::Cpu(_) => {
                let mut copy = HostBuffer::zeroed(batch.limbs().len())?;
                copy.as_mut_slice().copy_from_slice(batch.limbs());
                Ok(DeviceBatch { shape: batch.shape(), place: Place::Host(copy) })
            }
            Engine::Gpu(engine) => engine.upload(batch),
        }
    }

    /// Copies a batch back to the host.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] of the host; [`Error::ForeignBatch`]; [`Error::Device`], also of operations
    /// before that had not ended.
    pub fn download(&self, batch: &DeviceBatch) -> Result<Batch<'static>> {
        let mut out = HostBuffer::zeroed(batch.shape.words())?;
        match (&self.engine, &batch.place) {
            (Engine::Cpu(_), Place::Host(words)) => out.as_mut_slice().copy_from_slice(words.as_slice()),
            (Engine::Gpu(engine), Place::Device(_)) => engine.download(batch, out.as_mut_slice())?,
            _ => return Err(Error::ForeignBatch),
        }
        Ok(Batch::trusted(batch.shape, out))
    }

    /// [`Session::mul`] of batches that stay where the session computes; no transfers. On a GPU it
    /// returns when the work is queued: later operations and [`Session::download`] wait for it.
    ///
    /// # Errors
    /// As [`Session::mul`], but the batches must fit in the device's memory as a whole;
    /// [`Error::ForeignBatch`].
    pub fn mul_device(&self, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
        let into = self.reserve(product_shape(a.shape, b.shape)?)?;
        Ok(self.run_device(a, b, None, into, false)?.0)
    }

    /// [`Session::mul_device`] by the algorithm of this name, if any, into memory from [`Session::reserve`] or a result to be
    /// overwritten, waiting for the end and reporting the kernel's time.
    ///
    /// # Errors
    /// As [`Session::mul_device`] and [`Session::mul_with`]; [`Error::ResultShape`] unless `into` has the
    /// result's shape.
    pub fn mul_device_into(
        &self,
        a: &DeviceBatch,
        b: &DeviceBatch,
        algorithm: Option<&str>,
        into: DeviceBatch,
    ) -> Result<(DeviceBatch, Report)> {
        let start = Instant::now();
        let (c, run) = self.run_device(a, b, algorithm, into, true)?;
        Ok((c, self.report(a.shape, b.shape, run, start)))
    }

    /// Memory for a result of this shape where the session computes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::ZeroLanes`], [`Error::ZeroBits`].
    pub fn reserve(&self, shape: Shape) -> Result<DeviceBatch> {
        shape.check(shape.words())?;
        match &self.engine {
            Engine::Cpu(_) => Ok(DeviceBatch { shape, place: Place::Host(HostBuffer::zeroed(shape.words())?) }),
            Engine::Gpu(engine) => engine.reserve(shape),
        }
    }

    fn run_device(
        &self,
        a: &DeviceBatch,
        b: &DeviceBatch,
        algorithm: Option<&str>,
        mut into: DeviceBatch,
        timed: bool,
    ) -> Result<(DeviceBatch, Run)> {
        let shape = product_shape(a.shape, b.shape)?;
        if into.shape != shape {
            return Err(Error::ResultShape {
                expected_lanes: shape.lanes,
                expected_bits: shape.bits,
                found_lanes: into.shape.lanes,
                found_bits: into.shape.bits,
            });
        }
        match (&self.engine, &a.place, &b.place, &mut into.place) {
            (Engine::Cpu(engine), Place::Host(x), Place::Host(y), Place::Host(out)) => {
                let (x, y) = (Batch::borrow_buffer(a.shape, x)?, Batch::borrow_buffer(b.shape, y)?);
                let run = engine.mul(&x, &y, algorithm, out.as_mut_slice())?;
                Ok((into, run))
            }
            (Engine::Gpu(engine), ..) => engine.mul_device(a, b, algorithm, into, timed),
            _ => Err(Error::ForeignBatch),
        }
    }

    fn report(&self, a: Shape, b: Shape, run: Run, start: Instant) -> Report {
        let result = Shape::new(a.lanes.max(b.lanes), a.bits + b.bits);
        Report {
            op: "mul",
            bits_a: a.bits,
            bits_b: b.bits,
            lanes: result.lanes,
            device: self.info.name.clone(),
            algorithm: run.algorithm,
            kernel: run.kernel,
            total: start.elapsed(),
            bytes: a.bytes() + b.bytes() + result.bytes(),
        }
    }
}

/// The first GPU that can be opened; what is wrong with the first one if none can.
fn open_first() -> Result<Arc<dyn Device>> {
    let gpus = warpmp_device::devices().cuda?;
    let mut first_error = None;
    for gpu in gpus.iter().filter(|gpu| gpu.supported()).chain(gpus.iter().filter(|gpu| !gpu.supported())) {
        match open_cuda(gpu.ordinal) {
            Ok(device) => return Ok(device),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let none = warpmp_device::Error::NoDevice { ordinal: 0, count: gpus.len() };
    Err(first_error.unwrap_or(none).into())
}

/// The shape of the products of two batches.
///
/// # Errors
/// [`Error::ShapeMismatch`] if the lanes differ and neither is 1; [`Error::TooWide`].
pub fn product_shape(a: Shape, b: Shape) -> Result<Shape> {
    for bits in [a.bits, b.bits] {
        if bits > MUL_MAX_BITS {
            return Err(Error::TooWide { bits, limit: MUL_MAX_BITS });
        }
    }
    if a.lanes != b.lanes && a.lanes != 1 && b.lanes != 1 {
        return Err(Error::ShapeMismatch { lanes_a: a.lanes, lanes_b: b.lanes });
    }
    Ok(Shape::new(a.lanes.max(b.lanes), a.bits + b.bits))
}
