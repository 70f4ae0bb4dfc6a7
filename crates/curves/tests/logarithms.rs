//! Whole searches on random curves, against known logarithms and the expected number of steps.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_curves::affine::Group;
use warpmp_curves::search::{Engine, Plan, solve};
use warpmp_curves::walk::Settings;
use warpmp_curves::{Layout, Problem};

/// Random curves of 32 to 40 bits with prime order, and their logarithms.
fn curves() -> Vec<(Problem, BigUint)> {
    let text = include_str!("data/curves.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let numbers: Vec<BigUint> = row.split(',').map(|digits| digits.parse().unwrap()).collect();
        let [p, a, b, n, px, py, qx, qy, k] = numbers.try_into().unwrap();
        let problem = Problem::new("", Group { p, a, b }, n, Some((px, py)), Some((qx, qy))).unwrap();
        (problem, k)
    })
    .collect()
}

/// A few walks, so that the steps after the meeting are few.
fn plan(seed: u64) -> Plan {
    let layout = Layout { blocks: 1, threads: 1, points: 32, capacity: 4096 };
    Plan { settings: Settings { branch_bits: 11, distinguished_bits: 6, seed }, layout, rounds: 32 }
}

/// The mean of steps over √(π·n/4)·(1 + 1/(2r)), less the steps of walks that have not reported.
#[test]
fn steps_are_as_many_as_expected() {
    let curves = curves();
    assert_eq!(curves.len(), 200);
    let cases: Vec<_> = (0..2).flat_map(|seed| curves.iter().map(move |(problem, k)| (seed, problem, k))).collect();
    let ratios: Vec<f64> = cases
        .into_par_iter()
        .map(|(seed, problem, k)| {
            let solution = solve(problem, &[(Engine::Cpu, plan(seed))], |_| true).unwrap();
            assert_eq!(solution.k, *k, "{problem:?}");
            let expected = problem.expected_steps() * (1.0 + 1.0 / 4096.0);
            // A walk has 64 more steps to go on average, and its launch ends after 16.
            (solution.steps[0] as f64 - 32.0 * (64.0 + 16.0)) / expected
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 1.0).abs() < 0.05, "{mean}");
}

/// The processor, by the usual plan.
fn cpu(problem: &Problem) -> (Engine, Plan) {
    (Engine::Cpu, Plan::new(problem, &Engine::Cpu, 1, 0))
}

/// The simulator, with few walks.
fn sim() -> (Engine, Plan) {
    let layout = Layout { blocks: 1, threads: 32, points: 8, capacity: 4096 };
    let plan = Plan { settings: Settings { branch_bits: 8, distinguished_bits: 4, seed: 1 }, layout, rounds: 16 };
    (Engine::Device(warpmp_device::open_sim()), plan)
}

#[test]
fn simulated_devices_find_logarithms() {
    let (problem, k) = &curves()[0];
    for count in 1..=3 {
        let engines: Vec<_> = (0..count).map(|_| sim()).collect();
        let solution = solve(problem, &engines, |_| true).unwrap();
        assert_eq!(solution.k, *k, "{count} devices");
        // No device makes the walks of another one: these would meet at once and tell nothing. The system decides on the
        // share of each device.
        assert!(solution.steps.len() == count && solution.steps.iter().sum::<u64>() > 0, "{:?}", solution.steps);
        assert!(10 * solution.void < solution.reports, "{solution:?}");
    }
}

/// A device that fails ends the search of all.
#[test]
fn a_device_that_fails_ends_the_search() {
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    let (device, mut plan) = sim();
    // More threads than a block may have.
    plan.layout.threads = 2048;
    let failed = solve(&problem, &[sim(), (device, plan)], |_| true);
    assert!(matches!(failed, Err(warpmp_curves::Error::Device(_))), "{failed:?}");
    assert!(matches!(solve(&problem, &[], |_| true), Err(warpmp_curves::Error::NoEngine)));
    assert!(matches!(solve(&problem, &[sim(), sim()], |_| false), Err(warpmp_curves::Error::Stopped)));
}

#[test]
fn logarithms_that_are_seen_at_once() {
    let (problem, _) = curves().remove(0);
    let Problem { group, n, base, .. } = problem;
    let one = BigUint::from(1_u32);
    for (target, k) in [(None, BigUint::ZERO), (base.clone(), one.clone()), (group.negate(&base), &n - &one)] {
        let problem = Problem::new("", group.clone(), n.clone(), base.clone(), target).unwrap();
        let solution = solve(&problem, &[cpu(&problem)], |_| true).unwrap();
        assert_eq!((solution.k, solution.steps), (k, vec![0]));
    }
}

#[test]
fn a_search_can_be_stopped() {
    let problem = warpmp_curves::challenges::named("eccp-131").unwrap();
    let mut calls = 0;
    let stopped = solve(&problem, &[cpu(&problem)], |progress| {
        calls += 1;
        progress.steps == 0
    });
    assert!(stopped.is_err() && calls == 1);
}
