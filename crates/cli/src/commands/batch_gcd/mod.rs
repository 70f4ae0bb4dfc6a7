//! `warpmp batch-gcd`: the integers of a file that share a factor with another one.
//!
//! ```text
//! report.rs      lines of the result, and the summary
//! check.rs       some lines found again
//! ```

use std::{sync::Arc, time::Instant};

use num_bigint::BigUint;
use warpmp::{Session, operation::MUL_MAX_BITS};
use warpmp_numtheory::batch_gcd::batch_gcd;

use crate::{
    args::BatchGcd,
    console, engine,
    error::{Error, Result},
    interrupt,
    io::{output::Output, source::Source, tuple::TupleReader},
    numbers::{self, row},
    pool::Pool,
    progress::Progress,
};
pub(crate) use check::WrongFactor;
use report::{Lines, Report};

mod check;
mod report;

/// Bytes of input that are parsed at a time.
const CHUNK_BYTES: usize = 32 << 20;
/// Steps of the progress bar.
const STEPS: u64 = 10_000;

/// The integers of a file, each with its line.
#[derive(Debug, Default)]
struct Moduli {
    lines: Vec<u64>,
    numbers: Vec<BigUint>,
}

/// Runs the command.
pub(crate) fn run(args: &BatchGcd) -> Result<()> {
    let start = Instant::now();
    let source = Source::open(&args.file, MUL_MAX_BITS)?;
    let output = Output::open(args.output.as_deref(), &[args.file.as_os_str()])?;
    let on_stdout = output.is_stdout();
    let mut progress = Progress::new(Some(STEPS), "product tree", args.summary.quiet);
    if output.is_terminal() {
        progress.hide();
    }
    let session = engine::open(args.device.selector, args.summary.hides_notes())?;
    let moduli = Moduli::read(source)?;
    let mut report = Report::new(&moduli.numbers, &session.engine().name);
    report.read_seconds = start.elapsed().as_secs_f64();
    let outcome = batch_gcd(&session, &moduli.numbers, &progress)?;
    // Lines that are to be checked wait for it.
    let mut lines = Lines::new(output, args.hex, args.check > 0);
    for finding in outcome.findings() {
        interrupt::check()?;
        report.add(&finding);
        lines.write(&finding, &moduli.lines)?;
    }
    report.stages = outcome.stages;
    if args.check > 0 {
        report.checked = check::check(lines.text(), &moduli.lines, &moduli.numbers, args.check)?;
    }
    interrupt::check()?;
    lines.finish()?;
    report.finish(start.elapsed());
    console::summary(args.summary, on_stdout, &report.json(), &report.text())
}

impl Moduli {
    fn read(source: Source) -> Result<Self> {
        let mut reader = TupleReader::new(vec![source], CHUNK_BYTES)?;
        let names = reader.names();
        let pool = Pool::new(&Arc::new(Session::cpu()), false);
        let mut moduli = Self::default();
        while let Some(chunk) = reader.next_chunk()? {
            interrupt::check()?;
            let operands = numbers::operands(&chunk, &names, &pool, None, numbers::Lines::Unsigned)?;
            let batches = operands.columns.first().and_then(Option::as_ref).ok_or(Error::Bug)?;
            for lane in 0..operands.lanes {
                moduli.lines.push(chunk.line(lane));
                moduli.numbers.push(BigUint::from_slice(row(batches, operands.places.as_deref(), lane).0));
            }
        }
        Ok(moduli)
    }
}
