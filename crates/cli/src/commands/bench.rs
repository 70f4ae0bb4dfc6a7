//! `warpmp bench OPERATION`: how fast, and how near the hardware's limits; on products found right first.

use std::{fmt::Write as _, panic::resume_unwind, thread};

use clap::ValueEnum as _;
use serde::Serialize;
use warpmp::{Batch, EngineKind, Error as LibraryError, Operation, Session, Shape, operation::Group};
use warpmp_oracle::measure::{self, Limits, Measured};

use super::pattern::{self, Form};
use crate::{
    args::{ArgsError, BenchRows, Pattern},
    console, engine,
    error::{Error, Result, plural},
    interrupt,
    io::output::{self, Output},
    plot::{Axis, Chart, Series, Style},
    progress::Progress,
    summary::{scaled, scaled_seconds, significant},
};

/// A row of the table. Times and rates are those of the median run.
#[derive(Debug, Serialize)]
struct Row {
    op: String,
    bits_a: usize,
    /// None for an operation of one operand.
    bits_b: Option<usize>,
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
    /// The kind of operands.
    pattern: Pattern,
    /// Have all lanes one last operand?
    common: bool,
}

/// What a row measures.
#[derive(Clone, Debug)]
struct Case {
    /// Bits of the operands, of the first one times its ratio.
    shape: Shape,
    algorithm: Option<String>,
    pattern: Pattern,
    form: Form,
}

impl Case {
    /// Bits of the first operand.
    const fn first_bits(&self) -> usize {
        self.form.first_ratio * self.shape.bits
    }
}

/// All rows, for `--json`.
#[derive(Debug, Serialize)]
struct Table<'a> {
    op: String,
    device: &'a str,
    rows: &'a [Row],
}

/// Runs the command.
pub(crate) fn run(operation: Operation, args: &BenchRows) -> Result<()> {
    console::check_stdout()?;
    if args.common && operation.arity() < 2 {
        return Err(ArgsError::NoSuchOperand { operation, option: "--common" }.into());
    }
    if args.first_ratio.is_some() {
        let option = "--first-ratio";
        if operation.arity() < 2 {
            return Err(ArgsError::NoSuchOperand { operation, option }.into());
        }
        if !Form::has_free_first(operation) {
            return Err(ArgsError::BoundWidths { operation, option }.into());
        }
    }
    output::refuse_twice(&[&args.report.csv, &args.plot].into_iter().flatten().collect::<Vec<_>>())?;
    let csv = args.report.csv.as_ref().map(Output::to).transpose()?;
    let plot = args.plot.as_ref().map(Output::to).transpose()?;
    let session = engine::open(args.device.selector, args.report.progress.quiet || args.report.json)?;
    let (device, kind) = (session.engine().name.clone(), session.engine().kind);
    let sessions = engine::each(session)?;
    let limits = all_limits(&sessions)?;
    let cases = cases(operation, args, kind, sessions.len());
    let progress = Progress::new(Some(cases.len() as u64), "rows", args.report.progress.quiet);
    let (mut rows, mut left_out) = (Vec::new(), None);
    for (done, case) in cases.iter().enumerate() {
        interrupt::check()?;
        let Shape { lanes, bits } = case.shape;
        let text = format!("row {} of {}: {operation}, {lanes} lanes of {bits} bits", done + 1, cases.len());
        progress.part(done as u64, &text);
        match row(&sessions, &device, operation, case, args.runs, limits) {
            Ok(row) => rows.push(row),
            // Of several algorithms and widths, some may not go together.
            Err(Error::Library(error @ LibraryError::AlgorithmUnfit { .. })) if cases.len() > 1 => {
                console::note(&format!("note: left out: {error}"));
                left_out = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    drop(progress);
    if let (true, Some(error)) = (rows.is_empty(), left_out) {
        return Err(error.into());
    }
    if let Some(output) = csv {
        output.write_csv(&rows)?;
    }
    if let Some(output) = plot {
        output.write(chart(operation, &rows, &device).svg()?.as_bytes())?;
    }
    if args.report.json {
        let table = Table { op: operation.to_string(), device: &device, rows: &rows };
        return console::print_object(&table);
    }
    console::print(&text(operation, &rows, &device, args.runs))
}

/// Every width with every count, every pattern and every algorithm.
fn cases(operation: Operation, args: &BenchRows, kind: EngineKind, engines: usize) -> Vec<Case> {
    let algorithms: Vec<Option<String>> =
        if args.algorithm.is_empty() { vec![None] } else { args.algorithm.iter().cloned().map(Some).collect() };
    let form = Form { first_ratio: args.first_ratio.unwrap_or(1), common: args.common };
    let mut cases = Vec::new();
    for bits in &args.bits {
        let default = || vec![engines * default_lanes(operation, [form.first_ratio * bits, *bits], kind)];
        let counts = if args.count.is_empty() { default() } else { args.count.clone() };
        for lanes in counts {
            let shape = Shape::new(lanes, *bits);
            for pattern in &args.pattern {
                let case =
                    |algorithm: &Option<String>| Case { shape, algorithm: algorithm.clone(), pattern: *pattern, form };
                cases.extend(algorithms.iter().map(case));
            }
        }
    }
    cases
}

/// Enough lanes to fill the engine: more than any cache holds, or what a simulator does in a moment. Powers have fewer lanes where so many would take
/// longer than a second or two.
fn default_lanes(operation: Operation, [first, last]: [usize; 2], kind: EngineKind) -> usize {
    let lane_bytes = 4 * first.div_ceil(32);
    // The lanes, and the products of limbs of powers that an H200, two cores or the simulator makes in a second or two.
    let (lanes, limb_products) = match kind {
        EngineKind::Cuda => ((1 << 30) / lane_bytes, 44_f64.exp2()),
        EngineKind::Cpu => ((64 << 20) / lane_bytes, 1e10),
        EngineKind::Sim => (((32 << 10) / lane_bytes.min(1 << 10)).min((256 << 10) / lane_bytes), 1e7),
    };
    let powers = || limb_products / operation.limb_products(&[first, last].map(|bits| Shape::new(1, bits)));
    let affordable = if operation.is_power() { powers() as usize } else { lanes };
    lanes.min(affordable).max(1)
}

/// What all GPUs can do at the most together.
fn all_limits(sessions: &[Session]) -> Result<Option<Limits>> {
    let each = sessions.iter().map(measure::limits).collect::<Result<Vec<_>, _>>()?;
    Ok(each.into_iter().flatten().reduce(Limits::and))
}

/// The lanes of each engine: equal shares, at least one lane.
fn shares(lanes: usize, engines: usize) -> Vec<usize> {
    let engines = engines.min(lanes).max(1);
    (0..engines).map(|i| (i + 1) * lanes / engines - i * lanes / engines).collect()
}

fn row(
    sessions: &[Session],
    device: &str,
    operation: Operation,
    case: &Case,
    runs: usize,
    limits: Option<Limits>,
) -> Result<Row> {
    let measured = |session: &Session, lanes: usize| -> Result<Measured> {
        let operands = pattern::for_operation(operation, case.pattern, Shape { lanes, ..case.shape }, case.form)?;
        let operands: Vec<&Batch> = operands.iter().collect();
        let go_on = || interrupt::check().is_ok();
        Ok(measure::operation(session, operation, &operands, case.algorithm.as_deref(), runs, &go_on)?)
    };
    let each: Vec<Measured> = thread::scope(|scope| {
        let shares = sessions.iter().zip(shares(case.shape.lanes, sessions.len()));
        let running: Vec<_> = shares.map(|(session, lanes)| scope.spawn(move || measured(session, lanes))).collect();
        running.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic))).collect::<Result<_>>()
    })?;
    let measured = Measured::together(each).ok_or(LibraryError::NoDevice)?;
    Ok(Row::new(device, operation, case, measured, limits))
}

impl Row {
    fn new(device: &str, operation: Operation, case: &Case, measured: Measured, limits: Option<Limits>) -> Self {
        let shape = case.shape;
        let seconds = measured.median().max(1e-9);
        let rate = |amount: f64| amount / seconds;
        let wide_products = wide_products(operation, case.first_bits(), shape.bits) * shape.lanes as f64;
        Self {
            op: operation.to_string(),
            bits_a: case.first_bits(),
            bits_b: (operation.arity() > 1).then_some(shape.bits),
            lanes: shape.lanes,
            device: device.to_owned(),
            runs: measured.times.len(),
            kernel_seconds: measured.median(),
            minimum_seconds: measured.minimum(),
            spread: measured.spread(),
            total_seconds: measured.times.iter().sum::<std::time::Duration>().as_secs_f64(),
            ops_per_second: rate(shape.lanes as f64),
            gb_per_second: rate(measured.bytes as f64 / 1e9),
            copy_fraction: limits.map(|limits| rate(measured.bytes as f64) / limits.copy_bytes_per_second),
            wide_product_fraction: limits
                .filter(|_| wide_products > 0.0)
                .and_then(|limits| limits.wide_products_per_second)
                .map(|most| rate(wide_products) / most),
            checked: measured.checked,
            algorithm: measured.algorithm,
            pattern: case.pattern,
            common: case.form.common,
        }
    }

    /// The pattern's name, as it is given, and whether the last operand is common to all lanes.
    fn pattern(&self) -> String {
        let name = self.pattern.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        if self.common { format!("{name}, common") } else { name }
    }

    /// Bits of an operand; of the first one and of the others where these differ.
    fn bits(&self) -> String {
        match self.bits_b {
            Some(bits_b) if bits_b != self.bits_a => format!("{} × {bits_b}", self.bits_a),
            Some(_) | None => self.bits_a.to_string(),
        }
    }

    /// How many times as many bits as the others the first operand has.
    fn first_ratio(&self) -> usize {
        self.bits_a / self.bits_b.unwrap_or(self.bits_a)
    }

    fn cells(&self) -> Vec<String> {
        let fraction = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        vec![
            self.algorithm.clone(),
            self.bits(),
            self.lanes.to_string(),
            self.pattern(),
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

fn text(operation: Operation, rows: &[Row], device: &str, runs: usize) -> String {
    let heading = [
        "algorithm",
        "bits",
        "lanes",
        "operands",
        "median",
        "minimum",
        "spread",
        "lanes/s",
        "GB/s",
        "of copy",
        "of IMAD.WIDE",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(Row::cells));
    let mut text =
        format!("{operation} on {device}, {runs} run{} a row\n{}", plural(runs as u64), console::table(&cells));
    if rows.iter().any(|row| row.copy_fraction.is_none()) {
        text.push_str(
            "–: the copy bandwidth and the IMAD.WIDE ceiling are those of a GPU; there is none in this row\n",
        );
    } else if rows.iter().any(|row| row.wide_product_fraction.is_none()) {
        let counts = rows.iter().any(|row| wide_products(operation, row.bits_a, row.bits_a) > 0.0);
        text.push_str(if counts {
            "–: the IMAD.WIDE ceiling is known for sm_80 and sm_90 only\n"
        } else {
            "–: what schoolbook arithmetic needs for this is not one number of products\n"
        });
    }
    text
}

/// Products of limbs that schoolbook arithmetic needs, to compare with the hardware's rate: for a first operand of `first_bits` bits and
/// others of `bits`.
fn wide_products(operation: Operation, first_bits: usize, bits: usize) -> f64 {
    let [first, limbs] = [first_bits, bits].map(|bits| Shape::new(1, bits).limbs() as f64);
    let square = limbs * (limbs + 1.0) / 2.0;
    if operation == Operation::StrongTest(2) {
        // A square and its reduction a bit.
        return bits as f64 * (square + limbs * limbs);
    }
    if operation == Operation::Sqr {
        return square;
    }
    match operation.group() {
        Group::Product | Group::ProductPart => first * limbs,
        // Schoolbook arithmetic has no single number of products for these, or none at all.
        Group::Linear | Group::LinearModular | Group::Division | Group::Modular | Group::Montgomery => 0.0,
    }
}

/// Time a lane against the width: a line for each algorithm, count and pattern.
fn chart(operation: Operation, rows: &[Row], device: &str) -> Chart {
    // What all rows have in common need not be said of each.
    let several_counts = rows.iter().any(|row| row.lanes != rows[0].lanes);
    let several_patterns = rows.iter().any(|row| row.pattern != rows[0].pattern);
    let counts_by_width = rows.iter().all(|row| rows.iter().all(|it| it.bits_a != row.bits_a || it.lanes == row.lanes));
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let mut name = row.algorithm.clone();
        if several_counts && !counts_by_width {
            let _ = write!(name, ", {} lanes", row.lanes);
        }
        if several_patterns {
            let _ = write!(name, ", {}", row.pattern());
        }
        let point = (row.bits_b.unwrap_or(row.bits_a) as f64, 1e9 * row.kernel_seconds / row.lanes as f64);
        match series.iter_mut().find(|it| it.name == name) {
            Some(known) => known.points.push(point),
            None => series.push(Series { name, colour: series.len(), style: Style::Solid, points: vec![point] }),
        }
    }
    for line in &mut series {
        line.points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let common = if rows.iter().any(|row| row.common) { ", one last operand for all lanes" } else { "" };
    let (first, label) = match rows.first().map_or(1, Row::first_ratio) {
        1 => (String::new(), "bits of an operand"),
        ratio => (format!(", the first operand {ratio} times as long"), "bits of the second operand"),
    };
    Chart {
        title: format!("{operation} on {device}{first}{common}"),
        x: Axis { label: label.into(), base: 2 },
        y: Axis { label: "nanoseconds a lane (median)".into(), base: 10 },
        series,
    }
}

#[cfg(test)]
mod tests {
    use warpmp::device::open_sim;

    use super::*;

    #[test]
    fn engines_share_the_lanes_of_a_row() {
        assert_eq!((shares(10, 3), shares(2, 3), shares(0, 2)), (vec![3, 3, 4], vec![1, 1], vec![0]));
        let session = Session::with_devices(vec![open_sim(), open_sim()]).expect("simulators open");
        let device = session.engine().name.clone();
        let sessions = engine::each(session).expect("they open again");
        let case = Case { shape: Shape::new(65, 100), algorithm: None, pattern: Pattern::Random, form: Form::EQUAL };
        let found = row(&sessions, &device, Operation::Mul, &case, 2, None).expect("it runs");
        let counted =
            |session: &Session| session.devices().any(|it| it.counters().is_some_and(|it| it.sections().count() > 0));
        assert!(sessions.len() == 2 && sessions.iter().all(counted));
        assert_eq!((found.lanes, found.checked, found.runs, found.device.as_str()), (65, 65, 2, "2 × simulator"));
    }

    /// Operands fill the engine, or powers take a second or two. There is a lane at least.
    #[test]
    fn powers_have_fewer_lanes() {
        let lanes = |operation, bits| {
            [EngineKind::Cuda, EngineKind::Cpu, EngineKind::Sim].map(|it| default_lanes(operation, [bits; 2], it))
        };
        assert_eq!(lanes(Operation::Mul, 2048), [1 << 22, 1 << 18, 128]);
        assert_eq!(lanes(Operation::PowMod, 32), [1 << 28, 1 << 24, 8192]);
        assert_eq!(lanes(Operation::PowMod, 2048), [1 << 20, 596, 1]);
        assert_eq!(lanes(Operation::PowMod, 16384), [2048, 1, 1]);
        assert_eq!(lanes(Operation::PowMod, 1 << 20), [1; 3]);
    }

    /// A longer first operand: with every operation that takes one, and with the products that it needs.
    #[test]
    fn longer_first_operands() {
        let sessions = [Session::cpu()];
        let form = Form { first_ratio: 2, common: false };
        let case = |bits| Case { shape: Shape::new(3, bits), algorithm: None, pattern: Pattern::Random, form };
        let mut taken = Vec::new();
        for &operation in Operation::ALL.iter().filter(|it| Form::has_free_first(**it)) {
            let found = row(&sessions, "cpu", operation, &case(64), 1, None);
            let found = found.unwrap_or_else(|error| panic!("{operation}: {error}"));
            assert_eq!((found.bits_a, found.bits_b, found.checked), (128, Some(64), 3), "{operation}");
            taken.push(operation);
        }
        for operation in [Operation::Mul, Operation::DivRem, Operation::Reduce, Operation::CarryingAdd] {
            assert!(taken.contains(&operation), "{operation}");
        }
        for operation in [Operation::Sqr, Operation::MontMul, Operation::AddMod, Operation::Redc, Operation::Select] {
            assert!(!taken.contains(&operation), "{operation}");
        }
        assert_eq!(wide_products(Operation::Mul, 128, 64).to_bits(), 8_f64.to_bits());
        let found = row(&sessions, "cpu", Operation::DivRem, &case(64), 1, None).expect("it runs");
        // Dividends, divisors, quotients, remainders and statuses.
        let bytes = found.gb_per_second * 1e9 * found.kernel_seconds.max(1e-9);
        assert_eq!(bytes.round() as u64, 3 * (16 + 8 + 16 + 8 + 4));
        let too_long = row(&sessions, "cpu", Operation::DivRem, &case(warpmp::operation::MAX_BITS), 1, None);
        assert!(matches!(too_long, Err(Error::Library(LibraryError::TooWide { .. }))));
    }
}
