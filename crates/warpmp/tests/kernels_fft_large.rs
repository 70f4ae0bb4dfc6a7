//! `fft` above 65536 bits on the simulator.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::kernels::fft::large::Large;
use warpmp::kernels::{OperandShape, OperationShape};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::products::{check, check_square, shape};

fn product(bits: [usize; 2]) -> Large {
    Large::new(shape(bits, false)).unwrap()
}

/// One, three and five parts of a column.
#[test]
fn products() {
    for bits in [[65537, 65537], [131_072, 131_072], [131_073, 140_000], [300_000, 290_000], [550_000, 70_000]] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(&product(bits), shape(bits, false), 1, pattern);
        }
    }
}

#[test]
fn carries() {
    for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Edge, Pattern::Runs, Pattern::Sparse] {
        check(&product([131_072; 2]), shape([131_072; 2], false), 1, pattern);
    }
}

#[test]
fn unequal_lengths_and_lanes() {
    for bits in [[65600, 1], [66000, 40000]] {
        for common in [false, true] {
            let shape = shape(bits, common);
            check(&Large::new(shape).unwrap(), shape, 3, Pattern::Carry);
        }
    }
}

#[test]
fn squares() {
    for bits in [65537, 131_072, 300_000] {
        for pattern in [Pattern::Ones, Pattern::Random] {
            let large = Large::new(OperationShape::square(bits as u32)).unwrap();
            check_square(&large, bits, 1, pattern);
        }
    }
}

/// The largest product has a division, and a longer one has none.
#[test]
fn the_longest_product() {
    let of = |bits: u32| {
        let operand = OperandShape::each(bits);
        Large::new(OperationShape::product(operand, operand))
    };
    assert!(of(1 << 24).is_some_and(|it| it.bound() < 0.5));
    assert!(of(1 << 25).is_none());
}
