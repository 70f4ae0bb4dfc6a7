//! What was found: for people, and as a picture.

use std::{fmt::Write as _, path::Path};

use serde::Serialize;
use warpmp::{
    Operation, Session,
    device::DeviceInfo,
    kernels::Settings,
    tuning::{self, Found, Table, Timing, Work, ranking},
};

use crate::{
    console,
    error::Result,
    io::output::Output,
    plot::{Axis, Chart, Series, Style},
    summary::{scaled_seconds, significant},
};

/// What would be measured.
pub(super) fn dry_run(session: &Session, works: &[Work], table: &Path) -> Result<String> {
    let Some(device) = session.device() else { return Ok(String::new()) };
    let free_bytes = device.free_bytes().map_err(warpmp::Error::from)? / 2;
    let mut cells = vec![["operation", "bits", "kernels", "lanes"].map(str::to_owned).to_vec()];
    for Work { operation, grid } in works {
        let operation = *operation;
        for &bits in &grid.bits {
            let candidates = crate::engine::register().candidates(
                operation,
                &tuning::operands(operation, bits, 1),
                device.info(),
            )?;
            let lanes = grid.lanes(operation, bits, free_bytes);
            let lanes: Vec<String> = lanes.iter().map(ToString::to_string).collect();
            cells.push(vec![operation.to_string(), bits.to_string(), candidates.len().to_string(), lanes.join(" ")]);
        }
    }
    Ok(format!("{}the table would be {}\n", console::table(&cells), table.display()))
}

/// The winners by size and count, and where the table is.
pub(super) fn summary(found: &Found, table: &Table, info: &DeviceInfo, files: &[String]) -> String {
    let heading = ["operation", "bits", "lanes", "fastest", "time", "a lane", "next", "takes", "settings"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    for (operation, bits, lanes) in batches(&found.timings) {
        let all = ranking(&found.timings, operation, bits, lanes);
        let Some(first) = all.first() else { continue };
        let next = all.get(1);
        cells.push(vec![
            operation.to_string(),
            bits.to_string(),
            lanes.to_string(),
            first.algorithm.clone(),
            scaled_seconds(first.seconds),
            format!("{} ns", significant(1e9 * first.seconds / lanes as f64)),
            next.map_or_else(|| "–".into(), |it| it.algorithm.clone()),
            next.map_or_else(|| "–".into(), |it| format!("× {}", significant(it.seconds / first.seconds))),
            words(&first.settings),
        ]);
    }
    let rows: usize = table.rows.values().map(Vec::len).sum();
    let mut text = format!("{} in {}\n{}", info.name, scaled_seconds(found.took.as_secs_f64()), console::table(&cells));
    let _ = write!(text, "{} measurements, {rows} rows", found.timings.len());
    if found.hopeless > 0 {
        let _ = write!(text, "; {} not made: they would take long, and others are much faster", found.hopeless);
    }
    for (number, file) in files.iter().enumerate() {
        let what = if number == 0 { "table" } else { "picture" };
        let _ = write!(text, "\n{what:<8} {file}");
    }
    text + "\n"
}

/// Every batch that was measured, in the order of measuring.
fn batches(timings: &[Timing]) -> Vec<(Operation, usize, usize)> {
    let mut batches: Vec<_> = timings.iter().map(|it| (it.operation, it.bits, it.lanes)).collect();
    batches.dedup();
    batches
}

/// Settings in words: `warps 2, glue 1`.
fn words(settings: &Settings) -> String {
    let object = serde_json::to_value(settings).unwrap_or_default();
    let pairs = object.as_object().into_iter().flatten();
    let words: Vec<String> =
        pairs.map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"'))).collect();
    if words.is_empty() { "default".into() } else { words.join(", ") }
}

/// A measurement, as a line of the file that has all of them.
#[derive(Debug, Serialize)]
struct Line<'t> {
    operation: String,
    bits: usize,
    lanes: usize,
    algorithm: &'t str,
    settings: String,
    seconds: f64,
}

/// Every measurement, in the order of measuring.
pub(super) fn write_csv(timings: &[Timing], output: Output) -> Result<()> {
    let lines = timings.iter().map(|Timing { operation, bits, lanes, algorithm, settings, seconds }| {
        let (operation, settings) = (operation.to_string(), words(settings));
        Line { operation, bits: *bits, lanes: *lanes, algorithm, settings, seconds: *seconds }
    });
    output.write_csv(lines)
}

/// Time against size: a line for each algorithm, with its best settings, for the largest batches.
pub(super) fn chart(operation: Operation, timings: &[Timing], device: &str) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for (_, bits, lanes) in batches(timings).into_iter().filter(|it| it.0 == operation) {
        for timing in ranking(timings, operation, bits, lanes) {
            let place = series.iter().position(|it| it.name == timing.algorithm).unwrap_or_else(|| {
                let (name, colour) = (timing.algorithm.clone(), series.len());
                series.push(Series { name, colour, style: Style::Solid, points: Vec::new() });
                series.len() - 1
            });
            let point = (bits as f64, 1e9 * timing.seconds / lanes as f64);
            // Larger batches come later.
            series[place].points.retain(|it| it.0 < point.0);
            series[place].points.push(point);
        }
    }
    Chart {
        title: format!("{operation} on {device}, large batches"),
        x: Axis { label: "bits of the operands".into(), base: 2 },
        y: Axis { label: format!("nanoseconds for each of the {}", operation.results_name()), base: 10 },
        series,
    }
}
