//! The studies' data is whole, and the simulator's figures are found.

use super::*;
use crate::tables::{self, Content};

const SETTINGS: Settings<'_> = Settings { runs: 2, products: Some(16), watch: &() };

fn study(name: &str) -> (Entry, &'static Study) {
    let entry = tables::find(&[format!("epfl:{name}")]).unwrap()[0];
    match &entry.table.content {
        Content::Study(study) => (entry, study),
        _ => panic!("{name}"),
    }
}

const NAMES: [&str; 7] = ["2.4", "3.4", "fig3.5", "fig3.6", "fig4.1", "fig4.2", "fig4.3"];

#[test]
fn rows_are_whole() {
    for name in NAMES {
        let (_, study) = study(name);
        assert!(study.bits.is_sorted() && study.bits.iter().all(|bits| Experiment::BITS.contains(bits)), "{name}");
        assert!(study.swept.iter().all(|bits| study.bits.contains(bits)), "{name}");
        assert_eq!(study.blocks.is_empty(), study.picture == Picture::Registers, "{name}");
        let mut before: Vec<&StudyRow> = Vec::new();
        for row in &study.rows {
            assert!([0, study.bits.len()].contains(&row.registers.len()), "{name} {}", row.method);
            assert!(before.iter().all(|other| other.method != row.method), "{name}: {} twice", row.method);
            if let Some(against) = &row.against {
                let other = before.iter().find(|other| other.method == *against);
                // A form of the same kind, and not the same.
                let other = other.unwrap_or_else(|| panic!("{name}: {against}"));
                assert_eq!(other.work == Work::Add, row.work == Work::Add, "{name}: {}", row.method);
                assert_ne!(other.experiment(131, 32), row.experiment(131, 32), "{name}");
                assert_eq!(other.turns, row.turns, "{name}");
            }
            before.push(row);
        }
    }
}

#[test]
fn launches_are_a_sweep_or_the_largest_grid() {
    let (_, study) = study("fig4.2");
    let grid = |blocks, threads| Grid { blocks, threads };
    assert_eq!(study.grids(131, Experiment::MAX_ROOM).len(), 121);
    let largest = study.grids(109, Experiment::MAX_ROOM);
    assert_eq!((largest.len(), largest[10]), (11, grid(1024, 1024)));
    assert!(largest.iter().all(|grid| grid.blocks == 1024));
    let few = study.grids(239, 4);
    assert_eq!(few, [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1)].map(|(blocks, threads)| grid(blocks, threads)));
}

/// The oracle hands on as the kernels do: by hand, for a limb and a bit.
#[test]
fn the_oracle_hands_results_on() {
    let row = |work, place| StudyRow {
        turns: 1,
        method: String::new(),
        work,
        arithmetic: Arithmetic::Flag,
        place,
        layout: Layout::default(),
        against: None,
        registers: Vec::new(),
    };
    let (a, b, m) = ([5, 1], [u32::MAX, 1], [7, 1]);
    let result = |work, place, executions| {
        let once = row(work, place).experiment(33, 1);
        let by_turns = Experiment { executions: 1, turns: executions, ..once };
        let experiment = Experiment { executions, ..once };
        assert_eq!(oracle::result(&experiment, [&a, &b, &m]), oracle::result(&by_turns, [&a, &b, &m]));
        oracle::result(&experiment, [&a, &b, &m]).to_u32_digits()
    };
    assert_eq!(result(Work::Add, Place::Local, 1), [4, 3]);
    assert_eq!(result(Work::Add, Place::Local, 2), [3, 5]);
    assert_eq!(result(Work::Add, Place::Global, 2), [4, 3]);
    let product = |a: u128, b: u128| a * b;
    let (a, b) = ((1 << 32) + 5, (1 << 33) - 1);
    let c = product(a, b);
    // Three limbs: the low two by the high two, 33 bits of that.
    let next = ((c ^ (c >> 32)) & u128::from(u64::MAX)) & ((1 << 33) - 1);
    let digits = |value: u128| num_bigint::BigUint::from(value).to_u32_digits();
    assert_eq!(result(Work::School, Place::Local, 1), digits(c));
    assert_eq!(result(Work::Karatsuba, Place::Local, 2), digits(product(next, b)));
}

/// The way through a device, with the simulator in the place of the GPU: every row in its layout, checked.
#[test]
fn launches_are_checked_and_timed() {
    for name in NAMES {
        let (entry, study) = study(name);
        let mut outcome = Outcome::new(&entry);
        let mut bench = Bench::new(Some(warpmp::device::open_sim()), SETTINGS);
        for row in study.rows.iter().filter(|row| row.turns == 1) {
            let bits = study.swept.last().copied().unwrap_or(131);
            let before = outcome.lines.len();
            measure(&mut outcome, &mut bench, study, row, bits, None).unwrap();
            let launches = outcome.lines[before..].iter().filter_map(|line| line.figure.launch());
            assert_eq!(launches.clone().count(), study.grids(bits, 16).len(), "{name} {}", row.method);
            for launch in launches {
                assert_eq!((launch.times.checked, launch.times.runs, launch.executions), (Some(16), 2, 10));
                assert_eq!(launch.relative.is_some(), row.against.is_some(), "{name} {}", row.method);
            }
        }
    }
}

#[test]
fn counts_come_from_the_simulator() {
    let (entry, study) = study("fig4.2");
    let outcome = reproduce(&entry, study, Some(warpmp::device::open_sim()), SETTINGS).unwrap();
    assert!(outcome.device.is_none());
    let figures = |method: &str, bits| -> Vec<&Figure> {
        let of_method = outcome.lines.iter().filter(|line| line.method == method && line.bits == bits);
        of_method.map(|line| &line.figure).collect()
    };
    let [Figure::Instructions(rows), Figure::Registers(_)] = figures("school, rows of wide products", 131)[..] else {
        panic!("instructions and registers, no times")
    };
    assert_eq!((rows.wide_products, rows.checked), (25, 32));
    let [_, Figure::Registers(registers)] = figures("Karatsuba, carry flag", 239)[..] else { panic!("registers") };
    assert_eq!((registers.paper, registers.ours), (Some(49.0), None));
    assert!(outcome.lines.iter().all(|line| line.figure.launch().is_none()));
}
