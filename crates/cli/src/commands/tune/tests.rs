//! The search with made-up times, and candidates on the simulator.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use warpmp::{
    Operation, Selector, Session, Status,
    device::DeviceInfo,
    kernels::Settings,
    tuning::{self, Candidate, Count, Grid, Table, Timing},
};
use warpmp_oracle::Value;

use super::{
    Outputs, Place,
    gpu::Gpu,
    helpers::Helpers,
    search::{Bench, Found, STEPS, Search, Work},
    table, text,
};
use crate::{engine, error::Result, progress::Progress};

/// Times by a formula, and how often they were asked for.
struct Formula {
    bits: usize,
    lanes: usize,
    seconds: fn(&Candidate, usize, usize) -> f64,
    asked: HashMap<(usize, usize, String), usize>,
}

impl Formula {
    fn new(seconds: fn(&Candidate, usize, usize) -> f64) -> Self {
        Self { bits: 0, lanes: 0, seconds, asked: HashMap::new() }
    }
}

impl Bench for Formula {
    fn load(&mut self, _: Operation, _: usize, all: Vec<Candidate>, until: Instant) -> Result<Vec<Candidate>> {
        let in_time = Instant::now() < until;
        Ok(all.into_iter().filter(|it| in_time || it.settings == Settings::default()).collect())
    }

    fn fill(&mut self, _: Operation, bits: usize, lanes: usize) -> Result<()> {
        (self.bits, self.lanes) = (bits, lanes);
        Ok(())
    }

    fn free_bytes(&self) -> Result<u64> {
        Ok(1 << 40)
    }

    fn time(&mut self, candidate: &Candidate, runs: usize) -> Result<Option<Vec<f64>>> {
        *self.asked.entry((self.bits, self.lanes, candidate.kernel.clone())).or_default() += runs;
        Ok(Some(vec![(self.seconds)(candidate, self.bits, self.lanes); runs]))
    }

    fn faults(&mut self) -> (Vec<String>, usize) {
        (Vec::new(), 0)
    }
}

fn info() -> DeviceInfo {
    warpmp::device::open_sim().info().clone()
}

fn search(bench: &mut impl Bench, bits: &[usize], counts: &[usize], budget: Duration) -> Found {
    let grid = Grid { bits: bits.to_vec(), counts: counts.iter().map(|it| Count::Lanes(*it)).collect() };
    let progress = Progress::new(Some(STEPS), "measurements", true);
    let (info, works) = (info(), works(&[Operation::Mul], &grid));
    Search { works: &works, info: &info, budget, runs: 7, progress: &progress }.run(bench).unwrap()
}

fn works(operations: &[Operation], grid: &Grid) -> Vec<Work> {
    operations.iter().map(|operation| Work { operation: *operation, grid: grid.clone() }).collect()
}

const ENOUGH: Duration = Duration::from_secs(1000);

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
    let mut bench = Formula::new(two_winners);
    let found = search(&mut bench, &[256, 512, 1024], &[100, 100_000], ENOUGH);
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

#[test]
fn every_candidate_runs_twice_and_the_best_more_often() {
    let mut bench = Formula::new(two_winners);
    search(&mut bench, &[512], &[1000], ENOUGH);
    let asked = |part: &str| -> Vec<usize> {
        bench.asked.iter().filter(|((_, _, kernel), _)| kernel.contains(part)).map(|it| *it.1).collect()
    };
    assert!(bench.asked.len() > 20);
    // Two more, of the first, bring the GPU up to its clock.
    assert!(asked("sum_rotate").iter().all(|runs| *runs == 2));
    assert!(asked("group").contains(&9), "{:?}", asked("group"));
}

#[test]
fn without_time_the_default_settings_are_measured() {
    let found = search(&mut Formula::new(two_winners), &[512], &[1000], Duration::ZERO);
    assert!(found.timings.len() > 10);
    assert!(found.timings.iter().all(|it| it.settings == Settings::default()));
}

/// Twenty times slower than the rest, and a tenth of a second: not for a hundred times the lanes, nor twice the bits.
#[test]
fn what_cannot_win_and_takes_long_is_left_out() {
    fn seconds(candidate: &Candidate, bits: usize, lanes: usize) -> f64 {
        let factor = if candidate.algorithm == "school" { 20.0 } else { 1.0 };
        factor * 1e-11 * (lanes * bits) as f64
    }
    let mut bench = Formula::new(seconds);
    let found = search(&mut bench, &[512, 1024], &[1, 10_000, 1_000_000], ENOUGH);
    let school: Vec<(usize, usize)> =
        found.timings.iter().filter(|it| it.algorithm == "school").map(|it| (it.bits, it.lanes)).collect();
    assert_eq!(school, [(512, 1), (512, 10_000), (1024, 1), (1024, 10_000)]);
    assert_eq!(found.hopeless, 2);
    assert!(found.timings.iter().any(|it| it.algorithm == "comba" && it.lanes == 1_000_000));
}

#[test]
fn candidates_run_on_the_simulator() {
    let mut gpu = Gpu::new(Session::on(Selector::Sim).unwrap(), Helpers::default()).unwrap();
    let shapes = warpmp::tuning::operands(Operation::Mul, 131, 1);
    let all = engine::register().candidates(Operation::Mul, &shapes, &info()).unwrap();
    let few: Vec<Candidate> = all.into_iter().filter(|it| ["thread", "group"].contains(&it.algorithm)).collect();
    let later = Instant::now() + ENOUGH;
    let loaded = gpu.load(Operation::Mul, 131, few.clone(), later).unwrap();
    assert_eq!(loaded, few);
    let defaults = gpu.load(Operation::Mul, 131, few.clone(), Instant::now()).unwrap();
    assert_eq!(defaults.len(), 2);
    gpu.fill(Operation::Mul, 131, 40).unwrap();
    for candidate in &few {
        assert_eq!(gpu.time(candidate, 2).unwrap().unwrap().len(), 2);
    }
    assert_eq!(gpu.faults(), (vec![], 0));
    // Other operands than those that were multiplied: the results are wrong, once and for all.
    gpu.fill(Operation::Mul, 64, 40).unwrap();
    gpu.spoil();
    assert_eq!(gpu.time(&few[0], 1).unwrap(), None);
    assert_eq!(gpu.time(&few[0], 1).unwrap(), None);
    let (notes, wrong) = gpu.faults();
    assert_eq!((notes.len(), wrong), (1, 1));
    assert!(notes[0].contains("lane 0: the engine's mul is wrong"), "{notes:?}");
}

/// Operands of every kind are such that lanes have results, and candidates give them.
#[test]
fn every_operation_has_operands_without_faults() {
    let mut gpu = Gpu::new(Session::on(Selector::Sim).unwrap(), Helpers::default()).unwrap();
    let later = Instant::now() + ENOUGH;
    for operation in tuning::usual().into_iter().chain([Operation::Redc, Operation::CarryingAdd, Operation::Select]) {
        // A whole number of limbs, and not.
        for bits in [64, 75] {
            let shapes = tuning::operands(operation, bits, 1);
            let all = engine::register().candidates(operation, &shapes, &info()).unwrap();
            let default = gpu.load(operation, bits, all[..1].to_vec(), later).unwrap();
            gpu.fill(operation, bits, 33).unwrap();
            for operands in gpu.sample() {
                let values: Vec<Value> = operands.iter().map(|(limbs, bits)| Value::new(limbs, *bits)).collect();
                // Not every residue has an inverse.
                let results = warpmp_oracle::apply(operation, &values);
                let status = results.last().filter(|_| operation.has_status()).map(|status| status.limbs()[0]);
                let fine = [None, Some(Status::Fine.code()), Some(Status::NoInverse.code())].contains(&status);
                assert!(fine, "{operation}, {bits} bits: {operands:?}");
                assert!(operands.iter().all(|it| it.0.iter().any(|limb| *limb != 0) || it.1 == 1), "{operation}");
            }
            assert!(gpu.time(&default[0], 1).unwrap().is_some(), "{operation}, {bits} bits: {:?}", gpu.faults());
        }
    }
}

/// A batch is smaller where the one before says that it would take long; then wider ones are not measured.
#[test]
fn slow_operations_have_small_batches() {
    fn seconds(_: &Candidate, bits: usize, lanes: usize) -> f64 {
        1e-12 * (bits * bits * lanes) as f64
    }
    let mut bench = Formula::new(seconds);
    let found = search(&mut bench, &[1024, 4096, 8192, 16384], &[1000, 10_000, 1_000_000], ENOUGH);
    let mut batches: Vec<(usize, usize)> = found.timings.iter().map(|it| (it.bits, it.lanes)).collect();
    batches.dedup();
    // 1.05 ms for a thousand lanes of 1024 bits: 77 thousand take 80 ms. At 8192 bits a thousand take 67 ms.
    let wide = [(4096, 1000), (4096, 5000), (8192, 1000)];
    assert_eq!(batches, [&[(1024, 1000), (1024, 10_000), (1024, 77_000)][..], &wide].concat());
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
    let found = search(&mut Formula::new(two_winners), &[512], &[1000], ENOUGH);
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
    let two = Outputs::open(&Place { own: false, ..place }, Some("x/pic.svg"), None, &works(Operation::ALL, &nothing));
    assert!(two.unwrap_err().to_string().starts_with("x/pic-mul.svg: "));
}

/// A table that cannot be read is replaced as a whole.
#[test]
fn a_broken_table_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("sm_90.json");
    std::fs::write(&place, "no table").unwrap();
    let found = search(&mut Formula::new(two_winners), &[512], &[1000], ENOUGH);
    assert_eq!(table(&info(), &found.timings, &place).rows.keys().collect::<Vec<_>>(), ["mul"]);
}
