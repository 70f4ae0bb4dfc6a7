//! `warpmp bench ecm`: curves a second of both stages.

use std::time::Instant;

use num_bigint::BigUint;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use warpmp_numtheory::{
    Watch,
    factor::{Bounds, Engine, Family, Job, Sigma, Verdict, expected_curves, finds_on, run_on},
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

/// Curves that are computed on both engines before anything is timed, their bounds at the most, and the bits of the prime that
/// they find in either stage.
const CHECKED: usize = 32;
const CHECKED_B1: u64 = 2000;
const CHECKED_B2: u64 = 100_000;
const CHECKED_PRIME_BITS: u64 = 28;
/// Primes of so many bits are found quickly.
const PRIME_BITS: u64 = 256;
/// Longer times to a factor are not told: ten years.
const LONGEST_SECONDS: f64 = 3.15e8;
/// The first sigma.
const SIGMA: u32 = 1_000_003;

/// Stops a run on Ctrl-C.
struct Until;

impl Watch for Until {
    fn go_on(&self) -> bool {
        interrupt::check().is_ok()
    }
}

/// Runs the command.
pub(crate) fn run(args: &BenchEcm) -> Result<()> {
    console::check_stdout()?;
    let bounds = bounds_of(args.b2, args.b1)?;
    let (engine, name) = super::engine_of(args.device.selector, args.object.json)?;
    let progress = Progress::new(Some(args.runs as u64 + 2), "runs", args.object.json);
    progress.phase("a modulus, kernels and a check");
    let attempts = args.curves.unwrap_or_else(|| engine.curves_together([args.bits], bounds) as u64);
    check(&engine, args.bits, bounds, attempts)?;
    let jobs = jobs(&modulus(args.bits, None)?, attempts)?;
    let mut runs = Vec::new();
    for done in 0..args.runs as u64 {
        interrupt::check()?;
        progress.part(done + 1, &format!("run {} of {}", done + 1, args.runs));
        runs.push(timed(&engine, &jobs, bounds)?);
    }
    runs.sort_by(f64::total_cmp);
    let both = runs[runs.len() / 2];
    // A chunk of curves goes from one stage to the next by itself, so the first stage has a run of its own.
    let first = if bounds.b2() > bounds.b1() {
        progress.part(args.runs as u64 + 1, "the first stage alone");
        timed(&engine, &jobs, bounds_of(Some(0), args.b1)?)?.min(both)
    } else {
        both
    };
    drop(progress);
    let rate = attempts as f64 / both;
    let products = engine.device_products(args.bits, bounds, attempts as usize);
    let limits = engine.devices().map(|device| wide_products_per_second(device.info()));
    let limit = limits.sum::<Option<f64>>().filter(|limit| *limit > 0.0);
    let fraction = |stage: usize, seconds: f64| {
        let (limit, products) = limit.zip(products).filter(|_| seconds > 0.0)?;
        Some(products[stage] * attempts as f64 / seconds / limit)
    };
    let fractions = [fraction(0, first), fraction(1, both - first)];
    let expected: Vec<(u32, f64)> = (15..=65)
        .step_by(5)
        .map(|digits| (digits, expected_curves(digits.into(), bounds, Family::Word) / rate))
        .collect();
    if args.object.json {
        let object = json!({
            "op": "bench ecm", "bits": args.bits, "b1": bounds.b1(), "b2": bounds.b2(), "curves": attempts, "device": name,
            "seconds": runs, "first_stage_seconds": first,
            "curves_per_second": rate, "wide_product_fractions": fractions,
            "seconds_to_factor": expected.iter().map(|(digits, seconds)| json!({"digits": digits, "seconds": seconds})).collect::<Vec<_>>(),
        });
        return console::report_object(&object);
    }
    let part = |fraction: Option<f64>| {
        fraction.map_or_else(String::new, |part| format!(", {part:.3} of the multipliers' limit"))
    };
    let times: Vec<String> = expected
        .iter()
        .filter(|(_, seconds)| *seconds < LONGEST_SECONDS)
        .map(|(digits, seconds)| format!("{digits} digits {}", scaled_seconds(*seconds)))
        .collect();
    console::print(&format!(
        "{} bits, B1 {}, B2 {}, {attempts} curve{} of family 3; {name}\n\
         {} curves/s, both stages: median of {} run{} of {}\n\
         first stage alone {}{}; the second one adds {}{}\n\
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

/// A product of primes of about [`PRIME_BITS`] bits, and of one of `small` bits if that is asked for, with so many bits.
fn modulus(bits: u64, small: Option<u64>) -> Result<BigUint> {
    let mut random = ChaCha8Rng::seed_from_u64(bits);
    let rest = bits - small.unwrap_or(0);
    let parts = rest.div_ceil(PRIME_BITS);
    let lengths = (0..parts).map(|part| rest * (part + 1) / parts - rest * part / parts).chain(small);
    // With eight ones at the top of each, the product has no bit less.
    let starts: Vec<BigUint> =
        lengths.map(|bits| any_bits(&mut random, bits) | BigUint::from(0xFF_u32) << (bits - 8)).collect();
    let primes = next_primes(&warpmp::Session::cpu(), &starts, &())?;
    Ok(primes.into_iter().product())
}

/// Curves on a modulus.
fn jobs(modulus: &BigUint, count: u64) -> Result<Vec<Job>> {
    let first = Sigma::new(Family::Word, SIGMA.into()).map_err(FactorError::from)?;
    let job = |number| Ok(Job::ecm(modulus.clone(), first.after(number).map_err(FactorError::from)?));
    (0..count).map(job).collect()
}

/// Compares the verdicts of some curves with those of the cores, modulo an integer with a prime that some of them find in the first
/// stage, and some in the second. A GPU has as many curves as in the timed runs, so that it has the same kernels.
fn check(engine: &Engine, bits: u64, bounds: Bounds, attempts: u64) -> Result<()> {
    let bounds = bounds_of(Some(bounds.b2().min(CHECKED_B2)), bounds.b1().min(CHECKED_B1))?;
    let jobs = &jobs(&modulus(bits, Some(CHECKED_PRIME_BITS.min(bits / 2)))?, CHECKED as u64)?;
    let count = if engine.has_gpu() { CHECKED.max(attempts as usize) } else { CHECKED };
    let many: Vec<Job> = jobs.iter().cloned().cycle().take(count).collect();
    let (mine, others) = (run_on(engine, &many, bounds, &())?, run_on(&Engine::cpu(), jobs, bounds, &())?);
    if mine.iter().eq(others.iter().cycle().take(count)) { Ok(()) } else { Err(FactorError::Differs.into()) }
}

/// The seconds of a run.
fn timed(engine: &Engine, jobs: &[Job], bounds: Bounds) -> Result<f64> {
    let begin = Instant::now();
    // As a search without save lines.
    let finds = finds_on(engine, jobs, bounds, &Until)?;
    let seconds = begin.elapsed().as_secs_f64();
    let slips = finds.iter().filter(|(_, verdict)| *verdict == Verdict::Slipped).count() as u64;
    if slips > 0 {
        return Err(FactorError::Slips { count: slips, attempts: jobs.len() as u64 }.into());
    }
    Ok(seconds)
}
