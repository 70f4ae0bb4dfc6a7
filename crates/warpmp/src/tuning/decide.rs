//! From measurements to rows.
//!
//! Each width between those that were measured goes with the nearest of them, by ratio, among the
//! algorithms that take it. There, the fastest for the largest batch is the rule; fewer lanes have a row of
//! their own where that one loses more than [`LANES_TOLERANCE`]. Neighbours that agree, but for
//! [`WIDTH_TOLERANCE`], are one row.

use std::collections::BTreeMap;

use super::{Row, Table, WHOLE_BITS, rows_name};
use crate::kernels::Settings;
use crate::operation::Operation;

/// What a batch of fewer lanes may lose before it gets a row of its own, as a fraction.
const LANES_TOLERANCE: f64 = 0.03;

/// What a width may lose by the decision for the one before, as a fraction.
const WIDTH_TOLERANCE: f64 = 0.01;

/// Times that differ by less are the same, in seconds: what events of a GPU resolve.
const RESOLUTION: f64 = 0.5e-6;

/// How long a candidate took.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The operation.
    pub operation: Operation,
    /// Bits of every operand.
    pub bits: usize,
    /// Lanes of the batch.
    pub lanes: usize,
    /// The algorithm's name.
    pub algorithm: String,
    /// Its settings.
    pub settings: Settings,
    /// Seconds for the batch.
    pub seconds: f64,
}

impl Timing {
    fn decision(&self) -> Decision {
        (self.algorithm.clone(), self.settings)
    }
}

/// An algorithm and its settings.
type Decision = (String, Settings);

/// The decisions for a width: few lanes before many, the last one for any number.
type Schedule = Vec<(Option<usize>, Decision)>;

/// Widths from one limb to the next that have the same algorithms and the same nearest measurement.
#[derive(Debug)]
struct Stretch<'t> {
    to_bits: usize,
    fitting: Vec<&'static str>,
    timings: Vec<&'t Timing>,
}

/// The table that the measurements make; operations that were not measured have no rows in it.
/// `fitting`: the names of the algorithms that take operands of this many bits.
pub fn table(
    architecture: u32,
    measured_on: &str,
    timings: &[Timing],
    fitting: impl Fn(Operation, usize) -> Vec<&'static str>,
) -> Table {
    let mut rows = BTreeMap::new();
    for operation in Operation::ALL {
        let measured: Vec<&Timing> = timings.iter().filter(|it| it.operation == *operation).collect();
        if !measured.is_empty() {
            let is_long = measured.iter().any(|it| it.bits > WHOLE_BITS);
            let most = if is_long { operation.max_bits() } else { WHOLE_BITS };
            let stretches = stretches(&measured, most, |bits| fitting(*operation, bits));
            rows.insert(rows_name(*operation).to_owned(), operation_rows(&stretches));
        }
    }
    Table { architecture, measured_on: measured_on.into(), rows, path: None, rest: None }
}

/// The best time of each algorithm for a batch, fastest first.
pub fn ranking(timings: &[Timing], operation: Operation, bits: usize, lanes: usize) -> Vec<&Timing> {
    let mut best: BTreeMap<&str, &Timing> = BTreeMap::new();
    for timing in timings.iter().filter(|it| (it.operation, it.bits, it.lanes) == (operation, bits, lanes)) {
        let known = best.entry(&timing.algorithm).or_insert(timing);
        if timing.seconds < known.seconds {
            *known = timing;
        }
    }
    let mut all: Vec<&Timing> = best.into_values().collect();
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    all
}

/// All widths, limb by limb, in stretches.
fn stretches<'t>(
    measured: &[&'t Timing],
    max_bits: usize,
    fitting: impl Fn(usize) -> Vec<&'static str>,
) -> Vec<Stretch<'t>> {
    let mut widths: Vec<usize> = measured.iter().map(|it| it.bits).collect();
    widths.sort_unstable();
    widths.dedup();
    let mut stretches: Vec<(usize, Stretch<'_>)> = Vec::new();
    for bits in widths_to(max_bits) {
        let fitting = fitting(bits);
        if let (true, Some((_, last))) = (fitting.is_empty(), stretches.last_mut()) {
            // No algorithm takes it, whatever a row says.
            last.to_bits = bits;
            continue;
        }
        let takes = |width: usize| measured.iter().filter(move |it| it.bits == width);
        let usable = |width: usize| takes(width).any(|it| fitting.contains(&it.algorithm.as_str()));
        // The nearest width with an algorithm that takes this one, too.
        let ratio = |width: usize| (width as f64 / bits as f64).ln().abs();
        let nearest = widths.iter().copied().filter(|it| usable(*it)).min_by(|x, y| ratio(*x).total_cmp(&ratio(*y)));
        // Nothing that was measured takes it: its own stretch, without measurements.
        let nearest = nearest.unwrap_or(0);
        if let Some((width, stretch)) = stretches.last_mut()
            && *width == nearest
            && stretch.fitting == fitting
        {
            stretch.to_bits = bits;
            continue;
        }
        let timings = takes(nearest).copied().filter(|it| fitting.contains(&it.algorithm.as_str())).collect();
        stretches.push((nearest, Stretch { to_bits: bits, fitting, timings }));
    }
    stretches.into_iter().map(|(_, stretch)| stretch).collect()
}

/// The widths where rows may end: every limb to 65536 bits, above a thirty-second part more each time.
fn widths_to(max_bits: usize) -> impl Iterator<Item = usize> {
    let next = move |bits: &usize| {
        let step = if *bits < WHOLE_BITS { 32 } else { (bits / 32).next_multiple_of(32) };
        (*bits < max_bits).then(|| (bits + step).min(max_bits))
    };
    std::iter::successors(Some(32), next)
}

/// The rows of an operation, narrow to wide.
fn operation_rows(stretches: &[Stretch<'_>]) -> Vec<Row> {
    let mut schedules: Vec<(usize, Schedule)> = Vec::new();
    for stretch in stretches {
        let before = schedules.last().filter(|(_, schedule)| stretch.keeps(schedule)).map(|it| it.1.clone());
        let schedule = before.unwrap_or_else(|| stretch.schedule());
        match schedules.last_mut().filter(|(_, known)| *known == schedule) {
            Some((to_bits, _)) => *to_bits = stretch.to_bits,
            None => schedules.push((stretch.to_bits, schedule)),
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    for (to_bits, schedule) in &schedules {
        rows.extend(schedule.iter().map(|(to_lanes, decision)| row(*to_bits, *to_lanes, decision, false)));
    }
    rows.extend(rows_by_name(stretches, &schedules));
    rows.sort_by_key(|row| (row.to_bits, row.to_lanes.unwrap_or(usize::MAX), row.by_name_only));
    rows
}

/// The best settings of algorithms that have some, where they are not the rule.
fn rows_by_name(stretches: &[Stretch<'_>], schedules: &[(usize, Schedule)]) -> Vec<Row> {
    let timings = stretches.iter().flat_map(|stretch| &stretch.timings);
    let mut names: Vec<&str> =
        timings.filter(|it| it.settings != Settings::default()).map(|it| it.algorithm.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut rows = Vec::new();
    for name in names {
        let mut last: Option<Row> = None;
        for stretch in stretches {
            let rule = schedules.iter().find(|it| it.0 >= stretch.to_bits).and_then(|it| it.1.last());
            let best = stretch.best_of(name).filter(|_| rule.is_none_or(|it| it.1.0 != name));
            let Some(best) = best else {
                rows.extend(last.take());
                continue;
            };
            match &mut last {
                Some(row) if stretch.is_near(&(name.to_owned(), row.settings), best) => row.to_bits = stretch.to_bits,
                _ => rows.extend(last.replace(row(stretch.to_bits, None, &best.decision(), true))),
            }
        }
        rows.extend(last);
    }
    rows
}

fn row(to_bits: usize, to_lanes: Option<usize>, decision: &Decision, by_name_only: bool) -> Row {
    let (algorithm, settings) = decision.clone();
    Row { to_bits, to_lanes, algorithm, settings, by_name_only, long_quotients: false, predicted: false }
}

impl Stretch<'_> {
    /// The counts that were measured, ascending.
    fn counts(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = self.timings.iter().map(|it| it.lanes).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// The fastest; of several that are as good as equal the first of the register, and that with its own
    /// choice of settings: a row serves widths that were not measured, too, and there it errs less.
    fn fastest(&self, lanes: usize) -> Option<&Timing> {
        let there = || self.timings.iter().copied().filter(|it| it.lanes == lanes);
        let least = there().map(|it| it.seconds).min_by(f64::total_cmp)?;
        let as_good = there().filter(|it| it.seconds <= least * (1.0 + WIDTH_TOLERANCE) + RESOLUTION);
        let place = |it: &Timing| self.fitting.iter().position(|name| *name == it.algorithm);
        let choice = |it: &Timing| (place(it), it.settings != Settings::default());
        as_good.min_by(|one, other| choice(one).cmp(&choice(other)).then_with(|| one.seconds.total_cmp(&other.seconds)))
    }

    /// The best settings of an algorithm for the largest batch that it was measured with.
    fn best_of(&self, algorithm: &str) -> Option<&Timing> {
        let all = self.timings.iter().copied().filter(|it| it.algorithm == algorithm);
        all.min_by(|one, other| other.lanes.cmp(&one.lanes).then(one.seconds.total_cmp(&other.seconds)))
    }

    /// How long a decision took; for ever if it was not measured.
    fn seconds(&self, lanes: usize, decision: &Decision) -> f64 {
        let same = |it: &&&Timing| it.lanes == lanes && it.algorithm == decision.0 && it.settings == decision.1;
        self.timings.iter().find(same).map_or(f64::INFINITY, |it| it.seconds)
    }

    /// Is a decision hardly worse than the best settings of its algorithm?
    fn is_near(&self, decision: &Decision, best: &Timing) -> bool {
        self.seconds(best.lanes, decision) <= best.seconds * (1.0 + WIDTH_TOLERANCE) + RESOLUTION
    }

    /// The rule for the largest batch, and before it what smaller ones need.
    fn schedule(&self) -> Schedule {
        let counts = self.counts();
        let fastest = counts.last().and_then(|lanes| self.fastest(*lanes)).map(Timing::decision);
        // Where nothing was measured, the first algorithm of the register has to do.
        let unmeasured = || self.fitting.first().map(|name| ((*name).to_owned(), Settings::default()));
        let Some(mut rule) = fastest.or_else(unmeasured) else { return Vec::new() };
        let mut schedule = Vec::new();
        let mut to_lanes = None;
        for pair in counts.windows(2).rev() {
            let Some(best) = self.fastest(pair[0]) else { continue };
            if self.seconds(pair[0], &rule) > best.seconds * (1.0 + LANES_TOLERANCE) + RESOLUTION {
                schedule.push((to_lanes, rule));
                rule = best.decision();
                to_lanes = Some(between(pair[0], pair[1]));
            }
        }
        schedule.push((to_lanes, rule));
        schedule.reverse();
        schedule
    }

    /// Does another width's schedule serve this one as well as its own?
    fn keeps(&self, schedule: &Schedule) -> bool {
        let counts = self.counts();
        let most = counts.last().copied();
        let as_well = |lanes| {
            let decision = schedule.iter().find(|(to_lanes, _)| to_lanes.is_none_or(|to| lanes <= to));
            let tolerance = if Some(lanes) == most { WIDTH_TOLERANCE } else { LANES_TOLERANCE };
            decision.zip(self.fastest(lanes)).is_some_and(|((_, decision), best)| {
                self.seconds(lanes, decision) <= best.seconds * (1.0 + tolerance) + RESOLUTION
            })
        };
        most.is_some() && counts.iter().copied().all(as_well)
    }
}

/// The most lanes that go with the smaller of two counts: the geometric mean, or half a decade above it.
fn between(few: usize, many: usize) -> usize {
    (few as f64 * many.min(10 * few) as f64).sqrt() as usize
}

#[cfg(test)]
mod tests;
