//! An operand's file: text or `.npy`, told apart by the first byte, read one integer after the other.

use std::{
    ffi::OsStr,
    io::{self, BufRead, BufReader, Read, Seek as _, Write as _},
    mem,
};

use dashu_int::IBig;
use rayon::prelude::*;
use warpmp::HostBuffer;
use warpmp_collatz::expression::{self, ExpressionError};
use zerocopy::IntoBytes as _;

use super::{
    STDIN,
    compressed::{self, Input},
    error::{FileError, LineProblem},
    lines::{Lines, Next, Sizes},
    npy::{self, NpyHeader, NpyProblem},
    plain::{self, PlainFile},
    text::{self, RawText},
};
use crate::{
    error::{Error, Result},
    pool::Pool,
};

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

/// Rows of `row_limbs` limbs of 32 bits each.
#[derive(Debug)]
pub(crate) struct RawRows {
    /// The limbs of all rows, until a batch takes them over.
    limbs: HostBuffer,
    lanes: usize,
    pub(crate) row_limbs: usize,
    /// Which row of the array is the first of these.
    pub(crate) first_row: u64,
    /// Are the rows two's complements?
    pub(crate) is_signed: bool,
}

impl RawRows {
    /// The limbs of one row.
    pub(crate) fn row(&self, lane: usize) -> &[u32] {
        &self.limbs.as_slice()[lane * self.row_limbs..][..self.row_limbs]
    }

    /// Number of rows.
    pub(crate) const fn lanes(&self) -> usize {
        self.lanes
    }

    /// The limbs of all rows. No row can be looked at after that.
    pub(crate) fn take_limbs(&mut self) -> HostBuffer {
        mem::replace(&mut self.limbs, Vec::new().into())
    }

    const fn bytes(&self) -> usize {
        4 * self.lanes * self.row_limbs
    }

    /// Is the row a negative number?
    pub(crate) fn is_negative(&self, lane: usize) -> bool {
        self.is_signed && is_negative(self.row(lane))
    }

    /// Room for more rows, the first ones in memory of the pool: the limbs of these rows.
    fn grow(&mut self, count: usize, pool: Option<&Pool>) -> &mut [u32] {
        let (old, new) = (self.lanes * self.row_limbs, (self.lanes + count) * self.row_limbs);
        if 8 * old > new {
            let mut limbs = self.take_limbs().into_vec();
            limbs.resize(new, 0);
            self.limbs = limbs.into();
        } else {
            // Zeros of new memory cost nothing until the threads read to them.
            let memory = if old == 0 { pool.and_then(|pool| pool.take(new)) } else { None };
            let mut grown = memory.unwrap_or_else(|| vec![0; new].into());
            grown.as_mut_slice()[..old].copy_from_slice(&self.limbs.as_slice()[..old]);
            self.limbs = grown;
        }
        self.lanes += count;
        &mut self.limbs.as_mut_slice()[old..]
    }

    /// Which rows are negative?
    pub(crate) fn signs(&self) -> impl Iterator<Item = bool> {
        (0..self.lanes()).map(|lane| self.is_negative(lane))
    }
}

/// Is the two's complement of these limbs negative?
pub(crate) fn is_negative(limbs: &[u32]) -> bool {
    limbs.last().is_some_and(|top| top >> 31 == 1)
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
            Self::Rows(rows) => rows.bytes(),
        }
    }
}

/// An operand's file, partly read.
pub(crate) struct Source {
    name: String,
    reader: BufReader<Box<dyn Read + Send>>,
    /// The same file, if all threads can read it at once. Rows come from here, and the blocks of a text, which have these sizes.
    plain: Option<PlainFile>,
    sizes: Sizes,
    /// Bytes in the file, if it is a regular one.
    total_bytes: Option<u64>,
    consumed_bytes: u64,
    /// Was the end found? A terminal would go on after it.
    is_ended: bool,
    /// The most bits of an integer.
    limit: usize,
    format: Encoding,
}

#[derive(Debug)]
enum Encoding {
    Text {
        line: u64,
        blank: Option<u64>,
    },
    /// Text of a plain file, whose lines all threads split.
    Plain(Lines),
    Npy {
        header: NpyHeader,
        rows_left: u64,
    },
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
        let is_meant = text.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit() || first == '(')
            && text.chars().all(|it| it.is_ascii_hexdigit() || "xX_^*+-() .".contains(it));
        let value = is_meant.then(|| expression::signed(text, 2 * limit))?;
        let source = |value: IBig| {
            let digits = value.to_string().into_bytes();
            let total_bytes = Some(digits.len() as u64);
            let reader: Box<dyn Read + Send> = Box::new(io::Cursor::new(digits));
            let format = Encoding::Text { line: 0, blank: None };
            let (name, reader) = (text.into(), BufReader::new(reader));
            let sizes = Sizes::default();
            Self { name, reader, plain: None, sizes, total_bytes, consumed_bytes: 0, is_ended: false, limit, format }
        };
        let fault = |error| match error {
            ExpressionError::TooLarge { .. } => FileError::LongNumber { text: text.into(), error },
            _ => FileError::NoNumber { text: text.into(), error },
        };
        Some(value.map(source).map_err(|error| fault(error).into()))
    }

    /// As [`Source::open`], but `is_npy`, not the name, says whether the file has to be an `.npy` file.
    pub(crate) fn open_named(name: &OsStr, limit: usize, is_npy: bool) -> Result<Self> {
        let mut source = Self::unread(name, limit)?;
        source.detect(is_npy)?;
        Ok(source)
    }

    /// A source that is no file, with numbers of at most 65536 bits. Is its length known beforehand?
    pub(crate) fn of_bytes(name: &str, bytes: &[u8], is_length_known: bool) -> Result<Self> {
        let reader = BufReader::with_capacity(16, Box::new(io::Cursor::new(bytes.to_vec())) as Box<dyn Read + Send>);
        let total_bytes = is_length_known.then_some(bytes.len() as u64);
        Self::of_reader(name, reader, total_bytes, None, Sizes::default())
    }

    /// The same, in a file without a name whose blocks have these sizes: it is read as [`Source::open`] reads a file.
    ///
    /// # Errors
    /// As [`Source::open`]; [`FileError::Read`] where the system makes no file.
    pub(crate) fn of_file(name: &str, bytes: &[u8], sizes: Sizes) -> Result<Self> {
        let file = || -> io::Result<_> {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            file.rewind()?;
            Ok((PlainFile::of(&file), BufReader::new(Box::new(file) as Box<dyn Read + Send>)))
        };
        let (plain, reader) = file().map_err(|source| Error::read(name, source))?;
        Self::of_reader(name, reader, Some(bytes.len() as u64), plain, sizes)
    }

    fn of_reader(
        name: &str,
        reader: BufReader<Box<dyn Read + Send>>,
        total_bytes: Option<u64>,
        plain: Option<PlainFile>,
        sizes: Sizes,
    ) -> Result<Self> {
        let (limit, format) = (warpmp::operation::SLOW_MAX_BITS, Encoding::Text { line: 0, blank: None });
        let name = name.into();
        let mut source =
            Self { name, reader, plain, sizes, total_bytes, consumed_bytes: 0, is_ended: false, limit, format };
        source.detect(npy::is_named(source.name.as_ref()))?;
        Ok(source)
    }

    fn unread(name: &OsStr, limit: usize) -> Result<Self> {
        let shown = if name == STDIN { "standard input".into() } else { name.to_string_lossy().into_owned() };
        let Input { reader, total_bytes, plain } = if name == STDIN {
            Input { reader: Box::new(io::stdin()), total_bytes: None, plain: None }
        } else {
            compressed::open(name).map_err(|source| Error::read(&shown, source))?
        };
        let reader = BufReader::with_capacity(BUFFER_BYTES, reader);
        let format = Encoding::Text { line: 0, blank: None };
        let sizes = Sizes::default();
        Ok(Self { name: shown, reader, plain, sizes, total_bytes, consumed_bytes: 0, is_ended: false, limit, format })
    }

    /// Tells text from arrays, as no text starts with the first byte of NumPy's magic. With `is_npy` it has to be an array.
    fn detect(&mut self, is_npy: bool) -> Result<()> {
        let first = self.reader.fill_buf().map_err(|source| Error::read(&self.name, source))?.first().copied();
        if first != Some(npy::MAGIC[0]) && !is_npy {
            if let Some(file) = self.plain.take() {
                self.format = Encoding::Plain(Lines::new(file, self.sizes));
            }
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

    /// Bytes read so far, as far as the last number or the end.
    pub(crate) const fn consumed_bytes(&self) -> u64 {
        self.consumed_bytes
    }

    /// The header of an `.npy` file.
    pub(crate) const fn npy_header(&self) -> Option<&NpyHeader> {
        match &self.format {
            Encoding::Npy { header, .. } => Some(header),
            Encoding::Text { .. } | Encoding::Plain(_) => None,
        }
    }

    /// An empty chunk of this source's kind.
    pub(crate) fn empty(&self) -> Raw {
        match &self.format {
            Encoding::Text { .. } | Encoding::Plain(_) => Raw::Text(RawText::with_limit(self.limit)),
            Encoding::Npy { header, rows_left } => Raw::Rows(RawRows {
                limbs: Vec::new().into(),
                lanes: 0,
                row_limbs: header.row_limbs(),
                first_row: header.rows - rows_left,
                is_signed: header.dtype.is_signed(),
            }),
        }
    }

    /// Appends the next integer to `raw`, which [`Source::empty`] made; false at the end.
    pub(crate) fn push(&mut self, raw: &mut Raw) -> Result<bool> {
        self.push_many(raw, 1, None)
    }

    /// As [`Source::push`]; of an array this many integers at once, or as many as there are. Memory of the pool takes them if they are
    /// the first of `raw`.
    pub(crate) fn push_many(&mut self, raw: &mut Raw, count: usize, pool: Option<&Pool>) -> Result<bool> {
        if self.is_ended {
            return Ok(false);
        }
        let has_more = match raw {
            Raw::Text(text) => self.push_line(text)?,
            Raw::Rows(rows) => self.push_rows(rows, count, pool)?,
        };
        self.is_ended = !has_more;
        Ok(has_more)
    }

    /// Reads to the end and counts the integers on the way, without keeping them.
    pub(crate) fn count_rest(&mut self) -> Result<u64> {
        let mut raw = self.empty();
        let mut count = 0;
        while self.push(&mut raw)? {
            count += 1;
            if raw.bytes() > BUFFER_BYTES {
                self.check_is_text(&raw)?;
                raw = self.empty();
                crate::interrupt::check()?;
            }
        }
        self.check_is_text(&raw)?;
        Ok(count)
    }

    /// Refuses the lines of a file that is no text: one of them has a zero byte. Such a file has other faults, too, and the zero byte explains them all.
    pub(crate) fn check_is_text(&self, raw: &Raw) -> Result<()> {
        match raw {
            Raw::Text(text) => self.check_has_no_zero_byte(text),
            Raw::Rows(_) => Ok(()),
        }
    }

    fn check_has_no_zero_byte(&self, text: &RawText) -> Result<()> {
        text.line_of_zero_byte().map_or(Ok(()), |line| Err(self.line_error(line, LineProblem::ZeroByte)))
    }

    fn line_error(&self, line: u64, problem: LineProblem) -> Error {
        FileError::Line { path: self.name.clone(), line, problem }.into()
    }

    fn push_line(&mut self, text: &mut RawText) -> Result<bool> {
        if text.is_full() {
            return Err(Error::Bug);
        }
        if let Encoding::Plain(lines) = &mut self.format {
            match lines.next().map_err(|source| Error::read(&self.name, source))? {
                Next::Number { text: number, line, end } => {
                    text.push(number, line);
                    self.consumed_bytes = end;
                    return Ok(true);
                }
                Next::End(bytes) => {
                    self.consumed_bytes = bytes;
                    return Ok(false);
                }
                Next::Odd => self.read_line_by_line()?,
            }
        }
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
                return Err(self.line_error(number, problem));
            }
            match text.end_line(start, number) {
                text::LineKind::Comment => {}
                text::LineKind::Blank => *blank = blank.or(Some(number)),
                text::LineKind::Number => {
                    return match *blank {
                        None => Ok(true),
                        Some(line) => {
                            self.check_has_no_zero_byte(text)?;
                            Err(self.line_error(line, LineProblem::Blank))
                        }
                    };
                }
            }
        }
    }

    /// Goes on line by line where the lines of a plain file have something that is not usual.
    fn read_line_by_line(&mut self) -> Result<()> {
        let text = Encoding::Text { line: 0, blank: None };
        let Encoding::Plain(lines) = mem::replace(&mut self.format, text) else { return Err(Error::Bug) };
        let (file, [bytes, line]) = lines.rest().map_err(|source| Error::read(&self.name, source))?;
        self.reader = BufReader::with_capacity(BUFFER_BYTES, Box::new(file));
        self.consumed_bytes = bytes;
        self.format = Encoding::Text { line, blank: None };
        Ok(())
    }

    /// Appends rows: `count`, or as many as there are.
    fn push_rows(&mut self, rows: &mut RawRows, count: usize, pool: Option<&Pool>) -> Result<bool> {
        let Encoding::Npy { header, rows_left } = &mut self.format else { return Err(Error::Bug) };
        if *rows_left == 0 {
            return if self.is_at_end()? { Ok(false) } else { Err(self.npy_error(NpyProblem::TrailingBytes)) };
        }
        let count = usize::try_from(*rows_left).map_or(count, |left| left.min(count));
        let first_row = header.rows - *rows_left;
        *rows_left -= count as u64;
        let row_bytes = 4 * rows.row_limbs;
        let limbs = rows.grow(count, pool);
        let bytes = limbs.as_mut_bytes();
        let read = match &self.plain {
            Some(file) => file.read_at(self.consumed_bytes, bytes),
            None => plain::read_whole(bytes, |_, rest| self.reader.read(rest)),
        };
        let read = read.map_err(|source| Error::read(&self.name, source))?;
        if read < count * row_bytes {
            let (row, rows) = (first_row + (read / row_bytes) as u64, header.rows);
            return Err(self.npy_error(NpyProblem::TruncatedAtRow { row, rows }));
        }
        if cfg!(target_endian = "big") {
            limbs.par_iter_mut().for_each(|limb| *limb = u32::from_le(*limb));
        }
        self.consumed_bytes += read as u64;
        Ok(true)
    }

    /// Is nothing after the rows?
    fn is_at_end(&mut self) -> Result<bool> {
        let is_at_end = match &self.plain {
            Some(file) => file.ends_at(self.consumed_bytes),
            None => self.reader.fill_buf().map(<[u8]>::is_empty),
        };
        is_at_end.map_err(|source| Error::read(&self.name, source))
    }

    fn npy_error(&self, problem: NpyProblem) -> Error {
        FileError::Npy { path: self.name.clone(), problem }.into()
    }
}

#[cfg(test)]
mod fuzz_tests;
