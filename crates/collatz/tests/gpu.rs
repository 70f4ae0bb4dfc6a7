//! The engine on the simulator against the CPU engine.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/settings.rs"]
mod settings;

use num_bigint::BigUint;
use settings::SETTINGS;
use warpmp_collatz::{
    alpha::Plan as AlphaPlan,
    cpu::{Cpu, PaperDelays as CpuPaperDelays},
    dfs::Plan,
    engine::{Control, Engine, Outcome},
    gpu::{
        Gpu,
        alpha::Units,
        delay::{Delays, Starts},
        delay_paper::PaperDelays,
        honda::Honda,
    },
    kernels::{
        delay::{Delay, Source},
        honda,
    },
    number::trace,
    scheme::Method as _,
    window::Window,
};
use warpmp_device::open_sim;

fn both(plan: &Plan, windows: &[(u128, u128)]) -> Vec<(Outcome, Outcome)> {
    let (mut gpu, mut cpu) = (Gpu::new(open_sim(), SETTINGS), Cpu::new());
    let control = Control::default();
    let run = |&(from, count): &(u128, u128)| {
        let window = Window::new(from, count).unwrap();
        (gpu.dfs(plan, &window, &control).unwrap(), cpu.dfs(plan, &window, &control).unwrap())
    };
    windows.iter().map(run).collect()
}

#[test]
fn windows_are_done_as_the_cpu_does_them() {
    for plan in [Plan::new(8, 12, 8, 3).unwrap(), Plan::new(6, 13, 13, 0).unwrap(), Plan::new(9, 6, 6, 2).unwrap()] {
        let unit = 1 << (plan.leaf_bits + 10);
        let windows = [
            (1, 3 * unit),
            ((1 << 32) - unit, 2 * unit),
            ((1 << 42) - unit, 2 * unit),
            ((1 << 64) - 2 * unit, 4 * unit),
            ((1 << 68) - unit, unit),
            ((1 << 71) + 3 * unit, 2 * unit + 12_345),
            ((1 << 66) + 3 * unit + 1_234, 1),
            ((1 << 66) + 3 * unit + 1_235, 8_000),
            ((1 << 66) + 4 * unit - 5_000, 9_999),
            ((1 << 66) + unit + 17, 3 * unit),
            ((1 << 96) - unit, 2 * unit),
            ((1 << 100) + unit, unit),
        ];
        for ((gpu, cpu), window) in both(&plan, &windows).into_iter().zip(windows) {
            let figures = |it: &Outcome| (it.tested, it.plain, it.overflowed, it.checksum);
            assert_eq!(figures(&gpu), figures(&cpu), "{plan:?} {window:?}");
            assert!(gpu.overflowed <= gpu.finished);
        }
    }
}

#[test]
fn the_dissertations_scheme() {
    let spec = honda::Honda {
        base_bits: 10,
        place: honda::Place::Shared,
        begin: honda::Begin::Start,
        sieve_bits: 10,
        threads: 256,
    };
    let mut scheme = Honda::new(&open_sim(), spec).unwrap();
    // Table 4.3.
    assert_eq!(scheme.residues(), 64);
    let outcome = scheme.run((1 << 46) - 1).unwrap();
    assert_eq!(outcome.tested, 64 * 256);
    assert!(outcome.overflowed > 0 && outcome.overflowed == outcome.finished);
    scheme.change(honda::Honda { place: honda::Place::Global, base_bits: 6, threads: 64, ..spec }).unwrap();
    assert!(scheme.run((1 << 46) - 1).unwrap().overflowed > 0);
    assert!(scheme.run(1 << 46).is_err() && scheme.change(honda::Honda { sieve_bits: 11, ..spec }).is_err());
}

#[test]
fn windows_of_the_dissertations_scheme() {
    for (sieve_bits, base_bits) in [(10, 10), (6, 14), (3, 4)] {
        let plan = warpmp_collatz::honda::Plan::new(sieve_bits, base_bits).unwrap();
        let (mut gpu, mut cpu) = (Gpu::new(open_sim(), SETTINGS), Cpu::new());
        let control = Control::default();
        let unit = 1_u128 << (sieve_bits + 8);
        for (from, count) in [
            (1, (1 << 20) + 2 * unit),
            ((1 << 32) - unit, 3 * unit - 5),
            ((1 << 64) - unit, unit),
            ((1 << 64) - unit, unit + 99),
            ((1 << 64) - 3001, 3001),
            ((1 << 20) + 5, 99),
        ] {
            let window = Window::new(from, count).unwrap();
            let ours = gpu.honda(&plan, &window, &control).unwrap();
            let theirs = cpu.honda(&plan, &window, &control).unwrap();
            assert_eq!((ours.tested, ours.plain, ours.checksum), (theirs.tested, theirs.plain, theirs.checksum));
            assert_eq!(ours.overflowed, ours.finished);
        }
    }
}

#[test]
fn delays_are_those_of_single_traces() {
    let spec = SETTINGS.delays;
    let mut delays = Delays::new(&open_sim(), spec).unwrap();
    // 2^63 − 1 among them grows past 96 bits, and is finished on the host.
    for (first, count) in [(1, 300), ((1 << 63) - 100, 200), (u64::MAX - 50, 51)] {
        let mut all = vec![0; count];
        delays.range(first, &mut all).unwrap();
        for (index, &found) in (0..).zip(&all) {
            let start: u64 = first + index;
            assert_eq!(u64::from(found), trace(start.into(), |_| true).unwrap().delay(), "{start}");
        }
    }
    assert!(delays.range(0, &mut [0; 5]).is_err() && delays.range(u64::MAX, &mut [0; 3]).is_err());
}

#[test]
fn what_overflows_is_finished() {
    // At 2^118 hardly anything stays below 2^128 for long; and there is no room for all reports at first.
    let plan = Plan::new(8, 12, 12, 9).unwrap();
    let unit = 1_u128 << 18;
    let (gpu, cpu) = both(&plan, &[((1 << 121) + 5 * unit, unit)]).remove(0);
    assert_eq!((gpu.tested, gpu.checksum), (cpu.tested, cpu.checksum));
    // Up there the last steps before a rule ends a start, which no engine takes, may leave 128 bits, too.
    assert!(gpu.overflowed > 16 && gpu.overflowed <= gpu.finished, "{gpu:?}");
}

#[test]
fn checksums_of_units() {
    // Small units near 2^126: many values exceed 128 bits, and the host finishes them.
    let residues = [27, 31, 47, 71, 91, 103, 111, 127, 155, 159, 167, 255];
    for unit in [1_u128 << 20, (1 << 112) + 12_345, (1 << 113) - 1] {
        let mut sum = 0;
        let mut best = (BigUint::ZERO, 0);
        for start in (0..32).flat_map(|upper| residues.map(|residue| (unit << 14) + (upper << 9) + residue)) {
            if matches!(start % 9, 2 | 4 | 5 | 8) {
                continue;
            }
            let first = BigUint::from(start);
            let (mut n, mut highest) = (first.clone(), BigUint::ZERO);
            while n >= first {
                n += 1_u32;
                let twos = n.trailing_zeros().unwrap();
                sum += twos;
                n = (n >> twos) * BigUint::from(3_u32).pow(twos as u32) - 1_u32;
                highest = highest.max(n.clone());
                n >>= n.trailing_zeros().unwrap();
            }
            if highest > best.0 {
                best = (highest, start);
            }
        }
        let mut units = Units::new(&open_sim(), (9, 14), 9, &residues.map(|residue| residue as u64)).unwrap();
        let found = units.run(unit, None).unwrap();
        assert_eq!((found.checksum, u128::from(found.offset)), (sum, best.1 - (unit << 14)));
        assert_eq!(found.highest.to_string(), best.0.to_string());
        assert_eq!(found.overflowed > 0, unit > 1 << 100);
    }
    assert!(Units::new(&open_sim(), (9, 14), 5, &[27]).is_err());
}

/// Whole units and both ends, against the independent path.
#[test]
fn checksums_of_ranges() {
    let mut gpu = Gpu::new(open_sim(), SETTINGS);
    for (modulus, from, count, overflows) in
        [(1, (1_u128 << 40) - 5000, 20_000, false), (3, 1 << 71, 1 << 14, false), (9, (1 << 126) + 77, 40_000, true)]
    {
        let (plan, window) = (AlphaPlan::new(10, modulus).unwrap(), Window::new(from, count).unwrap());
        let found = gpu.alpha(&plan, &window, &Control::default()).unwrap();
        let right = plan.recompute(&window, &Control::default()).unwrap();
        assert_eq!((found.tested, found.checksum), (right.tested, right.checksum));
        assert_eq!(found.overflowed > 0, overflows, "{from}");
        assert_eq!(found.overflowed, found.finished);
        assert!(found.heights.highest().is_some());
        assert_eq!(found.heights.highest(), right.heights.highest());
    }
    // Within the first unit of the sieve.
    let (plan, window) = (AlphaPlan::new(21, 9).unwrap(), Window::new((1 << 20) + 5, 5000).unwrap());
    let found = gpu.alpha(&plan, &window, &Control::default()).unwrap();
    let right = plan.recompute(&window, &Control::default()).unwrap();
    assert_eq!((found.tested, found.checksum), (right.tested, right.checksum));
    let (plan, window) = (AlphaPlan::new(10, 1).unwrap(), Window::new(1 << 30, 1 << 14).unwrap());
    let control = Control::default();
    control.stop();
    assert!(gpu.alpha(&plan, &window, &control).is_err());
    assert!(gpu.alpha(&plan, &Window::new(1 << 19, 1 << 20).unwrap(), &Control::default()).is_err());
}

/// The highest value of a window is seen, although most values are jumped over.
#[test]
fn highest_values_of_windows() {
    let plan = Plan::new(9, 12, 8, 3).unwrap();
    let unit = 1_u128 << (plan.leaf_bits + 10);
    let mut engines: [Box<dyn Engine>; 2] = [Box::new(Gpu::new(open_sim(), SETTINGS)), Box::new(Cpu::new())];
    let mut seen = [0; 2];
    for (from, count) in [
        (1, 1 << 21),
        (1 << 32, unit),
        ((1 << 64) - unit, 2 * unit),
        ((1 << 71) + 12_345, unit),
        ((1 << 66) + 5 * unit, unit),
        ((1 << 120) + unit, unit),
    ] {
        let window = Window::new(from, count).unwrap();
        let right = plan.recompute(&window, &Control::default()).unwrap();
        for (engine, seen) in engines.iter_mut().zip(&mut seen) {
            let found = engine.dfs(&plan, &window, &Control::default()).unwrap();
            assert_eq!((found.tested, found.checksum), (right.tested, right.checksum));
            if let Some(peak) = found.heights.highest() {
                assert_eq!(Some(peak), right.heights.highest(), "{} {window}", engine.name());
                *seen += 1;
            }
        }
    }
    assert!(seen.iter().all(|&seen| seen > 2), "{seen:?}");
}

#[test]
fn algorithm_6_as_in_the_dissertation() {
    let device = open_sim();
    let stream = device.stream().unwrap();
    let out = device.alloc(4 * 1000).unwrap();
    for (base_bits, place, known_bits) in [(9, honda::Place::Shared, 12), (12, honda::Place::Global, 13)] {
        let spec = Delay { base_bits, place, known_bits, source: Source::Range, threads: 64 };
        let (mut gpu, cpu) =
            (PaperDelays::new(&device, spec).unwrap(), CpuPaperDelays::new(base_bits, known_bits).unwrap());
        for first in [1, 12_327_829_503 - 500, 0xFFFF_FFFF_FFFF_FFFF - 999] {
            gpu.run(Starts::From(first), 1000, &out).unwrap();
            let mut found = vec![0; 1000];
            device.download(&stream, &out, 0, &mut found).unwrap();
            for (start, delay) in (first..=u64::MAX).zip(found) {
                let right = trace(start.into(), |_| true).unwrap().delay();
                assert_eq!((u64::from(delay), u64::from(cpu.delay(start).unwrap())), (right, right), "{start}");
            }
        }
        assert!(gpu.run(Starts::From(0), 5, &out).is_err() && gpu.run(Starts::From(u64::MAX), 5, &out).is_err());
    }
    assert!(CpuPaperDelays::new(12, 11).is_err() && CpuPaperDelays::new(12, 12).unwrap().delay(0).is_err());
    let cpu = CpuPaperDelays::new(10, 14).unwrap();
    assert_eq!(u64::from(cpu.delay(8_528_817_511).unwrap()), trace(8_528_817_511, |_| true).unwrap().delay());
    assert_eq!(cpu.delay(93_571_393_692_802_302).unwrap(), 2091);
}
