//! The studies' data is whole, and the simulator's figures are found.

use super::{
    super::tables::{self, Content},
    *,
};

const SETTINGS: Settings = Settings { runs: 2, products: Some(16), quiet: true };

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
    let launch = |blocks, threads| Launch { blocks, threads };
    assert_eq!(study.launches(131, Experiment::MAX_ROOM).len(), 121);
    let largest = study.launches(109, Experiment::MAX_ROOM);
    assert_eq!((largest.len(), largest[10]), (11, launch(1024, 1024)));
    assert!(largest.iter().all(|launch| launch.blocks == 1024));
    let few = study.launches(239, 4);
    assert_eq!(few, [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1)].map(|(blocks, threads)| launch(blocks, threads)));
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
        assert_eq!(
            warpmp_oracle::epfl::result(&experiment, [&a, &b, &m]),
            warpmp_oracle::epfl::result(&by_turns, [&a, &b, &m])
        );
        warpmp_oracle::epfl::result(&experiment, [&a, &b, &m]).to_u32_digits()
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

/// The way through a device, with the simulator in the place of the GPU: every row in its layout, checked; then the text and
/// the maps of what came out.
#[test]
fn launches_are_checked_and_timed() {
    for name in NAMES {
        let (entry, study) = study(name);
        let mut outcome = Outcome::new(&entry);
        outcome.picture = Some(study.picture);
        let mut bench = Bench::on(Some(warpmp::device::open_sim()), SETTINGS);
        for row in study.rows.iter().filter(|row| row.turns == 1) {
            let bits = study.swept.last().copied().unwrap_or(131);
            let before = outcome.lines.len();
            measure(&mut outcome, &mut bench, study, row, bits, None).unwrap();
            let times = outcome.lines[before..].iter().filter(|line| line.quantity == Quantity::Time);
            assert_eq!(times.clone().count(), study.launches(bits, 16).len(), "{name} {}", row.method);
            for line in times {
                assert_eq!((line.checked, line.runs, line.executions), (Some(16), Some(2), Some(10)));
                assert_eq!(line.relative.is_some(), row.against.is_some(), "{name} {}", row.method);
            }
        }
        let (text, svg) = (text(&outcome.lines), svg(&outcome, study.picture).unwrap());
        let swept = !study.swept.is_empty();
        assert_eq!(text.contains("blocks \\ threads"), swept, "{name}: {text}");
        assert_eq!(svg.contains("threads a block"), swept, "{name}");
    }
}

/// Of several launches the one with most executions a second counts, not the largest.
#[test]
fn the_best_launch_is_told() {
    let line = |method: &str, threads, median, against: Option<&str>| Line {
        products: 1024 * threads as usize,
        executions: Some(10),
        blocks: Some(1024),
        threads: Some(threads),
        median: Some(median),
        against: against.map(str::to_owned),
        ..Line::new("epfl:fig4.2", method, Quantity::Time, 131)
    };
    let counted = |method| Line { ours: Some(7.0), ..Line::new("epfl:fig4.2", method, Quantity::Instructions, 131) };
    let lines = [
        counted("school"),
        line("school", 512, 10.24e-6, None),
        line("school", 1024, 40.96e-6, None),
        counted("Karatsuba"),
        line("Karatsuba", 512, 20.48e-6, Some("school")),
        line("Karatsuba", 1024, 20.48e-6, Some("school")),
    ];
    let text = text(&lines);
    let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    assert!(row("school ").contains("1024 × 512  10.2 µs         512 G"), "{text}");
    assert!(row("Karatsuba ").contains("1024 × 1024") && row("Karatsuba ").ends_with("1.00×"), "{text}");
}

#[test]
fn counts_come_from_the_simulator() {
    let (entry, study) = study("fig4.2");
    let outcome = reproduce(&entry, study, Selector::Sim, SETTINGS).unwrap();
    assert!(outcome.device.is_none());
    let line = |method: &str, bits, quantity| {
        let same = |line: &&Line| line.method == method && line.bits == bits && line.quantity == quantity;
        outcome.lines.iter().find(same).unwrap()
    };
    let rows = line("school, rows of wide products", 131, Quantity::Instructions);
    assert_eq!((rows.wide_products, rows.checked), (Some(25), Some(32)));
    let registers = line("Karatsuba, carry flag", 239, Quantity::Registers);
    assert_eq!((registers.paper, registers.ours), (Some(49.0), None));
    assert!(outcome.lines.iter().all(|line| line.quantity != Quantity::Time));
}
