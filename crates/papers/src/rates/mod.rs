//! Tables and figures of the dissertation's chapter 4: what the Collatz tables hold, and rates as their sizes change.
//!
//! ```text
//! values.rs   the contents of tables B, C and S, and their sizes: computed, on any machine
//! bench.rs    numbers a second by the dissertation's schemes, and by ours
//! ```

mod bench;
mod values;

use std::{path::Path, sync::Arc};

use serde::Deserialize;
use warpmp::device::Device;

use self::bench::{Bench, Rate};
use crate::{
    error::Result,
    line::{Comparison, Figure, Measurement, Outcome, Value},
    tables::{Engine, Entry},
    watch::Settings,
};

/// Rows over columns, of which each is a size of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What a column is.
    pub(crate) column: String,
    pub(crate) columns: Vec<u32>,
    /// What the figures are multiples of.
    #[serde(default = "one")]
    pub(crate) unit: f64,
    /// Of rates: what ours are compared with, too.
    pub(crate) default: Option<Kind>,
    pub(crate) rows: Vec<SweepRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SweepRow {
    pub(crate) method: String,
    pub(crate) measure: Measure,
    /// The paper verified 2 to this many numbers.
    #[serde(default)]
    pub(crate) numbers_bits: u32,
    /// The paper's, one a column.
    pub(crate) figures: Vec<Option<f64>>,
}

/// What is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Do all trajectories come down?
    Convergence,
    /// The number of steps to 1.
    Delay,
}

/// What a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Measure {
    /// Table B, for 4 bits.
    Factor,
    /// Table C, for 4 bits.
    Addend,
    /// Table S, for 4 bits.
    Mandatory,
    /// Entries of B, and of C.
    Words,
    /// Operations of a step.
    Operations,
    /// Entries of S.
    MandatoryWords,
    /// Those for each residue.
    MandatoryRatio,
    /// Numbers a second; the size that is not given is the column.
    Convergence {
        on: On,
        base_bits: Option<u32>,
        sieve_bits: Option<u32>,
    },
    Delay {
        on: On,
        base_bits: Option<u32>,
        known_bits: Option<u32>,
    },
}

/// Where a row is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum On {
    /// Tables in shared memory.
    GpuShared,
    /// Tables in global memory.
    GpuGlobal,
    /// One core.
    Cpu,
}

const fn one() -> f64 {
    1.0
}

impl Sweep {
    /// The kind of its rates; none if its figures are computed.
    pub const fn kind(&self) -> Option<Kind> {
        self.default
    }
}

/// The machine of the rates.
#[derive(Clone, Copy)]
pub struct Machine<'m> {
    /// The GPU, if there is one.
    pub gpu: Option<&'m Arc<dyn Device>>,
    /// A folder in which the CPU engine keeps its tables; none: it makes them anew each time.
    pub cache: Option<&'m Path>,
}

/// Computes the contents of tables at every column.
///
/// # Errors
/// Those of [`Error`](crate::Error).
pub fn compute(entry: &Entry, sweep: &'static Sweep) -> Result<Outcome> {
    let mut outcome = Outcome::new(entry);
    outcome.column = Some(&sweep.column);
    for row in &sweep.rows {
        for (&column, &paper) in sweep.columns.iter().zip(&row.figures) {
            let ours = values::value(row.measure, column)?;
            if paper.is_some() || ours.is_some() {
                outcome.push(&row.method, column as usize, Figure::Value(Value { paper, ours }));
            }
        }
    }
    Ok(outcome)
}

/// Measures the rates of every row at every column, beside our default for numbers of this kind.
///
/// # Errors
/// Those of [`Error`](crate::Error).
pub fn measure(
    entry: &Entry,
    sweep: &'static Sweep,
    kind: Kind,
    machine: Machine<'_>,
    settings: Settings<'_>,
) -> Result<Outcome> {
    let mut outcome = Outcome::new(entry);
    outcome.column = Some(&sweep.column);
    let mut bench = Bench::new(machine, settings)?;
    outcome.device = Some(bench.device());
    outcome.cpu = Some("the dissertation's algorithm on one core; ours by default on all cores".to_owned());
    let total = (sweep.rows.len() * sweep.columns.len()) as u64;
    let on_gpu = bench.default(kind, true)?;
    let on_cpu = bench.default(kind, false)?;
    let mut done = 0;
    for row in &sweep.rows {
        for (&column, &paper) in sweep.columns.iter().zip(&row.figures) {
            settings.check()?;
            let ours = bench.measure(row.measure, column)?;
            let engine = if row.measure.is_on_cpu() { Engine::Cpu } else { Engine::Gpu };
            let default = if engine == Engine::Cpu { &on_cpu } else { &on_gpu };
            let paper = paper.map(|figure| figure * sweep.unit);
            if paper.is_some() || ours.is_some() {
                let rate = compare(row, engine, paper, ours.as_ref(), default.as_ref());
                outcome.push(&row.method, column as usize, Figure::Rate(rate));
            }
            done += 1;
            settings.watch.progress(done, total, "rates");
        }
    }
    outcome.notes.extend(bench.notes());
    Ok(outcome)
}

impl Measure {
    /// Is it the rate of a CPU?
    const fn is_on_cpu(self) -> bool {
        matches!(self, Self::Convergence { on: On::Cpu, .. } | Self::Delay { on: On::Cpu, .. })
    }

    /// Is it a rate?
    #[cfg(test)]
    const fn is_rate(self) -> bool {
        matches!(self, Self::Convergence { .. } | Self::Delay { .. })
    }
}

/// Rates beside the paper's.
fn compare(
    row: &SweepRow,
    engine: Engine,
    paper: Option<f64>,
    ours: Option<&Rate>,
    default: Option<&Rate>,
) -> Comparison {
    let measurement = |rate: &Rate| Measurement {
        mean: rate.per_second,
        median: rate.median,
        minimum: None,
        runs: rate.runs,
        checked: rate.checked,
        ratio: paper.map(|paper| rate.per_second / paper),
        floor_fraction: None,
    };
    Comparison {
        engine,
        paper_products: 1 << row.numbers_bits,
        products: ours.map_or(0, |rate| rate.numbers),
        paper,
        algorithm: ours.map(|rate| rate.algorithm.clone()),
        ours: ours.map(measurement),
        default_algorithm: default.map(|rate| rate.algorithm.clone()),
        default: default.map(measurement),
    }
}

#[cfg(test)]
mod tests;
