//! A reproduced table of chapter 4 for people, and as a chart.

use warpmp_papers::{Figure, Line, Outcome, line::Measurement};

use super::text::or_dash;
use crate::{
    console,
    plot::{Axis, Chart, LINEAR, Series, Style},
    summary::{scaled, significant},
};

/// The rows.
pub(super) fn text(column: &str, lines: &[Line]) -> String {
    let rates = lines.iter().any(|line| line.figure.rate().is_some());
    let figure = |value: Option<f64>| or_dash(value, |it| if rates { scaled(it) } else { plain(it) });
    let faster = |it: &Option<Measurement>| {
        or_dash(it.as_ref().and_then(|it| it.ratio), |factor| format!("{}×", significant(factor)))
    };
    let mut heading = vec!["method", column, "paper", "ours"];
    if rates {
        heading = vec!["method", column, "paper, /s", "ours, same", "/s", "faster", "ours, default", "/s", "faster"];
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    rows.extend(lines.iter().map(|line| {
        let place = [line.method.clone(), line.bits.to_string(), figure(line.figure.paper())];
        let cells = match &line.figure {
            Figure::Rate(rate) => vec![
                or_dash(rate.algorithm.clone(), |name| name),
                figure(line.figure.ours()),
                faster(&rate.ours),
                or_dash(rate.default_algorithm.clone(), |name| name),
                figure(line.figure.default()),
                faster(&rate.default),
            ],
            other => vec![figure(other.ours())],
        };
        place.into_iter().chain(cells).collect()
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
pub(super) fn chart(outcome: &Outcome, column: &str) -> Chart {
    let rates = outcome.lines.iter().any(|line| line.figure.rate().is_some());
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
        add("paper", Style::Dashed, points(|line| line.figure.paper()));
        add("ours", Style::Solid, points(|line| line.figure.ours()));
        if rates {
            add("ours, default", Style::Bold, points(|line| line.figure.default()));
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

#[cfg(test)]
mod tests {
    use warpmp_papers::{line::Comparison, tables::Engine};

    use super::*;

    #[test]
    fn rates_as_text_and_chart() {
        let rate = |mean, ratio| Measurement {
            mean,
            median: mean,
            minimum: None,
            runs: 2,
            checked: None,
            ratio: Some(ratio),
            floor_fraction: None,
        };
        let comparison = |paper, ours| Comparison {
            engine: Engine::Cpu,
            paper_products: 1 << 30,
            products: 3000,
            paper: Some(paper),
            algorithm: Some("algorithm 6".into()),
            ours: Some(rate(ours, ours / paper)),
            default_algorithm: Some("all cores".into()),
            default: Some(rate(3.0 * ours, 3.0 * ours / paper)),
        };
        let line = |bits, paper, ours| Line {
            table: "dissertation:4.5".into(),
            method: "m".into(),
            bits,
            figure: Figure::Rate(comparison(paper, ours)),
        };
        let outcome = Outcome {
            table: "dissertation:4.5".into(),
            title: "Rates",
            column: Some("d"),
            source: "a dissertation".into(),
            machine: None,
            device: None,
            cpu: None,
            copy_bytes_per_second: None,
            lines: vec![line(10, 2e6, 5e6), line(12, 1e6, 4e6)],
            picture: None,
            notes: Vec::new(),
        };
        let table = text("d", &outcome.lines);
        assert!(table.contains("2.00 M  algorithm 6") && table.contains("2.50×") && table.contains("7.50×"), "{table}");
        let svg = chart(&outcome, "d").svg().unwrap();
        assert!(svg.contains("m, ours, default") && svg.contains("numbers a second"));
    }
}
