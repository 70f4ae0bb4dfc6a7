//! Batches that stay where the session computes.

use std::time::Instant;

use super::{Engine, Session};
use warpmp_device::Buffer;

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::gpu::Direction;
use crate::memory::{DeviceBatch, HostBuffer, Place};
use crate::operation::Operation;
use crate::report::{Report, Run};

impl Session {
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

    /// A batch from memory of the device: rows of limbs, `stride` words from row to row. On a GPU it returns when the copy is
    /// queued.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] if the rows are not in the memory; [`Error::ForeignBatch`] on the CPU.
    pub fn copy_from(&self, memory: &Buffer, stride: usize, shape: Shape) -> Result<DeviceBatch> {
        let Engine::Gpu(engine) = &self.engine else { return Err(Error::ForeignBatch) };
        let batch = self.reserve(shape)?;
        engine.copy_rows(shape, memory, stride, &batch, Direction::In)?;
        Ok(batch)
    }

    /// Copies a batch to memory of the device: rows of limbs, `stride` words from row to row. The words of the memory between
    /// the rows become zero. On a GPU it returns when the copy is queued.
    ///
    /// # Errors
    /// [`Error::Device`] if the rows are not in the memory; [`Error::ForeignBatch`].
    pub fn copy_to(&self, batch: &DeviceBatch, memory: &Buffer, stride: usize) -> Result<()> {
        let Engine::Gpu(engine) = &self.engine else { return Err(Error::ForeignBatch) };
        engine.copy_rows(batch.shape, memory, stride, batch, Direction::Out)
    }

    /// Waits until this session has done all operations and copies on batches that stay on the GPU. Call it before another
    /// library reads the memory of a batch. It does not wait for other sessions. On the CPU and on the simulator every call
    /// does its work before it returns, so this returns at once.
    ///
    /// # Errors
    /// [`Error::Device`], of operations before.
    pub fn wait(&self) -> Result<()> {
        match &self.engine {
            Engine::Cpu(_) => Ok(()),
            Engine::Gpu(engine) => engine.wait(),
        }
    }

    /// [`Session::mul`] of batches that stay where the session computes; no transfers. On a GPU it
    /// returns when the work is queued: later operations and [`Session::download`] wait for it.
    ///
    /// # Errors
    /// As [`Session::mul`], but the batches must fit in the device's memory as a whole;
    /// [`Error::ForeignBatch`].
    pub fn mul_device(&self, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
        Ok(self.apply_device(Operation::Mul, &[a, b])?.remove(0))
    }

    /// [`Session::sqr`] of a batch that stays where the session computes, as [`Session::mul_device`].
    ///
    /// # Errors
    /// As [`Session::mul_device`].
    pub fn sqr_device(&self, a: &DeviceBatch) -> Result<DeviceBatch> {
        Ok(self.apply_device(Operation::Sqr, &[a])?.remove(0))
    }

    /// Does any operation on batches that stay where the session computes, as [`Session::mul_device`]. The results are
    /// those of [`Session::apply`]; where the operation has statuses, they come last.
    ///
    /// ```
    /// use warpmp::{Batch, Operation, Session, Status, Statuses};
    ///
    /// let session = Session::cpu();
    /// let a = session.upload(&Batch::from_u64s(&[3, 4]))?;
    /// let m = session.upload(&Batch::from_u64s(&[10]))?;
    /// let results = session.apply_device(Operation::InvMod, &[&a, &m])?;
    /// assert_eq!(session.download(&results[0])?.to_u64(0), Some(7));
    /// let statuses = Statuses::new(session.download(&results[1])?)?;
    /// assert_eq!(statuses.lane(1), Some(Status::NoInverse));
    /// # Ok::<(), warpmp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::mul_device`].
    pub fn apply_device(&self, operation: Operation, operands: &[&DeviceBatch]) -> Result<Vec<DeviceBatch>> {
        let results = operation.results(&shapes(operands))?;
        let into = results.into_iter().map(|shape| self.reserve(shape)).collect::<Result<_>>()?;
        Ok(self.run_device(operation, operands, None, into, false)?.0)
    }

    /// Does [`Session::apply_device`] with operands of these shapes queue its work and return at once? True on a GPU if the
    /// kernels are loaded: the session keeps those of the last 64 operations and shapes. False on a GPU if the driver must
    /// compile or load them first, and always on the CPU and on the simulator, which do the work during the call.
    pub fn only_queues(&self, operation: Operation, operands: &[Shape]) -> bool {
        match &self.engine {
            Engine::Cpu(_) => false,
            Engine::Gpu(engine) => engine.only_queues(operation, operands),
        }
    }

    /// Loads the kernels of [`Session::apply_device`] with operands of these shapes, so that it [only queues](Session::only_queues) its
    /// work. Several threads can load kernels at the same time: a driver compiles them in parallel. On the CPU it does nothing.
    ///
    /// # Errors
    /// As [`Session::apply_device`].
    pub fn prepare(&self, operation: Operation, operands: &[Shape]) -> Result<()> {
        match &self.engine {
            Engine::Cpu(_) => operation.results(operands).map(drop),
            Engine::Gpu(engine) => engine.prepare(operation, operands),
        }
    }

    /// [`Session::apply_device`] by the algorithm of this name, if any, into memory from [`Session::reserve`] or
    /// results to be overwritten, waiting for the end and reporting the kernels' time.
    ///
    /// # Errors
    /// As [`Session::mul_device`] and [`Session::apply`]; [`Error::ResultShape`] unless `into` has the
    /// results' shapes.
    pub fn apply_device_into(
        &self,
        operation: Operation,
        operands: &[&DeviceBatch],
        algorithm: Option<&str>,
        into: Vec<DeviceBatch>,
    ) -> Result<(Vec<DeviceBatch>, Report)> {
        let start = Instant::now();
        let (results, run) = self.run_device(operation, operands, algorithm, into, true)?;
        let report = self.report(
            operation,
            &shapes(operands),
            &results.iter().map(DeviceBatch::shape).collect::<Vec<_>>(),
            run,
            start,
        );
        Ok((results, report))
    }

    /// Zeros where the session computes, without a transfer.
    ///
    /// # Errors
    /// As [`Session::reserve`].
    pub fn zeros(&self, shape: Shape) -> Result<DeviceBatch> {
        let zeros = self.reserve(shape)?;
        if let Engine::Gpu(engine) = &self.engine {
            engine.clear(&zeros)?;
        }
        Ok(zeros)
    }

    /// Memory for a result of this shape where the session computes. Its content is unknown.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::ZeroBits`].
    pub fn reserve(&self, shape: Shape) -> Result<DeviceBatch> {
        shape.check(shape.words())?;
        match &self.engine {
            Engine::Cpu(_) => Ok(DeviceBatch { shape, place: Place::Host(HostBuffer::zeroed(shape.words())?) }),
            Engine::Gpu(engine) => engine.reserve(shape),
        }
    }

    /// Copies lanes, from lane `first` on, to all lanes of another batch as wide, both where the session computes.
    ///
    /// # Errors
    /// [`Error::ResultShape`] unless `from` has these lanes and the width of `into`; [`Error::ForeignBatch`];
    /// [`Error::Device`].
    pub fn copy_lanes(&self, from: &DeviceBatch, first: usize, mut into: DeviceBatch) -> Result<DeviceBatch> {
        let lanes = into.shape.lanes;
        self.copy_some(from, first, &mut into, 0, lanes)?;
        Ok(into)
    }

    /// Copies all lanes of a batch to the lanes of another batch as wide, from its lane `first` on, both where the session computes.
    ///
    /// ```
    /// use warpmp::{Batch, Session, Shape};
    ///
    /// let session = Session::cpu();
    /// let [one, two] = [&[1, 2, 3][..], &[4, 5]].map(|it| session.upload(&Batch::from_u64s(it)));
    /// let mut both = session.reserve(Shape::new(5, 64))?;
    /// session.copy_lanes_to(&one?, &mut both, 0)?;
    /// session.copy_lanes_to(&two?, &mut both, 3)?;
    /// assert_eq!(session.download(&both)?, Batch::from_u64s(&[1, 2, 3, 4, 5]));
    /// # Ok::<(), warpmp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ResultShape`] unless `into` has these lanes and the width of `from`; [`Error::ForeignBatch`];
    /// [`Error::Device`].
    pub fn copy_lanes_to(&self, from: &DeviceBatch, into: &mut DeviceBatch, first: usize) -> Result<()> {
        self.copy_some(from, 0, into, first, from.shape.lanes)
    }

    /// Copies limbs of all lanes, from limb `first` on, to all limbs of another batch with as many lanes, both where the session computes.
    ///
    /// ```
    /// use warpmp::{Batch, Session, Shape};
    ///
    /// let session = Session::cpu();
    /// let batch = session.upload(&Batch::from_u64s(&[7, 3 << 32 | 5]))?;
    /// let upper = session.copy_limbs(&batch, 1, session.reserve(Shape::new(2, 32))?)?;
    /// assert_eq!(session.download(&upper)?, Batch::from_limbs(Shape::new(2, 32), vec![0, 3])?);
    /// # Ok::<(), warpmp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ResultShape`] unless `into` has the lanes of `from`, whole limbs, and not more limbs than `from` has from `first` on;
    /// [`Error::ForeignBatch`]; [`Error::Device`].
    pub fn copy_limbs(&self, from: &DeviceBatch, first: usize, mut into: DeviceBatch) -> Result<DeviceBatch> {
        let (source, target) = (from.shape, into.shape);
        let limbs = source.limbs().saturating_sub(first);
        if source.lanes != target.lanes || target.limbs() > limbs || !target.bits.is_multiple_of(32) {
            return Err(Error::ResultShape {
                expected_lanes: source.lanes,
                expected_bits: target.bits.next_multiple_of(32).min(32 * limbs),
                found_lanes: target.lanes,
                found_bits: target.bits,
            });
        }
        match &self.engine {
            Engine::Cpu(_) => {
                let from = from.on_host()?;
                let rows = from.limbs().chunks_exact(source.limbs());
                for (row, from) in into.host_words()?.chunks_exact_mut(target.limbs()).zip(rows) {
                    row.copy_from_slice(&from[first..][..target.limbs()]);
                }
            }
            Engine::Gpu(engine) => engine.copy_limbs(from, first, &into)?,
        }
        Ok(into)
    }

    /// Copies `lanes` lanes, from lane `first` of `from` to lane `at` of `into`.
    fn copy_some(
        &self,
        from: &DeviceBatch,
        first: usize,
        into: &mut DeviceBatch,
        at: usize,
        lanes: usize,
    ) -> Result<()> {
        let (source, target) = (from.shape, into.shape);
        let has = |shape: Shape, first: usize| shape.lanes >= first.saturating_add(lanes);
        if source.bits != target.bits || !has(source, first) || !has(target, at) {
            return Err(Error::ResultShape {
                expected_lanes: source.lanes.saturating_sub(first),
                expected_bits: source.bits,
                found_lanes: target.lanes.saturating_sub(at),
                found_bits: target.bits,
            });
        }
        let [first, at, words] = [first, at, lanes].map(|lanes| lanes * source.limbs());
        match &self.engine {
            Engine::Cpu(_) => {
                let from = from.on_host()?;
                into.host_words()?[at..][..words].copy_from_slice(&from.limbs()[first..][..words]);
            }
            Engine::Gpu(engine) => engine.copy_words(from, first, into, at, words)?,
        }
        Ok(())
    }

    fn run_device(
        &self,
        operation: Operation,
        operands: &[&DeviceBatch],
        algorithm: Option<&str>,
        mut into: Vec<DeviceBatch>,
        timed: bool,
    ) -> Result<(Vec<DeviceBatch>, Run)> {
        let results = operation.results(&shapes(operands))?;
        if into.len() != results.len() {
            return Err(Error::ResultCount { operation, expected: results.len(), found: into.len() });
        }
        for (expected, found) in results.iter().zip(&into) {
            if found.shape != *expected {
                return Err(Error::ResultShape {
                    expected_lanes: expected.lanes,
                    expected_bits: expected.bits,
                    found_lanes: found.shape.lanes,
                    found_bits: found.shape.bits,
                });
            }
        }
        match &self.engine {
            _ if results[0].lanes == 0 => Ok((into, Run::default())),
            Engine::Cpu(engine) => {
                let operands = operands.iter().map(|it| it.on_host()).collect::<Result<Vec<_>>>()?;
                let words = into.iter_mut().map(DeviceBatch::host_words).collect::<Result<_>>()?;
                let run = engine.apply(operation, &operands.iter().collect::<Vec<_>>(), &results, algorithm, words)?;
                Ok((into, run))
            }
            Engine::Gpu(engine) => engine.apply_device(operation, operands, algorithm, into, timed),
        }
    }
}

fn shapes(batches: &[&DeviceBatch]) -> Vec<Shape> {
    batches.iter().map(|batch| batch.shape).collect()
}
