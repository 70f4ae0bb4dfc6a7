//! Tables of times: the paper's workload, by its methods and by what is chosen without a name.

use std::collections::BTreeMap;

use warpmp::{Batch, EngineKind, Error as LibraryError, Operation, Session, Shape};
use warpmp_oracle::{
    measure::{self, Error as MeasureError, Measured},
    pattern::{self, Pattern},
};

use crate::{
    cpu::{Cores, Cpu, patiently},
    error::Result,
    line::{Comparison, Figure, Measurement, Outcome, SpeedUp},
    tables::{Engine, Entry, TimeRow, Times},
    watch::Settings,
};

/// All measurements of a width.
#[derive(Debug, Default)]
struct Column {
    /// Ours for the papers' methods, by algorithm.
    named: BTreeMap<String, Option<Measured>>,
    default: Option<Measured>,
    one_core: Option<Measured>,
    all_cores: Option<Measured>,
}

/// Measures every row of the table at every width.
///
/// # Errors
/// Those of [`Error`](crate::Error).
pub fn reproduce(entry: &Entry, times: &Times, session: &Session, settings: Settings<'_>) -> Result<Outcome> {
    Run::new(entry, times, session, settings)?.all()
}

struct Run<'a> {
    times: &'a Times,
    session: &'a Session,
    settings: Settings<'a>,
    outcome: Outcome,
    /// For tables with a row of a CPU.
    cpu: Option<Cpu>,
}

impl<'a> Run<'a> {
    fn new(entry: &Entry, times: &'a Times, session: &'a Session, settings: Settings<'a>) -> Result<Self> {
        let mut outcome = Outcome::new(entry);
        outcome.device = Some(session.engine().name.clone());
        outcome.copy_bytes_per_second = measure::limits(session)?.map(|limits| limits.copy_bytes_per_second);
        let has_cpu = times.rows.iter().any(|row| row.engine == Engine::Cpu);
        let cpu = if has_cpu { Some(Cpu::new()?) } else { None };
        outcome.cpu = cpu.as_ref().map(|_| Cpu::name());
        Ok(Self { times, session, settings, outcome, cpu })
    }

    fn products(&self) -> usize {
        self.settings.products.unwrap_or(self.times.products)
    }

    /// The algorithms to measure at a width: none where there is no GPU to run them.
    fn algorithms(&self, column: usize) -> Vec<&'a str> {
        if self.session.engine().kind == EngineKind::Cpu {
            return Vec::new();
        }
        let mut names: Vec<&str> = self.times.rows.iter().filter_map(|row| row.algorithm(column)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn all(mut self) -> Result<Outcome> {
        let columns = self.times.bits.len();
        let each = 1 + if self.cpu.is_some() { 2 } else { 0 };
        let total: usize = (0..columns).map(|column| self.algorithms(column).len() + each).sum();
        let (watch, mut done) = (self.settings.watch, 0);
        let mut tick = || {
            done += 1;
            watch.progress(done, total as u64, "measurements");
        };
        let mut measured = Vec::with_capacity(columns);
        for column in 0..columns {
            measured.push(self.column(column, &mut tick)?);
        }
        self.lines(&measured);
        self.notes();
        Ok(self.outcome)
    }

    fn column(&mut self, number: usize, tick: &mut dyn FnMut()) -> Result<Column> {
        let shape = Shape::new(self.products(), self.times.bits[number]);
        let a = pattern::operands(Pattern::Random, shape, 0, 1)?;
        let b = pattern::operands(Pattern::Random, shape, 0, 2)?;
        let mut column = Column::default();
        for name in self.algorithms(number) {
            column.named.insert(name.into(), self.on_session(&a, &b, Some(name))?);
            tick();
        }
        column.default = self.on_session(&a, &b, None)?;
        tick();
        if let Some(cpu) = &self.cpu {
            for (cores, place) in [(Cores::One, &mut column.one_core), (Cores::All, &mut column.all_cores)] {
                self.settings.check()?;
                *place = Some(cpu.time(&a, &b, cores, self.settings.runs, self.settings.watch)?);
                tick();
            }
        }
        Ok(column)
    }

    /// None, and a note, if the device's memory does not suffice.
    fn on_session(&mut self, a: &Batch, b: &Batch, algorithm: Option<&str>) -> Result<Option<Measured>> {
        self.settings.check()?;
        let go_on = || self.settings.watch.go_on();
        let multiply = |a: &Batch, b: &Batch, runs| {
            measure::operation(self.session, Operation::Mul, &[a, b], algorithm, runs, &go_on)
        };
        let measured = match self.session.engine().kind {
            EngineKind::Cpu => patiently(a, b, self.settings.runs, multiply),
            _ => multiply(a, b, self.settings.runs),
        };
        match measured {
            Ok(measured) => Ok(Some(measured)),
            Err(MeasureError::Engine(error @ LibraryError::OutOfMemory { .. })) => {
                let name = algorithm.unwrap_or("the default");
                self.outcome.notes.push(format!("Left out: {name} at {} bits: {error}.", a.bits()));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn lines(&mut self, measured: &[Column]) {
        for row in &self.times.rows {
            for (number, column) in measured.iter().enumerate() {
                let comparison = match row.engine {
                    Engine::Gpu => self.on_gpu(row, number, column),
                    Engine::Cpu => self.on_cpu(row, number, column),
                };
                self.outcome.push(&row.method, self.times.bits[number], Figure::Time(comparison));
            }
        }
        self.speed_up(measured);
        // Where the paper has no figure and we have no algorithm there is nothing to tell.
        self.outcome.lines.retain(|line| line.figure.paper().is_some() || line.figure.ours().is_some());
    }

    /// The paper's figure, without ours.
    fn paper(&self, row: &TimeRow, number: usize) -> Comparison {
        Comparison {
            engine: row.engine,
            paper_products: self.times.products,
            products: self.products(),
            paper: row.seconds(number),
            algorithm: None,
            ours: None,
            default_algorithm: None,
            default: None,
        }
    }

    fn on_gpu(&self, row: &TimeRow, number: usize, column: &Column) -> Comparison {
        let paper = self.paper(row, number);
        let measurement = |measured: &Measured| {
            let bandwidth = self.outcome.copy_bytes_per_second;
            let floor_fraction = bandwidth.map(|bandwidth| measured.bytes as f64 / bandwidth / measured.mean());
            Measurement { floor_fraction, ..paper.measurement(measured) }
        };
        let named = row.algorithm(number).and_then(|name| column.named.get(name)).and_then(Option::as_ref);
        Comparison {
            algorithm: row.algorithm(number).map(str::to_owned),
            ours: named.map(measurement),
            default_algorithm: column.default.as_ref().map(|it| it.algorithm.clone()),
            default: column.default.as_ref().map(measurement),
            ..paper.clone()
        }
    }

    fn on_cpu(&self, row: &TimeRow, number: usize, column: &Column) -> Comparison {
        let paper = self.paper(row, number);
        let on = |measured: &Option<Measured>, cores| measured.as_ref().map(|it| format!("{}, {cores}", it.algorithm));
        Comparison {
            algorithm: on(&column.one_core, "one core"),
            ours: column.one_core.as_ref().map(|it| paper.measurement(it)),
            default_algorithm: on(&column.all_cores, "all cores"),
            default: column.all_cores.as_ref().map(|it| paper.measurement(it)),
            ..paper.clone()
        }
    }

    /// The paper's factors beside ours: one core's time over the time of the paper's method, and over the default's time.
    fn speed_up(&mut self, measured: &[Column]) {
        let Some(speed_up) = &self.times.speed_up else { return };
        let method = format!("{} / {}", speed_up.over, speed_up.of);
        for (number, (column, factor)) in measured.iter().zip(&speed_up.factors).enumerate() {
            let bits = self.times.bits[number];
            let of_method = |method: &str| {
                let line = self.outcome.lines.iter().find(|line| line.method == method && line.bits == bits)?;
                line.figure.ours()
            };
            let over = of_method(&speed_up.over);
            let ours = over.zip(of_method(&speed_up.of)).map(|(over, of)| over / of);
            let figure = Figure::SpeedUp(SpeedUp {
                paper_products: self.times.products,
                products: self.products(),
                paper: *factor,
                ours,
                ratio: ours.map(|ours| ours / factor),
                default: over.zip(column.default.as_ref()).map(|(over, default)| over / default.mean()),
            });
            self.outcome.push(&method, bits, figure);
        }
    }

    fn notes(&mut self) {
        let mut notes = Vec::new();
        if self.session.engine().kind == EngineKind::Cpu {
            notes.push(
                "Not on a GPU: the papers' methods are kernels for one and are not timed; the default is the CPU engine, \
                 all cores."
                    .to_owned(),
            );
        }
        if self.products() != self.times.products {
            notes.push(format!(
                "Ours are times of {} products, the paper's of {}; the factors are for as many.",
                self.products(),
                self.times.products
            ));
        }
        let times = self.outcome.lines.iter().filter_map(|line| line.figure.time());
        let mut measurements = times.flat_map(|time| [&time.ours, &time.default]).flatten();
        if measurements.any(|it| it.floor_fraction.is_some_and(|fraction| fraction > 1.0)) {
            notes.push(
                "More than 1 of the memory floor: so few bytes stay in the GPU's cache from run to run.".to_owned(),
            );
        }
        self.outcome.notes.extend(notes);
    }
}

impl Comparison {
    /// Our measurement beside this paper's.
    fn measurement(&self, measured: &Measured) -> Measurement {
        let share = self.products as f64 / self.paper_products as f64;
        Measurement {
            mean: measured.mean(),
            median: measured.median(),
            minimum: Some(measured.minimum()),
            runs: measured.times.len(),
            checked: Some(measured.checked),
            ratio: self.paper.map(|paper| paper * share / measured.mean()),
            floor_fraction: None,
        }
    }
}

#[cfg(test)]
#[path = "times_tests.rs"]
mod tests;
