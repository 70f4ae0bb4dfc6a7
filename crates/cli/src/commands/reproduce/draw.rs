//! A reproduced table as a chart: time against width, or multiplications against length.

use warpmp_papers::{Figure, Line, Outcome, line::Comparison, tables::Engine};

use super::{forms_draw, rates_text};
use crate::{
    error::Result,
    plot::{Axis, Chart, Series, Style},
};

/// The table as an SVG document.
///
/// # Errors
/// [`NothingToDraw`](crate::plot::NothingToDraw).
pub(super) fn svg(outcome: &Outcome) -> Result<String> {
    match outcome.picture {
        Some(picture) => forms_draw::svg(outcome, picture),
        None => chart(outcome).svg(),
    }
}

/// The paper's lines are dashed; ours for the same method are solid, in the same colour; the default is bold.
fn chart(outcome: &Outcome) -> Chart {
    if let Some(column) = outcome.column {
        return rates_text::chart(outcome, column);
    }
    let is_count = |line: &Line| matches!(line.figure, Figure::Multiplications(_));
    let counts = outcome.lines.iter().any(is_count);
    let shown = |line: &&Line| is_count(line) || !counts && line.figure.time().is_some();
    let lines: Vec<&Line> = outcome.lines.iter().filter(shown).collect();
    let (x, y) = if counts {
        ("words of both operands".to_owned(), "multiplications of words".to_owned())
    } else {
        let products = lines.first().and_then(|line| line.figure.time()).map_or(0, |time| time.products);
        ("bits of both operands".to_owned(), format!("milliseconds for {products} products"))
    };
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
    let rows: Vec<&Line> = lines.iter().filter(|line| is_on(line, Engine::Gpu)).copied().collect();
    let mut points = points(&rows, |line| line.figure.default());
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points.dedup_by_key(|point| point.0);
    Series { name: "ours, default".into(), colour: 0, style: Style::Bold, points }
}

fn of_method(method: &str, colour: usize, rows: &[&Line]) -> Vec<Series> {
    let cpu = rows.first().is_some_and(|line| is_on(line, Engine::Cpu));
    let series = |name: String, style, points| Series { name, colour, style, points };
    let mut all = vec![
        series(format!("{method}, paper"), Style::Dashed, points(rows, papers)),
        series(
            format!("{method}, ours{}", if cpu { ", one core" } else { "" }),
            Style::Solid,
            points(rows, |line| line.figure.ours()),
        ),
    ];
    if cpu {
        all.push(series(format!("{method}, ours, all cores"), Style::Bold, points(rows, |line| line.figure.default())));
    }
    all
}

fn is_on(line: &Line, engine: Engine) -> bool {
    line.figure.time().is_some_and(|time| time.engine == engine)
}

/// The paper's figure, for our number of products.
fn papers(line: &Line) -> Option<f64> {
    let share = |time: &Comparison| time.products as f64 / time.paper_products as f64;
    line.figure.paper().map(|paper| paper * line.figure.time().map_or(1.0, share))
}

/// Milliseconds against bits, or counts against words.
fn points(rows: &[&Line], value: impl Fn(&Line) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |line: &&Line| {
        let value = value(line)?;
        Some(match line.figure {
            Figure::Time(_) => (line.bits as f64, 1e3 * value),
            _ => ((line.bits / 32) as f64, value),
        })
    };
    rows.iter().filter_map(point).collect()
}
