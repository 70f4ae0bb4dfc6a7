//! The search with made-up times, and candidates on the simulator.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::*;
use crate::batch::Shape;
use crate::kernels::Settings;
use crate::operation::Status;
use crate::session::Selector;
use crate::tuning::{Count, usual};

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
    fn load(
        &mut self,
        _: Operation,
        _: usize,
        all: Vec<Candidate>,
        until: Instant,
        _: &mut dyn Watch,
    ) -> Result<Vec<Candidate>> {
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

    fn time(&mut self, candidate: &Candidate, runs: usize, _: &dyn Watch) -> Result<Option<Vec<f64>>> {
        *self.asked.entry((self.bits, self.lanes, candidate.kernel.clone())).or_default() += runs;
        Ok(Some(vec![(self.seconds)(candidate, self.bits, self.lanes); runs]))
    }

    fn faults(&mut self) -> (Vec<String>, usize) {
        (Vec::new(), 0)
    }
}

fn info() -> DeviceInfo {
    warpmp_device::open_sim().info().clone()
}

fn search(bench: &mut impl Bench, bits: &[usize], counts: &[usize], budget: Duration) -> Found {
    let grid = Grid { bits: bits.to_vec(), counts: counts.iter().map(|it| Count::Lanes(*it)).collect() };
    let works = [Work { operation: Operation::Mul, grid }];
    Search { works: &works, budget, runs: 7 }.with_bench(bench, &info(), &Register::shipped(), &mut ()).unwrap()
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
    let fitting = Register::shipped().fitting(Operation::Mul, &[Shape::new(1000, 512); 2]).unwrap();
    assert_eq!(found.timings.len(), fitting.len());
    assert!(found.timings.iter().all(|it| it.settings == Settings::default()));
}

/// Twenty times slower than the rest, and a tenth of a second: not for a hundred times the lanes, nor twice the bits.
#[test]
fn what_cannot_win_and_takes_long_is_left_out() {
    fn seconds(candidate: &Candidate, bits: usize, lanes: usize) -> f64 {
        let factor = if candidate.algorithm == "toom-8" { 20.0 } else { 1.0 };
        factor * 1e-11 * (lanes * bits) as f64
    }
    let mut bench = Formula::new(seconds);
    let found = search(&mut bench, &[2048, 4096], &[1, 10_000, 1_000_000], ENOUGH);
    let slow: Vec<(usize, usize)> =
        found.timings.iter().filter(|it| it.algorithm == "toom-8").map(|it| (it.bits, it.lanes)).collect();
    assert_eq!(slow, [(2048, 1), (2048, 10_000), (4096, 1), (4096, 10_000)]);
    assert_eq!(found.hopeless, 2);
    assert!(found.timings.iter().any(|it| it.algorithm == "group" && it.lanes == 1_000_000));
}

#[test]
fn candidates_run_on_the_simulator() {
    let mut gpu = Gpu::new(Session::on(Selector::Sim).unwrap()).unwrap();
    let shapes = operands(Operation::Mul, 131, 1);
    let all = Register::shipped().candidates(Operation::Mul, &shapes, &info()).unwrap();
    let few: Vec<Candidate> = all.into_iter().filter(|it| ["thread", "group"].contains(&it.algorithm)).collect();
    let later = Instant::now() + ENOUGH;
    let loaded = gpu.load(Operation::Mul, 131, few.clone(), later, &mut ()).unwrap();
    assert_eq!(loaded, few);
    let defaults = gpu.load(Operation::Mul, 131, few.clone(), Instant::now(), &mut ()).unwrap();
    assert_eq!(defaults.len(), 2);
    gpu.fill(Operation::Mul, 131, 40).unwrap();
    for candidate in &few {
        assert_eq!(gpu.time(candidate, 2, &()).unwrap().unwrap().len(), 2);
    }
    assert_eq!(gpu.faults(), (vec![], 0));
    // Another result is right: then the candidate's results are wrong, once and for all.
    gpu.fill(Operation::Mul, 64, 40).unwrap();
    gpu.right()[0][0] ^= 1;
    assert_eq!(gpu.time(&few[0], 1, &()).unwrap(), None);
    assert_eq!(gpu.time(&few[0], 1, &()).unwrap(), None);
    let (notes, wrong) = gpu.faults();
    assert_eq!((notes.len(), wrong), (1, 1));
    assert!(notes[0].contains("lane 0: the mul is wrong"), "{notes:?}");
}

/// Operands of every kind are such that lanes have results, and candidates give them.
#[test]
fn every_operation_has_operands_without_faults() {
    let mut gpu = Gpu::new(Session::on(Selector::Sim).unwrap()).unwrap();
    let later = Instant::now() + ENOUGH;
    for operation in usual().into_iter().chain([Operation::Redc, Operation::CarryingAdd, Operation::Select]) {
        // A whole number of limbs, and not.
        for bits in [64, 75] {
            let shapes = operands(operation, bits, 1);
            let all = Register::shipped().candidates(operation, &shapes, &info()).unwrap();
            let default = gpu.load(operation, bits, all[..1].to_vec(), later, &mut ()).unwrap();
            gpu.fill(operation, bits, 33).unwrap();
            // Not every residue has an inverse.
            let fine = [Status::Fine.code(), Status::NoInverse.code()];
            let statuses = gpu.right().last().filter(|_| operation.has_status());
            let mut statuses = statuses.into_iter().flatten();
            assert!(statuses.all(|status| fine.contains(status)), "{operation}, {bits} bits");
            let random = gpu.right()[0].iter().collect::<std::collections::HashSet<_>>();
            assert!(random.len() > 1, "{operation}, {bits} bits: {random:?}");
            assert!(gpu.time(&default[0], 1, &()).unwrap().is_some(), "{operation}, {bits} bits: {:?}", gpu.faults());
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

/// A caller that has enough ends the search, and is told how far it is.
#[test]
fn a_search_is_watched() {
    struct Some(std::cell::Cell<usize>, Vec<usize>);
    impl Watch for Some {
        fn go_on(&self) -> bool {
            self.0.get() < 3
        }

        fn progress(&self, share: f64, measurements: usize) {
            assert!((0.0..=1.0).contains(&share) && measurements > 0 || self.0.get() == 0);
            self.0.set(self.0.get() + 1);
        }

        fn prepare(&mut self, _: Operation, bits: usize, _: Instant) {
            self.1.push(bits);
        }
    }
    let grid = Grid { bits: vec![64, 256], counts: [1, 10, 100].map(Count::Lanes).to_vec() };
    let works = [Work { operation: Operation::Add, grid }];
    let search = Search { works: &works, budget: ENOUGH, runs: 3 };
    let mut watch = Some(std::cell::Cell::new(0), Vec::new());
    let error = search.run(Session::on(Selector::Sim).unwrap(), &mut watch).unwrap_err();
    assert_eq!((error, watch.1), (Error::Stopped, vec![64]));
    let none = search.run(Session::cpu(), &mut ());
    assert_eq!(none.unwrap_err(), Error::NoDevice);
}
