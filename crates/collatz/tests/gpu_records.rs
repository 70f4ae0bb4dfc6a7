//! Searches for records on simulated devices, several at a time, against the CPU's and plain iteration.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigUint;
use warpmp_collatz::{
    Error,
    cpu::Cpu,
    dfs::Plan,
    engine::Control,
    gpu::{
        Settings,
        delay_records::{self, DelayRecords},
        path_records::{self, PathRecords},
    },
    kernels::delay_records::DelayRecords as DelayRecordsKernel,
    records::{Kind, Record, known},
    window::Window,
};
use warpmp_device::open_sim;

#[test]
fn delay_records_are_found() {
    let spec = DelayRecordsKernel { base_bits: 8, known_bits: 10, sieve_bits: 8, window_bits: 18 };
    let mut search = DelayRecords::new(&open_sim(), spec).unwrap();
    let size = 1_u64 << spec.window_bits;
    // Every delay below 33 windows, by the delays of smaller numbers.
    let mut delays = vec![0_u32, 0];
    for n in 2..33 * size {
        let (mut y, mut delay) = (n, 0);
        while y >= n {
            delay += if y % 2 == 1 { 2 } else { 1 };
            y = if y % 2 == 1 { y + y / 2 + 1 } else { y / 2 };
        }
        delays.push(delay + delays[y as usize]);
    }
    let mut records: Vec<(u64, u32)> = Vec::new();
    let mut odd_records = 0;
    for window in 0..33 {
        let found =
            if window < 16 { Vec::new() } else { search.longer(window, &records, (window * size).into()).unwrap() };
        assert!(found.iter().all(|&(start, delay)| delay == delays[start as usize]));
        for start in (window * size).max(1)..(window + 1) * size {
            let delay = delays[start as usize];
            if records.last().is_none_or(|last| delay > last.1) {
                records.push((start, delay));
                if window >= 16 && start % 2 == 1 {
                    odd_records += 1;
                    assert!(found.contains(&(start, delay)), "{start}");
                }
            }
        }
    }
    // 5649499, 6649279, 8400511.
    assert_eq!(odd_records, 3);
    assert!(search.longer(3, &records, 0).is_err());
}

#[test]
fn a_search_for_delay_records() {
    let kernels = [DelayRecordsKernel { base_bits: 8, known_bits: 10, sieve_bits: 8, window_bits: 18 }];
    // The last record but one is 6649279; the bound is within a window.
    let devices = [open_sim(), open_sim(), open_sim()];
    for below in [1000, (1 << 22) + 5, 6_649_279, 6_649_280] {
        let found = delay_records::search(&devices, &kernels, below, &Control::default()).unwrap();
        let mut expected = known(Kind::Delay);
        expected.retain(|record| record.start < below);
        assert_eq!(found, expected, "below {below}");
    }
    assert!(delay_records::search(&devices, &kernels, (1 << 64) + 1, &Control::default()).is_err());
}

/// The highest value of a start, `3n + 1` not yet halved, until it is below itself.
fn highest(start: u128) -> BigUint {
    let first = BigUint::from(start);
    let (mut n, mut highest) = (first.clone(), first.clone());
    while n >= first {
        n = if n.bit(0) { n * 3_u32 + 1_u32 } else { n >> 1 };
        highest = highest.max(n.clone());
    }
    highest
}

fn settings(jump_bits: u32) -> Settings {
    Settings { jump_bits, warps: 2, blocks: 1, report_capacity: 16, ..Settings::default() }
}

fn text(found: &[Record]) -> Vec<(u128, String)> {
    found.iter().map(|record| (record.start, record.figure.to_string())).collect()
}

/// All that climb above a bound, which no record need be, of the starts that the CPU tests.
#[test]
fn high_values_are_found() {
    let control = Control::default();
    for (plan, jump_bits, from) in [
        (Plan::new(8, 12, 8, 3).unwrap(), 6, 59_436_135_663_u128),
        (Plan::new(9, 13, 13, 0).unwrap(), 12, 1 << 32),
        (Plan::new(6, 10, 6, 2).unwrap(), 4, (1 << 63) + 99),
    ] {
        let mut device = PathRecords::new(open_sim(), settings(jump_bits));
        let bits = plan.leaf_bits + 10;
        let window = Window::new(from >> bits << bits, 1 << bits).unwrap();
        let steps = plan.leaf_bits + plan.lookahead_bits;
        for more_bits in [0, 4] {
            // The least bound that leaves room for the plan, and a higher one.
            let climb = (f64::from(steps) * 0.585 + 1.3).max(f64::from(jump_bits) + 1.3) + f64::from(more_bits) + 1.0;
            let bound = (BigUint::from((climb.exp2() * 1024.0) as u128) * window.end()) >> 10;
            let mut expected = Vec::new();
            Cpu::tested(&plan, &window, |start| {
                let value = highest(start);
                if value > bound {
                    expected.push((start, value.to_string()));
                }
            })
            .unwrap();
            expected.sort();
            let found = device.higher(&plan, from >> bits, &bound.to_string().parse().unwrap(), &control).unwrap();
            assert_eq!(text(&found), expected, "{plan:?} {window} {bound}");
            assert!(more_bits > 0 || !expected.is_empty(), "{plan:?}");
        }
    }
}

/// Around a known record, on three devices: plain iteration over every number of the range finds the same.
#[test]
fn path_records_around_known_ones() {
    let known = known(Kind::Path);
    let devices = [open_sim(), open_sim(), open_sim()];
    // Two that follow one another within 2^28.1, and one that is the first number of the range.
    for (around, before, after) in [(59_436_135_663_u128, 500_000, 600_000), (77_566_362_559, 0, 300_000)] {
        let range = around - before..around + after;
        let earlier: Vec<Record> = known.iter().filter(|record| record.start < range.start).cloned().collect();
        let mut expected = text(&earlier);
        let mut bound: BigUint = expected.last().unwrap().1.parse().unwrap();
        for start in range.clone().filter(|start| start % 2 == 1) {
            // A narrow walk first: most starts do not rise far.
            let (mut n, mut high) = (start, start);
            while n >= start {
                n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
                high = high.max(n);
            }
            if BigUint::from(high) > bound {
                bound = high.into();
                expected.push((start, high.to_string()));
            }
        }
        assert!(expected.len() > earlier.len());
        let ladder: &[u32] = if before > 0 { &[8] } else { &[7] };
        let found = path_records::go_on(&devices, &settings(6), ladder, range, earlier, &Control::default()).unwrap();
        assert_eq!(text(&found), expected);
    }
}

#[test]
fn what_no_search_takes() {
    let devices = [open_sim()];
    let control = Control::default();
    let go_on =
        |ladder: &[u32], range, records| path_records::go_on(&devices, &settings(6), ladder, range, records, &control);
    assert!(matches!(go_on(&[8], 1 << 31..1 << 33, known(Kind::Path)), Err(Error::Parameter { .. })));
    assert!(matches!(go_on(&[], 1 << 33..1 << 34, known(Kind::Path)), Err(Error::Parameter { .. })));
    assert!(matches!(go_on(&[8], 1 << 63..(1 << 64) + 1, known(Kind::Path)), Err(Error::Parameter { .. })));
    // A record that leaves no room for the leaves' own steps.
    assert!(matches!(go_on(&[8], 1 << 40..1 << 41, Vec::new()), Err(Error::Parameter { .. })));
    control.stop();
    assert!(matches!(go_on(&[8], 1 << 40..1 << 41, known(Kind::Path)), Err(Error::Stopped)));
    // Below the first unit the CPU searches.
    let all = path_records::search(&devices, &settings(6), &[8], 1 << 22, &Control::default()).unwrap();
    assert_eq!(text(&all), text(&known(Kind::Path).into_iter().filter(|it| it.start < 1 << 22).collect::<Vec<_>>()));
}
