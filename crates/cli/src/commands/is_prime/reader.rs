//! The file in chunks, read by a thread of its own.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
};

use warpmp::{Batch, Session};

use super::check::Sample;
use crate::{
    commands::check::Checker,
    error::{Error, Result},
    io::{source::Raw, tuple::TupleReader},
    numbers::{self, row},
    pool::Pool,
};

/// Chunks that are read ahead while an engine is opened.
const AHEAD: usize = 3;

/// Integers that were read.
pub(super) struct Chunk {
    pub(super) batches: Vec<Batch<'static>>,
    /// Where each lane is among the batches; none: one batch, in order.
    pub(super) places: Option<Vec<(u32, u32)>>,
    pub(super) lanes: usize,
    /// Bytes of input up to the end of this chunk.
    pub(super) consumed_bytes: u64,
    /// Those to be checked.
    pub(super) samples: Vec<Sample>,
}

/// Starts reading. The channel ends with `None` or an error. `check`: how many verdicts are to be found again.
pub(super) fn spawn(mut reader: TupleReader, check: u64) -> Result<Receiver<Result<Option<Chunk>>>> {
    let (sender, receiver) = sync_channel(AHEAD);
    let names = reader.names();
    let mut checker = Checker::new(check, reader.total_bytes());
    let pool = Pool::new(&Arc::new(Session::cpu()), false);
    let read = move || {
        loop {
            let chunk = chunk(&mut reader, &names, &pool, &mut checker);
            let last = !matches!(chunk, Ok(Some(_)));
            if sender.send(chunk).is_err() || last {
                break;
            }
        }
    };
    thread::Builder::new().name("reader".into()).spawn(read).map_err(Error::Threads)?;
    Ok(receiver)
}

fn chunk(reader: &mut TupleReader, names: &[String], pool: &Pool, checker: &mut Checker) -> Result<Option<Chunk>> {
    let Some(tuple) = reader.next_chunk()? else { return Ok(None) };
    let mut operands = numbers::operands(&tuple, names, pool, None)?;
    let batches = operands.columns.swap_remove(0).ok_or(Error::Bug)?;
    let (places, lanes) = (operands.places, operands.lanes);
    let line = |lane: usize| match &tuple.first {
        Raw::Text(text) => text.line(lane),
        Raw::Rows(_) => tuple.first_lane + lane as u64 + 1,
    };
    let limbs = |lane: usize| row(&batches, places.as_deref(), lane).0.to_vec();
    let samples = checker.lanes(tuple.consumed_bytes, lanes);
    let samples = samples.into_iter().map(|lane| Sample { lane, line: line(lane), limbs: limbs(lane) }).collect();
    Ok(Some(Chunk { batches, places, lanes, consumed_bytes: tuple.consumed_bytes, samples }))
}
