//! Heat maps: a number for each pair of two scales, as SVG; several side by side.

use plotters::{
    coord::Shift,
    drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea as _},
    element::{Rectangle, Text},
    prelude::SVGBackend,
    style::{
        BLACK, Color as _, IntoFont as _, RGBColor, TextStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::NothingToDraw;
use crate::{
    error::{Error, Result},
    summary::significant,
};

const CELL: (i32, i32) = (46, 24);
/// Left of the cells and above them: labels and titles. Right of them and below: room.
const LEFT: i32 = 76;
const ABOVE: i32 = 44;
const RIGHT: i32 = 24;
const BELOW: i32 = 40;
const TITLE: u32 = 36;
const FONT: &str = "sans-serif";

/// Twice as fast and more, and half as fast and less, of the colours that most colour-blind people can tell apart
/// (M. Okabe, K. Ito, 2008).
const FASTER: (u8, u8, u8) = (0, 114, 178);
const SLOWER: (u8, u8, u8) = (213, 94, 0);

/// Maps in two columns.
#[derive(Clone, Debug)]
pub(crate) struct HeatMaps {
    pub(crate) title: String,
    /// What the columns of a map are, and the rows.
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) scale: Scale,
    pub(crate) panels: Vec<Panel>,
}

/// What the numbers are, and so what their colours mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// 1 is white, more is blue, less is orange.
    Ratio,
    /// The more, the darker, by the logarithm.
    Microseconds,
}

/// A map.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) xs: Vec<u32>,
    pub(crate) ys: Vec<u32>,
    /// A row for each of `ys`, drawn upwards, a number for each of `xs`.
    pub(crate) cells: Vec<Vec<Option<f64>>>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl HeatMaps {
    /// The maps as an SVG document.
    ///
    /// # Errors
    /// [`NothingToDraw`] if no map has a number.
    pub(crate) fn svg(&self) -> Result<String> {
        let numbers = || self.panels.iter().flat_map(|panel| &panel.cells).flatten().flatten().copied();
        if numbers().next().is_none() {
            return Err(NothingToDraw { title: self.title.clone() }.into());
        }
        let (least, most) =
            numbers().fold((f64::INFINITY, 0.0_f64), |(least, most), number| (least.min(number), most.max(number)));
        let colours = Colours { scale: self.scale, range: (least, most) };
        let mut document = String::new();
        // Nothing can fail in writing to a string; if it did, a document would be missing, not wrong.
        self.draw(&mut document, colours).map_err(|_| Error::Bug)?;
        Ok(document)
    }

    fn draw(&self, document: &mut String, colours: Colours) -> Drawn {
        let size = |panel: &Panel| {
            let (columns, rows) = (panel.xs.len() as i32, panel.ys.len() as i32);
            (LEFT + CELL.0 * columns + RIGHT, ABOVE + CELL.1 * rows + BELOW)
        };
        let largest = self.panels.iter().map(size).fold((0, 0), |one, two| (one.0.max(two.0), one.1.max(two.1)));
        let columns = self.panels.len().min(2) as u32;
        let rows = self.panels.len().div_ceil(2) as u32;
        let (width, height) = (columns * largest.0 as u32, rows * largest.1 as u32 + TITLE);
        let root = SVGBackend::with_string(document, (width, height)).into_drawing_area();
        root.fill(&WHITE)?;
        let letters = self.title.chars().count().max(1) as u32;
        let root = root.titled(&self.title, (FONT, (2 * width / letters).clamp(9, 18)))?;
        let areas = root.split_evenly((rows as usize, columns as usize));
        for (panel, area) in self.panels.iter().zip(&areas) {
            self.panel(panel, area, colours)?;
        }
        root.present()
    }

    fn panel(&self, panel: &Panel, area: &Area<'_>, colours: Colours) -> Drawn {
        let text = |size: i32, across, down| TextStyle::from((FONT, size).into_font()).pos(Pos::new(across, down));
        let middle = text(11, HPos::Center, VPos::Center);
        area.draw(&Text::new(panel.title.clone(), (LEFT, 14), text(13, HPos::Left, VPos::Center)))?;
        area.draw(&Text::new(self.y.clone(), (LEFT - 8, 32), text(12, HPos::Right, VPos::Center)))?;
        let bottom = ABOVE + CELL.1 * panel.ys.len() as i32;
        let corner = |column: usize, row: usize| (LEFT + CELL.0 * column as i32, bottom - CELL.1 * (row as i32 + 1));
        for (row, (y, numbers)) in panel.ys.iter().zip(&panel.cells).enumerate() {
            let (left, top) = corner(0, row);
            let place = (left - 8, top + CELL.1 / 2);
            area.draw(&Text::new(y.to_string(), place, text(12, HPos::Right, VPos::Center)))?;
            for (column, number) in numbers.iter().enumerate() {
                let Some(number) = *number else { continue };
                let (left, top) = corner(column, row);
                let (fill, ink) = colours.of(number);
                area.draw(&Rectangle::new([(left, top), (left + CELL.0, top + CELL.1)], fill.filled()))?;
                let place = (left + CELL.0 / 2, top + CELL.1 / 2);
                area.draw(&Text::new(significant(number), place, middle.color(&ink)))?;
            }
        }
        for (column, x) in panel.xs.iter().enumerate() {
            let place = (LEFT + CELL.0 * column as i32 + CELL.0 / 2, bottom + 10);
            area.draw(&Text::new(x.to_string(), place, text(12, HPos::Center, VPos::Center)))?;
        }
        let end = (LEFT + CELL.0 * panel.xs.len() as i32, bottom + 26);
        area.draw(&Text::new(self.x.clone(), end, text(12, HPos::Right, VPos::Center)))
    }
}

/// Numbers as colours.
#[derive(Clone, Copy, Debug)]
struct Colours {
    scale: Scale,
    range: (f64, f64),
}

impl Colours {
    /// Of a cell and of the number in it.
    fn of(self, number: f64) -> (RGBColor, RGBColor) {
        let (colour, share) = match self.scale {
            Scale::Ratio => (if number < 1.0 { SLOWER } else { FASTER }, number.max(1e-9).log2().abs()),
            Scale::Microseconds => {
                let (least, most) = self.range;
                (FASTER, (number / least).ln() / (most / least).ln().max(1e-9))
            }
        };
        let share = share.clamp(0.0, 1.0);
        let mix = |part: u8| (255.0 + (f64::from(part) - 255.0) * share).round() as u8;
        let ink = if share > 0.7 { WHITE } else { BLACK };
        (RGBColor(mix(colour.0), mix(colour.1), mix(colour.2)), ink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps(scale: Scale, cells: Vec<Vec<Option<f64>>>) -> HeatMaps {
        let panel = Panel { title: "131 bits".into(), xs: vec![1, 2], ys: vec![4, 8], cells };
        HeatMaps {
            title: "School & Karatsuba".into(),
            x: "threads".into(),
            y: "blocks".into(),
            scale,
            panels: vec![panel; 3],
        }
    }

    #[test]
    fn maps_have_titles_scales_and_numbers() {
        let svg = maps(Scale::Ratio, vec![vec![Some(1.0), Some(2.5)], vec![None, Some(0.25)]]).svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        for word in ["School &amp; Karatsuba", "131 bits", "threads", "blocks", "1.00", "2.50", "0.25", "4", "8"] {
            assert!(svg.contains(&format!("\n{word}\n")), "{word}: {svg}");
        }
        assert_eq!(svg.matches("\n131 bits\n").count(), 3);
        // White, all blue, all orange.
        for colour in ["#FFFFFF", "#0072B2", "#D55E00"] {
            assert!(svg.contains(colour), "{colour}: {svg}");
        }
    }

    #[test]
    fn times_are_darker_the_longer() {
        let colours = Colours { scale: Scale::Microseconds, range: (2.0, 8.0) };
        let red = |number| colours.of(number).0.0;
        assert_eq!((red(2.0), red(4.0), red(8.0)), (255, 128, 0));
        assert_eq!(Colours { scale: Scale::Microseconds, range: (3.0, 3.0) }.of(3.0).0.0, 255);
    }

    #[test]
    fn no_number_no_map() {
        let error = maps(Scale::Ratio, vec![vec![None, None]; 2]).svg().unwrap_err();
        assert!(error.to_string().contains("School & Karatsuba"), "{error}");
    }
}
