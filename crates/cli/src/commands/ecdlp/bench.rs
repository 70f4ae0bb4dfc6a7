//! `warpmp bench ecdlp`: steps a second.

use std::time::Instant;

use serde_json::json;
use warpmp_curves::search::{Definition, Engine, Plan};

use super::args::BenchEcdlp;
use crate::{
    console,
    error::Result,
    interrupt,
    summary::{scaled, scaled_seconds},
};

/// Reported walks that are replayed before anything is timed.
const SAMPLE: usize = 32;
/// Bits of a distinguished point while walks are checked.
const CHECKED_BITS: u32 = 10;
/// Seconds of a timed run, about.
const RUN_SECONDS: f64 = 0.5;

/// Runs the command.
pub(crate) fn run(args: &BenchEcdlp) -> Result<()> {
    let problem = super::problem(&args.curve.curve, args.object.json)?;
    let (engine, name) = super::engine(args.device.selector, args.object.json)?;
    let mut plan = Plan::new(&problem, &engine, 1, args.curve.seed);
    if let Some(points) = args.points {
        plan.layout.points = points as u32;
    }
    if let Some(threads) = args.threads {
        plan.layout.threads = threads as u32;
    }
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
    let mut runs: Vec<(f64, u64)> = (0..args.runs).map(|_| run(rounds)).collect::<Result<_>>()?;
    runs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (seconds, steps) = runs[runs.len() / 2];
    let rate = steps as f64 / seconds;
    let bits = problem.group.p.bits();
    let layout = plan.layout;
    let expected = problem.expected_steps();
    if args.object.json {
        let object = json!({
            "op": "bench ecdlp", "curve": args.curve.curve, "bits": bits, "device": name, "blocks": layout.blocks,
            "threads": layout.threads, "points": layout.points, "branch_bits": plan.settings.branch_bits,
            "seconds": runs.iter().map(|run| run.0).collect::<Vec<_>>(), "steps": steps, "steps_per_second": rate,
            "expected_steps": expected,
        });
        return console::report(&format!("{object}\n"));
    }
    console::print(&format!(
        "{bits} bits, {} walks ({} blocks of {} threads with {} points); {name}\n{} steps/s: median of {} runs of {}; the \
         expected {} steps take {}\n",
        layout.walks(),
        layout.blocks,
        layout.threads,
        layout.points,
        scaled(rate),
        runs.len(),
        scaled_seconds(seconds),
        scaled(expected),
        super::duration(expected / rate, "card-"),
    ))
}

/// Replays reported walks.
fn check(problem: &warpmp_curves::Problem, engine: &Engine, mut plan: Plan) -> Result<()> {
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
