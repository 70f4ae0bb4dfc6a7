//! `warpmp ecdlp solve`: one logarithm.

use std::time::Instant;

use serde_json::json;
use warpmp_curves::search::{Engine, Plan, solve};

use super::args::Solve;
use crate::{
    console,
    error::Result,
    interrupt,
    progress::Progress,
    summary::{duration, scaled},
};

/// Runs the command.
pub(super) fn run(args: &Solve) -> Result<()> {
    let begin = Instant::now();
    // An hour later it would be too late.
    console::check_stdout()?;
    let quiet = args.summary.hides_notes();
    // clap asks for a curve where there is no directory.
    let curve = args.curve.as_deref().unwrap_or_default();
    let problem = super::problem(curve, quiet)?;
    let (engines, devices): (Vec<_>, Vec<_>) = super::engines(args.device.selector, quiet)?.into_iter().unzip();
    // All engines make one walk: the settings are the first one's.
    let first = super::plan(&problem, &engines[0], engines.len(), args.seed.unwrap_or(0), &args.walk)?;
    let settings = first.settings;
    let plan = |engine: &Engine| match &args.walk.points {
        _ if engines.len() == 1 => first,
        points => super::plan_with(&problem, engine, engines.len(), settings, *points),
    };
    let engines: Vec<(Engine, Plan)> = engines.iter().map(|engine| (engine.clone(), plan(engine))).collect();
    let expected = problem.expected_steps();
    // Half of the searches take longer than expected: the bar's end is twice the mean.
    let progress = Progress::new(Some((2.0 * expected) as u64), "steps", args.summary.quiet);
    let solution = solve(&problem, &engines, |now| {
        progress.update(now.steps, now.steps);
        interrupt::check().is_ok()
    })?;
    drop(progress);
    let seconds = begin.elapsed().as_secs_f64();
    let steps: u64 = solution.steps.iter().sum();
    let rate = steps as f64 / seconds;
    let walks: u64 = engines.iter().map(|(_, plan)| plan.layout.walks()).sum();
    let k = solution.k.to_string();
    let object = json!({
        "op": "ecdlp solve", "curve": curve, "k": k, "steps": steps, "expected_steps": expected,
        "distinguished_points": solution.reports, "useless_meetings": solution.void, "walks": walks,
        "distinguished_bits": settings.distinguished_bits, "branch_bits": settings.branch_bits, "devices": devices,
        "steps_of_devices": solution.steps, "seconds": seconds, "steps_per_second": rate,
    });
    let text = format!(
        "k·P = Q, checked; {} steps, {:.2} of the expected {}; {} distinguished points; {}, {} steps/s; {}",
        scaled(steps as f64),
        steps as f64 / expected,
        scaled(expected),
        solution.reports,
        duration(seconds, ""),
        scaled(rate),
        devices.join(", "),
    );
    if !args.summary.json {
        console::print(&format!("{k}\n"))?;
    }
    console::summary(args.summary, !args.summary.json, &object, &text)
}
