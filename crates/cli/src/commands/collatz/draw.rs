//! A trajectory and a campaign as charts.

use warpmp_collatz::{
    campaign::{Campaign, Contents, Sums, rates},
    number::Trace,
    window::Window,
};

use crate::plot::{Axis, Beside, Chart, LINEAR, Series, Style};

/// Points of a campaign's line: nobody could tell more of them apart.
const POINTS: usize = 1000;

/// The values of a trajectory, the start first, against the steps, from their decimal logarithms. Start, peak, glide and delay have marks.
pub(super) fn trajectory(trace: &Trace, values: &[f64]) -> Chart {
    // Floats hold most values. Of longer ones the chart has the logarithms.
    let is_long = values.iter().any(|value| *value > 300.0);
    let exact = |value: &f64| if is_long { *value } else { 10_f64.powf(*value) };
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(step, value)| (step as f64, exact(value))).collect();
    let end = points.len().saturating_sub(1);
    let peak = (0..points.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0);
    let glide = (trace.glide as usize).min(end);
    let at = |step: usize| points.get(step).copied().into_iter().collect::<Vec<_>>();
    let mark =
        |name: String, colour, beside, step| Series { name, colour, style: Style::Mark(beside), points: at(step) };
    let digits = trace.start.to_string();
    let (title, start) = match digits.len() {
        ..=40 => (digits.clone(), format!("start {digits}")),
        long => (format!("a number of {long} digits"), "start".into()),
    };
    // Up to the end of the glide the line is above the start, so the place below is free; a short glide leaves no place there.
    let is_short = 20 * glide < end;
    let mut marks = vec![mark(start, 0, if is_short { Beside::Above } else { Beside::Below }, 0)];
    if peak > 0 {
        let value = trace.highest.to_string();
        let value = if value.len() > 40 { format!("a number of {} digits", value.len()) } else { value };
        marks.push(mark(format!("peak {value} after {peak} steps"), 6, Beside::Above, peak));
    }
    if glide > 0 && glide < end {
        marks.push(mark(format!("glide: {glide} steps until below the start"), 3, Beside::Below, glide));
    }
    if end > 0 {
        marks.push(mark(format!("delay: {} steps", trace.delay()), 8, Beside::Level, end));
    }
    let level = at(0).into_iter().flat_map(|(_, first)| [(0.0, first), (end as f64, first)]).collect();
    let style = if values.len() > 200 { Style::Thin } else { Style::Solid };
    let unnamed = |colour, style, points| Series { name: String::new(), colour, style, points };
    let lines = [unnamed(10, Style::Dashed, level), unnamed(5, style, points.clone())];
    Chart {
        title: format!("The trajectory of {title}: {end} steps"),
        x: Axis { label: "steps, 3n+1 and n/2".into(), base: LINEAR },
        y: if is_long {
            Axis { label: "decimal logarithm of the value".into(), base: LINEAR }
        } else {
            Axis { label: "value".into(), base: 10 }
        },
        series: lines.into_iter().chain(marks).collect(),
    }
}

/// Numbers a second of each window that has a certificate; the others are shaded.
pub(super) fn campaign(campaign: &Campaign, contents: &Contents) -> Chart {
    let specification = campaign.specification();
    let range = specification.whole();
    let share = |number: u128| 100.0 * number.saturating_sub(range.from()) as f64 / range.count() as f64;
    let mut series: Vec<Series> = Vec::new();
    let mut end = None;
    for part in rates(&contents.done, POINTS) {
        let rate = part.numbers_per_second();
        let points = [(share(part.from), rate), (share(part.end), rate)];
        match series.last_mut().filter(|_| end == Some(part.from)) {
            Some(line) => line.points.extend(points),
            None => series.push(line("numbers/s of a window", 5, Style::Plain, points.to_vec())),
        }
        end = Some(part.end);
    }
    let mut level = 1.0;
    if !contents.done.is_empty() {
        let sums: Sums = contents.done.iter().collect();
        level = sums.numbers as f64 / f64::max(sums.seconds, 1e-6);
        series.push(line("numbers/s of all", 6, Style::Dashed, vec![(0.0, level), (100.0, level)]));
    }
    // A shade takes the whole height; its level only has to be on the axis.
    let missing = |gap: &Window| vec![(share(gap.from()), level), (share(gap.end()), level)];
    let gaps = specification.gaps(&contents.done);
    series.extend(gaps.iter().take(POINTS).map(|gap| line("missing", 10, Style::Shade, missing(gap))));
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
