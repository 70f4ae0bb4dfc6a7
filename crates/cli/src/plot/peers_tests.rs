//! The picture of the README and of the book: products a second by `WarpMP`, CGBN and GMP. It is drawn from the stored figures, and
//! stored beside them; `WARPMP_BLESS=1` draws it anew.

use std::fs;

use super::{Axis, Chart, Series, Style};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/2026-11-27-h200");

/// The book's copy of the picture.
const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/images/peers.svg");

/// The rows of a table, each as its values in these columns.
fn rows<const N: usize>(file: &str, columns: [&str; N]) -> Vec<[String; N]> {
    let mut table = csv::Reader::from_path(format!("{FOLDER}/{file}")).unwrap();
    let header = table.headers().unwrap().clone();
    let places = columns.map(|column| header.iter().position(|name| name == column).unwrap());
    table.records().map(Result::unwrap).map(|row| places.map(|place| row[place].to_owned())).collect()
}

fn line(name: &str, colour: usize, style: Style, points: &[[String; 2]]) -> Series {
    let points = points.iter().map(|[bits, rate]| (bits.parse().unwrap(), rate.parse().unwrap())).collect();
    Series { name: name.into(), colour, style, points }
}

fn picture() -> String {
    let ours: Vec<[String; 2]> = rows("mul.csv", ["bits_a", "ops_per_second"])
        .into_iter()
        .filter(|[bits, _]| bits.parse::<u32>().unwrap().is_power_of_two())
        .collect();
    let peers = rows("peers.csv", ["system", "bits", "products_per_second"]);
    let mut series = vec![line("WarpMP, one H200", 5, Style::Bold, &ours)];
    for (name, colour, style) in [
        ("CGBN, one H200", 6, Style::Solid),
        ("WarpMP, one CPU core", 5, Style::Dashed),
        ("GMP, one CPU core", 3, Style::Dashed),
    ] {
        let points: Vec<_> =
            peers.iter().filter(|row| row[0] == name).map(|[_, x, y]| [x.clone(), y.clone()]).collect();
        assert!(points.len() > 5, "{name}");
        series.push(line(name, colour, style, &points));
    }
    let axis = |label: &str, base| Axis { label: label.into(), base };
    let title = "Products of two integers of equal width".into();
    Chart { title, x: axis("bits of an operand", 2), y: axis("products a second", 10), series }.svg().unwrap()
}

#[test]
fn the_picture_of_the_readme_shows_the_stored_figures() {
    let expected = picture();
    for file in [format!("{FOLDER}/peers.svg"), BOOK.to_owned()] {
        if std::env::var_os("WARPMP_BLESS").is_some() {
            fs::write(&file, &expected).unwrap();
        }
        assert!(fs::read_to_string(&file).unwrap_or_default() == expected, "{file}: WARPMP_BLESS=1 draws it anew");
    }
}
