//! Records found, against the lists.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use warpmp_collatz::{
    engine::Control,
    records::{Kind, Record, known, search},
};

fn found_are_known(kind: Kind, below: u128) -> usize {
    let found = search(kind, below, &Control::default()).unwrap();
    let known: Vec<Record> = known(kind).into_iter().filter(|record| record.start < below).collect();
    assert_eq!(found, known);
    found.len()
}

#[test]
fn delay_records_below_2_25() {
    assert_eq!(found_are_known(Kind::Delay, 1 << 25), 58);
    // Bounds that end right at a record, an even one, and before anything.
    for below in [1, 2, 3, 54, 55, 837_799, 837_800, 1_723_520] {
        found_are_known(Kind::Delay, below);
    }
}

#[test]
fn path_records_below_2_27() {
    assert_eq!(found_are_known(Kind::Path, 1 << 27), 42);
    for below in [1, 2, 3, 6_631_675, 6_631_676] {
        found_are_known(Kind::Path, below);
    }
}

#[test]
#[ignore = "a minute: below 2^33"]
fn delay_records_below_2_33() {
    assert_eq!(found_are_known(Kind::Delay, 1 << 33), 72);
}

#[test]
#[ignore = "minutes: below 2^36"]
fn path_records_below_2_36() {
    assert_eq!(found_are_known(Kind::Path, 1 << 36), 52);
}
