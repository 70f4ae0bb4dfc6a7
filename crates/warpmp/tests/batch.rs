//! Batches: what is refused, and the ways in and out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

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
fn lengths_and_empty_widths_are_refused() {
    let limbs = vec![0; 6];
    let wrong = Error::LimbCount { lanes: 2, bits: 64, expected_limbs: 4, found_limbs: 6 };
    assert_eq!(Batch::borrow(Shape::new(2, 64), &limbs).unwrap_err(), wrong);
    assert_eq!(Batch::from_limbs(Shape::new(6, 0), limbs).unwrap_err(), Error::ZeroBits);
    assert!(matches!(Batch::borrow(Shape::new(usize::MAX, 99), &[]), Err(Error::LimbCount { .. })));
}

#[test]
fn a_view_copies_nothing() {
    let limbs = vec![1, 2, 3, 4, 5, 6];
    let batch = Batch::borrow(Shape::new(3, 64), &limbs).unwrap();
    assert!(batch.limbs().as_ptr() == limbs.as_ptr());
    let middle = batch.slice(1..2);
    assert!(middle.limbs().as_ptr() == limbs[2..].as_ptr());
    assert_eq!((batch.slice(3..9).lanes(), batch.slice(2..9).lanes()), (0, 1));
    let address = limbs.as_ptr();
    let owned = Batch::from_limbs(Shape::new(3, 64), limbs).unwrap();
    let limbs = owned.into_limbs();
    assert_eq!(limbs.as_ptr(), address);
}

#[test]
fn bytes_and_hexadecimal() {
    let rows: [&[u8]; 4] = [&[], &[1], &[0, 0, 0, 0, 5], &[0xff, 0xee, 0xdd, 0xcc, 0x0b, 0, 0, 0, 0, 0]];
    let batch = Batch::from_le_bytes(36, &rows).unwrap();
    let hex: Vec<String> = (0..5).map_while(|lane| batch.to_hex(lane)).collect();
    assert_eq!(hex, ["0", "1", "500000000", "bccddeeff"]);
    assert_eq!(batch.to_le_bytes(2), Some(vec![0, 0, 0, 0, 5, 0, 0, 0]));
    assert_eq!(batch.to_le_bytes(4), None);
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

#[test]
fn no_lanes() {
    let empty = Batch::from_u64s(&[]);
    assert_eq!((empty.shape(), empty.is_empty()), (Shape::new(0, 64), true));
    assert_eq!(Batch::from_limbs(Shape::new(0, 64), Vec::new()).unwrap(), empty);
    assert_eq!(Batch::from_le_bytes::<[u8; 1]>(64, &[]).unwrap(), empty);
    assert_eq!((empty.iter().count(), empty.to_dec(0), empty.to_string()), (0, None, String::new()));
    assert_eq!(format!("{empty:?}"), "Batch(0 × 64 bits: [])");
}

#[test]
fn digits() {
    let numbers = ["0", "18446744073709551616", "0012", "680564733841876926926749214863536422911"];
    let batch = Batch::from_dec(129, &numbers).unwrap();
    let decimal: Vec<String> = (0..9).map_while(|lane| batch.to_dec(lane)).collect();
    assert_eq!(decimal, ["0", "18446744073709551616", "12", numbers[3]]);
    assert_eq!(batch.to_string(), decimal.join("\n"));
    let hex = ["0", "10000000000000000", "c", "1ffffffffffffffffffffffffffffffff"];
    assert_eq!(format!("{batch:x}"), hex.join("\n"));
    assert_eq!(format!("{:#x}", batch.slice(1..3)), "0x10000000000000000\n0xc");
    assert_eq!(Batch::from_hex(129, &hex).unwrap(), batch);
    let prefixed = Batch::from_hex(129, &["0x0", "0X00000000000010000000000000000", "0xC"]).unwrap();
    assert_eq!(prefixed, batch.slice(0..3));
    assert_eq!(format!("{batch:?}"), "Batch(4 × 129 bits: [0x0, 0x1000000000000000…, 0xc, 0x1fffffffffffffff…])");
    assert_eq!(format!("{:?}", Batch::from_u64s(&[5; 1000])), "Batch(1000 × 64 bits: [0x5, 0x5, 0x5, 0x5, …])");
}

#[test]
fn text_that_is_no_number_names_its_row() {
    for bad in ["", "-1", "+1", "1 ", "1_0", "0x1", "a", "٣"] {
        let error = Batch::from_dec(64, &["1", bad]).unwrap_err();
        assert_eq!(error, Error::NotANumber { lane: 1, radix: 10 }, "{bad}");
    }
    for bad in ["", "0x", "-1", "g", "0x0x1", "1 2"] {
        assert_eq!(Batch::from_hex(64, &[bad]).unwrap_err(), Error::NotANumber { lane: 0, radix: 16 }, "{bad}");
    }
    assert_eq!(Batch::from_dec(3, &["7", "8"]).unwrap_err(), Error::NotReduced { lane: 1, bits: 3 });
    assert_eq!(Batch::from_hex(32, &["100000000"]).unwrap_err(), Error::NotReduced { lane: 0, bits: 32 });
    assert_eq!(Batch::from_dec(0, &["7"]).unwrap_err(), Error::ZeroBits);
}

#[test]
fn words_of_any_count() {
    let batch = Batch::from_u64_limbs(96, &[&[1 << 32 | 2, 3][..], &[], &[9, 0, 0]]).unwrap();
    assert_eq!(batch.limbs(), [2, 1, 3, 0, 0, 0, 9, 0, 0]);
    assert_eq!((batch.to_u64(0), batch.to_u64(2), batch.to_u64(3)), (None, Some(9), None));
    assert_eq!(Batch::from_u64s(&[u64::MAX]).to_u64(0), Some(u64::MAX));
    assert_eq!(Batch::from_limbs(Shape::new(1, 9), vec![511]).unwrap().to_u64(0), Some(511));
    assert_eq!(Batch::from_u64_limbs(96, &[[1, 1 << 32]]).unwrap_err(), Error::NotReduced { lane: 0, bits: 96 });
}

#[cfg(feature = "num-bigint")]
#[test]
fn integers_of_num_bigint() {
    use num_bigint::BigUint;
    let numbers: Vec<BigUint> = [0u32, 1, 100].iter().map(|n| (BigUint::from(1u32) << *n) - 1u32).collect();
    let batch = Batch::from_biguints(100, &numbers).unwrap();
    assert_eq!((batch.to_biguints(), batch.to_biguint(3)), (numbers.clone(), None));
    assert_eq!(batch.to_biguint(2).as_ref(), Some(&numbers[2]));
    assert_eq!(Batch::from_biguints(99, &numbers).unwrap_err(), Error::NotReduced { lane: 2, bits: 99 });
}

#[cfg(feature = "rug")]
#[test]
fn integers_of_rug() {
    use rug::Integer;
    let numbers: Vec<Integer> = [0u32, 1, 100].iter().map(|n| (Integer::from(1) << *n) - 1).collect();
    let batch = Batch::from_integers(100, &numbers).unwrap();
    assert_eq!((batch.to_integers(), batch.to_integer(3)), (numbers.clone(), None));
    assert_eq!(batch.to_integer(2).as_ref(), Some(&numbers[2]));
    assert_eq!(Batch::from_integers(99, &numbers).unwrap_err(), Error::NotReduced { lane: 2, bits: 99 });
    assert_eq!(Batch::from_integers(99, &[Integer::from(-1)]).unwrap_err(), Error::Negative { lane: 0 });
}
