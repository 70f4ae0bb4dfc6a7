//! What a reproduction gives: lines that hold the paper's figure and ours.

use serde::Serialize;

use super::{
    epfl::Picture,
    tables::{Engine, Entry},
};

/// A table, reproduced.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    /// `document:name`.
    pub(crate) table: String,
    pub(crate) title: &'static str,
    /// What the lines' `bits` are, where they are not of operands.
    pub(crate) column: Option<&'static str>,
    /// The document, and the place in it.
    pub(crate) source: String,
    /// What the paper measured on.
    pub(crate) machine: Option<&'static str>,
    /// What we measured on; none where nothing is timed.
    pub(crate) device: Option<String>,
    /// What computed in the rows of a CPU; none if there are none.
    pub(crate) cpu: Option<String>,
    /// Copying within the GPU's memory, measured in the same run.
    pub(crate) copy_bytes_per_second: Option<f64>,
    pub(crate) lines: Vec<Line>,
    /// Of forms over grids and blocks: what their chart shows.
    #[serde(skip)]
    pub(crate) picture: Option<Picture>,
    /// On the paper's table, then on this run.
    pub(crate) notes: Vec<String>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    /// Seconds for all products.
    Time,
    /// A factor.
    SpeedUp,
    /// Products of two words, for one product.
    Multiplications,
    WordsRead,
    WordsWritten,
    /// What a table holds, or how large it is.
    Value,
    /// Numbers a second.
    Rate,
    /// 32-bit registers a thread.
    Registers,
    /// Of one execution of an operation, moves not counted.
    Instructions,
}

/// A figure of a paper beside ours. Times are in seconds, for all products: the paper's and `ours` are means of
/// the runs. Where something is not known, not computed or makes no sense, it is none.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) table: String,
    pub(crate) method: String,
    /// What the paper's figure was measured on; none for counts.
    pub(crate) engine: Option<Engine>,
    pub(crate) quantity: Quantity,
    /// Bits of both operands; what the outcome's `column` says.
    pub(crate) bits: usize,
    /// Products of the paper's figure.
    pub(crate) paper_products: usize,
    /// Products of ours.
    pub(crate) products: usize,
    pub(crate) paper: Option<f64>,
    pub(crate) paper_formula: Option<String>,
    /// Ours for the paper's method; on a CPU one core.
    pub(crate) algorithm: Option<String>,
    pub(crate) ours: Option<f64>,
    pub(crate) median: Option<f64>,
    pub(crate) minimum: Option<f64>,
    pub(crate) runs: Option<usize>,
    /// How many times as fast as the paper's, for as many products; of counts, ours for one of the paper's.
    pub(crate) ratio: Option<f64>,
    /// The least time that memory traffic allows, as a fraction of ours.
    pub(crate) floor_fraction: Option<f64>,
    /// Those of Toom-k's multiplications that multiply values at points.
    pub(crate) at_points: Option<u64>,
    /// What is chosen without a name; on a CPU all cores.
    pub(crate) default_algorithm: Option<String>,
    pub(crate) default: Option<f64>,
    pub(crate) default_median: Option<f64>,
    pub(crate) default_minimum: Option<f64>,
    pub(crate) default_runs: Option<usize>,
    pub(crate) default_ratio: Option<f64>,
    pub(crate) default_floor_fraction: Option<f64>,
    /// Products that were checked before anything was timed, of each measurement.
    pub(crate) checked: Option<u64>,
    /// Of forms of an operation: how often each number goes through it.
    pub(crate) executions: Option<u32>,
    /// Of a launch: blocks of its grid.
    pub(crate) blocks: Option<u32>,
    /// Threads of a block.
    pub(crate) threads: Option<u32>,
    /// The method that this one is compared with, and how many times as fast as that it is, by medians.
    pub(crate) against: Option<String>,
    pub(crate) relative: Option<f64>,
    /// Of a kernel: bytes of memory a thread for registers that were spilled.
    pub(crate) local_bytes: Option<u32>,
    /// Of the instructions those that multiply to 64 bits.
    pub(crate) wide_products: Option<u64>,
}

impl Outcome {
    /// Nothing compared yet.
    pub(crate) fn new(entry: &Entry) -> Self {
        Self {
            table: entry.name(),
            title: &entry.table.title,
            column: None,
            source: format!("{}: {}", entry.document.reference, entry.table.place),
            machine: entry.table.machine.as_deref(),
            device: None,
            cpu: None,
            copy_bytes_per_second: None,
            lines: Vec::new(),
            picture: None,
            notes: entry.table.notes.clone(),
        }
    }
}

impl Line {
    /// A figure of which only the place in the table is known.
    pub(crate) fn new(table: &str, method: &str, quantity: Quantity, bits: usize) -> Self {
        Self {
            table: table.into(),
            method: method.into(),
            engine: None,
            quantity,
            bits,
            paper_products: 1,
            products: 1,
            paper: None,
            paper_formula: None,
            algorithm: None,
            ours: None,
            median: None,
            minimum: None,
            runs: None,
            ratio: None,
            floor_fraction: None,
            at_points: None,
            default_algorithm: None,
            default: None,
            default_median: None,
            default_minimum: None,
            default_runs: None,
            default_ratio: None,
            default_floor_fraction: None,
            checked: None,
            executions: None,
            blocks: None,
            threads: None,
            against: None,
            relative: None,
            local_bytes: None,
            wide_products: None,
        }
    }
}
