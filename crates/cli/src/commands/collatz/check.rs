//! `warpmp collatz check`: certificates recomputed by a path that shares no code with the engines.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use warpmp_collatz::{Error as CollatzError, engine::Control};

use super::{
    CollatzFailure,
    args::Check,
    folder::{complete, line, note_others},
    watch::watch,
};
use crate::{console, error::Result, progress::Progress};

/// Runs the command.
pub(super) fn run(args: &Check) -> Result<()> {
    let campaign = super::campaign(&args.folder)?;
    let contents = campaign.contents()?;
    note_others(&contents);
    let mut wrong: Vec<String> = contents.damaged.iter().map(line).collect();
    let mut random = ChaCha8Rng::seed_from_u64(args.seed);
    let whole: Vec<bool> = contents
        .done
        .iter()
        .map(|_| args.sample.is_none_or(|share| random.random_range(0..1_000_000) < (share * 1e6) as u32))
        .collect();
    let control = [Control::default()];
    let checked = AtomicUsize::new(0);
    let progress = Progress::new(Some((contents.done.len() as u64) << 32), "certificates", args.progress.quiet);
    let work = || {
        let mut found = Vec::new();
        for (certificate, whole) in contents.done.iter().zip(&whole) {
            match certificate.recheck(*whole, &control[0]) {
                Ok(()) => {}
                Err(
                    error @ (CollatzError::Disagreement { .. }
                    | CollatzError::OtherHighest { .. }
                    | CollatzError::NoDescent { .. }),
                ) => {
                    found.push(format!("{}: {error}", campaign.path(&certificate.window).display()));
                }
                Err(error) => return Err(error.into()),
            }
            checked.fetch_add(1, Ordering::Relaxed);
        }
        Ok(found)
    };
    wrong.extend(watch(&control, work, || {
        let checked = checked.load(Ordering::Relaxed) as f64;
        let parts = checked + control[0].progress();
        progress.update((parts * 4_294_967_296.0) as u64, checked as u64);
    })?);
    drop(progress);
    let missing = contents.missing(&campaign.specification().range);
    let recomputed = whole.iter().filter(|whole| **whole).count();
    if args.json {
        super::print_json(&json!({
            "certificates": contents.done.len(), "recomputed_whole": recomputed, "wrong": wrong,
            "missing": missing.to_string(), "complete": missing == 0,
        }))?;
    } else {
        console::report(&format!(
            "{} certificates: {recomputed} recomputed whole, {} in their samples, {} not readable; {} wrong\n",
            contents.done.len() + contents.damaged.len(),
            contents.done.len() - recomputed,
            contents.damaged.len(),
            wrong.len()
        ))?;
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
