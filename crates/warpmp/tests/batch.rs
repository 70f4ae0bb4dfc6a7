//! Batches: what is refused, and the ways in and out.

use warpmp::{Batch, Error, Shape};

#[test]
fn a_shape_counts_limbs() {
    let shape = Shape::new(3, 131);
    assert_eq!((shape.limbs(), shape.words(), shape.bytes()), (5, 15, 60));
    assert_eq!(Shape::new(usize::MAX, 64).words(), usize::MAX);
}

#[test]
fn a_bit_above_the_width_names_its_lane() {
    let limbs = [7, 0, 7, 7, 8, 7];
    assert_eq!(Batch::borrow(Shape::new(6, 3), &limbs).unwrap_err(), Error::NotReduced { lane: 4, bits: 3 });
    assert!(Batch::borrow(Shape::new(6, 4), &limbs).is_ok());
    assert_eq!(Batch::borrow(Shape::new(3, 34), &limbs).unwrap_err(), Error::NotReduced { lane: 1, bits: 34 });
    assert!(Batch::borrow(Shape::new(3, 35), &limbs).is_ok());
}

#[test]
fn lengths_and_empty_shapes_are_refused() {
    let limbs = vec![0; 6];
    let wrong = Error::LimbCount { lanes: 2, bits: 64, expected_limbs: 4, found_limbs: 6 };
    assert_eq!(Batch::borrow(Shape::new(2, 64), &limbs).unwrap_err(), wrong);
    assert_eq!(Batch::from_limbs(Shape::new(0, 64), Vec::new()).unwrap_err(), Error::ZeroLanes);
    assert_eq!(Batch::from_limbs(Shape::new(6, 0), limbs).unwrap_err(), Error::ZeroBits);
    assert!(matches!(Batch::borrow(Shape::new(usize::MAX, 99), &[]), Err(Error::LimbCount { .. })));
}

#[test]
fn a_view_copies_nothing() {
    let limbs = vec![1, 2, 3, 4, 5, 6];
    let batch = Batch::borrow(Shape::new(3, 64), &limbs).unwrap();
    assert!(batch.limbs().as_ptr() == limbs.as_ptr());
    let middle = batch.slice(1..2).unwrap();
    assert!(middle.limbs().as_ptr() == limbs[2..].as_ptr());
    assert_eq!(batch.slice(3..9).unwrap_err(), Error::ZeroLanes);
    let address = limbs.as_ptr();
    let owned = Batch::from_limbs(Shape::new(3, 64), limbs).unwrap();
    let limbs = owned.into_limbs();
    assert_eq!(limbs.as_ptr(), address);
}

#[test]
fn bytes_and_hexadecimal() {
    let rows: [&[u8]; 4] = [&[], &[1], &[0, 0, 0, 0, 5], &[0xff, 0xee, 0xdd, 0xcc, 0x0b, 0, 0, 0, 0, 0]];
    let batch = Batch::from_le_bytes(36, &rows).unwrap();
    let hex: Vec<String> = (0..5).map(|lane| batch.to_hex(lane)).collect();
    assert_eq!(hex, ["0", "1", "500000000", "bccddeeff", "0"]);
    assert_eq!(batch.to_le_bytes(2), [0, 0, 0, 0, 5, 0, 0, 0]);
    assert_eq!(batch.lane(3), Some(&[0xccdd_eeff, 0xb][..]));
    assert_eq!(batch.lane(4), None);
    let wide: [&[u8]; 2] = [&[1], &[0, 0, 0, 0, 0, 0, 0, 0, 1]];
    assert_eq!(Batch::from_le_bytes(36, &wide).unwrap_err(), Error::NotReduced { lane: 1, bits: 36 });
    assert_eq!(Batch::from_le_bytes(35, &[[0, 0, 0, 0, 8]]).unwrap_err(), Error::NotReduced { lane: 0, bits: 35 });
}

#[test]
fn words_of_64_bits() {
    let batch = Batch::from_u64s(&[u64::MAX, 1 << 32]);
    assert_eq!(batch.limbs(), [u32::MAX, u32::MAX, 0, 1]);
    assert_eq!(batch.shape(), Shape::new(2, 64));
}
