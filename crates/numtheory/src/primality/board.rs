//! Verdicts on their way back: chunks wait here until all their verdicts are known, and leave in order.

use std::collections::VecDeque;

use super::{Chunk, gather::Seat};

/// The chunks that have not left yet, each with the caller's tag.
pub(super) struct Board<T> {
    waiting: VecDeque<Waiting<T>>,
    /// Chunks that have left.
    gone: u64,
}

struct Waiting<T> {
    tag: T,
    /// A list for each batch, a verdict for each lane.
    verdicts: Vec<Vec<bool>>,
    lanes: usize,
    /// Verdicts that are still unknown.
    unknown: usize,
}

impl<T> Board<T> {
    /// No chunk yet.
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), gone: 0 }
    }

    /// Makes room for a chunk's verdicts; gives the chunk's number, and its batches back.
    pub(super) fn begin<'b>(&mut self, chunk: Chunk<'b, T>) -> (u64, Vec<warpmp::Batch<'b>>) {
        let verdicts: Vec<Vec<bool>> = chunk.batches.iter().map(|batch| vec![false; batch.lanes()]).collect();
        let lanes = verdicts.iter().map(Vec::len).sum();
        self.waiting.push_back(Waiting { tag: chunk.tag, verdicts, lanes, unknown: lanes });
        (self.gone + self.waiting.len() as u64 - 1, chunk.batches)
    }

    /// A verdict is known.
    pub(super) fn put(&mut self, seat: Seat, prime: bool) {
        let chunk = &mut self.waiting[(seat.chunk - self.gone) as usize];
        chunk.verdicts[seat.batch as usize][seat.lane as usize] = prime;
        chunk.unknown -= 1;
    }

    /// Lanes of the chunks that wait.
    pub(super) fn waiting_lanes(&self) -> usize {
        self.waiting.iter().map(|chunk| chunk.lanes).sum()
    }

    /// The first chunk leaves, if all its verdicts are known.
    pub(super) fn leave(&mut self) -> Option<(T, Vec<Vec<bool>>)> {
        self.waiting.front().filter(|chunk| chunk.unknown == 0)?;
        let chunk = self.waiting.pop_front()?;
        self.gone += 1;
        Some((chunk.tag, chunk.verdicts))
    }
}
