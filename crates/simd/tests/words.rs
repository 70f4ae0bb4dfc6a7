//! Montgomery's arithmetic in words, against num-bigint.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use common::{Random, number};
use num_bigint::BigUint;
use warpmp_simd::words::division::{Divisor, scratch_words};
use warpmp_simd::words::residues::{self, Odd};
use warpmp_simd::words::{Modulus, compiled, equal_mask, shift_down, shift_up};

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

#[test]
fn shifts_of_any_distance() {
    let mut random = Random(17);
    for n in 0..6 {
        for by in [0, 1, 31, 63, 64, 65, 127, 128, 200, 320, 384, 500] {
            let x = words(&random.row(2 * n), n);
            let (mut up, mut down) = (x.clone(), x.clone());
            shift_up(&mut up, by);
            shift_down(&mut down, by);
            assert_eq!(value(&up), (value(&x) << by) % (BigUint::from(1_u32) << (64 * n)), "{n} words by {by}");
            assert_eq!(value(&down), value(&x) >> by, "{n} words by {by}");
        }
    }
}

/// `N` words of a number.
fn fixed<const N: usize>(number: &BigUint) -> [u64; N] {
    words(&number.to_u32_digits(), N).try_into().unwrap()
}

/// Numbers of up to so many bits, of every length: random ones, ones at the top, powers of two, and their neighbours.
fn numbers(random: &mut Random, bits: usize) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let lengths = (1..=bits).flat_map(|length| {
        let row = number(&random.row(bits.div_ceil(32))) % (&one << length);
        let ones = (&one << length) - 1_u32;
        [row, ones.clone(), &one << (length - 1), &ones - (&one << (length / 2)), ones >> (length / 3) << (length / 3)]
    });
    lengths.chain([one.clone() - 1_u32]).collect()
}

fn residues_of<const N: usize>() {
    let mut random = Random(11);
    let numbers = numbers(&mut random, 64 * N);
    let r = BigUint::from(1_u32) << (64 * N);
    for (i, m) in numbers.iter().map(|m| m | BigUint::from(1_u32)).enumerate() {
        let odd = Odd::<N>::new(fixed(&m));
        assert_eq!(value(odd.words()), m);
        let (x, y) = (&numbers[(7 * i + 3) % numbers.len()], &numbers[(11 * i + 5) % numbers.len()]);
        let (a, b) = (fixed::<N>(x), fixed::<N>(y));
        assert_eq!(value(residues::product(&a, &b).as_flattened()), x * y);
        assert_eq!(value(residues::square(&a).as_flattened()), x * x);
        for (x, y) in [(x % &m, y % &m), (&m - 1_u32, &m - 1_u32), (x % &m, &m - 1_u32)] {
            let (a, b) = (fixed::<N>(&x), fixed::<N>(&y));
            let [product, square, twice] = compiled(
                #[inline(always)]
                || [odd.product(&a, &b), odd.square(&a), odd.double(&a)],
            )
            .map(|it| value(&it));
            assert!(product < m && square < m && twice < m);
            assert_eq!((product * &r) % &m, &x * &y % &m);
            assert_eq!((square * &r) % &m, &x * &x % &m);
            assert_eq!(twice, &x * 2_u32 % &m);
        }
        let largest = fixed::<16>(&(&m * &r - 1_u32));
        let t = [std::array::from_fn(|i| largest[i]), std::array::from_fn(|i| largest[N + i])];
        assert_eq!(value(&odd.reduce(&t)) * &r % &m, (&m * &r - 1_u32) % &m);
    }
}

#[test]
fn residues_of_few_words() {
    residues_of::<1>();
    residues_of::<2>();
    residues_of::<3>();
    residues_of::<4>();
    residues_of::<5>();
    residues_of::<8>();
}

fn divisions_by<const N: usize>() {
    let mut random = Random(13);
    let divisors = numbers(&mut random, 64 * N);
    let quotients = numbers(&mut random, 64 * N + 70);
    let mut scratch = [u64::MAX; 40];
    for (i, m) in divisors.iter().enumerate().filter(|(_, m)| **m != BigUint::default()) {
        let divisor = Divisor::<N>::new(fixed(m));
        for j in 0..20 {
            let (q, rest) =
                (&quotients[(i + 17 * j) % quotients.len()], &divisors[(3 * i + 7 * j) % divisors.len()] % m);
            // Quotients without a fraction and just below one are corrected.
            for rest in [BigUint::default(), rest, m - 1_u32] {
                let raised = [0, 0, 32, 96, 64 * N][j % 5];
                let a = (q * m + rest) >> (j * 11 % 100);
                let row = a.to_u64_digits();
                let scratch = &mut scratch[..scratch_words(row.len(), raised / 64 + 1, N)];
                let (found, quotient) = compiled(
                    #[inline(always)]
                    || divisor.divide(&row, raised, scratch),
                );
                let found = (value(quotient), value(&found));
                if divisor.is_full() && raised == 0 && a.bits() <= 128 * N as u64 {
                    let words = words(&a.to_u32_digits(), 2 * N);
                    let (rest, quotient) =
                        divisor.divide_pair(&[0, N].map(|first| std::array::from_fn(|i| words[first + i])));
                    assert_eq!(found, (value(quotient.as_flattened()), value(&rest)), "{a} by {m}");
                }
                assert_eq!(found, ((&a << raised) / m, (&a << raised) % m), "{a} by {m}, {raised}");
            }
        }
    }
}

#[test]
fn divisions_by_few_words() {
    divisions_by::<2>();
    divisions_by::<3>();
    divisions_by::<4>();
    divisions_by::<5>();
    divisions_by::<8>();
}
