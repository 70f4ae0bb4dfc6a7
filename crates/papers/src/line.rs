//! A reproduced table: lines that hold the paper's figure and ours.

use serde::Serialize;

use crate::{
    forms::Picture,
    tables::{Engine, Entry},
};

/// A table, reproduced.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// `document:name`.
    pub table: String,
    /// The table's title.
    pub title: &'static str,
    /// The meaning of the lines' `bits`, where they are not bits of operands.
    pub column: Option<&'static str>,
    /// The document, and the place in it.
    pub source: String,
    /// The paper's machine.
    pub machine: Option<&'static str>,
    /// Our machine; none where nothing is timed.
    pub device: Option<String>,
    /// The library of the rows of a CPU; none if there are no such rows.
    pub cpu: Option<String>,
    /// Copying within the GPU's memory, measured in the same run.
    pub copy_bytes_per_second: Option<f64>,
    /// The figures.
    pub lines: Vec<Line>,
    /// For forms over grids and blocks: the contents of their chart.
    #[serde(skip)]
    pub picture: Option<Picture>,
    /// On the paper's table, then on this run.
    pub notes: Vec<String>,
}

/// A figure of a paper beside ours. A value is none where it is not known, not computed, or has no meaning. In JSON and CSV each
/// line has the columns of all kinds.
#[derive(Clone, Debug)]
pub struct Line {
    /// `document:name`.
    pub table: String,
    /// The row of the table.
    pub method: String,
    /// The column of the table: bits of both operands, or the meaning that [`Outcome::column`] tells.
    pub bits: usize,
    /// The figures in this place.
    pub figure: Figure,
}

/// The figures in a place of a table, by kind.
#[derive(Clone, Debug)]
pub enum Figure {
    /// Seconds for all products.
    Time(Comparison),
    /// Numbers a second.
    Rate(Comparison),
    /// The quotient of two times.
    SpeedUp(SpeedUp),
    /// Products of two words, for one product.
    Multiplications(Count),
    /// Words read, for one product.
    WordsRead(Count),
    /// Words written, for one product.
    WordsWritten(Count),
    /// An entry of a table, or its size.
    Value(Value),
    /// 32-bit registers a thread.
    Registers(Registers),
    /// Instructions of one execution of an operation, moves not counted.
    Instructions(Instructions),
    /// Seconds for all numbers of a launch.
    Launch(Launch),
}

/// A measurement of the paper beside two of ours: by the paper's method, and by default.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The paper's engine.
    pub engine: Engine,
    /// Products of the paper's figure, or numbers.
    pub paper_products: usize,
    /// Products of ours, or numbers.
    pub products: usize,
    /// The paper's figure: the mean of its runs.
    pub paper: Option<f64>,
    /// Our algorithm for the paper's method; on a CPU one core.
    pub algorithm: Option<String>,
    /// Its measurement.
    pub ours: Option<Measurement>,
    /// Our algorithm that is chosen without a name; on a CPU all cores.
    pub default_algorithm: Option<String>,
    /// Its measurement.
    pub default: Option<Measurement>,
}

/// Seconds, or numbers a second, of several runs.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The mean of the runs.
    pub mean: f64,
    /// The middle run.
    pub median: f64,
    /// The shortest run; none of rates.
    pub minimum: Option<f64>,
    /// The number of runs.
    pub runs: usize,
    /// Results that were checked before anything was timed.
    pub checked: Option<u64>,
    /// How many times as fast as the paper's, for the same number of products.
    pub ratio: Option<f64>,
    /// The least time that memory traffic allows, as a fraction of the mean.
    pub floor_fraction: Option<f64>,
}

/// The quotient of two times.
#[derive(Clone, Debug)]
pub struct SpeedUp {
    /// Products of the paper's figure.
    pub paper_products: usize,
    /// Products of ours.
    pub products: usize,
    /// The paper's factor.
    pub paper: f64,
    /// Ours, for the paper's methods.
    pub ours: Option<f64>,
    /// Ours over the paper's.
    pub ratio: Option<f64>,
    /// The factor of the algorithm that is chosen without a name.
    pub default: Option<f64>,
}

/// Operations of one product.
#[derive(Clone, Debug)]
pub struct Count {
    /// The paper's count.
    pub paper: f64,
    /// The paper's formula.
    pub formula: String,
    /// Our algorithm.
    pub algorithm: String,
    /// Our count.
    pub ours: f64,
    /// Of Toom-k's multiplications those of values at points.
    pub at_points: Option<u64>,
}

/// An entry of a table, or its size.
#[derive(Clone, Debug)]
pub struct Value {
    /// The paper's value.
    pub paper: Option<f64>,
    /// Ours.
    pub ours: Option<f64>,
}

/// Registers of a form of an operation.
#[derive(Clone, Debug)]
pub struct Registers {
    /// Operations that each number goes through.
    pub executions: u32,
    /// The paper's registers a thread.
    pub paper: Option<f64>,
    /// Ours.
    pub ours: Option<u32>,
    /// Bytes of memory a thread for registers that were spilled.
    pub local_bytes: Option<u32>,
}

/// Instructions of a form of an operation.
#[derive(Clone, Debug)]
pub struct Instructions {
    /// Operations that each number goes through.
    pub executions: u32,
    /// Instructions of one execution.
    pub ours: u64,
    /// Of the instructions those that multiply to 64 bits.
    pub wide_products: u64,
    /// Results that were checked.
    pub checked: u64,
}

/// A launch of a form of an operation.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Operations that each number goes through.
    pub executions: u32,
    /// The kernel's name.
    pub algorithm: String,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Seconds of the launch.
    pub times: Measurement,
    /// The form that this one is compared with.
    pub against: Option<String>,
    /// How many times as fast as that form it is, by medians.
    pub relative: Option<f64>,
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

    /// Adds a line.
    pub(crate) fn push(&mut self, method: &str, bits: usize, figure: Figure) {
        self.lines.push(Line { table: self.table.clone(), method: method.into(), bits, figure });
    }
}

impl Figure {
    /// The paper's figure.
    pub const fn paper(&self) -> Option<f64> {
        match self {
            Self::Time(it) | Self::Rate(it) => it.paper,
            Self::SpeedUp(it) => Some(it.paper),
            Self::Multiplications(it) | Self::WordsRead(it) | Self::WordsWritten(it) => Some(it.paper),
            Self::Value(it) => it.paper,
            Self::Registers(it) => it.paper,
            Self::Instructions(_) | Self::Launch(_) => None,
        }
    }

    /// Our figure for the paper's method.
    pub fn ours(&self) -> Option<f64> {
        match self {
            Self::Time(it) | Self::Rate(it) => it.ours.as_ref().map(|ours| ours.mean),
            Self::SpeedUp(it) => it.ours,
            Self::Multiplications(it) | Self::WordsRead(it) | Self::WordsWritten(it) => Some(it.ours),
            Self::Value(it) => it.ours,
            Self::Registers(it) => it.ours.map(f64::from),
            Self::Instructions(it) => Some(it.ours as f64),
            Self::Launch(it) => Some(it.times.mean),
        }
    }

    /// Our figure by default.
    pub fn default(&self) -> Option<f64> {
        match self {
            Self::Time(it) | Self::Rate(it) => it.default.as_ref().map(|default| default.mean),
            Self::SpeedUp(it) => it.default,
            Self::Multiplications(_)
            | Self::WordsRead(_)
            | Self::WordsWritten(_)
            | Self::Value(_)
            | Self::Registers(_)
            | Self::Instructions(_)
            | Self::Launch(_) => None,
        }
    }

    /// The time, if it is one.
    pub const fn time(&self) -> Option<&Comparison> {
        if let Self::Time(it) = self { Some(it) } else { None }
    }

    /// The rate, if it is one.
    pub const fn rate(&self) -> Option<&Comparison> {
        if let Self::Rate(it) = self { Some(it) } else { None }
    }

    /// The launch, if it is one.
    pub const fn launch(&self) -> Option<&Launch> {
        if let Self::Launch(it) = self { Some(it) } else { None }
    }
}
