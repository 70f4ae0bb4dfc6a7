//! Candidates and tables in a session: on the simulator, against the oracle.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;

use warpmp::kernels::Register;
use warpmp::kernels::Settings;
use warpmp::tuning::{Candidate, Table, operands, shipped};
use warpmp::{Batch, Operation, Options, Plan, Selector, Session, Shape};
use warpmp_testkit::{Operands, Pattern, oracle};

fn candidates(operation: Operation, bits: usize, session: &Session) -> Vec<Candidate> {
    Register::shipped().candidates(operation, &operands(operation, bits, 1), session.device().unwrap().info()).unwrap()
}

/// Every candidate of these algorithms gives products by itself, through a session with a table of one row.
fn all_are_right(operation: Operation, bits: usize, lanes: usize, algorithms: &[&str]) -> usize {
    let mut session = Session::on(Selector::Sim).unwrap();
    let limbs = [7, 8].map(|seed| Operands::generate(Pattern::Carry, lanes, bits, seed).limbs);
    let limbs = &limbs[..operation.arity()];
    let shapes = operands(operation, bits, lanes);
    let batches = limbs.iter().map(|limbs| Batch::borrow(shapes[0], limbs).unwrap());
    let resident: Vec<_> = batches.map(|batch| session.upload(&batch).unwrap()).collect();
    let resident: Vec<_> = resident.iter().collect();
    let all = candidates(operation, bits, &session);
    let some: Vec<&Candidate> = all.iter().filter(|it| algorithms.contains(&it.algorithm)).collect();
    for candidate in &some {
        session.set_table(Table::of_one(operation, 90, candidate));
        let into = vec![session.reserve(Shape::new(lanes, 2 * bits)).unwrap()];
        let (products, report) = session.apply_device_into(operation, &resident, None, into).unwrap();
        assert_eq!(report.algorithm, candidate.algorithm);
        let (info, table) = (session.device().unwrap().info(), session.table().unwrap());
        assert_eq!(Plan::new(operation, &shapes, info, table, None).unwrap().spec_name(), candidate.kernel);
        let products = session.download(&products[0]).unwrap();
        let rows = |i: usize| limbs[i.min(limbs.len() - 1)].chunks(shapes[0].limbs());
        for (lane, (x, y)) in rows(0).zip(rows(1)).enumerate() {
            let expected = oracle::mul(x, y, products.shape().limbs());
            assert_eq!(products.lane(lane).unwrap(), expected, "{} lane {lane}", candidate.kernel);
        }
    }
    some.len()
}

#[test]
fn candidates_multiply() {
    assert!(all_are_right(Operation::Mul, 224, 70, &["thread", "group", "sum-rotate", "column-shuffle"]) > 25);
    assert!(all_are_right(Operation::Mul, 2080, 3, &["karatsuba/group"]) > 12);
    assert!(all_are_right(Operation::Mul, 4096, 2, &["karatsuba/group", "group"]) > 20);
}

#[test]
fn candidates_square() {
    assert!(all_are_right(Operation::Sqr, 224, 70, &["thread", "group"]) > 12);
    assert!(all_are_right(Operation::Sqr, 1024, 3, &["thread", "karatsuba/group", "group"]) > 20);
    assert!(all_are_right(Operation::Sqr, 4096, 2, &["karatsuba/group"]) > 12);
}

#[test]
fn candidates_are_different_kernels_and_defaults_come_first() {
    let session = Session::on(Selector::Sim).unwrap();
    for bits in [32, 1024, 2048, 65536] {
        let all = candidates(Operation::Mul, bits, &session);
        let kernels: HashSet<&str> = all.iter().map(|it| it.kernel.as_str()).collect();
        assert_eq!(kernels.len(), all.len());
        let defaults = all.iter().take_while(|it| it.settings == Settings::default()).count();
        let fitting = Register::shipped().fitting(Operation::Mul, &operands(Operation::Mul, bits, 1)).unwrap();
        assert_eq!(all[..defaults].iter().map(|it| it.algorithm).collect::<Vec<_>>(), fitting);
        assert!(all[defaults..].iter().all(|it| it.settings != Settings::default()));
    }
}

/// For one product a block there are all its warps.
#[test]
fn several_warps_share_a_product() {
    let session = Session::on(Selector::Sim).unwrap();
    for bits in [4096, 16384, 65536] {
        let shared = |it: &&Candidate| it.settings.products == Some(1) && it.settings.warps == Some(8);
        let all = candidates(Operation::Mul, bits, &session);
        let candidate = all.iter().find(shared).unwrap();
        let table = Table::of_one(Operation::Mul, 90, candidate);
        let info = session.device().unwrap().info();
        let plan = Plan::new(Operation::Mul, &[Shape::new(1000, bits); 2], info, &table, None).unwrap();
        let grid = plan.grid(0, 1000);
        assert_eq!((grid.blocks, grid.threads), (1000, 256), "{}", candidate.kernel);
    }
}

/// Sixteen products of 65536 bits do not fit in shared memory, nor do 12 warps find work in two of 2080.
#[test]
fn settings_that_nothing_satisfies_give_way() {
    let info = warpmp::device::open_sim().info().clone();
    let products = |bits, settings| {
        let candidate = Candidate { algorithm: "karatsuba/group", settings, kernel: String::new() };
        let table = Table::of_one(Operation::Mul, 90, &candidate);
        Plan::new(Operation::Mul, &[Shape::new(1, bits); 2], &info, &table, None).unwrap().wide_products()
    };
    for bits in [2080, 65536] {
        let usual = products(bits, Settings::default());
        for levels in [1, 3, 16] {
            let odd = Settings {
                levels: Some(levels),
                products: Some(32),
                warps: Some(32),
                block: Some(1),
                ..Settings::default()
            };
            assert!(products(bits, odd) < 3 * usual, "{bits} bits, {levels} levels");
        }
    }
}

/// A table may have no row whose algorithm takes the lengths: then one that does is chosen, and the plan says so. An addend
/// does not decide.
#[test]
fn lengths_without_a_row_are_no_fault() {
    let info = warpmp::device::open_sim().info().clone();
    let candidate = Candidate { algorithm: "karatsuba/group", settings: Settings::default(), kernel: String::new() };
    let table = Table::of_one(Operation::MulAdd, 90, &candidate);
    let plan = |bits: [usize; 3]| {
        Plan::new(Operation::MulAdd, &bits.map(|bits| Shape::new(9, bits)), &info, &table, None).unwrap()
    };
    let short = plan([64, 64, 40_000]);
    assert_eq!(short.algorithm(), "thread");
    assert!(short.explain().contains("has no row whose algorithm takes these lengths; thread does"));
    assert_eq!(plan([4096, 64, 40_000]).algorithm(), "karatsuba/group");
    let shipped =
        Plan::new(Operation::MulAdd, &[2048, 2048, 9000].map(|bits| Shape::new(9, bits)), &info, &shipped(90), None);
    assert_eq!(shipped.unwrap().algorithm(), "group");
}

#[test]
fn a_new_table_decides_at_once() {
    let mut session = Session::on(Selector::Sim).unwrap();
    let all = candidates(Operation::Mul, 64, &session);
    let batch = Batch::from_u64s(&[3, 5]);
    for algorithm in ["group", "sum-rotate", "group"] {
        let candidate = all.iter().find(|it| it.algorithm == algorithm).unwrap();
        session.set_table(Table::of_one(Operation::Mul, 90, candidate));
        for _ in 0..2 {
            let (_, report) = session.apply(Operation::Mul, &[&batch, &batch], Options::new()).unwrap();
            assert_eq!(report.algorithm, algorithm);
        }
    }
}

#[test]
fn the_shipped_table_stands_in() {
    let session = Session::on(Selector::Sim).unwrap();
    let group = candidates(Operation::Mul, 64, &session).into_iter().find(|it| it.algorithm == "group").unwrap();
    let session = session.with_table(Table::of_one(Operation::Mul, 75, &group));
    let table = session.table().unwrap();
    assert_eq!(table.deciding(Operation::Mul).architecture, 75);
    assert_eq!(table.deciding(Operation::Sqr), &*shipped(90));
    assert_eq!(shipped(90).deciding(Operation::Sqr), &*shipped(90));
}
