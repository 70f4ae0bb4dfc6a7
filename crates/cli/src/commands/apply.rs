//! A command that does an operation: files of operands in, files of results out.
//!
//! ```text
//! reader thread              this thread              writer thread
//! read, parse    ─ chunk ─►  compute, check  ─ chunk ─►  format, write
//! ```
//!
//! The channels hold one chunk each, so that memory is bounded while all three work; the memory of arrays
//! goes round ([`Pool`]). The reader is never waited for when something fails: it may itself be waiting
//! for a person or a slow pipe.

use std::{
    ffi::{OsStr, OsString},
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Instant,
};

use warpmp::{
    Batch, Operation, Options, Session, Shape, Status,
    operation::{Role, STATUS_BITS},
    tuning,
};

use super::{check::Checker, expect::Expectations, results::Results};
use crate::{
    args::{Apply, ArgsError, PerOperation},
    channel, console, engine,
    error::{Error, Result},
    interrupt,
    io::{
        STDIN,
        source::Source,
        tuple::{Origins, RawTuple, TupleReader},
    },
    numbers::{self, Lines, Numbers, Operands, Single, row},
    pool::Pool,
    progress::Progress,
    summary::{Lost, Summary},
};

pub(crate) use prepare::SignError;
use prepare::{Preparation, Signed};

pub(crate) mod prepare;

/// The status of a lane that lacks an operand; no operation gives it.
const MISSING: u32 = u32::MAX;

/// A lane without a result, where every lane must have one.
#[derive(Debug, thiserror::Error)]
#[error("{place} has no result: {reason}")]
pub(crate) struct LostLane {
    place: String,
    reason: &'static str,
}

/// Operands ready to be computed with.
struct Chunk {
    operands: Operands,
    /// The single integers, with the first chunk.
    singles: Vec<Option<Single>>,
    first_lane: u64,
    origins: Origins,
    consumed_bytes: u64,
}

/// Results ready to be written, a status last if there is one.
struct Done {
    /// The operation that made them.
    operation: Operation,
    results: Vec<Numbers>,
    /// Lanes up to the end of this chunk.
    lanes: u64,
    consumed_bytes: u64,
}

/// Runs the command.
pub(crate) fn run(command: &PerOperation<Apply>) -> Result<()> {
    let start = Instant::now();
    let PerOperation { operation, operands, is_first_alone, options: args } = command;
    if operands.iter().chain(&args.expect).filter(|name| *name == STDIN).count() > 1 {
        return Err(ArgsError::BothStdin.into());
    }
    if args.bits.is_none() && operation.depends_on_widths() {
        return Err(ArgsError::WidthNeeded { operation: *operation }.into());
    }
    let inputs: Vec<&OsStr> = operands.iter().chain(&args.expect).map(OsString::as_os_str).collect();
    let widths = args.bits.map(|bits| widths(*operation, bits));
    let limit =
        |i: usize| widths.as_ref().map_or(operation.operand_max_bits(i), |widths| widths[i].next_multiple_of(64));
    let sources = operands.iter().enumerate().map(|(i, name)| Source::open(name, limit(i))).collect::<Result<_>>()?;
    let mut reader = TupleReader::new(sources, args.chunk.chunk_bytes)?;
    if let Some(widths) = &widths {
        reader.set_widths(widths);
    }
    let expected = Expectations::open(*operation, *is_first_alone, args)?;
    let shown = if *is_first_alone { 1 } else { operation.result_names().len() };
    let outputs = Results::open(*operation, shown, args, &inputs, &reader.npy_headers())?;
    let results_on_stdout = outputs.on_stdout();
    let mut progress = Progress::new(reader.total_bytes(), operation.results_name(), args.summary.quiet);
    progress.hide_if(outputs.on_terminal());
    let size = if args.engine.algorithm.is_none() { reader.estimate() } else { None };
    let size = size.map(|(lanes, bits)| engine::Work { operation: *operation, lanes, bits });
    let (names, total_bytes) = (reader.names(), reader.total_bytes());
    let is_binary = reader.npy_headers().iter().all(Option::is_some);
    // The first chunk is read while the driver starts.
    let (give_pool, pool) = mpsc::channel();
    let chunks = spawn_reader(reader, pool, widths)?;
    let (session, reason) = engine::open_for(args.engine.device.selector, size, args.summary.hides_notes())?;
    progress.phase(engine::first_phase(&session));
    let session = Arc::new(session);
    let pool = Arc::new(Pool::new(&session, is_binary));
    // Nobody listens if reading has failed; its error comes with the chunks.
    let _ = give_pool.send(Arc::clone(&pool));

    let mut work = Work {
        preparation: Preparation { operation: *operation, bits: args.bits, is_reduced: args.reduced },
        names,
        session: &session,
        pool: &pool,
        algorithm: args.engine.algorithm.as_deref(),
        singles: vec![None; operation.arity()],
        checker: Checker::new(args.check, total_bytes),
        expected,
        summary: Summary::new(*operation, &session.engine().name),
        is_strict: args.strict,
    };
    let (done, writer) = spawn_writer(outputs, progress, Arc::clone(&pool), !args.expect.is_empty())?;
    let computed = work.run(&chunks, &done);
    drop(done);
    let written = writer.join().map_err(|_| Error::Bug)?;
    // What is not as expected is an error though nobody reads on. Else what the writer met explains why computing
    // stopped.
    let computed = match &written {
        Err(Error::BrokenPipe) => computed.and(Err(Error::BrokenPipe)),
        _ => computed,
    };
    let outputs = match written {
        Err(Error::BrokenPipe) => return computed,
        written => written?,
    };
    computed?;
    interrupt::check()?;
    outputs.finish()?;

    let mut summary = work.summary;
    summary.reason = reason;
    summary.checked = work.checker.checked();
    summary.expected = work.expected.names();
    summary.finish(start.elapsed());
    summary.lost.warn(summary.lanes);
    console::summary(args.summary, results_on_stdout, &summary, &summary.text())
}

/// The widths of an operation's operands where `bits` are asked for: a product below `m·R` has those of both.
fn widths(operation: Operation, bits: usize) -> Vec<usize> {
    let width = |role| if role == Role::ReducedProduct { tuning::operand_bits(role, bits) } else { bits };
    operation.operands().iter().map(|operand| width(operand.role)).collect()
}

/// Reads and parses in a thread; the channel ends with `None` or an error.
fn spawn_reader(
    mut reader: TupleReader,
    pool: mpsc::Receiver<Arc<Pool>>,
    widths: Option<Vec<usize>>,
) -> Result<Receiver<Result<Option<Chunk>>>> {
    let (sender, receiver) = sync_channel(1);
    let names = reader.names();
    let read = move || {
        let mut tuple = reader.next_chunk();
        // There is no pool if the engine did not open.
        let Ok(pool) = pool.recv() else { return };
        // Rows of a fixed width are copied: the memory that they are read to does not go to the engine.
        if widths.is_none() {
            reader.set_pool(pool);
        }
        loop {
            let chunk =
                tuple.and_then(|tuple| tuple.map(|tuple| prepared(tuple, &names, widths.as_deref())).transpose());
            let last = !matches!(chunk, Ok(Some(_)));
            if sender.send(chunk).is_err() || last {
                break;
            }
            tuple = reader.next_chunk();
        }
    };
    channel::spawn("reader", read)?;
    Ok(receiver)
}

/// The operands of a chunk.
fn prepared(mut tuple: RawTuple, names: &[String], widths: Option<&[usize]>) -> Result<Chunk> {
    let operands = numbers::operands(&mut tuple, names, widths, Lines::Results)?;
    let mut singles = Vec::new();
    for (i, (operand, name)) in tuple.operands.iter_mut().zip(names).enumerate() {
        singles.push(match &mut operand.raw {
            Some(raw) if operand.is_single => Some(numbers::single(raw, name, widths.map(|widths| widths[i]))?),
            _ => None,
        });
    }
    let (first_lane, consumed_bytes) = (tuple.first_lane, tuple.consumed_bytes);
    Ok(Chunk { operands, singles, first_lane, origins: tuple.into_origins(names), consumed_bytes })
}

/// Formats and writes in a thread, which gives the sink back once the channel has ended. If nobody reads on, it ends
/// at once, or with the channel if `is_compared`: results are compared to the end.
fn spawn_writer(
    mut outputs: Results,
    progress: Progress,
    pool: Arc<Pool>,
    is_compared: bool,
) -> Result<(SyncSender<Done>, JoinHandle<Result<Results>>)> {
    let (sender, receiver) = sync_channel::<Done>(1);
    let write = move || {
        let mut is_read = true;
        for done in receiver {
            match outputs.write(done.operation, &done.results) {
                Err(Error::BrokenPipe) if is_compared => is_read = false,
                written => written?,
            }
            progress.update(done.consumed_bytes, done.lanes);
            done.results.into_iter().for_each(|numbers| pool.give(numbers.into_batches()));
        }
        if is_read { Ok(outputs) } else { Err(Error::BrokenPipe) }
    };
    let handle = channel::spawn("writer", write)?;
    Ok((sender, handle))
}

/// What happens to a chunk between reader and writer.
struct Work<'a> {
    preparation: Preparation,
    /// The operands' names.
    names: Vec<String>,
    session: &'a Session,
    pool: &'a Pool,
    algorithm: Option<&'a str>,
    /// The single integers, once the first chunk brought them.
    singles: Vec<Option<Single>>,
    checker: Checker,
    expected: Expectations,
    summary: Summary,
    /// Does a lane without a result end the command?
    is_strict: bool,
}

impl Work<'_> {
    /// Does chunk after chunk. Ends early, without an error of its own, when the writer is gone.
    fn run(&mut self, chunks: &Receiver<Result<Option<Chunk>>>, results: &SyncSender<Done>) -> Result<()> {
        while let Some(mut chunk) = channel::receive(chunks)? {
            for (known, new) in self.singles.iter_mut().zip(&mut chunk.singles) {
                *known = new.take().or(known.take());
            }
            let done = self.chunk(chunk)?;
            if results.send(done).is_err() {
                return Ok(());
            }
        }
        self.expected.finish()
    }

    /// Computes, checks, compares.
    fn chunk(&mut self, chunk: Chunk) -> Result<Done> {
        let Chunk { operands, first_lane, origins, consumed_bytes, .. } = chunk;
        self.refuse_signs(&operands, &origins)?;
        let has_signs = operands.signs.iter().any(|batches| !batches.is_empty())
            || self.singles.iter().flatten().any(|single| single.is_negative.is_some());
        let operation = self.preparation.operation(has_signs);
        let groups = operands.columns.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let count = operation.result_names().len() + usize::from(operation.has_status());
        let mut results: Vec<Vec<Batch<'static>>> = (0..count).map(|_| Vec::with_capacity(groups)).collect();
        for number in 0..groups {
            interrupt::check()?;
            let found = self.batch(operation, &operands, number)?;
            results.iter_mut().zip(found).for_each(|(batches, batch)| batches.push(batch));
        }
        self.checker.check(self.preparation, &operands, &self.singles, &results, first_lane, consumed_bytes)?;
        let lanes = first_lane + operands.lanes as u64;
        // Memory that no reader takes again would pile up.
        if self.preparation.bits.is_none() {
            operands.columns.into_iter().flatten().for_each(|batches| self.pool.give(batches));
        }
        let (places, missing) = (operands.places, operands.missing);
        let mut results: Vec<Numbers> =
            results.into_iter().map(|batches| Numbers::new(batches, places.clone())).collect();
        if !missing.is_empty() {
            let statuses = if operation.has_status() { results.pop() } else { None };
            results.push(with_missing(statuses.as_ref(), &missing)?);
        }
        if let Some(statuses) = results.get(operation.result_names().len()) {
            self.note_lost(statuses, &origins)?;
        }
        self.expected.compare(operation, &results)?;
        Ok(Done { operation, results, lanes, consumed_bytes })
    }

    /// Fails at the first number with a minus that has no meaning.
    fn refuse_signs(&self, operands: &Operands, origins: &Origins) -> Result<()> {
        for (i, batches) in operands.signs.iter().enumerate() {
            let operand = self.preparation.operation.operands()[i].name;
            let single = self.singles[i].as_ref().filter(|single| single.is_negative == Some(true));
            let lanes = 0..if batches.is_empty() { 0 } else { operands.lanes };
            let mut negative = lanes.filter(|lane| sign(batches, operands.places.as_deref(), *lane) == Some(true));
            let too_long = |bits: usize, number: &[u32]| {
                // The least two's complement is -2^(bits − 1).
                numbers::bit_length(number) > bits - 1
                    && (numbers::bit_length(number) > bits
                        || number.iter().map(|limb| limb.count_ones()).sum::<u32>() > 1)
            };
            let operation = self.preparation.operation;
            if self.preparation.refuses(i) {
                let place = match (single, negative.next()) {
                    (Some(_), _) => self.names[i].clone(),
                    (None, Some(lane)) => origins.place(lane),
                    (None, None) => continue,
                };
                return Err(SignError::Negative { place, operand, operation }.into());
            }
            let Some(bits) = self.preparation.complement_bits() else { continue };
            if single.is_some_and(|single| too_long(bits, single.batch.limbs())) {
                return Err(SignError::TooNegative { place: self.names[i].clone(), operand, bits }.into());
            }
            let Some(batches) = &operands.columns[i] else { continue };
            if let Some(lane) = negative.find(|lane| too_long(bits, row(batches, operands.places.as_deref(), *lane).0))
            {
                return Err(SignError::TooNegative { place: origins.place(lane), operand, bits }.into());
            }
        }
        Ok(())
    }

    /// Counts the lanes without a result, and remembers the first.
    fn note_lost(&mut self, statuses: &Numbers, origins: &Origins) -> Result<()> {
        for lane in 0..statuses.lanes() {
            let reason = match statuses.lane(lane)[0] {
                MISSING => Lost::NO_OPERAND,
                code => match Status::from_code(code) {
                    None | Some(Status::Fine) => continue,
                    Some(status) => status.words(),
                },
            };
            if self.is_strict {
                return Err(LostLane { place: origins.place(lane), reason }.into());
            }
            self.summary.lost.add(reason, || origins.place(lane));
        }
        Ok(())
    }

    /// The results for the batches of this number.
    fn batch(&mut self, operation: Operation, operands: &Operands, number: usize) -> Result<Vec<Batch<'static>>> {
        let each = operands.columns.iter().zip(&operands.signs).zip(&self.singles);
        let find = each.map(|((batches, signs), single)| match (batches, single) {
            (Some(batches), _) => Ok((batches.get(number).ok_or(Error::Bug)?, signs.get(number).map(Vec::as_slice))),
            (None, Some(single)) => Ok((&single.batch, single.is_negative.as_ref().map(std::slice::from_ref))),
            (None, None) => Err(Error::Bug),
        });
        let signed = find.collect::<Result<Vec<Signed<'_>>>>()?;
        let batches = self.preparation.batches(self.session, &signed)?;
        let batches: Vec<&Batch<'_>> = batches.iter().map(|batch| &**batch).collect();
        let shapes: Vec<Shape> = batches.iter().map(|batch| batch.shape()).collect();
        let mut options = Options::new();
        options.algorithm = self.algorithm.map(str::to_owned);
        let memory = operation.results(&shapes)?.into_iter().map(|shape| self.pool.take(shape.words()));
        // Memory for all results or for none.
        options.into = memory.collect::<Option<Vec<_>>>().unwrap_or_default();
        let (results, cost) = self.session.apply(operation, &batches, options)?;
        self.summary.add(&cost);
        Ok(results)
    }
}

/// The sign of a chunk's lane, if its operand has signs. `batches` has the signs of each batch.
pub(super) fn sign(batches: &[Vec<bool>], places: Option<&[(u32, u32)]>, lane: usize) -> Option<bool> {
    let (batch, row) = places.map_or((0, lane), |places| (places[lane].0 as usize, places[lane].1 as usize));
    Some(*batches.get(batch)?.get(row)?)
}

/// Statuses in which lanes that lack an operand have none of the operation's.
fn with_missing(statuses: Option<&Numbers>, missing: &[bool]) -> Result<Numbers> {
    let status = |(lane, is_missing): (usize, &bool)| {
        if *is_missing { MISSING } else { statuses.map_or(0, |statuses| statuses.lane(lane)[0]) }
    };
    let codes = missing.iter().enumerate().map(status).collect();
    Ok(Numbers::new(vec![Batch::from_limbs(Shape::new(missing.len(), STATUS_BITS), codes)?], None))
}
