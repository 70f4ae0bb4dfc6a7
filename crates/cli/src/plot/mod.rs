//! Charts: lines over logarithmic or linear axes, and heat maps (`heat.rs`), as SVG.
//!
//! The data knows nothing of drawing; `svg.rs` and `heat.rs` know nothing of what the data means.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

pub(crate) mod heat;
#[cfg(test)]
mod peers_tests;
mod svg;

/// The base of an axis that is not logarithmic: powers of one would all be the same.
pub(crate) const LINEAR: u32 = 1;

/// A chart without a number in it.
#[derive(Debug, thiserror::Error)]
#[error("nothing to draw in \"{title}\"")]
pub(crate) struct NothingToDraw {
    title: String,
}

/// A chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Drawn in this order, named in a legend beside the chart; those without points are left out. A line in pieces is several
    /// series with the same name, one after the other. A series without a name is not in the legend.
    pub(crate) series: Vec<Series>,
}

/// An axis, logarithmic unless its base is [`LINEAR`].
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// What, in which unit.
    pub(crate) label: String,
    /// Ticks stand at powers of this number.
    pub(crate) base: u32,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Lines of the same number have the same colour.
    pub(crate) colour: usize,
    pub(crate) style: Style,
    /// In the order of the line. Values that are not positive have no place on a logarithmic axis and are left out.
    pub(crate) points: Vec<(f64, f64)>,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// With a dot at every point: what was measured here.
    Solid,
    /// What it is compared with.
    Dashed,
    /// What matters most.
    Bold,
    /// Without dots: thousands of points.
    Thin,
    /// Without dots, as wide as a solid line.
    Plain,
    /// A point with its name beside it, and not in the legend; the name stands there.
    Mark(Beside),
    /// The whole height of the chart between the first and the last `x`.
    Shade,
}

/// The place of a mark's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Above,
    Level,
    Below,
}

/// A file's name for one chart of several: `tables.svg` becomes `tables-candar-II.svg`.
fn plot_name(file: &OsStr, table: &str) -> OsString {
    let table = table.replace(':', "-");
    let path = Path::new(file);
    if is_bare(path) {
        return path.with_file_name(format!("{table}.svg")).into();
    }
    let is_svg = path.extension().is_some_and(|extension| extension == "svg");
    let mut name = if is_svg { path.with_extension("").into_os_string() } else { file.to_owned() };
    name.push(format!("-{table}.svg"));
    name
}

/// A file's name for one chart of `count`: as it is given, if there is but one and the name says more than `.svg`.
pub(crate) fn chart_name(file: &OsStr, table: &str, count: usize) -> OsString {
    if count == 1 && !is_bare(Path::new(file)) { file.to_owned() } else { plot_name(file, table) }
}

/// Is the file called `.svg`?
fn is_bare(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".svg")
}

#[cfg(test)]
mod tests {
    use super::{chart_name, plot_name};

    #[test]
    fn the_only_plot() {
        assert_eq!(chart_name("out/t.svg".as_ref(), "mul", 1), "out/t.svg");
        assert_eq!(chart_name("out/.svg".as_ref(), "mul", 1), "out/mul.svg");
        assert_eq!(chart_name("t.svg".as_ref(), "mul", 2), "t-mul.svg");
    }

    #[test]
    fn a_plot_for_each_table() {
        assert_eq!(plot_name("out/t.svg".as_ref(), "candar:II"), "out/t-candar-II.svg");
        assert_eq!(plot_name("out/.svg".as_ref(), "candar:II"), "out/candar-II.svg");
        assert_eq!(plot_name("t".as_ref(), "dissertation:3.4"), "t-dissertation-3.4.svg");
    }
}
