//! A reproduced table as a chart: time against width, or multiplications against length.

use super::{
    collatz, epfl,
    line::{Line, Outcome, Quantity},
    tables::Engine,
};
use crate::{
    error::Result,
    plot::{Axis, Chart, Series, Style},
};

/// The table as an SVG document.
///
/// # Errors
/// [`NothingToDraw`](crate::plot::NothingToDraw).
pub(crate) fn svg(outcome: &Outcome) -> Result<String> {
    match outcome.picture {
        Some(picture) => epfl::svg(outcome, picture),
        None => chart(outcome).svg(),
    }
}

/// The paper's lines are dashed; ours for the same method are solid, in the same colour; the default is bold.
fn chart(outcome: &Outcome) -> Chart {
    if let Some(column) = outcome.column {
        return collatz::chart(outcome, column);
    }
    let counts = outcome.lines.iter().any(|line| line.quantity == Quantity::Multiplications);
    let (quantity, x, y) = if counts {
        (Quantity::Multiplications, "words of both operands".to_owned(), "multiplications of words".to_owned())
    } else {
        let products = outcome.lines.first().map_or(0, |line| line.products);
        (Quantity::Time, "bits of both operands".to_owned(), format!("milliseconds for {products} products"))
    };
    let lines: Vec<&Line> = outcome.lines.iter().filter(|line| line.quantity == quantity).collect();
    let mut methods: Vec<&str> = lines.iter().map(|line| line.method.as_str()).collect();
    methods.dedup();
    let mut series = Vec::new();
    if !counts {
        series.push(default(&lines));
    }
    for (number, method) in methods.iter().enumerate() {
        let rows: Vec<&Line> = lines.iter().filter(|line| line.method == *method).copied().collect();
        series.extend(of_method(method, number + 1, &rows));
    }
    let base = |label, base| Axis { label, base };
    Chart { title: format!("{}: {}", outcome.table, outcome.title), x: base(x, 2), y: base(y, 10), series }
}

/// What is chosen without a name, where rows are of a GPU.
fn default(lines: &[&Line]) -> Series {
    let rows: Vec<&Line> = lines.iter().filter(|line| line.engine == Some(Engine::Gpu)).copied().collect();
    let mut points = points(&rows, |line| line.default);
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points.dedup_by_key(|point| point.0);
    Series { name: "ours, default".into(), colour: 0, style: Style::Bold, points }
}

fn of_method(method: &str, colour: usize, rows: &[&Line]) -> Vec<Series> {
    let cpu = rows.first().is_some_and(|line| line.engine == Some(Engine::Cpu));
    let series = |name: String, style, points| Series { name, colour, style, points };
    let mut all = vec![
        series(format!("{method}, paper"), Style::Dashed, points(rows, papers)),
        series(
            format!("{method}, ours{}", if cpu { ", one core" } else { "" }),
            Style::Solid,
            points(rows, |line| line.ours),
        ),
    ];
    if cpu {
        all.push(series(format!("{method}, ours, all cores"), Style::Bold, points(rows, |line| line.default)));
    }
    all
}

/// The paper's figure, for as many products as ours.
fn papers(line: &Line) -> Option<f64> {
    line.paper.map(|paper| paper * line.products as f64 / line.paper_products as f64)
}

/// Milliseconds against bits, or counts against words.
fn points(rows: &[&Line], value: impl Fn(&Line) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |line: &&Line| {
        let value = value(line)?;
        Some(match line.quantity {
            Quantity::Time => (line.bits as f64, 1e3 * value),
            _ => ((line.bits / 32) as f64, value),
        })
    };
    rows.iter().filter_map(point).collect()
}
