//! All engines against plain iteration in the integers of another library: the CPU with vectors and without, the simulator and, where
//! there is one, a GPU.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;
#[path = "common/settings.rs"]
mod settings;

use std::sync::LazyLock;

use common::{delay, steps};
use dashu_int::ops::BitTest as _;
use num_bigint::BigUint;
use settings::SETTINGS;
use warpmp_collatz::{
    cpu::Cpu,
    dfs,
    engine::{Control, Engine},
    gpu::{Gpu, Settings},
    honda,
    number::trace,
    window::Window,
};
use warpmp_device::{open_cuda, open_sim};
use warpmp_testkit::gpu::or_skip;

fn engines() -> Vec<(&'static str, Box<dyn Engine>)> {
    let mut engines: Vec<(&'static str, Box<dyn Engine>)> = vec![
        ("vectors", Box::new(Cpu::new())),
        ("portable", Box::new(Cpu::new().portable())),
        ("simulator", Box::new(Gpu::new(open_sim(), SETTINGS))),
    ];
    if let Some(gpu) = or_skip(open_cuda(0)) {
        engines.push(("GPU", Box::new(Gpu::new(gpu, Settings::default()))));
    }
    engines
}

/// Odd starts that climb past 96, 104, 128 and more bits: `2^k·m − 1` has the value `3^k·m − 1` after `k` steps.
const CLIMBERS: [u128; 8] = [
    (1 << 61) - 1,
    (1 << 63) - 1,
    (3 << 62) - 1,
    (1 << 67) - 1,
    (1 << 78) - 1,
    (1 << 81) - 1,
    (5 << 90) - 1,
    (1 << 126) - 1,
];

/// Windows at 1, at the floor, around 2^32, 2^64, 2^68 and 2^71, around the bounds of 86, 89, 96 and 104 bits, at the end, and around
/// the climbers.
static WINDOWS: LazyLock<Vec<Window>> = LazyLock::new(|| {
    const COUNT: u128 = 5003;
    let around = [20, 32, 64, 68, 71, 86, 89, 96, 104, 121].map(|bits| (1 << bits) - COUNT / 2);
    let climbers = CLIMBERS.iter().map(|start| start - 1000);
    let starts = [1, (1 << 127) - COUNT].into_iter().chain(around).chain(climbers);
    starts.map(|from| Window::new(from, COUNT).unwrap()).collect()
});

#[test]
fn the_climbers_climb() {
    // The highest value of T is half of the highest value with 3n+1.
    let bits = CLIMBERS.map(|start| trace(start, |_| true).unwrap().highest.bit_len() - 1);
    assert!(bits[0] > 96 && bits[1] > 96 && bits[3] > 104 && bits[5..].iter().all(|bits| *bits > 128), "{bits:?}");
}

/// The starts of a window that a plan tests, and the sum of their values after `L` steps; each is followed below itself.
fn iterated(plan: &dfs::Plan, window: &Window) -> (u64, u64) {
    let (mut count, mut sum) = (0, BigUint::ZERO);
    Cpu::tested(plan, window, |start| {
        let start = BigUint::from(start);
        if start < BigUint::from(1u32 << 20) {
            return;
        }
        count += 1;
        sum += steps(&start, plan.leaf_bits);
        let mut value = common::step(&start);
        while value >= start {
            value = common::step(&value);
        }
    })
    .unwrap();
    (count, sum.iter_u64_digits().next().unwrap_or(0))
}

#[test]
fn the_depth_first_scheme() {
    let plan = dfs::Plan::new(8, 12, 8, 3).unwrap();
    for (name, mut engine) in engines() {
        for window in &*WINDOWS {
            let found = engine.dfs(&plan, window, &Control::default()).unwrap();
            assert_eq!((found.tested, found.checksum), iterated(&plan, window), "{name} {window}");
            assert!(found.overflowed <= found.finished, "{name} {window}");
        }
    }
}

/// Where the jumps of a start stop.
fn stops(start: u128, jump: u32) -> BigUint {
    let start = BigUint::from(start);
    let mut value = steps(&start, jump);
    while value >= start {
        value = steps(&value, jump);
    }
    value
}

#[test]
fn the_dissertations_scheme() {
    for (sieve_bits, base_bits) in [(5, 10), (8, 6)] {
        let plan = honda::Plan::new(sieve_bits, base_bits).unwrap();
        for (name, mut engine) in engines() {
            for window in &*WINDOWS {
                let found = engine.honda(&plan, window, &Control::default()).unwrap();
                let (mut count, mut sum) = (0, BigUint::ZERO);
                for start in window.from().max(1 << 20)..window.end() {
                    // Mandatory: no 3^c < 2^i while the first k steps are taken.
                    let low = (start & ((1 << sieve_bits) - 1)) as u64;
                    if !common::dead(low, sieve_bits, false, (0, 0)) {
                        count += 1;
                        sum += stops(start, base_bits);
                    }
                }
                let sum = sum.iter_u64_digits().next().unwrap_or(0);
                assert_eq!((found.tested, found.checksum), (count, sum), "{name} {plan:?} {window}");
                assert!(found.overflowed <= found.finished, "{name} {window}");
            }
        }
    }
}

#[test]
fn delays() {
    for (name, mut engine) in engines() {
        for window in &*WINDOWS {
            // The middle of the window, where the bound or the climber is.
            let from = window.from() + 980;
            let mut delays = vec![0; 40];
            engine.delays(from, &mut delays, &Control::default()).unwrap();
            for (start, found) in (from..).zip(delays) {
                assert_eq!(found, delay(&BigUint::from(start)), "{name} {start}");
            }
        }
    }
}
