//! Steps a second on every challenge curve, for several layouts, and whole searches.
//!
//! ```sh
//! cargo run --release -p warpmp-curves --example walk_rates -- rates          every curve by the usual layout
//! cargo run --release -p warpmp-curves --example walk_rates -- layouts CURVE  threads and points
//! cargo run --release -p warpmp-curves --example walk_rates -- cpu [CURVE]    one core, by each of its instruction sets
//! cargo run --release -p warpmp-curves --example walk_rates -- solve CURVE N  N searches
//! ```
//!
//! A GPU serves if there is one. Reported walks are replayed before anything is timed. `cpu` counts the time that the core
//! works for this program, so other programs disturb it little. With the feature `gmp` a straightforward program with GMP is timed in
//! the same run.

#[cfg(feature = "gmp")]
mod gmp;

use std::error::Error;
use std::time::Instant;
use std::{env, fs, process};

use warpmp_curves::search::{Definition, Engine, Plan, solve};
use warpmp_curves::{Instructions, Problem, challenges};

/// Seconds that the cores have worked for this process, by Linux; elsewhere the seconds since the program began.
fn processor_seconds(begin: Instant) -> f64 {
    let tasks = fs::read_dir("/proc/self/task").map_or_else(|_| Vec::new(), |tasks| tasks.flatten().collect());
    let nanoseconds = tasks.iter().filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    let sum: u64 = nanoseconds.sum();
    if sum == 0 { begin.elapsed().as_secs_f64() } else { sum as f64 / 1e9 }
}

/// Steps a second of a plan by a clock, after a check of some walks.
fn rate(problem: &Problem, engine: &Engine, mut plan: Plan, clock: impl Fn() -> f64) -> Result<f64, Box<dyn Error>> {
    plan.settings.distinguished_bits = 10;
    plan.layout = plan.layout.with_room(512, 10);
    let definition = Definition::new(problem, plan.settings)?;
    let mut walks = definition.walks(engine, &plan, 0)?;
    let reports = walks.advance(512, &mut || {})?;
    for report in reports.iter().step_by((reports.len() / 16).max(1)) {
        definition.check(*report)?;
    }
    drop(walks);
    plan.settings.distinguished_bits = 20;
    let definition = Definition::new(problem, plan.settings)?;
    let mut walks = definition.walks(engine, &plan, 0)?;
    walks.advance(8, &mut || {})?;
    let mut rates = Vec::new();
    for _ in 0..5 {
        let (begin, before) = (clock(), walks.steps());
        walks.advance(256, &mut || {})?;
        rates.push((walks.steps() - before) as f64 / (clock() - begin));
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates[2])
}

/// Steps a second of the program with GMP by a clock: the median of five runs.
#[cfg(feature = "gmp")]
fn gmp_rate(problem: &Problem, clock: impl Fn() -> f64) -> Result<f64, Box<dyn Error>> {
    let mut walk = gmp::Walk::new(problem, Plan::new(problem, &Engine::Cpu, 1, 1).settings)?;
    let mut rates = Vec::new();
    for _ in 0..5 {
        let begin = clock();
        (0..1000).for_each(|_| walk.round());
        rates.push(1000.0 * walk.points() as f64 / (clock() - begin));
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates[2])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let engine = warpmp_device::open_cuda(0).map_or(Engine::Cpu, Engine::Device);
    let begin = Instant::now();
    let elapsed = || begin.elapsed().as_secs_f64();
    match arguments[..] {
        ["rates"] => {
            for name in challenges::names() {
                let problem = challenges::named(name)?;
                let plan = Plan::new(&problem, &engine, 1, 1);
                let rate = rate(&problem, &engine, plan, elapsed)?;
                println!("{name}: {rate:.3e} steps/s, {:?}", plan.layout);
            }
        }
        ["cpu", ref curves @ ..] => {
            rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
            for name in challenges::names().into_iter().filter(|name| curves.is_empty() || curves.contains(name)) {
                let problem = challenges::named(name)?;
                for instructions in Instructions::available(problem.group.p.bits()) {
                    let engine = Engine::Cores(instructions);
                    let mut plan = Plan::new(&problem, &engine, 1, 1);
                    plan.layout.points = 4096;
                    println!(
                        "{name}, {instructions}: {:.3e} steps/s",
                        rate(&problem, &engine, plan, || processor_seconds(begin))?
                    );
                }
                #[cfg(feature = "gmp")]
                println!("{name}, GMP: {:.3e} steps/s", gmp_rate(&problem, || processor_seconds(begin))?);
            }
        }
        ["layouts", name] => {
            let problem = challenges::named(name)?;
            for threads in [512, 640, 768] {
                for points in [32, 64, 128, 256] {
                    let mut plan = Plan::new(&problem, &engine, 1, 1);
                    (plan.layout.threads, plan.layout.points) = (threads, points);
                    println!(
                        "{name}: T {threads}, B {points}: {:.3e} steps/s",
                        rate(&problem, &engine, plan, elapsed)?
                    );
                }
            }
        }
        ["solve", name, count] => {
            let problem = challenges::named(name)?;
            for seed in 0..count.parse()? {
                let begin = Instant::now();
                let plan = Plan::new(&problem, &engine, 1, seed);
                let found = solve(&problem, &[(engine.clone(), plan)], |_| true)?;
                let steps = found.steps[0] as f64;
                let seconds = begin.elapsed().as_secs_f64();
                println!(
                    "{name}: k = {}, {:.3e} steps, {:.2} of the expected, {} reports, {seconds:.2} s, {plan:?}",
                    found.k,
                    steps,
                    steps / problem.expected_steps(),
                    found.reports
                );
            }
        }
        _ => {
            eprintln!("rates | cpu [CURVE] | layouts CURVE | solve CURVE N");
            process::exit(2);
        }
    }
    Ok(())
}
