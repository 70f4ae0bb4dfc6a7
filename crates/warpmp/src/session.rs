//! A session: an engine made ready, and the operations on it.

use std::time::Instant;

use crate::batch::{Batch, HostBuffer, Shape};
use crate::cpu;
use crate::error::{Error, Result};
use crate::report::{EngineInfo, Report};

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
    /// Where the products shall go: memory to use again. It must have exactly the result's length.
    pub into: Option<HostBuffer>,
}

impl MulOptions {
    /// The plan chooses, the result is newly allocated.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses the algorithm of this name.
    pub fn algorithm(mut self, name: impl Into<String>) -> Self {
        self.algorithm = Some(name.into());
        self
    }

    /// Writes the products into this memory, which becomes the result's.
    pub fn into(mut self, buffer: HostBuffer) -> Self {
        self.into = Some(buffer);
        self
    }
}

/// An engine made ready. It can be shared by threads.
#[derive(Debug)]
pub struct Session {
    engine: cpu::Engine,
    info: EngineInfo,
    fallback: Option<Error>,
}

impl Session {
    /// A session on the first usable GPU, else on the CPU: [`Session::engine`] says which, and
    /// [`Session::fallback`] why.
    pub fn open() -> Self {
        Self::cpu()
    }

    /// A session on the CPU: all cores.
    pub fn cpu() -> Self {
        let engine = cpu::Engine::new();
        Self { info: engine.info(), engine, fallback: None }
    }

    /// A session on the engine that is asked for.
    ///
    /// # Errors
    /// For [`Selector::Cuda`] what prevents the use of the GPU.
    pub fn on(selector: Selector) -> Result<Self> {
        match selector {
            Selector::Auto => Ok(Self::open()),
            Selector::Cpu | Selector::Cuda(_) | Selector::Sim => Ok(Self::cpu()),
        }
    }

    /// The engine in use.
    pub const fn engine(&self) -> &EngineInfo {
        &self.info
    }

    /// Why [`Session::open`] took the CPU; none if it did not.
    pub const fn fallback(&self) -> Option<&Error> {
        self.fallback.as_ref()
    }

    /// Memory for operands and results that this session transfers at full speed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn host_buffer(&self, words: usize) -> Result<HostBuffer> {
        HostBuffer::zeroed(words)
    }

    /// Multiplies lane by lane, keeping the full product: `c[i] = a[i]·b[i]`.
    ///
    /// | operand | lanes    | bits a lane |
    /// |---------|----------|-------------|
    /// | `a`     | `n` or 1 | `p`         |
    /// | `b`     | `n` or 1 | `q`         |
    /// | result  | `n`      | `p + q`     |
    ///
    /// An operand with one lane multiplies every lane of the other. `1 ≤ p, q ≤ 65536`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the lanes differ and neither is 1; [`Error::TooWide`] above 65536
    /// bits; nothing was launched.
    /// [`Error::OutOfMemory`] if operands and result do not fit even in chunks.
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
        let mut out = match options.into {
            None => HostBuffer::zeroed(shape.words())?,
            Some(buffer) if buffer.len() == shape.words() => buffer,
            Some(buffer) => {
                let (lanes, bits) = (shape.lanes, shape.bits);
                let (expected_limbs, found_limbs) = (shape.words(), buffer.len());
                return Err(Error::LimbCount { lanes, bits, expected_limbs, found_limbs });
            }
        };
        let run = self.engine.mul(a, b, options.algorithm.as_deref(), out.as_mut_slice())?;
        let report = Report {
            op: "mul",
            bits_a: a.bits(),
            bits_b: b.bits(),
            lanes: shape.lanes,
            device: self.info.name.clone(),
            algorithm: run.algorithm,
            kernel: run.kernel,
            total: start.elapsed(),
            bytes: a.shape().bytes() + b.shape().bytes() + shape.bytes(),
        };
        Ok((Batch::trusted(shape, out), report))
    }
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
