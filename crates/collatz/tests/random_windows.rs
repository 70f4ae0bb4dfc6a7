//! Random windows at all heights: vectors, scalar code and the independent path, and beside them plain iteration in the integers of another
//! library, which shares nothing with any of them.
//!
//! A failure names the seed of its window: `WARPMP_SEED=… WARPMP_SECONDS=0` runs that window again.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;

use std::{
    env,
    time::{Duration, Instant},
};

use common::{Dice, dead, delay, step, steps};
use dashu_int::ops::BitTest as _;
use num_bigint::BigUint;
use warpmp_collatz::{
    alpha,
    cpu::Cpu,
    dfs,
    engine::{Control, Engine, Outcome},
    honda,
    records::{Kind, known},
    rules::FLOOR,
    scheme::Scheme,
    window::{LIMIT, Window},
};

/// From `low` to `high`, both included.
fn between(dice: &mut Dice, low: u64, high: u64) -> u64 {
    low + dice.next() % (high - low + 1)
}

/// A number that rules, tables or widths may stumble over, or any of 40 to 90 bits.
fn place(dice: &mut Dice) -> u128 {
    let wide = |dice: &mut Dice| u128::from(dice.next()) << 64 | u128::from(dice.next());
    let bits = between(dice, 40, 90) as u32;
    let number = match dice.next() % 8 {
        // The last one of a power of two, and of small multiples of one: they climb highest.
        0 => (1 << bits) - 1,
        1 => (u128::from(between(dice, 1, 99)) << (bits - 6)) - 1,
        // 2^k·3^j and its neighbours: trajectories that fall, or rise, for long.
        2 => {
            let threes = between(dice, 0, 50) as u32;
            3_u128.pow(threes) << (bits.saturating_sub(threes * 8 / 5))
        }
        3 => {
            let records = known(if dice.next().is_multiple_of(2) { Kind::Delay } else { Kind::Path });
            records[dice.next() as usize % records.len()].start
        }
        // The bounds of widths.
        4 => 1 << [20, 32, 53, 63, 64, 68, 71, 86, 89, 96, 104, 121, 126][dice.next() as usize % 13],
        _ => wide(dice) >> (128 - bits),
    };
    number.clamp(1, LIMIT - 1)
}

fn window(dice: &mut Dice) -> Window {
    let place = place(dice);
    let bits = between(dice, 0, 17);
    let count = u128::from(between(dice, 1, 1 << bits));
    // The place is within the window, or right before or after it.
    let before = u128::from(between(dice, 0, count as u64 + 1));
    Window::new((place.saturating_sub(before)).clamp(1, LIMIT - count), count).unwrap()
}

fn schemes(dice: &mut Dice) -> [Scheme; 3] {
    let [leaf, main, rare] = [(0, 18), (6, 20), (6, 16)].map(|(low, high)| between(dice, low, high) as u32);
    let dfs = dfs::Plan::new(leaf, main, rare, between(dice, 0, 9) as u32).unwrap();
    let honda = honda::Plan::new(between(dice, 3, 20) as u32, between(dice, 4, 20) as u32).unwrap();
    let modulus = [1, 3, 9][dice.next() as usize % 3];
    [
        Scheme::Dfs(dfs),
        Scheme::Honda(honda),
        Scheme::Alpha(alpha::Plan::new(between(dice, 8, 16) as u32, modulus).unwrap()),
    ]
}

/// Tested starts and the checksum, from the scheme's definition; none if the definition speaks of other residues, too.
fn defined(scheme: &Scheme, window: &Window) -> Option<(u64, u64)> {
    let (mut count, mut sum) = (0, BigUint::ZERO);
    for start in window.from().max(FLOOR)..window.end() {
        let low = |bits: u32| (start & ((1 << bits) - 1)) as u64;
        let big = BigUint::from(start);
        let share = match *scheme {
            Scheme::Dfs(plan) => {
                let leaf = plan.leaf_bits;
                if start % 3 == 2 || start % 9 == 4 || dead(low(leaf), leaf, true, (0, 0)) {
                    continue;
                }
                let state = steps(&big, leaf);
                let odd = common::small_steps(low(leaf), leaf).0;
                let ahead = plan.lookahead(odd);
                let residue = (&state & BigUint::from((1_u64 << ahead) - 1)).try_into().unwrap();
                if dead(residue, ahead, true, (odd, leaf)) {
                    continue;
                }
                state
            }
            Scheme::Honda(plan) => {
                if dead(low(plan.sieve_bits), plan.sieve_bits, false, (0, 0)) {
                    continue;
                }
                let mut value = steps(&big, plan.base_bits);
                while value >= big {
                    value = steps(&value, plan.base_bits);
                }
                value
            }
            Scheme::Alpha(_) => return None,
        };
        count += 1;
        sum += share;
        // And it converges.
        let mut value = step(&big);
        while value >= big {
            value = step(&value);
        }
    }
    Some((count, sum.iter_u64_digits().next().unwrap_or(0)))
}

/// What all must agree on.
fn figures(outcome: &Outcome) -> (u64, u64, u64) {
    (outcome.tested, outcome.plain, outcome.checksum)
}

fn scheme_agrees(scheme: &Scheme, window: &Window, engines: &mut [(&str, Cpu)], told: &str) {
    let control = Control::default();
    if matches!(scheme, Scheme::Alpha(_)) && window.from() < FLOOR {
        return;
    }
    let expected = scheme.recompute(window, &control).unwrap();
    let found: Vec<Outcome> =
        engines.iter_mut().map(|(_, engine)| scheme.run(engine, window, &control).unwrap()).collect();
    for ((name, _), found) in engines.iter().zip(&found) {
        assert_eq!(figures(found), figures(&expected), "{name} {told} {scheme:?} {window}");
        if let Some(highest) = found.heights.highest() {
            assert_eq!(Some(highest), expected.heights.highest(), "{name} {told} {scheme:?} {window}");
            assert_eq!(found.overflowed > 0, highest.value.bit_len() > 128, "{name} {told} {scheme:?} {window}");
        }
        assert!(found.overflowed <= found.finished, "{name} {told} {scheme:?} {window}");
    }
    assert_eq!(found[0].overflowed, found[1].overflowed, "{told} {scheme:?} {window}");
    if window.count() <= 1 << 14
        && let Some(defined) = defined(scheme, window)
    {
        assert_eq!((expected.tested, expected.checksum), defined, "the independent path, {told} {scheme:?} {window}");
    }
}

fn delays_agree(dice: &mut Dice, window: &Window, engines: &mut [(&str, Cpu)], told: &str) {
    let control = Control::default();
    let places: Vec<u128> = (0..200).map(|_| place(dice)).chain([window.from(), window.end() - 1]).collect();
    // One that is too wide for vectors takes its whole batch with it.
    let (narrow, wide): (Vec<u128>, Vec<u128>) = places.into_iter().partition(|start| *start < 1 << 72);
    for starts in [narrow, wide] {
        let expected: Vec<u32> = starts.iter().map(|start| delay(&BigUint::from(*start))).collect();
        for (name, engine) in &mut *engines {
            let mut delays = vec![0; starts.len()];
            engine.delays_of(&starts, &mut delays, &control).unwrap();
            assert_eq!(delays, expected, "{name} {told} {starts:?}");
        }
    }
    // Consecutive ones.
    let mut found: Vec<Vec<u32>> = Vec::new();
    for (_, engine) in &mut *engines {
        let mut delays = vec![0; window.count() as usize];
        engine.delays(window.from(), &mut delays, &control).unwrap();
        found.push(delays);
    }
    assert_eq!(found[0], found[1], "{told} delays {window}");
    for _ in 0..200 {
        let place = dice.next() as usize % found[0].len();
        let start = window.from() + place as u128;
        assert_eq!(found[0][place], delay(&BigUint::from(start)), "{told} {start}");
    }
}

/// Windows until the time is over, one at least; gives how many.
fn agree(mut seed: u64, time: Duration) -> u64 {
    let begin = Instant::now();
    let mut engines = [("vectors", Cpu::new()), ("scalar code", Cpu::new().portable())];
    let mut windows = 0;
    loop {
        let mut dice = Dice(seed);
        let told = format!("WARPMP_SEED={seed}");
        let window = window(&mut dice);
        for scheme in schemes(&mut dice) {
            scheme_agrees(&scheme, &window, &mut engines, &told);
        }
        delays_agree(&mut dice, &window, &mut engines, &told);
        windows += 1;
        if begin.elapsed() >= time {
            return windows;
        }
        seed = Dice(seed).next();
    }
}

#[test]
fn some_windows_agree() {
    // Always the same ones.
    for seed in 0..12 {
        agree(seed, Duration::ZERO);
    }
}

#[test]
#[ignore = "a minute, or as many seconds as WARPMP_SECONDS says"]
fn windows_agree_for_a_while() {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let random = || std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let seed = number("WARPMP_SEED").unwrap_or_else(random);
    let windows = agree(seed, Duration::from_secs(number("WARPMP_SECONDS").unwrap_or(60)));
    println!("{windows} windows from WARPMP_SEED={seed} on: no disagreement");
}
