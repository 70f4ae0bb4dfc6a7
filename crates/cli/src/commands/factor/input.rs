//! Integers, expressions and save lines, a line each, and arrays of integers. Lines that begin with `#` are comments.

use std::{
    ffi::OsStr,
    io::{self, Read},
    path::Path,
};

use num_bigint::BigUint;
use warpmp_collatz::expression;
use warpmp_numtheory::factor::SaveLine;

use crate::{
    error::{Error, Result},
    io::{
        STDIN, compressed,
        error::{FileError, LineProblem},
        npy::{self, NpyProblem},
        source::{Raw, Source},
        text::BYTE_ORDER_MARK,
    },
};

/// The longest integers.
const MOST_BITS: usize = 1 << 16;
/// Bytes of an array that are read at a time.
const CHUNK_BYTES: usize = 1 << 24;
/// The longest file.
const MOST_BYTES: u64 = 1 << 30;

/// The integers of a file, or of the expression that the name is.
pub(super) fn integers(file: &OsStr) -> Result<Vec<BigUint>> {
    if file != STDIN && !Path::new(file).exists() {
        let text = file.to_string_lossy().into_owned();
        let number = integer(&text).map_err(|error| FileError::NoNumber { text, error })?;
        return Ok(vec![number]);
    }
    integers_of(file)
}

/// The integers of a file.
pub(crate) fn integers_of(file: &OsStr) -> Result<Vec<BigUint>> {
    if npy::is_named(file) {
        return array(file);
    }
    lines(file, |line| integer(line).map_err(LineProblem::Expression))
}

/// The integers of an `.npy` array.
fn array(file: &OsStr) -> Result<Vec<BigUint>> {
    let mut source = Source::open_named(file, MOST_BITS, true)?;
    let mut raw = source.empty();
    let count = source.npy_header().map_or(1, |header| (CHUNK_BYTES / (4 * header.row_limbs())).max(1));
    while source.push_many(&mut raw, count, None)? {}
    let Raw::Rows(rows) = raw else { return Err(Error::Bug) };
    let path = || file.to_string_lossy().into_owned();
    let number = |lane: usize| {
        if rows.is_negative(lane) {
            let problem = NpyProblem::NegativeRow { row: rows.first_row + lane as u64 };
            return Err(FileError::Npy { path: path(), problem }.into());
        }
        Ok(BigUint::from_slice(rows.row(lane)))
    };
    let numbers = (0..rows.lanes()).map(number).collect::<Result<Vec<BigUint>>>()?;
    if numbers.is_empty() { Err(FileError::NoNumbers { path: path() }.into()) } else { Ok(numbers) }
}

/// The save lines of a file.
pub(crate) fn save_lines(file: &OsStr) -> Result<Vec<SaveLine>> {
    let lines = lines(file, |line| line.parse::<SaveLine>().map_err(LineProblem::SaveLine))?;
    Ok(lines)
}

fn integer(text: &str) -> Result<BigUint, expression::ExpressionError> {
    Ok(BigUint::from_bytes_le(&expression::integer(text, MOST_BITS)?.to_le_bytes()))
}

/// The value of each line.
fn lines<T>(file: &OsStr, value: impl Fn(&str) -> Result<T, LineProblem>) -> Result<Vec<T>> {
    let name = if file == STDIN { "standard input".into() } else { file.to_string_lossy().into_owned() };
    let mut bytes = Vec::new();
    let read = |reader: &mut dyn Read, bytes: &mut Vec<u8>| reader.take(MOST_BYTES + 1).read_to_end(bytes);
    let outcome = if file == STDIN {
        read(&mut io::stdin().lock(), &mut bytes)
    } else {
        compressed::open(file).and_then(|mut input| read(&mut input.reader, &mut bytes))
    };
    let outcome = outcome.and_then(|count| match count as u64 {
        0..=MOST_BYTES => Ok(()),
        _ => Err(io::Error::other(format!("more than {MOST_BYTES} bytes"))),
    });
    outcome.map_err(|source| Error::read(&name, source))?;
    let mut values = Vec::new();
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        let fault = |problem| FileError::Line { path: name.clone(), line: number, problem };
        let text = str::from_utf8(line).map_err(|_| fault(LineProblem::NotUtf8))?.trim();
        if !text.is_empty() && !text.starts_with('#') {
            values.push(value(text).map_err(fault)?);
        }
    }
    if values.is_empty() { Err(FileError::NoNumbers { path: name }.into()) } else { Ok(values) }
}
