//! `warpmp bench --reproduce TABLE`: the papers' tables, measured or counted anew on this machine.
//!
//! ```text
//! tables.rs   the papers' figures, from crates/cli/papers, and their names
//! times.rs    tables of times: the paper's workload on the engine and on the CPU
//! cpu.rs      the CPU by one core and by all;  gmp.rs: by GMP, where it is built in
//! epfl/       figures of the EPFL report: forms of an operation over grids and blocks
//! collatz/    tables and figures of rates of the Collatz schemes, and what their tables hold
//! counts.rs   tables of operation counts, from the simulator
//! line.rs     the paper's figure beside ours
//! text.rs     for people;  draw.rs: as a chart;  JSON and CSV are the lines themselves
//! ```

mod collatz;
mod counts;
mod cpu;
mod draw;
mod epfl;
mod error;
#[cfg(feature = "gmp")]
mod gmp;
mod line;
mod tables;
mod text;
mod times;

use serde::Serialize;
use warpmp::{EngineKind, Session};

pub(crate) use self::error::ReproduceError;
use self::{
    line::Outcome,
    tables::{Content, Entry},
    times::Settings,
};
use crate::{
    args::Reproduce,
    console, engine,
    error::Result,
    interrupt,
    io::output::{self, Output},
    plot::chart_name,
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
    let settings = Settings { runs: args.runs, products: args.count, quiet: args.report.progress.quiet };
    let mut outcomes = Vec::new();
    for entry in &entries {
        interrupt::check()?;
        let outcome = match (&entry.table.content, &session) {
            (Content::Counts(counts), _) => counts::reproduce(entry, counts, args.report.progress.quiet)?,
            (Content::Times(times), Some(session)) => times::reproduce(entry, times, session, settings)?,
            (Content::Times(_), None) => continue,
            (Content::Study(study), _) => epfl::reproduce(entry, study, args.device.selector, settings)?,
            (Content::Collatz(sweep), _) => collatz::reproduce(entry, sweep, args.device.selector, settings)?,
        };
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
        let object = Object { tables: &outcomes };
        console::print(&(serde_json::to_string(&object).unwrap_or_default() + "\n"))?;
    }
    Ok(())
}

/// The engine, where a table needs one. The simulator has no times: of several tables those with times are left out.
fn session(args: &Reproduce, entries: &mut Vec<Entry>) -> Result<Option<Session>> {
    let Some(timed) = entries.iter().find(|entry| entry.has_times()).map(Entry::name) else {
        return Ok(None);
    };
    let session = engine::open(args.device.selector, args.report.progress.quiet || args.report.json)?;
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
        let charts: Vec<(String, String)> = args
            .plot
            .iter()
            .flat_map(|file| {
                let name = |entry: &Entry| chart_name(file, &entry.name(), entries.len());
                entries.iter().map(move |entry| (entry.name(), name(entry)))
            })
            .collect();
        output::refuse_twice(&args.report.csv.iter().chain(charts.iter().map(|it| &it.1)).collect::<Vec<_>>())?;
        let csv = args.report.csv.as_deref().map(|name| Output::open(Some(name), &[])).transpose()?;
        let open = |(table, name): (String, String)| Ok((table, Output::open(Some(&name), &[])?));
        Ok(Self { csv, plots: charts.into_iter().map(open).collect::<Result<_>>()? })
    }

    /// Are there files yet to be written?
    const fn are_wanted(&self) -> bool {
        self.csv.is_some() || !self.plots.is_empty()
    }

    /// Draws the table into its file.
    fn plot(&mut self, outcome: &Outcome) -> Result<()> {
        let Some(place) = self.plots.iter().position(|(table, _)| *table == outcome.table) else { return Ok(()) };
        let (_, mut output) = self.plots.swap_remove(place);
        output.write_all(draw::svg(outcome)?.as_bytes())?;
        output.finish()
    }

    fn finish(self, outcomes: &[Outcome]) -> Result<()> {
        let Some(mut output) = self.csv else { return Ok(()) };
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in outcomes.iter().flat_map(|outcome| &outcome.lines) {
            writer.serialize(line).map_err(|error| output.error(error.into()))?;
        }
        let bytes = writer.into_inner().map_err(|error| output.error(error.into_error()))?;
        output.write_all(&bytes)?;
        output.finish()
    }
}
