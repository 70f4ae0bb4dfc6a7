//! Every operation at every width is planned: nothing is refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::{Operation, Plan, Selector, Session, Shape};
use warpmp_testkit::operations::PRECISIONS;

/// Widths beyond those at which kernels run in the tests, on both sides of where layouts change.
const WIDE: [usize; 14] =
    [5000, 8192, 16384, 20448, 20449, 20480, 32704, 32736, 32767, 32768, 40000, 49152, 65535, 65536];

/// The widths of `arity` operands: all equal, and one of them much narrower or much wider than the others.
fn widths(arity: usize, bits: usize) -> Vec<Vec<usize>> {
    let mut widths = vec![vec![bits; arity]];
    for odd in 0..arity {
        for other in [1, 131, 40000, 65536] {
            let mut mixed = vec![bits; arity];
            mixed[odd] = other;
            widths.push(mixed);
        }
    }
    widths
}

#[test]
fn nothing_is_refused() {
    let session = Session::on(Selector::Sim).unwrap();
    let device = session.device().unwrap().info();
    let table = session.table().unwrap();
    let mut plans = 0;
    let mut refused = Vec::new();
    let all: Vec<usize> = PRECISIONS.into_iter().chain(WIDE).collect();
    for &operation in Operation::ALL {
        for &bits in &all {
            for widths in widths(operation.arity(), bits) {
                // None, each, or all but one of the operands is one for all lanes.
                let shared = (0..=operation.arity()).chain(10..10 + operation.arity());
                for one in shared {
                    let is_one = |i: usize| if one < 10 { i == one } else { i != one - 10 };
                    let shapes = widths.iter().enumerate();
                    let shapes: Vec<Shape> =
                        shapes.map(|(i, &bits)| Shape::new(if is_one(i) { 1 } else { 70 }, bits)).collect();
                    let plan = match Plan::new(operation, &shapes, device, table, None) {
                        Ok(plan) => plan,
                        Err(error) => {
                            refused.push(format!("{error}, {one} of the operands shared"));
                            continue;
                        }
                    };
                    for stage in 0..plan.stages() {
                        let grid = plan.grid(stage, 70);
                        assert!(
                            grid.shared_bytes <= device.shared_bytes_per_block
                                && grid.threads <= device.threads_per_block,
                            "{operation} of {shapes:?}: {grid:?}"
                        );
                    }
                    assert!(plan.max_launch_lanes() >= 32, "{operation} of {shapes:?}");
                    plans += 1;
                }
            }
        }
    }
    assert!(
        refused.is_empty(),
        "{} of {plans} plans refused, such as {:#?}",
        refused.len(),
        &refused[..refused.len().min(20)]
    );
    assert!(plans > 10_000, "{plans}");
}
