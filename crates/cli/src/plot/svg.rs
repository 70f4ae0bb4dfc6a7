//! Drawing, with the SVG backend of plotters: text stays text, so no font is needed here.

use std::ops::Range;

use plotters::{
    chart::ChartBuilder,
    coord::{
        Shift,
        ranged1d::{DefaultFormatting, KeyPointHint, Ranged},
    },
    drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea as _},
    element::{Circle, DashedPathElement, EmptyElement, PathElement, Rectangle, Text},
    prelude::SVGBackend,
    style::{
        Color as _, IntoFont as _, RGBColor, ShapeStyle, TextStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::{Axis, Beside, Chart, LINEAR, NothingToDraw, Series, Style};
use crate::error::{Error, Result};

const SIZE: (u32, u32) = (1080, 640);
const LEGEND_WIDTH: u32 = 300;
const LEGEND_LINE: i32 = 22;
const FONT: &str = "sans-serif";
/// Ticks of an axis, at most.
const TICKS: usize = 12;

/// Colours that most colour-blind people can tell apart (M. Okabe, K. Ito, 2008), and three darker ones.
const COLOURS: [(u8, u8, u8); 11] = [
    (0, 0, 0),
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (204, 121, 167),
    (0, 114, 178),
    (213, 94, 0),
    (150, 140, 0),
    (110, 60, 130),
    (0, 90, 60),
    (130, 130, 130),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Chart {
    /// The chart as an SVG document.
    ///
    /// # Errors
    /// [`NothingToDraw`] if no series has a point.
    pub(crate) fn svg(&self) -> Result<String> {
        let series: Vec<Series> = self
            .series
            .iter()
            .map(|it| it.drawable([self.x.base, self.y.base]))
            .filter(|it| !it.points.is_empty())
            .collect();
        let x = range(series.iter().flat_map(|it| &it.points).map(|point| point.0), self.x.base);
        let y = range(series.iter().flat_map(|it| &it.points).map(|point| point.1), self.y.base);
        let (Some(x), Some(y)) = (x, y) else {
            return Err(NothingToDraw { title: self.title.clone() }.into());
        };
        let mut document = String::new();
        // Nothing can fail in writing to a string; if it did, a document would be missing, not wrong.
        self.draw(&mut document, &series, x, y).map_err(|_| Error::Bug)?;
        Ok(document)
    }

    fn draw(
        &self,
        document: &mut String,
        series: &[Series],
        x: Range<f64>,
        y: Range<f64>,
    ) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let root = SVGBackend::with_string(document, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        // A letter is about half as wide as high: a long title is set smaller, so that all of it is there.
        let letters = self.title.chars().count().max(1) as u32;
        let root = root.titled(&self.title, (FONT, (2 * SIZE.0 / letters).clamp(9, 18)))?;
        let legend_width = legend_width(series);
        let (left, right) = root.split_horizontally(SIZE.0 - legend_width);
        let mut chart = ChartBuilder::on(&left)
            .margin(12)
            .margin_right(if legend_width == 0 { 24 } else { 12 })
            .x_label_area_size(46)
            .y_label_area_size(74)
            .build_cartesian_2d(Powers::of(&self.x, &x), Powers::of(&self.y, &y))?;
        chart
            .configure_mesh()
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .x_labels(TICKS)
            .y_labels(TICKS)
            .x_label_formatter(&|value| tick(*value))
            .y_label_formatter(&|value| tick(*value))
            .label_style((FONT, 13))
            .axis_desc_style((FONT, 15))
            .bold_line_style(RGBColor(215, 215, 215))
            .light_line_style(WHITE)
            .draw()?;
        for shade in series.iter().filter(|line| line.style == Style::Shade) {
            let (first, last) = (shade.points[0].0, shade.points[shade.points.len() - 1].0);
            chart.draw_series([Rectangle::new([(first, y.start), (last, y.end)], shade.fill())])?;
        }
        for line in series {
            let (style, points) = (line.stroke(), line.points.iter().copied());
            match line.style {
                Style::Dashed => {
                    chart.draw_series([DashedPathElement::new(points.clone(), 6, 4, style)])?;
                }
                Style::Solid | Style::Bold | Style::Thin | Style::Plain => {
                    chart.draw_series([PathElement::new(line.points.clone(), style)])?;
                }
                Style::Mark(beside) => {
                    // Names below a falling line have more room on the left.
                    let bound = if beside == Beside::Below { 0.3 } else { 0.5 };
                    let is_left = |at: f64| (at - x.start) / (x.end - x.start) < bound;
                    for point in points.clone() {
                        let text = mark_text(beside, is_left(point.0), style);
                        let mark = EmptyElement::at(point) + Circle::new((0, 0), 6, style.filled());
                        chart.draw_series([mark + Text::new(line.name.clone(), text.0, text.1)])?;
                    }
                }
                Style::Shade => {}
            }
            if !line.has_dots() {
                continue;
            }
            let (size, fill) = if line.style == Style::Dashed { (2, WHITE.filled()) } else { (3, style.filled()) };
            chart.draw_series(points.clone().map(|point| Circle::new(point, size, fill)))?;
            chart.draw_series(points.map(|point| Circle::new(point, size, style.color.stroke_width(1))))?;
        }
        legend(&right, series)?;
        root.present()
    }
}

/// Where the name of a mark stands beside its point, and how.
fn mark_text(beside: Beside, is_left: bool, style: ShapeStyle) -> ((i32, i32), TextStyle<'static>) {
    let down = match beside {
        Beside::Above => -16,
        Beside::Level => 0,
        Beside::Below => 18,
    };
    let (right, anchor) = if is_left { (10, HPos::Left) } else { (-10, HPos::Right) };
    let mut text = TextStyle::from((FONT, 14).into_font()).pos(Pos::new(anchor, VPos::Center));
    text.color = style.color.to_backend_color();
    ((right, down), text)
}

/// The series of the legend.
fn named(series: &[Series]) -> Vec<&Series> {
    let has_line = |line: &&Series| !line.name.is_empty() && !matches!(line.style, Style::Mark(_));
    let mut named: Vec<&Series> = series.iter().filter(has_line).collect();
    named.dedup_by_key(|line| &line.name);
    named
}

/// The columns that the legend needs; 0 without a legend.
fn legend_width(series: &[Series]) -> u32 {
    if named(series).is_empty() { 0 } else { LEGEND_WIDTH }
}

fn legend(area: &Area<'_>, series: &[Series]) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let text: TextStyle<'_> = (FONT, 13).into_font().into();
    let named = named(series);
    if named.is_empty() {
        return Ok(());
    }
    for (number, line) in named.iter().enumerate() {
        let y = 24 + LEGEND_LINE * number as i32;
        let (from, to, style) = ((6, y), (40, y), line.stroke());
        if line.style == Style::Dashed {
            area.draw(&DashedPathElement::new([from, to], 6, 4, style))?;
            area.draw(&Circle::new((23, y), 2, WHITE.filled()))?;
            area.draw(&Circle::new((23, y), 2, style.color.stroke_width(1)))?;
        } else if line.style == Style::Shade {
            area.draw(&Rectangle::new([(6, y - 7), (40, y + 7)], line.fill()))?;
        } else {
            area.draw(&PathElement::new([from, to], style))?;
            if line.has_dots() {
                area.draw(&Circle::new((23, y), 3, style.filled()))?;
            }
        }
        area.draw(&Text::new(line.name.clone(), (48, y - 7), text.clone()))?;
    }
    let height = LEGEND_LINE * named.len() as i32;
    area.draw(&Rectangle::new([(0, 8), (LEGEND_WIDTH as i32 - 10, 20 + height)], RGBColor(215, 215, 215)))
}

impl Series {
    /// Without the points that have no logarithm.
    fn drawable(&self, [base_x, base_y]: [u32; 2]) -> Self {
        let has_place = |value: f64, base| value.is_finite() && (value > 0.0 || base == LINEAR);
        let points =
            self.points.iter().copied().filter(|(x, y)| has_place(*x, base_x) && has_place(*y, base_y)).collect();
        Self { points, ..self.clone() }
    }

    fn colour(&self) -> RGBColor {
        let (red, green, blue) = COLOURS[self.colour % COLOURS.len()];
        RGBColor(red, green, blue)
    }

    fn stroke(&self) -> ShapeStyle {
        self.colour().stroke_width(match self.style {
            Style::Bold => 3,
            Style::Solid | Style::Dashed | Style::Plain | Style::Mark(_) | Style::Shade => 2,
            Style::Thin => 1,
        })
    }

    /// The filling of a shade: lines show through.
    fn fill(&self) -> ShapeStyle {
        self.colour().mix(0.25).filled()
    }

    const fn has_dots(&self) -> bool {
        matches!(self.style, Style::Solid | Style::Dashed | Style::Bold)
    }
}

/// A logarithmic axis whose ticks are powers of a number.
#[derive(Clone, Debug)]
struct Powers {
    base: u32,
    range: Range<f64>,
}

impl Powers {
    fn of(axis: &Axis, range: &Range<f64>) -> Self {
        Self { base: axis.base, range: range.clone() }
    }

    /// All `factor·base^n` within the range, ascending by factor.
    fn ticks(&self, factors: &[f64]) -> Vec<f64> {
        if self.base == LINEAR {
            return Vec::new();
        }
        let base = f64::from(self.base);
        let exponent = |value: f64| value.log(base);
        let (first, last) = (exponent(self.range.start).floor() as i32, exponent(self.range.end).ceil() as i32);
        let powers = (first..=last).flat_map(|n| factors.iter().map(move |factor| factor * base.powi(n)));
        powers.filter(|tick| self.range.contains(tick)).collect()
    }
}

impl Ranged for Powers {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        if self.base == LINEAR {
            let share = (value - self.range.start) / (self.range.end - self.range.start);
            return from + (share * f64::from(to - from)).round() as i32;
        }
        let share = (value / self.range.start).ln() / (self.range.end / self.range.start).ln();
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if self.base == LINEAR {
            return even_ticks(&self.range, hint.max_num_points().max(1));
        }
        let powers = self.ticks(&[1.0]);
        // Few decades have room for steps between them.
        if self.base == 10 && powers.len() < 4 {
            return self.ticks(&[1.0, 2.0, 5.0]);
        }
        let step = powers.len().div_ceil(hint.max_num_points().max(1)).max(1);
        powers.into_iter().step_by(step).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, as many as there is room for.
fn even_ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    let least = (range.end - range.start) / most as f64;
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    let first = (range.start / step).ceil() as i64;
    (first..=first + most as i64).map(|n| n as f64 * step).filter(|tick| range.contains(tick)).collect()
}

/// From below the least value to above the greatest; none if there are no values.
fn range(values: impl Iterator<Item = f64>, base: u32) -> Option<Range<f64>> {
    let (least, greatest) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| (least.min(value), greatest.max(value)));
    if greatest < least {
        return None;
    }
    if base == LINEAR {
        let margin = if greatest > least { (greatest - least) / 40.0 } else { 1.0 };
        return Some(least - margin..greatest + margin);
    }
    // A fifth of a tick, and room around a single value.
    let margin = f64::from(base).powf(if greatest > least { 0.2 } else { 1.0 });
    Some(least / margin..greatest * margin)
}

/// A tick's number: 65536, 0.002.
fn tick(value: f64) -> String {
    if value >= 1e7 {
        return format!("{value:.0e}");
    }
    let digits = if value >= 1.0 || value == 0.0 { 0 } else { (-value.log10()).ceil() as usize };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: Vec<Series>) -> Chart {
        let axis = |label: &str, base| Axis { label: label.into(), base };
        Chart { title: "Times & <sizes>".into(), x: axis("bits", 2), y: axis("milliseconds", 10), series }
    }

    fn series(name: &str, style: Style, points: &[(f64, f64)]) -> Series {
        Series { name: name.into(), colour: 1, style, points: points.to_vec() }
    }

    #[test]
    fn a_chart_has_title_axes_legend_and_lines() {
        let points = [(1024.0, 0.5), (2048.0, 2.0), (65536.0, 900.0)];
        let svg = chart(vec![series("one", Style::Solid, &points), series("two", Style::Dashed, &points)]).svg();
        let svg = svg.unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        for word in ["Times &amp; &lt;sizes&gt;", "bits", "milliseconds", "one", "two", "1024", "65536", "100", "1"] {
            assert!(svg.contains(&format!("\n{word}\n")), "{word}: {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    /// Twice the bits are as far from each other everywhere, more time is higher up.
    #[test]
    fn axes_are_logarithmic() {
        let powers = Powers { base: 2, range: 512.0..16384.0 };
        let map = |value: f64| powers.map(&value, (0, 1000));
        assert_eq!([512.0, 1024.0, 2048.0, 16384.0].map(map), [0, 200, 400, 1000]);
        assert_eq!(powers.map(&1024.0, (1000, 0)), 800);
        assert_eq!(powers.key_points(12), [512.0, 1024.0, 2048.0, 4096.0, 8192.0]);
        assert_eq!(Powers { base: 10, range: 0.8..30.0 }.key_points(12), [1.0, 2.0, 5.0, 10.0, 20.0]);
        let wide = Powers { base: 2, range: 1.0..1e9 }.key_points(12);
        assert!(wide.len() <= 12 && wide.len() > 6, "{wide:?}");
    }

    #[test]
    fn an_axis_may_be_linear() {
        let even = Powers { base: LINEAR, range: -2.5..102.5 };
        let map = |value: f64| even.map(&value, (0, 1050));
        assert_eq!([-2.5, 0.0, 50.0, 100.0].map(map), [0, 25, 525, 1025]);
        assert_eq!(even.key_points(12), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]);
        assert_eq!(Powers { base: LINEAR, range: 9.75..20.25 }.key_points(12).len(), 11);
        let mut chart = chart(vec![series("one", Style::Solid, &[(0.0, 1.0), (100.0, 10.0)])]);
        chart.x.base = LINEAR;
        let svg = chart.svg().unwrap();
        assert!(svg.contains("\n0\n") && svg.contains("\n100\n"), "{svg}");
    }

    #[test]
    fn what_has_no_logarithm_is_left_out() {
        let odd = [(1.0, 0.0), (0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)];
        let error = chart(vec![series("none", Style::Solid, &odd)]).svg().unwrap_err();
        assert!(error.to_string().contains("Times & <sizes>"), "{error}");
        let one = series("one", Style::Bold, &[(1024.0, 3.0)]);
        let svg = chart(vec![series("none", Style::Solid, &odd), one]).svg().unwrap();
        assert!(svg.contains("one") && !svg.contains("none\n"), "{svg}");
    }

    #[test]
    fn numbers_of_ticks() {
        assert_eq!([65536.0, 1.0, 0.5, 0.002, 1e9].map(tick), ["65536", "1", "0.5", "0.002", "1e9"]);
    }
}
