//! Tuning tables: which algorithm with which settings at which size, as data.
//!
//! A table belongs to an architecture and was measured on a GPU of it. The rows of an operation are
//! read in order; the first one that is wide enough, and meant for so many lanes, decides. Tables ship
//! with the crate; [`Table::read`] reads one that was measured elsewhere.
//!
//! ```text
//! mod.rs      the table: reading, checking, finding the row
//! text.rs     a table as a file, a row a line
//! search.rs   what to measure: sizes, counts, algorithms with their settings
//! measure/    the search: which candidates are measured, and how they are timed
//! decide.rs   from measurements to rows
//! ```

mod decide;
mod measure;
mod search;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::kernels::{GROUP_BITS, Register, Settings};
use crate::operation::Operation;

pub use decide::{Timing, ranking, table};
pub use measure::{Found, Search, Watch, Work};
pub use search::{Candidate, Count, Grid, is_bound, make_valid, operand_bits, operands, rows_name, usual};

/// A table has a row for every width up to these bits. Rows for wider operands are optional.
pub(crate) const WHOLE_BITS: usize = GROUP_BITS as usize;

/// A table for one architecture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Compute capability times ten.
    pub architecture: u32,
    /// The GPU and driver it was measured on.
    pub measured_on: String,
    /// The rows of each operation by its name, or those of its group by the group's: narrow to wide, and few
    /// lanes before many.
    pub rows: BTreeMap<String, Vec<Row>>,
    /// Where it was read from; none for tables that ship with the crate.
    #[serde(skip)]
    pub path: Option<PathBuf>,
    /// What decides about operations that this one has no rows for.
    #[serde(skip)]
    pub rest: Option<Arc<Self>>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// It serves moduli and divisors, or where there are none and for inverses the widest operand (factor, of `mul_add`), of
    /// at most this many bits.
    pub to_bits: usize,
    /// It serves batches of at most this many lanes; none: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_lanes: Option<usize>,
    /// The algorithm's name.
    pub algorithm: String,
    /// Its settings.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
    /// It holds settings for those who ask for the algorithm; it is never the default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_name_only: bool,
    /// It serves divisions alone whose quotient has at least three quarters of the divisor's bits: some algorithms are fast with
    /// few digits of a quotient, others with many. It serves them also where a table without such rows decides about all others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub long_quotients: bool,
    /// Nothing was measured for it: it is what a model, or what is alike, lets expect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub predicted: bool,
}

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is not a table; the message has line and column.
    #[error("{}: {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// A row names what this version does not have.
    #[error("{}: operation '{operation}', row {row}: {reason}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The operation's name.
        operation: String,
        /// The number of the row, from 1.
        row: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl Table {
    /// The row that decides for operands of these bits and lanes: any, or one of the algorithm that was
    /// asked for.
    pub fn row<'t>(
        &'t self,
        operation: Operation,
        bits: usize,
        lanes: usize,
        algorithm: Option<&'t str>,
    ) -> Option<&'t Row> {
        self.candidates(operation, bits, lanes, algorithm).next()
    }

    /// That row and those that would decide without it, best first.
    pub fn candidates<'t>(
        &'t self,
        operation: Operation,
        bits: usize,
        lanes: usize,
        algorithm: Option<&'t str>,
    ) -> impl Iterator<Item = &'t Row> + 't {
        self.of(operation).iter().filter(move |row| {
            let named = algorithm.map_or(!row.by_name_only, |name| row.algorithm == name);
            bits <= row.to_bits && row.to_lanes.is_none_or(|most| lanes <= most) && named
        })
    }

    /// The rows of an operation, or else of its group.
    pub fn of(&self, operation: Operation) -> &[Row] {
        let own = self.rows.get(operation.name());
        own.or_else(|| self.rows.get(operation.group().name())).map_or(&[], Vec::as_slice)
    }

    /// A table by which every shape is done by one candidate: to measure it.
    pub fn of_one(operation: Operation, architecture: u32, candidate: &Candidate) -> Self {
        let row = Row {
            to_bits: operation.max_bits(),
            to_lanes: None,
            algorithm: candidate.algorithm.into(),
            settings: candidate.settings,
            by_name_only: false,
            long_quotients: false,
            predicted: false,
        };
        let rows = BTreeMap::from([(operation.name().to_owned(), vec![row])]);
        Self { architecture, measured_on: "nothing: this row is being measured".into(), rows, path: None, rest: None }
    }

    /// The table that decides about an operation: the first with rows of its own for it, this one or what completes it,
    /// else the first with rows of its group.
    pub fn deciding(&self, operation: Operation) -> &Self {
        self.first(operation, |_| true)
    }

    /// The table that decides about divisions with long quotients: the first one that has rows for them.
    pub fn deciding_long_quotients(&self, operation: Operation) -> &Self {
        self.first(operation, |rows| rows.iter().any(|row| row.long_quotients))
    }

    /// The first table with such rows of its own for an operation, else the first with such rows of its group.
    fn first(&self, operation: Operation, such: impl Fn(&[Row]) -> bool) -> &Self {
        let tables = || std::iter::successors(Some(self), |table| table.rest.as_deref());
        let with = |name: &str| tables().find(|table| table.rows.get(name).is_some_and(|rows| such(rows)));
        with(operation.name()).or_else(|| with(operation.group().name())).unwrap_or(self)
    }

    /// Lets another table decide about operations that this one has no rows for, or only their group's where the
    /// other has their own.
    #[must_use]
    pub fn completed_by(self, rest: Arc<Self>) -> Self {
        Self { rest: Some(rest), ..self }
    }

    /// Reads a table and checks it: its rows name algorithms of the register.
    ///
    /// # Errors
    /// [`TableError`]: file, place and reason.
    pub fn read(path: &Path, register: &Register) -> Result<Self, TableError> {
        let read = |source| TableError::Read { path: path.into(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let mut table: Self =
            serde_json::from_str(&text).map_err(|source| TableError::Syntax { path: path.into(), source })?;
        table.path = Some(path.into());
        table.check(register)?;
        Ok(table)
    }

    /// Does every row name an operation of this version and an algorithm of the register, and has every operation a
    /// row for every width up to 65536 bits?
    ///
    /// # Errors
    /// [`TableError::Row`].
    pub fn check(&self, register: &Register) -> Result<(), TableError> {
        for (name, rows) in &self.rows {
            let error = |row: usize, reason: String| {
                let path = self.path.clone().unwrap_or_else(|| format!("sm_{}.json", self.architecture).into());
                Err(TableError::Row { path, operation: name.clone(), row, reason })
            };
            let mut known = Operation::ALL.iter().copied();
            let Some(operation) = known.find(|it| it.name() == name || it.group().name() == name) else {
                return error(1, "there is no such operation".into());
            };
            for (i, row) in rows.iter().enumerate() {
                let Some(algorithm) = register.find(operation, &row.algorithm) else {
                    let known = register.names(operation).join(", ");
                    return error(i + 1, format!("there is no algorithm '{}'; there are: {known}", row.algorithm));
                };
                if let Err(fault) = algorithm.check(&row.settings) {
                    return error(i + 1, fault.to_string());
                }
            }
            let defaults = rows.iter().filter(|row| !row.by_name_only);
            if !defaults.clone().map(|row| row.to_bits).is_sorted() {
                return error(1, "the rows do not go from narrow to wide".into());
            }
            let mut whole = defaults.filter(|row| row.to_bits >= WHOLE_BITS && !row.long_quotients);
            if !whole.any(|row| row.to_lanes.is_none()) {
                return error(rows.len(), format!("no row serves {WHOLE_BITS} bits and any number of lanes"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    /// Its name in a sentence: `table sm_90`, with the path if it was read from one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table sm_{}", self.architecture)?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, " of {}", path.display()))
    }
}

/// The shipped table for an architecture, or the nearest one's.
pub fn shipped(architecture: u32) -> Arc<Table> {
    let tables = all_shipped();
    let nearest = tables.iter().min_by_key(|table| table.architecture.abs_diff(architecture)).unwrap_or(&tables[0]);
    Arc::clone(nearest)
}

/// The tables that ship with the crate.
fn all_shipped() -> &'static [Arc<Table>] {
    static TABLES: OnceLock<Vec<Arc<Table>>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let texts = [include_str!("../../tuning/sm_90.json")];
        let parse = |text| serde_json::from_str(text).unwrap_or_else(|e| unreachable!("a test reads every table: {e}"));
        texts.map(parse).map(Arc::new).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_tables_are_whole() {
        for table in all_shipped() {
            table.check(&Register::shipped()).unwrap();
            for operation in Operation::ALL {
                assert!(!table.of(*operation).is_empty(), "{operation} has rows");
            }
        }
    }

    fn row(to_bits: usize, to_lanes: Option<usize>, algorithm: &str) -> Row {
        let (algorithm, settings) = (algorithm.into(), Settings::default());
        Row { to_bits, to_lanes, algorithm, settings, by_name_only: false, long_quotients: false, predicted: false }
    }

    fn table(rows: Vec<Row>) -> Table {
        let rows = BTreeMap::from([("mul".to_owned(), rows)]);
        Table { architecture: 90, measured_on: "a test".into(), rows, path: None, rest: None }
    }

    #[test]
    fn the_first_row_for_width_and_lanes_decides() {
        let table =
            table(vec![row(64, None, "thread"), row(4096, Some(1000), "sum-rotate"), row(65536, None, "group")]);
        let chosen = |bits, lanes| table.row(Operation::Mul, bits, lanes, None).map(|row| row.algorithm.as_str());
        assert_eq!(chosen(64, 1), Some("thread"));
        assert_eq!(chosen(65, 1000), Some("sum-rotate"));
        assert_eq!(chosen(65, 1001), Some("group"));
        assert_eq!(chosen(65537, 1), None);
        assert_eq!(table.row(Operation::Mul, 4096, 5000, Some("sum-rotate")), None);
        assert_eq!(table.row(Operation::Sqr, 64, 1, None), None);
    }

    /// Rows for divisions that a user measured do not replace those that ship for common divisors.
    #[test]
    fn own_rows_come_before_those_of_a_group() {
        let of = |name: &str, on: &str| Table {
            measured_on: on.into(),
            rows: BTreeMap::from([(name.to_owned(), vec![row(65536, None, "group")])]),
            ..table(vec![])
        };
        let deciding = |table: &Table, operation| table.deciding(operation).measured_on.clone();
        let mut shipped = of("gcd", "shipped");
        shipped.rows.extend(of("division", "").rows);
        let mine = of("division", "mine").completed_by(Arc::new(shipped));
        assert_eq!([Operation::Gcd, Operation::Sqrt].map(|it| deciding(&mine, it)), ["shipped", "mine"]);
        let own = of("gcd", "mine").completed_by(Arc::new(of("division", "shipped")));
        assert_eq!([Operation::Gcd, Operation::Sqrt].map(|it| deciding(&own, it)), ["mine", "shipped"]);
        assert_eq!(deciding(&own, Operation::Add), "mine");
    }

    #[test]
    fn what_is_wrong_with_a_table_is_told() {
        let reason = |rows| table(rows).check(&Register::shipped()).unwrap_err().to_string();
        assert!(reason(vec![row(65536, None, "abacus")]).contains("row 1: there is no algorithm 'abacus'"));
        assert!(reason(vec![row(65536, None, "group"), row(64, None, "thread")]).contains("narrow to wide"));
        assert!(reason(vec![row(65536, Some(10), "group")]).contains("no row serves 65536 bits"));
        let unthinkable =
            Row { settings: Settings { warps: Some(0), ..Settings::default() }, ..row(65536, None, "group") };
        assert!(reason(vec![unthinkable]).contains("row 1: warps is 0; it may be 1 to 32"));
        let foreign =
            Row { settings: Settings { levels: Some(2), ..Settings::default() }, ..row(65536, None, "group") };
        let fault = reason(vec![foreign]);
        assert!(fault.contains("row 1: 'group' has no setting 'levels'; it has warps, glue, input, block"), "{fault}");
        assert!(table(vec![row(65536, None, "group")]).check(&Register::shipped()).is_ok());
    }

    #[test]
    fn a_table_survives_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sm_90.json");
        let text = shipped(90).to_text();
        std::fs::write(&path, &text).unwrap();
        let read = Table::read(&path, &Register::shipped()).unwrap();
        assert_eq!(read.rows, shipped(90).rows);
        std::fs::write(&path, text.replace("to_bits", "tobits")).unwrap();
        let error = Table::read(&path, &Register::shipped()).unwrap_err().to_string();
        assert!(error.contains("sm_90.json") && error.contains("tobits") && error.contains("line"), "{error}");
    }
}
