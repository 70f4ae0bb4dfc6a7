//! The integers of all files, each with a label.
//!
//! A file holds keys, or a table with a column of integers, or integers. A label is a line of the only file, the file and the line, or
//! the name of a key.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io::Read as _,
};

use num_bigint::BigUint;
use warpmp::operation::SLOW_MAX_BITS;
use warpmp_numtheory::keys;

use crate::{
    args::BatchGcd,
    error::{Error, Result},
    interrupt,
    io::{
        STDIN, compressed,
        error::{FileError, LineProblem},
        source::Source,
        tuple::TupleReader,
    },
    numbers::{self, row},
};

/// Bytes of input that are parsed at a time.
const CHUNK_BYTES: usize = 32 << 20;
/// Bytes of a file that tell whether it has keys.
const HEAD_BYTES: u64 = 1 << 16;
/// The longest file with keys.
const KEYS_BYTES: u64 = 1 << 32;

/// The integers, each with its label.
#[derive(Debug, Default)]
pub(super) struct Moduli {
    pub(super) labels: Vec<Box<str>>,
    pub(super) numbers: Vec<BigUint>,
    /// The keys without a modulus, and why they have none.
    pub(super) skipped: Vec<(String, &'static str)>,
}

impl Moduli {
    /// Reads all files.
    pub(super) fn read(args: &BatchGcd) -> Result<Self> {
        let mut moduli = Self::default();
        let is_alone = args.files.len() == 1;
        for file in &args.files {
            let name = if file == STDIN { "standard input".into() } else { file.to_string_lossy().into_owned() };
            if let Some(column) = &args.column {
                moduli.read_table(file, &name, column, args.label.as_deref())?;
            } else if has_keys(file) {
                moduli.read_keys(file, &name)?;
            } else {
                moduli.read_integers(file, is_alone)?;
            }
        }
        if let (true, Some((label, reason))) = (moduli.numbers.is_empty(), moduli.skipped.first()) {
            return Err(FileError::Table { path: label.clone(), reason: (*reason).into() }.into());
        }
        if moduli.numbers.is_empty() {
            let path = args.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>().join(", ");
            return Err(FileError::NoNumbers { path }.into());
        }
        moduli.make_labels_unique();
        Ok(moduli)
    }

    fn push(&mut self, label: String, number: BigUint) {
        // Labels stand between tabs.
        let label = if label.contains(['\t', '\n', '\r']) { label.replace(['\t', '\n', '\r'], " ") } else { label };
        self.labels.push(label.into());
        self.numbers.push(number);
    }

    fn read_integers(&mut self, file: &OsStr, is_alone: bool) -> Result<()> {
        let mut reader = TupleReader::new(vec![Source::open(file, SLOW_MAX_BITS)?], CHUNK_BYTES)?;
        let names = reader.names();
        while let Some(mut chunk) = reader.next_chunk()? {
            interrupt::check()?;
            let operands = numbers::operands(&mut chunk, &names, None, numbers::Lines::Unsigned)?;
            let batches = operands.columns.first().and_then(Option::as_ref).ok_or(Error::Bug)?;
            for lane in 0..operands.lanes {
                let line = chunk.line(lane);
                let label = if is_alone { line.to_string() } else { format!("{}:{line}", names[0]) };
                self.push(label, BigUint::from_slice(row(batches, operands.places.as_deref(), lane).0));
            }
        }
        Ok(())
    }

    fn read_keys(&mut self, file: &OsStr, name: &str) -> Result<()> {
        let mut bytes = Vec::new();
        let reader = compressed::open(file).map_err(|source| Error::read(name, source))?.reader;
        reader.take(KEYS_BYTES).read_to_end(&mut bytes).map_err(|source| Error::read(name, source))?;
        for entry in keys::read(name, &bytes) {
            match entry.modulus {
                Ok(modulus) => self.push(entry.label, modulus),
                Err(reason) => self.skipped.push((entry.label, reason)),
            }
        }
        Ok(())
    }

    /// Reads a table with commas between its columns, whose first line has their names.
    fn read_table(&mut self, file: &OsStr, name: &str, column: &str, label: Option<&str>) -> Result<()> {
        let reader: Box<dyn std::io::Read + Send> = if file == STDIN {
            Box::new(std::io::stdin())
        } else {
            compressed::open(file).map_err(|source| Error::read(name, source))?.reader
        };
        let mut table = csv::Reader::from_reader(reader);
        let failed = |error: csv::Error| FileError::Table { path: name.into(), reason: error.to_string() };
        let head = table.headers().map_err(failed)?.clone();
        let place = |wanted: &str| {
            let names = || head.iter().collect::<Vec<_>>().join(", ");
            let place = head.iter().position(|name| name.trim() == wanted);
            place.ok_or_else(|| FileError::Column { path: name.into(), column: wanted.into(), columns: names() })
        };
        let (column, label) = (place(column)?, label.map(place).transpose()?);
        for record in table.records() {
            interrupt::check()?;
            let record = record.map_err(failed)?;
            let line = record.position().map_or(0, csv::Position::line);
            let text = record.get(column).unwrap_or_default().trim();
            let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            let (digits, radix) = digits.map_or((text, 10), |digits| (digits, 16));
            let number = BigUint::parse_bytes(digits.as_bytes(), radix).filter(|_| !digits.contains('_'));
            let fault = |problem| FileError::Line { path: name.into(), line, problem };
            let number =
                number.ok_or_else(|| fault(LineProblem::NotANumber { head: text.chars().take(40).collect() }))?;
            if number.bits() > SLOW_MAX_BITS as u64 {
                let problem = LineProblem::TooWide { bits: number.bits() as usize, limit: SLOW_MAX_BITS };
                return Err(fault(problem).into());
            }
            let label =
                label.and_then(|label| record.get(label)).map_or_else(|| format!("{name}:{line}"), str::to_owned);
            self.push(label, number);
        }
        Ok(())
    }

    /// A label that stands there twice gets a number.
    fn make_labels_unique(&mut self) {
        let mut seen: HashSet<Box<str>> = HashSet::with_capacity(self.labels.len());
        for label in &mut self.labels {
            let mut number = 1;
            let own = label.clone();
            while !seen.insert(label.clone()) {
                number += 1;
                *label = format!("{own} ({number})").into();
            }
        }
    }
}

/// Does the file begin like one with keys? One that cannot be read does not.
fn has_keys(file: &OsString) -> bool {
    let mut head = Vec::new();
    file != STDIN
        && compressed::open(file).is_ok_and(|input| input.reader.take(HEAD_BYTES).read_to_end(&mut head).is_ok())
        && keys::is_known(&head)
}
