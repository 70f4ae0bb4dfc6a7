//! The file in chunks, read by a thread of its own.

use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;
use warpmp::Batch;
use warpmp_numtheory::primality::Chunk;

use super::check::Sample;
use crate::{
    channel,
    commands::check::Checker,
    error::{Error, Result},
    io::tuple::TupleReader,
    numbers::{self, Lines, bit_length, row},
};

/// Chunks that are read ahead while the engine opens.
const AHEAD: usize = 3;

/// Where the integers of a chunk come from.
pub(super) struct Origin {
    /// The integers, if they are to be written.
    pub(super) batches: Vec<Batch<'static>>,
    /// Where each lane is among the batches; none: one batch, in order.
    pub(super) places: Option<Vec<(u32, u32)>>,
    /// Bits of the widest integer.
    pub(super) bits: usize,
    /// Bytes of input up to the end of this chunk.
    pub(super) consumed_bytes: u64,
    /// The integers to be checked.
    pub(super) samples: Vec<Sample>,
}

/// What the reader sends: a chunk, `None` at the end of the file, or an error.
type Read = Result<Option<Chunk<'static, Origin>>>;

/// Starts reading. `check`: the number of verdicts to be found again; `keeps`: are the integers to be written?
pub(super) fn spawn(mut reader: TupleReader, check: u64, keeps: bool) -> Result<Receiver<Read>> {
    let (sender, receiver) = sync_channel(AHEAD);
    let names = reader.names();
    let mut checker = Checker::new(check, reader.total_bytes());
    channel::spawn("reader", move || {
        loop {
            let chunk = chunk(&mut reader, &names, &mut checker, keeps);
            let last = !matches!(chunk, Ok(Some(_)));
            if sender.send(chunk).is_err() || last {
                break;
            }
        }
    })?;
    Ok(receiver)
}

fn chunk(reader: &mut TupleReader, names: &[String], checker: &mut Checker, keeps: bool) -> Read {
    let Some(mut tuple) = reader.next_chunk()? else { return Ok(None) };
    let mut operands = numbers::operands(&mut tuple, names, None, Lines::Unsigned)?;
    let batches = operands.columns.swap_remove(0).ok_or(Error::Bug)?;
    let bits =
        batches.iter().filter_map(|batch| batch.limbs().par_chunks_exact(batch.shape().limbs()).map(bit_length).max());
    let bits = bits.max().unwrap_or(0);
    let places = operands.places;
    let limbs = |lane: usize| row(&batches, places.as_deref(), lane).0.to_vec();
    let samples = checker.lanes(tuple.consumed_bytes, operands.lanes);
    let samples = samples.into_iter().map(|lane| Sample { lane, line: tuple.line(lane), limbs: limbs(lane) }).collect();
    let kept = if keeps { batches.clone() } else { Vec::new() };
    let origin = Origin { batches: kept, places, bits, consumed_bytes: tuple.consumed_bytes, samples };
    Ok(Some(Chunk { batches, tag: origin }))
}
