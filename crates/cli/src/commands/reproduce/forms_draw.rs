//! A study as heat maps over grids and blocks, or as a chart where it has no sweep.

use warpmp_papers::{Figure, Line, Outcome, forms::Picture};

use super::forms_text::{Sweep, sweeps};
use crate::{
    error::Result,
    plot::{
        Axis, Chart, LINEAR, Series, Style,
        heat::{HeatMaps, Panel, Scale},
    },
};

/// The study as an SVG document.
///
/// # Errors
/// [`NothingToDraw`](crate::plot::NothingToDraw).
pub(super) fn svg(outcome: &Outcome, picture: Picture) -> Result<String> {
    let sweeps = sweeps(&outcome.lines);
    let scale = if picture == Picture::Ratios { Scale::Ratio } else { Scale::Microseconds };
    let panels: Vec<Panel> = sweeps
        .iter()
        .filter(|sweep| scale == Scale::Microseconds || sweep.against.is_some())
        .map(|sweep| panel(sweep, scale))
        .collect();
    if picture == Picture::Registers || panels.is_empty() {
        return chart(outcome).svg();
    }
    let title = format!("{}: {}", outcome.table, outcome.title);
    HeatMaps { title, x: "threads a block".into(), y: "blocks".into(), scale, panels }.svg()
}

fn panel(sweep: &Sweep<'_>, scale: Scale) -> Panel {
    let figure = |blocks, threads| match scale {
        Scale::Ratio => sweep.relative(blocks, threads),
        Scale::Microseconds => sweep.microseconds(blocks, threads),
    };
    let title = match scale {
        Scale::Ratio => sweep.title(),
        Scale::Microseconds => format!("{} bits, {}: µs", sweep.bits, sweep.method),
    };
    let row = |&blocks: &u32| sweep.threads.iter().map(|&threads| figure(blocks, threads)).collect();
    let cells = sweep.blocks.iter().map(row).collect();
    Panel { title, xs: sweep.threads.clone(), ys: sweep.blocks.clone(), cells }
}

/// Registers by bits, the report's dashed; without a GPU the instructions.
fn chart(outcome: &Outcome) -> Chart {
    let has_registers =
        outcome.lines.iter().any(|line| matches!(&line.figure, Figure::Registers(it) if it.ours.is_some()));
    let label = if has_registers { "registers a thread" } else { "instructions of an execution, without moves" };
    let shown = |line: &&Line| match line.figure {
        Figure::Registers(_) => has_registers,
        Figure::Instructions(_) => !has_registers,
        _ => false,
    };
    let mut methods: Vec<&str> = outcome.lines.iter().map(|line| line.method.as_str()).collect();
    methods.dedup();
    let mut series = Vec::new();
    for (number, method) in methods.into_iter().enumerate() {
        let points = |value: fn(&Line) -> Option<f64>| -> Vec<(f64, f64)> {
            let of_method = outcome.lines.iter().filter(shown).filter(|line| line.method == method);
            of_method.filter_map(|line| Some((line.bits as f64, value(line)?))).collect()
        };
        let line = |name, style, points| Series { name, colour: number + 1, style, points };
        series.push(line(format!("{method}, paper"), Style::Dashed, points(|line| line.figure.paper())));
        series.push(line(method.to_owned(), Style::Solid, points(|line| line.figure.ours())));
    }
    Chart {
        title: format!("{}: {}", outcome.table, outcome.title),
        x: Axis { label: "bits of an operand".into(), base: LINEAR },
        y: Axis { label: label.into(), base: LINEAR },
        series,
    }
}
