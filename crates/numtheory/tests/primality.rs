//! Primality of chunks and batches: order, widths, engines, cancellation.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use num_bigint::BigUint;
use warpmp::{Batch, Selector, Session, Shape};
use warpmp_numtheory::{
    Error, Watch,
    primality::{Bases, Chunk, Tester, is_bpsw_prime},
};

/// Small integers, and pairs of Mersenne numbers and their products, of very different widths.
fn numbers() -> Vec<BigUint> {
    let mersenne = |exponent: u32| (BigUint::from(1_u32) << exponent) - 1_u32;
    let long = [61, 67, 89, 127, 257, 521, 607].map(mersenne);
    let products = long.windows(2).map(|pair| &pair[0] * &pair[1]).collect::<Vec<_>>();
    (0..3000_u32).map(BigUint::from).chain(long).chain(products).collect()
}

fn batch(numbers: &[BigUint]) -> Batch<'static> {
    let bits = numbers.iter().map(BigUint::bits).max().unwrap_or(1).max(1) as usize;
    let mut limbs = Vec::new();
    for (lane, number) in numbers.iter().enumerate() {
        limbs.extend(number.iter_u32_digits());
        limbs.resize((lane + 1) * bits.div_ceil(32), 0);
    }
    Batch::from_limbs(Shape::new(numbers.len(), bits), limbs).unwrap()
}

#[test]
fn verdicts_of_a_batch_are_those_of_bpsw() {
    let numbers = numbers();
    let expected: Vec<bool> = numbers.iter().map(is_bpsw_prime).collect();
    let session = Session::cpu();
    for mut tester in [Tester::new(&session, Bases::seeded(5, 1), &()), Tester::bpsw(&session, &())] {
        assert_eq!(tester.test(&batch(&numbers)).unwrap(), expected);
        // 61, 89, 127, 521 and 607 are exponents of primes; M67 has no small factor, M257 no factor below 2^48.
        assert!(tester.candidates() >= 7 && tester.base_2_tests().tests == tester.candidates());
    }
}

#[test]
fn chunks_of_mixed_widths_keep_their_order_on_a_gpu() {
    let numbers: Vec<BigUint> = numbers().into_iter().skip(2900).filter(|number| number.bits() < 200).collect();
    let session = Session::on(Selector::Sim).unwrap();
    let chunks = numbers.chunks(7).enumerate().map(|(tag, numbers)| {
        let (short, long): (Vec<BigUint>, Vec<BigUint>) = numbers.iter().cloned().partition(|it| it.bits() < 64);
        let batches = [short, long].iter().map(|numbers| batch(numbers)).collect();
        Ok::<_, Error>(Chunk { batches, tag })
    });
    let mut found = Vec::new();
    let mut tester = Tester::new(&session, Bases::new(3), &());
    tester
        .test_chunks(chunks, |tag, verdicts| {
            found.push((tag, verdicts));
            Ok(())
        })
        .unwrap();
    let expected: Vec<(usize, Vec<Vec<bool>>)> = numbers
        .chunks(7)
        .map(|numbers| {
            let (short, long): (Vec<&BigUint>, Vec<&BigUint>) = numbers.iter().partition(|it| it.bits() < 64);
            [short, long].map(|numbers| numbers.into_iter().map(is_bpsw_prime).collect()).to_vec()
        })
        .enumerate()
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn no_numbers_give_no_verdicts() {
    let session = Session::cpu();
    let mut tester = Tester::new(&session, Bases::new(3), &());
    assert_eq!(tester.test(&Batch::from_u64s(&[])).unwrap(), [false; 0]);
}

#[test]
fn errors_of_the_caller_end_the_work() {
    #[derive(Debug)]
    enum Own {
        Mine(u32),
        #[allow(dead_code, reason = "for the message of a failed test")]
        Theirs(Error),
    }
    impl From<Error> for Own {
        fn from(error: Error) -> Self {
            Self::Theirs(error)
        }
    }
    let session = Session::cpu();
    let primes = || Chunk { batches: vec![Batch::from_u64s(&[u64::MAX - 58; 99])], tag: () };
    let mut tester = Tester::new(&session, Bases::new(3), &());
    let chunks = [Ok(primes()), Err(Own::Mine(1)), Ok(primes())];
    assert!(matches!(tester.test_chunks(chunks, |(), _| Ok(())), Err(Own::Mine(1))));
    assert!(matches!(tester.test_chunks([Ok(primes())], |(), _| Err(Own::Mine(2))), Err(Own::Mine(2))));
}

/// Lets the work go on so many times.
#[derive(Default)]
struct Patience {
    left: AtomicUsize,
    shares: Mutex<Vec<f64>>,
}

impl Watch for Patience {
    fn go_on(&self) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    fn progress(&self, share: f64) {
        self.shares.lock().unwrap().push(share);
    }
}

#[test]
fn a_watch_stops_the_work_and_hears_of_progress() {
    let session = Session::cpu();
    // Two pieces, and few primes among multiples of 3.
    let numbers: Vec<u64> =
        (0..70_000).map(|lane| if lane % 500 == 0 { 18_446_744_073_709_551_557 } else { 9 * lane }).collect();
    let numbers = Batch::from_u64s(&numbers);
    // It goes on to the tests to base 2, and not to the further ones.
    let impatient = Patience { left: 1.into(), ..Patience::default() };
    let stopped = Tester::new(&session, Bases::new(2), &impatient).test(&numbers);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    let patient = Patience { left: usize::MAX.into(), ..Patience::default() };
    let verdicts = Tester::new(&session, Bases::new(2), &patient).test(&numbers).unwrap();
    assert!(verdicts.len() == 70_000 && verdicts.iter().filter(|prime| **prime).count() == 140);
    let shares = patient.shares.into_inner().unwrap();
    assert!(shares.len() == 2 && shares[0] < 1.0 && (shares[1] - 1.0).abs() < 1e-9, "{shares:?}");
}
