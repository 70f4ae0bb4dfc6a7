//! A trajectory and a campaign as charts.

use warpmp_collatz::{
    campaign::{Campaign, Contents},
    certificate::Certificate,
    window::Window,
};

use crate::plot::{Axis, Chart, LINEAR, Series, Style};

/// Points of a campaign's line: more could not be told apart.
const POINTS: usize = 1000;

/// The values of T, the start first, against the steps.
pub(super) fn trajectory(start: u128, values: &[f64]) -> Chart {
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(step, &value)| (step as f64, value)).collect();
    let level = vec![(0.0, start as f64), (values.len().saturating_sub(1) as f64, start as f64)];
    let style = if values.len() > 200 { Style::Thin } else { Style::Solid };
    Chart {
        title: format!("The trajectory of {start}"),
        x: Axis { label: "steps of T".into(), base: LINEAR },
        y: Axis { label: "value".into(), base: 10 },
        series: vec![
            Series { name: "T applied so often".into(), colour: 5, style, points },
            Series { name: "the start".into(), colour: 6, style: Style::Dashed, points: level },
        ],
    }
}

/// Numbers a second of each window, where there is a certificate; where there is none, a line below.
pub(super) fn campaign(campaign: &Campaign, contents: &Contents) -> Chart {
    let range = campaign.specification().range;
    let share = |number: u128| 100.0 * number.saturating_sub(range.from()) as f64 / range.count() as f64;
    let mut done: Vec<&Certificate> = contents.done.iter().collect();
    done.sort_by_key(|certificate| certificate.window.from());
    let mut series: Vec<Series> = Vec::new();
    let (mut least, mut end) = (f64::INFINITY, None);
    for part in parts(&done) {
        let rate = part.count as f64 / part.seconds.max(1e-6);
        least = least.min(rate);
        let points = [(share(part.from), rate), (share(part.end), rate)];
        match series.last_mut().filter(|_| end == Some(part.from)) {
            Some(line) => line.points.extend(points),
            None => series.push(line("numbers/s of a window", 5, Style::Thin, points.to_vec())),
        }
        end = Some(part.end);
    }
    let (numbers, seconds) = done.iter().fold((0.0, 0.0), |(numbers, seconds), it| {
        (numbers + it.window.count() as f64, seconds + it.microseconds as f64 / 1e6)
    });
    let mean: f64 = numbers / f64::max(seconds, 1e-6);
    if !done.is_empty() {
        series.push(line("numbers/s of all", 5, Style::Dashed, vec![(0.0, mean), (100.0, mean)]));
    }
    let level = if least.is_finite() { least / 2.0 } else { 1.0 };
    let missing = |gap: &Window| vec![(share(gap.from()), level), (share(gap.end()), level)];
    let gaps = contents.gaps(&range);
    series.extend(gaps.iter().take(POINTS).map(|gap| line("missing", 6, Style::Bold, missing(gap))));
    Chart {
        title: format!("{} numbers from {}: {:.4} % covered", range.count(), range.from(), share_of(contents, &range)),
        x: Axis { label: "% of the range".into(), base: LINEAR },
        y: Axis { label: "numbers a second of an engine".into(), base: 10 },
        series,
    }
}

fn share_of(contents: &Contents, range: &Window) -> f64 {
    contents.covered() as f64 * 100.0 / range.count() as f64
}

fn line(name: &str, colour: usize, style: Style, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), colour, style, points }
}

/// Neighbouring windows together.
struct Part {
    from: u128,
    end: u128,
    count: u128,
    seconds: f64,
}

/// At most [`POINTS`] parts without gaps within, or one for each run of windows if there are more of those.
fn parts(done: &[&Certificate]) -> Vec<Part> {
    let most = done.len().div_ceil(POINTS);
    let mut parts: Vec<Part> = Vec::new();
    let mut windows = 0;
    for certificate in done {
        let window = certificate.window;
        let seconds = certificate.microseconds as f64 / 1e6;
        if let Some(part) = parts.last_mut().filter(|part| part.end == window.from() && windows < most) {
            part.end = window.end();
            part.count += window.count();
            part.seconds += seconds;
            windows += 1;
        } else {
            parts.push(Part { from: window.from(), end: window.end(), count: window.count(), seconds });
            windows = 1;
        }
    }
    parts
}
