//! A reproduced table of chapter 4 for people, and as a chart.

use super::super::line::{Line, Outcome, Quantity};
use crate::{
    console,
    plot::{Axis, Chart, LINEAR, Series, Style},
    summary::{scaled, significant},
};

fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

/// The rows.
pub(crate) fn text(column: &str, lines: &[Line]) -> String {
    let rates = lines.iter().any(|line| line.quantity == Quantity::Rate);
    let figure = |value: Option<f64>| or_dash(value, |it| if rates { scaled(it) } else { plain(it) });
    let factor = |value: Option<f64>| or_dash(value, |it| format!("{}×", significant(it)));
    let mut heading = vec!["method", column, "paper", "ours"];
    if rates {
        heading = vec!["method", column, "paper, /s", "ours, same", "/s", "faster", "ours, default", "/s", "faster"];
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    rows.extend(lines.iter().map(|line| {
        let mut row = vec![line.method.clone(), line.bits.to_string(), figure(line.paper)];
        if rates {
            row.push(or_dash(line.algorithm.clone(), |name| name));
        }
        row.push(figure(line.ours));
        if rates {
            row.push(factor(line.ratio));
            row.push(or_dash(line.default_algorithm.clone(), |name| name));
            row.push(figure(line.default));
            row.push(factor(line.default_ratio));
        }
        row
    }));
    console::table(&rows)
}

/// All digits of a whole number, five decimals of another.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    format!("{value:.5}").trim_end_matches('0').to_owned()
}

/// The paper's lines are dashed; ours for the same method are solid, in the same colour; the default is bold.
pub(crate) fn chart(outcome: &Outcome, column: &str) -> Chart {
    let rates = outcome.lines.iter().any(|line| line.quantity == Quantity::Rate);
    let mut methods: Vec<&str> = outcome.lines.iter().map(|line| line.method.as_str()).collect();
    methods.dedup();
    let mut series = Vec::new();
    for (number, method) in methods.into_iter().enumerate() {
        let points = |value: fn(&Line) -> Option<f64>| -> Vec<(f64, f64)> {
            let of_method = outcome.lines.iter().filter(|line| line.method == method);
            of_method.filter_map(|line| Some((line.bits as f64, value(line)?))).collect()
        };
        let mut add = |name: &str, style, points| {
            series.push(Series { name: format!("{method}, {name}"), colour: number + 1, style, points });
        };
        add("paper", Style::Dashed, points(|line| line.paper));
        add("ours", Style::Solid, points(|line| line.ours));
        if rates {
            add("ours, default", Style::Bold, points(|line| line.default));
        }
    }
    let y = if rates { "numbers a second" } else { "figure" };
    Chart {
        title: format!("{}: {}", outcome.table, outcome.title),
        x: Axis { label: column.into(), base: LINEAR },
        y: Axis { label: y.into(), base: 10 },
        series,
    }
}
