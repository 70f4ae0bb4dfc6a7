//! `warpmp bench ecm`: curves a second of both stages.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use num_bigint::BigUint;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use warpmp_numtheory::{
    Watch,
    factor::{Bounds, Engine, Family, Job, Sigma, Verdict, device_products, expected_curves, run_on},
    primality::next_primes,
};
use warpmp_oracle::measure::wide_products_per_second;

use super::{FactorError, any_bits, bounds_of};
use crate::{
    args::BenchEcm,
    console,
    error::{Result, plural},
    interrupt,
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// Curves that are computed on both engines before anything is timed, and their bounds at the most.
const CHECKED: usize = 8;
const CHECKED_B1: u64 = 2000;
const CHECKED_B2: u64 = 100_000;
/// Longer times to a factor are not told: ten years.
const LONGEST_SECONDS: f64 = 3.15e8;
/// The first sigma.
const SIGMA: u32 = 1_000_003;

/// The times of a run's stages, by the share of the work that is done.
#[derive(Debug)]
struct Stages {
    begin: Instant,
    /// When the first stage ended.
    middle: Mutex<Option<Duration>>,
    /// The share of the work before the second stage.
    before: f64,
}

impl Watch for Stages {
    fn go_on(&self) -> bool {
        interrupt::check().is_ok()
    }

    fn progress(&self, share: f64) {
        if share >= self.before
            && let Ok(mut middle) = self.middle.lock()
        {
            middle.get_or_insert_with(|| self.begin.elapsed());
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &BenchEcm) -> Result<()> {
    console::check_stdout()?;
    let bounds = bounds_of(args.b2, args.b1)?;
    let (engine, name) = super::engine_of(args.device.selector, args.object.json)?;
    let progress = Progress::new(Some(args.runs as u64 + 1), "runs", args.object.json);
    progress.phase("a modulus, kernels and a check");
    let modulus = modulus(args.bits)?;
    let attempts = args.curves.unwrap_or_else(|| engine.curves_together(args.bits) as u64);
    let jobs = (0..attempts)
        .map(|number| {
            let sigma = Sigma::new(Family::Word, SIGMA.into()).and_then(|first| first.after(number));
            Ok(Job::ecm(modulus.clone(), sigma.map_err(FactorError::from)?))
        })
        .collect::<Result<Vec<Job>>>()?;
    check(&engine, &jobs, bounds)?;
    let mut runs = Vec::new();
    for done in 0..args.runs as u64 {
        interrupt::check()?;
        progress.part(done + 1, &format!("run {} of {}", done + 1, args.runs));
        runs.push(timed(&engine, &jobs, bounds)?);
    }
    drop(progress);
    runs.sort_by(|one, other| one[1].total_cmp(&other[1]));
    let [first, both] = runs[runs.len() / 2];
    let rate = attempts as f64 / both;
    let products = device_products(args.bits, bounds);
    let limit = engine.device().and_then(|device| wide_products_per_second(device.info())).filter(|limit| *limit > 0.0);
    let fraction = |products: f64, seconds: f64| limit.map(|limit| products * attempts as f64 / seconds / limit);
    let fractions = [fraction(products[0], first), fraction(products[1], both - first)];
    let expected: Vec<(u32, f64)> = (15..=65)
        .step_by(5)
        .map(|digits| (digits, expected_curves(digits.into(), bounds, Family::Word) / rate))
        .collect();
    if args.object.json {
        let object = json!({
            "op": "bench ecm", "bits": args.bits, "b1": bounds.b1(), "b2": bounds.b2(), "curves": attempts, "device": name,
            "seconds": runs.iter().map(|run| run[1]).collect::<Vec<_>>(), "first_stage_seconds": first,
            "curves_per_second": rate, "wide_product_fractions": fractions,
            "seconds_to_factor": expected.iter().map(|(digits, seconds)| json!({"digits": digits, "seconds": seconds})).collect::<Vec<_>>(),
        });
        return console::report(&format!("{object}\n"));
    }
    let part = |fraction: Option<f64>| {
        fraction.map_or_else(String::new, |part| format!(", {part:.3} of the multipliers' limit"))
    };
    // Far from the sizes that the bounds suit, the model of probabilities ends.
    let rising = expected.windows(2).take_while(|pair| pair[0].1 < pair[1].1).count() + 1;
    let times: Vec<String> = expected[..rising]
        .iter()
        .filter(|(_, seconds)| *seconds < LONGEST_SECONDS)
        .map(|(digits, seconds)| format!("{digits} digits {}", scaled_seconds(*seconds)))
        .collect();
    console::print(&format!(
        "{} bits, B1 {}, B2 {}, {attempts} curve{} of family 3; {name}\n\
         {} curves/s, both stages: median of {} run{} of {}\n\
         first stage {}{}; second stage {}{}\n\
         expected time to a factor: {}\n",
        args.bits,
        bounds.b1(),
        bounds.b2(),
        plural(attempts),
        scaled(rate),
        runs.len(),
        plural(runs.len() as u64),
        scaled_seconds(both),
        scaled_seconds(first),
        part(fractions[0]),
        scaled_seconds(both - first),
        part(fractions[1]),
        times.join(", "),
    ))
}

/// A modulus of so many bits without small factors: a prime, or the product of two where a prime takes long to find.
fn modulus(bits: u64) -> Result<BigUint> {
    let mut random = ChaCha8Rng::seed_from_u64(bits);
    let parts = if bits <= 512 { 1 } else { 2 };
    let least = |bits: u64| BigUint::from(3_u32) << (bits - 2);
    let mut number = || any_bits(&mut random, bits / parts) | least(bits / parts);
    let starts: Vec<BigUint> = (0..parts).map(|_| number()).collect();
    let primes = next_primes(&warpmp::Session::cpu(), &starts, &())?;
    Ok(primes.into_iter().product())
}

/// Compares the verdicts of some curves with those of the cores.
fn check(engine: &Engine, jobs: &[Job], bounds: Bounds) -> Result<()> {
    let bounds = bounds_of(Some(bounds.b2().min(CHECKED_B2)), bounds.b1().min(CHECKED_B1))?;
    let jobs = &jobs[..jobs.len().min(CHECKED)];
    let (mine, others) = (run_on(engine, jobs, bounds, &())?, run_on(&Engine::cpu(), jobs, bounds, &())?);
    if mine == others { Ok(()) } else { Err(FactorError::Differs.into()) }
}

/// The seconds of the first stage and of both.
fn timed(engine: &Engine, jobs: &[Job], bounds: Bounds) -> Result<[f64; 2]> {
    let before = if bounds.b2() > bounds.b1() { 0.5 } else { 1.0 };
    let stages = Stages { begin: Instant::now(), middle: Mutex::new(None), before: before - 1e-9 };
    let verdicts = run_on(engine, jobs, bounds, &stages)?;
    let both = stages.begin.elapsed();
    let slips = verdicts.iter().filter(|verdict| **verdict == Verdict::Slipped).count() as u64;
    if slips > 0 {
        return Err(FactorError::Slips { count: slips, attempts: jobs.len() as u64 }.into());
    }
    let first = stages.middle.lock().ok().and_then(|middle| *middle).unwrap_or(both);
    Ok([first.as_secs_f64(), both.as_secs_f64()])
}
