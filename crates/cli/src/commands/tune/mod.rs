//! `warpmp tune`: every algorithm over sizes and batch counts, and the table of what is fastest where.
//!
//! ```text
//! mod.rs      the command: what to measure, and where the table goes
//! search.rs   in which order, how often, and what need not be measured
//! gpu.rs      a candidate's time on a GPU, its results checked first
//! text.rs     what was found, for people, and as a picture
//! ```

mod gpu;
mod search;
mod text;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use warpmp::{
    EngineKind, Operation, Plan, Session,
    device::DeviceInfo,
    operation::Group,
    tuning::{self, Grid, Table, Timing},
};

use self::{gpu::Gpu, search::Search};
use crate::{
    args::Tune,
    console, engine,
    error::{Error, Result},
    io::output::Output,
    plot::plot_name,
    progress::Progress,
    tables,
};

/// How long the driver may compile and the GPU run; what is not measured by then has its default settings alone.
const FULL: Duration = Duration::from_secs(270);
const QUICK: Duration = Duration::from_secs(50);

/// Runs of each candidate that may be the fastest.
const FULL_RUNS: usize = 9;
const QUICK_RUNS: usize = 5;

/// Runs the command.
pub(crate) fn run(args: &Tune) -> Result<()> {
    // The table that is there decides nothing: it is what will be replaced.
    let session = engine::open_untuned(args.device.0, true)?;
    let info = gpu_of(&session, args.dry_run)?.clone();
    let operations = operations(args);
    let grid = grid(args);
    let place = Place::of(args, info.capability)?;
    if args.dry_run {
        return console::print(&text::dry_run(&session, &operations, &grid, &place.table)?);
    }
    let mut outputs = Outputs::open(&place, args.plot.as_deref(), &operations)?;
    let (budget, runs) = if args.quick { (QUICK, QUICK_RUNS) } else { (FULL, FULL_RUNS) };
    let progress = Progress::new(Some(search::STEPS), "measurements", args.quiet);
    let search = Search { operations: &operations, grid: &grid, info: &info, budget, runs, progress: &progress };
    let found = search.run(&mut Gpu::new(session)?)?;
    drop(progress);
    let measured = table(&info, &found.timings, &place.table);
    measured.check()?;
    outputs.write(&place, &measured, &found.timings, &info)?;
    for note in &found.notes {
        console::note(&format!("note: left out: {note}"));
    }
    console::print(&text::summary(&found, &measured, &info, &outputs.names))?;
    if found.wrong > 0 { Err(Error::WrongCandidates { faults: found.wrong }) } else { Ok(()) }
}

/// The GPU; an error where there is nothing to tune.
fn gpu_of(session: &Session, dry_run: bool) -> Result<&DeviceInfo> {
    let place = match (session.engine().kind, session.device()) {
        (EngineKind::Cuda, Some(device)) => return Ok(device.info()),
        (EngineKind::Sim, Some(device)) if dry_run => return Ok(device.info()),
        (EngineKind::Sim, _) => "on the simulator: it counts instructions, and has no time; --dry-run works",
        _ => "on the CPU: its engine chooses by the width alone; --device cuda tunes a GPU",
    };
    let reason = session.fallback().map_or_else(String::new, |reason| format!(" ({reason})"));
    Err(Error::NothingToTune { place: format!("{place}{reason}") })
}

/// The operations that were asked for, else products and squares, and have algorithms, each once.
fn operations(args: &Tune) -> Vec<Operation> {
    // To measure all would take hours; the others' rows are those of their groups.
    let usual = |it: &Operation| args.operation.is_empty() && it.group() == Group::Product;
    let wanted = |it: &Operation| usual(it) || args.operation.contains(it);
    Operation::ALL
        .iter()
        .copied()
        .filter(|it| {
            wanted(it) && Plan::fitting(*it, &tuning::operands(*it, 1, 1)).is_ok_and(|names| !names.is_empty())
        })
        .collect()
}

fn grid(args: &Tune) -> Grid {
    let mut grid = if args.quick { Grid::quick() } else { Grid::full() };
    if !args.bits.is_empty() {
        grid.bits.clone_from(&args.bits);
        grid.bits.sort_unstable();
        grid.bits.dedup();
    }
    grid
}

/// The table of the measurements; operations that were not measured keep the rows that the table in the same
/// place has for them, if that is of this architecture.
fn table(info: &DeviceInfo, timings: &[Timing], before: &Path) -> Table {
    let fitting = |operation, bits| Plan::fitting(operation, &tuning::operands(operation, bits, 1)).unwrap_or_default();
    let mut table = tuning::table(info.capability, &measured_on(info), timings, fitting);
    if let Ok(before) = Table::read(before)
        && before.architecture == info.capability
    {
        for (operation, rows) in before.rows {
            table.rows.entry(operation).or_insert(rows);
        }
    }
    table
}

/// What the table says of where it comes from.
fn measured_on(info: &DeviceInfo) -> String {
    let driver = info.driver.map_or_else(String::new, |(major, minor)| format!(", driver for CUDA {major}.{minor}"));
    format!("{}{driver}, warpmp {}", info.name, env!("CARGO_PKG_VERSION"))
}

/// Where the table goes.
#[derive(Debug)]
struct Place {
    table: PathBuf,
    /// In the configuration directory: made if it is not there, and the table before is kept.
    own: bool,
}

impl Place {
    fn of(args: &Tune, architecture: u32) -> Result<Self> {
        match &args.output {
            Some(file) => Ok(Self { table: file.into(), own: false }),
            None => Ok(Self { table: tables::path(architecture)?, own: true }),
        }
    }
}

/// The files to be written, opened before anything is measured.
#[derive(Debug)]
struct Outputs {
    table: Option<Output>,
    plots: Vec<(Operation, Output)>,
    /// What they are called.
    names: Vec<String>,
}

impl Outputs {
    fn open(place: &Place, plot: Option<&str>, operations: &[Operation]) -> Result<Self> {
        let table = place.table.to_string_lossy().into_owned();
        if let Some(folder) = place.table.parent().filter(|_| place.own) {
            let error = |source| Error::write(&folder.to_string_lossy(), source);
            fs::create_dir_all(folder).map_err(error)?;
        }
        let usual = place.table.with_extension("svg").to_string_lossy().into_owned();
        let plot = plot.map_or(usual, str::to_owned);
        let mut names = vec![table.clone()];
        let table = Some(Output::open(Some(&table), &[])?);
        let mut plots = Vec::new();
        for operation in operations {
            let name = if operations.len() == 1 { plot.clone() } else { plot_name(&plot, operation.name()) };
            plots.push((*operation, Output::open(Some(&name), &[])?));
            names.push(name);
        }
        Ok(Self { table, plots, names })
    }

    fn write(&mut self, place: &Place, table: &Table, timings: &[Timing], info: &DeviceInfo) -> Result<()> {
        if place.own && place.table.exists() {
            let kept = place.table.with_extension("json.bak");
            fs::copy(&place.table, &kept).map_err(|source| Error::write(&kept.to_string_lossy(), source))?;
        }
        if let Some(mut output) = self.table.take() {
            output.write_all(table.to_text().as_bytes())?;
            output.finish()?;
        }
        for (operation, mut output) in self.plots.drain(..) {
            output.write_all(text::chart(operation, timings, &info.name).svg()?.as_bytes())?;
            output.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
