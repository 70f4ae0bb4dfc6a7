//! Rates over time, as SVG within a page: colours come from the page, so that it may be dark.

use maud::{Markup, html};

use super::{
    facts::{Facts, Source, Span},
    time::utc,
};
use crate::summary::scaled;

/// Engines with a line of their own; the page's style has a colour for each, and one for the others.
const LINES: usize = 6;
/// Intervals of the time axis, at most.
const MOST_INTERVALS: usize = 60;
/// The drawing's size and its margins.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;

/// A line: a value an interval, where there is one.
struct Line {
    name: String,
    values: Vec<Option<f64>>,
}

/// The time from the first unit's begin to the last unit's end, in intervals.
struct Time {
    begin: f64,
    end: f64,
    intervals: usize,
}

impl Time {
    /// None if no certificate tells a time.
    fn of(spans: &[Span]) -> Option<Self> {
        let known = || spans.iter().filter(|span| span.end > 0);
        let begin = known().map(|span| span.end as f64 - span.seconds).min_by(f64::total_cmp)?;
        let end = known().map(|span| span.end as f64).max_by(f64::total_cmp)?;
        // Times are whole seconds: a shorter interval would be empty between two of them.
        let seconds = (end - begin).max(1.0);
        let intervals = known().count().min(seconds as usize).clamp(1, MOST_INTERVALS);
        Some(Self { begin, end: begin + seconds, intervals })
    }

    fn width(&self) -> f64 {
        (self.end - self.begin) / self.intervals as f64
    }

    /// The intervals in which a span lies, each with the share of the span.
    fn shares(&self, span: &Span) -> impl Iterator<Item = (usize, f64)> {
        let (width, intervals) = (self.width(), self.intervals);
        let end = span.end as f64 - self.begin;
        let begin = (end - span.seconds).max(0.0);
        let last = ((end / width).ceil() as usize).clamp(1, intervals) - 1;
        let first = ((begin / width) as usize).min(last);
        (first..=last).map(move |interval| {
            let low = begin.max(interval as f64 * width);
            let high = end.min((interval + 1) as f64 * width);
            let share = if end > begin { (high - low) / (end - begin) } else { 1.0 };
            (interval, share.clamp(0.0, 1.0))
        })
    }
}

/// A source in words.
pub(crate) fn name(host: &str, device: &str) -> String {
    if host.is_empty() { format!("host not known: {device}") } else { format!("{host}: {device}") }
}

/// The pace of all engines together, and the rate of each: two charts. None if no certificate tells a time.
pub(crate) fn charts(facts: &Facts, sources: &[Source]) -> Option<Markup> {
    let time = Time::of(&facts.spans)?;
    let mut pace = vec![0.0; time.intervals];
    // The amount and the seconds of each interval.
    let mut sums = vec![vec![(0.0, 0.0); time.intervals]; sources.len().min(LINES + 1)];
    let place = |span: &Span| {
        let place = sources.iter().position(|it| it.host == span.host && it.device == span.device);
        place.unwrap_or(LINES).min(LINES)
    };
    for span in facts.spans.iter().filter(|span| span.end > 0) {
        let line = place(span);
        for (interval, share) in time.shares(span) {
            pace[interval] += span.amount * share / time.width();
            let (amount, seconds) = &mut sums[line][interval];
            *amount += span.amount * share;
            *seconds += span.seconds * share;
        }
    }
    let rate = |(amount, seconds): (f64, f64)| (seconds > 0.0).then(|| amount / seconds);
    let engines: Vec<Line> = (sums.into_iter().enumerate())
        .map(|(i, sums)| {
            let name = if i < LINES { name(&sources[i].host, &sources[i].device) } else { "all others".into() };
            Line { name, values: sums.into_iter().map(rate).collect() }
        })
        .collect();
    let all = [Line { name: "all engines together".into(), values: pace.into_iter().map(Some).collect() }];
    Some(html! {
        (chart("pace", &format!("{} a second, all engines together", facts.amount_name), &time, &all))
        (chart("engines", &format!("{} a second of an engine at work", facts.amount_name), &time, &engines))
    })
}

fn chart(id: &str, caption: &str, time: &Time, lines: &[Line]) -> Markup {
    let most = lines.iter().flat_map(|line| &line.values).flatten().fold(0.0_f64, |most, it| most.max(*it));
    let most = if most > 0.0 { most * 1.05 } else { 1.0 };
    let x = |interval: usize| LEFT + (WIDTH - LEFT - RIGHT) * (interval as f64 + 0.5) / time.intervals as f64;
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / most);
    html! {
        figure id=(id) {
            figcaption { (caption) }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(caption) {
                @for value in [0.0, most / 2.0, most] {
                    line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y(value)) y2=(y(value)) {}
                    text x=(LEFT - 6.0) y=(y(value) + 4.0) text-anchor="end" { (scaled(value)) }
                }
                text x=(LEFT) y=(HEIGHT - 6.0) { (utc(time.begin.max(0.0) as u64)) }
                text x=(WIDTH - RIGHT) y=(HEIGHT - 6.0) text-anchor="end" { (utc(time.end as u64)) }
                @for (number, line) in lines.iter().enumerate() {
                    g class=(format!("line s{number}")) {
                        title { (line.name) }
                        @for piece in pieces(&line.values) {
                            @if let [(interval, value)] = piece[..] {
                                circle cx=(format!("{:.1}", x(interval))) cy=(format!("{:.1}", y(value))) r="3" {}
                            } @else {
                                polyline points=(points(&piece, x, y)) {}
                            }
                        }
                    }
                }
            }
            @if lines.len() > 1 {
                ul.keys {
                    @for (number, line) in lines.iter().enumerate() {
                        li { span class=(format!("key s{number}")) {} (line.name) }
                    }
                }
            }
        }
    }
}

fn points(piece: &[(usize, f64)], x: impl Fn(usize) -> f64, y: impl Fn(f64) -> f64) -> String {
    let points = piece.iter().map(|(interval, value)| format!("{:.1},{:.1}", x(*interval), y(*value)));
    points.collect::<Vec<_>>().join(" ")
}

/// The parts of a line without a gap.
fn pieces(values: &[Option<f64>]) -> Vec<Vec<(usize, f64)>> {
    let mut pieces = vec![Vec::new()];
    for (interval, value) in values.iter().enumerate() {
        match (value, pieces.last_mut()) {
            (Some(value), Some(piece)) => piece.push((interval, *value)),
            (None, Some(piece)) if !piece.is_empty() => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(end: u64, seconds: f64) -> Span {
        Span { end, seconds, amount: 1.0, ..Span::default() }
    }

    /// The shares of a span are one whole, wherever it lies.
    #[test]
    fn spans_are_divided_among_intervals() {
        let spans: Vec<Span> = (0..200).map(|i| span(1000 + 13 * i, (i % 17) as f64 * 11.0)).collect();
        let time = Time::of(&spans).expect("times");
        assert_eq!(time.intervals, MOST_INTERVALS);
        for span in &spans {
            let sum: f64 = time.shares(span).map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{span:?}: {sum}");
            assert!(time.shares(span).all(|(interval, _)| interval < time.intervals));
        }
        assert!(Time::of(&[span(0, 5.0)]).is_none());
        let one = Time::of(&[span(50, 0.0)]).expect("a time");
        assert_eq!(one.shares(&span(50, 0.0)).collect::<Vec<_>>(), [(0, 1.0)]);
    }

    #[test]
    fn lines_have_gaps() {
        let values = [None, Some(1.0), Some(2.0), None, None, Some(3.0), None];
        assert_eq!(pieces(&values), [vec![(1, 1.0), (2, 2.0)], vec![(5, 3.0)]]);
        assert!(pieces(&[None, None]).is_empty());
    }
}
