//! Shapes that nobody can have: an error says so; nothing overflows, and nothing is taken from the memory for them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::kernels::Register;
use warpmp::operation::MAX_BITS;
use warpmp::{Batch, Error, Operation, Plan, Selector, Session, Shape};

const LANES: [usize; 5] = [0, 1, 32, usize::MAX / 2, usize::MAX];
const BITS: [usize; 7] = [0, 1, 65536, 65537, MAX_BITS + 1, usize::MAX - 40, usize::MAX];

/// Shapes of one width, and with one operand of another.
fn shapes(arity: usize, lanes: usize, bits: usize) -> impl Iterator<Item = Vec<Shape>> {
    (0..=arity).map(move |odd| (0..arity).map(|i| Shape::new(lanes, if i == odd { 64 } else { bits })).collect())
}

#[test]
fn plans() {
    let session = Session::on(Selector::Sim).unwrap();
    let device = session.device().unwrap().info();
    let table = session.table().unwrap();
    for &operation in Operation::ALL {
        for constant in [0, 1, 131_072, u32::MAX] {
            let operation = operation.with_constant(constant);
            for (lanes, bits) in LANES.into_iter().flat_map(|lanes| BITS.map(|bits| (lanes, bits))) {
                for shapes in shapes(operation.arity(), lanes, bits) {
                    let possible = operation.results(&shapes);
                    assert_eq!(Register::shipped().fitting(operation, &shapes).is_ok(), possible.is_ok());
                    match Plan::new(operation, &shapes, device, table, None) {
                        Ok(plan) => {
                            assert!(possible.is_ok() && plan.chunk_lanes(1 << 30, 3) >= 32);
                            assert!(plan.scratch_words(plan.lanes()) <= 1 << 28);
                            assert!((plan.bytes() > 0 || lanes == 0) && plan.max_launch_lanes() >= 32);
                            plan.wide_products();
                        }
                        Err(Error::NoKernel { .. }) => {
                            let results = possible.unwrap();
                            assert!(
                                shapes.iter().any(|it| it.bits > 65536) || results.iter().any(|it| it.bits > 131_073)
                            );
                        }
                        Err(error) => assert_eq!(possible, Err(error), "{operation:?} of {shapes:?}"),
                    }
                }
            }
        }
        let shapes = vec![Shape::new(3, 0); operation.arity()];
        assert_eq!(operation.results(&shapes), Err(Error::ZeroBits));
    }
}

#[test]
fn memory() {
    for session in [Session::cpu(), Session::on(Selector::Sim).unwrap()] {
        for (lanes, bits) in LANES.into_iter().flat_map(|lanes| BITS.map(|bits| (lanes, bits))) {
            let fits = lanes.checked_mul(bits.div_ceil(32)).is_some_and(|words| bits > 0 && words <= 1 << 26);
            match session.reserve(Shape::new(lanes, bits)) {
                Ok(batch) => assert!(fits, "{:?}", batch.shape()),
                Err(Error::ZeroBits | Error::OutOfMemory { .. }) => {
                    assert!(!fits, "{lanes}, {bits}");
                }
                Err(other) => panic!("{lanes} lanes of {bits} bits: {other}"),
            }
            assert_eq!(Batch::borrow(Shape::new(lanes, bits), &[]).is_ok(), lanes == 0 && bits > 0);
        }
        assert!(matches!(session.host_buffer(usize::MAX), Err(Error::OutOfMemory { .. })));
    }
    assert!(matches!(Batch::from_le_bytes(usize::MAX, &[[1]]), Err(Error::OutOfMemory { .. })));
}
