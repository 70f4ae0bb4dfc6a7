//! Tables and figures of the dissertation's chapter 4: what the Collatz tables hold, and rates as their sizes change.
//!
//! ```text
//! values.rs   what tables B, C and S hold, and their sizes: computed, on any machine
//! rates.rs    numbers a second by the dissertation's schemes, and by ours
//! show.rs     for people, and as a chart
//! ```

mod rates;
mod show;
mod values;

use serde::Deserialize;
use warpmp::Selector;

pub(super) use show::{chart, text};

use self::rates::{Bench, Rate};
use super::{
    line::{Line, Outcome, Quantity},
    tables::{Engine, Entry},
    times::Settings,
};
use crate::{error::Result, interrupt, progress::Progress};

/// Rows over columns, of which each is a size of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
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
pub(crate) enum Kind {
    Convergence,
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

fn one() -> f64 {
    1.0
}

/// Computes or measures every row at every column.
pub(crate) fn reproduce(
    entry: &Entry,
    sweep: &'static Sweep,
    selector: Selector,
    settings: Settings,
) -> Result<Outcome> {
    let mut outcome = Outcome::new(entry);
    outcome.column = Some(&sweep.column);
    let Some(kind) = sweep.default else {
        for row in &sweep.rows {
            for (&column, &paper) in sweep.columns.iter().zip(&row.figures) {
                let ours = values::value(row.measure, column)?;
                outcome.lines.extend(value(&outcome.table, row, column, paper, ours));
            }
        }
        return Ok(outcome);
    };
    let mut bench = Bench::new(selector, settings)?;
    outcome.device = Some(bench.device());
    outcome.cpu = Some("the dissertation's algorithm on one core; ours by default on all cores".to_owned());
    let progress = Progress::new(Some((sweep.rows.len() * sweep.columns.len()) as u64), "rates", settings.quiet);
    let on_gpu = bench.default(kind, true)?;
    let on_cpu = bench.default(kind, false)?;
    let mut done = 0;
    for row in &sweep.rows {
        for (&column, &paper) in sweep.columns.iter().zip(&row.figures) {
            interrupt::check()?;
            let ours = bench.measure(row.measure, column)?;
            let default = if row.measure.engine() == Some(Engine::Cpu) { &on_cpu } else { &on_gpu };
            let paper = paper.map(|figure| figure * sweep.unit);
            outcome.lines.extend(rate(&outcome.table, row, column, paper, ours.as_ref(), default.as_ref()));
            done += 1;
            progress.update(done, done);
        }
    }
    drop(progress);
    outcome.notes.extend(bench.notes());
    Ok(outcome)
}

impl Measure {
    /// What it is measured on; none for what is computed.
    pub(crate) fn engine(self) -> Option<Engine> {
        match self {
            Self::Convergence { on, .. } | Self::Delay { on, .. } if on == On::Cpu => Some(Engine::Cpu),
            Self::Convergence { .. } | Self::Delay { .. } => Some(Engine::Gpu),
            _ => None,
        }
    }
}

/// A line, where there is something to tell.
fn value(table: &str, row: &SweepRow, column: u32, paper: Option<f64>, ours: Option<f64>) -> Option<Line> {
    (paper.is_some() || ours.is_some()).then(|| Line {
        paper,
        ours,
        ratio: paper.zip(ours).filter(|(paper, _)| *paper != 0.0).map(|(paper, ours)| ours / paper),
        ..Line::new(table, &row.method, Quantity::Value, column as usize)
    })
}

fn rate(
    table: &str,
    row: &SweepRow,
    column: u32,
    paper: Option<f64>,
    ours: Option<&Rate>,
    default: Option<&Rate>,
) -> Option<Line> {
    let ratio = |rate: &Rate| paper.map(|paper| rate.per_second / paper);
    (paper.is_some() || ours.is_some()).then(|| Line {
        engine: row.measure.engine(),
        paper,
        paper_products: 1 << row.numbers_bits,
        products: ours.map_or(0, |rate| rate.numbers),
        algorithm: ours.map(|rate| rate.algorithm.clone()),
        ours: ours.map(|rate| rate.per_second),
        median: ours.map(|rate| rate.median),
        runs: ours.map(|rate| rate.runs),
        checked: ours.and_then(|rate| rate.checked),
        ratio: ours.and_then(ratio),
        default_algorithm: default.map(|rate| rate.algorithm.clone()),
        default: default.map(|rate| rate.per_second),
        default_median: default.map(|rate| rate.median),
        default_runs: default.map(|rate| rate.runs),
        default_ratio: default.and_then(ratio),
        ..Line::new(table, &row.method, Quantity::Rate, column as usize)
    })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
