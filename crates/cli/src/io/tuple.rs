//! The operands, read together in chunks of bounded size, and their counts of numbers.

use std::sync::Arc;

use super::error::FileError;
use super::npy::NpyHeader;
use super::source::{Raw, Source};
use crate::error::{Error, Result};
use crate::pool::Pool;

/// The operands of a chunk, lane by lane.
#[derive(Debug)]
pub(crate) struct RawTuple {
    /// One for each operand.
    pub(crate) operands: Vec<RawOperand>,
    /// The number of the first operand that has an integer of its own for each lane.
    pub(crate) leading: usize,
    /// Number of the chunk's first lane.
    pub(crate) first_lane: u64,
    /// Bytes of input read up to the end of this chunk.
    pub(crate) consumed_bytes: u64,
}

/// The integers of an operand.
#[derive(Debug)]
pub(crate) struct RawOperand {
    /// None after the first chunk if it is a single integer.
    pub(crate) raw: Option<Raw>,
    /// Does its one integer serve every lane?
    pub(crate) is_single: bool,
}

/// Where the lanes of a chunk come from.
#[derive(Debug)]
pub(crate) struct Origins {
    /// The leading operand's name.
    name: String,
    /// Each lane's line in a text, counted from 1; none for an array.
    lines: Option<Vec<u64>>,
    first_lane: u64,
}

impl Origins {
    /// A lane's place, for messages.
    pub(crate) fn place(&self, lane: usize) -> String {
        match &self.lines {
            Some(lines) => format!("{}:{}", self.name, lines[lane]),
            None => format!("{}[{}]", self.name, self.first_lane + lane as u64),
        }
    }
}

impl RawOperand {
    /// The number of integers.
    fn lanes(&self) -> usize {
        self.raw.as_ref().map_or(0, Raw::lanes)
    }

    fn bytes(&self) -> usize {
        self.raw.as_ref().map_or(0, Raw::bytes)
    }

    /// The integers, if there is one for each lane.
    pub(crate) fn each_lane(&mut self) -> Option<&mut Raw> {
        if self.is_single { None } else { self.raw.as_mut() }
    }

    /// The bytes that a lane takes of an array with a row for each lane.
    fn row_bytes(&self) -> usize {
        match &self.raw {
            Some(Raw::Rows(rows)) if !self.is_single => 4 * rows.row_limbs,
            _ => 0,
        }
    }
}

impl RawTuple {
    /// The number of lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.operands[self.leading].lanes()
    }

    /// Are all operands arrays, but for single integers?
    fn holds_arrays(&self) -> bool {
        self.operands.iter().all(|it| it.is_single || matches!(it.raw, Some(Raw::Rows(_))))
    }

    /// Memory that the integers take.
    pub(crate) fn bytes(&self) -> usize {
        self.operands.iter().map(RawOperand::bytes).sum()
    }

    /// Where the leading operand's integer `lane` stands in its file, counted from 1: a line of text, or a row of an array.
    pub(crate) fn line(&self, lane: usize) -> u64 {
        match &self.operands[self.leading].raw {
            Some(Raw::Text(text)) => text.line(lane),
            Some(Raw::Rows(_)) | None => self.first_lane + lane as u64 + 1,
        }
    }

    /// The places of all lanes. `names` are the operands' names.
    pub(crate) fn into_origins(mut self, names: &[String]) -> Origins {
        let lines = match self.operands.swap_remove(self.leading).raw {
            Some(Raw::Text(text)) => Some(text.into_lines()),
            Some(Raw::Rows(_)) | None => None,
        };
        Origins { name: names[self.leading].clone(), lines, first_lane: self.first_lane }
    }
}

/// Several sources, read together. A source with a single integer serves every lane of the others.
pub(crate) struct TupleReader {
    sources: Vec<Source>,
    /// Which operands are single integers; empty before the first chunk.
    singles: Vec<bool>,
    leading: usize,
    budget_bytes: usize,
    lanes: u64,
    done: bool,
    /// Memory for rows.
    pool: Option<Arc<Pool>>,
}

impl TupleReader {
    /// Chunks of about `budget_bytes` of input.
    ///
    /// # Errors
    /// [`FileError::Counts`] if the headers already differ; [`Error::Bug`] for no operands.
    pub(crate) fn new(sources: Vec<Source>, budget_bytes: usize) -> Result<Self> {
        if sources.is_empty() {
            return Err(Error::Bug);
        }
        let several = sources.iter().filter_map(|source| Some((source, source.npy_header()?.rows)));
        let mut several = several.filter(|(_, rows)| *rows != 1);
        if let Some((a, lanes_a)) = several.next()
            && let Some((b, lanes_b)) = several.find(|(_, rows)| *rows != lanes_a)
        {
            return Err(counts(a, lanes_a, b, lanes_b));
        }
        Ok(Self { sources, singles: Vec::new(), leading: 0, budget_bytes, lanes: 0, done: false, pool: None })
    }

    /// Reads rows to memory of this pool from now on.
    pub(crate) fn set_pool(&mut self, pool: Arc<Pool>) {
        self.pool = Some(pool);
    }

    /// The names of the operands, for messages.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.name().into()).collect()
    }

    /// Bytes of input in all, if that is known.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.sources.iter().map(Source::total_bytes).sum()
    }

    /// About how many lanes there are, and the bits of the widest operand's; none if a length is not known, or a file is empty.
    pub(crate) fn estimate(&mut self) -> Option<(u64, usize)> {
        let sizes: Vec<(u64, usize)> = self.sources.iter_mut().map(Source::estimate).collect::<Option<_>>()?;
        Some((sizes.iter().map(|(lanes, _)| *lanes).max()?, sizes.iter().map(|(_, bits)| *bits).max()?))
    }

    /// The header of each operand that is an array.
    pub(crate) fn npy_headers(&self) -> Vec<Option<NpyHeader>> {
        self.sources.iter().map(|source| source.npy_header().copied()).collect()
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
        let (operands, first_lane) = (self.begin()?, self.lanes);
        let mut tuple = RawTuple { operands, leading: self.leading, first_lane, consumed_bytes: 0 };
        while self.wants_more(&tuple) {
            if tuple.holds_arrays() {
                self.fill_rows(&mut tuple)?;
                break;
            }
            let (source, raw) = (&mut self.sources[self.leading], &mut tuple.operands[self.leading].raw);
            let raw = raw.as_mut().ok_or(Error::Bug)?;
            if !source.push(raw)? {
                self.done = true;
                self.finish(&tuple)?;
                break;
            }
            let lanes = tuple.lanes();
            for (number, operand) in tuple.operands.iter_mut().enumerate() {
                if let (false, Some(raw)) = (operand.is_single, &mut operand.raw)
                    && raw.lanes() < lanes
                    && !self.sources[number].push(raw)?
                {
                    return Err(self.more_in_leading(lanes as u64, number));
                }
            }
        }
        if tuple.lanes() == 0 {
            return Ok(None);
        }
        self.lanes += tuple.lanes() as u64;
        tuple.consumed_bytes = self.sources.iter().map(Source::consumed_bytes).sum();
        Ok(Some(tuple))
    }

    /// Fills a chunk of arrays: rows of all operands, as many at once as there is room for.
    fn fill_rows(&mut self, tuple: &mut RawTuple) -> Result<()> {
        let row_bytes: usize = tuple.operands.iter().map(RawOperand::row_bytes).sum();
        let left = self.budget_bytes.saturating_sub(tuple.bytes()) / row_bytes.max(1);
        let count = left.max(usize::from(tuple.lanes() == 0));
        let mut is_at_end = false;
        for (number, (source, operand)) in self.sources.iter_mut().zip(&mut tuple.operands).enumerate() {
            if let Some(raw) = operand.each_lane() {
                let has_more = source.push_many(raw, count, self.pool.as_deref())?;
                is_at_end |= number == self.leading && !has_more;
            }
        }
        if is_at_end {
            self.done = true;
            self.finish(tuple)?;
        }
        Ok(())
    }

    /// Begins a chunk. Before the first one it takes one or two integers of each operand: one without a second is a single integer. If all
    /// are, the first operand leads.
    fn begin(&mut self) -> Result<Vec<RawOperand>> {
        if !self.singles.is_empty() {
            let operands = self.sources.iter().zip(&self.singles);
            let begun = |(source, is_single): (&Source, &bool)| RawOperand {
                raw: (!is_single).then(|| source.empty()),
                is_single: *is_single,
            };
            return Ok(operands.map(begun).collect());
        }
        let mut operands = Vec::new();
        for source in &mut self.sources {
            let mut raw = source.empty();
            if !source.push(&mut raw)? {
                return Err(FileError::NoNumbers { path: source.name().into() }.into());
            }
            let is_single = !source.push(&mut raw)?;
            operands.push(RawOperand { raw: Some(raw), is_single });
        }
        self.leading = operands.iter().position(|operand| !operand.is_single).unwrap_or(0);
        operands[self.leading].is_single = false;
        self.singles = operands.iter().map(|operand| operand.is_single).collect();
        Ok(operands)
    }

    /// Is there room in the chunk, or has an operand more integers than the leading one?
    fn wants_more(&self, tuple: &RawTuple) -> bool {
        let lanes = tuple.lanes();
        let is_ahead = |operand: &RawOperand| !operand.is_single && operand.lanes() > lanes;
        tuple.bytes() < self.budget_bytes || lanes == 0 || tuple.operands.iter().any(is_ahead)
    }

    /// The leading operand has ended: have the others ended, too?
    fn finish(&mut self, tuple: &RawTuple) -> Result<()> {
        let lanes_a = self.lanes + tuple.lanes() as u64;
        let others = tuple.operands.iter().enumerate();
        for (number, operand) in others.filter(|(number, it)| *number != self.leading && !it.is_single) {
            let lanes_b = self.lanes + operand.lanes() as u64 + self.sources[number].count_rest()?;
            if lanes_a != lanes_b {
                return Err(counts(&self.sources[self.leading], lanes_a, &self.sources[number], lanes_b));
            }
        }
        Ok(())
    }

    /// An operand has ended before the leading one, of which `lanes` were read for this chunk.
    fn more_in_leading(&mut self, lanes: u64, number: usize) -> Error {
        let lanes_b = self.lanes + lanes - 1;
        match self.sources[self.leading].count_rest() {
            Ok(rest) => counts(&self.sources[self.leading], self.lanes + lanes + rest, &self.sources[number], lanes_b),
            Err(error) => error,
        }
    }
}

fn counts(a: &Source, lanes_a: u64, b: &Source, lanes_b: u64) -> Error {
    FileError::Counts { a: a.name().into(), lanes_a, b: b.name().into(), lanes_b }.into()
}
