//! `warpmp collatz verify`: convergence of a range, with a certificate a window.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use serde_json::json;
use warpmp_collatz::{
    campaign::{self, Campaign, Event, Specification},
    certificate::{Scheme, store},
    engine::{Control, Engine},
    window::Window,
};

use super::{
    CollatzFailure,
    args::Verify,
    asked::Asked,
    engines,
    folder::{self, Opened},
    sums::Sums,
    watch::watch,
};
use crate::{
    console,
    error::{Error, Result},
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// More windows than this fill a directory that nobody can list.
const MAX_WINDOWS: u128 = 1 << 24;

/// Runs the command.
pub(super) fn run(args: &Verify) -> Result<()> {
    args.check()?;
    let range = Window::new(args.range.from.0, args.range.count.0)?;
    let asked = Asked::new(args, range)?;
    let engines = engines::open(args.device.selector, args.tables.cache.as_deref(), args.summary.hides_notes())?;
    let specification = asked.specification(&engines)?;
    let windows = specification.windows();
    if windows > MAX_WINDOWS {
        return Err(CollatzFailure::TooManyWindows { windows, limit: MAX_WINDOWS }.into());
    }
    let all = || (0..specification.windows()).filter_map(|number| specification.window(number));
    let opened = match &args.out {
        Some(out) => folder::open(out, &specification, args.redo, args.summary.quiet)?,
        None => Opened::default(),
    };
    let missing: Vec<Window> = all().filter(|window| !opened.done.contains(window)).collect();
    let engines = engines.list;
    let device = engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join("; ");
    let begin = Instant::now();
    let sums = work(args, &specification, opened.campaign(), &missing, engines, opened.sums.clone())?;
    let seconds = begin.elapsed().as_secs_f64();
    report(args, &specification, &opened, &sums, &device, seconds)
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

/// `opened`: what was done before; `all`: with the windows of this run.
fn report(
    args: &Verify,
    specification: &Specification,
    opened: &Opened,
    all: &Sums,
    device: &str,
    seconds: f64,
) -> Result<()> {
    let before = &opened.sums;
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
            "set_aside": opened.aside, "left_alone": opened.others,
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
