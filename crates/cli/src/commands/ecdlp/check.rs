//! `warpmp ecdlp check`: all files, and a sample of the walks made again by independent code.

use serde_json::json;
use warpmp_curves::campaign::{Checked, check};

use super::{EcdlpError, args::Check, look};
use crate::{console, error::Result, interrupt, progress::Progress};

/// Runs the command.
pub(super) fn run(args: &Check) -> Result<()> {
    let campaign = look(&args.folder)?;
    let bits = campaign.specification().settings().distinguished_bits;
    let rounds = (args.sample as u64) << bits;
    let progress = Progress::new(Some(rounds), "steps", args.progress.quiet);
    let watch = |rounds: u64| {
        if rounds.is_multiple_of(1024) {
            progress.update(rounds, rounds);
        }
        interrupt::check().is_ok()
    };
    let checked = check(&campaign, args.sample, args.seed, &watch)?;
    drop(progress);
    let Checked { points, sampled, rounds, torn, findings } = &checked;
    if args.object.json {
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        let torn: Vec<_> =
            torn.iter().map(|(path, bytes)| json!({"file": path.display().to_string(), "bytes": bytes})).collect();
        let object = json!({"points": points, "replayed": sampled, "steps": rounds, "torn": torn, "wrong": texts});
        console::report_object(&object)?;
    } else {
        console::report(&format!(
            "{points} points; {sampled} walks made again, {rounds} steps; {} wrong\n",
            findings.len()
        ))?;
        for (path, bytes) in torn {
            console::report(&format!(
                "torn   {}: {bytes} bytes of a last block that was not finished\n",
                path.display()
            ))?;
        }
        for finding in findings {
            console::report(&format!("wrong  {finding}\n"))?;
        }
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(EcdlpError::Wrong { folder: args.folder.clone(), count }.into()),
    }
}
