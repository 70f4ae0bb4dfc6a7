//! `warpmp batch-gcd`: the integers of a file that share a factor with another one.
//!
//! ```text
//! moduli.rs      integers and keys of all files, with their labels
//! report.rs      lines of the result, and the summary
//! check.rs       some lines found again
//! ```

use std::{
    ffi::{OsStr, OsString},
    time::Instant,
};

use num_bigint::BigUint;
use warpmp_numtheory::batch_gcd::{Finding, batch_gcd};

use crate::{
    args::{ArgsError, BatchGcd},
    console,
    engine::{self, Trees},
    error::Result,
    interrupt,
    io::{STDIN, output::Output},
    progress::Progress,
};
pub(crate) use check::WrongFactor;
use moduli::Moduli;
use report::{Lines, Report};

mod check;
mod moduli;
mod report;

/// Keys without a modulus that are named.
const SHOWN_SKIPPED: usize = 5;

/// The products of a node of the tree: one up, and about three for the remainders down.
const TREE_PASSES: f64 = 4.0;

/// Steps of the progress bar.
const STEPS: u64 = 10_000;

/// Runs the command.
pub(crate) fn run(args: &BatchGcd) -> Result<()> {
    let start = Instant::now();
    if args.files.iter().filter(|file| *file == STDIN).count() > 1 {
        return Err(ArgsError::BothStdin.into());
    }
    let inputs: Vec<&OsStr> = args.files.iter().map(OsString::as_os_str).collect();
    // Without -o the findings stand in the object, and lines would be in its way.
    let is_object_alone = args.summary.json && args.output.is_none();
    let output = if is_object_alone { None } else { Some(Output::open(args.output.as_deref(), &inputs)?) };
    let on_stdout = output.as_ref().is_some_and(Output::is_stdout);
    let mut progress = Progress::new(Some(STEPS), "product tree", args.summary.quiet);
    progress.hide_if(output.as_ref().is_some_and(Output::is_terminal));
    let moduli = Moduli::read(args)?;
    let bits = moduli.numbers.iter().map(BigUint::bits).max().unwrap_or(0);
    let read = start.elapsed();
    let open = Instant::now();
    let trees = Trees { lanes: moduli.numbers.len() as u64, bits, passes: TREE_PASSES };
    let (session, reason) = engine::open_for_trees(args.device.selector, Some(trees), args.summary.hides_notes())?;
    for (label, reason) in moduli.skipped.iter().take(SHOWN_SKIPPED) {
        console::note(&format!("warning: {label}: {reason}"));
    }
    if moduli.skipped.len() > SHOWN_SKIPPED {
        console::note(&format!("warning: … and {} more keys without a modulus", moduli.skipped.len() - SHOWN_SKIPPED));
    }
    let mut report = Report::new(&moduli.numbers, &session.engine().name);
    report.reason = reason;
    report.skipped = moduli.skipped.len() as u64;
    report.read_seconds = read.as_secs_f64();
    report.open_seconds = open.elapsed().as_secs_f64();
    let outcome = batch_gcd(&session, &moduli.numbers, &progress)?;
    let found_all = Instant::now();
    engine::tell_left_out(&session);
    let found: Box<dyn Iterator<Item = Finding>> =
        if args.no_pairs { Box::new(outcome.findings_without_pairs()) } else { Box::new(outcome.findings()) };
    let mut lines = Lines::new(output, args.hex, args.check > 0, args.summary.json);
    for finding in found {
        interrupt::check()?;
        lines.write(&finding, &moduli, args.min_factor.as_ref(), &mut report)?;
    }
    report.stages = outcome.stages;
    report.pair_seconds = found_all.elapsed().as_secs_f64();
    if args.check > 0 {
        report.checked =
            check::check(lines.checked_text(), &moduli.labels, &moduli.numbers, args.check, !args.no_pairs)?;
    }
    interrupt::check()?;
    let written = Instant::now();
    report.findings = lines.finish()?;
    report.pair_seconds += written.elapsed().as_secs_f64();
    report.finish(start.elapsed());
    console::summary(args.summary, on_stdout, &report, &report.text())
}
