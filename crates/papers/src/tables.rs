//! The papers' tables, from the files in `data/`, and their names.

use std::{fmt, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::{forms::Study, rates::Sweep};

const FILES: [&str; 3] =
    [include_str!("../data/candar.json"), include_str!("../data/dissertation.json"), include_str!("../data/epfl.json")];

/// The files, read. That they can be read is tested, so nobody meets the empty list.
static DOCUMENTS: LazyLock<Vec<Document>> =
    LazyLock::new(|| FILES.iter().filter_map(|file| serde_json::from_str(file).ok()).collect());

/// A publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its name on the command line.
    pub(crate) name: String,
    pub(crate) reference: String,
    /// Are its tables called by their full names only? Those of a document that came later, for whose short names others
    /// are known.
    #[serde(default)]
    pub(crate) full_names: bool,
    pub(crate) tables: Vec<Table>,
}

/// A table, or a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name in the document.
    pub(crate) name: String,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub(crate) place: String,
    /// What was measured on, and how.
    pub(crate) machine: Option<String>,
    /// Its figures.
    pub content: Content,
    /// Misprints, doubts, and what to mind in a comparison.
    pub(crate) notes: Vec<String>,
}

/// The figures of a table, by kind.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Times of multiplications.
    Times(Times),
    /// Counts of operations.
    Counts(Counts),
    /// Figures of the Collatz schemes.
    Collatz(Sweep),
    /// Forms of an operation.
    Study(Study),
}

/// Times of multiplications: a row for each method, a column for each width.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    pub(crate) products: usize,
    /// Bits of both operands, ascending.
    pub(crate) bits: Vec<usize>,
    pub(crate) rows: Vec<TimeRow>,
    pub(crate) speed_up: Option<SpeedUp>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeRow {
    pub(crate) method: String,
    pub(crate) engine: Engine,
    /// Ours for the same method.
    #[serde(default)]
    algorithm: Algorithm,
    /// The paper's figures; empty: none.
    #[serde(default)]
    milliseconds: Vec<Option<f64>>,
}

/// What a row was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// A processor.
    Cpu,
    /// A GPU.
    Gpu,
}

/// The name of an algorithm, the same for all widths or one for each.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Algorithm {
    #[default]
    None,
    All(String),
    Each(Vec<Option<String>>),
}

/// How many times as fast as one row another is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpeedUp {
    pub(crate) over: String,
    pub(crate) of: String,
    pub(crate) factors: Vec<f64>,
}

/// Operations of a multiplication of `w` by `w` words, as polynomials in `w`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub(crate) rows: Vec<CountRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountRow {
    pub(crate) method: String,
    pub(crate) algorithm: String,
    /// The lengths to count at: for Toom-k multiples of 32·k, where its parts are whole.
    pub(crate) words: Vec<usize>,
    pub(crate) multiplications: Polynomial,
    pub(crate) reads: Polynomial,
    pub(crate) writes: Polynomial,
}

/// `x·w² + y·w + z`.
#[derive(Debug, Deserialize)]
pub(crate) struct Polynomial([Fraction; 3]);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Fraction {
    numerator: i64,
    denominator: i64,
}

impl TimeRow {
    /// Ours at the width of this column.
    pub(crate) fn algorithm(&self, column: usize) -> Option<&str> {
        match &self.algorithm {
            Algorithm::None => None,
            Algorithm::All(name) => Some(name),
            Algorithm::Each(names) => names.get(column)?.as_deref(),
        }
    }

    /// The paper's time in this column.
    pub(crate) fn seconds(&self, column: usize) -> Option<f64> {
        self.milliseconds.get(column).copied().flatten().map(|milliseconds| milliseconds / 1e3)
    }
}

impl Polynomial {
    /// The value for this many words.
    pub(crate) fn at(&self, words: usize) -> f64 {
        let w = words as f64;
        self.0.iter().fold(0.0, |value, it| value * w + it.numerator as f64 / it.denominator as f64)
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (Fraction { numerator, denominator }, power) in self.0.iter().zip(["w²", "w", ""]) {
            if *numerator == 0 {
                continue;
            }
            let sign = if *numerator < 0 { "−" } else { "+" };
            match (first, *numerator < 0) {
                (true, true) => f.write_str(sign)?,
                (true, false) => {}
                (false, _) => write!(f, " {sign} ")?,
            }
            first = false;
            let magnitude = numerator.abs();
            match (magnitude, *denominator, power) {
                (_, 1, "") => write!(f, "{magnitude}")?,
                (1, 1, _) => f.write_str(power)?,
                (_, 1, _) => write!(f, "{magnitude}{power}")?,
                _ => write!(f, "{magnitude}/{denominator}·{power}")?,
            }
        }
        if first { f.write_str("0") } else { Ok(()) }
    }
}

impl TryFrom<String> for Fraction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((&text, "1"));
        match (numerator.parse(), denominator.parse()) {
            (Ok(numerator), Ok(denominator @ 1..)) => Ok(Self { numerator, denominator }),
            _ => Err(format!("\"{text}\" is not a fraction")),
        }
    }
}

/// A table with its document.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The publication.
    pub document: &'static Document,
    /// The table.
    pub table: &'static Table,
}

impl Entry {
    /// The name that is unique: `candar:II`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.document.name, self.table.name)
    }

    /// Does it need an engine that has times?
    pub fn has_times(&self) -> bool {
        match &self.table.content {
            Content::Times(_) => true,
            // Without a GPU a study has its counts.
            Content::Counts(_) | Content::Study(_) => false,
            Content::Collatz(sweep) => sweep.default.is_some(),
        }
    }
}

/// Every table.
pub fn all() -> Vec<Entry> {
    entries(&DOCUMENTS)
}

/// The tables of these names; a document's name is all of its tables, `all` is every table. None twice.
///
/// # Errors
/// [`Error::UnknownTable`], [`Error::AmbiguousTable`].
pub fn find(names: &[String]) -> Result<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::new();
    for name in names {
        let mut more = all();
        if !name.eq_ignore_ascii_case("all") {
            more.retain(|entry| name.eq_ignore_ascii_case(&entry.document.name));
        }
        if more.is_empty() {
            more.push(lookup(&all(), name)?);
        }
        for entry in more {
            if !found.iter().any(|other| other.name() == entry.name()) {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

fn entries(documents: &'static [Document]) -> Vec<Entry> {
    documents.iter().flat_map(|document| document.tables.iter().map(move |table| Entry { document, table })).collect()
}

/// The table called `document:name`, or `name` where only one document with short names has it. Case does not matter.
fn lookup(entries: &[Entry], name: &str) -> Result<Entry> {
    let wanted = name.to_lowercase();
    let short = |entry: &Entry| entry.table.name.to_lowercase();
    let matches: Vec<Entry> = entries
        .iter()
        .filter(|entry| entry.name().to_lowercase() == wanted || (!entry.document.full_names && short(entry) == wanted))
        .copied()
        .collect();
    let names = |entries: &[Entry]| entries.iter().map(Entry::name).collect::<Vec<_>>().join(", ");
    match matches[..] {
        [entry] => Ok(entry),
        [] => Err(Error::UnknownTable { name: name.into(), known: names(entries) }),
        _ => Err(Error::AmbiguousTable { name: name.into(), meant: names(&matches) }),
    }
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
