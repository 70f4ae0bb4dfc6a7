//! Verdicts on their way back: chunks wait here until all of theirs are known, and are written in order.

use std::collections::VecDeque;

use rayon::prelude::*;
use warpmp::{Batch, Shape};

use super::{
    check::{self, Sample, WrongVerdict},
    gather::Place,
    reader::Chunk,
    tally::Tally,
    worker::Message,
};
use crate::{
    commands::check::head,
    error::{Error, Result},
    io::sink::Sink,
    numbers::Numbers,
    progress::Progress,
};

/// All chunks that are not written yet.
pub(super) struct Board {
    sink: Sink,
    progress: Progress,
    /// Strong tests at most for an integer.
    bases: u32,
    chunks: VecDeque<Waiting>,
    /// Chunks that were written.
    written: u64,
    lanes: u64,
    primes: u64,
    checked: u64,
}

/// A chunk that waits.
struct Waiting {
    /// Of each batch a word a lane.
    verdicts: Vec<Vec<u32>>,
    places: Option<Vec<(u32, u32)>>,
    /// Verdicts that are still to come.
    left: usize,
    lanes: usize,
    consumed_bytes: u64,
    samples: Vec<Sample>,
}

impl Board {
    /// Verdicts go to `sink`.
    pub(super) const fn new(sink: Sink, progress: Progress, bases: u32) -> Self {
        let chunks = VecDeque::new();
        Self { sink, progress, bases, chunks, written: 0, lanes: 0, primes: 0, checked: 0 }
    }

    /// A chunk's place, and its number.
    pub(super) fn begin(&mut self, chunk: &mut Chunk) -> u64 {
        self.chunks.push_back(Waiting {
            verdicts: chunk.batches.iter().map(|batch| vec![0; batch.lanes()]).collect(),
            places: chunk.places.take(),
            left: chunk.lanes,
            lanes: chunk.lanes,
            consumed_bytes: chunk.consumed_bytes,
            samples: std::mem::take(&mut chunk.samples),
        });
        self.written + self.chunks.len() as u64 - 1
    }

    /// A verdict.
    pub(super) fn put(&mut self, place: Place, prime: bool) {
        let waiting = &mut self.chunks[(place.chunk - self.written) as usize];
        waiting.verdicts[place.batch as usize][place.row as usize] = prime.into();
        waiting.left -= 1;
    }

    /// The verdicts in a message.
    pub(super) fn answer(&mut self, message: Message) {
        if let Message::Tested { places, verdicts } = message {
            places.into_iter().zip(verdicts).for_each(|(place, prime)| self.put(place, prime));
        }
    }

    /// Lanes of chunks that wait.
    pub(super) fn waiting(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.lanes as u64).sum()
    }

    /// Writes the chunks that need not wait any more, after checking them.
    ///
    /// # Errors
    /// [`WrongVerdict`]; what writing gives.
    pub(super) fn write(&mut self) -> Result<()> {
        while self.chunks.front().is_some_and(|chunk| chunk.left == 0) {
            let Some(chunk) = self.chunks.pop_front() else { break };
            self.written += 1;
            self.lanes += chunk.lanes as u64;
            self.primes += chunk.verdicts.iter().flatten().map(|verdict| u64::from(*verdict)).sum::<u64>();
            let batch = |words: Vec<u32>| Batch::from_limbs(Shape::new(words.len(), 1), words);
            let batches = chunk.verdicts.into_iter().map(batch).collect::<Result<_, _>>()?;
            let numbers = Numbers::new(batches, chunk.places);
            let wrong = |sample: &Sample| {
                let found = numbers.lane(sample.lane)[0] == 1;
                (check::is_prime(&sample.limbs) != found).then(|| WrongVerdict {
                    line: sample.line,
                    number: head(&sample.limbs),
                    found: if found { "prime" } else { "composite" },
                    expected: if found { "composite" } else { "prime" },
                    bases: self.bases,
                })
            };
            if let Some(error) = chunk.samples.par_iter().find_map_first(wrong) {
                return Err(error.into());
            }
            self.checked += chunk.samples.len() as u64;
            self.sink.write(&numbers)?;
            self.progress.update(chunk.consumed_bytes, self.lanes);
        }
        Ok(())
    }

    /// All is written: the output appears, and the tally is told.
    pub(super) fn finish(self, tally: &mut Tally) -> Result<()> {
        if !self.chunks.is_empty() {
            return Err(Error::Bug);
        }
        (tally.lanes, tally.primes, tally.checked) = (self.lanes, self.primes, self.checked);
        self.sink.finish()
    }
}
