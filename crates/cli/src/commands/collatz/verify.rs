//! `warpmp collatz verify`: convergence of a range, with a certificate a window.

use std::{
    fmt::Write as _,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use serde_json::json;
use warpmp_collatz::{
    Error as LibraryError, alpha,
    campaign::{self, Event, FolderError, Mode, Opened, Request, Specification, Sums, Verified, Wanted},
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
    args::{DeviceArgs, SharingArgs, SummaryArgs},
    commands::campaign::shell,
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
    let mode = args.sharing.mode(if args.output.is_none() { Some("--output") } else { None })?;
    let (specification, opened, aside) = match &args.output {
        Some(output) => {
            let (specification, opened, aside) = enter(args, &request, output, mode, &engines)?;
            (specification, Some(opened), aside)
        }
        None => (request.specification(None, &engines)?, None, Vec::new()),
    };
    let contents = opened.as_ref().map(|opened| &opened.contents);
    let sums = contents.map_or_else(Sums::default, |contents| contents.done.iter().collect());
    let before = Before { sums, aside, others: contents.map(folder::names).unwrap_or_default() };
    let device = engines.names();
    let begin = Instant::now();
    let verified =
        work(args, &specification, opened.as_ref(), engines).map_err(|error| match (&args.output, error) {
            (Some(folder), Error::Interrupted) => {
                CollatzFailure::Interrupted { resume: shell::resume(folder, mode) }.into()
            }
            (_, error) => error,
        })?;
    let seconds = begin.elapsed().as_secs_f64();
    report(args, &specification, &before, &verified, &device, seconds)?;
    match &verified.disputed[..] {
        [] => Ok(()),
        [first, more @ ..] => {
            Err(CollatzFailure::Disputed { path: first.display().to_string(), more: more.len() }.into())
        }
    }
}

/// Opens the directory, with the campaign of the request. Of several processes that begin a campaign at the same time one writes its
/// specification, and the others take part in that campaign.
fn enter(
    args: &Verify,
    request: &Request,
    output: &Path,
    mode: Mode,
    engines: &Engines,
) -> Result<(Specification, Opened, Vec<String>)> {
    let attempt = || {
        let specification = request.specification(Some(output), engines)?;
        let (opened, aside) = folder::open(output, &specification, args.redo, mode, args.summary.quiet)?;
        Ok((specification, opened, aside))
    };
    match attempt() {
        Err(Error::Collatz(CollatzFailure::Library(LibraryError::Campaign(FolderError::OtherCampaign { .. }))))
            if mode.is_shared =>
        {
            attempt()
        }
        attempted => attempted,
    }
}

/// Goes on with the campaign of a directory.
pub(crate) fn resume(folder: &Path, device: DeviceArgs, sharing: SharingArgs, summary: SummaryArgs) -> Result<()> {
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
        sharing,
        summary,
    })
}

/// Says how the range would be verified, without doing it.
pub(crate) fn explain(args: &Verify) -> Result<()> {
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

fn work(args: &Verify, specification: &Specification, opened: Option<&Opened>, engines: Engines) -> Result<Verified> {
    let controls: Vec<Control> = engines.list.iter().map(|_| Control::default()).collect();
    let dealt = engines.list.into_iter().zip(&controls).collect();
    let before = opened.map_or(&[][..], |opened| &opened.contents.done);
    let mode = opened.map_or(Mode::ALONE, |opened| opened.mode);
    let missing = specification.missing(before) as f64 * mode.part.share();
    let windows = (specification.windows() as f64 - before.len() as f64) * mode.part.share();
    let mean = missing / windows.max(1.0);
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

/// Tells the result.
fn report(
    args: &Verify,
    specification: &Specification,
    found: &Before,
    Verified { all, now, .. }: &Verified,
    device: &str,
    seconds: f64,
) -> Result<()> {
    let before = &found.sums;
    let Sums { windows, numbers, tested, overflowed, .. } = *now;
    let rate = numbers as f64 / seconds.max(1e-9);
    let range = specification.whole();
    let missing = range.count() - all.numbers;
    if args.summary.json {
        let mut object = json!({
            "op": "collatz verify", "from": range.from().to_string(), "count": range.count().to_string(),
            "scheme": specification.scheme, "device": device,
            "windows": windows, "verified": numbers.to_string(), "verified_before": before.numbers.to_string(),
            "missing": missing.to_string(), "tested": tested as u64, "overflowed": overflowed as u64, "checksum": format!("{:016x}", all.checksum),
            "highest_start": all.highest().map(|it| it.0.to_string()), "highest": all.highest().map(|it| it.1.to_string()),
            "highest_not_seen": all.not_seen, "seconds": seconds, "numbers_per_second": rate,
            "set_aside": found.aside, "left_alone": found.others,
        });
        if matches!(specification.scheme, Scheme::Alpha(_)) {
            object["alpha"] = all.checksum.into();
        }
        return console::report_object(&object);
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
    if windows == 0 && missing == 0 {
        console::note(&format!("{} converge, all of them verified before", starts(&range)));
        return Ok(());
    }
    let result = match (missing, before.numbers == 0 && numbers == all.numbers) {
        (0, true) => format!("{} converge", starts(&range)),
        (0, false) => format!("{} converge, {numbers} of them verified now", starts(&range)),
        (missing, _) => format!("{missing} of {} have no certificate yet; {numbers} verified now", starts(&range)),
    };
    console::note(&format!(
        "{result}: {windows} {}, {tested} tested, {overflowed} in wide arithmetic; {device}\n\
         {}, {} numbers/s",
        if windows == 1 { "window" } else { "windows" },
        scaled_seconds(seconds),
        scaled(rate),
    ));
    Ok(())
}
