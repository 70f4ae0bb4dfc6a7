//! `warpmp bench ecdlp`: steps a second.

use std::time::Instant;

use serde_json::json;
use warpmp_curves::{
    Error as LibraryError, Instructions, Problem,
    affine::Group,
    kernels::Constants,
    search::{Definition, Engine, Plan},
    walk::limbs,
};
use warpmp_oracle::measure::wide_products_per_second;

use super::args::BenchEcdlp;
use crate::{
    console,
    error::Result,
    interrupt,
    progress::Progress,
    summary::{duration, scaled, scaled_seconds},
};

/// Reported walks that are replayed before anything is timed.
const SAMPLE: usize = 32;
/// Bits of a distinguished point while walks are checked.
const CHECKED_BITS: u32 = 10;
/// Seconds of a timed run, about.
const RUN_SECONDS: f64 = 0.5;

/// Runs the command.
pub(crate) fn run(args: &BenchEcdlp) -> Result<()> {
    console::check_stdout()?;
    let problem = match (&args.measured.curve, args.measured.bits) {
        (None, Some(bits)) => Problem::for_measurements(bits).map_err(LibraryError::from)?,
        (curve, _) => super::problem(curve.as_deref().unwrap_or_default(), args.object.json)?,
    };
    let (engine, name) = super::engine(args.device.selector, args.object.json)?;
    let mut plan = Plan::new(&problem, &engine, 1, args.seed);
    if let Some(points) = args.points {
        plan.layout.points = points as u32;
    }
    if let Some(threads) = args.threads {
        plan.layout.threads = threads as u32;
    }
    let progress = Progress::new(Some(args.runs as u64 + 1), "runs", args.object.json);
    progress.phase("tables, kernels and a check");
    check(&problem, &engine, plan)?;
    plan.settings.distinguished_bits = plan.settings.distinguished_bits.max(16);
    plan.layout = plan.layout.with_room(plan.rounds, plan.settings.distinguished_bits);
    let definition = Definition::new(&problem, plan.settings)?;
    let mut walks = definition.walks(&engine, &plan, 0)?;
    let mut rounds = 2_u32;
    let mut run = |rounds: u32| -> Result<(f64, u64)> {
        interrupt::check()?;
        let (begin, before) = (Instant::now(), walks.steps());
        walks.advance(rounds, &mut || {})?;
        Ok((begin.elapsed().as_secs_f64(), walks.steps() - before))
    };
    // As many rounds as take half a second.
    while run(rounds)?.0 < RUN_SECONDS / 2.0 && rounds < 1 << 20 {
        rounds *= 2;
    }
    let mut runs = Vec::new();
    for done in 0..args.runs as u64 {
        progress.part(done + 1, &format!("run {} of {}", done + 1, args.runs));
        runs.push(run(rounds)?);
    }
    drop(progress);
    runs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (seconds, steps) = runs[runs.len() / 2];
    let rate = steps as f64 / seconds;
    let bits = problem.group.p.bits();
    let layout = plan.layout;
    let expected = problem.expected_steps();
    let fraction = multiplier_fraction(&problem, &engine, rate);
    if args.object.json {
        let object = json!({
            "op": "bench ecdlp", "curve": args.measured.curve, "bits": bits, "device": name, "blocks": layout.blocks,
            "threads": layout.threads, "points": layout.points, "branch_bits": plan.settings.branch_bits,
            "seconds": runs.iter().map(|run| run.0).collect::<Vec<_>>(), "steps": steps, "steps_per_second": rate,
            "expected_steps": expected, "wide_product_fraction": fraction,
        });
        return console::report_object(&object);
    }
    let (place, of) = match engine {
        Engine::Device(_) => (
            format!(" ({} blocks of {} threads with {} points)", layout.blocks, layout.threads, layout.points),
            "card-",
        ),
        Engine::Cpu | Engine::Cores(_) => (format!(" by {}", Instructions::available(bits)[0]), ""),
    };
    console::print(&format!(
        "{bits} bits, {} walks{place}; {name}\n{} steps/s: median of {} runs of {}{}; the \
         expected {} steps take {}\n",
        layout.walks(),
        scaled(rate),
        runs.len(),
        scaled_seconds(seconds),
        fraction.map_or_else(String::new, |part| format!(", {part:.3} of the multipliers' limit")),
        scaled(expected),
        duration(expected / rate, of),
    ))
}

/// The wide products of the steps as a part of what the GPU's multipliers can do at the highest clock; none for other engines.
fn multiplier_fraction(problem: &Problem, engine: &Engine, rate: f64) -> Option<f64> {
    let Engine::Device(device) = engine else { return None };
    let limit = wide_products_per_second(device.info()).filter(|limit| *limit > 0.0)?;
    let Group { p, a, .. } = &problem.group;
    let step = Constants::new(p.clone(), a.clone(), limbs(p)).step_products();
    Some(rate * step as f64 / limit)
}

/// Replays reported walks.
fn check(problem: &Problem, engine: &Engine, mut plan: Plan) -> Result<()> {
    plan.settings.distinguished_bits = plan.settings.distinguished_bits.min(CHECKED_BITS);
    let rounds = 2 << plan.settings.distinguished_bits;
    plan.layout.points = plan.layout.points.min(4);
    plan.layout = plan.layout.with_room(rounds, plan.settings.distinguished_bits);
    let definition = Definition::new(problem, plan.settings)?;
    let mut walks = definition.walks(engine, &plan, 0)?;
    let reports = walks.advance(rounds, &mut || {})?;
    for report in reports.iter().step_by((reports.len() / SAMPLE).max(1)) {
        definition.check(*report)?;
    }
    Ok(())
}
