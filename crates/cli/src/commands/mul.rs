//! `warpmp mul`: two files in, their products out.
//!
//! ```text
//! reader thread              this thread              writer thread
//! read, parse    ─ chunk ─►  multiply, check  ─ chunk ─►  format, write
//! ```
//!
//! The channels hold one chunk each, so that memory is bounded while all three work; the memory of arrays
//! goes round ([`Pool`]). The reader is never waited for when something fails: it may itself be waiting
//! for a person or a slow pipe.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use warpmp::{Batch, Operation, Session, operation::MUL_MAX_BITS};

use super::{check::Checker, expect::Expected};
use crate::{
    args::Mul,
    console, engine,
    error::{Error, Result},
    interrupt,
    io::{
        STDIN,
        npy::{Dtype, NpyHeader},
        output::Output,
        pair::PairReader,
        sink::{Format, Layout, Sink},
        source::Source,
    },
    numbers::{self, Numbers, Operands},
    pool::Pool,
    progress::Progress,
    summary::Summary,
};

/// How often a wait looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// Operands ready to be multiplied.
struct Chunk {
    operands: Operands,
    /// The single second operand, with the first chunk.
    single: Option<Batch<'static>>,
    first_lane: u64,
    consumed_bytes: u64,
}

/// Products ready to be written.
struct Products {
    numbers: Numbers,
    /// Lanes up to the end of this chunk.
    lanes: u64,
    consumed_bytes: u64,
}

/// Runs the command.
pub(crate) fn run(args: &Mul) -> Result<()> {
    let start = Instant::now();
    if args.a == STDIN && args.b == STDIN {
        return Err(Error::BothStdin);
    }
    let operands = [Some(&args.a), Some(&args.b), args.expect.as_ref()];
    let inputs: Vec<&str> = operands.into_iter().flatten().map(String::as_str).filter(|name| *name != STDIN).collect();
    let operand = |name: &str| Source::open(name, MUL_MAX_BITS);
    let reader = PairReader::new(operand(&args.a)?, operand(&args.b)?, args.chunk_bytes)?;
    let expected = args.expect.as_deref().map(Expected::open).transpose()?;
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let results_on_stdout = output.is_stdout();
    let mut progress = Progress::new(reader.total_bytes(), "products", args.quiet);
    if output.is_terminal() {
        progress.hide();
    }
    let format = Format::choose(args.format, args.output.as_deref());
    let sink = Sink::new(output, format, args.hex, layout(&reader))?;
    let session = Arc::new(engine::open(args.engine.device.0, args.quiet || args.json)?);
    let pool = Arc::new(Pool::new(&session, matches!(reader.npy_headers(), (Some(_), Some(_)))));

    let mut work = Work {
        session: &session,
        pool: &pool,
        algorithm: args.engine.algorithm.as_deref(),
        single: None,
        checker: Checker::new(args.check, reader.total_bytes()),
        expected,
        summary: Summary::new("mul", &session.engine().name),
    };
    let chunks = spawn_reader(reader, Arc::clone(&pool))?;
    let (products, writer) = spawn_writer(sink, progress, Arc::clone(&pool))?;
    let computed = work.run(&chunks, &products);
    drop(products);
    let written = writer.join().map_err(|_| Error::Bug)?;
    // What the writer met explains why computing stopped.
    let sink = written?;
    computed?;
    interrupt::check()?;
    sink.finish()?;

    let mut summary = work.summary;
    summary.checked = work.checker.checked();
    summary.finish(start.elapsed());
    report(&summary, args, results_on_stdout)
}

fn report(summary: &Summary, args: &Mul, results_on_stdout: bool) -> Result<()> {
    match (args.json, results_on_stdout) {
        (true, false) => console::print(&(summary.json() + "\n"))?,
        (true, true) => console::note(&summary.json()),
        (false, _) if !args.quiet => console::note(&summary.text()),
        (false, _) => {}
    }
    Ok(())
}

/// The shape of an output array: known from the start if both operands are arrays.
fn layout(reader: &PairReader) -> Layout {
    match reader.npy_headers() {
        (Some(a), Some(b)) => {
            let limbs = a.row_limbs() + b.row_limbs();
            Layout::Known(NpyHeader { dtype: a.dtype, rows: a.rows, columns: limbs.div_ceil(a.dtype.limbs()) })
        }
        (Some(one), None) | (None, Some(one)) => Layout::Unknown(one.dtype),
        (None, None) => Layout::Unknown(Dtype::U32),
    }
}

/// Reads and parses in a thread; the channel ends with `None` or an error.
fn spawn_reader(mut reader: PairReader, pool: Arc<Pool>) -> Result<Receiver<Result<Option<Chunk>>>> {
    let (sender, receiver) = sync_channel(1);
    let names = reader.names();
    let read = move || {
        loop {
            let chunk = read_chunk(&mut reader, &names, &pool);
            let last = !matches!(chunk, Ok(Some(_)));
            if sender.send(chunk).is_err() || last {
                break;
            }
        }
    };
    thread::Builder::new().name("reader".into()).spawn(read).map_err(|source| Error::read("a new thread", source))?;
    Ok(receiver)
}

fn read_chunk(reader: &mut PairReader, names: &(String, String), pool: &Pool) -> Result<Option<Chunk>> {
    let Some(pair) = reader.next_chunk()? else { return Ok(None) };
    let operands = numbers::operands(&pair, names, pool)?;
    let single = match &pair.b {
        Some(b) if pair.broadcast => Some(numbers::single(b, &names.1, pool)?),
        _ => None,
    };
    Ok(Some(Chunk { operands, single, first_lane: pair.first_lane, consumed_bytes: pair.consumed_bytes }))
}

/// Formats and writes in a thread, which gives the sink back once the channel has ended.
fn spawn_writer(
    mut sink: Sink,
    progress: Progress,
    pool: Arc<Pool>,
) -> Result<(SyncSender<Products>, JoinHandle<Result<Sink>>)> {
    let (sender, receiver) = sync_channel::<Products>(1);
    let write = move || {
        for products in receiver {
            sink.write(&products.numbers)?;
            progress.update(products.consumed_bytes, products.lanes);
            pool.give(products.numbers.into_batches());
        }
        Ok(sink)
    };
    let handle = thread::Builder::new()
        .name("writer".into())
        .spawn(write)
        .map_err(|source| Error::read("a new thread", source))?;
    Ok((sender, handle))
}

/// What happens to a chunk between reader and writer.
struct Work<'a> {
    session: &'a Session,
    pool: &'a Pool,
    algorithm: Option<&'a str>,
    /// The single second operand, once the first chunk brought it.
    single: Option<Batch<'static>>,
    checker: Checker,
    expected: Option<Expected>,
    summary: Summary,
}

impl Work<'_> {
    /// Does chunk after chunk. Ends early, without an error of its own, when the writer is gone.
    fn run(&mut self, chunks: &Receiver<Result<Option<Chunk>>>, products: &SyncSender<Products>) -> Result<()> {
        while let Some(mut chunk) = next(chunks)? {
            self.single = chunk.single.take().or(self.single.take());
            let done = self.chunk(chunk)?;
            if products.send(done).is_err() {
                return Ok(());
            }
        }
        self.expected.as_mut().map_or(Ok(()), Expected::finish)
    }

    /// Multiplies, checks, compares.
    fn chunk(&mut self, chunk: Chunk) -> Result<Products> {
        let Chunk { operands, first_lane, consumed_bytes, .. } = chunk;
        let mut batches = Vec::with_capacity(operands.a.len());
        for (number, a) in operands.a.iter().enumerate() {
            interrupt::check()?;
            let b =
                operands.b.as_ref().map_or(self.single.as_ref(), |batches| batches.get(number)).ok_or(Error::Bug)?;
            let shape = Operation::Mul.results(&[a.shape(), b.shape()])?[0];
            let into = self.pool.take(shape.words());
            let (product, cost) = engine::apply(self.session, Operation::Mul, &[a, b], self.algorithm, into)?;
            self.summary.add(&cost);
            batches.push(product);
        }
        self.checker.check(&operands, self.single.as_ref(), &batches, first_lane, consumed_bytes)?;
        let lanes = first_lane + operands.lanes as u64;
        self.pool.give(operands.a);
        self.pool.give(operands.b.unwrap_or_default());
        let numbers = Numbers::new(batches, operands.places);
        if let Some(expected) = &mut self.expected {
            expected.compare(&numbers)?;
        }
        Ok(Products { numbers, lanes, consumed_bytes })
    }
}

/// The next chunk; none at the end. Looks for an interruption while it waits.
fn next(chunks: &Receiver<Result<Option<Chunk>>>) -> Result<Option<Chunk>> {
    loop {
        interrupt::check()?;
        match chunks.recv_timeout(LOOK) {
            Ok(chunk) => return chunk,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Bug),
        }
    }
}
