//! Integers to an output, chunk after chunk, as text or as `.npy`.

use std::{
    borrow::Cow,
    ffi::OsStr,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
};

use clap::ValueEnum;
use rayon::prelude::*;
use warpmp::Batch;
use zerocopy::IntoBytes as _;

use super::{
    column::{self, Column},
    error::{FileError, inner},
    npy::{self, Dtype, HEADER_BYTES, NpyHeader},
    output::Output,
};
use crate::{
    error::{Error, Result},
    interrupt,
    numbers::Numbers,
};

/// The most lanes that a thread formats at a time.
const PIECE_LANES: usize = 256;
/// A piece of long numbers has fewer lanes, about this many limbs, so that all threads get some.
const PIECE_LIMBS: usize = 1 << 14;
/// Pieces of a batch, by thread. One batch is written while the next one is formatted.
const BATCH_PIECES: usize = 4;
/// Bytes that are moved at a time.
const BLOCK_BYTES: usize = 4 << 20;

/// How integers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One integer a line.
    Text,
    /// A row of limbs an integer.
    Npy,
}

impl Format {
    /// The format that was asked for; without one, the format of the file's name; else text.
    pub(crate) fn choose(asked: Option<Self>, file: Option<&OsStr>) -> Self {
        let is_npy = || file.is_some_and(npy::is_named);
        asked.unwrap_or_else(|| if is_npy() { Self::Npy } else { Self::Text })
    }
}

/// The header of an array, as far as it is known before its integers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArrayHead {
    /// Its shape: the header can be written at once.
    Known(NpyHeader),
    /// Its type only: rows grow with wider integers, and the header is written last.
    Unknown(Dtype),
}

/// Takes integers.
#[derive(Debug)]
pub(crate) enum Sink {
    Text { output: Output, hex: bool },
    Npy { output: Output, header: NpyHeader },
    Growing(Growing),
}

impl Sink {
    /// Writes to `output` as `format` says.
    ///
    /// # Errors
    /// [`FileError::NpyToTerminal`]; the errors of writing.
    pub(crate) fn new(mut output: Output, format: Format, hex: bool, layout: ArrayHead) -> Result<Self> {
        if format == Format::Text {
            return Ok(Self::Text { output, hex });
        }
        if output.is_terminal() {
            return Err(FileError::NpyToTerminal.into());
        }
        match layout {
            ArrayHead::Known(header) => {
                output.write_all(&header.to_bytes())?;
                Ok(Self::Npy { output, header })
            }
            ArrayHead::Unknown(dtype) => Ok(Self::Growing(Growing::new(output, dtype)?)),
        }
    }

    /// Appends integers.
    pub(crate) fn write(&mut self, numbers: &Numbers) -> Result<()> {
        self.write_columns(&[Column { numbers, signed: false }], None)
    }

    /// Appends integers, several a line in text, the first column's in an array. A lane whose `status` is not
    /// zero has no results.
    pub(crate) fn write_columns(&mut self, columns: &[Column<'_>], status: Option<&Numbers>) -> Result<()> {
        match self {
            Self::Text { output, hex } => write_text(columns, status, *hex, |lines| output.write_all(lines)),
            Self::Npy { output, header } => output.write_all(&rows(&columns[0], header.row_limbs())),
            Self::Growing(array) => array.write(&columns[0]),
        }
    }

    /// Completes the output: only now does a file appear.
    pub(crate) fn finish(self) -> Result<()> {
        self.complete()?.finish()
    }

    /// Everything is written: a file is on the disk, still under its temporary name.
    pub(crate) fn complete(self) -> Result<Output> {
        let mut output = match self {
            Self::Text { output, .. } | Self::Npy { output, .. } => output,
            Self::Growing(array) => array.complete()?,
        };
        output.sync()?;
        Ok(output)
    }
}

/// Gives the lines to `write`, in order and on this thread; others format them.
fn write_text(
    columns: &[Column<'_>],
    status: Option<&Numbers>,
    hex: bool,
    mut write: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let lanes = columns[0].numbers.lanes();
    let limbs: usize = columns.iter().map(|column| column.numbers.max_limbs()).sum();
    let piece_lanes = (PIECE_LIMBS / limbs.max(1)).clamp(1, PIECE_LANES);
    let piece = |first: usize| {
        let mut lines = Vec::new();
        for lane in first..(first + piece_lanes).min(lanes) {
            let fault = column::is_at_fault(status, lane);
            for column in columns {
                if fault {
                    lines.extend_from_slice(column::NO_RESULT);
                    lines.push(b'\n');
                } else {
                    column.write(lane, hex, &mut lines);
                }
                // Columns stand in one line.
                if let Some(end) = lines.last_mut() {
                    *end = b'\t';
                }
            }
            if let Some(end) = lines.last_mut() {
                *end = b'\n';
            }
        }
        lines
    };
    let count = lanes.div_ceil(piece_lanes);
    let batch = BATCH_PIECES * rayon::current_num_threads();
    let formatted = |first: usize| -> Vec<Vec<u8>> {
        (first..(first + batch).min(count)).into_par_iter().map(|k| piece(k * piece_lanes)).collect()
    };
    let mut write = |pieces: &[Vec<u8>]| pieces.iter().try_for_each(|lines| write(lines));
    let mut ready = formatted(0);
    for first in (batch..count).step_by(batch) {
        // A batch is written while the next one is formatted. This thread writes: a slow output stops no thread that computes.
        let mut next = Vec::new();
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| next = formatted(first));
            write(&ready)
        })?;
        ready = next;
    }
    write(&ready)
}

/// Rows of `limbs` limbs that are moved at a time.
fn block_rows(limbs: usize) -> u64 {
    (BLOCK_BYTES / (4 * limbs)).max(1) as u64
}

/// The integers as rows of `limbs` little-endian limbs.
fn rows<'n>(column: &Column<'n>, limbs: usize) -> Cow<'n, [u8]> {
    // The signs of two's complements that fill their limbs are where they belong.
    let is_whole = |batch: &&Batch<'_>| !column.signed || batch.bits().is_multiple_of(32);
    if let (true, Some(batch)) = (cfg!(target_endian = "little"), column.numbers.rows(limbs).filter(is_whole)) {
        return batch.limbs().as_bytes().into();
    }
    let mut bytes = vec![0; 4 * limbs * column.numbers.lanes()];
    bytes.par_chunks_exact_mut(4 * limbs).enumerate().for_each(|(lane, row)| {
        let (extended, sign) = if column.signed { column.extended(lane) } else { (Vec::new(), 0) };
        let own = if column.signed { &extended[..] } else { column.numbers.lane(lane) };
        for (bytes, limb) in row.chunks_exact_mut(4).zip(own.iter().chain(std::iter::repeat(&sign))) {
            bytes.copy_from_slice(&limb.to_le_bytes());
        }
    });
    bytes.into()
}

/// An array whose shape is known at the end only. It is written to the output's own file if that can be rewritten, else to
/// a temporary file.
#[derive(Debug)]
pub(crate) struct Growing {
    output: Output,
    file: File,
    /// Is `file` a temporary one, to be copied to the output?
    spooled: bool,
    dtype: Dtype,
    /// Are the rows two's complements, of which rows without a sign have zeros above?
    signed: bool,
    rows: u64,
    /// Limbs a row in the file now.
    limbs: usize,
    /// Limbs a row that are needed so far.
    needed: usize,
}

/// A failure of the temporary file.
fn spool_error(source: io::Error) -> Error {
    Error::write(&format!("a temporary file in {}", std::env::temp_dir().display()), inner(source))
}

impl Growing {
    fn new(output: Output, dtype: Dtype) -> Result<Self> {
        let (file, spooled) = match output.seekable() {
            Some(file) => (file?, false),
            None => (tempfile::tempfile().map_err(spool_error)?, true),
        };
        let mut array = Self { output, file, spooled, dtype, signed: false, rows: 0, limbs: 0, needed: 0 };
        let written = array.file.write_all(&[0; HEADER_BYTES]);
        array.checked(written)?;
        Ok(array)
    }

    /// The result of a step on the file; an error names the temporary file if there is one.
    fn checked<T>(&self, result: io::Result<T>) -> Result<T> {
        result.map_err(|source| if self.spooled { spool_error(source) } else { self.output.error(source) })
    }

    fn write(&mut self, column: &Column<'_>) -> Result<()> {
        let numbers = column.numbers;
        if column.signed && !self.signed {
            // Room for the signs of the rows so far, which are not negative.
            if self.rows > 0 {
                self.needed += self.dtype.limbs();
                self.widen(self.needed.max(self.limbs))?;
            }
            self.signed = true;
        }
        let room = usize::from(self.signed && !column.signed);
        self.needed = self.needed.max((numbers.max_limbs() + room).next_multiple_of(self.dtype.limbs()));
        if self.needed > self.limbs {
            // Half as much again, so that rows move a few times only, even if integers grow with every chunk.
            let roomy = if self.rows == 0 { 0 } else { (self.limbs * 3 / 2).next_multiple_of(self.dtype.limbs()) };
            self.widen(self.needed.max(roomy))?;
        }
        let bytes = rows(column, self.limbs);
        let written = self.file.seek(SeekFrom::End(0)).and_then(|_| self.file.write_all(&bytes));
        self.checked(written)?;
        self.rows += numbers.lanes() as u64;
        Ok(())
    }

    fn complete(mut self) -> Result<Output> {
        self.narrow(self.needed)?;
        let columns = self.limbs / self.dtype.limbs();
        let header = NpyHeader { dtype: self.dtype.with_sign(self.signed), rows: self.rows, columns };
        let written = self.file.rewind().and_then(|()| self.file.write_all(&header.to_bytes()));
        self.checked(written)?;
        if self.spooled {
            self.file.rewind().map_err(spool_error)?;
            let mut block = vec![0; BLOCK_BYTES];
            loop {
                let read = self.file.read(&mut block).map_err(spool_error)?;
                if read == 0 {
                    break;
                }
                self.output.write_all(&block[..read])?;
                interrupt::check()?;
            }
        }
        Ok(self.output)
    }

    /// Rows become `limbs` wide, from the last to the first: each moves towards the end of the file.
    fn widen(&mut self, limbs: usize) -> Result<()> {
        let step = block_rows(limbs);
        let mut end = self.rows;
        while end > 0 {
            let first = end.saturating_sub(step);
            self.move_rows(first, end, limbs)?;
            end = first;
        }
        self.limbs = limbs;
        Ok(())
    }

    /// Rows become `limbs` wide, from the first to the last: each moves towards the start of the file.
    fn narrow(&mut self, limbs: usize) -> Result<()> {
        if limbs == self.limbs {
            return Ok(());
        }
        let step = block_rows(self.limbs);
        let mut first = 0;
        while first < self.rows {
            let end = (first + step).min(self.rows);
            self.move_rows(first, end, limbs)?;
            first = end;
        }
        self.limbs = limbs;
        let length = HEADER_BYTES as u64 + 4 * limbs as u64 * self.rows;
        let cut = self.file.set_len(length);
        self.checked(cut)
    }

    fn move_rows(&mut self, first: u64, end: u64, limbs: usize) -> Result<()> {
        interrupt::check()?;
        let count = (end - first) as usize;
        let (old, new) = (4 * self.limbs, 4 * limbs);
        let place = |row: u64, width: usize| SeekFrom::Start(HEADER_BYTES as u64 + row * width as u64);
        let mut from = vec![0; count * old];
        let mut into = vec![0; count * new];
        let (file, is_signed) = (&mut self.file, self.signed);
        let moved: io::Result<()> =
            file.seek(place(first, old)).and_then(|_| file.read_exact(&mut from)).and_then(|()| {
                for (from, into) in from.chunks_exact(old).zip(into.chunks_exact_mut(new)) {
                    let kept = old.min(new);
                    into[..kept].copy_from_slice(&from[..kept]);
                    let is_negative = is_signed && from.last().is_some_and(|top| top >> 7 == 1);
                    into[kept..].fill(if is_negative { u8::MAX } else { 0 });
                }
                file.seek(place(first, new))?;
                file.write_all(&into)
            });
        self.checked(moved)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use warpmp::Shape;

    use super::*;

    /// A slow output holds up its own thread only. Lines keep their order over many batches.
    #[test]
    fn this_thread_writes_all_lines_in_order() {
        let lanes = 3 * BATCH_PIECES * rayon::current_num_threads() * PIECE_LANES + 77;
        let batch = Batch::from_limbs(Shape::new(lanes, 32), (0..lanes as u32).collect()).unwrap();
        let numbers = Numbers::new(vec![batch], None);
        let (writer, mut text) = (thread::current().id(), Vec::new());
        let write = |lines: &[u8]| {
            assert_eq!(thread::current().id(), writer);
            text.extend_from_slice(lines);
            Ok(())
        };
        write_text(&[Column { numbers: &numbers, signed: false }], None, false, write).unwrap();
        let lines = String::from_utf8(text).unwrap();
        assert!(lines.lines().map(|line| line.parse::<usize>().unwrap()).eq(0..lanes));
    }

    #[test]
    fn the_first_failure_ends_the_writing() {
        let numbers = Numbers::new(vec![Batch::from_limbs(Shape::new(4, 32), vec![1; 4]).unwrap()], None);
        let column = Column { numbers: &numbers, signed: false };
        let written = write_text(&[column], None, false, |_| Err(Error::BrokenPipe));
        assert!(matches!(written, Err(Error::BrokenPipe)));
    }
}
