//! `warpmp bench collatz`: numbers a second.

use std::{sync::Arc, time::Instant};

use serde_json::json;
use warpmp::device::Device;
use warpmp_collatz::{
    Error as CollatzError, alpha,
    certificate::{Figures, Scheme},
    engine::{Control, Engine},
    gpu::{Settings, delay_records, path_records},
    honda, number,
    records::{self, Kind},
    team::Team,
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

/// What is measured, and what it is called.
enum Subject {
    Scheme(Scheme),
    Delays,
    Records(Kind),
}

/// Seconds: of each run, and of what came before the first one.
struct Times {
    runs: Vec<f64>,
    before: f64,
}

/// Runs the command.
pub(crate) fn run(args: &BenchCollatz) -> Result<()> {
    let mut window = Window::new(args.from.0, args.count.0)?;
    let control = [Control::default()];
    let (subject, device, mut times) = if let Operation::DelayRecords | Operation::PathRecords = args.operation {
        let kind = if args.operation == Operation::PathRecords { Kind::Path } else { Kind::Delay };
        let gpus = engines::gpus(args.device.0, args.json)?;
        let device = if gpus.is_empty() {
            window = Window::new(1, window.end() - 1)?;
            "cpu".to_owned()
        } else {
            gpus.iter().map(|gpu| gpu.info().to_string()).collect::<Vec<_>>().join("; ")
        };
        let times = watch(&control, || records_of(args, &gpus, kind, &window, &control[0]), || {})?;
        (Subject::Records(kind), device, times)
    } else {
        let engines = engines::open(args.device.0, args.cache.as_deref(), args.json)?;
        let share = window.count() / engines.list.len().max(1) as u128;
        let subject = match args.operation {
            Operation::Honda => Subject::Scheme(Scheme::Honda(honda::Plan::new(args.sieve_bits, args.base_bits)?)),
            Operation::Alpha => Subject::Scheme(Scheme::Alpha(alpha::Plan::new(args.sieve_bits, args.sieve_mod)?)),
            Operation::Delay => Subject::Delays,
            _ => Subject::Scheme(Scheme::Dfs(engines.plan(share, u128::MAX))),
        };
        let mut team = Team::new(engines.list);
        let times = watch(&control, || runs(args, &subject, &window, &mut team, &control[0]), || {})?;
        (subject, team.name(), times)
    };
    times.runs.sort_by(f64::total_cmp);
    let seconds = &times.runs;
    let median = seconds[seconds.len() / 2];
    let rate = window.count() as f64 / median.max(1e-9);
    let scheme = if let Subject::Scheme(scheme) = &subject { Some(scheme) } else { None };
    if args.json {
        return super::print_json(&json!({
            "op": "bench collatz", "operation": format!("{:?}", args.operation).to_lowercase(), "scheme": scheme,
            "from": window.from().to_string(), "count": window.count().to_string(), "device": device,
            "before_seconds": times.before, "seconds": seconds, "median_seconds": median, "numbers_per_second": rate,
        }));
    }
    console::print(&format!(
        "{} numbers from {}, {}; {device}\nmedian {} (from {} to {}), {} numbers/s; tables and a sample before: {}\n",
        window.count(),
        window.from(),
        match &subject {
            Subject::Scheme(scheme) => serde_json::to_string(scheme).unwrap_or_default(),
            Subject::Delays => "delays".into(),
            Subject::Records(Kind::Delay) => "delay records".into(),
            Subject::Records(Kind::Path) => "path records".into(),
        },
        scaled_seconds(median),
        scaled_seconds(seconds[0]),
        scaled_seconds(seconds[seconds.len() - 1]),
        scaled(rate),
        scaled_seconds(times.before),
    ))
}

/// Searches for the records of a window, which must be the known ones.
fn records_of(
    args: &BenchCollatz,
    gpus: &[Arc<dyn Device>],
    kind: Kind,
    window: &Window,
    control: &Control,
) -> Result<Times> {
    let known: Vec<_> = records::known(kind).into_iter().filter(|record| record.start < window.end()).collect();
    let before: Vec<_> = known.iter().filter(|record| record.start < window.from()).cloned().collect();
    let range = window.from()..window.end();
    let mut times = Times { runs: Vec::new(), before: 0.0 };
    // The first one loads the modules.
    for run in 0..=args.runs {
        let begin = Instant::now();
        let found = match kind {
            _ if gpus.is_empty() => records::search(kind, range.end, control)?,
            Kind::Delay => delay_records::go_on(gpus, &delay_records::LADDER, range.clone(), &before, control)?,
            Kind::Path => {
                let settings = Settings::default();
                path_records::go_on(gpus, &settings, &path_records::LADDER, range.clone(), before.clone(), control)?
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        if let Some((record, _)) = found.iter().zip(&known).find(|(found, known)| found != known) {
            return Err(Error::OtherRecords { start: record.start });
        }
        if found.len() != known.len() {
            let longer = if found.len() > known.len() { &found } else { &known };
            return Err(Error::OtherRecords { start: longer[found.len().min(known.len())].start });
        }
        if run == 0 { times.before = seconds } else { times.runs.push(seconds) }
    }
    Ok(times)
}

/// Seconds of each run, after a sample has been checked.
fn runs(
    args: &BenchCollatz,
    subject: &Subject,
    window: &Window,
    engine: &mut dyn Engine,
    control: &Control,
) -> Result<Times> {
    let sample = Window::new(window.from(), SAMPLE.min(window.count()))?;
    let mut times = Times { runs: Vec::new(), before: 0.0 };
    let begin = Instant::now();
    let Subject::Scheme(scheme) = subject else {
        if window.count() > MAX_DELAYS {
            let value = u64::try_from(window.count()).unwrap_or(u64::MAX);
            let high = MAX_DELAYS as u64;
            return Err(CollatzError::Parameter { name: "delays of a run", value, low: 1, high }.into());
        }
        let mut delays = vec![0; window.count() as usize];
        engine.delays(window.from(), &mut delays, control)?;
        for (start, delay) in (window.from()..).zip(&delays).step_by(delays.len().div_ceil(1000)) {
            let expected = number::trace(start, |_| true)?.delay();
            if u64::from(*delay) != expected {
                return Err(Error::WrongDelay { start, found: (*delay).into(), expected });
            }
        }
        times.before = begin.elapsed().as_secs_f64();
        for _ in 0..args.runs {
            let begin = Instant::now();
            engine.delays(window.from(), &mut delays, control)?;
            times.runs.push(begin.elapsed().as_secs_f64());
        }
        return Ok(times);
    };
    let found = Figures::from(&scheme.run(engine, &sample, control)?);
    let expected = Figures::from(&scheme.recompute(&sample, control)?);
    if found != expected {
        return Err(Error::WrongSample { from: sample.from(), count: sample.count() });
    }
    times.before = begin.elapsed().as_secs_f64();
    for _ in 0..args.runs {
        let begin = Instant::now();
        scheme.run(engine, window, control)?;
        times.runs.push(begin.elapsed().as_secs_f64());
    }
    Ok(times)
}
