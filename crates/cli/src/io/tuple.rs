//! The operands, read together in chunks of bounded size, and their counts of numbers.

use std::sync::Arc;

use super::error::FileError;
use super::npy::NpyHeader;
use super::source::{Raw, Source};
use super::text::LineNumbers;
use crate::error::{Error, Result};
use crate::pool::Pool;

/// The most bytes of a chunk, so that the places of numbers in a text are short.
const MOST_BUDGET_BYTES: usize = 1 << 30;

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
    lines: Option<LineNumbers>,
    first_lane: u64,
}

impl Origins {
    /// A lane's place, for messages.
    pub(crate) fn place(&self, lane: usize) -> String {
        match &self.lines {
            Some(lines) => format!("{}:{}", self.name, lines.get(lane)),
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

    /// Has it a line of text for each lane?
    fn is_text(&self) -> bool {
        !self.is_single && matches!(self.raw, Some(Raw::Text(_)))
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

    /// Memory that the integers take.
    pub(crate) fn bytes(&self) -> usize {
        self.operands.iter().map(RawOperand::bytes).sum()
    }

    /// The bytes that a lane takes of all arrays.
    fn row_bytes(&self) -> usize {
        self.operands.iter().map(RawOperand::row_bytes).sum()
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
    /// What a lane takes at least to be computed with, however short its integers are.
    lane_bytes: usize,
    lanes: u64,
    done: bool,
    /// Memory for rows.
    pool: Option<Arc<Pool>>,
}

impl TupleReader {
    /// Chunks of about `budget_bytes` of input, or of [`MOST_BUDGET_BYTES`] if these are fewer.
    ///
    /// # Errors
    /// [`FileError::Counts`] if the headers already differ; [`Error::Bug`] for no operands.
    pub(crate) fn new(sources: Vec<Source>, budget_bytes: usize) -> Result<Self> {
        if sources.is_empty() {
            return Err(Error::Bug);
        }
        let budget_bytes = budget_bytes.min(MOST_BUDGET_BYTES);
        let several = sources.iter().filter_map(|source| Some((source, source.npy_header()?.rows)));
        let mut several = several.filter(|(_, rows)| *rows != 1);
        if let Some((a, lanes_a)) = several.next()
            && let Some((b, lanes_b)) = several.find(|(_, rows)| *rows != lanes_a)
        {
            return Err(counts(a, lanes_a, b, lanes_b));
        }
        Ok(Self {
            sources,
            singles: Vec::new(),
            leading: 0,
            budget_bytes,
            lane_bytes: 0,
            lanes: 0,
            done: false,
            pool: None,
        })
    }

    /// Reads rows to memory of this pool from now on.
    pub(crate) fn set_pool(&mut self, pool: Arc<Pool>) {
        self.pool = Some(pool);
    }

    /// The operands will have so many bits each, however short their integers are. A chunk has fewer lanes then.
    pub(crate) fn set_widths(&mut self, widths: &[usize]) {
        self.lane_bytes = widths.iter().map(|bits| bits.div_ceil(8)).sum();
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
        // The lines of texts say how many lanes there are; the rows of arrays are read at once.
        let lanes = self.fill_texts(&mut tuple)?;
        self.fill_arrays(&mut tuple, lanes)?;
        if self.done {
            self.check_counts(&tuple)?;
        }
        if tuple.lanes() == 0 {
            return Ok(None);
        }
        self.lanes += tuple.lanes() as u64;
        tuple.consumed_bytes = self.sources.iter().map(Source::consumed_bytes).sum();
        Ok(Some(tuple))
    }

    /// Fills the texts of a chunk, a line of each at a time, as long as there is room for a lane of all operands. Gives the number of
    /// lanes that the chunk shall have; none if all operands are arrays.
    fn fill_texts(&mut self, tuple: &mut RawTuple) -> Result<Option<usize>> {
        let texts: Vec<usize> = (0..self.sources.len()).filter(|i| tuple.operands[*i].is_text()).collect();
        let lanes = |tuple: &RawTuple, i: usize| tuple.operands[i].lanes();
        let Some(first) = texts.first().copied() else { return Ok(None) };
        let row_bytes = tuple.row_bytes();
        let text_bytes = |tuple: &RawTuple| texts.iter().map(|i| tuple.operands[*i].bytes()).sum::<usize>();
        // The first chunk begins with up to two integers of each operand.
        let mut count = tuple.operands.iter().filter(|it| !it.is_single).map(RawOperand::lanes).max().unwrap_or(0);
        while !self.done {
            for &i in &texts {
                while lanes(tuple, i) < count && !self.done {
                    let raw = tuple.operands[i].raw.as_mut().ok_or(Error::Bug)?;
                    self.done = !self.sources[i].push(raw)?;
                }
            }
            let input_bytes = text_bytes(tuple) + count * row_bytes;
            if count > 0 && input_bytes.max(count.saturating_mul(self.lane_bytes)) >= self.budget_bytes {
                break;
            }
            count += 1;
        }
        Ok(Some(lanes(tuple, first)))
    }

    /// Fills the arrays of a chunk up to this many lanes; without a number to as many as there is room for.
    fn fill_arrays(&mut self, tuple: &mut RawTuple, lanes: Option<usize>) -> Result<()> {
        let room = self.budget_bytes.saturating_sub(tuple.bytes()) / tuple.row_bytes().max(self.lane_bytes).max(1);
        let room = room.max(usize::from(tuple.lanes() == 0));
        for (source, operand) in self.sources.iter_mut().zip(&mut tuple.operands) {
            if operand.is_text() {
                continue;
            }
            let count = lanes.map_or(room, |lanes| lanes.saturating_sub(operand.lanes()));
            if let (Some(raw), 1..) = (operand.each_lane(), count) {
                let before = raw.lanes();
                source.push_many(raw, count, self.pool.as_deref())?;
                self.done |= raw.lanes() < before + count;
            }
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
        // Results may be as wide as a single integer; a digit of a text has half a byte at most.
        let single_bytes = operands.iter().filter(|operand| operand.is_single).map(|operand| operand.bytes() / 2);
        self.lane_bytes = self.lane_bytes.max(single_bytes.sum());
        Ok(operands)
    }

    /// An operand has ended: have the others ended, too, after as many integers?
    fn check_counts(&mut self, tuple: &RawTuple) -> Result<()> {
        let lanes_a = self.count(tuple, self.leading)?;
        for number in (0..self.sources.len()).filter(|number| !tuple.operands[*number].is_single) {
            let lanes_b = if number == self.leading { lanes_a } else { self.count(tuple, number)? };
            if lanes_a != lanes_b {
                // Lines of a file that is no text are no numbers.
                for differing in [self.leading, number] {
                    if let Some(raw) = &tuple.operands[differing].raw {
                        self.sources[differing].check_is_text(raw)?;
                    }
                }
                return Err(counts(&self.sources[self.leading], lanes_a, &self.sources[number], lanes_b));
            }
        }
        if lanes_a == self.lanes + tuple.lanes() as u64 { Ok(()) } else { Err(Error::Bug) }
    }

    /// The integers of an operand, to its end.
    fn count(&mut self, tuple: &RawTuple, number: usize) -> Result<u64> {
        Ok(self.lanes + tuple.operands[number].lanes() as u64 + self.sources[number].count_rest()?)
    }
}

fn counts(a: &Source, lanes_a: u64, b: &Source, lanes_b: u64) -> Error {
    FileError::Counts { a: a.name().into(), lanes_a, b: b.name().into(), lanes_b }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::npy::Dtype;

    /// A source with the numbers from 0 on: text, or an array of one limb a row.
    fn source(name: &str, lanes: u32) -> Source {
        let bytes = if crate::io::npy::is_named(name.as_ref()) {
            let mut bytes = NpyHeader { dtype: Dtype::U32, rows: lanes.into(), columns: 1 }.to_bytes().to_vec();
            bytes.extend((0..lanes).flat_map(u32::to_le_bytes));
            bytes
        } else {
            (0..lanes).flat_map(|lane| format!("{lane}\n").into_bytes()).collect()
        };
        Source::of_bytes(name, &bytes, true).unwrap()
    }

    fn value(raw: &Raw, lane: usize) -> u32 {
        match raw {
            Raw::Text(text) => std::str::from_utf8(text.get(lane)).unwrap().parse().unwrap(),
            Raw::Rows(rows) => rows.row(lane)[0],
        }
    }

    /// The number of chunks of `lanes` lanes in each of these files, whose operands all begin and end together.
    fn chunks(names: &[&str], lanes: u32, budget_bytes: usize) -> usize {
        let sources = names.iter().map(|name| source(name, lanes)).collect();
        let mut reader = TupleReader::new(sources, budget_bytes).unwrap();
        let (mut chunks, mut found) = (0, 0);
        while let Some(mut tuple) = reader.next_chunk().unwrap() {
            assert_eq!(tuple.first_lane, u64::from(found));
            let (lanes, most) = (tuple.lanes(), budget_bytes + 40 * names.len());
            assert!(tuple.bytes() <= most || lanes <= 2, "{} bytes of {lanes} lanes", tuple.bytes());
            for raw in tuple.operands.iter_mut().filter_map(RawOperand::each_lane) {
                assert_eq!(raw.lanes(), lanes);
                assert!((0..lanes).all(|lane| value(raw, lane) == found + lane as u32));
            }
            found += lanes as u32;
            chunks += 1;
        }
        assert_eq!(found, lanes, "{names:?}, {budget_bytes} bytes a chunk");
        chunks
    }

    /// Rows beside lines have a chunk to themselves as lines have.
    #[test]
    fn texts_and_arrays_go_together() {
        let mixes: [&[&str]; 6] =
            [&["a"], &["a.npy"], &["a", "b.npy"], &["a.npy", "b"], &["a.npy", "b.npy"], &["a", "b.npy", "c"]];
        for names in mixes {
            for lanes in [1, 2, 3, 64, 65, 1000] {
                for budget_bytes in [1, 24, 64, 500] {
                    assert!(chunks(names, lanes, budget_bytes) >= 4 * lanes as usize / (budget_bytes + 80));
                }
                assert_eq!(chunks(names, lanes, 1 << 20), 1);
            }
        }
    }

    /// Short integers that will be wide, by a width that is asked for or beside a wide single one, come in chunks of few lanes.
    #[test]
    fn wide_lanes_are_few() {
        let chunks = |sources: Vec<Source>, widths: &[usize]| {
            let mut reader = TupleReader::new(sources, 1000).unwrap();
            reader.set_widths(widths);
            let mut lanes = Vec::new();
            while let Some(tuple) = reader.next_chunk().unwrap() {
                lanes.push(tuple.lanes());
            }
            lanes
        };
        for name in ["a", "a.npy"] {
            assert_eq!(chunks(vec![source(name, 20)], &[]), [20], "{name}");
            let are_few = |lanes: &[usize]| lanes.len() <= 6 && lanes.iter().all(|it| *it <= 6);
            assert!(are_few(&chunks(vec![source(name, 20)], &[800, 800])), "{name}");
            let wide = Source::of_bytes("b", &[b'1'; 400], true).unwrap();
            assert!(are_few(&chunks(vec![source(name, 20), wide], &[])), "{name}");
        }
    }

    #[test]
    fn counts_differ_in_any_order() {
        for (name_a, name_b) in [("a", "b"), ("a", "b.npy"), ("a.npy", "b"), ("a.npy", "b.npy")] {
            for (lanes_a, lanes_b) in [(2, 3), (3, 2), (40, 41), (900, 5), (5, 900)] {
                for budget_bytes in [1, 64, 1 << 20] {
                    let sources = vec![source(name_a, lanes_a), source(name_b, lanes_b)];
                    let read = TupleReader::new(sources, budget_bytes).and_then(|mut reader| {
                        while reader.next_chunk()?.is_some() {}
                        Ok(())
                    });
                    let (a, b) = (name_a.into(), name_b.into());
                    let expected = FileError::Counts { a, lanes_a: lanes_a.into(), b, lanes_b: lanes_b.into() };
                    assert_eq!(read.unwrap_err().to_string(), expected.to_string());
                }
            }
        }
    }
}
