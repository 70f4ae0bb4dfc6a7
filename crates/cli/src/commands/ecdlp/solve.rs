//! `warpmp ecdlp solve`: one logarithm.

use std::time::Instant;

use serde_json::json;
use warpmp_curves::search::solve;

use super::args::Solve;
use crate::{
    console,
    error::{Error, Result},
    interrupt,
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// Runs the command.
pub(super) fn run(args: &Solve) -> Result<()> {
    let begin = Instant::now();
    let quiet = args.summary.hides_notes();
    // clap asks for a curve where there is no directory.
    let curve = args.curve.as_deref().unwrap_or_default();
    let problem = super::problem(curve, quiet)?;
    let engines = super::engines(args.device.selector, quiet)?;
    if engines.len() > 1 && !quiet {
        console::note("note: the first GPU works alone; with --out all GPUs work");
    }
    let (engine, name) = engines.into_iter().next().ok_or(Error::Bug)?;
    let plan = super::plan(&problem, &engine, args.seed.unwrap_or(0), &args.walk)?;
    let expected = problem.expected_steps();
    // Half of the searches take longer than expected: the bar's end is twice the mean.
    let progress = Progress::new(Some((2.0 * expected) as u64), "steps", args.summary.quiet);
    let solution = solve(&problem, &engine, &plan, |now| {
        progress.update(now.steps, now.steps);
        interrupt::check().is_ok()
    })?;
    drop(progress);
    let seconds = begin.elapsed().as_secs_f64();
    let rate = solution.steps as f64 / seconds;
    let k = solution.k.to_string();
    let object = json!({
        "op": "ecdlp solve", "curve": curve, "k": k, "steps": solution.steps, "expected_steps": expected,
        "distinguished_points": solution.reports, "useless_meetings": solution.void, "walks": plan.layout.walks(),
        "distinguished_bits": plan.settings.distinguished_bits, "branch_bits": plan.settings.branch_bits, "device": name,
        "seconds": seconds, "steps_per_second": rate,
    });
    let text = format!(
        "k·P = Q, checked; {} steps, {:.2} of the expected {}; {} distinguished points; {}, {} steps/s; {name}",
        scaled(solution.steps as f64),
        solution.steps as f64 / expected,
        scaled(expected),
        solution.reports,
        scaled_seconds(seconds),
        scaled(rate),
    );
    if !args.summary.json {
        console::print(&format!("{k}\n"))?;
    }
    console::summary(args.summary, !args.summary.json, &object.to_string(), &text)
}
