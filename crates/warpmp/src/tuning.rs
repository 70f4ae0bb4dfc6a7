//! Tuning tables: which algorithm with which settings at which size, as data.
//!
//! A table belongs to an architecture and was measured on a GPU of it. The rows of an operation are
//! read in order; the first one that is wide enough decides. Tables ship with the crate.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::kernels::Settings;

/// A table for one architecture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Compute capability times ten.
    pub architecture: u32,
    /// The GPU and driver it was measured on.
    pub measured_on: String,
    /// Rows for multiplication, narrow to wide.
    pub mul: Vec<Row>,
}

/// A row of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// It serves operands whose wider one has at most this many bits.
    pub to_bits: usize,
    /// The algorithm's name.
    pub algorithm: String,
    /// Its settings.
    #[serde(default)]
    pub settings: Settings,
    /// It holds settings for those who ask for the algorithm; it is never the default.
    #[serde(default)]
    pub by_name_only: bool,
}

impl Table {
    /// The row that decides for operands of these bits: any, or one of the algorithm that was asked for.
    pub fn mul_row(&self, bits: usize, algorithm: Option<&str>) -> Option<&Row> {
        self.mul.iter().find(|row| {
            let named = algorithm.map_or(!row.by_name_only, |name| row.algorithm == name);
            bits <= row.to_bits && named
        })
    }
}

/// The table for an architecture, or the nearest one's.
pub fn table(architecture: u32) -> &'static Table {
    let tables = shipped();
    tables.iter().min_by_key(|table| table.architecture.abs_diff(architecture)).unwrap_or(&tables[0])
}

/// The tables that ship with the crate.
fn shipped() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let texts = [include_str!("../tuning/sm_90.json")];
        let parse = |text| serde_json::from_str(text).unwrap_or_else(|e| unreachable!("a test reads every table: {e}"));
        texts.map(parse).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::MUL;

    #[test]
    fn shipped_tables_are_whole() {
        for table in shipped() {
            assert!(table.mul.iter().all(|row| MUL.iter().any(|it| it.name == row.algorithm)), "{table:?}");
            let defaults: Vec<usize> = table.mul.iter().filter(|r| !r.by_name_only).map(|r| r.to_bits).collect();
            assert!(defaults.is_sorted(), "rows go from narrow to wide: {defaults:?}");
            assert_eq!(defaults.last(), Some(&crate::session::MUL_MAX_BITS), "every size has a row");
        }
    }
}
