//! A candidate's time on a GPU. Its results are checked first, some lanes spread over the whole batch.

use std::{sync::Arc, time::Instant};

use rayon::prelude::*;
use warpmp::{
    Batch, DeviceBatch, Error as LibraryError, Operation, Plan, Session, Shape,
    device::{self, Device, Stream},
    kernels::Settings,
    operation::Role,
    tuning::{Candidate, Table, operands},
};

use super::{helpers::Helpers, search::Bench};
use crate::{
    args::Pattern,
    commands::{check, pattern},
    error::{Error, Result},
    interrupt,
};

/// Lanes of a candidate's results that are checked.
const CHECKED: u64 = 16;

/// Random words that operands are cut from: as many as the largest operand has, and some.
const WORDS: usize = (1 << 28) + SHIFT * 8;

/// Words from one operand's first limb to the next one's.
const SHIFT: usize = 1021;

/// What results are before a candidate's first run.
const UNWRITTEN: u32 = 0xDEAD_BEEF;

/// Of the time for compiling, what the helpers may have alone.
const HELPED: f64 = 0.8;

/// Kernels that are compiled at a time.
const TOGETHER: usize = 16;

/// The GPU, and what is measured on it.
pub(super) struct Gpu {
    session: Session,
    device: Arc<dyn Device>,
    stream: Stream,
    random: Random,
    helpers: Helpers,
    batch: Option<Filled>,
    notes: Vec<String>,
    /// Kernels with wrong results.
    wrong: Vec<String>,
    unusable: Vec<String>,
}

/// Random limbs, which all operands are cut from: making a gigabyte of them takes longer than most batches.
#[derive(Default)]
struct Random {
    words: Vec<u32>,
}

/// A batch made ready.
struct Filled {
    operation: Operation,
    /// Lanes to be checked, and the operands' limbs there.
    sample: Vec<(usize, Vec<Vec<u32>>)>,
    operands: Vec<DeviceBatch>,
    results: Vec<DeviceBatch>,
    /// The results of the lanes to be checked, once a candidate's were right.
    right: Option<Vec<Vec<Vec<u32>>>>,
    /// Kernels whose results were right.
    checked: Vec<String>,
}

impl Gpu {
    pub(super) fn new(session: Session, helpers: Helpers) -> Result<Self> {
        let device = session.device().cloned().ok_or(Error::Bug)?;
        let stream = device.stream().map_err(LibraryError::from)?;
        let random = Random::default();
        let (batch, notes, wrong, unusable) = (None, vec![], vec![], vec![]);
        Ok(Self { session, device, stream, random, helpers, batch, notes, wrong, unusable })
    }

    /// The operands of the lanes that are checked.
    #[cfg(test)]
    pub(super) fn sample(&self) -> Vec<Vec<(Vec<u32>, usize)>> {
        let batch = self.batch.as_ref().unwrap();
        let sized = |rows: &Vec<Vec<u32>>| {
            rows.iter().zip(&batch.operands).map(|(row, operand)| (row.clone(), operand.shape().bits)).collect()
        };
        batch.sample.iter().map(|(_, rows)| sized(rows)).collect()
    }

    /// Takes other operands for those that were sampled.
    #[cfg(test)]
    pub(super) fn spoil(&mut self) {
        for (_, operands) in self.batch.iter_mut().flat_map(|batch| &mut batch.sample) {
            operands[0][0] ^= 1;
        }
    }

    /// Leaves a candidate out, if the error is its own.
    fn leave_out(&mut self, kernel: &str, error: Error) -> Result<()> {
        match &error {
            Error::WrongResult(_) => self.wrong.push(kernel.to_owned()),
            Error::Library(LibraryError::OutOfMemory { .. }) => {}
            Error::Library(LibraryError::Device(
                device::Error::KernelRefused { .. }
                | device::Error::KernelTooNew { .. }
                | device::Error::GridLimit { .. }
                | device::Error::SharedMemory { .. }
                | device::Error::Driver { .. },
            )) => self.unusable.push(kernel.to_owned()),
            _ => return Err(error),
        }
        let reason = error.to_string();
        self.notes.push(format!("{kernel}: {}", reason.lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Memory for the results, if a candidate that failed has lost it. Without it none can run: no candidate's error.
    fn have_results(&mut self) -> Result<()> {
        let batch = self.batch.as_mut().ok_or(Error::Bug)?;
        if batch.results.is_empty() {
            let operands: Vec<Shape> = batch.operands.iter().map(DeviceBatch::shape).collect();
            let results = batch.operation.results(&operands)?;
            batch.results = results.into_iter().map(|it| self.session.reserve(it)).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Runs a candidate, and compares some of its results if that was not done yet.
    fn run(&mut self, candidate: &Candidate, runs: usize) -> Result<Vec<f64>> {
        let batch = self.batch.as_mut().ok_or(Error::Bug)?;
        let architecture = self.device.info().capability;
        self.session.set_table(Table::of_one(batch.operation, architecture, candidate));
        let operands: Vec<&DeviceBatch> = batch.operands.iter().collect();
        let mut times = Vec::with_capacity(runs);
        if !batch.checked.contains(&candidate.kernel) {
            // The results of the candidate before must not pass for its own.
            for result in &batch.results {
                let buffer = result.buffer().ok_or(Error::Bug)?;
                let words = result.shape().words();
                self.device.fill(&self.stream, buffer, 0, UNWRITTEN, words).map_err(LibraryError::from)?;
            }
            self.device.synchronize(&self.stream).map_err(LibraryError::from)?;
        }
        for _ in 0..runs {
            interrupt::check()?;
            let into = std::mem::take(&mut batch.results);
            match self.session.apply_device_into(batch.operation, &operands, None, into) {
                Ok((results, report)) => {
                    batch.results = results;
                    times.push(report.kernel.as_secs_f64());
                }
                Err(error) => return Err(error.into()),
            }
        }
        if !batch.checked.contains(&candidate.kernel) {
            batch.check(self.device.as_ref(), &self.stream)?;
            batch.checked.push(candidate.kernel.clone());
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}

impl Random {
    /// Random numbers of a shape, the `number`-th operand of a batch, such that no lane is at fault.
    fn operand(&mut self, shape: Shape, number: usize, role: Role) -> Result<Batch<'_>> {
        let needed = shape.words() + SHIFT * number;
        if !shape.bits.is_multiple_of(32) || needed > WORDS {
            let mut limbs = pattern::operands(Pattern::Random, shape, 0, number as u64 + 1)?.into_limbs();
            pattern::make_valid(role, shape, &mut limbs);
            return Ok(Batch::from_limbs(shape, limbs)?);
        }
        if self.words.len() < needed {
            let grown = needed.next_power_of_two().min(WORDS).max(needed);
            self.words = pattern::operands(Pattern::Random, Shape::new(grown, 32), 0, 1)?.into_limbs();
        }
        let words = &self.words[SHIFT * number..needed];
        if pattern::is_bound(role) {
            let mut limbs = words.to_vec();
            pattern::make_valid(role, shape, &mut limbs);
            return Ok(Batch::from_limbs(shape, limbs)?);
        }
        Ok(Batch::borrow(shape, words)?)
    }
}

impl Filled {
    /// Compares the sampled lanes with num-bigint, or with results that were found right: of long numbers the other
    /// library's take longer than all candidates'.
    fn check(&mut self, device: &dyn Device, stream: &Stream) -> Result<()> {
        let mut found: Vec<Vec<Vec<u32>>> = Vec::new();
        for (lane, _) in &self.sample {
            let mut rows = Vec::new();
            for result in &self.results {
                let mut row = vec![0; result.shape().limbs()];
                let buffer = result.buffer().ok_or(Error::Bug)?;
                device.download(stream, buffer, lane * row.len(), &mut row).map_err(LibraryError::from)?;
                rows.push(row);
            }
            found.push(rows);
        }
        if self.right.as_ref() == Some(&found) {
            return Ok(());
        }
        let bits = |batches: &[DeviceBatch]| batches.iter().map(|it| it.shape().bits).collect::<Vec<usize>>();
        let (operand_bits, result_bits) = (bits(&self.operands), bits(&self.results));
        let sized =
            |rows: &[Vec<u32>], bits: &[usize]| rows.iter().cloned().zip(bits.iter().copied()).collect::<Vec<_>>();
        let operation = self.operation;
        let wrong = self.sample.par_iter().zip(&found).find_map_first(|((lane, operands), rows)| {
            let (operands, rows) = (sized(operands, &operand_bits), sized(rows, &result_bits));
            check::compare(operation, *lane as u64, &check::borrowed(&operands), &check::borrowed(&rows)).err()
        });
        if let Some(error) = wrong {
            return Err(error.into());
        }
        self.right = Some(found);
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
    ) -> Result<Vec<Candidate>> {
        let shapes = operands(operation, bits, 1);
        let device = Arc::clone(&self.device);
        let load = |candidate: &Candidate| -> Result<()> {
            let table = Table::of_one(operation, device.info().capability, candidate);
            let plan = Plan::new(operation, &shapes, device.info(), &table, None)?;
            for kernel in plan.kernels() {
                device.load(&kernel).map_err(LibraryError::from)?;
            }
            Ok(())
        };
        // What they have compiled is loaded in no time.
        let left = until.saturating_duration_since(Instant::now());
        self.helpers.wait(operation, bits, Instant::now() + left.mul_f64(HELPED))?;
        let mut loaded = Vec::new();
        let mut faults = Vec::new();
        for some in candidates.chunks(TOGETHER) {
            interrupt::check()?;
            let due = |it: &&Candidate| it.settings == Settings::default() || Instant::now() < until;
            let some: Vec<&Candidate> = some.iter().filter(due).collect();
            // A driver may compile several kernels at a time.
            let outcomes: Vec<Result<()>> = some.par_iter().map(|it| load(it)).collect();
            for (candidate, outcome) in some.into_iter().zip(outcomes) {
                match outcome {
                    Ok(()) => loaded.push(candidate.clone()),
                    Err(_) => faults.push(candidate.clone()),
                }
            }
        }
        // What failed beside others may not fail alone: the compiler runs out of the host's memory.
        for candidate in faults {
            match load(&candidate) {
                Ok(()) => loaded.push(candidate),
                Err(error) => self.leave_out(&candidate.kernel, error)?,
            }
        }
        Ok(loaded)
    }

    fn fill(&mut self, operation: Operation, bits: usize, lanes: usize) -> Result<()> {
        // First the memory of the batch before.
        self.batch = None;
        let shapes = operands(operation, bits, lanes);
        let places = check::spread(CHECKED.min(lanes as u64), lanes);
        let mut sample: Vec<(usize, Vec<Vec<u32>>)> = places.into_iter().map(|lane| (lane, Vec::new())).collect();
        let mut resident = Vec::new();
        for (number, (shape, operand)) in shapes.iter().zip(operation.operands()).enumerate() {
            let host = self.random.operand(*shape, number, operand.role)?;
            for (lane, rows) in &mut sample {
                rows.push(host.lane(*lane).ok_or(Error::Bug)?.to_vec());
            }
            resident.push(self.session.upload(&host)?);
        }
        let (results, checked) = (Vec::new(), Vec::new());
        self.batch = Some(Filled { operation, sample, operands: resident, results, right: None, checked });
        self.have_results()
    }

    fn free_bytes(&self) -> Result<u64> {
        // Half of it: algorithms may need scratch memory.
        Ok(self.device.free_bytes().map_err(LibraryError::from)? / 2)
    }

    fn time(&mut self, candidate: &Candidate, runs: usize) -> Result<Option<Vec<f64>>> {
        let out = |names: &[String]| names.contains(&candidate.kernel);
        if out(&self.wrong) || out(&self.unusable) {
            return Ok(None);
        }
        self.have_results()?;
        match self.run(candidate, runs) {
            Ok(times) => Ok(Some(times)),
            Err(error) => self.leave_out(&candidate.kernel, error).map(|()| None),
        }
    }

    fn faults(&mut self) -> (Vec<String>, usize) {
        (std::mem::take(&mut self.notes), self.wrong.len())
    }
}
