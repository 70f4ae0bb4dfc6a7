//! The EPFL report's figures: one operation in several forms, over grids and blocks.
//!
//! ```text
//! bench.rs    the experiment on the GPU, and its instructions on the simulator
//! show.rs     for people;  draw.rs: as heat maps or a chart
//! ```

mod bench;
mod draw;
mod show;

use serde::Deserialize;
use warpmp::{
    Selector,
    kernels::epfl::{Arithmetic, Experiment, Layout, Place, Work},
};

pub(super) use draw::svg;
pub(super) use show::text;

use self::bench::{Bench, Launch, Timed};
use super::{
    line::{Line, Outcome, Quantity},
    tables::{Engine, Entry},
    times::Settings,
};
use crate::{error::Result, interrupt, progress::Progress};

/// The report's executions of an operation.
const EXECUTIONS: u32 = 10;

/// Forms of an operation, at several precisions and launches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Study {
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
pub(crate) enum Picture {
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
    pub(crate) method: String,
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
    /// The launches at a precision: all of a sweep, or all blocks in the largest grid. No more numbers than `limit`.
    fn launches(&self, bits: u32, limit: u32) -> Vec<Launch> {
        let least = if self.swept.contains(&bits) { 0 } else { self.blocks.iter().copied().max().unwrap_or(0) };
        let grids = self.blocks.iter().filter(|&&blocks| blocks >= least);
        let all = grids.flat_map(|&blocks| self.threads.iter().map(move |&threads| Launch { blocks, threads }));
        all.filter(|launch| launch.numbers() <= limit).collect()
    }
}

/// Counts, and on a GPU measures, every row at every precision.
pub(crate) fn reproduce(
    entry: &Entry,
    study: &'static Study,
    selector: Selector,
    settings: Settings,
) -> Result<Outcome> {
    let mut outcome = Outcome::new(entry);
    outcome.picture = Some(study.picture);
    let mut bench = Bench::new(selector, settings)?;
    outcome.device = bench.device();
    let progress = Progress::new(Some((study.rows.len() * study.bits.len()) as u64), "kernels", settings.quiet);
    let mut done = 0;
    for row in &study.rows {
        for (column, &bits) in study.bits.iter().enumerate() {
            interrupt::check()?;
            let paper = row.registers.get(column).copied().flatten();
            measure(&mut outcome, &mut bench, study, row, bits, paper)?;
            done += 1;
            progress.update(done, done);
        }
    }
    drop(progress);
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
    bench: &mut Bench,
    study: &Study,
    row: &StudyRow,
    bits: u32,
    paper: Option<f64>,
) -> Result<()> {
    let experiment = row.experiment(bits, bench.limit());
    let counted = bench::count(&experiment)?;
    let line = |quantity| Line {
        engine: Some(Engine::Gpu),
        executions: Some(EXECUTIONS * row.turns),
        ..Line::new(&outcome.table, &row.method, quantity, bits as usize)
    };
    let mut lines = vec![Line {
        ours: Some(counted.instructions as f64),
        wide_products: Some(counted.wide_products),
        checked: Some(u64::from(bench::COUNTED)),
        ..line(Quantity::Instructions)
    }];
    let launches = study.launches(bits, bench.limit());
    let timed = bench.time(&experiment, &launches)?;
    lines.push(Line {
        paper,
        ours: timed.as_ref().map(|timed| f64::from(timed.registers)),
        local_bytes: timed.as_ref().map(|timed| timed.local_bytes),
        ..line(Quantity::Registers)
    });
    let Timed { launches, algorithm, checked, .. } = timed.unwrap_or_default();
    for (launch, times) in launches {
        let before = row.against.as_ref().and_then(|against| {
            let same = |it: &&Line| it.is_launch(against, bits, launch);
            outcome.lines.iter().find(same)?.median
        });
        lines.push(Line {
            algorithm: Some(algorithm.clone()),
            blocks: Some(launch.blocks),
            threads: Some(launch.threads),
            paper_products: launch.numbers() as usize,
            products: launch.numbers() as usize,
            ours: Some(times.mean()),
            median: Some(times.median()),
            minimum: Some(times.minimum()),
            runs: Some(times.times.len()),
            checked: Some(checked),
            against: row.against.clone(),
            relative: before.map(|before| before / times.median()),
            ..line(Quantity::Time)
        });
    }
    outcome.lines.extend(lines);
    Ok(())
}

impl Line {
    /// Is it the time of this launch?
    fn is_launch(&self, method: &str, bits: u32, launch: Launch) -> bool {
        self.quantity == Quantity::Time
            && self.method == method
            && self.bits == bits as usize
            && (self.blocks, self.threads) == (Some(launch.blocks), Some(launch.threads))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
