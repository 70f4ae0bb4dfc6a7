//! The EPFL report's figures: one operation in several forms, over grids and blocks.
//!
//! ```text
//! bench.rs    the experiment on the GPU, and its instructions on the simulator
//! oracle.rs   the results of the experiment by num-bigint
//! ```

mod bench;
pub mod oracle;

use std::sync::Arc;

use serde::Deserialize;
use warpmp::device::{Device, Kind};

use self::bench::{Bench, Grid, Timed};
use crate::{
    error::Result,
    kernels::epfl::{Arithmetic, Experiment, Layout, Place, Work},
    line::{Figure, Instructions, Launch, Measurement, Outcome, Registers},
    tables::Entry,
    watch::Settings,
};

/// The report's executions of an operation.
const EXECUTIONS: u32 = 10;

/// Forms of an operation, at several precisions and launches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Bits of operands.
    pub(crate) bits: Vec<u32>,
    /// Those of them that are launched with every grid and block; the others with every block in the largest grid.
    #[serde(default)]
    pub(crate) swept: Vec<u32>,
    /// Blocks of a grid, and threads of a block; none: nothing is timed.
    #[serde(default)]
    pub(crate) blocks: Vec<u32>,
    #[serde(default)]
    pub(crate) threads: Vec<u32>,
    pub(crate) picture: Picture,
    pub(crate) rows: Vec<StudyRow>,
}

/// What the chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Picture {
    /// Maps of how many times as fast a form is as the one that it is compared with.
    Ratios,
    /// Maps of times.
    Times,
    /// Registers by bits.
    Registers,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyRow {
    /// The row of the report's figure.
    pub(crate) method: String,
    /// The operation.
    pub(crate) work: Work,
    #[serde(default)]
    pub(crate) arithmetic: Arithmetic,
    #[serde(default)]
    pub(crate) place: Place,
    #[serde(default)]
    pub(crate) layout: Layout,
    /// How often the report's ten executions are done, in a loop; once without this.
    #[serde(default = "one")]
    pub(crate) turns: u32,
    /// The method that it is compared with, which stands before it.
    pub(crate) against: Option<String>,
    /// The report's registers, one for each number of bits; empty: none.
    #[serde(default)]
    pub(crate) registers: Vec<Option<f64>>,
}

impl StudyRow {
    /// The experiment at a precision.
    const fn experiment(&self, bits: u32, room: u32) -> Experiment {
        let Self { work, arithmetic, place, layout, turns, .. } = *self;
        Experiment { work, arithmetic, place, layout, bits, executions: EXECUTIONS, turns, room }
    }
}

const fn one() -> u32 {
    1
}

impl Study {
    /// The grids at a precision: all of a sweep, or all blocks in the largest grid. No more numbers than `limit`.
    fn grids(&self, bits: u32, limit: u32) -> Vec<Grid> {
        let least = if self.swept.contains(&bits) { 0 } else { self.blocks.iter().copied().max().unwrap_or(0) };
        let grids = self.blocks.iter().filter(|&&blocks| blocks >= least);
        let all = grids.flat_map(|&blocks| self.threads.iter().map(move |&threads| Grid { blocks, threads }));
        all.filter(|grid| grid.numbers() <= limit).collect()
    }
}

/// Counts, and on a GPU measures, every row at every precision.
///
/// # Errors
/// Those of [`Error`](crate::Error).
pub fn reproduce(
    entry: &Entry,
    study: &Study,
    gpu: Option<Arc<dyn Device>>,
    settings: Settings<'_>,
) -> Result<Outcome> {
    let mut outcome = Outcome::new(entry);
    outcome.picture = Some(study.picture);
    let mut bench = Bench::new(gpu.filter(|gpu| gpu.info().kind == Kind::Cuda), settings);
    outcome.device = bench.device();
    let total = (study.rows.len() * study.bits.len()) as u64;
    let mut done = 0;
    for row in &study.rows {
        for (column, &bits) in study.bits.iter().enumerate() {
            settings.check()?;
            let paper = row.registers.get(column).copied().flatten();
            measure(&mut outcome, &mut bench, study, row, bits, paper)?;
            done += 1;
            settings.watch.progress(done, total, "kernels");
        }
    }
    outcome.notes.push(format!(
        "Each number goes through {EXECUTIONS} executions, where nothing else is said, each of which hands its result to the next. \
         Instructions are those of the text without moves, counted on the simulator, of one execution with that; the \
         assembler may take more or fewer. Times are medians; a launch takes some microseconds whatever it does."
    ));
    if outcome.device.is_none() {
        outcome.notes.push("Not on a GPU: no times and no registers of ours.".to_owned());
    }
    Ok(outcome)
}

/// The lines of a row at a precision.
fn measure(
    outcome: &mut Outcome,
    bench: &mut Bench<'_>,
    study: &Study,
    row: &StudyRow,
    bits: u32,
    paper: Option<f64>,
) -> Result<()> {
    let experiment = row.experiment(bits, bench.limit());
    let executions = EXECUTIONS * row.turns;
    let counted = bench::count(&experiment)?;
    let timed = bench.time(&experiment, &study.grids(bits, bench.limit()))?;
    let mut figures = vec![
        Figure::Instructions(Instructions {
            executions,
            ours: counted.instructions,
            wide_products: counted.wide_products,
            checked: u64::from(bench::COUNTED),
        }),
        Figure::Registers(Registers {
            executions,
            paper,
            ours: timed.as_ref().map(|timed| timed.registers),
            local_bytes: timed.as_ref().map(|timed| timed.local_bytes),
        }),
    ];
    let Timed { launches, algorithm, checked, .. } = timed.unwrap_or_default();
    for (grid, times) in launches {
        let before = row.against.as_ref().and_then(|against| median(outcome, against, bits, grid));
        figures.push(Figure::Launch(Launch {
            executions,
            algorithm: algorithm.clone(),
            blocks: grid.blocks,
            threads: grid.threads,
            times: Measurement {
                mean: times.mean(),
                median: times.median(),
                minimum: Some(times.minimum()),
                runs: times.times.len(),
                checked: Some(checked),
                ratio: None,
                floor_fraction: None,
            },
            against: row.against.clone(),
            relative: before.map(|before| before / times.median()),
        }));
    }
    for figure in figures {
        outcome.push(&row.method, bits as usize, figure);
    }
    Ok(())
}

/// The median time of a form in a grid that was measured before.
fn median(outcome: &Outcome, method: &str, bits: u32, grid: Grid) -> Option<f64> {
    let of_method = outcome.lines.iter().filter(|line| line.method == method && line.bits == bits as usize);
    let mut launches = of_method.filter_map(|line| line.figure.launch());
    let launch = launches.find(|it| (it.blocks, it.threads) == (grid.blocks, grid.threads))?;
    Some(launch.times.median)
}

#[cfg(test)]
mod tests;
