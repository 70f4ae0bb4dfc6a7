//! `warpmp collatz verify --checksum alpha`: the sums that others publish.

use std::time::Instant;

use serde_json::json;
use warpmp_collatz::{
    alpha::{Found, Plan, Sieve, above_floor, run as test},
    engine::Control,
    gpu::alpha::run as test_on_gpus,
    window::Window,
};

use super::{args::Verify, engines, watch::watch};
use crate::{
    console,
    error::Result,
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// Runs the command.
pub(super) fn run(args: &Verify, range: &Window) -> Result<()> {
    let plan = Plan::new(args.sieve_bits, args.sieve_mod)?;
    above_floor(range)?;
    let gpus = engines::gpus(args.device.0, args.quiet)?;
    let names: Vec<String> = gpus.iter().map(|gpu| gpu.info().to_string()).collect();
    let device = if gpus.is_empty() { "cpu".to_owned() } else { names.join("; ") };
    let control = [Control::default()];
    let progress = Progress::new(Some(1 << 32), "numbers", args.quiet);
    let mut begin = Instant::now();
    let work = || -> Result<Found> {
        let sieve = Sieve::new(&plan)?;
        begin = Instant::now();
        let test = || {
            if gpus.is_empty() {
                test(&sieve, range, &control[0])
            } else {
                test_on_gpus(&gpus, &sieve, range, &control[0])
            }
        };
        Ok(test()?)
    };
    let found = watch(&control, work, || {
        let share = control[0].progress();
        progress.update((share * 4_294_967_296.0) as u64, (share * range.count() as f64) as u64);
    })?;
    drop(progress);
    let seconds = begin.elapsed().as_secs_f64();
    let outcome = &found.outcome;
    let start = found.highest.map(|(start, _)| start.to_string());
    // The walk sees T; a value past 128 bits is told exactly by trace.
    let value = found.highest.filter(|(_, value)| *value < u128::MAX).map(|(_, value)| value.to_string());
    if args.json {
        return super::print_json(&json!({
            "op": "collatz verify", "checksum": "alpha", "from": range.from().to_string(),
            "count": range.count().to_string(), "sieve_bits": plan.sieve_bits, "sieve_mod": plan.modulus,
            "tested": outcome.tested, "overflowed": outcome.overflowed, "alpha": outcome.checksum,
            "highest_start": start, "highest": value, "device": device, "seconds": seconds,
            "numbers_per_second": range.count() as f64 / seconds.max(1e-9),
        }));
    }
    console::print(&format!("alpha    {}\n", outcome.checksum))?;
    if let Some(start) = start {
        let offset = found.highest.map_or(0, |(start, _)| start - range.from());
        console::print(&format!("highest  {} from {start}, the first start + {offset}\n", value.unwrap_or_default()))?;
    }
    if !args.quiet {
        console::note(&format!(
            "{} numbers, {} tested, {} in wide arithmetic; {device}\n{}, {} numbers/s",
            range.count(),
            outcome.tested,
            outcome.overflowed,
            scaled_seconds(seconds),
            scaled(range.count() as f64 / seconds.max(1e-9))
        ));
    }
    Ok(())
}
