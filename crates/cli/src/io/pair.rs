//! The two operands in lock step: chunks of bounded size, and counts that differ.

use super::source::{Raw, Source};
use crate::error::{Error, Result};

/// Operands `a` and `b` of a chunk, lane by lane.
#[derive(Debug)]
pub(crate) struct RawPair {
    pub(crate) a: Raw,
    /// The second operand's integers; none after the first chunk if it is a single integer.
    pub(crate) b: Option<Raw>,
    /// Does B's one integer multiply every lane?
    pub(crate) broadcast: bool,
    /// Number of the chunk's first lane.
    pub(crate) first_lane: u64,
    /// Bytes of input read up to the end of this chunk.
    pub(crate) consumed_bytes: u64,
}

/// Two sources, read together.
pub(crate) struct PairReader {
    a: Source,
    b: Source,
    budget_bytes: usize,
    lanes: u64,
    /// Is B a single integer? Unknown before the first chunk.
    broadcast: Option<bool>,
    done: bool,
}

impl PairReader {
    /// Chunks of about `budget_bytes` of input.
    ///
    /// # Errors
    /// [`Error::NoNumbers`], [`Error::Counts`] where the headers tell already.
    pub(crate) fn new(a: Source, b: Source, budget_bytes: usize) -> Result<Self> {
        if let (Some(header_a), Some(header_b)) = (a.npy_header(), b.npy_header()) {
            let (lanes_a, lanes_b) = (header_a.rows, header_b.rows);
            if lanes_a != lanes_b && lanes_b != 1 {
                return Err(Error::Counts { a: a.name().into(), lanes_a, b: b.name().into(), lanes_b });
            }
        }
        Ok(Self { a, b, budget_bytes, lanes: 0, broadcast: None, done: false })
    }

    /// The names of the operands, for messages.
    pub(crate) fn names(&self) -> (String, String) {
        (self.a.name().into(), self.b.name().into())
    }

    /// Bytes of input in all, if that is known.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        Some(self.a.total_bytes()? + self.b.total_bytes()?)
    }

    /// Both operands' rows and limbs a row, where headers tell.
    pub(crate) const fn npy_headers(&self) -> (Option<&super::npy::NpyHeader>, Option<&super::npy::NpyHeader>) {
        (self.a.npy_header(), self.b.npy_header())
    }

    /// The next chunk; none at the end of both operands.
    ///
    /// # Errors
    /// What reading gives; [`Error::Counts`] with the numbers of both files, once one of them ends
    /// before the other.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<RawPair>> {
        if self.done {
            return Ok(None);
        }
        let first_lane = self.lanes;
        let (mut a, mut b) = (self.a.empty(), self.b.empty());
        let first_chunk = self.broadcast.is_none();
        let broadcast = match self.broadcast {
            Some(known) => known,
            None => self.is_single(&mut b)?,
        };
        self.broadcast = Some(broadcast);
        while a.bytes() + b.bytes() < self.budget_bytes || a.lanes() < b.lanes() || a.lanes() == 0 {
            if !self.a.push(&mut a)? {
                self.done = true;
                self.finish(a.lanes() as u64, &mut b)?;
                break;
            }
            if !broadcast && b.lanes() < a.lanes() && !self.b.push(&mut b)? {
                return Err(self.more_in_a(a.lanes() as u64));
            }
        }
        if a.lanes() == 0 {
            return Ok(None);
        }
        self.lanes += a.lanes() as u64;
        let consumed_bytes = self.a.consumed_bytes() + self.b.consumed_bytes();
        let b = (first_chunk || !broadcast).then_some(b);
        Ok(Some(RawPair { a, b, broadcast, first_lane, consumed_bytes }))
    }

    /// Takes one or two integers of B: is there no second?
    fn is_single(&mut self, b: &mut Raw) -> Result<bool> {
        if !self.b.push(b)? {
            return Err(Error::NoNumbers { path: self.b.name().into() });
        }
        Ok(!self.b.push(b)?)
    }

    /// A has ended: has B?
    fn finish(&mut self, lanes: u64, b: &mut Raw) -> Result<()> {
        let lanes_a = self.lanes + lanes;
        if lanes_a == 0 {
            return Err(Error::NoNumbers { path: self.a.name().into() });
        }
        if self.broadcast == Some(true) {
            return Ok(());
        }
        let lanes_b = self.lanes + b.lanes() as u64 + self.b.count_rest()?;
        if lanes_a == lanes_b { Ok(()) } else { Err(self.counts(lanes_a, lanes_b)) }
    }

    /// B has ended before A, of which `lanes` were read for this chunk.
    fn more_in_a(&mut self, lanes: u64) -> Error {
        let lanes_b = self.lanes + lanes - 1;
        match self.a.count_rest() {
            Ok(rest) => self.counts(self.lanes + lanes + rest, lanes_b),
            Err(error) => error,
        }
    }

    fn counts(&self, lanes_a: u64, lanes_b: u64) -> Error {
        Error::Counts { a: self.a.name().into(), lanes_a, b: self.b.name().into(), lanes_b }
    }
}
