//! The CPU engine against the independent path: every figure, on windows around every limit.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use warpmp_collatz::{
    Error,
    cpu::Cpu,
    dfs,
    engine::{Control, Engine as _, Outcome},
    honda, number,
    scheme::Method as _,
    window::Window,
};

/// A prime, so that windows are aligned to nothing.
const COUNT: u128 = 300_007;

/// Around the floor, 2^32, 2^64, 2^68, 2^71 and the end of the range.
fn windows() -> Vec<Window> {
    let mut windows = vec![Window::new(1, COUNT).unwrap(), Window::new((1 << 20) - 1000, COUNT).unwrap()];
    for bits in [32, 64, 68, 71, 96] {
        windows.push(Window::new((1 << bits) - COUNT / 2, COUNT).unwrap());
    }
    windows.push(Window::new((1 << 127) - 50_000, 50_000).unwrap());
    windows
}

fn same(found: &Outcome, expected: &Outcome, what: &str) {
    assert!(found.overflowed <= found.finished, "{what}");
    let figures = |it: &Outcome| (it.tested, it.plain, it.checksum);
    assert_eq!(figures(found), figures(expected), "{what}");
    let highest = found.heights.highest();
    assert!(highest.is_none() || highest == expected.heights.highest(), "{what}: {highest:?}");
}

#[test]
fn depth_first_agrees_with_the_independent_path() {
    let control = Control::default();
    let (mut cpu, mut portable) = (Cpu::new(), Cpu::new().portable());
    for plan in [(10, 12, 12, 64), (8, 20, 7, 2), (0, 14, 14, 3), (16, 24, 12, 5), (20, 6, 6, 1)] {
        let plan = dfs::Plan::new(plan.0, plan.1, plan.2, plan.3).unwrap();
        for window in windows() {
            let found = cpu.dfs(&plan, &window, &control).unwrap();
            assert_eq!(found, portable.dfs(&plan, &window, &control).unwrap(), "{plan:?} {window}");
            let expected = plan.recompute(&window, &control).unwrap();
            same(&found, &expected, &format!("{plan:?} {window}"));
        }
    }
}

#[test]
fn the_dissertations_scheme_agrees_with_the_independent_path() {
    let control = Control::default();
    for (sieve_bits, base_bits) in [(3, 4), (16, 11), (18, 12), (26, 18), (12, 20)] {
        let plan = honda::Plan::new(sieve_bits, base_bits).unwrap();
        let (mut cpu, mut portable) = (Cpu::new(), Cpu::new().portable());
        for window in windows() {
            let found = cpu.honda(&plan, &window, &control).unwrap();
            assert_eq!(found, portable.honda(&plan, &window, &control).unwrap(), "{plan:?} {window}");
            let expected = plan.recompute(&window, &control).unwrap();
            same(&found, &expected, &format!("{plan:?} {window}"));
        }
    }
}

#[test]
fn windows_add_up() {
    let control = Control::default();
    let mut cpu = Cpu::new();
    let plan = dfs::Plan::new(12, 18, 12, 5).unwrap();
    let (from, count) = ((1u128 << 64) - 12_345, 1_000_003u128);
    let whole = cpu.dfs(&plan, &Window::new(from, count).unwrap(), &control).unwrap();
    let mut sum = Outcome::default();
    let mut next = from;
    for part in [1, 4095, 4096, 4097, 500_000, 487_714] {
        sum.add(&cpu.dfs(&plan, &Window::new(next, part).unwrap(), &control).unwrap());
        next += part;
    }
    assert_eq!(next, from + count);
    let additive = |it: &Outcome| (it.tested, it.plain, it.overflowed, it.checksum);
    assert_eq!(additive(&sum), additive(&whole));
}

/// Starts whose values leave 96, 128 and many more bits.
#[test]
fn starts_that_overflow_are_finished() {
    let control = Control::default();
    let mut cpu = Cpu::new();
    // 2^k − 1 rises to 3^k − 1.
    for bits in [70u32, 90, 126] {
        let start = (1u128 << bits) - 1;
        let trace = number::trace(start, |_| true).unwrap();
        assert!(trace.highest.clone() > dashu(3, bits as usize - 1), "{bits}");
        let window = Window::new(start, 1).unwrap();
        for plan in [(10, 12), (30, 24)] {
            let plan = dfs::Plan::new(plan.0, plan.1, 12, 1).unwrap();
            let found = cpu.dfs(&plan, &window, &control).unwrap();
            same(&found, &plan.recompute(&window, &control).unwrap(), &format!("{bits} {plan:?}"));
            if start % 9 != 4 && start % 3 != 2 {
                assert_eq!((found.tested, found.overflowed), (1, u64::from(bits > 80)), "{bits}");
            }
        }
        let plan = honda::Plan::new(16, 12).unwrap();
        let found = cpu.honda(&plan, &window, &control).unwrap();
        same(&found, &plan.recompute(&window, &control).unwrap(), &format!("{bits}"));
        assert_eq!((found.tested, found.overflowed), (1, u64::from(bits > 80)), "{bits}");
    }
}

fn dashu(base: u32, exponent: usize) -> dashu_int::UBig {
    dashu_int::UBig::from(base).pow(exponent)
}

#[test]
fn work_stops_when_told() {
    let control = Control::default();
    control.stop();
    let window = Window::new(1 << 64, 1 << 30).unwrap();
    let mut cpu = Cpu::new();
    assert!(matches!(cpu.dfs(&dfs::Plan::new(20, 12, 12, 5).unwrap(), &window, &control), Err(Error::Stopped)));
    assert!(matches!(cpu.honda(&honda::Plan::new(20, 12).unwrap(), &window, &control), Err(Error::Stopped)));
    assert!(matches!(cpu.delays(1 << 64, &mut [0; 10], &control), Err(Error::Stopped)));
}
