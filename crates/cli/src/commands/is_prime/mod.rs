//! `warpmp is-prime`: Miller–Rabin for every integer of a file.
//!
//! ```text
//! reader thread            this thread                        engine's thread
//! read, parse  ─ chunk ─►  trial division, gather  ─ bin ─►   strong tests
//!                          write, check            ◄ verdicts ┘
//!
//! reader.rs   the file in chunks, and what is to be checked
//! trial.rs    small factors, on the host: most lanes end here
//! gather.rs   candidates of several chunks, by width
//! worker.rs   the engine's thread
//! bases.rs    which bases an integer is tested to, and what that proves
//! strong.rs   strong tests on the engine
//! board.rs    verdicts on their way back to their places
//! check.rs    some of them found again by another test
//! tally.rs    what it cost
//! ```

use std::{sync::mpsc::Receiver, time::Instant};

use rayon::prelude::*;
use warpmp::{EngineKind, Operation, Selector};

use crate::{
    args::IsPrime,
    channel, console,
    error::Result,
    interrupt,
    io::{
        STDIN,
        npy::Dtype,
        output::Output,
        sink::{Format, Layout, Sink},
        source::Source,
        tuple::TupleReader,
    },
    numbers::bit_length,
    progress::Progress,
};
use bases::Bases;
use board::Board;
use gather::{Gather, Place};
use reader::Chunk;
use tally::Tally;
use trial::Trial;
use worker::{Message, Worker};

pub(crate) use check::WrongVerdict;

mod bases;
mod board;
mod check;
mod gather;
mod reader;
mod strong;
mod tally;
mod trial;
mod worker;

/// The most bases: all random ones that anybody may want, and their primes are below 100².
pub(crate) const MAX_BASES: u32 = 1000;

/// Lanes that wait for verdicts, at most: then candidates go to the engine though they do not fill it.
const MOST_WAITING: u64 = 1 << 24;

/// Runs the command.
pub(crate) fn run(args: &IsPrime) -> Result<()> {
    let start = Instant::now();
    let source = Source::open(&args.file, Operation::PowMod.max_bits())?;
    let reader = TupleReader::new(vec![source], args.chunk.chunk_bytes)?;
    let inputs: Vec<&str> = Some(args.file.as_str()).filter(|name| *name != STDIN).into_iter().collect();
    let format = Format::choose(args.format.format, args.output.as_deref());
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let on_stdout = output.is_stdout();
    let mut progress = Progress::new(reader.total_bytes(), "integers", args.summary.quiet);
    if output.is_terminal() {
        progress.hide();
    }
    let sink = Sink::new(output, format, false, Layout::Unknown(Dtype::U32))?;
    // The engine is made ready while the file is read.
    let worker = Worker::spawn(args.device.selector, args.summary.hides_notes(), Bases::new(args.bases, args.seed))?;
    let chunks = reader::spawn(reader, args.check)?;
    let mut board = Board::new(sink, progress, args.bases);
    let mut tally = test(args.device.selector, &chunks, worker, &mut board)?;
    interrupt::check()?;
    board.finish(&mut tally)?;
    tally.end(start.elapsed());
    console::summary(args.summary, on_stdout, &tally.json(), &tally.text())
}

/// Tests chunk after chunk.
fn test(
    selector: Selector,
    chunks: &Receiver<Result<Option<Chunk>>>,
    mut worker: Worker,
    board: &mut Board,
) -> Result<Tally> {
    // How far trial division goes depends on the engine, and nothing must depend on when it is ready.
    let kind = match selector {
        Selector::Cpu => EngineKind::Cpu,
        Selector::Cuda(_) => EngineKind::Cuda,
        Selector::Sim => EngineKind::Sim,
        Selector::Auto => worker.kind()?,
    };
    let (trial, mut gather, mut tally) = (Trial::new(), Gather::new(kind), Tally::default());
    while let Some(mut chunk) = channel::receive(chunks)? {
        let number = board.begin(&mut chunk);
        for (place, batch) in (0..).zip(&chunk.batches) {
            let known = trial.divide(batch, kind);
            let limbs = batch.shape().limbs();
            tally.bits = batch.limbs().par_chunks_exact(limbs).map(bit_length).max().unwrap_or(0).max(tally.bits);
            for (row, verdict) in (0..).zip(known) {
                let place = Place { chunk: number, batch: place, row };
                if let Some(prime) = verdict {
                    board.put(place, prime);
                } else {
                    tally.candidates += 1;
                    gather.add(&batch.limbs()[row as usize * limbs..][..limbs], place);
                }
            }
        }
        drop(chunk);
        while let Some(bin) = gather.full() {
            worker.send(bin)?;
        }
        if board.waiting() > MOST_WAITING {
            gather.rest().into_iter().try_for_each(|bin| worker.send(bin))?;
        }
        while let Some(message) = worker.poll()? {
            board.answer(message);
        }
        board.write()?;
    }
    gather.rest().into_iter().try_for_each(|bin| worker.send(bin))?;
    worker.end();
    loop {
        match worker.wait()? {
            Message::Finished { name, first, further } => {
                board.write()?;
                tally.engine(name, first, further);
                return Ok(tally);
            }
            message => board.answer(message),
        }
        board.write()?;
    }
}
