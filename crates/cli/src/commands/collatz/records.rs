//! `warpmp collatz records`: records found, and compared with the known ones.

use serde_json::json;
use warpmp_collatz::{engine::Control, records};

use super::{
    CollatzFailure,
    args::{Kind, Records},
    engines,
    watch::watch,
};
use crate::{console, engine, error::Result, io::output::Output, progress::Progress};

/// Runs the command.
pub(super) fn run(args: &Records) -> Result<()> {
    let kind = match args.kind {
        Kind::Delay => records::Kind::Delay,
        Kind::Path => records::Kind::Path,
    };
    let below = args.below.0;
    if below < 2 {
        return Err(CollatzFailure::NoStarts { below }.into());
    }
    // An output that cannot be written fails before the search.
    let output = args.output.as_ref().map(Output::to).transpose()?;
    if output.is_none() {
        console::check_stdout()?;
    }
    let gpus = engine::gpus(args.device.selector, args.progress.quiet)?;
    let control = [Control::default()];
    let progress = Progress::of_count(below as f64, "numbers", args.progress.quiet);
    progress.phase(engines::PREPARING);
    let found = watch(
        &control,
        || Ok(records::search_on(&gpus, kind, below, &control[0])?),
        || progress.count(control[0].progress() * below as f64),
    )?;
    drop(progress);
    let known: Vec<records::Record> = records::known(kind).into_iter().filter(|record| record.start < below).collect();
    let csv: String = std::iter::once(format!("n,{}\n", kind.figure()))
        .chain(found.iter().map(|record| format!("{},{}\n", record.start, record.figure)))
        .collect();
    let difference = records::difference(&found, &known);
    if args.object.json {
        let rows: Vec<_> =
            found.iter().map(|r| json!({"n": r.start.to_string(), kind.figure(): r.figure.to_string()})).collect();
        console::report_object(
            &json!({"below": below.to_string(), "records": rows, "known": known.len(), "same": difference.is_none()}),
        )?;
    } else {
        match output {
            Some(output) => output.write(csv.as_bytes())?,
            None => console::report(&csv)?,
        }
        if !args.progress.quiet {
            console::note(&format!("{} records below {below}, {} known ones", found.len(), known.len()));
        }
    }
    difference.map_or(Ok(()), |start| Err(CollatzFailure::OtherRecords { start }.into()))
}
