//! Symbols, common multiples, exact quotients and powers modulo even numbers on the simulator, against num-bigint.

use warpmp::kernels::{Abilities, OperationShape, Settings};
use warpmp::{Operation, Shape};
use warpmp_testkit::kernels::operations::check;
use warpmp_testkit::kernels::{algorithm, launch};
use warpmp_testkit::operands::LANES;
use warpmp_testkit::oracle::{self, Value};
use warpmp_testkit::{Pattern, structured};

/// Runs an algorithm on operands made for the operation, and checks every lane; how often each first result occurs.
fn check_hard(operation: Operation, name: &str, bits: &[usize], lanes: usize, block: Option<u32>, seed: u64) {
    let shapes: Vec<Shape> = bits.iter().map(|bits| Shape::new(lanes, *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = algorithm(operation, name);
    if !(algorithm.fits)(shape) {
        return;
    }
    let drawn = structured::draw(operation, bits, &vec![lanes; bits.len()], seed);
    let operands: Vec<_> =
        shape.operands().iter().zip(&drawn).map(|(shape, drawn)| (*shape, drawn.limbs.clone())).collect();
    let widths: Vec<u32> = shape.results().iter().map(|bits| bits.div_ceil(32)).collect();
    let spec = algorithm.spec(shape, &Settings { block, ..Settings::default() }, Abilities::of(80)).unwrap();
    let launched = launch(&*spec, &operands, &widths, lanes);
    for lane in 0..lanes {
        let values: Vec<Value> = drawn.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
        for (i, expected) in oracle::apply(operation, &values).iter().enumerate() {
            let width = widths[i] as usize;
            let found = Value::new(&launched.results[i][lane * width..][..width], shape.results()[i] as usize);
            assert_eq!(found, *expected, "{}, lane {lane}, result {i}: {values:x?}", spec.name());
        }
    }
}

/// Widths at which layouts change, and of different lengths.
const WIDTHS: [[usize; 2]; 12] = [
    [1, 1],
    [2, 3],
    [32, 32],
    [33, 31],
    [64, 200],
    [200, 64],
    [131, 131],
    [256, 256],
    [512, 500],
    [700, 40],
    [1024, 1024],
    [1200, 1200],
];

#[test]
fn symbols() {
    for (seed, bits) in (0..).zip(WIDTHS) {
        let lanes = if bits[0] > 300 { 33 } else { 129 };
        for (name, block) in [("thread", None), ("group", None), ("group", Some(4)), ("group", Some(8))] {
            check_hard(Operation::Jacobi, name, &bits, lanes, block, seed);
        }
    }
    // All pairs of small numbers, and numbers of as many lanes as several warps have.
    for seed in 0..40 {
        check_hard(Operation::Jacobi, "thread", &[6, 6], 129, None, 100 + seed);
        check_hard(Operation::Jacobi, "thread", &[70, 70], 129, None, 200 + seed);
    }
    check_hard(Operation::Jacobi, "group", &[3000, 2900], 2, Some(8), 9);
    for lanes in LANES.into_iter().filter(|lanes| *lanes <= 129) {
        for pattern in [Pattern::Carry, Pattern::Ones] {
            check(Operation::Jacobi, "thread", &[96, 64], &[lanes, lanes], pattern);
            check(Operation::Jacobi, "group", &[160, 160], &[lanes, 1], pattern);
        }
    }
}

#[test]
fn common_multiples() {
    for (seed, bits) in (0..).zip(WIDTHS) {
        check_hard(Operation::Lcm, "group", &bits, if bits[0] > 300 { 5 } else { 65 }, None, seed);
    }
    for lanes in [1, 31, 32, 33, 127] {
        check(Operation::Lcm, "group", &[131, 64], &[lanes, 1], Pattern::Carry);
        check(Operation::Lcm, "group", &[131, 64], &[1, lanes], Pattern::Ones);
    }
}

#[test]
fn exact_quotients() {
    for (seed, bits) in (0..).zip(WIDTHS) {
        for name in ["thread", "group"] {
            check_hard(Operation::DivExact, name, &bits, if bits[0] > 300 { 33 } else { 129 }, None, seed);
        }
    }
    for lanes in [1, 31, 32, 33, 127] {
        check(Operation::DivExact, "thread", &[131, 64], &[lanes, 1], Pattern::Carry);
        check(Operation::DivExact, "group", &[131, 64], &[1, lanes], Pattern::Ones);
    }
}

/// Moduli of all kinds in one warp: odd and even ones, powers of two, zero.
#[test]
fn powers_modulo_any_number() {
    for (seed, [p, q]) in (0..).zip(WIDTHS) {
        let (lanes, exponent) = if q > 300 { (5, 9) } else { (65, 40) };
        for (name, block) in [("thread", None), ("group", None), ("group", Some(4))] {
            check_hard(Operation::PowMod, name, &[p, exponent, q], lanes, block, seed);
            check_hard(Operation::PowMod, name, &[2 * p + 3, 5, q], lanes, block, seed);
        }
    }
    check_hard(Operation::PowMod, "group", &[3000, 7, 2900], 2, Some(8), 9);
    for lanes in [1, 31, 32, 33, 127] {
        check(Operation::PowMod, "thread", &[131, 20, 64], &[lanes, lanes, 1], Pattern::Carry);
        check(Operation::PowMod, "thread", &[131, 20, 64], &[lanes, 1, lanes], Pattern::Ones);
    }
}
