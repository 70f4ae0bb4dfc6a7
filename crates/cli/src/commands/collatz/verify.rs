//! `warpmp collatz verify`: convergence of a range, with a certificate a window.

use std::{
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use serde_json::json;
use warpmp_collatz::{
    campaign::{self, Campaign, Event, Lock, Specification},
    certificate::{Certificate, Scheme, store},
    dfs,
    engine::{Control, Engine},
    honda,
    window::Window,
};

use super::{
    args::{SchemeName, Verify},
    engines::{self, Engines},
    watch::watch,
};
use crate::{
    console,
    error::{Error, Result},
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// Starts of a window on the CPU: some seconds on two cores.
const DFS_WINDOW: u128 = 1 << 38;
const HONDA_WINDOW: u128 = 1 << 36;
/// Starts of a window on a GPU, a few seconds' work and multiples of the units that it works in; each GPU shall have several.
const GPU_DFS_WINDOW: u128 = 1 << 50;
const LEAST_GPU_DFS_WINDOW: u128 = 1 << 44;
const WINDOWS_A_GPU: u128 = 4;
const GPU_HONDA_WINDOW: u128 = 1 << 45;
/// More windows than this fill a directory that nobody can list.
const MAX_WINDOWS: u128 = 1 << 24;

/// Sums over the windows of this run.
#[derive(Debug, Default)]
struct Totals {
    windows: u64,
    numbers: u128,
    tested: u64,
    overflowed: u64,
}

/// Runs the command.
pub(super) fn run(args: &Verify) -> Result<()> {
    let range = Window::new(args.from.0, args.count.0)?;
    if args.checksum.is_some() {
        return super::alpha::run(args, &range);
    }
    let engines = engines::open(args.device.0, args.cache.as_deref(), args.quiet)?;
    let specification = match begun(args, range) {
        Some(specification) => specification,
        None => specification(args, range, &engines)?,
    };
    let windows = specification.windows();
    if windows > MAX_WINDOWS {
        return Err(Error::TooManyWindows { windows, limit: MAX_WINDOWS });
    }
    let (campaign, missing, covered) = open(args, &specification)?;
    let engines = engines.list;
    let device = engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join("; ");
    let begin = Instant::now();
    let totals = work(args, &specification, campaign.as_ref().map(|(campaign, _)| campaign), &missing, engines)?;
    let seconds = begin.elapsed().as_secs_f64();
    if !args.quiet || args.json {
        report(args, &specification, &totals, covered, &device, seconds)?;
    }
    Ok(())
}

/// The campaign that the directory has, if it is of this range and nothing was asked for that could differ: what suits another
/// machine better does not start another campaign.
fn begun(args: &Verify, range: Window) -> Option<Specification> {
    let asked = args.window.is_some() || args.leaf_bits.is_some() || args.lookahead_bits.is_some();
    let campaign = Campaign::open(Path::new(args.out.as_ref()?)).ok().filter(|_| !asked)?;
    let specification = campaign.specification();
    let same = matches!(specification.scheme, Scheme::Dfs(_)) && args.scheme == SchemeName::Dfs;
    (same && specification.range == range).then(|| specification.clone())
}

fn specification(args: &Verify, range: Window, engines: &Engines) -> Result<Specification> {
    let default = match (args.scheme, engines.gpu_bytes.is_some()) {
        (SchemeName::Dfs, false) => DFS_WINDOW,
        (SchemeName::Dfs, true) => {
            let share = range.count() / (WINDOWS_A_GPU * engines.list.len().max(1) as u128);
            let power = 1 << (127 - share.max(1).leading_zeros().min(127));
            power.clamp(LEAST_GPU_DFS_WINDOW, GPU_DFS_WINDOW)
        }
        (SchemeName::Honda, false) => HONDA_WINDOW,
        (SchemeName::Honda, true) => GPU_HONDA_WINDOW,
    };
    let size = args.window.map_or(default, |number| number.0).min(range.count());
    let scheme = match args.scheme {
        SchemeName::Honda => Scheme::Honda(honda::Plan::new(args.sieve_bits, args.base_bits)?),
        SchemeName::Dfs => {
            let plan = engines.plan(size, range.count());
            Scheme::Dfs(dfs::Plan::new(
                args.leaf_bits.unwrap_or(plan.leaf_bits),
                args.lookahead_bits.unwrap_or(plan.lookahead_bits),
                args.lookahead_bits.unwrap_or(plan.rare_lookahead_bits).min(plan.rare_lookahead_bits),
                plan.main_classes,
            )?)
        }
    };
    Ok(Specification::new(range, size, scheme)?)
}

type Opened = (Option<(Campaign, Lock)>, Vec<Window>, u128);

/// The directory, if there is one, the windows that are not done yet, and how many starts are.
fn open(args: &Verify, specification: &Specification) -> Result<Opened> {
    let all = || (0..specification.windows()).filter_map(|number| specification.window(number));
    let Some(folder) = &args.out else { return Ok((None, all().collect(), 0)) };
    let (campaign, lock) = Campaign::create(Path::new(folder), specification)?;
    if let (Some(holder), false) = (lock.stale(), args.quiet) {
        console::note(&format!("note: {folder} was left by {holder}, which has ended; going on from its certificates"));
    }
    let contents = campaign.contents()?;
    for (path, damage) in &contents.damaged {
        console::note(&format!("{}: {damage}", path.display()));
    }
    if !contents.damaged.is_empty() && !args.redo {
        return Err(Error::Untrusted { folder: folder.clone(), files: contents.damaged.len() });
    }
    let done: std::collections::HashSet<Window> = contents.done.iter().map(|certificate| certificate.window).collect();
    let missing = all().filter(|window| !done.contains(window)).collect();
    Ok((Some((campaign, lock)), missing, contents.covered()))
}

fn work(
    args: &Verify,
    specification: &Specification,
    campaign: Option<&Campaign>,
    missing: &[Window],
    engines: Vec<Box<dyn Engine>>,
) -> Result<Totals> {
    let controls: Vec<Control> = engines.iter().map(|_| Control::default()).collect();
    let dealt = engines.into_iter().zip(&controls).collect();
    let totals = Mutex::new(Totals::default());
    // In 2^-32 of a window, so that the bar moves within one.
    let done = AtomicU64::new(0);
    let progress = Progress::new(Some((missing.len() as u64) << 32), "numbers", args.quiet);
    let size = missing.iter().map(Window::count).max().unwrap_or(1) as f64;
    let work = || {
        campaign::run(&specification.scheme, missing.iter().copied(), dealt, |event| match event {
            Event::Done(certificate) => {
                if let Some(campaign) = campaign {
                    store(&campaign.path(&certificate.window), &certificate)?;
                }
                done.fetch_add(1 << 32, Ordering::Relaxed);
                if let Ok(mut totals) = totals.lock() {
                    totals.add(&certificate);
                }
                Ok(())
            }
            Event::Lost { window, error } => {
                console::note(&format!("window {window} is done again: {error}"));
                Ok(())
            }
        })
        .map_err(Error::from)
    };
    watch(&controls, work, || {
        let open: f64 = controls.iter().map(Control::progress).sum();
        let parts = done.load(Ordering::Relaxed) as f64 / 4_294_967_296.0 + open;
        progress.update((parts * 4_294_967_296.0) as u64, (parts * size) as u64);
    })?;
    totals.into_inner().map_err(|_| Error::Bug)
}

impl Totals {
    fn add(&mut self, certificate: &Certificate) {
        self.windows += 1;
        self.numbers += certificate.window.count();
        self.tested += certificate.figures.tested + certificate.figures.plain;
        self.overflowed += certificate.overflowed;
    }
}

fn report(
    args: &Verify,
    specification: &Specification,
    totals: &Totals,
    covered: u128,
    device: &str,
    seconds: f64,
) -> Result<()> {
    let rate = totals.numbers as f64 / seconds.max(1e-9);
    let Totals { windows, numbers, tested, overflowed } = totals;
    if args.json {
        return super::print_json(&json!({
            "op": "collatz verify", "from": specification.range.from().to_string(),
            "count": specification.range.count().to_string(), "scheme": specification.scheme, "device": device,
            "windows": windows, "verified": numbers.to_string(), "verified_before": covered.to_string(),
            "tested": tested, "overflowed": overflowed, "seconds": seconds, "numbers_per_second": rate,
        }));
    }
    let before = if covered == 0 { String::new() } else { format!(" (and {covered} before)") };
    console::note(&format!(
        "{numbers} numbers from {} converge{before}: {windows} windows, {tested} tested, {overflowed} in wide arithmetic; {device}\n\
         {}, {} numbers/s",
        specification.range.from(),
        scaled_seconds(seconds),
        scaled(rate),
    ));
    Ok(())
}
