//! Common factors: against all pairs by num-bigint; cancellation, progress, memory.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::sync::Mutex;

use num_bigint::BigUint;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use warpmp::{Selector, Session};
use warpmp_numtheory::{
    Error, Watch,
    batch_gcd::{Finding, batch_gcd},
};

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Findings by one gcd after the other.
fn expected(moduli: &[BigUint]) -> Vec<Finding> {
    let one = BigUint::from(1_u32);
    let (mut left_out, mut shared, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    let first = |place: usize| (0..place).find(|first| moduli[*first] == moduli[place]);
    for (place, number) in moduli.iter().enumerate() {
        if *number == BigUint::ZERO {
            left_out.push(Finding::Zero { place });
        } else if *number == one {
            left_out.push(Finding::One { place });
        } else if let Some(first) = first(place) {
            left_out.push(Finding::Duplicate { place, first });
        }
    }
    let kept: Vec<usize> = (0..moduli.len()).filter(|it| moduli[*it] > one && first(*it).is_none()).collect();
    for place in &kept {
        let others = kept.iter().filter(|other| *other != place);
        let product: BigUint = others.map(|other| &moduli[*other]).product();
        let common = gcd(moduli[*place].clone(), product);
        if common != one {
            shared.push(Finding::Shared { place: *place, gcd: common });
        }
        for other in kept.iter().filter(|other| *other > place) {
            let common = gcd(moduli[*place].clone(), moduli[*other].clone());
            if common != one {
                pairs.push(Finding::Pair { places: [*place, *other], gcd: common });
            }
        }
    }
    [left_out, shared, pairs].concat()
}

/// Numbers of 1 to 90 bits: many have a factor in common, some are equal.
fn moduli(count: usize) -> Vec<BigUint> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    (0..count).map(|place| BigUint::from(random.random::<u128>() >> (38 + place * 31 % 90))).collect()
}

#[test]
fn findings_are_those_of_all_pairs() {
    for session in [Session::cpu(), Session::on(Selector::Sim).unwrap()] {
        for count in [0, 1, 2, 3, 33, 100] {
            let moduli = moduli(count);
            let outcome = batch_gcd(&session, &moduli, &()).unwrap();
            assert_eq!(outcome.findings().collect::<Vec<_>>(), expected(&moduli), "{count}");
        }
    }
}

#[test]
fn the_watch_hears_of_rising_shares() {
    #[derive(Default)]
    struct Shares(Mutex<Vec<f64>>);
    impl Watch for Shares {
        fn progress(&self, share: f64) {
            self.0.lock().unwrap().push(share);
        }
    }
    let shares = Shares::default();
    batch_gcd(&Session::cpu(), &moduli(300), &shares).unwrap();
    let shares = shares.0.into_inner().unwrap();
    assert!(shares.len() > 16 && shares.is_sorted(), "{shares:?}");
    assert!(shares[0] < 0.1 && shares.last().is_some_and(|last| (last - 1.0).abs() < 1e-9), "{shares:?}");
}

#[test]
fn a_watch_stops_the_work() {
    struct Never;
    impl Watch for Never {
        fn go_on(&self) -> bool {
            false
        }
    }
    assert!(matches!(batch_gcd(&Session::cpu(), &moduli(9), &Never), Err(Error::Stopped)));
}
