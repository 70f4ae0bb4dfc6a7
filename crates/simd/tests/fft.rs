//! Products by transforms, against num-bigint, at every length that a plan can choose.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ops::RangeInclusive;

use num_bigint::BigUint;
use warpmp_simd::fft::{Doubles, Eight, Four, Multiplier, Plan};

/// Points of the longest transform whose products are compared with num-bigint's.
const MIDDLE: usize = 3000;

/// Numbers of so many limbs that make large coefficients, long carries, and none of both.
fn patterns(limbs: usize) -> Vec<Vec<u32>> {
    let mut state = limbs as u64;
    let mut mixed = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let random = (0..limbs).map(|_| mixed()).collect();
    vec![random, vec![u32::MAX; limbs], vec![0x5555_5555; limbs], vec![0x8000_0000; limbs], vec![0x7fff_7fff; limbs]]
}

/// Numbers whose balanced digits are as large as they can be: all positive, and with signs that alternate.
fn largest_digits(digits: usize, bits: usize) -> Vec<Vec<u32>> {
    let limbs = digits * bits / 32;
    let of = |digit: &dyn Fn(usize) -> u64| {
        let mut limbs = vec![0; limbs + 2];
        for place in 0..digits {
            let (first, shift) = (place * bits / 32, place * bits % 32);
            let shifted = digit(place) << shift;
            limbs[first] |= shifted as u32;
            limbs[first + 1] |= (shifted >> 32) as u32;
        }
        limbs.truncate(limbs.len() - 2);
        limbs
    };
    let half = 1_u64 << (bits - 1);
    vec![of(&|_| half - 1), of(&|place| if place % 2 == 0 { half } else { half - 2 }), of(&|_| half)]
}

fn check<S: Doubles>(s: S, plan: Plan, a: &[u32], b: &[u32]) {
    let mut multiplier = Multiplier::with_plan(s, plan);
    let mut c = vec![7; a.len() + b.len()];
    multiplier.multiply(a, b, &mut c);
    let [x, y] = [a, b].map(BigUint::from_slice);
    assert!(BigUint::from_slice(&c) == &x * &y, "{plan:?}, {} × {} limbs", a.len(), b.len());
    multiplier.prepare(b);
    for _ in 0..2 {
        c.fill(8);
        multiplier.multiply_prepared(a, &mut c);
        assert!(BigUint::from_slice(&c) == &x * &y, "{plan:?}, prepared");
    }
    if a == b {
        c.fill(9);
        multiplier.square(a, &mut c);
        assert!(BigUint::from_slice(&c) == &x * &x, "{plan:?}, square of {} limbs", a.len());
    }
}

/// The longest factors of every plan to `most` points, of every pattern.
fn every_plan<S: Doubles>(most: usize) {
    let Some(s) = S::find() else { return eprintln!("skipped: no such vectors") };
    let mut seen = 0;
    for plan in Plan::all(S::LANES).filter(|plan| plan.length() <= most) {
        let limbs = plan.length() * plan.digit_bits() / 32;
        let numbers = patterns(limbs);
        for (i, a) in numbers.iter().enumerate() {
            check(s, plan, a, a);
            check(s, plan, a, &numbers[(i + 1) % numbers.len()]);
        }
        for number in largest_digits(plan.length(), plan.digit_bits()) {
            check(s, plan, &number, &number);
        }
        // A long and a short factor.
        check(s, plan, &patterns(limbs + limbs / 2)[1], &patterns(limbs / 2)[1]);
        check(s, plan, &numbers[0], &[3]);
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
fn eight_doubles_at_every_length() {
    every_plan::<Eight>(MIDDLE);
}

#[test]
fn four_doubles_at_every_length() {
    every_plan::<Four>(MIDDLE);
}

/// Top digits that have all their bits, the uppermost one set, at every place of a vector.
fn whole_top_digits<S: Doubles>() {
    let Some(s) = S::find() else { return eprintln!("skipped: no such vectors") };
    for bits in 13..=20 {
        let Some(plan) = Plan::all(S::LANES).filter(|plan| plan.digit_bits() == bits).min_by_key(Plan::length) else {
            continue;
        };
        let most = plan.length().min(20_000) * bits / 32;
        for limbs in (most - 8..=most).filter(|limbs| (32 * limbs).is_multiple_of(bits)) {
            let [ones, mixed] = [vec![u32::MAX; limbs], patterns(limbs).swap_remove(0)];
            check(s, plan, &ones, &mixed);
            check(s, plan, &ones, &ones);
            check(s, plan, &ones, &[5]);
        }
    }
}

#[test]
fn top_digits_of_eight_doubles() {
    whole_top_digits::<Eight>();
}

#[test]
fn top_digits_of_four_doubles() {
    whole_top_digits::<Four>();
}

/// Longer ones as their own check: `x·(2^n − 1) = x·2^n − x` for `x` without a pattern, and for `x` of all ones.
fn long<S: Doubles>(points: RangeInclusive<usize>) {
    let Some(s) = S::find() else { return eprintln!("skipped: no such vectors") };
    for plan in Plan::all(S::LANES).filter(|plan| points.contains(&plan.length())) {
        let limbs = plan.length() * plan.digit_bits() / 32;
        let ones = vec![u32::MAX; limbs];
        let mut multiplier = Multiplier::with_plan(s, plan);
        for x in [&patterns(limbs)[0], &ones] {
            let mut c = vec![7; 2 * limbs];
            multiplier.multiply(x, &ones, &mut c);
            let mut borrow = 0_i64;
            for (i, found) in c.iter().enumerate() {
                let above = if i < limbs { 0 } else { i64::from(x[i - limbs]) };
                let difference = above - x.get(i).copied().map_or(0, i64::from) - borrow;
                borrow = i64::from(difference < 0);
                assert!(*found == difference as u32, "{plan:?}, limb {i}");
            }
        }
    }
}

#[test]
fn eight_doubles_when_long() {
    long::<Eight>(MIDDLE..=100_000);
}

#[test]
fn four_doubles_when_long() {
    long::<Four>(MIDDLE..=100_000);
}

#[test]
fn the_longest_product() {
    long::<Eight>(5 << 18..=5 << 18);
}

#[test]
#[ignore = "every length to four million points: a minute"]
fn every_length_to_the_longest() {
    long::<Eight>(100_000..=1 << 22);
    long::<Four>(100_000..=1 << 22);
}
