//! The papers' files are whole, and name what exists.

use warpmp::Operation;
use warpmp::kernels::{OperandShape, OperationShape};

use super::*;
use crate::kernels::register;

fn names(names: &[&str]) -> Result<Vec<String>> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Ok(find(&names)?.iter().map(Entry::name).collect())
}

/// Can our algorithm of this name multiply these lengths?
fn fits(name: &str, limbs: usize) -> bool {
    let found = register().find(Operation::Mul, name);
    let algorithm = found.unwrap_or_else(|| panic!("no algorithm {name}"));
    let operand = OperandShape::each(32 * limbs as u32);
    (algorithm.fits)(OperationShape::product(operand, operand))
}

fn times() -> impl Iterator<Item = (String, &'static Times)> {
    all().into_iter().filter_map(|entry| match &entry.table.content {
        Content::Times(times) => Some((entry.name(), times)),
        _ => None,
    })
}

fn counts() -> impl Iterator<Item = (String, &'static Counts)> {
    all().into_iter().filter_map(|entry| match &entry.table.content {
        Content::Counts(counts) => Some((entry.name(), counts)),
        _ => None,
    })
}

#[test]
fn every_file_is_read() {
    for file in FILES {
        serde_json::from_str::<Document>(file).unwrap();
    }
    let expected = "candar:I candar:II candar:III dissertation:3.1 dissertation:3.2 dissertation:3.3 dissertation:3.4 \
                    dissertation:fig3.5 dissertation:4.1 dissertation:4.2 dissertation:4.3 dissertation:4.4 \
                    dissertation:fig4.2 dissertation:fig4.3 dissertation:4.5 dissertation:fig4.4 dissertation:fig4.5 \
                    epfl:2.4 epfl:3.4 epfl:fig3.5 epfl:fig3.6 epfl:fig4.1 epfl:fig4.2 epfl:fig4.3";
    assert_eq!(all().iter().map(Entry::name).collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn long_names_short_names_and_all() {
    assert_eq!(names(&["candar:III", "iii", "fig3.5"]).unwrap(), ["candar:III", "dissertation:fig3.5"]);
    assert_eq!(names(&["3.3", "all"]).unwrap()[..2], ["dissertation:3.3", "candar:I"]);
    assert_eq!(names(&["ALL"]).unwrap().len(), 24);
    for wrong in ["IV", "candar:3.3", "fig4.1", "epfl:3.5", "", ":"] {
        let error = names(&[wrong]).unwrap_err();
        assert!(matches!(error, Error::UnknownTable { .. }));
        assert!(error.to_string().contains("candar:II, candar:III, dissertation:3.1"), "{error}");
    }
}

/// A document's name is its tables; a document with full names takes no short one away from those before it.
#[test]
fn names_of_documents() {
    assert_eq!(names(&["Candar"]).unwrap(), ["candar:I", "candar:II", "candar:III"]);
    let epfl = names(&["epfl"]).unwrap();
    assert_eq!((epfl.len(), epfl[2].as_str()), (7, "epfl:fig3.5"));
    assert_eq!(names(&["fig3.5", "3.4", "EPFL:fig3.5"]).unwrap()[1..], ["dissertation:3.4", "epfl:fig3.5"]);
}

#[test]
fn a_name_that_two_documents_have_is_asked_about() {
    let document = |name: &str| -> Document {
        let table = r#"[{"name":"fig3.5","title":"","place":"","content":{"counts":{"rows":[]}},"notes":[]}]"#;
        serde_json::from_str(&format!(r#"{{"name":"{name}","reference":"","tables":{table}}}"#)).unwrap()
    };
    let entries = entries(Box::leak(Box::new([document("one"), document("two")])));
    assert_eq!(lookup(&entries, "two:fig3.5").unwrap().name(), "two:fig3.5");
    let error = lookup(&entries, "fig3.5").unwrap_err();
    assert!(error.to_string().contains("one:fig3.5, two:fig3.5"), "{error}");
    assert!(matches!(error, Error::AmbiguousTable { .. }));
}

#[test]
fn algorithms_exist_and_fit() {
    let mut found = 0;
    for (table, times) in times() {
        for row in &times.rows {
            for (column, bits) in times.bits.iter().enumerate() {
                let Some(name) = row.algorithm(column) else { continue };
                assert_eq!(row.engine, Engine::Gpu, "{table} {}", row.method);
                assert!(fits(name, bits.div_ceil(32)), "{table}: {name} at {bits} bits");
                found += 1;
            }
        }
    }
    for (table, counts) in counts() {
        for row in &counts.rows {
            assert!(row.words.iter().all(|words| fits(&row.algorithm, *words)), "{table}: {}", row.algorithm);
            found += row.words.len();
        }
    }
    assert!(found > 150, "{found} were found");
}

#[test]
fn rows_have_a_figure_for_each_column() {
    for (table, times) in times() {
        assert!(times.bits.is_sorted() && times.products > 0);
        for row in &times.rows {
            let columns = times.bits.len();
            assert!([0, columns].contains(&row.milliseconds.len()), "{table} {}", row.method);
            if let Algorithm::Each(names) = &row.algorithm {
                assert_eq!(names.len(), columns, "{table} {}", row.method);
            }
            assert!(row.milliseconds.iter().flatten().all(|it| *it > 0.0));
        }
    }
}

/// The printed speed-ups are the quotients of the printed times, up to their rounding; where they are not, a note
/// says so. The times of the smallest products have two digits.
#[test]
fn speed_ups_follow_from_the_times() {
    for (table, times) in times() {
        let Some(speed_up) = &times.speed_up else { continue };
        let row = |method: &str| times.rows.iter().find(|row| row.method == method).unwrap();
        let (over, of) = (row(&speed_up.over), row(&speed_up.of));
        assert_eq!(speed_up.factors.len(), times.bits.len());
        for (column, printed) in speed_up.factors.iter().enumerate() {
            let (slow, fast) = (over.seconds(column).unwrap(), of.seconds(column).unwrap());
            let tolerance = 0.000_5 / 1e3 / fast + 0.005;
            let near = (slow / fast / printed - 1.0).abs() < tolerance;
            let noted = (table.as_str(), times.bits[column]) == ("dissertation:3.4", 8192);
            assert_eq!(near, !noted, "{table}, {} bits: {printed}, {}", times.bits[column], slow / fast);
        }
    }
}

/// Toom-k multiplies 2k−1 values of a k-th of the length, and reads two operands for each: a figure that was
/// typed wrong would stand out. So does the paper's misprint.
#[test]
fn counts_of_toom_have_their_pattern() {
    let (_, counts) = counts().find(|(name, _)| name == "dissertation:3.2").unwrap();
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
    for row in &counts.rows {
        let Some(k) = row.algorithm.strip_prefix("toom-").map(|k| k.parse::<i64>().unwrap()) else { continue };
        let value = |it: Fraction| it.numerator as f64 / it.denominator as f64;
        let values = |polynomial: &Polynomial| polynomial.0.map(value);
        let (products, reads, writes) = (values(&row.multiplications), values(&row.reads), values(&row.writes));
        let square = (2 * k - 1) as f64 / (k * k) as f64;
        assert!(near(products[0], square) && near(reads[0], 2.0 * square), "toom-{k}");
        if k == 2 {
            continue;
        }
        let part = 1.0 / k as f64;
        let linear = (k - 2) as f64 * 12.0;
        assert!(near(products[1], linear + 8.0 * part), "toom-{k}: {products:?}");
        assert!(near(reads[1], 12.0 * k as f64 - 2.0 - 20.0 * part), "toom-{k}: {reads:?}");
        assert_eq!(near(writes[1], 24.0 - 28.0 * part), k != 9, "toom-{k}: {writes:?}");
        assert!(near(writes[2], (24 * k - 36) as f64), "toom-{k}: {writes:?}");
        assert!(row.words.iter().all(|words| words % (32 * k as usize) == 0), "toom-{k}");
    }
}

#[test]
fn polynomials_as_text_and_value() {
    let polynomial = |text: &str| serde_json::from_str::<Polynomial>(text).unwrap();
    let reads = polynomial(r#"["3/2", "17/2", "-2"]"#);
    assert_eq!((reads.to_string().as_str(), reads.at(32)), ("3/2·w² + 17/2·w − 2", 1806.0));
    assert_eq!(polynomial(r#"["0", "2", "0"]"#).to_string(), "2w");
    assert_eq!(polynomial(r#"["1", "0", "0"]"#).to_string(), "w²");
    assert_eq!(polynomial(r#"["0", "0", "-7"]"#).to_string(), "−7");
    assert_eq!(polynomial(r#"["0", "0", "0"]"#).to_string(), "0");
    for wrong in ["1/0", "x", "1/-2", "1/2/3"] {
        assert!(serde_json::from_str::<Polynomial>(&format!(r#"["{wrong}", "0", "0"]"#)).is_err(), "{wrong}");
    }
}
