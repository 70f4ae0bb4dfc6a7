//! A trajectory and a campaign as charts.

use dashu_int::UBig;
use warpmp_collatz::{
    campaign::{Campaign, Contents, Sums, rates},
    window::Window,
};

use crate::plot::{Axis, Chart, LINEAR, Series, Style};

/// Points of a campaign's line: nobody could tell more of them apart.
const POINTS: usize = 1000;

/// The values of T, the start first, against the steps, from their decimal logarithms. The peak and the end of the glide have marks.
pub(super) fn trajectory(start: &UBig, values: &[f64]) -> Chart {
    // Floats hold most values. Of longer ones the chart has the logarithms.
    let is_long = values.iter().any(|value| *value > 300.0);
    let exact: Vec<f64> = values.iter().map(|value| if is_long { *value } else { 10_f64.powf(*value) }).collect();
    let values = &exact[..];
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(step, &value)| (step as f64, value)).collect();
    let first = values.first().copied().unwrap_or(0.0);
    let level = vec![(0.0, first), (points.len().saturating_sub(1) as f64, first)];
    let at = |step: usize| points[step];
    let highest = (0..points.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).map(at);
    let below = values.iter().position(|value| *value < first).map(at);
    let mark = |name: &str, colour, point: Option<(f64, f64)>| {
        point.map(|point| Series { name: name.into(), colour, style: Style::Solid, points: vec![point] })
    };
    let marks = [mark("the peak", 1, highest), mark("the end of the glide", 2, below)].into_iter().flatten();
    let digits = start.to_string();
    let shown = if digits.len() > 40 { format!("a number of {} digits", digits.len()) } else { digits };
    let style = if values.len() > 200 { Style::Thin } else { Style::Solid };
    Chart {
        title: format!("The trajectory of {shown}: {} steps of T", values.len().saturating_sub(1)),
        x: Axis { label: "steps of T".into(), base: LINEAR },
        y: if is_long {
            Axis { label: "decimal logarithm of the value".into(), base: LINEAR }
        } else {
            Axis { label: "value".into(), base: 10 }
        },
        series: marks
            .chain([
                Series { name: "T applied so often".into(), colour: 5, style, points: points.clone() },
                Series { name: "the start".into(), colour: 6, style: Style::Dashed, points: level },
            ])
            .collect(),
    }
}

/// Numbers a second of each window that has a certificate, and a line below for the others.
pub(super) fn campaign(campaign: &Campaign, contents: &Contents) -> Chart {
    let specification = campaign.specification();
    let range = specification.whole();
    let share = |number: u128| 100.0 * number.saturating_sub(range.from()) as f64 / range.count() as f64;
    let mut series: Vec<Series> = Vec::new();
    let (mut least, mut end) = (f64::INFINITY, None);
    for part in rates(&contents.done, POINTS) {
        let rate = part.numbers_per_second();
        least = least.min(rate);
        let points = [(share(part.from), rate), (share(part.end), rate)];
        match series.last_mut().filter(|_| end == Some(part.from)) {
            Some(line) => line.points.extend(points),
            None => series.push(line("numbers/s of a window", 5, Style::Thin, points.to_vec())),
        }
        end = Some(part.end);
    }
    if !contents.done.is_empty() {
        let sums: Sums = contents.done.iter().collect();
        let mean = sums.numbers as f64 / f64::max(sums.seconds, 1e-6);
        series.push(line("numbers/s of all", 5, Style::Dashed, vec![(0.0, mean), (100.0, mean)]));
    }
    let level = if least.is_finite() { least / 2.0 } else { 1.0 };
    let missing = |gap: &Window| vec![(share(gap.from()), level), (share(gap.end()), level)];
    let gaps = specification.gaps(&contents.done);
    series.extend(gaps.iter().take(POINTS).map(|gap| line("missing", 6, Style::Bold, missing(gap))));
    let covered = specification.covered(&contents.done) as f64 * 100.0 / range.count() as f64;
    Chart {
        title: format!("{} numbers from {}: {:.4} % covered", range.count(), range.from(), covered),
        x: Axis { label: "% of the range".into(), base: LINEAR },
        y: Axis { label: "numbers a second of an engine".into(), base: 10 },
        series,
    }
}

fn line(name: &str, colour: usize, style: Style, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), colour, style, points }
}
