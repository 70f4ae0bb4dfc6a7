//! `warpmp bench collatz`: numbers a second.

use std::{sync::Arc, thread, time::Instant};

use serde_json::json;
use warpmp::device::{Buffer, Device};
use warpmp_collatz::{
    Allowed, Error as CollatzError, alpha,
    certificate::Figures,
    engine::{Control, Engine},
    gpu::delay::{Delays, SETTINGS, Starts},
    honda, number,
    records::{self, Kind},
    scheme::Scheme,
    team::Team,
    window::Window,
};

use super::{
    CollatzFailure,
    args::{BenchCollatz, Operation},
    engines,
    range::{Number, window},
    watch::watch,
};
use crate::{
    console,
    engine::gpus,
    error::{Error, Result},
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// Starts that are recomputed before anything is timed.
const SAMPLE: u128 = 1 << 20;
/// Delays that one run stores.
const MAX_DELAYS: u128 = 1 << 30;

/// The subject of a measurement.
enum Subject {
    Scheme(Scheme),
    Delays,
    Records(Kind),
}

/// The seconds of each run, and the seconds before the first one.
struct Times {
    runs: Vec<f64>,
    before: f64,
}

impl Times {
    /// Times the runs, after `before` seconds of tables and a sample.
    fn of(before: f64, runs: u32, progress: &Progress, mut run: impl FnMut() -> Result<()>) -> Result<Self> {
        let mut times = Self { runs: Vec::new(), before };
        for number in 1..=u64::from(runs) {
            progress.part(number, &format!("run {number} of {runs}"));
            let begin = Instant::now();
            run()?;
            times.runs.push(begin.elapsed().as_secs_f64());
        }
        Ok(times)
    }
}

/// Runs the command.
pub(crate) fn run(args: &BenchCollatz) -> Result<()> {
    console::check_stdout()?;
    let is_honda = args.operation == Operation::Honda;
    let has_sieve = is_honda || args.operation == Operation::Alpha;
    args.tables.check(&format!("--operation {}", args.operation.name()), has_sieve, is_honda)?;
    let count = args.count.or(args.to.is_none().then_some(Number(1 << 36)));
    let mut window = window(args.from, args.to, count)?;
    let control = [Control::default()];
    let gpus = gpus(args.device.selector, args.object.json)?;
    let names = gpus.iter().map(|gpu| gpu.info().to_string()).collect::<Vec<_>>().join("; ");
    let kind = if args.operation == Operation::PathRecords { Kind::Path } else { Kind::Delay };
    let progress = Progress::new(Some(u64::from(args.runs) + 1), "runs", args.object.json);
    progress.phase(engines::PREPARING);
    let (subject, device, mut times) = if let Operation::DelayRecords | Operation::PathRecords = args.operation {
        let device = if gpus.is_empty() { "cpu".to_owned() } else { names };
        if gpus.is_empty() {
            window = Window::new(1, window.end() - 1)?;
        }
        let times = watch(&control, || records_of(args, &gpus, kind, &window, &control[0], &progress), || {})?;
        (Subject::Records(kind), device, times)
    } else if args.operation == Operation::Delay && !gpus.is_empty() {
        let times = watch(&control, || delays_on(args, &gpus, &window, &control[0], &progress), || {})?;
        (Subject::Delays, names, times)
    } else {
        let engines = engines::of(gpus, args.tables.cache.as_deref())?;
        let share = window.count() / engines.list.len().max(1) as u128;
        let subject = match args.operation {
            Operation::Honda => {
                Subject::Scheme(Scheme::Honda(honda::Plan::new(args.tables.sieve_bits(), args.tables.base_bits())?))
            }
            Operation::Alpha => {
                Subject::Scheme(Scheme::Alpha(alpha::Plan::new(args.tables.sieve_bits(), args.sieve_mod)?))
            }
            Operation::Delay => Subject::Delays,
            _ => Subject::Scheme(Scheme::Dfs(engines.plan(share, u128::MAX))),
        };
        let mut team = Team::new(engines.list);
        let times = watch(&control, || runs(args, &subject, &window, &mut team, &control[0], &progress), || {})?;
        (subject, team.name(), times)
    };
    drop(progress);
    times.runs.sort_by(f64::total_cmp);
    let seconds = &times.runs;
    let median = seconds[seconds.len() / 2];
    let rate = window.count() as f64 / median.max(1e-9);
    let scheme = if let Subject::Scheme(scheme) = &subject { Some(scheme) } else { None };
    if args.object.json {
        return console::report_object(&json!({
            "op": "bench collatz", "operation": args.operation.name(), "scheme": scheme,
            "from": window.from().to_string(), "count": window.count().to_string(), "device": device,
            "before_seconds": times.before, "seconds": seconds, "median_seconds": median, "numbers_per_second": rate,
        }));
    }
    console::print(&format!(
        "{} numbers from {}, {}; {device}\nmedian {} (from {} to {}), {} numbers/s; tables and a sample before: {}\n",
        window.count(),
        window.from(),
        match &subject {
            Subject::Scheme(scheme) => scheme.to_string(),
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

/// A GPU's part of the delays, which stay in its memory.
struct Share {
    gpu: Arc<dyn Device>,
    delays: Delays,
    out: Buffer,
    first: u64,
    count: u32,
}

/// Delays on GPUs, each with a share of the range.
fn delays_on(
    args: &BenchCollatz,
    gpus: &[Arc<dyn Device>],
    window: &Window,
    control: &Control,
    progress: &Progress,
) -> Result<Times> {
    let device = |error| Error::from(CollatzError::Device(error));
    let size = window.count().div_ceil(gpus.len() as u128);
    most_delays(size)?;
    // The last start is below 2^64.
    let last = CollatzError::PastLimit { from: window.from(), count: window.count() };
    let from = u64::try_from(window.end() - 1).map(|_| window.from() as u64).map_err(|_| last)?;
    let begin = Instant::now();
    let mut shares = Vec::new();
    for (gpu, first) in gpus.iter().zip((0..window.count()).step_by(size as usize)) {
        let count = size.min(window.count() - first) as u32;
        let out = gpu.alloc(4 * u64::from(count)).map_err(device)?;
        let first = from + first as u64;
        shares.push(Share { gpu: gpu.clone(), delays: Delays::new(gpu, SETTINGS)?, out, first, count });
    }
    let mut times = Times { runs: Vec::new(), before: 0.0 };
    for run in 0..=args.runs {
        control.check().map_err(CollatzError::from)?;
        let begin_of_run = Instant::now();
        let done: Vec<Result<()>> = thread::scope(|scope| {
            let one = |share: &mut Share| {
                share.delays.run(Starts::From(share.first), share.count, &share.out)?;
                Ok(())
            };
            let running: Vec<_> = shares.iter_mut().map(|share| scope.spawn(move || one(share))).collect();
            running.into_iter().map(|it| it.join().unwrap_or(Err(Error::Bug))).collect()
        });
        done.into_iter().collect::<Result<()>>()?;
        progress.part(u64::from(run) + 1, &format!("run {} of {}", (run + 1).min(args.runs), args.runs));
        if run > 0 {
            times.runs.push(begin_of_run.elapsed().as_secs_f64());
            continue;
        }
        for share in &shares {
            let stream = share.gpu.stream().map_err(device)?;
            let mut found = vec![0; share.count as usize];
            share.gpu.download(&stream, &share.out, 0, &mut found).map_err(device)?;
            check_delays(share.first.into(), &found)?;
        }
        times.before = begin.elapsed().as_secs_f64();
    }
    Ok(times)
}

/// A thousand of them, compared with single steps.
fn check_delays(from: u128, delays: &[u32]) -> Result<()> {
    for (start, delay) in (from..).zip(delays).step_by(delays.len().div_ceil(1000)) {
        let expected = number::trace(start, |_| true)?.delay();
        if u64::from(*delay) != expected {
            return Err(CollatzFailure::WrongDelay { start, found: (*delay).into(), expected }.into());
        }
    }
    Ok(())
}

/// Is there room for this many delays?
fn most_delays(count: u128) -> Result<()> {
    if count > MAX_DELAYS {
        let allowed = Allowed::AtMost(MAX_DELAYS);
        return Err(CollatzError::Parameter { name: "the delays of a run", value: count, allowed }.into());
    }
    Ok(())
}

/// Searches for the records of a window, which must be the known ones.
fn records_of(
    args: &BenchCollatz,
    gpus: &[Arc<dyn Device>],
    kind: Kind,
    window: &Window,
    control: &Control,
    progress: &Progress,
) -> Result<Times> {
    let known: Vec<_> = records::known(kind).into_iter().filter(|record| record.start < window.end()).collect();
    let before: Vec<_> = known.iter().filter(|record| record.start < window.from()).cloned().collect();
    let range = window.from()..window.end();
    let search = || {
        let found = if gpus.is_empty() {
            records::search(kind, range.end, control)?
        } else {
            records::go_on(gpus, kind, range.clone(), before.clone(), control)?
        };
        records::difference(&found, &known).map_or(Ok(()), |start| Err(CollatzFailure::OtherRecords { start }.into()))
    };
    // The first search loads the modules.
    let begin = Instant::now();
    search()?;
    Times::of(begin.elapsed().as_secs_f64(), args.runs, progress, search)
}

/// Seconds of each run, after a sample has been checked.
fn runs(
    args: &BenchCollatz,
    subject: &Subject,
    window: &Window,
    engine: &mut dyn Engine,
    control: &Control,
    progress: &Progress,
) -> Result<Times> {
    let sample = Window::new(window.from(), SAMPLE.min(window.count()))?;
    let begin = Instant::now();
    let Subject::Scheme(scheme) = subject else {
        most_delays(window.count())?;
        let mut delays = vec![0; window.count() as usize];
        engine.delays(window.from(), &mut delays, control)?;
        check_delays(window.from(), &delays)?;
        return Times::of(begin.elapsed().as_secs_f64(), args.runs, progress, || {
            Ok(engine.delays(window.from(), &mut delays, control)?)
        });
    };
    let found = Figures::from(&scheme.run(engine, &sample, control)?);
    let expected = Figures::from(&scheme.recompute(&sample, control)?);
    if found != expected {
        return Err(CollatzFailure::WrongSample { from: sample.from(), count: sample.count() }.into());
    }
    Times::of(begin.elapsed().as_secs_f64(), args.runs, progress, || {
        scheme.run(engine, window, control)?;
        Ok(())
    })
}
