//! Tables and files of searches with made-up times.

use warpmp::{
    Operation,
    device::DeviceInfo,
    kernels::Settings,
    tuning::{self, Candidate, Found, Grid, Table, Timing, Work},
};

use super::{Outputs, Place, table, text};
use crate::engine;

fn info() -> DeviceInfo {
    warpmp::device::open_sim().info().clone()
}

/// Every candidate at these widths and counts, with made-up times.
fn found(bits: &[usize], counts: &[usize]) -> Found {
    let mut found = Found::default();
    for &bits in bits {
        let shapes = tuning::operands(Operation::Mul, bits, 1);
        let candidates = engine::register().candidates(Operation::Mul, &shapes, &info()).unwrap();
        for (&lanes, candidate) in counts.iter().flat_map(|lanes| candidates.iter().map(move |it| (lanes, it))) {
            let (algorithm, settings) = (candidate.algorithm.to_owned(), candidate.settings);
            let seconds = two_winners(candidate, bits, lanes);
            found.timings.push(Timing { operation: Operation::Mul, bits, lanes, algorithm, settings, seconds });
        }
    }
    found
}

fn works(operations: &[Operation], grid: &Grid) -> Vec<Work> {
    operations.iter().map(|operation| Work { operation: *operation, grid: grid.clone() }).collect()
}

/// `group` with four warps from 512 bits on, `thread` below; `group` with blocks of 8 for few lanes.
fn two_winners(candidate: &Candidate, bits: usize, lanes: usize) -> f64 {
    let Settings { warps, block, .. } = candidate.settings;
    let factor = match (candidate.algorithm, warps, block) {
        ("group", Some(4), Some(8)) if lanes < 1000 => 0.5,
        ("group", Some(4), Some(32)) if bits >= 512 => 1.0,
        ("thread", _, _) if bits < 512 => 1.0,
        _ => 2.0,
    };
    1e-9 * factor * (lanes * bits) as f64 + 1e-4
}

#[test]
fn the_table_has_what_is_fastest() {
    let found = found(&[256, 512, 1024], &[100, 100_000]);
    let dir = tempfile::tempdir().unwrap();
    let table = table(&info(), &found.timings, &dir.path().join("none.json"));
    table.check(&engine::register()).unwrap();
    let chosen = |bits, lanes| {
        let row = table.row(Operation::Mul, bits, lanes, None).unwrap();
        (row.algorithm.as_str(), row.settings.warps, row.settings.block)
    };
    assert_eq!(chosen(256, 1_000_000).0, "thread");
    assert_eq!(chosen(1024, 1_000_000), ("group", Some(4), Some(32)));
    assert_eq!(chosen(65536, 1_000_000), ("group", Some(4), Some(32)));
    assert_eq!(chosen(512, 100), ("group", Some(4), Some(8)));
    let summary = text::summary(&found, &table, &info(), &["t.json".into(), "t.svg".into()]);
    for words in ["table    t.json", "picture  t.svg", "block 32, warps 4", " 1024 "] {
        assert!(summary.contains(words), "{words}: {summary}");
    }
    let svg = text::chart(Operation::Mul, &found.timings, "a test").svg().unwrap();
    assert!(svg.contains("group") && svg.contains("sum-rotate") && svg.contains("nanoseconds"));
}

/// The rows of what stands for a group have the group's name.
#[test]
fn groups_have_rows_by_their_representative() {
    let timing = |operation| Timing {
        operation,
        bits: 512,
        lanes: 1000,
        algorithm: "group".into(),
        settings: Settings::default(),
        seconds: 1e-3,
    };
    let dir = tempfile::tempdir().unwrap();
    let timings = [Operation::Add, Operation::DivRem, Operation::Gcd, Operation::PowMod, Operation::Sub].map(timing);
    let table = table(&info(), &timings, &dir.path().join("none.json"));
    table.check(&engine::register()).unwrap();
    assert_eq!(table.rows.keys().collect::<Vec<_>>(), ["division", "gcd", "linear", "pow_mod", "sub"]);
    assert!(table.rows.values().flatten().all(|row| !row.predicted));
}

/// The files appear when all is measured; until then, and if it never comes to that, the ones before stay.
#[test]
fn files_are_written_whole_and_the_table_before_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place { table: dir.path().join("warpmp/tuning/sm_90.json"), own: true };
    let found = found(&[512], &[1000]);
    let nothing = Grid { bits: vec![], counts: vec![] };
    let mul = works(&[Operation::Mul], &nothing);
    let mut measured = table(&info(), &found.timings, &place.table);
    let names = || {
        let entries = std::fs::read_dir(dir.path().join("warpmp/tuning")).unwrap();
        let mut names: Vec<String> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    drop(Outputs::open(&place, None, None, &mul).unwrap());
    assert_eq!(names(), [""; 0]);
    for age in ["first", "second"] {
        measured.measured_on = age.into();
        let mut outputs = Outputs::open(&place, None, None, &mul).unwrap();
        outputs.write(&place, &measured, &found.timings, &info()).unwrap();
        drop(Outputs::open(&place, None, None, &mul).unwrap());
        assert_eq!(Table::read(&place.table, &engine::register()).unwrap().measured_on, age);
    }
    assert_eq!(names(), ["sm_90.json", "sm_90.json.bak", "sm_90.svg"]);
    assert_eq!(Table::read(&place.table.with_extension("json.bak"), &engine::register()).unwrap().measured_on, "first");
    let two = Outputs::open(
        &Place { own: false, ..place },
        Some("x/pic.svg".as_ref()),
        None,
        &works(Operation::ALL, &nothing),
    );
    assert!(two.unwrap_err().to_string().starts_with("x/pic-mul.svg: "));
}

/// A table that cannot be read is replaced as a whole.
#[test]
fn a_broken_table_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("sm_90.json");
    std::fs::write(&place, "no table").unwrap();
    let found = found(&[512], &[1000]);
    assert_eq!(table(&info(), &found.timings, &place).rows.keys().collect::<Vec<_>>(), ["mul"]);
}
