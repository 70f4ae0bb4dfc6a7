//! Products and squares against the oracle.

use std::fmt::Debug;

use super::{Named, algorithm, launch, with_and_without_copies};
use crate::{Operands, Pattern, oracle};
use num_bigint::BigUint;
use warpmp::device::{SimConfig, open_sim_with};
use warpmp::kernels::{Abilities, OperandShape, OperationShape, Register, Settings, Spec};
use warpmp::{Error, Operation, Plan, Shape, tuning};
use warpmp_kernel::sim::Counters;

/// The shape for operands of these bits.
pub fn shape(bits: [usize; 2], common_b: bool) -> OperationShape {
    let [a, b] = bits.map(|bits| bits as u32);
    OperationShape::product(OperandShape::each(a), OperandShape { bits: b, common: common_b })
}

/// Multiplies on the simulator and compares every lane; the counts of the launch.
pub fn check(spec: &dyn Spec, shape: OperationShape, lanes: usize, pattern: Pattern) -> Counters {
    let draw = |i: usize, seed: u64| {
        let operand = shape.operands()[i];
        Operands::generate(pattern, if operand.common { 1 } else { lanes }, operand.bits as usize, seed)
    };
    check_rows(spec, shape, &[draw(0, 7), draw(1, 8)].map(|it| it.limbs), (lanes, &pattern))
}

/// The same for rows of limbs; `about` tells of them where a product is wrong.
pub fn check_rows(
    spec: &dyn Spec,
    shape: OperationShape,
    rows: &[Vec<u32>; 2],
    (lanes, about): (usize, &dyn Debug),
) -> Counters {
    let [la, lb, lc] = shape.limbs().map(|limbs| limbs as usize);
    let lane = |i: usize, limbs: usize, lane: usize| {
        let lane = if shape.operands()[i].common { 0 } else { lane };
        rows[i][lane * limbs..][..limbs].to_vec()
    };
    let operands = [0, 1].map(|i| (shape.operands()[i], rows[i].clone()));
    let launched = launch(spec, &operands, &[lc as u32], lanes);
    for (number, product) in launched.results[0].chunks(lc).enumerate() {
        let expected = oracle::mul(&lane(0, la, number), &lane(1, lb, number), lc);
        assert_eq!(product, expected, "{} lane {number} {about:?}", spec.name());
    }
    launched.counters
}

/// Checks a multiplication with separate and common `b`, with and without asynchronous copies.
pub fn check_all(named: impl Named + Copy, bits: [usize; 2], settings: &Settings, lanes: usize, patterns: &[Pattern]) {
    for common_b in [false, true] {
        let shape = shape(bits, common_b);
        let algorithm = named.of(Operation::Mul);
        assert!((algorithm.fits)(shape));
        for spec in with_and_without_copies(algorithm, shape, settings) {
            for &pattern in patterns {
                check(&*spec, shape, lanes, pattern);
            }
        }
    }
}

/// Checks which GPUs, by compute capability, a multiplication is offered to; by name and to `tune` alike.
pub fn check_offers(name: &str, bits: usize, gpus: &[(u32, bool)]) {
    let operands = [Shape::new(64, bits); 2];
    for &(capability, runs) in gpus {
        let device = open_sim_with(&SimConfig { capability, ..SimConfig::default() });
        let (info, table) = (device.info(), tuning::shipped(capability));
        let plan = Plan::new(Operation::Mul, &operands, info, &table, Some(name));
        assert_eq!(plan.is_ok(), runs, "sm_{capability}");
        if let Err(error) = plan {
            assert!(matches!(error, Error::AlgorithmUnfit { fits, .. } if !fits.contains(&name.to_owned())));
        }
        let candidates = Register::shipped().candidates(Operation::Mul, &operands, info).unwrap();
        assert_eq!(candidates.iter().any(|it| it.algorithm == name), runs, "sm_{capability}");
    }
}

/// The kernels of a multiplication.
pub fn multiplication(
    named: impl Named,
    shape: OperationShape,
    settings: &Settings,
    async_copies: bool,
) -> Box<dyn Spec> {
    let algorithm = named.of(Operation::Mul);
    assert!((algorithm.fits)(shape));
    algorithm.spec(shape, settings, Abilities { async_copies }).unwrap()
}

/// Squares on the simulator and compares every lane; the counts of the launch.
pub fn check_square(spec: &dyn Spec, bits: usize, lanes: usize, pattern: Pattern) -> Counters {
    check_squares(spec, bits, &Operands::generate(pattern, lanes, bits, 9).limbs)
}

/// Squares these rows of limbs on the simulator and compares every lane; the counts of the launch.
pub fn check_squares(spec: &dyn Spec, bits: usize, rows: &[u32]) -> Counters {
    let shape = OperationShape::square(bits as u32);
    let [la, lc] = shape.limbs();
    let lanes = rows.len() / la as usize;
    let launched = launch(spec, &[(shape.operands()[0], rows.to_vec())], &[lc], lanes);
    let squares = launched.results[0].chunks(lc as usize);
    for (lane, (x, square)) in rows.chunks(la as usize).zip(squares).enumerate() {
        let x = BigUint::from_slice(x);
        assert_eq!(BigUint::from_slice(square), &x * &x, "{} lane {lane}: {x:x}", spec.name());
    }
    launched.counters
}

/// A squaring by its name, for operands of these bits.
pub fn squaring(name: &str, bits: usize, settings: &Settings) -> Box<dyn Spec> {
    let (algorithm, shape) = (algorithm(Operation::Sqr, name), OperationShape::square(bits as u32));
    assert!((algorithm.fits)(shape));
    algorithm.spec(shape, settings, Abilities { async_copies: true }).unwrap()
}

/// Checks a squaring by name, with and without asynchronous copies.
pub fn check_all_squares(name: &str, bits: usize, settings: &Settings, lanes: usize, patterns: &[Pattern]) {
    let (algorithm, shape) = (algorithm(Operation::Sqr, name), OperationShape::square(bits as u32));
    assert!((algorithm.fits)(shape));
    for spec in with_and_without_copies(algorithm, shape, settings) {
        for &pattern in patterns {
            check_square(&*spec, bits, lanes, pattern);
        }
    }
}
