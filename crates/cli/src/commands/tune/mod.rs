//! `warpmp tune`: every algorithm over sizes and batch counts, and the table of what is fastest where.
//!
//! ```text
//! mod.rs      the command: what to measure, and where the table goes
//! helpers.rs  processes that compile kernels beforehand
//! text.rs     what was found, for people, and as a picture
//! ```

mod error;
mod helpers;
mod text;

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use warpmp::{
    EngineKind, Operation, Session,
    device::DeviceInfo,
    tuning::{self, Grid, Search, Table, Timing, Watch, Work},
};

pub(crate) use self::error::TuneError;
use self::helpers::Helpers;
use crate::{
    args::Tune,
    console, engine,
    error::{Error, Result},
    interrupt,
    io::output::{self, Output},
    plot::chart_name,
    progress::Progress,
    tables::{self, TablesError},
};

/// How long the driver may compile and the GPU run; what is not measured by then has its default settings alone.
const FULL: Duration = Duration::from_secs(270);
const QUICK: Duration = Duration::from_secs(50);

/// Runs of each candidate that may be the fastest.
const FULL_RUNS: usize = 9;
const QUICK_RUNS: usize = 5;

/// Steps of the progress bar.
const STEPS: u64 = 10_000;

/// The terminal and the helpers of a search.
struct Watching {
    progress: Progress,
    helpers: Helpers,
}

impl Watch for Watching {
    fn go_on(&self) -> bool {
        interrupt::check().is_ok()
    }

    fn progress(&self, share: f64, measurements: usize) {
        self.progress.update((share * STEPS as f64) as u64, measurements as u64);
    }

    fn prepare(&mut self, operation: Operation, bits: usize, until: Instant) {
        self.helpers.wait(operation, bits, until);
    }
}

/// Runs the command.
pub(crate) fn run(args: &Tune) -> Result<()> {
    // The table that is there decides nothing: it is what will be replaced.
    let session = engine::open_untuned(args.device, true)?;
    let works = works(args);
    let (budget, runs) = if args.quick { (QUICK, QUICK_RUNS) } else { (FULL, FULL_RUNS) };
    if let Some(part) = args.compile {
        return helpers::compile(&session, &works, part, budget);
    }
    let info = gpu_of(&session, args.dry_run)?.clone();
    let place = Place::of(args, info.capability)?;
    if args.dry_run {
        return console::print(&text::dry_run(&session, &works, &place.table)?);
    }
    let mut outputs = Outputs::open(&place, args.plot.as_deref(), args.csv.as_deref(), &works)?;
    let helpers = Helpers::start(args, &session);
    let progress = Progress::new(Some(STEPS), "measurements", args.progress.quiet);
    let mut watch = Watching { progress, helpers };
    let found = Search { works: &works, budget, runs }.run(session, &mut watch)?;
    drop(watch);
    let measured = table(&info, &found.timings, &place.table);
    measured.check(&engine::register()).map_err(TablesError::from)?;
    outputs.write(&place, &measured, &found.timings, &info)?;
    for note in &found.notes {
        console::note(&format!("note: left out: {note}"));
    }
    console::print(&text::summary(&found, &measured, &info, &outputs.names))?;
    if found.wrong > 0 { Err(TuneError::WrongCandidates { faults: found.wrong }.into()) } else { Ok(()) }
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
    Err(TuneError::Nothing { place: format!("{place}{reason}") }.into())
}

/// The operations that were asked for, else the usual ones, each once, with the batches to measure them on.
fn works(args: &Tune) -> Vec<Work> {
    let usual = tuning::usual();
    let asked = |it: &&Operation| args.operation.contains(it);
    let asked: Vec<Operation> = Operation::ALL.iter().filter(asked).copied().collect();
    let operations = if asked.is_empty() { usual } else { asked };
    operations.into_iter().map(|operation| Work { operation, grid: grid(operation, args) }).collect()
}

fn grid(operation: Operation, args: &Tune) -> Grid {
    let mut grid = if args.quick { Grid::quick(operation) } else { Grid::full(operation) };
    if args.bits.is_empty() {
        return grid.with_limits(operation, |bits| fitting(operation, bits));
    }
    grid.bits.clone_from(&args.bits);
    grid.bits.sort_unstable();
    grid.bits.dedup();
    grid.bits.retain(|bits| !fitting(operation, *bits).is_empty());
    grid
}

/// The algorithms that take operands of so many bits.
fn fitting(operation: Operation, bits: usize) -> Vec<&'static str> {
    engine::register().fitting(operation, &tuning::operands(operation, bits, 1)).unwrap_or_default()
}

/// The table of the measurements; operations that were not measured keep the rows that the table in the same
/// place has for them, if that is of this architecture.
fn table(info: &DeviceInfo, timings: &[Timing], before: &Path) -> Table {
    let mut table = tuning::table(info.capability, &measured_on(info), timings, fitting);
    if let Ok(before) = Table::read(before, &engine::register())
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
    /// For every measurement.
    csv: Option<Output>,
    plots: Vec<(Operation, Output)>,
    /// What they are called.
    names: Vec<String>,
}

impl Outputs {
    fn open(place: &Place, plot: Option<&OsStr>, csv: Option<&OsStr>, works: &[Work]) -> Result<Self> {
        if let Some(folder) = place.table.parent().filter(|_| place.own) {
            let error = |source| Error::write(&folder.to_string_lossy(), source);
            fs::create_dir_all(folder).map_err(error)?;
        }
        let plot = plot.map_or_else(|| place.table.with_extension("svg").into(), OsStr::to_owned);
        let mut names = vec![OsString::from(&place.table)];
        for Work { operation, .. } in works {
            names.push(chart_name(&plot, &operation.to_string(), works.len()));
        }
        output::refuse_twice(&names.iter().map(OsString::as_os_str).chain(csv).collect::<Vec<_>>())?;
        let table = Some(Output::to(&place.table)?);
        let csv = csv.map(Output::to).transpose()?;
        let open = |(work, name): (&Work, &OsString)| Ok((work.operation, Output::to(name)?));
        let plots = works.iter().zip(&names[1..]).map(open).collect::<Result<_>>()?;
        let names = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        Ok(Self { table, csv, plots, names })
    }

    fn write(&mut self, place: &Place, table: &Table, timings: &[Timing], info: &DeviceInfo) -> Result<()> {
        if place.own && place.table.exists() {
            let kept = place.table.with_extension("json.bak");
            fs::copy(&place.table, &kept).map_err(|source| Error::write(&kept.to_string_lossy(), source))?;
        }
        if let Some(output) = self.table.take() {
            output.write(table.to_text().as_bytes())?;
        }
        if let Some(output) = self.csv.take() {
            text::write_csv(timings, output)?;
        }
        for (operation, output) in self.plots.drain(..) {
            output.write(text::chart(operation, timings, &info.name).svg()?.as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
