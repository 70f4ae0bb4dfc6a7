//! Tables of times: the paper's workload, by its methods and by what is chosen without a name.

use std::collections::BTreeMap;

use warpmp::{Batch, EngineKind, Error as LibraryError, Session, Shape};

use super::{
    cpu::{Cores, Cpu, patiently},
    line::{Line, Outcome, Quantity},
    tables::{Engine, Entry, TimeRow, Times},
};
use crate::{
    args::Pattern,
    commands::pattern,
    error::{Error, Result},
    interrupt,
    measure::{self, Measured},
    progress::Progress,
};

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) runs: usize,
    /// Products instead of the paper's number.
    pub(crate) products: Option<usize>,
    pub(crate) quiet: bool,
}

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
pub(crate) fn reproduce(entry: &Entry, times: &Times, session: &Session, settings: Settings) -> Result<Outcome> {
    let run = Run::new(entry, times, session, settings)?;
    run.all()
}

struct Run<'a> {
    times: &'a Times,
    session: &'a Session,
    settings: Settings,
    outcome: Outcome,
    /// For tables with a row of a CPU.
    cpu: Option<Cpu>,
}

impl<'a> Run<'a> {
    fn new(entry: &Entry, times: &'a Times, session: &'a Session, settings: Settings) -> Result<Self> {
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
        let progress = Progress::new(Some(total as u64), "measurements", self.settings.quiet);
        let mut done = 0;
        let mut tick = || {
            done += 1;
            progress.update(done, done);
        };
        let mut measured = Vec::with_capacity(columns);
        for column in 0..columns {
            measured.push(self.column(column, &mut tick)?);
        }
        drop(progress);
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
                interrupt::check()?;
                *place = Some(cpu.time(&a, &b, cores, self.settings.runs)?);
                tick();
            }
        }
        Ok(column)
    }

    /// None, and a note, if the device's memory does not suffice.
    fn on_session(&mut self, a: &Batch, b: &Batch, algorithm: Option<&str>) -> Result<Option<Measured>> {
        interrupt::check()?;
        let multiply = |a: &Batch, b: &Batch, runs| measure::mul(self.session, a, b, algorithm, runs);
        let measured = match self.session.engine().kind {
            EngineKind::Cpu => patiently(a, b, self.settings.runs, multiply),
            _ => multiply(a, b, self.settings.runs),
        };
        match measured {
            Ok(measured) => Ok(Some(measured)),
            Err(Error::Library(error @ LibraryError::OutOfMemory { .. })) => {
                let name = algorithm.unwrap_or("the default");
                self.outcome.notes.push(format!("Left out: {name} at {} bits: {error}.", a.bits()));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn lines(&mut self, measured: &[Column]) {
        let mut lines = Vec::new();
        for row in &self.times.rows {
            for (number, column) in measured.iter().enumerate() {
                lines.push(match row.engine {
                    Engine::Gpu => self.gpu_line(row, number, column),
                    Engine::Cpu => self.cpu_line(row, number, column),
                });
            }
        }
        self.outcome.lines = lines;
        self.speed_up(measured);
        // Where the paper has no figure and we have no algorithm there is nothing to tell.
        self.outcome.lines.retain(|line| line.paper.is_some() || line.ours.is_some());
    }

    fn line(&self, row: &TimeRow, number: usize) -> Line {
        Line {
            engine: Some(row.engine),
            paper_products: self.times.products,
            products: self.products(),
            paper: row.seconds(number),
            ..Line::new(&self.outcome.table, &row.method, Quantity::Time, self.times.bits[number])
        }
    }

    fn gpu_line(&self, row: &TimeRow, number: usize, column: &Column) -> Line {
        let mut line = self.line(row, number);
        let named = row.algorithm(number).and_then(|name| column.named.get(name)).and_then(Option::as_ref);
        line.algorithm = row.algorithm(number).map(str::to_owned);
        line.set_ours(named);
        line.set_default(column.default.as_ref());
        let floor = |measured: &Measured| {
            let bandwidth = self.outcome.copy_bytes_per_second?;
            Some(measured.bytes as f64 / bandwidth / measured.mean())
        };
        line.floor_fraction = named.and_then(floor);
        line.default_floor_fraction = column.default.as_ref().and_then(floor);
        line
    }

    fn cpu_line(&self, row: &TimeRow, number: usize, column: &Column) -> Line {
        let mut line = self.line(row, number);
        let on = |measured: &Option<Measured>, cores| measured.as_ref().map(|it| format!("{}, {cores}", it.algorithm));
        line.algorithm = on(&column.one_core, "one core");
        line.set_ours(column.one_core.as_ref());
        line.set_default(column.all_cores.as_ref());
        line.default_algorithm = on(&column.all_cores, "all cores");
        line
    }

    /// The paper's factors beside ours: one core's time over that of the paper's method, and over the default's.
    fn speed_up(&mut self, measured: &[Column]) {
        let Some(speed_up) = &self.times.speed_up else { return };
        let method = format!("{} / {}", speed_up.over, speed_up.of);
        for (number, (column, factor)) in measured.iter().zip(&speed_up.factors).enumerate() {
            let bits = self.times.bits[number];
            let time = |method: &str| {
                let line = self.outcome.lines.iter().find(|line| line.method == method && line.bits == bits)?;
                line.ours
            };
            let over = time(&speed_up.over);
            let ours = over.zip(time(&speed_up.of)).map(|(over, of)| over / of);
            let line = Line {
                paper_products: self.times.products,
                products: self.products(),
                paper: Some(*factor),
                ours,
                ratio: ours.map(|ours| ours / factor),
                default: over.zip(column.default.as_ref()).map(|(over, default)| over / default.mean()),
                ..Line::new(&self.outcome.table, &method, Quantity::SpeedUp, bits)
            };
            self.outcome.lines.push(line);
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
        let fractions = self.outcome.lines.iter().flat_map(|line| [line.floor_fraction, line.default_floor_fraction]);
        if fractions.flatten().any(|fraction| fraction > 1.0) {
            notes.push(
                "More than 1 of the memory floor: so few bytes stay in the GPU's cache from run to run.".to_owned(),
            );
        }
        self.outcome.notes.extend(notes);
    }
}

impl Line {
    fn set_ours(&mut self, measured: Option<&Measured>) {
        let Some(measured) = measured else { return };
        self.ours = Some(measured.mean());
        self.median = Some(measured.median());
        self.minimum = Some(measured.minimum());
        self.runs = Some(measured.times.len());
        self.checked = Some(measured.checked);
        self.ratio = self.times_as_fast(measured);
    }

    fn set_default(&mut self, measured: Option<&Measured>) {
        let Some(measured) = measured else { return };
        self.default_algorithm = Some(measured.algorithm.clone());
        self.default = Some(measured.mean());
        self.default_median = Some(measured.median());
        self.default_minimum = Some(measured.minimum());
        self.default_runs = Some(measured.times.len());
        self.default_ratio = self.times_as_fast(measured);
    }

    /// The paper's time for as many products over ours.
    fn times_as_fast(&self, measured: &Measured) -> Option<f64> {
        let share = self.products as f64 / self.paper_products as f64;
        self.paper.map(|paper| paper * share / measured.mean())
    }
}

#[cfg(test)]
#[path = "times_tests.rs"]
mod tests;
