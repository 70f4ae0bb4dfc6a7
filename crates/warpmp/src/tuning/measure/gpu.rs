//! A candidate's time on a GPU. Its results are checked first, on some lanes spread over the whole batch.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use warpmp_device::{Device, Stream};

use super::{Bench, Watch, check};
use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::memory::DeviceBatch;
use crate::operation::{Operation, Role};
use crate::plan::Plan;
use crate::session::{Options, Session};
use crate::tuning::{Candidate, Table, is_bound, make_valid, operands};

/// Lanes of a candidate's results that are checked.
const CHECKED: usize = 16;

/// The pool has at most this many random words: the words of the largest operand, and some more.
const WORDS: usize = (1 << 28) + SHIFT * 8;

/// Words from one operand's first limb to the next one's.
const SHIFT: usize = 1021;

/// The results before a candidate's first run.
const UNWRITTEN: u32 = 0xDEAD_BEEF;

/// The share of the time for compiling that the caller's [`Watch::prepare`] has.
const PREPARED: f64 = 0.8;

/// Kernels that are compiled at a time.
const TOGETHER: usize = 16;

/// The GPU, and what is measured on it.
pub(super) struct Gpu {
    session: Session,
    device: Arc<dyn Device>,
    stream: Stream,
    random: Random,
    batch: Option<Filled>,
    notes: Vec<String>,
    /// Kernels with wrong results.
    wrong: Vec<String>,
    unusable: Vec<String>,
}

/// Random limbs. All operands are cut from them: to make a gigabyte of them takes longer than most batches.
#[derive(Default)]
struct Random {
    words: Vec<u32>,
}

/// A batch made ready.
struct Filled {
    operation: Operation,
    /// The lanes that are checked.
    sample: Vec<usize>,
    /// Their results by the CPU engine: for each result the rows one after the other.
    right: Vec<Vec<u32>>,
    operands: Vec<DeviceBatch>,
    results: Vec<DeviceBatch>,
    /// Kernels whose results were right.
    checked: Vec<String>,
}

/// Why a candidate has no time.
enum Fault {
    /// Its results are wrong.
    Wrong(String),
    Failed(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<warpmp_device::Error> for Fault {
    fn from(error: warpmp_device::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Gpu {
    pub(super) fn new(session: Session) -> Result<Self> {
        let device = session.device().cloned().ok_or(Error::NoDevice)?;
        let stream = device.stream()?;
        let (batch, notes, wrong, unusable) = (None, vec![], vec![], vec![]);
        Ok(Self { session, device, stream, random: Random::default(), batch, notes, wrong, unusable })
    }

    /// The right results of the lanes that are checked.
    #[cfg(test)]
    pub(super) fn right(&mut self) -> &mut Vec<Vec<u32>> {
        &mut self.batch.as_mut().unwrap().right
    }

    /// Leaves a candidate out, if the fault is its own.
    fn leave_out(&mut self, kernel: &str, fault: Fault) -> Result<()> {
        use warpmp_device::Error as D;
        let reason = match fault {
            Fault::Wrong(reason) => {
                self.wrong.push(kernel.to_owned());
                reason
            }
            Fault::Failed(error) => {
                match &error {
                    Error::OutOfMemory { .. } => {}
                    Error::Device(
                        D::KernelRefused { .. }
                        | D::KernelTooNew { .. }
                        | D::GridLimit { .. }
                        | D::SharedMemory { .. }
                        | D::Driver { .. },
                    ) => self.unusable.push(kernel.to_owned()),
                    _ => return Err(error),
                }
                error.to_string()
            }
        };
        self.notes.push(format!("{kernel}: {}", reason.lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Loads a candidate's kernels.
    fn load_one(&self, operation: Operation, shapes: &[Shape], candidate: &Candidate) -> Result<()> {
        let info = self.device.info();
        let table = Table::of_one(operation, info.capability, candidate);
        let register = self.session.register().ok_or(Error::NoDevice)?;
        let plan = Plan::with_register(operation, shapes, info, (&table, register), None)?;
        plan.kernels().iter().try_for_each(|kernel| Ok(self.device.load(kernel).map(|_| ())?))
    }

    /// Memory for the results, if a candidate that failed has lost it. Without it no candidate can run, so the error is
    /// no candidate's.
    fn have_results(&mut self) -> Result<()> {
        if let Some(batch) = self.batch.as_mut().filter(|batch| batch.results.is_empty()) {
            let shapes: Vec<Shape> = batch.operands.iter().map(DeviceBatch::shape).collect();
            let results = batch.operation.results(&shapes)?;
            batch.results = results.into_iter().map(|it| self.session.reserve(it)).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Runs a candidate, and compares some of its results if that was not done yet.
    fn run(&mut self, candidate: &Candidate, runs: usize, watch: &dyn Watch) -> Result<Vec<f64>, Fault> {
        let Some(batch) = &mut self.batch else { return Ok(Vec::new()) };
        self.session.set_table(Table::of_one(batch.operation, self.device.info().capability, candidate));
        let operands: Vec<&DeviceBatch> = batch.operands.iter().collect();
        let is_new = !batch.checked.contains(&candidate.kernel);
        if is_new {
            // The results of the candidate before must not pass for its own.
            for result in &batch.results {
                let buffer = result.buffer().ok_or(Error::ForeignBatch)?;
                self.device.fill(&self.stream, buffer, 0, UNWRITTEN, result.shape().words())?;
            }
            self.device.synchronize(&self.stream)?;
        }
        let mut times = Vec::with_capacity(runs);
        for _ in 0..runs {
            check(watch)?;
            let into = std::mem::take(&mut batch.results);
            let (results, report) = self.session.apply_device_into(batch.operation, &operands, None, into)?;
            batch.results = results;
            times.push(report.kernel.as_secs_f64());
        }
        if is_new {
            batch.compare(self.device.as_ref(), &self.stream)?;
            batch.checked.push(candidate.kernel.clone());
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}

impl Random {
    /// Random numbers of a shape, the `number`-th operand of a batch. No lane is at fault.
    fn operand(&mut self, shape: Shape, number: usize, role: Role) -> Result<Batch<'_>> {
        let start = SHIFT * number;
        let end = (start + shape.words()).min(WORDS);
        if self.words.len() < end {
            self.words = random_words(end.next_power_of_two().min(WORDS));
        }
        if shape.bits.is_multiple_of(32) && !is_bound(role) && end == start + shape.words() {
            return Batch::borrow(shape, &self.words[start..end]);
        }
        let mut limbs: Vec<u32> = self.words[start..].iter().copied().cycle().take(shape.words()).collect();
        if !shape.bits.is_multiple_of(32) {
            let mask = (1 << (shape.bits % 32)) - 1;
            limbs.par_chunks_exact_mut(shape.limbs()).for_each(|lane| lane[shape.limbs() - 1] &= mask);
        }
        make_valid(role, shape, &mut limbs);
        Batch::from_limbs(shape, limbs)
    }
}

/// Random words, always the same ones: Steele, Lea and Flood's `SplitMix64` (2014), a counter and a mixing function.
fn random_words(count: usize) -> Vec<u32> {
    let word = |number: usize| {
        let mut z = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as u32
    };
    (0..count).into_par_iter().with_min_len(1 << 16).map(word).collect()
}

impl Filled {
    /// Compares the sampled lanes.
    fn compare(&self, device: &dyn Device, stream: &Stream) -> Result<(), Fault> {
        for (result, right) in self.results.iter().zip(&self.right) {
            let mut row = vec![0; result.shape().limbs()];
            let buffer = result.buffer().ok_or(Error::ForeignBatch)?;
            for (&lane, right) in self.sample.iter().zip(right.chunks_exact(row.len())) {
                device.download(stream, buffer, lane * row.len(), &mut row)?;
                if row != right {
                    return Err(Fault::Wrong(format!("lane {lane}: the {} is wrong", self.operation)));
                }
            }
        }
        Ok(())
    }
}

impl Bench for Gpu {
    fn load(
        &mut self,
        operation: Operation,
        bits: usize,
        candidates: Vec<Candidate>,
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Candidate>> {
        let shapes = operands(operation, bits, 1);
        // The driver loads kernels from its cache in no time.
        let left = until.saturating_duration_since(Instant::now());
        watch.prepare(operation, bits, Instant::now() + left.mul_f64(PREPARED));
        let mut loaded = Vec::new();
        let mut faults = Vec::new();
        for some in candidates.chunks(TOGETHER) {
            check(watch)?;
            let some: Vec<&Candidate> = some.iter().filter(|it| it.is_due(until)).collect();
            // A driver may compile several kernels at a time.
            let outcomes: Vec<Result<()>> = some.par_iter().map(|it| self.load_one(operation, &shapes, it)).collect();
            for (candidate, outcome) in some.into_iter().zip(outcomes) {
                let list = if outcome.is_ok() { &mut loaded } else { &mut faults };
                list.push(candidate.clone());
            }
        }
        // A kernel that failed beside others may not fail alone: the compiler runs out of the host's memory.
        for candidate in faults {
            match self.load_one(operation, &shapes, &candidate) {
                Ok(()) => loaded.push(candidate),
                Err(error) => self.leave_out(&candidate.kernel, Fault::Failed(error))?,
            }
        }
        Ok(loaded)
    }

    fn fill(&mut self, operation: Operation, bits: usize, lanes: usize) -> Result<()> {
        // The memory of the batch before is free now.
        self.batch = None;
        let count = CHECKED.min(lanes);
        let sample: Vec<usize> = (0..count).map(|k| k * (lanes - 1) / (count - 1).max(1)).collect();
        let mut resident = Vec::new();
        let mut sampled = Vec::new();
        for (number, (shape, operand)) in
            operands(operation, bits, lanes).into_iter().zip(operation.operands()).enumerate()
        {
            let host = self.random.operand(shape, number, operand.role)?;
            let rows = sample.iter().filter_map(|&lane| host.lane(lane)).flatten().copied().collect();
            sampled.push(Batch::from_limbs(Shape { lanes: count, ..shape }, rows)?);
            resident.push(self.session.upload(&host)?);
        }
        let sampled: Vec<&Batch> = sampled.iter().collect();
        let (right, _) = Session::cpu().apply(operation, &sampled, Options::new())?;
        let right = right.into_iter().map(Batch::into_limbs).collect();
        let (results, checked) = (Vec::new(), Vec::new());
        self.batch = Some(Filled { operation, sample, right, operands: resident, results, checked });
        self.have_results()
    }

    fn free_bytes(&self) -> Result<u64> {
        // Half of it: algorithms may need scratch memory.
        Ok(self.device.free_bytes()? / 2)
    }

    fn time(&mut self, candidate: &Candidate, runs: usize, watch: &dyn Watch) -> Result<Option<Vec<f64>>> {
        let out = |names: &[String]| names.contains(&candidate.kernel);
        if out(&self.wrong) || out(&self.unusable) {
            return Ok(None);
        }
        self.have_results()?;
        match self.run(candidate, runs, watch) {
            Ok(times) => Ok(Some(times)),
            Err(fault) => self.leave_out(&candidate.kernel, fault).map(|()| None),
        }
    }

    fn faults(&mut self) -> (Vec<String>, usize) {
        (std::mem::take(&mut self.notes), self.wrong.len())
    }
}
