//! `warpmp is-prime`: Miller–Rabin for every integer of a file.
//!
//! ```text
//! trial.rs    small factors, on the host: most lanes end here
//! bases.rs    which bases an integer is tested to, and what that proves
//! strong.rs   rounds of strong tests on the engine, by the lanes that are left
//! tally.rs    what it cost
//! ```

use std::{sync::Arc, time::Instant};

use warpmp::{Batch, Operation, Shape};

use crate::{
    args::IsPrime,
    console, engine,
    error::{Error, Result},
    interrupt,
    io::{
        STDIN,
        npy::Dtype,
        output::Output,
        sink::{Format, Layout, Sink},
        source::Source,
        tuple::TupleReader,
    },
    numbers::{self, Numbers},
    pool::Pool,
    progress::Progress,
};
use bases::Bases;
use strong::Tester;
use tally::Tally;

mod bases;
mod strong;
mod tally;
mod trial;

/// The most bases: all random ones that anybody may want, and their primes are below 100².
pub(crate) const MAX_BASES: i64 = 1000;

/// Runs the command.
pub(crate) fn run(args: &IsPrime) -> Result<()> {
    let start = Instant::now();
    let source = Source::open(&args.file, Operation::PowMod.max_bits())?;
    let mut reader = TupleReader::new(vec![source], args.chunk_bytes)?;
    let names = reader.names();
    let inputs: Vec<&str> = Some(args.file.as_str()).filter(|name| *name != STDIN).into_iter().collect();
    let format = Format::choose(args.format, args.output.as_deref());
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let on_stdout = output.is_stdout();
    let mut progress = Progress::new(reader.total_bytes(), "integers", args.quiet);
    if output.is_terminal() {
        progress.hide();
    }
    let mut sink = Sink::new(output, format, false, Layout::Unknown(Dtype::U32))?;
    let session = Arc::new(engine::open(args.device.0, args.quiet || args.json)?);
    let pool = Pool::new(&session, false);
    let mut tally = Tally::new(&session.engine().name);
    let mut tester = Tester::new(&session, Bases::new(args.bases, args.seed));
    while let Some(chunk) = reader.next_chunk()? {
        let mut operands = numbers::operands(&chunk, &names, &pool, None)?;
        let batches = operands.columns.swap_remove(0).ok_or(Error::Bug)?;
        let verdicts = batches.iter().map(|batch| verdicts(&mut tester, batch, &mut tally));
        let verdicts = Numbers::new(verdicts.collect::<Result<_>>()?, operands.places);
        sink.write(&verdicts)?;
        progress.update(chunk.consumed_bytes, tally.lanes);
    }
    interrupt::check()?;
    sink.finish()?;
    tally.finish(start.elapsed());
    match (args.json, on_stdout) {
        (true, false) => console::print(&(tally.json() + "\n"))?,
        (true, true) => console::note(&tally.json()),
        (false, _) if !args.quiet => console::note(&tally.text()),
        (false, _) => {}
    }
    Ok(())
}

/// A one for each prime of the batch, a zero for each other lane.
fn verdicts(tester: &mut Tester<'_>, batch: &Batch, tally: &mut Tally) -> Result<Batch<'static>> {
    let mut primes = trial::divide(batch);
    let left: Vec<usize> = (0..batch.lanes()).filter(|lane| primes[*lane].is_none()).collect();
    let found = tester.test(batch, &left, tally)?;
    for (lane, prime) in left.iter().zip(found) {
        primes[*lane] = Some(prime);
    }
    let words: Vec<u32> = primes.iter().map(|prime| u32::from(*prime == Some(true))).collect();
    tally.add(batch.shape().bits, &words, left.len());
    Ok(Batch::from_limbs(Shape::new(words.len(), 1), words)?)
}
