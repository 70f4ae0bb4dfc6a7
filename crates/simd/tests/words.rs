//! Montgomery's arithmetic in words, against num-bigint.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use common::{Random, number};
use num_bigint::BigUint;
use warpmp_simd::words::{Modulus, equal_mask};

/// Pairs of limbs as words.
fn words(row: &[u32], n: usize) -> Vec<u64> {
    let mut words = number(row).to_u64_digits();
    words.resize(n, 0);
    words
}

fn value(words: &[u64]) -> BigUint {
    words.iter().rev().fold(BigUint::default(), |n, word| (n << 64) + *word)
}

#[test]
fn products_sums_and_reductions() {
    let mut random = Random(7);
    for n in 1..=9 {
        for _ in 0..200 {
            let m = &random.odd_rows(2 * n)[0];
            let modulus = Modulus::new(words(m, n));
            let m = number(m);
            // A factor below R and one below m; the largest of each now and then.
            let x = random.row(2 * n);
            let y = if random.word().is_multiple_of(3) { &m - 1_u32 } else { number(&random.row(2 * n)) % &m };
            let (y, mut scratch) = (words(&y.to_u32_digits(), n), vec![0; 2 * n]);
            let mut product = words(&x, n);
            modulus.multiply(&mut product, &y, &mut scratch);
            assert!(value(&product) < m);
            assert_eq!((value(&product) << (64 * n)) % &m, number(&x) * value(&y) % &m);
            let mut square = y.clone();
            modulus.square(&mut square, &mut scratch);
            assert!(value(&square) < m);
            assert_eq!((value(&square) << (64 * n)) % &m, value(&y) * value(&y) % &m);
            let mut sum = product.clone();
            modulus.add(&mut sum, &y, &mut scratch);
            assert_eq!(value(&sum), (value(&product) + value(&y)) % &m);
            // The largest number that may be divided: R·m − 1.
            let mut t = words(&((&m << (64 * n)) - 1_u32).to_u32_digits(), 2 * n);
            let dividend = value(&t);
            modulus.divide(&mut t, &mut sum);
            assert!(value(&sum) < m);
            assert_eq!((value(&sum) << (64 * n)) % &m, dividend % &m);
        }
    }
}

#[test]
fn masks() {
    for (a, b) in [(0, 0), (u64::MAX, u64::MAX), (5, 5)] {
        assert_eq!(equal_mask(a, b), u64::MAX);
    }
    for (a, b) in [(0, 1), (1, 0), (u64::MAX, 0), (1 << 63, 0), (0, 1 << 63), (6, 7)] {
        assert_eq!(equal_mask(a, b), 0);
    }
}
