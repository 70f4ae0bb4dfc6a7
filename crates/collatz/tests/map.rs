//! The map against num-bigint and against the published records.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;

use num_bigint::BigUint;
use warpmp_collatz::number::{Affine, Value, descend, trace};

fn rows(name: &str) -> Vec<(u128, BigUint)> {
    let path = format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let (start, figure) = line.split_once(',').unwrap();
            (start.parse().unwrap(), figure.parse().unwrap())
        })
        .collect()
}

#[test]
fn published_delay_records_have_their_delays() {
    let records = rows("delay_records.csv");
    assert_eq!(records.len(), 149);
    for (start, delay) in records {
        assert_eq!(BigUint::from(trace(start, |_| true).unwrap().delay()), delay, "{start}");
    }
}

#[test]
fn published_path_records_have_their_maxima() {
    let records = rows("path_records.csv");
    assert_eq!(records.len(), 98);
    for (start, highest) in records {
        assert_eq!(trace(start, |_| true).unwrap().highest.to_string(), highest.to_string(), "{start}");
    }
}

/// Step by step, where values are widest.
#[test]
fn steps_agree_with_another_library() {
    for start in
        [1u128, 2, 27, u64::MAX.into(), (1 << 127) - 1, (1 << 126) + 1, 0x5555_5555_5555_5555_5555_5555_5555_5555]
    {
        let mut value = Value::Narrow(start);
        let mut expected = BigUint::from(start);
        for _ in 0..400 {
            let odd = expected.bit(0);
            expected = if odd { (expected * 3u8 + 1u8) >> 1 } else { expected >> 1 };
            let (next, was_odd) = value.step();
            assert_eq!((next.to_ubig().to_string(), was_odd), (expected.to_string(), odd), "{start}");
            assert_eq!(next.low(), expected.iter_u64_digits().next().unwrap_or(0));
            value = next;
        }
    }
}

#[test]
fn known_trajectories() {
    let one = trace(1, |_| true).unwrap();
    assert_eq!((one.even_steps, one.delay(), one.glide, one.highest.to_string()), (0, 0, 0, "1".into()));
    let two = trace(2, |_| true).unwrap();
    assert_eq!((two.delay(), two.glide, two.highest.to_string()), (1, 1, "2".into()));
    let seven = trace(27, |_| true).unwrap();
    assert_eq!((seven.even_steps, seven.odd_steps, seven.delay(), seven.glide), (70, 41, 111, 96));
    assert_eq!(seven.highest.to_string(), "9232");
    let mut values = Vec::new();
    trace(6, |value| {
        values.push(value.to_ubig().to_string());
        true
    })
    .unwrap();
    assert_eq!(values, ["3", "10", "5", "16", "8", "4", "2", "1"]);
    let descent = descend(27).unwrap();
    assert_eq!((descent.steps, descent.below, descent.highest), (59, 23, Value::Narrow(4616)));
    assert!(trace(0, |_| true).is_err() && descend(0).is_err());
}

/// `n = B + q·2^k` has `T^k(n) = d + q·3^c`.
#[test]
fn residues_take_affine_steps() {
    for steps in [0, 1, 2, 13, 40, 80] {
        for residue in [0u128, 1, 3, 7, 0x2b, (1 << 30) - 1, u64::MAX.into()].map(|r| r & ((1 << steps) - 1)) {
            let affine = Affine::of(residue, steps).unwrap();
            for q in [0u128, 1, 5, 1 << 40] {
                let mut value =
                    Value::from(dashu_int::UBig::from(residue) + (dashu_int::UBig::from(q) << steps as usize));
                for _ in 0..steps {
                    value = value.step().0;
                }
                let power = dashu_int::UBig::from(3u8).pow(affine.odd_steps as usize);
                assert_eq!(value.to_ubig(), dashu_int::UBig::from(affine.value) + power * dashu_int::UBig::from(q));
            }
        }
    }
    assert!(Affine::of(0, 81).is_err());
}
