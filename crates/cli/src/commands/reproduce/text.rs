//! A reproduced table for people.

use std::fmt::Write as _;

use super::{
    collatz, epfl,
    line::{Line, Outcome, Quantity},
    tables::{Content, Engine, Entry},
};
use crate::{
    console,
    summary::{scaled_seconds, significant},
};

/// What there is, for `--reproduce list`.
pub(crate) fn list(entries: &[Entry]) -> String {
    let mut rows = Vec::new();
    for entry in entries {
        let kind = match &entry.table.content {
            Content::Times(_) => "times",
            Content::Counts(_) => "counts",
            Content::Study(_) => "forms",
            Content::Collatz(_) if entry.has_times() => "rates",
            Content::Collatz(_) => "values",
        };
        rows.push(format!("{:<20}  {kind:<6}  {}", entry.name(), entry.table.title));
    }
    rows.join("\n") + "\n"
}

/// Title, sources, rows, notes.
pub(crate) fn table(outcome: &Outcome) -> String {
    let mut text = format!("{}: {}\n{}\n", outcome.table, outcome.title, outcome.source);
    if let Some(machine) = outcome.machine {
        let _ = writeln!(text, "paper: {machine}");
    }
    if let Some(device) = &outcome.device {
        let copy = outcome.copy_bytes_per_second;
        let copy = copy.map_or_else(String::new, |rate| format!(", copies {} GB/s", significant(rate / 1e9)));
        let _ = writeln!(text, "ours: {device}{copy}");
    }
    if let Some(cpu) = &outcome.cpu {
        let _ = writeln!(text, "ours, CPU: {cpu}");
    }
    text.push('\n');
    let counts = outcome.lines.iter().any(|line| line.paper_formula.is_some());
    text.push_str(&match outcome.column {
        _ if outcome.picture.is_some() => epfl::text(&outcome.lines),
        Some(column) => collatz::text(column, &outcome.lines),
        None if counts => counted(&outcome.lines),
        None => timed(&outcome.lines),
    });
    if !outcome.notes.is_empty() {
        text.push('\n');
    }
    for note in &outcome.notes {
        let _ = writeln!(text, "* {note}");
    }
    text
}

fn cells(line: &[&str]) -> Vec<String> {
    line.iter().map(ToString::to_string).collect()
}

fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

fn timed(lines: &[Line]) -> String {
    let row = |line: &Line| {
        let time = |value: Option<f64>| or_dash(value, scaled_seconds);
        let factor = |value: Option<f64>| or_dash(value, |factor| format!("{}×", significant(factor)));
        let fraction = |value: Option<f64>| or_dash(value, |fraction| format!("{fraction:.3}"));
        vec![
            line.method.clone(),
            line.bits.to_string(),
            time(line.paper),
            or_dash(line.algorithm.clone(), |name| name),
            time(line.ours),
            time(line.median),
            factor(line.ratio),
            fraction(line.floor_fraction),
            or_dash(line.default_algorithm.clone(), |name| name),
            time(line.default),
            factor(line.default_ratio),
            fraction(line.default_floor_fraction),
        ]
    };
    let of = |quantity, cpu| {
        lines.iter().filter(move |line| line.quantity == quantity && (line.engine == Some(Engine::Cpu)) == cpu)
    };
    let mut text = String::new();
    let mut add = |rows: Vec<Vec<String>>| {
        if rows.len() > 1 {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&console::table(&rows));
        }
    };
    let heading = [
        "method",
        "bits",
        "paper",
        "ours, same",
        "mean",
        "median",
        "faster",
        "of floor",
        "ours, default",
        "mean",
        "faster",
        "of floor",
    ];
    add([cells(&heading)].into_iter().chain(of(Quantity::Time, false).map(row)).collect());
    let heading =
        ["method", "bits", "paper", "ours, one core", "mean", "median", "faster", "ours, all cores", "mean", "faster"];
    let without_floor = |line: &Line| {
        let mut cells = row(line);
        cells.remove(7);
        cells.truncate(heading.len());
        cells
    };
    add([cells(&heading)].into_iter().chain(of(Quantity::Time, true).map(without_floor)).collect());
    let heading = ["speed-up over one core", "bits", "paper", "ours, same", "ours, default"];
    let factors = |line: &Line| {
        let factor = |value: Option<f64>| or_dash(value, significant);
        vec![line.method.clone(), line.bits.to_string(), factor(line.paper), factor(line.ours), factor(line.default)]
    };
    add([cells(&heading)].into_iter().chain(of(Quantity::SpeedUp, false).map(factors)).collect());
    text
}

/// Lines come in threes: multiplications, words read, words written.
fn counted(lines: &[Line]) -> String {
    let integer = |value: Option<f64>| or_dash(value, |value| format!("{}", value.round()));
    let mut formulas = vec![cells(&["method", "multiplications", "words read", "words written"])];
    let mut rows = vec![cells(&[
        "method",
        "ours",
        "words",
        "mult., paper",
        "ours",
        "at points",
        "read, paper",
        "ours",
        "written, paper",
        "ours",
    ])];
    for three in lines.chunks_exact(3) {
        let [multiplications, reads, writes] = three else { continue };
        let mut formula = vec![multiplications.method.clone()];
        formula.extend(three.iter().map(|line| line.paper_formula.clone().unwrap_or_default()));
        if formulas.last() != Some(&formula) {
            formulas.push(formula);
        }
        rows.push(vec![
            multiplications.method.clone(),
            multiplications.algorithm.clone().unwrap_or_default(),
            (multiplications.bits / 32).to_string(),
            integer(multiplications.paper),
            integer(multiplications.ours),
            or_dash(multiplications.at_points, |count| count.to_string()),
            integer(reads.paper),
            integer(reads.ours),
            integer(writes.paper),
            integer(writes.ours),
        ]);
    }
    format!("{}\n{}", console::table(&formulas), console::table(&rows))
}
