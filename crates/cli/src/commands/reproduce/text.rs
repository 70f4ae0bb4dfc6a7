//! A reproduced table for people.

use std::fmt::Write as _;

use warpmp_papers::{
    Figure, Line, Outcome,
    line::{Comparison, Count, Measurement, SpeedUp},
    tables::{Content, Engine, Entry},
};

use super::{forms_text, rates_text};
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
    let counts = outcome.lines.iter().any(|line| matches!(line.figure, Figure::Multiplications(_)));
    text.push_str(&match outcome.column {
        _ if outcome.picture.is_some() => forms_text::text(&outcome.lines),
        Some(column) => rates_text::text(column, &outcome.lines),
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

pub(super) fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

fn timed(lines: &[Line]) -> String {
    let times = |engine: Engine| {
        let time = move |line: &'_ Line| line.figure.time().filter(|time| time.engine == engine).cloned();
        lines.iter().filter_map(move |line| Some((line, time(line)?)))
    };
    let speed_ups = lines.iter().filter_map(|line| match &line.figure {
        Figure::SpeedUp(it) => Some(speed_up(line, it)),
        _ => None,
    });
    let tables = [
        (GPU_HEADING.as_slice(), times(Engine::Gpu).map(|(line, time)| gpu_row(line, &time)).collect::<Vec<_>>()),
        (&CPU_HEADING, times(Engine::Cpu).map(|(line, time)| cpu_row(line, &time)).collect()),
        (&SPEED_UP_HEADING, speed_ups.collect()),
    ];
    let text = |(heading, rows): (&[&str], Vec<Vec<String>>)| {
        (!rows.is_empty()).then(|| console::table(&[cells(heading)].into_iter().chain(rows).collect::<Vec<_>>()))
    };
    tables.into_iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

const GPU_HEADING: [&str; 12] = [
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

fn gpu_row(line: &Line, time: &Comparison) -> Vec<String> {
    let floor = |it: &Option<Measurement>| {
        or_dash(it.as_ref().and_then(|it| it.floor_fraction), |fraction| format!("{fraction:.3}"))
    };
    let mut row = cpu_row(line, time);
    row.insert(7, floor(&time.ours));
    row.push(floor(&time.default));
    row
}

const CPU_HEADING: [&str; 10] =
    ["method", "bits", "paper", "ours, one core", "mean", "median", "faster", "ours, all cores", "mean", "faster"];

fn cpu_row(line: &Line, time: &Comparison) -> Vec<String> {
    let name = |name: &Option<String>| or_dash(name.clone(), |name| name);
    let mean = |it: &Option<Measurement>| or_dash(it.as_ref().map(|it| it.mean), scaled_seconds);
    let faster = |it: &Option<Measurement>| {
        or_dash(it.as_ref().and_then(|it| it.ratio), |factor| format!("{}×", significant(factor)))
    };
    vec![
        line.method.clone(),
        line.bits.to_string(),
        or_dash(time.paper, scaled_seconds),
        name(&time.algorithm),
        mean(&time.ours),
        or_dash(time.ours.as_ref().map(|it| it.median), scaled_seconds),
        faster(&time.ours),
        name(&time.default_algorithm),
        mean(&time.default),
        faster(&time.default),
    ]
}

const SPEED_UP_HEADING: [&str; 5] = ["speed-up over one core", "bits", "paper", "ours, same", "ours, default"];

fn speed_up(line: &Line, it: &SpeedUp) -> Vec<String> {
    let factor = |value: Option<f64>| or_dash(value, significant);
    vec![line.method.clone(), line.bits.to_string(), factor(Some(it.paper)), factor(it.ours), factor(it.default)]
}

/// Lines come in threes: multiplications, words read, words written.
fn counted(lines: &[Line]) -> String {
    let integer = |value: f64| format!("{}", value.round());
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
        let [line, reads, writes] = three else { continue };
        let (Figure::Multiplications(products), Figure::WordsRead(reads), Figure::WordsWritten(writes)) =
            (&line.figure, &reads.figure, &writes.figure)
        else {
            continue;
        };
        let mut formula = vec![line.method.clone()];
        formula.extend([products, reads, writes].map(|count: &Count| count.formula.clone()));
        if formulas.last() != Some(&formula) {
            formulas.push(formula);
        }
        rows.push(vec![
            line.method.clone(),
            products.algorithm.clone(),
            (line.bits / 32).to_string(),
            integer(products.paper),
            integer(products.ours),
            or_dash(products.at_points, |count| count.to_string()),
            integer(reads.paper),
            integer(reads.ours),
            integer(writes.paper),
            integer(writes.ours),
        ]);
    }
    format!("{}\n{}", console::table(&formulas), console::table(&rows))
}
