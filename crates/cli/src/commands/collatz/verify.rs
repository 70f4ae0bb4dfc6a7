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
    alpha,
    campaign::{self, Campaign, Event, Lock, Specification},
    certificate::{Scheme, store},
    dfs,
    engine::{Control, Engine},
    honda,
    kernels::alpha::UNIT_BITS,
    window::Window,
};

use super::{
    args::{Checksum, SchemeName, Verify},
    engines::{self, Engines},
    sums::Sums,
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
const SIEVE_WINDOW: u128 = 1 << 36;
/// Starts of a window on a GPU, a few seconds' work and multiples of the units that it works in; each GPU shall have several.
const GPU_DFS_WINDOW: u128 = 1 << 50;
const LEAST_GPU_DFS_WINDOW: u128 = 1 << 44;
const WINDOWS_A_GPU: u128 = 4;
const GPU_HONDA_WINDOW: u128 = 1 << 45;
/// More windows than this fill a directory that nobody can list.
const MAX_WINDOWS: u128 = 1 << 24;

/// Runs the command.
pub(super) fn run(args: &Verify) -> Result<()> {
    args.check()?;
    let range = Window::new(args.range.from.0, args.range.count.0)?;
    let named = named(args)?;
    if matches!(named, Some(Scheme::Alpha(_))) {
        alpha::above_floor(&range)?;
    }
    let engines = engines::open(args.device.selector, args.tables.cache.as_deref(), args.summary.hides_notes())?;
    let specification = match begun(args, range, named) {
        Some(specification) => specification,
        None => specification(args, range, named, &engines)?,
    };
    let windows = specification.windows();
    if windows > MAX_WINDOWS {
        return Err(Error::TooManyWindows { windows, limit: MAX_WINDOWS });
    }
    let (campaign, missing, before) = open(args, &specification)?;
    let engines = engines.list;
    let device = engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join("; ");
    let begin = Instant::now();
    let campaign = campaign.as_ref().map(|(campaign, _)| campaign);
    let all = work(args, &specification, campaign, &missing, engines, before.clone())?;
    let seconds = begin.elapsed().as_secs_f64();
    report(args, &specification, &before, &all, &device, seconds)
}

/// The scheme that was asked for, if that says all of it: a plan of the default one depends on engine and range.
fn named(args: &Verify) -> Result<Option<Scheme>> {
    Ok(match (args.checksum, args.scheme) {
        (Some(Checksum::Alpha), _) => Some(Scheme::Alpha(alpha::Plan::new(args.tables.sieve_bits(), args.sieve_mod)?)),
        (None, SchemeName::Honda) => {
            Some(Scheme::Honda(honda::Plan::new(args.tables.sieve_bits(), args.tables.base_bits())?))
        }
        (None, SchemeName::Dfs) => None,
    })
}

/// The campaign that the directory has, if it is of this range and nothing was asked for that could differ: what suits another
/// machine better does not start another campaign.
fn begun(args: &Verify, range: Window, named: Option<Scheme>) -> Option<Specification> {
    let asked = args.window.is_some() || args.leaf_bits.is_some() || args.lookahead_bits.is_some();
    let campaign = Campaign::open(Path::new(args.out.as_ref()?)).ok().filter(|_| !asked)?;
    let specification = campaign.specification();
    let same = match named {
        Some(named) => specification.scheme == named,
        None => matches!(specification.scheme, Scheme::Dfs(_)),
    };
    (same && specification.range == range).then(|| specification.clone())
}

fn specification(args: &Verify, range: Window, named: Option<Scheme>, engines: &Engines) -> Result<Specification> {
    let default = match (named, engines.gpu_bytes.is_some()) {
        (None | Some(Scheme::Dfs(_)), false) => DFS_WINDOW,
        (None | Some(Scheme::Dfs(_)), true) => {
            let share = range.count() / (WINDOWS_A_GPU * engines.list.len().max(1) as u128);
            let power = 1 << (127 - share.max(1).leading_zeros().min(127));
            power.clamp(LEAST_GPU_DFS_WINDOW, GPU_DFS_WINDOW)
        }
        (Some(Scheme::Honda(_) | Scheme::Alpha(_)), false) => SIEVE_WINDOW,
        (Some(Scheme::Honda(_)), true) => GPU_HONDA_WINDOW,
        (Some(Scheme::Alpha(_)), true) => 1 << UNIT_BITS,
    };
    let size = args.window.map_or(default, |number| number.0).min(range.count());
    let scheme = if let Some(named) = named {
        named
    } else {
        let plan = engines.plan(size, range.count());
        Scheme::Dfs(dfs::Plan::new(
            args.leaf_bits.unwrap_or(plan.leaf_bits),
            args.lookahead_bits.unwrap_or(plan.lookahead_bits),
            args.lookahead_bits.unwrap_or(plan.rare_lookahead_bits).min(plan.rare_lookahead_bits),
            plan.main_classes,
        )?)
    };
    Ok(Specification::new(range, size, scheme)?)
}

type Opened = (Option<(Campaign, Lock)>, Vec<Window>, Sums);

/// The directory, if there is one, the windows that are not done yet, and what the others add up to.
fn open(args: &Verify, specification: &Specification) -> Result<Opened> {
    let all = || (0..specification.windows()).filter_map(|number| specification.window(number));
    let Some(folder) = &args.out else { return Ok((None, all().collect(), Sums::default())) };
    let (campaign, lock) = Campaign::create(Path::new(folder), specification)?;
    if let (Some(holder), false) = (lock.stale(), args.summary.quiet) {
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
    Ok((Some((campaign, lock)), missing, contents.done.iter().collect()))
}

fn work(
    args: &Verify,
    specification: &Specification,
    campaign: Option<&Campaign>,
    missing: &[Window],
    engines: Vec<Box<dyn Engine>>,
    before: Sums,
) -> Result<Sums> {
    let controls: Vec<Control> = engines.iter().map(|_| Control::default()).collect();
    let dealt = engines.into_iter().zip(&controls).collect();
    let sums = Mutex::new(before);
    // In 2^-32 of a window, so that the bar moves within one.
    let done = AtomicU64::new(0);
    let progress = Progress::new(Some((missing.len() as u64) << 32), "numbers", args.summary.quiet);
    let size = missing.iter().map(Window::count).max().unwrap_or(1) as f64;
    let work = || {
        campaign::run(&specification.scheme, missing.iter().copied(), dealt, |event| match event {
            Event::Done(certificate) => {
                if let Some(campaign) = campaign {
                    store(&campaign.path(&certificate.window), &certificate)?;
                }
                done.fetch_add(1 << 32, Ordering::Relaxed);
                if let Ok(mut sums) = sums.lock() {
                    sums.add(&certificate);
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
    sums.into_inner().map_err(|_| Error::Bug)
}

/// `before`: of the windows that were done before; `all`: with those of this run.
fn report(
    args: &Verify,
    specification: &Specification,
    before: &Sums,
    all: &Sums,
    device: &str,
    seconds: f64,
) -> Result<()> {
    let (windows, numbers) = (all.windows - before.windows, all.numbers - before.numbers);
    let (tested, overflowed) = (all.tested - before.tested, all.overflowed - before.overflowed);
    let rate = numbers as f64 / seconds.max(1e-9);
    let range = specification.range;
    if args.summary.json {
        let mut object = json!({
            "op": "collatz verify", "from": range.from().to_string(), "count": range.count().to_string(),
            "scheme": specification.scheme, "device": device,
            "windows": windows, "verified": numbers.to_string(), "verified_before": before.numbers.to_string(),
            "tested": tested as u64, "overflowed": overflowed as u64, "checksum": format!("{:016x}", all.checksum),
            "highest_start": all.highest().map(|it| it.0), "highest": all.highest().map(|it| it.1),
            "highest_not_seen": all.not_seen, "seconds": seconds, "numbers_per_second": rate,
        });
        if matches!(specification.scheme, Scheme::Alpha(_)) {
            object["alpha"] = all.checksum.into();
        }
        return super::print_json(&object);
    }
    if matches!(specification.scheme, Scheme::Alpha(_)) {
        console::print(&format!("alpha    {}\n", all.checksum))?;
        if let Some((start, value)) = all.highest() {
            let offset = start.parse::<u128>().map_or(0, |start| start - range.from());
            console::print(&format!("highest  {value} from {start}, the first start + {offset}\n"))?;
        }
    }
    if args.summary.quiet {
        return Ok(());
    }
    if windows == 0 {
        console::note(&format!("{} numbers from {} converge, all of them verified before", all.numbers, range.from()));
        return Ok(());
    }
    let now = if before.numbers == 0 { String::new() } else { format!(", {numbers} of them verified now") };
    console::note(&format!(
        "{} numbers from {} converge{now}: {windows} {}, {tested} tested, {overflowed} in wide arithmetic; {device}\n\
         {}, {} numbers/s",
        all.numbers,
        range.from(),
        if windows == 1 { "window" } else { "windows" },
        scaled_seconds(seconds),
        scaled(rate),
    ));
    Ok(())
}
