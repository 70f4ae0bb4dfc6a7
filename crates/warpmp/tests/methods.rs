//! The typed methods of a session: small known answers through each kind of result.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::{Batch, Error, Operation, Selector, Session, Shape, Status};

fn batch(bits: usize, numbers: &[u32]) -> Batch<'static> {
    Batch::from_limbs(Shape::new(numbers.len(), bits), numbers.to_vec()).unwrap()
}

#[test]
fn methods_of_the_ring() {
    let session = Session::cpu();
    let (a, b) = (batch(8, &[200, 7, 0]), batch(8, &[100, 7, 1]));
    assert_eq!(session.add(&a, &b).unwrap(), batch(9, &[300, 14, 1]));
    assert_eq!(session.wrapping_add(&a, &b).unwrap(), batch(8, &[44, 14, 1]));
    let [sum, carry] = session.carrying_add(&a, &b, &batch(1, &[1])).unwrap();
    assert_eq!((sum, carry), (batch(8, &[45, 15, 2]), batch(1, &[1, 0, 0])));
    assert_eq!(session.sub(&b, &a).unwrap(), batch(9, &[412, 0, 1]));
    let [difference, borrow] = session.borrowing_sub(&b, &a, &batch(1, &[0, 1, 0])).unwrap();
    assert_eq!((difference, borrow), (batch(8, &[156, 255, 1]), batch(1, &[1, 1, 0])));
    assert_eq!(session.cmp(&a, &b).unwrap(), batch(2, &[1, 0, 3]));
    assert_eq!(session.signed_cmp(&a, &b).unwrap(), batch(2, &[3, 0, 3]));
    assert_eq!(session.shl(&a, 3).unwrap(), batch(11, &[1600, 56, 0]));
    assert_eq!(session.wrapping_shl(&a, 3).unwrap(), batch(8, &[64, 56, 0]));
    assert_eq!(session.shr(&a, 2).unwrap(), batch(6, &[50, 1, 0]));
    assert_eq!(session.sign_extend(&a, 4).unwrap(), batch(12, &[0xFC8, 7, 0]));
    let [magnitude, sign] = session.to_sign_magnitude(&a).unwrap();
    assert_eq!((&magnitude, &sign), (&batch(8, &[56, 7, 0]), &batch(1, &[1, 0, 0])));
    assert_eq!(session.from_sign_magnitude(&magnitude, &sign).unwrap(), batch(9, &[456, 7, 0]));
    assert_eq!(session.select(&batch(1, &[1, 0, 1]), &a, &b).unwrap(), batch(8, &[200, 7, 0]));
    assert_eq!(session.mul_lo(&a, &b).unwrap(), batch(8, &[32, 49, 0]));
    assert_eq!(session.mul_hi(&a, &b).unwrap(), batch(8, &[78, 0, 0]));
    assert_eq!(session.mul_add(&a, &b, &a).unwrap(), batch(16, &[20200, 56, 0]));
}

#[test]
fn faults_are_the_lanes_own() {
    let session = Session::cpu();
    let (sums, statuses) =
        session.add_mod(&batch(8, &[5, 12, 9, 3]), &batch(8, &[9]), &batch(8, &[13, 13, 9, 0])).unwrap();
    assert_eq!(sums, batch(8, &[1, 8, 0, 0]));
    assert_eq!(statuses.first_fault(), Some((2, Status::NotReduced)));
    assert_eq!(statuses.lane(3), Some(Status::DivisionByZero));
    let ([quotients, remainders], statuses) = session.div_rem(&batch(8, &[200, 7]), &batch(4, &[7, 0])).unwrap();
    assert_eq!((quotients, remainders), (batch(8, &[28, 0]), batch(4, &[4, 0])));
    assert!(!statuses.is_fine());
    let (inverses, statuses) = session.inv_mod(&batch(8, &[3, 4]), &batch(4, &[10])).unwrap();
    assert_eq!((inverses, statuses.lane(1)), (batch(4, &[7, 0]), Some(Status::NoInverse)));
    let candidates = batch(12, &[2047, 2049, 13, 1, 0, 4, 3]);
    assert_eq!(session.strong_test(&candidates, 2).unwrap(), batch(1, &[1, 0, 1, 0, 0, 0, 1]));
    assert_eq!(session.miller_rabin(&batch(2, &[3]), &candidates).unwrap(), batch(1, &[0, 0, 1, 0, 0, 0, 0]));
    let (powers, _) = session.pow_mod_public(&batch(8, &[2]), &batch(5, &[29]), 5).unwrap();
    assert_eq!(powers, batch(5, &[3]));
    let (quotients, statuses) = session.div_exact(&batch(8, &[91, 92, 9]), &batch(4, &[7, 7, 0])).unwrap();
    assert_eq!(quotients, batch(8, &[13, 0, 0]));
    assert_eq!((statuses.lane(1), statuses.lane(2)), (Some(Status::NotExact), Some(Status::DivisionByZero)));
    let (powers, statuses) = session.pow_mod(&batch(8, &[3, 6]), &batch(8, &[5]), &batch(8, &[100, 64])).unwrap();
    assert_eq!((powers, statuses.is_fine()), (batch(8, &[43, 32]), true));
    assert_eq!(session.lcm(&batch(8, &[12, 0]), &batch(8, &[10, 5])).unwrap(), batch(16, &[60, 0]));
    let symbols = session.jacobi(&batch(8, &[2, 7, 6, 3]), &batch(8, &[15, 15, 15, 8])).unwrap();
    assert_eq!(symbols, batch(2, &[1, 3, 0, 3]));
    let (root, rest) = session.sqrt(&batch(8, &[200])).unwrap().into();
    assert_eq!((root, rest), (batch(4, &[14]), batch(5, &[4])));
    let [g, x, y] = session.gcd_ext(&batch(8, &[12]), &batch(8, &[8])).unwrap();
    assert_eq!((g, x, y), (batch(8, &[4]), batch(8, &[1]), batch(9, &[0x1FF])));
}

/// Rows in memory of a device that are further apart than the limbs of a lane: what lies between them becomes zero.
#[test]
fn rows_in_device_memory() {
    let session = Session::on(Selector::Sim).unwrap();
    let device = session.device().unwrap();
    let stream = device.stream().unwrap();
    let numbers = Batch::from_limbs(Shape::new(3, 96), (1..=9).collect()).unwrap();
    let resident = session.upload(&numbers).unwrap();
    let memory = device.alloc(4 * 12).unwrap();
    device.fill(&stream, &memory, 0, u32::MAX, 12).unwrap();
    session.copy_to(&resident, &memory, 4).unwrap();
    session.wait().unwrap();
    let mut words = [0; 12];
    device.download(&stream, &memory, 0, &mut words).unwrap();
    assert_eq!(words, [1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0]);
    let back = session.copy_from(&memory, 4, numbers.shape()).unwrap();
    assert_eq!(session.download(&back).unwrap(), numbers);
    assert!(matches!(session.copy_to(&resident, &memory, 5), Err(Error::Device(_))));
}

/// Copies of lanes and of limbs within the memory of a session: they touch their words only, and wrong shapes are refused.
#[test]
fn parts_of_batches_are_copied() {
    for session in [Session::cpu(), Session::on(Selector::Sim).unwrap()] {
        let rows = |lanes, limbs: std::ops::Range<u32>| {
            session.upload(&Batch::from_limbs(Shape::new(lanes, 96), limbs.collect()).unwrap()).unwrap()
        };
        let (numbers, mut into) = (rows(3, 1..10), rows(5, 20..35));
        session.copy_lanes_to(&numbers, &mut into, 1).unwrap();
        let expected = (20..23).chain(1..10).chain(32..35).collect::<Vec<_>>();
        assert_eq!(session.download(&into).unwrap().limbs(), expected);
        for first in [3, usize::MAX] {
            assert!(matches!(session.copy_lanes_to(&numbers, &mut into, first), Err(Error::ResultShape { .. })));
        }
        let reserve = |lanes, bits| session.reserve(Shape::new(lanes, bits)).unwrap();
        for (first, bits, expected) in [
            (0, 64, vec![1, 2, 4, 5, 7, 8]),
            (1, 64, vec![2, 3, 5, 6, 8, 9]),
            (2, 32, vec![3, 6, 9]),
            (0, 96, (1..10).collect()),
        ] {
            let copied = session.copy_limbs(&numbers, first, reserve(3, bits)).unwrap();
            assert_eq!(session.download(&copied).unwrap().limbs(), expected, "{first}, {bits}");
        }
        for (first, lanes, bits) in [(2, 3, 64), (0, 2, 64), (0, 3, 31), (3, 3, 32), (usize::MAX, 3, 32)] {
            let refused = session.copy_limbs(&numbers, first, reserve(lanes, bits));
            assert!(matches!(refused, Err(Error::ResultShape { .. })), "{first}, {lanes}, {bits}");
        }
        let mut narrow = reserve(5, 64);
        assert!(matches!(session.copy_lanes_to(&numbers, &mut narrow, 0), Err(Error::ResultShape { .. })));
    }
}

/// Kernels can be loaded ahead, by several threads.
#[test]
fn kernels_are_loaded_ahead() {
    for session in [Session::cpu(), Session::on(Selector::Sim).unwrap()] {
        std::thread::scope(|scope| {
            for bits in [64, 64, 96] {
                let session = &session;
                scope.spawn(move || session.prepare(Operation::Mul, &[Shape::new(3, bits); 2]).unwrap());
            }
        });
        let wrong = [Shape::new(3, 64), Shape::new(2, 64)];
        assert!(matches!(session.prepare(Operation::Mul, &wrong), Err(Error::ShapeMismatch { .. })));
    }
}
