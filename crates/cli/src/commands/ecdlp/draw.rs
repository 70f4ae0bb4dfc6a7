//! A campaign as a chart.

use warpmp_curves::campaign::{Estimate, Status};

use crate::plot::{Axis, Chart, LINEAR, Series, Style};

/// Points of a curve.
const POINTS: usize = 200;

/// The probability of a logarithm against the steps, and where the sessions have brought the campaign.
pub(super) fn campaign(status: &Status) -> Chart {
    let done = status.share();
    let end = f64::max(3.0, 1.25 * done);
    let probability = |share: f64| (share, 100.0 * Estimate::probability(share));
    let curve = (0..=POINTS).map(|i| probability(end * i as f64 / POINTS as f64)).collect();
    // The sessions one after the other, as if each had begun when the one before had ended.
    let mut steps = 0;
    let all = status.steps.max(1) as f64;
    let reached = std::iter::once(0)
        .chain(status.sessions.iter().map(|session| session.steps))
        .map(|more| {
            steps += more;
            probability(done * steps as f64 / all)
        })
        .collect();
    let name = if status.problem.name.is_empty() { "A curve" } else { &status.problem.name };
    Chart {
        title: format!("{name}: {done:.4} of the expected steps"),
        x: Axis { label: "steps / expected steps".into(), base: LINEAR },
        y: Axis { label: "probability of the logarithm, %".into(), base: LINEAR },
        series: vec![
            line("Rayleigh's distribution", 5, Style::Thin, curve),
            line("sessions", 6, Style::Solid, reached),
            line("now", 6, Style::Dashed, vec![(done, 0.0), (done, 100.0)]),
        ],
    }
}

fn line(name: &str, colour: usize, style: Style, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), colour, style, points }
}
