//! `warpmp bench collatz`: numbers a second.

use std::time::Instant;

use serde_json::json;
use warpmp_collatz::{
    Error as CollatzError,
    certificate::{Figures, Scheme},
    engine::{Control, Engine},
    honda, number,
    window::Window,
};

use super::{
    args::{BenchCollatz, Operation},
    engines,
    watch::watch,
};
use crate::{
    console,
    error::{Error, Result},
    summary::{scaled, scaled_seconds},
};

/// Starts that are recomputed before anything is timed.
const SAMPLE: u128 = 1 << 20;
/// Delays that one run stores.
const MAX_DELAYS: u128 = 1 << 30;

/// Runs the command.
pub(crate) fn run(args: &BenchCollatz) -> Result<()> {
    let window = Window::new(args.from.0, args.count.0)?;
    let engines = engines::open(args.device.0, args.cache.as_deref(), args.json)?;
    let scheme = match args.operation {
        Operation::Dfs => Some(Scheme::Dfs(engines.plan(window.count(), u128::MAX))),
        Operation::Honda => Some(Scheme::Honda(honda::Plan::new(args.sieve_bits, args.base_bits)?)),
        Operation::Delay => None,
    };
    let mut engine = engines.list.into_iter().next().ok_or(Error::Bug)?;
    let control = [Control::default()];
    let mut seconds = watch(&control, || runs(args, scheme.as_ref(), &window, engine.as_mut(), &control[0]), || {})?;
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    let rate = window.count() as f64 / median.max(1e-9);
    if args.json {
        return super::print_json(&json!({
            "op": "bench collatz", "operation": format!("{:?}", args.operation).to_lowercase(), "scheme": scheme,
            "from": window.from().to_string(), "count": window.count().to_string(), "device": engine.name(),
            "seconds": seconds, "median_seconds": median, "numbers_per_second": rate,
        }));
    }
    console::print(&format!(
        "{} numbers from {}, {}; {}\nmedian {} (from {} to {}), {} numbers/s\n",
        window.count(),
        window.from(),
        scheme.map_or_else(|| "delays".into(), |scheme| serde_json::to_string(&scheme).unwrap_or_default()),
        engine.name(),
        scaled_seconds(median),
        scaled_seconds(seconds[0]),
        scaled_seconds(seconds[seconds.len() - 1]),
        scaled(rate),
    ))
}

/// Seconds of each run, after a sample has been checked.
fn runs(
    args: &BenchCollatz,
    scheme: Option<&Scheme>,
    window: &Window,
    engine: &mut dyn Engine,
    control: &Control,
) -> Result<Vec<f64>> {
    let sample = Window::new(window.from(), SAMPLE.min(window.count()))?;
    let mut times = Vec::new();
    let Some(scheme) = scheme else {
        if window.count() > MAX_DELAYS {
            let value = u64::try_from(window.count()).unwrap_or(u64::MAX);
            let high = MAX_DELAYS as u64;
            return Err(CollatzError::Parameter { name: "delays of a run", value, low: 1, high }.into());
        }
        let mut delays = vec![0; window.count() as usize];
        for _ in 0..=args.runs {
            let begin = Instant::now();
            engine.delays(window.from(), &mut delays, control)?;
            times.push(begin.elapsed().as_secs_f64());
        }
        for (start, delay) in (window.from()..).zip(&delays).step_by(delays.len().div_ceil(1000)) {
            let expected = number::trace(start, |_| true)?.delay();
            if u64::from(*delay) != expected {
                return Err(Error::WrongDelay { start, found: (*delay).into(), expected });
            }
        }
        times.remove(0);
        return Ok(times);
    };
    let found = Figures::from(&scheme.run(engine, &sample, control)?);
    let expected = Figures::from(&scheme.recompute(&sample, control)?);
    if found != expected {
        return Err(Error::WrongSample { from: sample.from(), count: sample.count() });
    }
    for _ in 0..args.runs {
        let begin = Instant::now();
        scheme.run(engine, window, control)?;
        times.push(begin.elapsed().as_secs_f64());
    }
    Ok(times)
}
