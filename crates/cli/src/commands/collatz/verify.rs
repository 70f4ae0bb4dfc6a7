//! `warpmp collatz verify`: convergence of a range, with a certificate a window.

use std::{
    fmt::Write as _,
    path::Path,
    sync::{Mutex, PoisonError},
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
};

use super::{
    CollatzFailure,
    args::{Checksum, SchemeName, TablesArgs, Verify},
    engines, folder,
    range::{CampaignRange, starts},
    watch::watch,
};
use crate::{
    args::{GpusArgs, SummaryArgs},
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
    let specification = request.specification(args.output.as_deref(), &engines)?;
    let (opened, aside) = match &args.output {
        Some(output) => {
            let (opened, aside) = folder::open(output, &specification, args.redo, args.summary.quiet)?;
            (Some(opened), aside)
        }
        None => (None, Vec::new()),
    };
    let contents = opened.as_ref().map(|opened| &opened.contents);
    let sums = contents.map_or_else(Sums::default, |contents| contents.done.iter().collect());
    let before = Before { sums, aside, others: contents.map(folder::names).unwrap_or_default() };
    let device = engines.names();
    let begin = Instant::now();
    let sums = work(args, &specification, opened.as_ref(), engines).map_err(|error| match (&args.output, error) {
        (Some(folder), Error::Interrupted) => {
            CollatzFailure::Interrupted { folder: folder.display().to_string() }.into()
        }
        (_, error) => error,
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    report(args, &specification, &before, &sums, &device, seconds)
}

/// Goes on with the campaign of a directory.
pub(super) fn resume(folder: &Path, device: GpusArgs, summary: SummaryArgs) -> Result<()> {
    run(&Verify {
        range: CampaignRange::default(),
        output: Some(folder.to_owned()),
        scheme: None,
        device,
        window: None,
        leaf_bits: None,
        lookahead_bits: None,
        tables: TablesArgs::default(),
        checksum: None,
        sieve_mod: 1,
        redo: false,
        summary,
    })
}

/// Says how the range would be verified, without doing it.
pub(super) fn explain(args: &Verify) -> Result<()> {
    args.check()?;
    let engines = engines::open(args.device.selector, args.tables.cache.as_deref(), args.summary.hides_notes())?;
    let specification = request(args)?.specification(args.output.as_deref(), &engines)?;
    let sieve = "a start is tested unless a proved rule shows that it comes below itself, or meets a smaller start";
    let mut parts = String::new();
    for part in specification.parts() {
        let (windows, size) = (part.windows(), part.window_size());
        let _ = write!(
            parts,
            "scheme     {}\nwindows    {windows} of {size} starts: each leaves a certificate with --output\n",
            part.scheme
        );
    }
    console::print(&format!(
        "command    collatz verify: {}\n\
         device     {}\n{parts}\
         why        {sieve}; without options the plan weighs its tables against the range and the memory\n",
        starts(&specification.whole()),
        engines.names(),
    ))
}

/// The request, checked as far as that is possible without engines.
fn request(args: &Verify) -> Result<Request> {
    let range = args.range.window(args.output.as_deref())?;
    let wanted = match (args.checksum, args.scheme) {
        (Some(Checksum::Alpha), _) => {
            Wanted::Exactly(Scheme::Alpha(alpha::Plan::new(args.tables.sieve_bits(), args.sieve_mod)?))
        }
        (None, Some(SchemeName::Honda)) => {
            Wanted::Exactly(Scheme::Honda(honda::Plan::new(args.tables.sieve_bits(), args.tables.base_bits())?))
        }
        (None, None) if args.leaf_bits.is_none() && args.lookahead_bits.is_none() => Wanted::Any,
        (None, Some(SchemeName::Dfs) | None) => {
            Wanted::Default { leaf_bits: args.leaf_bits, lookahead_bits: args.lookahead_bits }
        }
    };
    if let Wanted::Exactly(scheme) = wanted {
        scheme.admits(&range)?;
    }
    Ok(Request { range, wanted, window_count: args.window.map(|count| count.0) })
}

fn work(args: &Verify, specification: &Specification, opened: Option<&Opened>, engines: Engines) -> Result<Sums> {
    let controls: Vec<Control> = engines.list.iter().map(|_| Control::default()).collect();
    let dealt = engines.list.into_iter().zip(&controls).collect();
    let before = opened.map_or(&[][..], |opened| &opened.contents.done);
    let missing = specification.missing(before) as f64;
    let mean = missing / (specification.windows() as f64 - before.len() as f64).max(1.0);
    // Numbers of the windows that this run has done.
    let done = Mutex::new(0_u128);
    let numbers = || done.lock().unwrap_or_else(PoisonError::into_inner);
    let progress = Progress::of_count(missing, "numbers", args.summary.quiet);
    progress.phase(engines::PREPARING);
    let each = |event: &Event| match event {
        Event::Done(window, _) => *numbers() += window.count(),
        Event::Lost(window, error) => console::note(&format!("window {window} is done again: {error}")),
    };
    let work = || campaign::verify(specification, opened, dealt, each).map_err(Error::from);
    let mut most: f64 = 0.0;
    watch(&controls, work, || {
        let open: f64 = controls.iter().map(Control::progress).sum();
        // A window that ends counts for a moment as done and as open: the bar does not go back.
        most = most.max(*numbers() as f64 + open * mean).min(missing);
        progress.count(most);
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
    let range = specification.whole();
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
        console::note(&format!("{} converge, all of them verified before", starts(&range)));
        return Ok(());
    }
    let now = if before.numbers == 0 { String::new() } else { format!(", {numbers} of them verified now") };
    console::note(&format!(
        "{} converge{now}: {windows} {}, {tested} tested, {overflowed} in wide arithmetic; {device}\n\
         {}, {} numbers/s",
        starts(&range),
        if windows == 1 { "window" } else { "windows" },
        scaled_seconds(seconds),
        scaled(rate),
    ));
    Ok(())
}
