//! A line as a flat record, for JSON and CSV: every line has every column.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::Value;

use crate::{
    line::{Comparison, Count, Figure, Line, Measurement},
    tables::Engine,
};

/// The columns of a record, in their order.
const COLUMNS: [&str; 32] = [
    "table",
    "method",
    "engine",
    "quantity",
    "bits",
    "paper_products",
    "products",
    "paper",
    "paper_formula",
    "algorithm",
    "ours",
    "median",
    "minimum",
    "runs",
    "ratio",
    "floor_fraction",
    "at_points",
    "default_algorithm",
    "default",
    "default_median",
    "default_minimum",
    "default_runs",
    "default_ratio",
    "default_floor_fraction",
    "checked",
    "executions",
    "blocks",
    "threads",
    "against",
    "relative",
    "local_bytes",
    "wide_products",
];

/// The values of a line, one a column; null where its kind has none.
struct Record([Value; COLUMNS.len()]);

impl Record {
    fn set(&mut self, column: &str, value: impl Serialize) {
        let place = COLUMNS.iter().position(|it| *it == column);
        debug_assert!(place.is_some(), "no column {column}");
        if let Some(place) = place {
            self.0[place] = serde_json::to_value(value).unwrap_or_default();
        }
    }

    fn products(&mut self, paper: usize, ours: usize) {
        self.set("paper_products", paper);
        self.set("products", ours);
    }

    fn comparison(&mut self, it: &Comparison) {
        self.set("engine", it.engine);
        self.products(it.paper_products, it.products);
        self.set("algorithm", &it.algorithm);
        self.set("default_algorithm", &it.default_algorithm);
        if let Some(ours) = &it.ours {
            self.measurement("", ours);
            self.set("checked", ours.checked);
        }
        if let Some(default) = &it.default {
            self.measurement("default_", default);
        }
    }

    /// All but the mean, which is the line's figure, and the checks.
    fn measurement(&mut self, prefix: &str, it: &Measurement) {
        self.set(&format!("{prefix}median"), it.median);
        self.set(&format!("{prefix}minimum"), it.minimum);
        self.set(&format!("{prefix}runs"), it.runs);
        self.set(&format!("{prefix}ratio"), it.ratio);
        self.set(&format!("{prefix}floor_fraction"), it.floor_fraction);
    }

    fn count(&mut self, it: &Count) {
        self.set("paper_formula", &it.formula);
        self.set("algorithm", &it.algorithm);
        self.set("ratio", it.ours / it.paper);
        self.set("at_points", it.at_points);
    }

    fn execution(&mut self, executions: u32) {
        self.set("engine", Engine::Gpu);
        self.set("executions", executions);
    }
}

impl From<&Line> for Record {
    fn from(line: &Line) -> Self {
        let mut record = Self(std::array::from_fn(|_| Value::Null));
        record.set("table", &line.table);
        record.set("method", &line.method);
        record.set("quantity", quantity(&line.figure));
        record.set("bits", line.bits);
        record.products(1, 1);
        record.set("paper", line.figure.paper());
        record.set("ours", line.figure.ours());
        record.set("default", line.figure.default());
        match &line.figure {
            Figure::Time(it) | Figure::Rate(it) => record.comparison(it),
            Figure::SpeedUp(it) => {
                record.products(it.paper_products, it.products);
                record.set("ratio", it.ratio);
            }
            Figure::Multiplications(it) | Figure::WordsRead(it) | Figure::WordsWritten(it) => record.count(it),
            Figure::Value(it) => {
                let both = it.paper.filter(|paper| *paper != 0.0).zip(it.ours);
                record.set("ratio", both.map(|(paper, ours)| ours / paper));
            }
            Figure::Registers(it) => {
                record.execution(it.executions);
                record.set("local_bytes", it.local_bytes);
            }
            Figure::Instructions(it) => {
                record.execution(it.executions);
                record.set("wide_products", it.wide_products);
                record.set("checked", it.checked);
            }
            Figure::Launch(it) => {
                let numbers = (it.blocks * it.threads) as usize;
                record.execution(it.executions);
                record.products(numbers, numbers);
                record.set("algorithm", &it.algorithm);
                record.measurement("", &it.times);
                record.set("checked", it.times.checked);
                record.set("blocks", it.blocks);
                record.set("threads", it.threads);
                record.set("against", &it.against);
                record.set("relative", it.relative);
            }
        }
        record
    }
}

const fn quantity(figure: &Figure) -> &'static str {
    match figure {
        Figure::Time(_) | Figure::Launch(_) => "time",
        Figure::Rate(_) => "rate",
        Figure::SpeedUp(_) => "speed-up",
        Figure::Multiplications(_) => "multiplications",
        Figure::WordsRead(_) => "words-read",
        Figure::WordsWritten(_) => "words-written",
        Figure::Value(_) => "value",
        Figure::Registers(_) => "registers",
        Figure::Instructions(_) => "instructions",
    }
}

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("Line", COLUMNS.len())?;
        for (column, value) in COLUMNS.into_iter().zip(&Record::from(self).0) {
            record.serialize_field(column, value)?;
        }
        record.end()
    }
}
