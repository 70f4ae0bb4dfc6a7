//! A table of times on the simulator, whose times say nothing, but whose rows are those of a GPU.

use crate::kernels::MULTIPLICATIONS;
use warpmp::Selector;

use super::*;
use crate::line::Line;
use crate::tables::{Content, Document};

const DOCUMENT: &str = r#"{
    "name": "doc", "reference": "A. Author",
    "tables": [{
        "name": "1", "title": "Times", "place": "Table 1", "notes": ["a misprint"],
        "content": {"times": {
            "products": 1000,
            "bits": [64, 1024],
            "rows": [
                {"method": "CPU", "engine": "cpu", "milliseconds": [8000000, 16000000]},
                {"method": "warp", "engine": "gpu", "algorithm": "sum-rotate", "milliseconds": [1000000, 2000000]},
                {"method": "thread", "engine": "gpu", "algorithm": [null, "comba"], "milliseconds": [null, null]},
                {"method": "other", "engine": "gpu", "milliseconds": [null, 3000000]}
            ],
            "speed_up": {"over": "CPU", "of": "warp", "factors": [8, 8]}
        }}
    }]
}"#;

fn outcome(copy_bytes_per_second: f64) -> Outcome {
    let document: &'static Document = Box::leak(Box::new(serde_json::from_str(DOCUMENT).unwrap()));
    let entry = Entry { document, table: &document.tables[0] };
    let Content::Times(times) = &entry.table.content else { panic!("a table of times") };
    let session = Session::on(Selector::Sim).unwrap().with_algorithms(Operation::Mul, MULTIPLICATIONS);
    let settings = Settings { runs: 3, products: Some(10), watch: &() };
    let mut run = Run::new(&entry, times, &session, settings).unwrap();
    run.outcome.copy_bytes_per_second = Some(copy_bytes_per_second);
    run.all().unwrap()
}

fn near(one: Option<f64>, other: f64) -> bool {
    one.is_some_and(|one| (one / other - 1.0).abs() < 1e-9)
}

#[test]
fn every_row_at_every_width() {
    let outcome = outcome(1e9);
    let rows: Vec<_> = outcome.lines.iter().map(|line| (line.method.as_str(), line.bits)).collect();
    // Where there is neither the paper's figure nor ours, there is no line.
    let expected = [
        ("CPU", 64),
        ("CPU", 1024),
        ("warp", 64),
        ("warp", 1024),
        ("thread", 1024),
        ("other", 1024),
        ("CPU / warp", 64),
        ("CPU / warp", 1024),
    ];
    assert_eq!(rows, expected);
    assert_eq!(outcome.notes[0], "a misprint");
    assert!(outcome.notes.iter().any(|note| note.contains("10 products, the paper's of 1000")));
    for (method, algorithm) in [("warp", Some("sum-rotate")), ("thread", Some("comba")), ("other", None)] {
        let time = time(&outcome, method, 1024);
        assert_eq!(time.algorithm.as_deref(), algorithm);
        assert_eq!(time.ours.as_ref().map(|it| (it.runs, it.checked)), algorithm.map(|_| (3, Some(10))));
        assert_eq!(time.default_algorithm, self::time(&outcome, "warp", 1024).default_algorithm);
        assert_eq!(time.default.as_ref().map(|it| it.runs), Some(3));
    }
}

fn line<'a>(outcome: &'a Outcome, method: &str, bits: usize) -> &'a Line {
    outcome.lines.iter().find(|line| line.method == method && line.bits == bits).unwrap()
}

fn time<'a>(outcome: &'a Outcome, method: &str, bits: usize) -> &'a Comparison {
    line(outcome, method, bits).figure.time().unwrap()
}

#[test]
fn factors_are_for_as_many_products() {
    let outcome = outcome(1e9);
    for (bits, seconds) in [(64, 1000.0), (1024, 2000.0)] {
        let warp = time(&outcome, "warp", bits);
        assert_eq!(warp.paper, Some(seconds));
        let [ours, default] = [&warp.ours, &warp.default].map(|it| it.as_ref().unwrap());
        assert!(near(ours.ratio, seconds / 100.0 / ours.mean));
        assert!(near(default.ratio, seconds / 100.0 / default.mean));
        let cpu = time(&outcome, "CPU", bits).ours.as_ref().unwrap();
        assert!(near(cpu.ratio, 8.0 * seconds / 100.0 / cpu.mean));
        let Figure::SpeedUp(speed_up) = &line(&outcome, "CPU / warp", bits).figure else { panic!("a speed-up") };
        assert!(near(speed_up.ours, cpu.mean / ours.mean));
        assert!(near(speed_up.default, cpu.mean / default.mean));
        assert!(near(speed_up.ratio, speed_up.ours.unwrap() / 8.0));
    }
    assert!(time(&outcome, "thread", 1024).ours.as_ref().unwrap().ratio.is_none());
    assert!(time(&outcome, "other", 1024).ours.is_none());
}

#[test]
fn the_floor_is_every_byte_once() {
    let outcome = outcome(1e-3);
    let warp = time(&outcome, "warp", 1024);
    // 10 lanes of 32, 32 and 64 limbs.
    let floor_seconds = 10.0 * 4.0 * 128.0 / 1e-3;
    for measurement in [&warp.ours, &warp.default].map(|it| it.as_ref().unwrap()) {
        assert!(near(measurement.floor_fraction, floor_seconds / measurement.mean));
    }
    assert!(time(&outcome, "CPU", 1024).ours.as_ref().unwrap().floor_fraction.is_none());
    assert!(outcome.notes.iter().any(|note| note.contains("More than 1 of the memory floor")));
}
