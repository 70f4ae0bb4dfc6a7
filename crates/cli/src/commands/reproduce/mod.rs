//! `warpmp bench --reproduce TABLE`: the papers' tables, measured or counted anew on this machine.
//!
//! The crate `warpmp-papers` measures and counts. Here are the options, the text, the charts and the files.
//!
//! ```text
//! text.rs     a table for people: times and counts;  forms_text.rs, rates_text.rs: forms of an operation, rates
//! draw.rs     a table as a chart;  forms_draw.rs: forms of an operation
//! ```

mod draw;
mod error;
mod forms_draw;
mod forms_text;
mod rates_text;
mod text;

use std::{
    ffi::OsString,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;
use tempfile::TempDir;
use warpmp::{EngineKind, Selector, Session, device::Device};
use warpmp_papers::{
    Outcome, Settings, Watch, counts, forms,
    rates::{self, Machine},
    tables::{self, Content, Entry},
    times,
};

pub(crate) use self::error::ReproduceError;
use crate::{
    args::Reproduce,
    console, engine,
    error::Result,
    interrupt,
    io::output::{self, Output},
    plot::chart_name,
    progress::Progress,
};

/// All tables, for `--json`.
#[derive(Debug, Serialize)]
struct Object<'a> {
    tables: &'a [Outcome],
}

/// Runs the command.
pub(crate) fn run(args: &Reproduce) -> Result<()> {
    if let [name] = &args.tables[..]
        && name == "list"
    {
        return console::print(&text::list(&tables::all()));
    }
    let mut entries = tables::find(&args.tables)?;
    let mut outputs = Outputs::open(args, &entries)?;
    let session = session(args, &mut entries)?;
    let mut outcomes = Vec::new();
    for entry in &entries {
        interrupt::check()?;
        let Some(outcome) = outcome(args, entry, session.as_ref())? else { continue };
        if !args.report.json {
            let space = if outcomes.is_empty() { "" } else { "\n" };
            let text = format!("{space}{}", text::table(&outcome));
            if outputs.are_wanted() { console::report(&text)? } else { console::print(&text)? }
        }
        outputs.plot(&outcome)?;
        outcomes.push(outcome);
    }
    outputs.finish(&outcomes)?;
    if args.report.json {
        console::print_object(&Object { tables: &outcomes })?;
    }
    Ok(())
}

/// Reproduces a table; none where it needs a session and there is none.
fn outcome(args: &Reproduce, entry: &Entry, session: Option<&Session>) -> Result<Option<Outcome>> {
    let bar = Bar { quiet: args.report.progress.quiet, bar: Mutex::default() };
    let settings = Settings { runs: args.runs, products: args.count, watch: &bar };
    let gpu = || first_gpu(args.device.selector);
    let outcome = match (&entry.table.content, session) {
        (Content::Counts(counts), _) => counts::reproduce(entry, counts, settings)?,
        (Content::Times(times), Some(session)) => times::reproduce(entry, times, session, settings)?,
        (Content::Times(_), None) => return Ok(None),
        (Content::Study(study), _) => forms::reproduce(entry, study, gpu()?, settings)?,
        (Content::Collatz(sweep), _) => match sweep.kind() {
            None => rates::compute(entry, sweep)?,
            Some(kind) => {
                let (gpu, cache) = (gpu()?, TempDir::new().ok());
                let machine = Machine { gpu: gpu.as_ref(), cache: cache.as_ref().map(TempDir::path) };
                rates::measure(entry, sweep, kind, machine, settings)?
            }
        },
    };
    Ok(Some(outcome))
}

fn first_gpu(selector: Selector) -> Result<Option<Arc<dyn Device>>> {
    Ok(engine::gpus(selector, true)?.into_iter().next())
}

/// Shows the progress of a table, and stops it on Ctrl-C.
struct Bar {
    quiet: bool,
    bar: Mutex<Option<Progress>>,
}

impl Watch for Bar {
    fn go_on(&self) -> bool {
        interrupt::check().is_ok()
    }

    fn progress(&self, done: u64, total: u64, name: &'static str) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        bar.get_or_insert_with(|| Progress::new(Some(total), name, self.quiet)).update(done, done);
        if done >= total {
            *bar = None;
        }
    }
}

/// The engine, where a table needs one. The simulator has no times: of several tables those with times are left out.
fn session(args: &Reproduce, entries: &mut Vec<Entry>) -> Result<Option<Session>> {
    let Some(timed) = entries.iter().find(|entry| entry.has_times()).map(Entry::name) else {
        return Ok(None);
    };
    let session = engine::open_one(args.device.selector, args.report.progress.quiet || args.report.json)?;
    if session.engine().kind != EngineKind::Sim {
        return Ok(Some(session));
    }
    if entries.iter().all(Entry::has_times) {
        return Err(ReproduceError::SimulatorTime { table: timed }.into());
    }
    for entry in entries.iter().filter(|entry| entry.has_times()) {
        console::note(&format!("note: left out: {}: the simulator has no times", entry.name()));
    }
    entries.retain(|entry| !entry.has_times());
    Ok(None)
}

/// The files that were asked for, opened before anything is measured.
struct Outputs {
    csv: Option<Output>,
    /// One a table.
    plots: Vec<(String, Output)>,
}

impl Outputs {
    fn open(args: &Reproduce, entries: &[Entry]) -> Result<Self> {
        let charts: Vec<(String, OsString)> = args
            .plot
            .iter()
            .flat_map(|file| {
                let name = |entry: &Entry| chart_name(file, &entry.name(), entries.len());
                entries.iter().map(move |entry| (entry.name(), name(entry)))
            })
            .collect();
        output::refuse_twice(&args.report.csv.iter().chain(charts.iter().map(|it| &it.1)).collect::<Vec<_>>())?;
        let csv = args.report.csv.as_ref().map(Output::to).transpose()?;
        let open = |(table, name): (String, OsString)| Ok((table, Output::to(name)?));
        Ok(Self { csv, plots: charts.into_iter().map(open).collect::<Result<_>>()? })
    }

    /// Are there files yet to be written?
    const fn are_wanted(&self) -> bool {
        self.csv.is_some() || !self.plots.is_empty()
    }

    /// Draws the table into its file.
    fn plot(&mut self, outcome: &Outcome) -> Result<()> {
        let Some(place) = self.plots.iter().position(|(table, _)| *table == outcome.table) else { return Ok(()) };
        let (_, output) = self.plots.swap_remove(place);
        output.write(draw::svg(outcome)?.as_bytes())
    }

    fn finish(self, outcomes: &[Outcome]) -> Result<()> {
        let Some(output) = self.csv else { return Ok(()) };
        output.write_csv(outcomes.iter().flat_map(|outcome| &outcome.lines))
    }
}
