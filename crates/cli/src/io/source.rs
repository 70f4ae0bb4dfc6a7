//! An operand's file: text or `.npy`, told apart by the first byte, read one integer after the other.

use std::{
    ffi::OsStr,
    io::{self, BufRead, BufReader, Read},
};

use dashu_int::UBig;
use warpmp_collatz::expression;

use super::{
    STDIN, compressed,
    error::{FileError, LineProblem},
    npy::{self, NpyHeader, NpyProblem},
    text::{self, RawText},
};
use crate::error::{Error, Result};

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// Integers as they stand in the file. Reading them is cheap; many threads parse them later.
#[derive(Debug)]
pub(crate) enum Raw {
    /// Lines of text.
    Text(RawText),
    /// Rows of little-endian limbs.
    Rows(RawRows),
}

/// Rows of `row_limbs` little-endian limbs of 32 bits each.
#[derive(Debug)]
pub(crate) struct RawRows {
    pub(crate) bytes: Vec<u8>,
    pub(crate) row_limbs: usize,
    /// Which row of the array is the first of these.
    pub(crate) first_row: u64,
    /// Are the rows two's complements?
    pub(crate) is_signed: bool,
}

impl RawRows {
    /// The limbs of one row.
    pub(crate) fn row(&self, lane: usize) -> impl Iterator<Item = u32> {
        let bytes = &self.bytes[lane * 4 * self.row_limbs..][..4 * self.row_limbs];
        bytes.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Number of rows.
    pub(crate) fn lanes(&self) -> usize {
        self.bytes.len() / (4 * self.row_limbs)
    }

    /// Is the row a negative number?
    pub(crate) fn is_negative(&self, lane: usize) -> bool {
        self.is_signed && self.bytes[4 * (lane + 1) * self.row_limbs - 1] >> 7 == 1
    }

    /// Which rows are negative?
    pub(crate) fn signs(&self) -> impl Iterator<Item = bool> {
        (0..self.lanes()).map(|lane| self.is_negative(lane))
    }
}

impl Raw {
    /// Number of integers.
    pub(crate) fn lanes(&self) -> usize {
        match self {
            Self::Text(text) => text.lanes(),
            Self::Rows(rows) => rows.lanes(),
        }
    }

    /// Memory that the integers take.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.bytes(),
            Self::Rows(rows) => rows.bytes.len(),
        }
    }
}

/// An operand's file, partly read.
pub(crate) struct Source {
    name: String,
    reader: BufReader<Box<dyn Read + Send>>,
    /// Bytes in the file, if it is a regular one.
    total_bytes: Option<u64>,
    consumed_bytes: u64,
    /// The most bits of an integer.
    limit: usize,
    format: Encoding,
}

#[derive(Debug)]
enum Encoding {
    Text { line: u64, blank: Option<u64> },
    Npy { header: NpyHeader, rows_left: u64 },
}

impl Source {
    /// Opens the file called `name` (`-` is standard input) and reads its header if it has one.
    /// Its integers have at most `limit` bits. A file called `.npy` has to be one. If there is no such file, the name may be
    /// a number itself, as an expression: `2^127-1`.
    pub(crate) fn open(name: &OsStr, limit: usize) -> Result<Self> {
        match Self::open_named(name, limit, npy::is_named(name)) {
            Err(Error::File(FileError::Read { source, .. })) if source.kind() == io::ErrorKind::NotFound => {
                Self::of_number(name, limit).unwrap_or_else(|| Err(Error::read(&name.to_string_lossy(), source)))
            }
            opened => opened,
        }
    }

    /// A source with one number, which the name itself is; none if the name is not meant as a number.
    fn of_number(name: &OsStr, limit: usize) -> Option<Result<Self>> {
        let text = name.to_str()?;
        let magnitude = text.strip_prefix('-').unwrap_or(text);
        let is_meant = magnitude.starts_with(|first: char| first.is_ascii_digit() || first == '(')
            && magnitude.chars().all(|it| it.is_ascii_hexdigit() || "xX_^*+-() .".contains(it));
        let value = is_meant.then(|| expression::integer(magnitude, 2 * limit))?;
        let sign = &text[..text.len() - magnitude.len()];
        let source = |value: UBig| {
            let digits = format!("{sign}{value}").into_bytes();
            let total_bytes = Some(digits.len() as u64);
            let reader: Box<dyn Read + Send> = Box::new(io::Cursor::new(digits));
            let format = Encoding::Text { line: 0, blank: None };
            Self { name: text.into(), reader: BufReader::new(reader), total_bytes, consumed_bytes: 0, limit, format }
        };
        Some(value.map(source).map_err(|error| FileError::NoNumber { text: text.into(), error }.into()))
    }

    /// As [`Source::open`], but `is_npy`, not the name, says whether the file has to be an `.npy` file.
    pub(crate) fn open_named(name: &OsStr, limit: usize, is_npy: bool) -> Result<Self> {
        let mut source = Self::unread(name, limit)?;
        source.detect(is_npy)?;
        Ok(source)
    }

    /// A source that is no file, with numbers of at most 65536 bits. Is its length known beforehand?
    pub(crate) fn of_bytes(name: &str, bytes: &[u8], is_length_known: bool) -> Result<Self> {
        let mut source = Self {
            name: name.into(),
            reader: BufReader::with_capacity(16, Box::new(io::Cursor::new(bytes.to_vec()))),
            total_bytes: is_length_known.then_some(bytes.len() as u64),
            consumed_bytes: 0,
            limit: warpmp::operation::SLOW_MAX_BITS,
            format: Encoding::Text { line: 0, blank: None },
        };
        source.detect(npy::is_named(name.as_ref()))?;
        Ok(source)
    }

    fn unread(name: &OsStr, limit: usize) -> Result<Self> {
        let shown = if name == STDIN { "standard input".into() } else { name.to_string_lossy().into_owned() };
        let (input, total_bytes): (Box<dyn Read + Send>, _) = if name == STDIN {
            (Box::new(io::stdin()), None)
        } else {
            compressed::open(name).map_err(|source| Error::read(&shown, source))?
        };
        let reader = BufReader::with_capacity(BUFFER_BYTES, input);
        let format = Encoding::Text { line: 0, blank: None };
        Ok(Self { name: shown, reader, total_bytes, consumed_bytes: 0, limit, format })
    }

    /// Tells text from arrays, as no text starts with the first byte of NumPy's magic. With `is_npy` it has to be an array.
    fn detect(&mut self, is_npy: bool) -> Result<()> {
        let first = self.reader.fill_buf().map_err(|source| Error::read(&self.name, source))?.first().copied();
        if first != Some(npy::MAGIC[0]) && !is_npy {
            return Ok(());
        }
        let (header, header_bytes) = npy::read_header(&mut self.reader, &self.name, self.limit)?;
        if let Some(total) = self.total_bytes {
            header.check_size(header_bytes, total).map_err(|problem| self.npy_error(problem))?;
        }
        self.consumed_bytes = header_bytes;
        self.format = Encoding::Npy { header, rows_left: header.rows };
        Ok(())
    }

    /// The input's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes in all, if that is known.
    pub(crate) const fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// About how many integers there are, and their bits, by what is at hand of the file: an array's header, or the first lines of a text.
    /// None if the length is not known.
    pub(crate) fn estimate(&mut self) -> Option<(u64, usize)> {
        let total_bytes = self.total_bytes?;
        if let Encoding::Npy { header, .. } = &self.format {
            return Some((header.rows, 32 * header.row_limbs()));
        }
        let head = self.reader.fill_buf().ok()?;
        let lines = head.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        let longest = lines.map(<[u8]>::len).max()?;
        // The longest line is a bound of the width, the mean one tells the number.
        let count = head.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count().max(1) as u64;
        let lanes = (count * total_bytes).div_ceil(head.len().max(1) as u64);
        Some((lanes, 4 * longest))
    }

    /// Bytes read so far.
    pub(crate) const fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes
    }

    /// The header of an `.npy` file.
    pub(crate) const fn npy_header(&self) -> Option<&NpyHeader> {
        match &self.format {
            Encoding::Npy { header, .. } => Some(header),
            Encoding::Text { .. } => None,
        }
    }

    /// An empty chunk of this source's kind.
    pub(crate) fn empty(&self) -> Raw {
        match &self.format {
            Encoding::Text { .. } => Raw::Text(RawText::with_limit(self.limit)),
            Encoding::Npy { header, rows_left } => Raw::Rows(RawRows {
                bytes: Vec::new(),
                row_limbs: header.row_limbs(),
                first_row: header.rows - rows_left,
                is_signed: header.dtype.is_signed(),
            }),
        }
    }

    /// Appends the next integer to `raw`, which [`Source::empty`] made; false at the end.
    pub(crate) fn push(&mut self, raw: &mut Raw) -> Result<bool> {
        match raw {
            Raw::Text(text) => self.push_line(text),
            Raw::Rows(rows) => self.push_rows(rows, 1),
        }
    }

    /// As [`Source::push`]; of an array, as many integers at once as fill about `bytes`.
    pub(crate) fn push_many(&mut self, raw: &mut Raw, bytes: usize) -> Result<bool> {
        match raw {
            Raw::Text(text) => self.push_line(text),
            Raw::Rows(rows) => {
                let count = (bytes / (4 * rows.row_limbs)).max(1);
                self.push_rows(rows, count as u64)
            }
        }
    }

    /// Reads to the end and counts the integers on the way, without keeping them.
    pub(crate) fn count_rest(&mut self) -> Result<u64> {
        let mut raw = self.empty();
        let mut count = 0;
        while self.push(&mut raw)? {
            count += 1;
            if raw.bytes() > BUFFER_BYTES {
                raw = self.empty();
                crate::interrupt::check()?;
            }
        }
        Ok(count)
    }

    fn push_line(&mut self, text: &mut RawText) -> Result<bool> {
        loop {
            let start = text.begin_line();
            let limit = text::LINE_LIMIT as u64 + 1;
            let line_read = self.reader.by_ref().take(limit).read_until(b'\n', text.buffer());
            let read = line_read.map_err(|source| Error::read(&self.name, source))? as u64;
            self.consumed_bytes += read;
            let Encoding::Text { line, blank } = &mut self.format else { return Err(Error::Bug) };
            if read == 0 {
                return Ok(false);
            }
            *line += 1;
            let number = *line;
            if read == limit && !text.buffer().ends_with(b"\n") {
                let is_binary = text.buffer()[start..].contains(&0);
                if text.end_line(start, number) == text::LineKind::Comment {
                    // Of a comment nothing is kept, however long it is.
                    let skipped = self.reader.skip_until(b'\n').map_err(|source| Error::read(&self.name, source))?;
                    self.consumed_bytes += skipped as u64;
                    continue;
                }
                let too_long = LineProblem::TooLong { limit: text::LINE_LIMIT };
                let problem = if is_binary { LineProblem::ZeroByte } else { too_long };
                return Err(FileError::Line { path: self.name.clone(), line: number, problem }.into());
            }
            match text.end_line(start, number) {
                text::LineKind::Comment => {}
                text::LineKind::Blank => *blank = blank.or(Some(number)),
                text::LineKind::Number => {
                    return match *blank {
                        None => Ok(true),
                        Some(line) => {
                            // A file that is no text has other faults, too: the zero byte explains them all.
                            let binary = (0..text.lanes()).find(|lane| text.get(*lane).contains(&0));
                            let (line, problem) = binary
                                .map_or((line, LineProblem::Blank), |lane| (text.line(lane), LineProblem::ZeroByte));
                            Err(FileError::Line { path: self.name.clone(), line, problem }.into())
                        }
                    };
                }
            }
        }
    }

    /// Appends rows: `count`, or as many as there are.
    fn push_rows(&mut self, rows: &mut RawRows, count: u64) -> Result<bool> {
        let Encoding::Npy { header, rows_left } = &mut self.format else { return Err(Error::Bug) };
        if *rows_left == 0 {
            let rest = self.reader.fill_buf().map_err(|source| Error::read(&self.name, source))?;
            return if rest.is_empty() { Ok(false) } else { Err(self.npy_error(NpyProblem::TrailingBytes)) };
        }
        let count = count.min(*rows_left);
        let row_bytes = 4 * rows.row_limbs;
        let mut end = rows.bytes.len();
        rows.bytes.resize(end + count as usize * row_bytes, 0);
        let start = end;
        while end < rows.bytes.len() {
            match self.reader.read(&mut rows.bytes[end..]) {
                Ok(0) => {
                    let row = header.rows - *rows_left + ((end - start) / row_bytes) as u64;
                    let rows = header.rows;
                    return Err(self.npy_error(NpyProblem::TruncatedAtRow { row, rows }));
                }
                Ok(read) => end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::read(&self.name, source)),
            }
        }
        *rows_left -= count;
        self.consumed_bytes += (end - start) as u64;
        Ok(true)
    }

    fn npy_error(&self, problem: NpyProblem) -> Error {
        FileError::Npy { path: self.name.clone(), problem }.into()
    }
}

#[cfg(test)]
mod fuzz_tests;
