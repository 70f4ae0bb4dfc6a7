//! A study for people: a row for each form and precision, then a table of grids by blocks for each sweep.

use std::fmt::Write as _;

use super::super::line::{Line, Quantity};
use crate::{
    console,
    summary::{scaled, scaled_seconds, significant},
};

fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

/// The rows.
pub(crate) fn text(lines: &[Line]) -> String {
    let mut heading =
        vec!["method", "bits", "instructions", "wide products", "registers, paper", "ours", "spilled bytes"];
    let timed = lines.iter().any(|line| line.quantity == Quantity::Time);
    if timed {
        heading.extend(["best launch", "median", "executions/s", "faster"]);
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for counted in lines.iter().filter(|line| line.quantity == Quantity::Instructions) {
        let same = |line: &&Line| line.method == counted.method && line.bits == counted.bits;
        let registers = lines.iter().find(|line| same(line) && line.quantity == Quantity::Registers);
        let whole = |value: Option<f64>| or_dash(value, |value| format!("{value:.0}"));
        let mut row = vec![
            counted.method.clone(),
            counted.bits.to_string(),
            whole(counted.ours),
            or_dash(counted.wide_products, |count| count.to_string()),
            whole(registers.and_then(|line| line.paper)),
            whole(registers.and_then(|line| line.ours)),
            or_dash(registers.and_then(|line| line.local_bytes), |bytes| bytes.to_string()),
        ];
        if timed {
            let best = best_launch(lines, &counted.method, counted.bits);
            let before = best.and_then(|(line, _)| best_launch(lines, line.against.as_deref()?, line.bits));
            let launch =
                |(line, _): (&Line, f64)| or_dash(line.blocks.zip(line.threads), |(b, t)| format!("{b} × {t}"));
            row.extend([
                or_dash(best, launch),
                or_dash(best.and_then(|(line, _)| line.median), scaled_seconds),
                or_dash(best, |(_, rate)| scaled(rate)),
                or_dash(best.zip(before), |((_, rate), (_, before))| format!("{}×", significant(rate / before))),
            ]);
        }
        rows.push(row);
    }
    let mut text = console::table(&rows);
    for sweep in sweeps(lines) {
        let _ = write!(text, "\n{}\n{}", sweep.title(), sweep.table());
    }
    text
}

/// The launch of a form that does most executions a second, and how many.
fn best_launch<'a>(lines: &'a [Line], method: &str, bits: usize) -> Option<(&'a Line, f64)> {
    let launches =
        lines.iter().filter(|line| (line.method.as_str(), line.bits, line.quantity) == (method, bits, Quantity::Time));
    let rate = |line: &'a Line| {
        let executions = line.products as f64 * f64::from(line.executions?);
        Some((line, executions / line.median?))
    };
    launches.filter_map(rate).max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The launches of a form at a precision, over several grids and blocks.
#[derive(Debug)]
pub(super) struct Sweep<'a> {
    pub(super) method: &'a str,
    pub(super) bits: usize,
    pub(super) against: Option<&'a str>,
    /// Ascending.
    pub(super) blocks: Vec<u32>,
    pub(super) threads: Vec<u32>,
    lines: Vec<&'a Line>,
}

/// All sweeps, in the order of the lines: those of several grids and several blocks.
pub(super) fn sweeps(lines: &[Line]) -> Vec<Sweep<'_>> {
    let mut sweeps: Vec<Sweep<'_>> = Vec::new();
    for line in lines.iter().filter(|line| line.quantity == Quantity::Time) {
        let (Some(blocks), Some(threads)) = (line.blocks, line.threads) else { continue };
        let known = sweeps.iter().position(|sweep| sweep.method == line.method && sweep.bits == line.bits);
        let place = known.unwrap_or_else(|| {
            let (method, against) = (line.method.as_str(), line.against.as_deref());
            let (blocks, threads, lines) = Default::default();
            sweeps.push(Sweep { method, bits: line.bits, against, blocks, threads, lines });
            sweeps.len() - 1
        });
        let sweep = &mut sweeps[place];
        for (axis, value) in [(&mut sweep.blocks, blocks), (&mut sweep.threads, threads)] {
            if let Err(place) = axis.binary_search(&value) {
                axis.insert(place, value);
            }
        }
        sweep.lines.push(line);
    }
    sweeps.retain(|sweep| sweep.blocks.len() > 1 && sweep.threads.len() > 1);
    sweeps
}

impl Sweep<'_> {
    pub(super) fn title(&self) -> String {
        match self.against {
            Some(against) => format!("{} bits, {}: times as fast as {against}", self.bits, self.method),
            None => format!("{} bits, {}: µs", self.bits, self.method),
        }
    }

    /// The line of a launch.
    pub(super) fn at(&self, blocks: u32, threads: u32) -> Option<&Line> {
        self.lines.iter().find(|line| (line.blocks, line.threads) == (Some(blocks), Some(threads))).copied()
    }

    fn table(&self) -> String {
        let mut rows = vec![vec!["blocks \\ threads".to_owned()]];
        rows[0].extend(self.threads.iter().map(ToString::to_string));
        for &blocks in &self.blocks {
            let figure = |&threads: &u32| {
                let line = self.at(blocks, threads)?;
                if self.against.is_some() { line.relative } else { line.median.map(|seconds| 1e6 * seconds) }
            };
            let mut row = vec![blocks.to_string()];
            row.extend(self.threads.iter().map(|threads| or_dash(figure(threads), significant)));
            rows.push(row);
        }
        console::table(&rows)
    }
}
