//! Batches without lanes: every operation takes them and gives results without lanes, on every engine.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::{Batch, Error, Operation, Options, Plan, Selector, Session, Shape};

fn batch(lanes: usize) -> Batch<'static> {
    Batch::from_limbs(Shape::new(lanes, 40), vec![3; 2 * lanes]).unwrap()
}

#[test]
fn every_operation_takes_no_lanes() {
    for session in [Session::cpu(), Session::on(Selector::Sim).unwrap()] {
        for &operation in Operation::ALL {
            // The first operand may also be one lane that serves all of none.
            for first in [0, 1] {
                if first == 1 && operation.arity() == 1 {
                    continue;
                }
                let operands: Vec<Batch> =
                    (0..operation.arity()).map(|i| batch(if i == 0 { first } else { 0 })).collect();
                let shapes: Vec<Shape> = operands.iter().map(Batch::shape).collect();
                let expected = operation.results(&shapes).unwrap();
                assert!(expected.iter().all(|shape| shape.lanes == 0), "{operation}");

                let (results, report) =
                    session.apply(operation, &operands.iter().collect::<Vec<_>>(), Options::new()).unwrap();
                assert_eq!(results.iter().map(Batch::shape).collect::<Vec<_>>(), expected, "{operation}");
                assert_eq!((report.lanes, report.algorithm.as_str()), (0, ""), "{operation}");

                let resident: Vec<_> = operands.iter().map(|operand| session.upload(operand).unwrap()).collect();
                let found = session.apply_device(operation, &resident.iter().collect::<Vec<_>>()).unwrap();
                let found: Vec<_> = found.iter().map(|result| session.download(result).unwrap()).collect();
                assert_eq!(found, results, "{operation}");
            }
        }
    }
}

#[test]
fn methods_copies_and_plans() {
    for session in [Session::cpu(), Session::on(Selector::Sim).unwrap()] {
        let (none, three) = (batch(0), batch(3));
        assert_eq!(session.mul(&none, &none).unwrap().shape(), Shape::new(0, 80));
        let ([quotients, remainders], statuses) = session.div_rem(&none, &none).unwrap();
        assert!(quotients.is_empty() && remainders.is_empty() && statuses.is_fine() && statuses.counts().is_empty());
        let error = session.add(&none, &three).unwrap_err();
        assert_eq!(error, Error::ShapeMismatch { lanes_a: 0, lanes_b: 3 });
        let resident = session.upload(&three).unwrap();
        let copied = session.copy_lanes(&resident, 3, session.reserve(none.shape()).unwrap()).unwrap();
        assert_eq!(session.download(&copied).unwrap(), none);
        assert!(session.host_buffer(0).unwrap().is_empty());
    }
    let session = Session::on(Selector::Sim).unwrap();
    let (device, table) = (session.device().unwrap().info(), session.table().unwrap());
    for &operation in Operation::ALL {
        let plan = Plan::new(operation, &vec![Shape::new(0, 64); operation.arity()], device, table, None).unwrap();
        assert_eq!((plan.lanes(), plan.bytes()), (0, 0), "{operation}");
    }
}
