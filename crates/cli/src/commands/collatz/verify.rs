//! `warpmp collatz verify`: convergence of a range, with a certificate a window.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use serde_json::json;
use warpmp_collatz::{
    alpha,
    campaign::{self, Event, Opened, Request, Specification, Sums, Wanted},
    engine::Control,
    honda,
    scheme::Scheme,
    team::Engines,
    window::Window,
};

use super::{
    args::{Checksum, SchemeName, Verify},
    engines, folder,
    watch::watch,
};
use crate::{
    console,
    error::{Error, Result},
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// The state of the directory before this run.
struct Before {
    sums: Sums,
    aside: Vec<String>,
    others: Vec<String>,
}

/// Runs the command.
pub(super) fn run(args: &Verify) -> Result<()> {
    args.check()?;
    let request = request(args)?;
    let engines = engines::open(args.device.selector, args.tables.cache.as_deref(), args.summary.hides_notes())?;
    let specification = request.specification(args.out.as_deref(), &engines)?;
    let (opened, aside) = match &args.out {
        Some(out) => {
            let (opened, aside) = folder::open(out, &specification, args.redo, args.summary.quiet)?;
            (Some(opened), aside)
        }
        None => (None, Vec::new()),
    };
    let contents = opened.as_ref().map(|opened| &opened.contents);
    let sums = contents.map_or_else(Sums::default, |contents| contents.done.iter().collect());
    let before = Before { sums, aside, others: contents.map(folder::names).unwrap_or_default() };
    let device = engines.names();
    let begin = Instant::now();
    let sums = work(args, &specification, opened.as_ref(), engines)?;
    let seconds = begin.elapsed().as_secs_f64();
    report(args, &specification, &before, &sums, &device, seconds)
}

/// Says how the range would be verified, without doing it.
pub(super) fn explain(args: &Verify) -> Result<()> {
    args.check()?;
    let engines = engines::open(args.device.selector, args.tables.cache.as_deref(), args.summary.hides_notes())?;
    let specification = request(args)?.specification(args.out.as_deref(), &engines)?;
    let sieve = "a start is tested unless a proved rule shows that it comes below itself, or meets a smaller start";
    console::print(&format!(
        "command    collatz verify: {} starts from {}\n\
         device     {}\n\
         scheme     {}\n\
         windows    {} of {} starts: each leaves a certificate with --out\n\
         why        {sieve}; without options the plan weighs its tables against the range and the memory\n",
        specification.range.count(),
        specification.range.from(),
        engines.names(),
        specification.scheme,
        specification.windows(),
        specification.window_size(),
    ))
}

/// The request, checked as far as that is possible without engines.
fn request(args: &Verify) -> Result<Request> {
    let range = Window::new(args.range.from.0, args.range.count.0)?;
    let wanted = match (args.checksum, args.scheme) {
        (Some(Checksum::Alpha), _) => {
            Wanted::Exactly(Scheme::Alpha(alpha::Plan::new(args.tables.sieve_bits(), args.sieve_mod)?))
        }
        (None, SchemeName::Honda) => {
            Wanted::Exactly(Scheme::Honda(honda::Plan::new(args.tables.sieve_bits(), args.tables.base_bits())?))
        }
        (None, SchemeName::Dfs) => Wanted::Default { leaf_bits: args.leaf_bits, lookahead_bits: args.lookahead_bits },
    };
    if let Wanted::Exactly(scheme) = wanted {
        scheme.admits(&range)?;
    }
    Ok(Request { range, wanted, window_count: args.window.map(|count| count.0) })
}

fn work(args: &Verify, specification: &Specification, opened: Option<&Opened>, engines: Engines) -> Result<Sums> {
    let controls: Vec<Control> = engines.list.iter().map(|_| Control::default()).collect();
    let dealt = engines.list.into_iter().zip(&controls).collect();
    // Windows that this run has done.
    let done = AtomicU64::new(0);
    let before = opened.map_or(0, |opened| opened.contents.done.len() as u64);
    let missing = specification.windows() as u64 - before;
    let progress = Progress::new(Some(missing << 32), "numbers", args.summary.quiet);
    let size = specification.window_size() as f64;
    let each = |event: &Event| match event {
        Event::Done(..) => drop(done.fetch_add(1, Ordering::Relaxed)),
        Event::Lost(window, error) => console::note(&format!("window {window} is done again: {error}")),
    };
    let work = || campaign::verify(specification, opened, dealt, each).map_err(Error::from);
    watch(&controls, work, || {
        let open: f64 = controls.iter().map(Control::progress).sum();
        let parts = done.load(Ordering::Relaxed) as f64 + open;
        // In 2^-32 of a window, so that the bar moves within one.
        progress.update((parts * 4_294_967_296.0) as u64, (parts * size) as u64);
    })
}

/// Tells the result; `all`: with the windows of this run.
fn report(
    args: &Verify,
    specification: &Specification,
    found: &Before,
    all: &Sums,
    device: &str,
    seconds: f64,
) -> Result<()> {
    let before = &found.sums;
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
            "highest_start": all.highest().map(|it| it.0.to_string()), "highest": all.highest().map(|it| it.1.to_string()),
            "highest_not_seen": all.not_seen, "seconds": seconds, "numbers_per_second": rate,
            "set_aside": found.aside, "left_alone": found.others,
        });
        if matches!(specification.scheme, Scheme::Alpha(_)) {
            object["alpha"] = all.checksum.into();
        }
        return super::print_json(&object);
    }
    if matches!(specification.scheme, Scheme::Alpha(_)) {
        console::print(&format!("alpha    {}\n", all.checksum))?;
        if let Some((start, value)) = all.highest() {
            let offset = start - range.from();
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
