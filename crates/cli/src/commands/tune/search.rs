//! In which order candidates are measured, how often, and which need not be.
//!
//! Compiling a kernel takes the driver up to a second, so the time is shared among the widths: at each, the default
//! settings of every algorithm are compiled, then as many others as the width's share allows. At each batch
//! count every candidate runs twice, and those near the fastest more often. What will take long and cannot
//! win, by what it took for fewer lanes or narrower operands, is left out there. Batches have as many lanes as a short
//! time allows: of powers of large numbers a few thousand, then no larger numbers.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use warpmp::{
    Operation,
    device::DeviceInfo,
    operation::Group,
    tuning::{self, Candidate, Grid, Timing},
};

use crate::{error::Result, interrupt, progress::Progress};

/// Steps of the progress bar.
pub(crate) const STEPS: u64 = 10_000;

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
pub(super) trait Bench {
    /// Compiles candidates for a width, those with default settings in any case, the others until then; gives
    /// those that can be run.
    fn load(
        &mut self,
        operation: Operation,
        bits: usize,
        candidates: Vec<Candidate>,
        until: Instant,
    ) -> Result<Vec<Candidate>>;

    /// Makes ready the operands of a batch; the bytes that are free for it are told by `free_bytes`.
    fn fill(&mut self, operation: Operation, bits: usize, lanes: usize) -> Result<()>;

    /// Bytes of memory for operands and results.
    fn free_bytes(&self) -> Result<u64>;

    /// The seconds of so many runs, shortest first; none if the candidate cannot be used. The first call of a
    /// candidate after [`Bench::fill`] checks its results.
    fn time(&mut self, candidate: &Candidate, runs: usize) -> Result<Option<Vec<f64>>>;

    /// What was said about candidates that cannot be used, and how many had wrong results.
    fn faults(&mut self) -> (Vec<String>, usize);
}

/// An operation with the batches to measure it on.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) operation: Operation,
    pub(super) grid: Grid,
}

impl Work {
    /// How much of the time a width deserves: products have the most algorithms.
    fn weight(&self) -> u32 {
        if self.operation.group() == Group::Product { 3 } else { 1 }
    }
}

/// What to measure.
#[derive(Clone, Copy)]
pub(super) struct Search<'s> {
    pub(super) works: &'s [Work],
    pub(super) info: &'s DeviceInfo,
    pub(super) budget: Duration,
    pub(super) runs: usize,
    pub(super) progress: &'s Progress,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) timings: Vec<Timing>,
    /// Measurements that were left out because they would have taken long and could not win.
    pub(super) hopeless: usize,
    /// Why candidates were left out.
    pub(super) notes: Vec<String>,
    /// Candidates with wrong results.
    pub(super) wrong: usize,
    pub(super) took: Duration,
}

/// The time of an algorithm with its settings, by width and lanes.
type Known = HashMap<(usize, usize, Candidate), f64>;

/// What the search knows.
#[derive(Debug, Default)]
struct State {
    known: Known,
    found: Found,
}

impl Search<'_> {
    /// Measures everything.
    pub(super) fn run(self, bench: &mut impl Bench) -> Result<Found> {
        let start = Instant::now();
        let end = start + self.budget;
        let mut state = State::default();
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
        state: &mut State,
        work: &Work,
        bits: usize,
        share: Duration,
        step: Step,
    ) -> Result<bool> {
        let operation = work.operation;
        let until = Instant::now() + share.mul_f64(COMPILING);
        let candidates =
            crate::engine::register().candidates(operation, &tuning::operands(operation, bits, 1), self.info)?;
        let candidates = bench.load(operation, bits, candidates, until)?;
        let counts = work.grid.lanes(operation, bits, bench.free_bytes()?);
        let mut done = Vec::new();
        // What the batch before took by the fastest candidate.
        let mut before = None;
        for (i, &lanes) in counts.iter().enumerate() {
            interrupt::check()?;
            let part = (i + 1) as f64 / (counts.len() + 1) as f64;
            self.progress.update(step.position(part), state.found.timings.len() as u64);
            let Some(lanes) = short_enough(lanes, before) else { break };
            done.push(lanes);
            bench.fill(operation, bits, lanes)?;
            let mut times = Self::first_runs(bench, state, bits, &done, &candidates)?;
            self.more_runs(bench, &mut times)?;
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
        state: &mut State,
        bits: usize,
        counts: &[usize],
        candidates: &[Candidate],
    ) -> Result<Vec<(Candidate, f64)>> {
        let expected: Vec<(f64, f64)> = candidates.iter().map(|it| expected(&state.known, bits, counts, it)).collect();
        let some_take = expected.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        // A GPU that waited for the compiler has to come up to its clock.
        let by_most = |one: &usize, other: &usize| expected[*one].1.total_cmp(&expected[*other].1);
        if let Some(quickest) = (0..candidates.len()).min_by(by_most) {
            bench.time(&candidates[quickest], WARM_UP)?;
        }
        let mut fastest = f64::INFINITY;
        let mut times = Vec::new();
        for (candidate, (at_least, _)) in candidates.iter().zip(&expected) {
            interrupt::check()?;
            if *at_least > LONG && *at_least > HOPELESS * some_take {
                state.found.hopeless += 1;
                continue;
            }
            let Some(first) = bench.time(candidate, 1)? else { continue };
            let mut seconds = first[0];
            // The first run of a kernel is slower than the next ones.
            if seconds < STEADY
                && let Some(second) = bench.time(candidate, 1)?
            {
                seconds = seconds.min(second[0]);
            }
            fastest = fastest.min(seconds);
            times.push((candidate.clone(), seconds));
        }
        Ok(times)
    }

    /// The median of more runs for those that may be the fastest.
    fn more_runs(self, bench: &mut impl Bench, times: &mut [(Candidate, f64)]) -> Result<()> {
        let fastest = times.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
        for (candidate, seconds) in times.iter_mut().filter(|it| it.1 <= NEAR * fastest + RESOLUTION) {
            interrupt::check()?;
            let runs = ((PATIENCE / seconds.max(1e-9)) as usize).clamp(LEAST_RUNS, self.runs.max(LEAST_RUNS));
            if let Some(sorted) = bench.time(candidate, runs)? {
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
    fn position(self, part: f64) -> u64 {
        ((f64::from(self.number) + f64::from(self.weight) * part) / f64::from(self.of) * STEPS as f64) as u64
    }
}
