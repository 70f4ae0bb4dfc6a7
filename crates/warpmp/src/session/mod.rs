//! A session: an engine made ready, and the operations on it.
//!
//! ```text
//! mod.rs      engines, products, any operation by name
//! planning.rs algorithms and plans, without computing
//! device.rs   batches that stay where the session computes
//! ring.rs     sums, shifts, logic, two's complements
//! modular.rs  modular arithmetic, division
//! ```

mod device;
mod modular;
mod planning;
mod ring;

use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use warpmp_device::{Device, open_cuda, open_sim};

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::memory::HostBuffer;
use crate::operation::Operation;
use crate::report::{EngineInfo, LeftOut, Report, Run};
use crate::tuning::Table;
use crate::{cpu, gpu};

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
    /// All usable GPUs, as [`Session::open_all`].
    AllCuda,
    /// The simulated GPU.
    Sim,
}

/// How an operation shall be done; the default lets the plan choose.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The algorithm's name; none: what the plan chooses.
    pub algorithm: Option<String>,
    /// Memory for each result, exactly as long as it is; none: newly allocated.
    pub into: Vec<HostBuffer>,
}

impl Options {
    /// The plan chooses, the results are newly allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses the algorithm of this name.
    pub fn algorithm(self, name: impl Into<String>) -> Self {
        Self { algorithm: Some(name.into()), ..self }
    }

    /// Writes the next result into this memory, which becomes the result's; [`Batch::into_buffer`] gives
    /// it back. A GPU writes directly to memory from [`Session::host_buffer`].
    pub fn into(mut self, buffer: HostBuffer) -> Self {
        self.into.push(buffer);
        self
    }
}

/// An engine made ready. Threads may share it.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    /// More GPUs for batches in host memory.
    others: Vec<gpu::Engine>,
    /// The GPUs that could not do their part of an operation, each once.
    left_out: Mutex<Vec<LeftOut>>,
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
        Self::or_cpu(Self::on(Selector::Cuda(None)))
    }

    /// A session on all usable GPUs, else on the CPU, as [`Session::open`].
    ///
    /// Operations on batches in host memory deal their chunks to all GPUs; the results are in order. A GPU that fails during an operation
    /// is left out: the other ones do its part, and [`Report::left_out`] names it. Batches that stay on a GPU are on the first one.
    pub fn open_all() -> Self {
        Self::or_cpu(Self::on(Selector::AllCuda))
    }

    fn or_cpu(session: Result<Self>) -> Self {
        session.unwrap_or_else(|reason| Self { fallback: Some(reason), ..Self::cpu() })
    }

    /// A session on the CPU: all cores.
    pub fn cpu() -> Self {
        let engine = cpu::Engine::new();
        Self {
            info: engine.info(),
            engine: Engine::Cpu(engine),
            others: Vec::new(),
            left_out: Mutex::default(),
            fallback: None,
        }
    }

    /// A session on the engine that is asked for.
    ///
    /// # Errors
    /// For [`Selector::Cuda`] and [`Selector::AllCuda`] what prevents the use of the first GPU, as [`Error::Device`].
    pub fn on(selector: Selector) -> Result<Self> {
        match selector {
            Selector::Auto => Ok(Self::open()),
            Selector::Cpu => Ok(Self::cpu()),
            Selector::Cuda(Some(ordinal)) => Self::with_device(open_cuda(ordinal)?),
            Selector::Cuda(None) => Self::with_devices(open_usable(1)?),
            Selector::AllCuda => Self::with_devices(open_usable(usize::MAX)?),
            Selector::Sim => Self::with_device(open_sim()),
        }
    }

    /// A session on a device that is open already.
    ///
    /// # Errors
    /// [`Error::Device`], what the device says.
    pub fn with_device(device: Arc<dyn Device>) -> Result<Self> {
        Self::with_devices(vec![device])
    }

    /// As [`Session::open_all`], on devices that are open already, the first one for batches that stay on a device.
    ///
    /// # Errors
    /// [`Error::NoDevice`] for no devices; [`Error::Device`], what a device says.
    pub fn with_devices(devices: Vec<Arc<dyn Device>>) -> Result<Self> {
        let mut engines = devices.into_iter().map(gpu::Engine::new);
        let engine = engines.next().ok_or(Error::NoDevice)??;
        let others = engines.collect::<Result<Vec<_>>>()?;
        let mut info = engine.info();
        info.name = name_of_all(iter::once(&engine).chain(&others).map(gpu::Engine::info));
        Ok(Self { info, engine: Engine::Gpu(Box::new(engine)), others, left_out: Mutex::default(), fallback: None })
    }

    /// Lets this tuning table decide instead of the one that ships with the crate, of several GPUs on those of the first one's
    /// architecture; on the CPU there is nothing that it could decide. About operations that it has no rows for, the shipped one still
    /// decides.
    #[must_use]
    pub fn with_table(mut self, table: Table) -> Self {
        self.set_table(table);
        self
    }

    /// As [`Session::with_table`], for a session in use.
    #[expect(clippy::needless_pass_by_value, reason = "the session has the table from now on")]
    pub fn set_table(&mut self, table: Table) {
        let capability = self.device().map(|device| device.info().capability);
        for engine in self.gpus_mut().filter(|engine| Some(engine.device().info().capability) == capability) {
            engine.set_table(table.clone());
        }
    }

    fn gpus_mut(&mut self) -> impl Iterator<Item = &mut gpu::Engine> {
        let first = match &mut self.engine {
            Engine::Cpu(_) => None,
            Engine::Gpu(engine) => Some(&mut **engine),
        };
        first.into_iter().chain(&mut self.others)
    }

    /// The tuning table that decides; none on the CPU.
    pub fn table(&self) -> Option<&Table> {
        match &self.engine {
            Engine::Cpu(_) => None,
            Engine::Gpu(engine) => Some(engine.table()),
        }
    }

    /// The engine in use.
    pub const fn engine(&self) -> &EngineInfo {
        &self.info
    }

    /// The GPUs of a session on several that could not do their part of an operation so far, each with its first reason. The other
    /// GPUs did it.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.lock_left_out().clone()
    }

    fn lock_left_out(&self) -> MutexGuard<'_, Vec<LeftOut>> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All devices in use; none on the CPU.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.device().into_iter().chain(self.others.iter().map(gpu::Engine::device))
    }

    /// The device in use, of several the one of batches that stay on a device; none on the CPU.
    pub const fn device(&self) -> Option<&Arc<dyn Device>> {
        match &self.engine {
            Engine::Cpu(_) => None,
            Engine::Gpu(engine) => Some(engine.device()),
        }
    }

    /// Why [`Session::open`] or [`Session::open_all`] took the CPU; none if it did not.
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
    /// An operand with one lane multiplies every lane of the other. `n` may be 0. `1 ≤ p, q ≤ 16777216`. A batch that is
    /// larger than the GPU's memory goes through it in chunks; transfers overlap with the computation.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the lanes differ and neither is 1; [`Error::TooWide`] above 16777216
    /// bits; nothing was launched.
    /// [`Error::OutOfMemory`] if operands and result do not fit even in chunks.
    /// [`Error::Device`] if the device fails.
    pub fn mul(&self, a: &Batch, b: &Batch) -> Result<Batch<'static>> {
        self.one(Operation::Mul, &[a, b])
    }

    /// Squares lane by lane, keeping all bits: `c[i] = a[i]²`; about half the work of [`Session::mul`].
    ///
    /// | operand | lanes | bits a lane |
    /// |---------|-------|-------------|
    /// | `a`     | `n`   | `p`         |
    /// | result  | `n`   | `2p`        |
    ///
    /// # Errors
    /// As [`Session::mul`].
    pub fn sqr(&self, a: &Batch) -> Result<Batch<'static>> {
        self.one(Operation::Sqr, &[a])
    }

    /// An operation with one result.
    fn one(&self, operation: Operation, operands: &[&Batch]) -> Result<Batch<'static>> {
        Ok(self.apply(operation, operands, Options::new())?.0.remove(0))
    }

    /// An operation with so many results.
    fn several<const N: usize>(&self, operation: Operation, operands: &[&Batch]) -> Result<[Batch<'static>; N]> {
        let results = self.apply(operation, operands, Options::new())?.0;
        let found = results.len();
        results.try_into().map_err(|_| Error::ResultCount { operation, expected: N, found })
    }

    /// Does any operation, with options, and reports what it cost. Operands and results are those that
    /// the operation's own method describes.
    ///
    /// # Errors
    /// As the operation's own method; [`Error::OperandCount`]; [`Error::UnknownAlgorithm`] and
    /// [`Error::AlgorithmUnfit`] list what there is; [`Error::ResultCount`] and [`Error::LimbCount`] if
    /// the memory given for the results is not what they need.
    pub fn apply(
        &self,
        operation: Operation,
        operands: &[&Batch],
        options: Options,
    ) -> Result<(Vec<Batch<'static>>, Report)> {
        let start = Instant::now();
        let shapes: Vec<Shape> = operands.iter().map(|batch| batch.shape()).collect();
        let results = operation.results(&shapes)?;
        let mut into = options.into;
        if into.is_empty() {
            into = results.iter().map(|shape| HostBuffer::zeroed(shape.words())).collect::<Result<_>>()?;
        }
        if into.len() != results.len() {
            return Err(Error::ResultCount { operation, expected: results.len(), found: into.len() });
        }
        for (shape, buffer) in results.iter().zip(&into) {
            shape.check(buffer.len())?;
        }
        let algorithm = options.algorithm.as_deref();
        let run = match &self.engine {
            _ if results[0].lanes == 0 => Run::default(),
            Engine::Cpu(engine) => {
                let words = into.iter_mut().map(HostBuffer::as_mut_slice).collect();
                engine.apply(operation, operands, &results, algorithm, words)?
            }
            Engine::Gpu(engine) => {
                let engines: Vec<_> = iter::once(&**engine).chain(&self.others).collect();
                gpu::apply(&engines, operation, operands, algorithm, &mut into)?
            }
        };
        for it in &run.left_out {
            let mut known = self.lock_left_out();
            if known.iter().all(|known| known.device != it.device) {
                known.push(it.clone());
            }
        }
        let report = self.report(operation, &shapes, &results, run, start);
        Ok((results.into_iter().zip(into).map(|(shape, buffer)| Batch::trusted(shape, buffer)).collect(), report))
    }

    fn report(&self, operation: Operation, operands: &[Shape], results: &[Shape], run: Run, start: Instant) -> Report {
        Report {
            operation,
            bits: operands.iter().map(|shape| shape.bits).collect(),
            lanes: results[0].lanes,
            device: self.info.name.clone(),
            algorithm: run.algorithm,
            kernel: run.kernel,
            total: start.elapsed(),
            bytes: operands.iter().chain(results).map(|shape| shape.bytes()).sum(),
            left_out: run.left_out,
        }
    }
}

/// The first GPUs that can be opened; what is wrong with the first one if none can.
fn open_usable(most: usize) -> Result<Vec<Arc<dyn Device>>> {
    let gpus = warpmp_device::devices().cuda?;
    let mut first_error = None;
    let mut open = Vec::new();
    for gpu in gpus.iter().filter(|gpu| gpu.supported()).chain(gpus.iter().filter(|gpu| !gpu.supported())) {
        if open.len() == most {
            break;
        }
        match open_cuda(gpu.ordinal) {
            Ok(device) => open.push(device),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let none = warpmp_device::Error::NoDevice { ordinal: 0, count: gpus.len() };
    if open.is_empty() { Err(first_error.unwrap_or(none).into()) } else { Ok(open) }
}

/// The names, those of equal devices once with their number: `2 × NVIDIA H200`.
fn name_of_all(infos: impl Iterator<Item = EngineInfo>) -> String {
    let mut names: Vec<(String, usize)> = Vec::new();
    for EngineInfo { name, .. } in infos {
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => names.push((name, 1)),
        }
    }
    let named = |(name, count): (String, usize)| if count == 1 { name } else { format!("{count} × {name}") };
    names.into_iter().map(named).collect::<Vec<_>>().join(", ")
}
