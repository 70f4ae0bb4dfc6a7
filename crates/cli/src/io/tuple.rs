//! The operands, read together in chunks of bounded size, and their counts of numbers.

use super::error::FileError;
use super::npy::NpyHeader;
use super::source::{Raw, Source};
use crate::error::{Error, Result};

/// The operands of a chunk, lane by lane.
#[derive(Debug)]
pub(crate) struct RawTuple {
    /// The integers of the first operand.
    pub(crate) first: Raw,
    /// The other operands.
    pub(crate) others: Vec<RawOther>,
    /// Number of the chunk's first lane.
    pub(crate) first_lane: u64,
    /// Bytes of input read up to the end of this chunk.
    pub(crate) consumed_bytes: u64,
}

impl RawTuple {
    /// Where the first operand's integer `lane` stands in its file, counted from 1: a line of text, or a row of an array.
    pub(crate) fn line(&self, lane: usize) -> u64 {
        match &self.first {
            Raw::Text(text) => text.line(lane),
            Raw::Rows(_) => self.first_lane + lane as u64 + 1,
        }
    }
}

/// An operand after the first.
#[derive(Debug)]
pub(crate) struct RawOther {
    /// Its integers; none after the first chunk if it is a single integer.
    pub(crate) raw: Option<Raw>,
    /// Does its one integer serve every lane?
    pub(crate) is_single: bool,
}

/// Several sources, read together.
pub(crate) struct TupleReader {
    first: Source,
    others: Vec<Other>,
    budget_bytes: usize,
    lanes: u64,
    done: bool,
}

struct Other {
    source: Source,
    /// Is it a single integer? Unknown before the first chunk.
    is_single: Option<bool>,
}

impl TupleReader {
    /// Chunks of about `budget_bytes` of input.
    ///
    /// # Errors
    /// [`FileError::Counts`] if the headers already differ; [`Error::Bug`] for no operands.
    pub(crate) fn new(sources: Vec<Source>, budget_bytes: usize) -> Result<Self> {
        let mut sources = sources.into_iter();
        let first = sources.next().ok_or(Error::Bug)?;
        let others: Vec<Other> = sources.map(|source| Other { source, is_single: None }).collect();
        for other in &others {
            if let (Some(header), Some(other_header)) = (first.npy_header(), other.source.npy_header()) {
                let (lanes_a, lanes_b) = (header.rows, other_header.rows);
                if lanes_a != lanes_b && lanes_b != 1 {
                    return Err(counts(&first, lanes_a, &other.source, lanes_b));
                }
            }
        }
        Ok(Self { first, others, budget_bytes, lanes: 0, done: false })
    }

    fn sources(&self) -> impl Iterator<Item = &Source> {
        [&self.first].into_iter().chain(self.others.iter().map(|other| &other.source))
    }

    /// The names of the operands, for messages.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sources().map(|source| source.name().into()).collect()
    }

    /// Bytes of input in all, if that is known.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.sources().map(Source::total_bytes).sum()
    }

    /// The header of each operand that is an array.
    pub(crate) fn npy_headers(&self) -> Vec<Option<NpyHeader>> {
        self.sources().map(|source| source.npy_header().copied()).collect()
    }

    /// The next chunk; none at the end of all operands.
    ///
    /// # Errors
    /// The errors of reading; [`FileError::NoNumbers`]; [`FileError::Counts`] with the counts of both files, once one
    /// ends before the other.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<RawTuple>> {
        if self.done {
            return Ok(None);
        }
        let first_lane = self.lanes;
        let mut first = self.first.empty();
        let mut others = self.others.iter_mut().map(Other::begin).collect::<Result<Vec<_>>>()?;
        let more = |first: &Raw, others: &[RawOther], budget: usize| {
            let raws = || others.iter().filter_map(|other| other.raw.as_ref());
            let bytes = first.bytes() + raws().map(Raw::bytes).sum::<usize>();
            let ahead = others.iter().filter(|it| !it.is_single).filter_map(|it| it.raw.as_ref());
            bytes < budget || first.lanes() == 0 || ahead.map(Raw::lanes).any(|lanes| first.lanes() < lanes)
        };
        while more(&first, &others, self.budget_bytes) {
            let pushed = if others.is_empty() {
                let left = self.budget_bytes.saturating_sub(first.bytes());
                self.first.push_many(&mut first, left)?
            } else {
                self.first.push(&mut first)?
            };
            if !pushed {
                self.done = true;
                self.finish(first.lanes() as u64, &others)?;
                break;
            }
            let lanes = first.lanes();
            for (number, other) in others.iter_mut().enumerate() {
                let source = &mut self.others[number].source;
                if let (false, Some(raw)) = (other.is_single, &mut other.raw)
                    && raw.lanes() < lanes
                    && !source.push(raw)?
                {
                    return Err(self.more_in_first(lanes as u64, number));
                }
            }
        }
        if first.lanes() == 0 {
            return Ok(None);
        }
        self.lanes += first.lanes() as u64;
        let consumed_bytes = self.sources().map(Source::consumed_bytes).sum();
        Ok(Some(RawTuple { first, others, first_lane, consumed_bytes }))
    }

    /// The first operand has ended: have the others ended, too?
    fn finish(&mut self, lanes: u64, others: &[RawOther]) -> Result<()> {
        let lanes_a = self.lanes + lanes;
        if lanes_a == 0 {
            return Err(FileError::NoNumbers { path: self.first.name().into() }.into());
        }
        for (other, read) in self.others.iter_mut().zip(others).filter(|(_, read)| !read.is_single) {
            let read = read.raw.as_ref().map_or(0, Raw::lanes) as u64;
            let lanes_b = self.lanes + read + other.source.count_rest()?;
            if lanes_a != lanes_b {
                return Err(counts(&self.first, lanes_a, &other.source, lanes_b));
            }
        }
        Ok(())
    }

    /// An operand has ended before the first one, of which `lanes` were read for this chunk.
    fn more_in_first(&mut self, lanes: u64, number: usize) -> Error {
        let lanes_b = self.lanes + lanes - 1;
        match self.first.count_rest() {
            Ok(rest) => counts(&self.first, self.lanes + lanes + rest, &self.others[number].source, lanes_b),
            Err(error) => error,
        }
    }
}

impl Other {
    /// Begins a chunk: before the first one, takes one or two integers. Is there no second?
    fn begin(&mut self) -> Result<RawOther> {
        let mut raw = self.source.empty();
        if let Some(is_single) = self.is_single {
            return Ok(RawOther { raw: (!is_single).then_some(raw), is_single });
        }
        if !self.source.push(&mut raw)? {
            return Err(FileError::NoNumbers { path: self.source.name().into() }.into());
        }
        let is_single = !self.source.push(&mut raw)?;
        self.is_single = Some(is_single);
        Ok(RawOther { raw: Some(raw), is_single })
    }
}

fn counts(a: &Source, lanes_a: u64, b: &Source, lanes_b: u64) -> Error {
    FileError::Counts { a: a.name().into(), lanes_a, b: b.name().into(), lanes_b }.into()
}
