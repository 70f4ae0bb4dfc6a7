//! `--expect FILE`: every result compared with those of a file, which has them as `-o` writes them.

use std::{borrow::Cow, ffi::OsString, ops::Range};

use rayon::prelude::*;
use warpmp::Operation;

use super::results;
use crate::{
    args::{Apply, ArgsError},
    error::{Error, Result, plural},
    io::{
        column::{self, Column, NO_RESULT},
        error::{FileError, LineProblem},
        npy,
        sink::Format,
        source::{Raw, Source},
        text::{Entry, write_line},
    },
    numbers::Numbers,
};

/// A number of more digits is shortened in messages.
const SHOWN_DIGITS: usize = 60;
/// As many of its digits are shown at either end.
const END_DIGITS: usize = 20;
/// Bytes of a file that are compared at a time, however long the results of a chunk are.
const PIECE_BYTES: usize = 32 << 20;

/// A result that is not as a file has it. `place` is a line or a row of the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectError {
    #[error("{place}: {expected} is expected, found {found}")]
    Different { place: String, expected: String, found: String },
    #[error("{place}: missing; there are more results than the file has")]
    Missing { place: String },
    #[error("{place}: too many; there {} {lanes} result{}", if *lanes == 1 { "is" } else { "are" }, plural(*lanes))]
    Extra { place: String, lanes: u64 },
    #[error("{place}: {columns} column{} where {results} {} expected", plural(*columns as u64),
            if *results == 1 { "is" } else { "are" })]
    Columns { place: String, columns: usize, results: usize },
}

/// The files of expected results.
pub(super) struct Expectations {
    operation: Operation,
    files: Vec<Expected>,
}

/// A file of expected results, read as far as results were compared.
struct Expected {
    source: Source,
    /// The numbers of the results that it holds; none as long as its first line is not read.
    results: Option<Range<usize>>,
    /// Lanes compared so far.
    lanes: u64,
    /// Where the last of them stands.
    last_line: u64,
    /// The most bits of a result.
    limit: usize,
    /// Are numbers of an array hexadecimal in messages?
    hex: bool,
}

impl Expectations {
    /// Opens the files: of one result each, or a single one.
    ///
    /// # Errors
    /// [`ArgsError::Expectations`] for more files than results; what opening them gives.
    pub(super) fn open(operation: Operation, is_first_alone: bool, args: &Apply) -> Result<Self> {
        let results = if is_first_alone { 1 } else { operation.result_names().len() };
        let names = &args.expect;
        if names.len() > results {
            return Err(ArgsError::Expectations { operation }.into());
        }
        // No result is wider, and rows of an array are rounded up.
        let limit = (2 * operation.max_bits() + 1).next_multiple_of(64);
        let open = |(number, name): (usize, &OsString)| {
            let is_npy = npy::is_named(name) && args.format.format != Some(Format::Text);
            let source = Source::open_named(name, limit, is_npy)?;
            let is_known = names.len() > 1 || results == 1 || source.npy_header().is_some();
            let results = is_known.then_some(number..number + 1);
            Ok(Expected { source, results, lanes: 0, last_line: 0, limit, hex: args.hex })
        };
        Ok(Self { operation, files: names.iter().enumerate().map(open).collect::<Result<_>>()? })
    }

    /// Compares the results of a chunk by this operation, the status last if there is one.
    ///
    /// # Errors
    /// [`ExpectError::Different`] names the first that differs, [`ExpectError::Missing`] the line that a file has not,
    /// [`ExpectError::Columns`] one with too few or too many results; what reading the files gives.
    pub(super) fn compare(&mut self, operation: Operation, found: &[Numbers]) -> Result<()> {
        let (columns, status) = results::columns(operation, found);
        self.files.iter_mut().try_for_each(|file| file.compare(operation, &columns, status))
    }

    /// What the results are called that the files have.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let results = self.files.iter().filter_map(|file| file.results.clone());
        results.flatten().map(|result| self.operation.result_names()[result]).collect()
    }

    /// There are no more results: have the files no more lines either?
    ///
    /// # Errors
    /// [`ExpectError::Extra`]; what reading the files gives.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(Expected::finish)
    }
}

/// The results of a chunk beside what a file has for them.
struct Comparison<'n> {
    operation: Operation,
    columns: &'n [Column<'n>],
    status: Option<&'n Numbers>,
    /// The file's name.
    name: String,
    /// The chunk's first lane.
    first_lane: u64,
    limit: usize,
    hex: bool,
}

impl Expected {
    fn compare(&mut self, operation: Operation, columns: &[Column<'_>], status: Option<&Numbers>) -> Result<()> {
        let (name, first_lane) = (self.source.name().to_owned(), self.lanes);
        let chunk = Comparison { operation, columns, status, name, first_lane, limit: self.limit, hex: self.hex };
        let lanes = columns.first().map_or(0, |column| column.numbers.lanes());
        let mut done = 0;
        while done < lanes {
            let present = self.compare_piece(&chunk, done, lanes - done)?;
            done += present;
            if present == 0 {
                let name = self.source.name();
                let place = match self.source.npy_header() {
                    None => line(name, self.last_line + 1),
                    Some(_) => row(name, self.lanes),
                };
                return Err(ExpectError::Missing { place }.into());
            }
        }
        Ok(())
    }

    /// Compares the results from this lane of the chunk on, as many as a piece has, at most `most`. Gives their number.
    fn compare_piece(&mut self, chunk: &Comparison<'_>, first: usize, most: usize) -> Result<usize> {
        let row_bytes = self.source.npy_header().map_or(0, |header| 4 * header.row_limbs());
        let most = most.min((PIECE_BYTES / row_bytes.max(1)).max(1));
        let mut raw = self.source.empty();
        while raw.lanes() < most && raw.bytes() < PIECE_BYTES {
            let missing = most - raw.lanes();
            if !self.source.push_many(&mut raw, missing, None)? {
                break;
            }
        }
        let present = raw.lanes();
        let difference = match &raw {
            Raw::Text(text) if present > 0 => {
                // The columns of one file, or the first result alone.
                let all = || 0..if fields(text.get(0)).count() == 1 { 1 } else { chunk.columns.len() };
                let results = self.results.get_or_insert_with(all).clone();
                self.last_line = text.line(present - 1);
                let compare = |lane| chunk.compare_line((text.line(lane), text.get(lane)), first + lane, &results);
                (0..present).into_par_iter().find_map_first(|lane| compare(lane).err())
            }
            Raw::Text(_) => None,
            Raw::Rows(rows) => {
                let result = self.results.as_ref().map_or(0, |results| results.start);
                let compare = |lane| chunk.compare_row((rows.row(lane), rows.is_negative(lane)), first + lane, result);
                (0..present).into_par_iter().find_map_first(|lane| compare(lane).err())
            }
        };
        self.lanes += present as u64;
        difference.map_or(Ok(present), Err)
    }

    fn finish(&mut self) -> Result<()> {
        let mut raw = self.source.empty();
        if !self.source.push(&mut raw)? {
            return Ok(());
        }
        let name = self.source.name();
        let place = match &raw {
            Raw::Text(text) => line(name, text.line(0)),
            Raw::Rows(_) => row(name, self.lanes),
        };
        Err(ExpectError::Extra { place, lanes: self.lanes }.into())
    }
}

impl Comparison<'_> {
    /// Compares a lane's results with its line, which has this number.
    fn compare_line(&self, (number, text): (u64, &[u8]), lane: usize, results: &Range<usize>) -> Result<()> {
        let columns = fields(text).count();
        if columns != results.len() {
            let place = line(&self.name, number);
            return Err(ExpectError::Columns { place, columns, results: results.len() }.into());
        }
        for (field, result) in fields(text).zip(results.clone()) {
            let problem = |problem| Error::from(FileError::Line { path: self.name.clone(), line: number, problem });
            let entry = Entry::check(field, self.limit).map_err(problem)?;
            if !self.is_same(entry, lane, result).map_err(problem)? {
                let column = if results.len() > 1 { format!(", column {}", result + 1) } else { String::new() };
                let hex = matches!(entry, Entry::Number { digits, .. } if digits.is_hex());
                let expected = words(field);
                return Err(self.not_expected(line(&self.name, number) + &column, lane, result, &expected, hex));
            }
        }
        Ok(())
    }

    /// Is this the result of the lane?
    fn is_same(&self, entry: Entry<'_>, lane: usize, result: usize) -> Result<bool, LineProblem> {
        let is_at_fault = column::is_at_fault(self.status, lane);
        let Entry::Number { is_negative, digits } = entry else { return Ok(is_at_fault) };
        let mut limbs = vec![0; digits.limbs_bound()];
        digits.write(&mut limbs)?;
        let (found_negative, found) = self.columns[result].magnitude(lane);
        let expected = trimmed(&limbs);
        let is_same_sign = is_negative == found_negative || expected.is_empty();
        Ok(!is_at_fault && is_same_sign && expected == trimmed(&found))
    }

    /// Compares a lane's result with its row, which may be negative. The row has the sign in all bits above, and zeros for no result.
    fn compare_row(&self, (row_limbs, is_negative): (&[u32], bool), lane: usize, result: usize) -> Result<()> {
        let column = &self.columns[result];
        let expected = row_limbs.to_vec();
        let expected = if is_negative { column::negated(expected) } else { expected };
        let (found_negative, found) = column.magnitude(lane);
        if is_negative == found_negative && trimmed(&expected) == trimmed(&found) {
            return Ok(());
        }
        let mut text = if is_negative { b"-".to_vec() } else { Vec::new() };
        write_line(&expected, self.hex, &mut text);
        let place = row(&self.name, self.first_lane + lane as u64);
        Err(self.not_expected(place, lane, result, &words(text.trim_ascii_end()), self.hex))
    }

    fn not_expected(&self, place: String, lane: usize, result: usize, expected: &str, hex: bool) -> Error {
        let mut found = Vec::new();
        if column::is_at_fault(self.status, lane) {
            found.extend_from_slice(NO_RESULT);
        } else {
            self.columns[result].write(lane, hex, &mut found);
        }
        let (expected, found) = shortened(expected, &words(found.trim_ascii_end()));
        let names = self.operation.result_names();
        let result = if names.len() > 1 { format!(" ({})", names[result]) } else { String::new() };
        ExpectError::Different { place: place + &result, expected, found }.into()
    }
}

/// A line of a file, for messages.
fn line(name: &str, line: u64) -> String {
    format!("{name}:{line}")
}

/// A row of an array, for messages: counted as NumPy does.
fn row(name: &str, row: u64) -> String {
    format!("{name}[{row}]")
}

/// The results in a line.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

/// Without the zeros at the top.
fn trimmed(limbs: &[u32]) -> &[u32] {
    &limbs[..limbs.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1)]
}

/// A result in words.
fn words(text: &[u8]) -> Cow<'_, str> {
    if text == NO_RESULT { "no result".into() } else { String::from_utf8_lossy(text) }
}

/// The two numbers with the digits at their ends, if they have many; and where they begin to differ, which may be
/// between.
fn shortened(expected: &str, found: &str) -> (String, String) {
    let shorten = |number: &str| {
        let length = number.len();
        if length <= SHOWN_DIGITS {
            return number.to_owned();
        }
        format!("{}…{} ({length} characters)", &number[..END_DIGITS], &number[length - END_DIGITS..])
    };
    let length = found.len();
    let pairs = || expected.bytes().zip(found.bytes());
    let first = pairs().position(|(one, other)| !one.eq_ignore_ascii_case(&other));
    let hint = match first.filter(|_| expected.len() == length && length > SHOWN_DIGITS) {
        Some(first) => format!("; character {} is the first to differ", first + 1),
        None => String::new(),
    };
    (shorten(expected), shorten(found) + &hint)
}
