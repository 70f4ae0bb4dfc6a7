//! `warpmp bench mul`: how fast, and how near the hardware's limits; on products found right first.

use serde::Serialize;
use warpmp::{EngineKind, Error as LibraryError, Session, Shape};

use super::pattern;
use crate::{
    args::{BenchMul, Pattern},
    console, engine,
    error::{Error, Result},
    interrupt,
    io::output::Output,
    measure::{self, Limits, Measured},
    progress::Progress,
    summary::{scaled, scaled_seconds, significant},
};

/// A row of the table. Times and rates are those of the median run.
#[derive(Debug, Serialize)]
struct Row {
    op: &'static str,
    bits_a: usize,
    bits_b: usize,
    lanes: usize,
    device: String,
    algorithm: String,
    runs: usize,
    kernel_seconds: f64,
    minimum_seconds: f64,
    /// From the shortest run to the longest, as a fraction of the median.
    spread: f64,
    /// All timed runs together.
    total_seconds: f64,
    ops_per_second: f64,
    gb_per_second: f64,
    /// Of the bandwidth that a copy within the device's memory has; none on the CPU.
    copy_fraction: Option<f64>,
    /// Of the rate of 32 × 32-bit products that the device can do; none on the CPU, and on GPUs whose
    /// rate is not known.
    wide_product_fraction: Option<f64>,
    checked: u64,
}

/// All rows, for `--json`.
#[derive(Debug, Serialize)]
struct Table<'a> {
    op: &'static str,
    device: &'a str,
    rows: &'a [Row],
}

/// Runs the command.
pub(crate) fn run(args: &BenchMul) -> Result<()> {
    let csv = args.csv.as_deref().map(|name| Output::open(Some(name), &[])).transpose()?;
    let session = engine::open(args.device.0, args.quiet || args.json)?;
    let limits = measure::limits(&session)?;
    let cases = cases(args, session.engine().kind);
    let progress = Progress::new(Some(cases.len() as u64), "rows", args.quiet);
    let mut rows = Vec::new();
    for (done, (shape, algorithm)) in cases.iter().enumerate() {
        interrupt::check()?;
        match row(&session, *shape, algorithm.as_deref(), args.runs, limits) {
            Ok(row) => rows.push(row),
            // Of several algorithms and widths, some may not go together.
            Err(Error::Library(error @ LibraryError::AlgorithmUnfit { .. })) if cases.len() > 1 => {
                console::note(&format!("note: left out: {error}"));
            }
            Err(error) => return Err(error),
        }
        progress.update(done as u64 + 1, done as u64 + 1);
    }
    drop(progress);
    if let Some(output) = csv {
        write_csv(&rows, output)?;
    }
    let device = session.engine().name.as_str();
    if args.json {
        let table = Table { op: "mul", device, rows: &rows };
        return console::print(&(serde_json::to_string(&table).unwrap_or_default() + "\n"));
    }
    console::print(&text(&rows, device, args.runs))
}

/// Every width with every count and every algorithm.
fn cases(args: &BenchMul, kind: EngineKind) -> Vec<(Shape, Option<String>)> {
    let algorithms: Vec<Option<String>> =
        if args.algorithm.is_empty() { vec![None] } else { args.algorithm.iter().cloned().map(Some).collect() };
    let mut cases = Vec::new();
    for bits in &args.bits {
        let counts = if args.count.is_empty() { vec![default_lanes(*bits, kind)] } else { args.count.clone() };
        for lanes in counts {
            cases.extend(algorithms.iter().map(|algorithm| (Shape::new(lanes, *bits), algorithm.clone())));
        }
    }
    cases
}

/// Enough lanes to fill the engine: more than any cache holds, or what a simulator does in a moment.
fn default_lanes(bits: usize, kind: EngineKind) -> usize {
    let lane_bytes = 4 * bits.div_ceil(32);
    match kind {
        EngineKind::Cuda => (1 << 30) / lane_bytes,
        EngineKind::Cpu => (64 << 20) / lane_bytes,
        EngineKind::Sim => (32 << 10) / lane_bytes.min(1 << 10),
    }
}

fn row(session: &Session, shape: Shape, algorithm: Option<&str>, runs: usize, limits: Option<Limits>) -> Result<Row> {
    let a = pattern::operands(Pattern::Random, shape, 0, 1)?;
    let b = pattern::operands(Pattern::Random, shape, 0, 2)?;
    let measured = measure::mul(session, &a, &b, algorithm, runs)?;
    Ok(Row::new(session, shape, measured, limits))
}

impl Row {
    fn new(session: &Session, shape: Shape, measured: Measured, limits: Option<Limits>) -> Self {
        let seconds = measured.median().max(1e-9);
        let rate = |amount: f64| amount / seconds;
        let wide_products = (shape.limbs() * shape.limbs()) as f64 * shape.lanes as f64;
        Self {
            op: "mul",
            bits_a: shape.bits,
            bits_b: shape.bits,
            lanes: shape.lanes,
            device: session.engine().name.clone(),
            runs: measured.times.len(),
            kernel_seconds: measured.median(),
            minimum_seconds: measured.minimum(),
            spread: measured.spread(),
            total_seconds: measured.times.iter().sum::<std::time::Duration>().as_secs_f64(),
            ops_per_second: rate(shape.lanes as f64),
            gb_per_second: rate(measured.bytes as f64 / 1e9),
            copy_fraction: limits.map(|limits| rate(measured.bytes as f64) / limits.copy_bytes_per_second),
            wide_product_fraction: limits
                .and_then(|limits| limits.wide_products_per_second)
                .map(|most| rate(wide_products) / most),
            checked: measured.checked,
            algorithm: measured.algorithm,
        }
    }

    fn cells(&self) -> Vec<String> {
        let fraction = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        vec![
            self.algorithm.clone(),
            self.bits_a.to_string(),
            self.lanes.to_string(),
            scaled_seconds(self.kernel_seconds),
            scaled_seconds(self.minimum_seconds),
            format!("{:.1} %", 100.0 * self.spread),
            scaled(self.ops_per_second),
            significant(self.gb_per_second),
            fraction(self.copy_fraction),
            fraction(self.wide_product_fraction),
        ]
    }
}

fn text(rows: &[Row], device: &str, runs: usize) -> String {
    let heading =
        ["algorithm", "bits", "lanes", "median", "minimum", "spread", "products/s", "GB/s", "of copy", "of IMAD.WIDE"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(Row::cells));
    let mut text = format!("mul on {device}, {runs} runs a row\n{}", console::table(&cells));
    if rows.iter().any(|row| row.copy_fraction.is_none()) {
        text.push_str(
            "–: the copy bandwidth and the IMAD.WIDE ceiling are those of a GPU; there is none in this row\n",
        );
    } else if rows.iter().any(|row| row.wide_product_fraction.is_none()) {
        text.push_str("–: the IMAD.WIDE ceiling is known for sm_80 and sm_90 only\n");
    }
    text
}

fn write_csv(rows: &[Row], mut output: Output) -> Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| output.error(error.into()))?;
    }
    let bytes = writer.into_inner().map_err(|error| output.error(error.into_error()))?;
    output.write_all(&bytes)?;
    output.finish()
}
