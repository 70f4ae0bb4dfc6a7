//! `warpmp ecdlp solve --output`: one logarithm by many processes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;
use warpmp_campaign::Mode;
use warpmp_curves::{
    Problem,
    campaign::{self, Event, Opened, Outcome, Worker},
    search::Engine,
    walk::Settings,
};

use super::{EcdlpError, args::Solve};
use crate::{
    commands::campaign::shell,
    console,
    error::Result,
    interrupt::{self, Closing},
    progress::Progress,
    summary::{duration, scaled},
};

/// Why a search ended without a logarithm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    TimeOver,
    Interrupted,
}

/// Runs the command.
pub(super) fn run(args: &Solve, folder: &str) -> Result<()> {
    let begin = Instant::now();
    console::check_stdout()?;
    let quiet = args.summary.hides_notes();
    let engines = super::engines(args.device.selector, quiet)?;
    let (problem, settings) = wanted(args, Path::new(folder), &engines[0].0, engines.len())?;
    if let Some(k) = problem.trivial_solution() {
        return console::print(&format!("{k}\n"));
    }
    let opened = Opened::new(Path::new(folder), &problem, settings)?;
    let count = engines.len();
    let workers: Vec<Worker> = engines
        .into_iter()
        .map(|(engine, name)| {
            let plan = super::plan_with(&problem, &engine, count, settings, args.walk.points);
            Worker { engine, name, plan }
        })
        .collect();
    let (outcome, end) = work(args, &opened, &workers)?;
    report(args, &opened, &workers, &outcome, begin.elapsed().as_secs_f64())?;
    let resume = shell::resume(Path::new(folder), Mode::ALONE);
    match end {
        _ if outcome.found.is_some() => Ok(()),
        End::TimeOver => Err(EcdlpError::TimeOver { resume }.into()),
        End::Interrupted => Err(EcdlpError::Interrupted { resume }.into()),
    }
}

/// The problem and the walk that the user asks for; what is not named is the directory's.
fn wanted(args: &Solve, folder: &Path, engine: &Engine, engines: usize) -> Result<(Problem, Settings)> {
    let quiet = args.summary.hides_notes();
    let there = campaign::begun(folder)?;
    let problem = match (&args.curve, &there) {
        (Some(curve), _) => super::problem(curve, quiet)?,
        (None, Some(specification)) => specification.problem()?,
        (None, None) => return Err(EcdlpError::NoCampaign { folder: folder.display().to_string() }.into()),
    };
    let settings = match there.map(|specification| specification.settings()) {
        Some(settings) => Settings {
            seed: args.seed.unwrap_or(settings.seed),
            distinguished_bits: args.walk.distinguished_bits.unwrap_or(settings.distinguished_bits),
            ..settings
        },
        None => super::plan(&problem, engine, engines, args.seed.unwrap_or(0), &args.walk)?.settings,
    };
    Ok((problem, settings))
}

/// Searches until the logarithm is found, the time is over, or a signal comes.
fn work(args: &Solve, opened: &Opened, workers: &[Worker]) -> Result<(Outcome, End)> {
    let _closing = Closing::new();
    let before = opened.status()?;
    let bar = Progress::new(Some((2.0 * before.expected) as u64), "steps", args.summary.quiet);
    let limit = args.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut end = End::Interrupted;
    let event = |event: Event| {
        // Points that are lost are news for everybody.
        if event.is_loss() {
            console::note(&format!("warning: {event}"));
        } else if !args.summary.quiet {
            console::note(&format!("note: {event}"));
        }
    };
    let outcome = campaign::run(opened, workers, args.memory << 20, &event, |progress| {
        bar.update(before.steps + progress.steps, progress.steps);
        if limit.is_some_and(|limit| Instant::now() >= limit) {
            end = End::TimeOver;
            return false;
        }
        interrupt::check().is_ok()
    })?;
    Ok((outcome, end))
}

fn report(args: &Solve, opened: &Opened, workers: &[Worker], outcome: &Outcome, seconds: f64) -> Result<()> {
    let Outcome { found, progress: now } = outcome;
    let status = opened.status()?;
    let rate = now.steps as f64 / seconds;
    let k = found.as_ref().map(|found| found.k.as_str());
    let devices: Vec<&str> = workers.iter().map(|worker| worker.name.as_str()).collect();
    let object = json!({
        "op": "ecdlp solve", "curve": status.problem.name, "k": k, "steps": now.steps, "steps_of_all": status.steps,
        "expected_steps": status.expected, "distinguished_points": now.points, "distinguished_points_of_all": status.points,
        "meetings": status.meetings, "walks": workers.iter().map(|it| it.plan.layout.walks()).sum::<u64>(),
        "distinguished_bits": opened.settings().distinguished_bits, "branch_bits": opened.settings().branch_bits,
        "devices": devices, "seconds": seconds, "steps_per_second": rate,
    });
    let text = format!(
        "{}{} steps now, {} in all, {} of the expected {}; {} distinguished points in all; {}, {} steps/s; {}",
        if found.is_some() { "k·P = Q, checked; " } else { "" },
        scaled(now.steps as f64),
        scaled(status.steps as f64),
        super::part(status.steps as f64, status.expected),
        scaled(status.expected),
        status.points,
        duration(seconds, ""),
        scaled(rate),
        devices.join(", "),
    );
    if let (Some(k), false) = (k, args.summary.json) {
        console::print(&format!("{k}\n"))?;
    }
    console::summary(args.summary, !args.summary.json, &object, &text)
}
