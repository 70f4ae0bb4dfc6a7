//! `warpmp is-prime`: which integers of a file are prime.
//!
//! ```text
//! reader.rs   the file in chunks, read by a thread of its own
//! printer.rs  flags, or the integers of one kind
//! check.rs    some verdicts found again by another test
//! tally.rs    what it cost
//! ```

use std::{iter, time::Instant};

use rayon::prelude::*;
use warpmp::{Batch, Operation, Shape};
use warpmp_numtheory::primality::{Bases, Tester};

use crate::{
    args::{IsPrime, Print},
    channel, console,
    engine::{self, Work},
    error::Result,
    interrupt,
    io::{output::Output, sink::Format, source::Source, tuple::TupleReader},
    numbers::Numbers,
    progress::Progress,
};
pub(crate) use check::WrongVerdict;
use printer::Printer;
use reader::Origin;
use tally::Tally;

mod check;
mod printer;
mod reader;
mod tally;

/// The most bases. Beyond the first, all are random, so nobody needs more.
pub(crate) const MAX_BASES: u32 = 1000;

/// Runs the command.
pub(crate) fn run(args: &IsPrime) -> Result<()> {
    let start = Instant::now();
    let source = Source::open(&args.file, Operation::PowMod.max_bits())?;
    let mut reader = TupleReader::new(vec![source], args.chunk.chunk_bytes)?;
    // At worst each integer has a strong test, as long as a power.
    let work = reader.estimate().map(|(lanes, bits)| Work { operation: Operation::PowMod, lanes, bits });
    let format = Format::choose(args.format.format, args.output.as_deref());
    let output = Output::open(args.output.as_deref(), &[args.file.as_os_str()])?;
    let on_stdout = output.is_stdout();
    let mut progress = Progress::new(reader.total_bytes(), "integers", args.summary.quiet);
    progress.hide_if(output.is_terminal());
    let mut verdicts = Verdicts {
        printer: Printer::new(output, format, args.print, args.hex)?,
        progress: &progress,
        bases: args.bases,
        tally: Tally::default(),
    };
    // The engine opens while the file is read.
    let chunks = reader::spawn(reader, args.check, args.print != Print::Flags)?;
    let (session, reason) = engine::open_for(args.device.selector, work, args.summary.hides_notes())?;
    progress.phase(engine::first_phase(&session));
    let bases = |bases| args.seed.map_or_else(|| Bases::new(bases), |seed| Bases::seeded(bases, seed));
    let mut tester = match args.bases {
        Some(count) => Tester::new(&session, bases(count), &progress),
        None => Tester::bpsw(&session, &progress),
    };
    let chunks = iter::from_fn(|| channel::receive(&chunks).transpose());
    tester.test_chunks(chunks, |origin, found| verdicts.write(origin, found))?;
    interrupt::check()?;
    let Verdicts { printer, mut tally, .. } = verdicts;
    printer.finish()?;
    tally.end(&session.engine().name, &tester, args.bases.is_none(), start.elapsed());
    engine::tell_left_out(&session);
    tally.reason = reason;
    console::summary(args.summary, on_stdout, &tally, &tally.text())
}

/// Where verdicts go.
struct Verdicts<'p> {
    printer: Printer,
    progress: &'p Progress,
    /// Strong tests at most for an integer; none for BPSW.
    bases: Option<u32>,
    tally: Tally,
}

impl Verdicts<'_> {
    /// Writes the verdicts of a chunk in the order of its lines, after checking some of them.
    fn write(&mut self, origin: Origin, found: Vec<Vec<bool>>) -> Result<()> {
        let batch = |verdicts: Vec<bool>| {
            let words = verdicts.into_iter().map(u32::from).collect::<Vec<_>>();
            Batch::from_limbs(Shape::new(words.len(), 1), words)
        };
        let batches = found.into_iter().map(batch).collect::<Result<_, _>>()?;
        let numbers = Numbers::new(batches, origin.places.clone());
        let wrong = |sample: &check::Sample| sample.wrong(numbers.lane(sample.lane)[0] == 1, self.bases);
        if let Some(error) = origin.samples.par_iter().find_map_first(wrong) {
            return Err(error.into());
        }
        let lanes = numbers.lanes();
        self.tally.lanes += lanes as u64;
        self.tally.bits = self.tally.bits.max(origin.bits);
        self.tally.primes += (0..lanes).map(|lane| u64::from(numbers.lane(lane)[0])).sum::<u64>();
        self.tally.checked += origin.samples.len() as u64;
        let consumed_bytes = origin.consumed_bytes;
        self.printer.write(&numbers, origin)?;
        self.progress.update(consumed_bytes, self.tally.lanes);
        Ok(())
    }
}
