//! Any operation against the oracle, by the name of its algorithm.

use super::{algorithm, launch, with_and_without_copies};
use crate::oracle::{self, Value};
use crate::{Pattern, operations};
use warpmp::kernels::{OperationShape, Settings};
use warpmp::{Operation, Shape};
use warpmp_kernel::sim::Counters;

/// As [`check_with`], with the usual settings.
pub fn check(operation: Operation, name: &str, bits: &[usize], lanes: &[usize], pattern: Pattern) -> Counters {
    check_with(operation, name, &Settings::default(), bits, lanes, pattern)
}

/// Runs an algorithm on drawn operands, with and without asynchronous copies, checks every lane, and counts all stages.
pub fn check_with(
    operation: Operation,
    name: &str,
    settings: &Settings,
    bits: &[usize],
    lanes: &[usize],
    pattern: Pattern,
) -> Counters {
    let most = lanes.iter().copied().max().unwrap();
    let shapes: Vec<Shape> = bits.iter().zip(lanes).map(|(bits, lanes)| Shape::new(*lanes, *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = algorithm(operation, name);
    assert!((algorithm.fits)(shape));
    let drawn = operations::draw(operation, bits, lanes, pattern, 7);
    let operands: Vec<_> =
        shape.operands().iter().zip(&drawn).map(|(shape, drawn)| (*shape, drawn.limbs.clone())).collect();
    let widths: Vec<u32> = shape.results().iter().map(|bits| bits.div_ceil(32)).collect();
    let mut counters = Counters::default();
    for spec in with_and_without_copies(algorithm, shape, settings) {
        let launched = launch(&*spec, &operands, &widths, most);
        counters = launched.counters;
        for lane in 0..most {
            let values: Vec<Value> = drawn.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
            let expected = oracle::apply(operation, &values);
            for (i, expected) in expected.iter().enumerate() {
                let width = widths[i] as usize;
                let found = Value::new(&launched.results[i][lane * width..][..width], shape.results()[i] as usize);
                assert_eq!(found, *expected, "{}, lane {lane}", spec.name());
            }
        }
    }
    counters
}
