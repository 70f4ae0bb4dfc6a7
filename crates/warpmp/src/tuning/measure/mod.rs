//! The search: which candidates are measured, in which order and how often.
//!
//! ```text
//! mod.rs  the search
//! gpu.rs  a candidate's time on a GPU; its results are checked first
//! ```
//!
//! The driver compiles a kernel in up to a second, so the widths share the time. At each width the search compiles the
//! default settings of every algorithm, then as many others as the width's share allows. At each batch count every
//! candidate runs twice, and the candidates near the fastest run more often. A candidate that takes long and cannot win,
//! by its times for fewer lanes or narrower operands, is left out. A batch has as many lanes as a short time allows:
//! powers of large numbers have a few thousand, and then the search goes to no larger numbers.

mod gpu;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use warpmp_device::DeviceInfo;

use super::{Candidate, Grid, Timing, operands};
use crate::error::{Error, Result};
use crate::kernels::Register;
use crate::operation::{Group, Operation};
use crate::session::Session;
use gpu::Gpu;

/// Watches a search.
pub trait Watch {
    /// Shall the search go on? It asks before every batch and every candidate, and ends with [`Error::Stopped`] after
    /// the first no.
    fn go_on(&self) -> bool {
        true
    }

    /// A share of the search is done, from 0 to 1, with this many measurements.
    fn progress(&self, share: f64, measurements: usize) {
        let _ = (share, measurements);
    }

    /// The search is about to load the kernels of a width, and leaves this thread to the caller until then at most: other
    /// processes may have compiled them into the driver's cache.
    fn prepare(&mut self, operation: Operation, bits: usize, until: Instant) {
        let _ = (operation, bits, until);
    }
}

impl Watch for () {}

/// Asks whether to go on.
fn check(watch: &dyn Watch) -> Result<()> {
    if watch.go_on() { Ok(()) } else { Err(Error::Stopped) }
}

/// Of a width's share of the time, what the compiler may have.
const COMPILING: f64 = 0.6;

/// Candidates that take no more than this, times the fastest, run often.
const NEAR: f64 = 1.25;

/// Times are not told apart below this, in seconds.
const RESOLUTION: f64 = 1e-6;

/// A candidate's runs for one batch shall not take longer together, in seconds; but a few there are.
const PATIENCE: f64 = 0.03;

/// A run that takes longer than this, in seconds, is not much slower for being the first.
const STEADY: f64 = 0.002;
const LEAST_RUNS: usize = 3;

/// Runs that are not counted, of what is expected to be quick.
const WARM_UP: usize = 2;

/// What is expected to take longer than this, in seconds, and so many times the fastest, is left out.
const LONG: f64 = 0.06;
const HOPELESS: f64 = 3.0;

/// The fastest candidate's run shall take no longer than this, in seconds: a batch that would is a smaller one.
const LONGEST: f64 = 0.08;

/// A batch with fewer lanes than this, times those of the one before, tells nothing new.
const MORE: usize = 2;

/// Where the smallest batch of a width takes longer than this, in seconds, the next width would take too long.
const LONGEST_FIRST: f64 = 0.04;

/// Lanes that fill any machine.
const FULL_MACHINE: usize = 10_000;

/// What times candidates.
trait Bench {
    /// Compiles candidates for a width, those with default settings in any case, the others until then; gives
    /// those that can be run.
    fn load(
        &mut self,
        operation: Operation,
        bits: usize,
        candidates: Vec<Candidate>,
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Candidate>>;

    /// Makes ready the operands of a batch; the bytes that are free for it are told by `free_bytes`.
    fn fill(&mut self, operation: Operation, bits: usize, lanes: usize) -> Result<()>;

    /// Bytes of memory for operands and results.
    fn free_bytes(&self) -> Result<u64>;

    /// The seconds of so many runs, shortest first; none if the candidate cannot be used. The first call of a
    /// candidate after [`Bench::fill`] checks its results.
    fn time(&mut self, candidate: &Candidate, runs: usize, watch: &dyn Watch) -> Result<Option<Vec<f64>>>;

    /// What was said about candidates that cannot be used, and how many had wrong results.
    fn faults(&mut self) -> (Vec<String>, usize);
}

/// An operation with the batches to measure it on.
#[derive(Clone, Debug)]
pub struct Work {
    /// The operation.
    pub operation: Operation,
    /// The widths and counts.
    pub grid: Grid,
}

impl Work {
    /// How much of the time a width deserves: products have the most algorithms.
    fn weight(&self) -> u32 {
        if self.operation.group() == Group::Product { 3 } else { 1 }
    }
}

/// A search: what to measure, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Search<'s> {
    /// Operations with their batches.
    pub works: &'s [Work],
    /// The driver compiles and the GPU runs for about this long. A candidate that is not measured by then is left out,
    /// unless it has its algorithm's default settings.
    pub budget: Duration,
    /// Runs of each candidate that may be the fastest.
    pub runs: usize,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Found {
    /// The measurements, in their order: [`table`](super::table) decides by them.
    pub timings: Vec<Timing>,
    /// Measurements that were left out because they would have taken long and could not win.
    pub hopeless: usize,
    /// Why candidates were left out.
    pub notes: Vec<String>,
    /// Candidates with wrong results.
    pub wrong: usize,
    /// How long the search took.
    pub took: Duration,
}

/// The time of an algorithm with its settings, by width and lanes.
type Known = HashMap<(usize, usize, Candidate), f64>;

/// What a search knows, and what it asks.
struct State<'s> {
    known: Known,
    found: Found,
    device: &'s DeviceInfo,
    register: &'s Register,
    watch: &'s mut dyn Watch,
}

impl Search<'_> {
    /// Measures everything on the session's GPU. The results of each kernel are first compared with the results of the
    /// CPU engine, on some lanes of the batch.
    ///
    /// # Errors
    /// [`Error::NoDevice`] for a session on the CPU; [`Error::Stopped`]; an error that no candidate is to blame for.
    pub fn run(self, session: Session, watch: &mut dyn Watch) -> Result<Found> {
        let register = session.register().cloned().unwrap_or_default();
        let device = session.device().ok_or(Error::NoDevice)?.info().clone();
        self.with_bench(&mut Gpu::new(session)?, &device, &register, watch)
    }

    fn with_bench(
        self,
        bench: &mut impl Bench,
        device: &DeviceInfo,
        register: &Register,
        watch: &mut dyn Watch,
    ) -> Result<Found> {
        let start = Instant::now();
        let end = start + self.budget;
        let mut state = State { known: Known::new(), found: Found::default(), device, register, watch };
        let weight = |works: &[Work]| works.iter().map(|it| it.weight() * it.grid.bits.len() as u32).sum::<u32>();
        let all = weight(self.works);
        for (number, work) in self.works.iter().enumerate() {
            state.known.clear();
            let rest = weight(&self.works[number + 1..]);
            for (i, &bits) in work.grid.bits.iter().enumerate() {
                let left = rest + work.weight() * (work.grid.bits.len() - i) as u32;
                let share = end.saturating_duration_since(Instant::now()) * work.weight() / left;
                let step = Step { number: all - left, weight: work.weight(), of: all };
                if !self.width(bench, &mut state, work, bits, share, step)? {
                    break;
                }
            }
        }
        let mut found = state.found;
        (found.notes, found.wrong) = bench.faults();
        found.took = start.elapsed();
        Ok(found)
    }

    /// Measures a width, within its share of the time. Is the next one worth it?
    fn width(
        self,
        bench: &mut impl Bench,
        state: &mut State<'_>,
        work: &Work,
        bits: usize,
        share: Duration,
        step: Step,
    ) -> Result<bool> {
        let operation = work.operation;
        let until = Instant::now() + share.mul_f64(COMPILING);
        let shapes = operands(operation, bits, 1);
        let candidates = state.register.candidates(operation, &shapes, state.device)?;
        let candidates = bench.load(operation, bits, candidates, until, state.watch)?;
        let counts = work.grid.lanes(operation, bits, bench.free_bytes()?);
        let mut done = Vec::new();
        // What the batch before took by the fastest candidate.
        let mut before = None;
        for (i, &lanes) in counts.iter().enumerate() {
            check(state.watch)?;
            let part = (i + 1) as f64 / (counts.len() + 1) as f64;
            state.watch.progress(step.share(part), state.found.timings.len());
            let Some(lanes) = short_enough(lanes, before) else { break };
            done.push(lanes);
            bench.fill(operation, bits, lanes)?;
            let mut times = Self::first_runs(bench, state, bits, &done, &candidates)?;
            self.more_runs(bench, &mut times, state.watch)?;
            before = Some((lanes, times.iter().map(|it| it.1).fold(f64::INFINITY, f64::min)));
            for (candidate, seconds) in times {
                state.known.insert((bits, lanes, candidate.clone()), seconds);
                let Candidate { algorithm, settings, .. } = candidate;
                let algorithm = algorithm.to_owned();
                state.found.timings.push(Timing { operation, bits, lanes, algorithm, settings, seconds });
            }
            if i == 0 && before.is_some_and(|(_, seconds)| seconds > LONGEST_FIRST) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Every candidate twice, but for the slow ones; `counts` ends with the batch's lanes.
    fn first_runs(
        bench: &mut impl Bench,
        state: &mut State<'_>,
        bits: usize,
        counts: &[usize],
        candidates: &[Candidate],
    ) -> Result<Vec<(Candidate, f64)>> {
        let expected: Vec<(f64, f64)> = candidates.iter().map(|it| expected(&state.known, bits, counts, it)).collect();
        let some_take = expected.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        // A GPU that waited for the compiler has to come up to its clock.
        let by_most = |one: &usize, other: &usize| expected[*one].1.total_cmp(&expected[*other].1);
        if let Some(quickest) = (0..candidates.len()).min_by(by_most) {
            bench.time(&candidates[quickest], WARM_UP, state.watch)?;
        }
        let mut fastest = f64::INFINITY;
        let mut times = Vec::new();
        for (candidate, (at_least, _)) in candidates.iter().zip(&expected) {
            check(state.watch)?;
            if *at_least > LONG && *at_least > HOPELESS * some_take {
                state.found.hopeless += 1;
                continue;
            }
            let Some(first) = bench.time(candidate, 1, state.watch)? else { continue };
            let mut seconds = first[0];
            // The first run of a kernel is slower than the next ones.
            if seconds < STEADY
                && let Some(second) = bench.time(candidate, 1, state.watch)?
            {
                seconds = seconds.min(second[0]);
            }
            fastest = fastest.min(seconds);
            times.push((candidate.clone(), seconds));
        }
        Ok(times)
    }

    /// The median of more runs for those that may be the fastest.
    fn more_runs(self, bench: &mut impl Bench, times: &mut [(Candidate, f64)], watch: &dyn Watch) -> Result<()> {
        let fastest = times.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        for (candidate, seconds) in times.iter_mut().filter(|it| it.1 <= NEAR * fastest + RESOLUTION) {
            check(watch)?;
            let runs = ((PATIENCE / seconds.max(1e-9)) as usize).clamp(LEAST_RUNS, self.runs.max(LEAST_RUNS));
            if let Some(sorted) = bench.time(candidate, runs, watch)? {
                *seconds = sorted[sorted.len() / 2];
            }
        }
        Ok(())
    }
}

/// As many of these lanes as take no longer than [`LONGEST`], by the batch `before` and its time; none if that tells
/// as much.
fn short_enough(lanes: usize, before: Option<(usize, f64)>) -> Option<usize> {
    let Some((few, seconds)) = before else { return Some(lanes) };
    let most = (few as f64 * LONGEST / seconds.max(1e-9)) as usize;
    let lanes = lanes.min(most.next_multiple_of(1000));
    (lanes >= MORE * few).then_some(lanes)
}

/// What a candidate will take, at the least and at the most, by the same settings for fewer lanes or narrower
/// operands. On a full machine twice the lanes take twice the time, before no longer; twice the bits take
/// twice to four times the time. `counts` ends with the batch's lanes.
fn expected(known: &Known, bits: usize, counts: &[usize], candidate: &Candidate) -> (f64, f64) {
    let lanes = counts.last().copied().unwrap_or(1);
    let same = |it: &Candidate| it.algorithm == candidate.algorithm && it.settings == candidate.settings;
    let smaller = known.iter().filter(|((width, few, it), _)| *width <= bits && *few <= lanes && same(it));
    smaller.fold((0.0, f64::INFINITY), |(least, most), ((width, few, _), seconds)| {
        let (wider, more) = (bits as f64 / *width as f64, lanes as f64 / *few as f64);
        let at_least = seconds * wider * if *few >= FULL_MACHINE { more } else { 1.0 };
        (at_least.max(least), (seconds * wider * wider * more).min(most))
    })
}

/// How far the search is.
#[derive(Clone, Copy)]
struct Step {
    number: u32,
    weight: u32,
    of: u32,
}

impl Step {
    fn share(self, part: f64) -> f64 {
        (f64::from(self.number) + f64::from(self.weight) * part) / f64::from(self.of)
    }
}

#[cfg(test)]
mod tests;
