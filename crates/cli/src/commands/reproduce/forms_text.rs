//! A study for people: a row for each form and precision, then a table of grids by blocks for each sweep.

use std::fmt::Write as _;

use warpmp_papers::{Figure, Line, line::Launch};

use super::text::or_dash;
use crate::{
    console,
    summary::{scaled, scaled_seconds, significant},
};

/// The rows.
pub(super) fn text(lines: &[Line]) -> String {
    let mut heading =
        vec!["method", "bits", "instructions", "wide products", "registers, paper", "ours", "spilled bytes"];
    let timed = lines.iter().any(|line| line.figure.launch().is_some());
    if timed {
        heading.extend(["best launch", "median", "executions/s", "faster"]);
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for line in lines {
        let Figure::Instructions(counted) = &line.figure else { continue };
        let of_form = |other: &&Line| other.method == line.method && other.bits == line.bits;
        let mut row = vec![
            line.method.clone(),
            line.bits.to_string(),
            counted.ours.to_string(),
            counted.wide_products.to_string(),
        ];
        row.extend(registers(lines.iter().filter(of_form)));
        if timed {
            let best = best_launch(lines, &line.method, line.bits);
            let before = best.and_then(|(launch, _)| best_launch(lines, launch.against.as_deref()?, line.bits));
            row.extend([
                or_dash(best, |(launch, _)| format!("{} × {}", launch.blocks, launch.threads)),
                or_dash(best, |(launch, _)| scaled_seconds(launch.times.median)),
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

/// The report's registers, ours, and spilled bytes.
fn registers<'a>(mut lines: impl Iterator<Item = &'a Line>) -> [String; 3] {
    let registers = lines.find_map(|line| match &line.figure {
        Figure::Registers(it) => Some(it),
        _ => None,
    });
    [
        or_dash(registers.and_then(|it| it.paper), |count| format!("{count:.0}")),
        or_dash(registers.and_then(|it| it.ours), |count| count.to_string()),
        or_dash(registers.and_then(|it| it.local_bytes), |bytes| bytes.to_string()),
    ]
}

/// The launch of a form that does most executions a second, and how many.
fn best_launch<'a>(lines: &'a [Line], method: &str, bits: usize) -> Option<(&'a Launch, f64)> {
    let of_form = lines.iter().filter(|line| line.method == method && line.bits == bits);
    let rate = |launch: &'a Launch| {
        let executions = f64::from(launch.blocks) * f64::from(launch.threads) * f64::from(launch.executions);
        (launch, executions / launch.times.median)
    };
    of_form.filter_map(|line| line.figure.launch()).map(rate).max_by(|one, other| one.1.total_cmp(&other.1))
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
    launches: Vec<&'a Launch>,
}

/// All sweeps, in the order of the lines: those of several grids and several blocks.
pub(super) fn sweeps(lines: &[Line]) -> Vec<Sweep<'_>> {
    let mut sweeps: Vec<Sweep<'_>> = Vec::new();
    for line in lines {
        let Some(launch) = line.figure.launch() else { continue };
        let known = sweeps.iter().position(|sweep| sweep.method == line.method && sweep.bits == line.bits);
        let place = known.unwrap_or_else(|| {
            let (method, against) = (line.method.as_str(), launch.against.as_deref());
            let (blocks, threads, launches) = Default::default();
            sweeps.push(Sweep { method, bits: line.bits, against, blocks, threads, launches });
            sweeps.len() - 1
        });
        let sweep = &mut sweeps[place];
        for (axis, value) in [(&mut sweep.blocks, launch.blocks), (&mut sweep.threads, launch.threads)] {
            if let Err(place) = axis.binary_search(&value) {
                axis.insert(place, value);
            }
        }
        sweep.launches.push(launch);
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

    /// The launch of a grid.
    fn at(&self, blocks: u32, threads: u32) -> Option<&Launch> {
        self.launches.iter().find(|it| (it.blocks, it.threads) == (blocks, threads)).copied()
    }

    /// The median time of a grid, in microseconds.
    pub(super) fn microseconds(&self, blocks: u32, threads: u32) -> Option<f64> {
        self.at(blocks, threads).map(|launch| 1e6 * launch.times.median)
    }

    /// How many times as fast as the other form it is in a grid.
    pub(super) fn relative(&self, blocks: u32, threads: u32) -> Option<f64> {
        self.at(blocks, threads)?.relative
    }

    fn table(&self) -> String {
        let mut rows = vec![vec!["blocks \\ threads".to_owned()]];
        rows[0].extend(self.threads.iter().map(ToString::to_string));
        for &blocks in &self.blocks {
            let figure = |&threads: &u32| {
                if self.against.is_some() { self.relative(blocks, threads) } else { self.microseconds(blocks, threads) }
            };
            let mut row = vec![blocks.to_string()];
            row.extend(self.threads.iter().map(|threads| or_dash(figure(threads), significant)));
            rows.push(row);
        }
        console::table(&rows)
    }
}

#[cfg(test)]
mod tests {
    use warpmp_papers::line::{Instructions, Measurement};

    use super::*;

    /// Of several launches the one with most executions a second counts, not the largest.
    #[test]
    fn the_best_launch_is_told() {
        let line =
            |method: &str, figure| Line { table: "epfl:fig4.2".into(), method: method.into(), bits: 131, figure };
        let launch = |method: &str, threads, median, against: Option<&str>| {
            let times = Measurement {
                mean: median,
                median,
                minimum: None,
                runs: 1,
                checked: None,
                ratio: None,
                floor_fraction: None,
            };
            let (algorithm, against) = ("kernel".to_owned(), against.map(str::to_owned));
            let launch = Launch { executions: 10, algorithm, blocks: 1024, threads, times, against, relative: None };
            line(method, Figure::Launch(launch))
        };
        let counted = Instructions { executions: 10, ours: 7, wide_products: 0, checked: 32 };
        let counted = |method| line(method, Figure::Instructions(counted.clone()));
        let lines = [
            counted("school"),
            launch("school", 512, 10.24e-6, None),
            launch("school", 1024, 40.96e-6, None),
            counted("Karatsuba"),
            launch("Karatsuba", 512, 20.48e-6, Some("school")),
            launch("Karatsuba", 1024, 20.48e-6, Some("school")),
        ];
        let text = text(&lines);
        let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(row("school ").contains("1024 × 512  10.2 µs         512 G"), "{text}");
        assert!(row("Karatsuba ").contains("1024 × 1024") && row("Karatsuba ").ends_with("1.00×"), "{text}");
    }
}
