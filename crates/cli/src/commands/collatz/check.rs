//! `warpmp collatz check`: certificates recomputed by a path that shares no code with the engines.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use warpmp_collatz::{
    campaign::{Sums, Verdict, recheck},
    engine::Control,
};

use super::{
    CollatzFailure,
    args::Check,
    folder::{complete, line, look, note_others},
    watch::watch,
};
use crate::{console, error::Result, progress::Progress};

/// Runs the command.
pub(super) fn run(args: &Check) -> Result<()> {
    console::check_stdout()?;
    let campaign = look(&args.folder)?;
    let contents = campaign.contents()?;
    note_others(&contents);
    let mut wrong: Vec<String> = contents.damaged.iter().map(line).collect();
    let control = [Control::default()];
    let checked = AtomicUsize::new(0);
    let progress = Progress::of_count(contents.done.len() as f64, "certificates", args.progress.quiet);
    let mut recomputed = 0;
    let each = |Verdict { certificate, whole, wrong: error }: Verdict<'_>| {
        recomputed += usize::from(whole);
        wrong.extend(error.map(|error| format!("{}: {error}", campaign.path(&certificate.window).display())));
        checked.fetch_add(1, Ordering::Relaxed);
    };
    let work = || Ok(recheck(&contents.done, args.sample.unwrap_or(1.0), args.seed, &control[0], each)?);
    watch(&control, work, || {
        progress.count(checked.load(Ordering::Relaxed) as f64 + control[0].progress());
    })?;
    drop(progress);
    let missing = campaign.specification().missing(&contents.done);
    let sampled = contents.done.len() - recomputed;
    let not_claimed = contents.done.iter().collect::<Sums>().not_seen;
    if args.json {
        console::report_object(&json!({
            "certificates": contents.done.len(), "recomputed_whole": recomputed, "wrong": wrong,
            "figures_not_checked": sampled, "highest_not_claimed": not_claimed,
            "missing": missing.to_string(), "complete": missing == 0,
        }))?;
    } else {
        console::report(&format!(
            "{} certificates: {recomputed} recomputed whole, {} in their samples, {} not readable; {} wrong\n",
            contents.done.len() + contents.damaged.len(),
            sampled,
            contents.damaged.len(),
            wrong.len()
        ))?;
        if sampled > 0 {
            console::report(&format!(
                "not checked: the figures of {sampled} windows beyond their samples; without --sample all are checked\n"
            ))?;
        }
        if not_claimed > 0 {
            console::report(&format!("not claimed: the highest value, in {not_claimed} windows\n"))?;
        }
        if missing > 0 {
            console::report(&format!("incomplete: {missing} numbers of the range have no certificate\n"))?;
        }
        for line in &wrong {
            console::report(&format!("wrong  {line}\n"))?;
        }
    }
    if !wrong.is_empty() {
        return Err(CollatzFailure::WrongCertificates { wrong: wrong.len() }.into());
    }
    if args.complete { complete(&args.folder, &campaign, &contents) } else { Ok(()) }
}
