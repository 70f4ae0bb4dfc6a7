//! Trial division by the primes below 100.
//!
//! An odd number without such a factor is one of `∏ (1 − 1/p)`, 24 in 100. Products of primes that fill a word take a
//! pass over the limbs each, for all their primes together.

use rayon::prelude::*;
use warpmp::Batch;

/// Odd primes below 100 in groups whose products fit in 32 bits.
const GROUPS: [&[u32]; 4] =
    [&[3, 5, 7, 11, 13, 17, 19, 23, 29], &[31, 37, 41, 43, 47], &[53, 59, 61, 67, 71], &[73, 79, 83, 89, 97]];
/// 101²: what is below and has no prime factor below 100 is prime.
pub(super) const PROVED: u64 = 101 * 101;

/// Is the lane a prime? None where trial division does not tell: the lane is odd then, and at least [`PROVED`].
pub(super) fn divide(batch: &Batch) -> Vec<Option<bool>> {
    let limbs = batch.shape().limbs();
    batch.limbs().par_chunks_exact(limbs.max(1)).map(verdict).collect()
}

fn verdict(number: &[u32]) -> Option<bool> {
    let small = small(number);
    if let Some(number @ 0..=2) = small {
        return Some(number == 2);
    }
    if number[0].is_multiple_of(2) {
        return Some(false);
    }
    for group in GROUPS {
        let product = group.iter().product();
        let rest = remainder(number, product);
        if let Some(prime) = group.iter().find(|prime| rest.is_multiple_of(**prime)) {
            return Some(small == Some(u64::from(*prime)));
        }
    }
    small.is_some_and(|number| number < PROVED).then_some(true)
}

/// The number, if it fits.
fn small(number: &[u32]) -> Option<u64> {
    let (low, high) = number.split_at(number.len().min(2));
    let value = low.iter().rev().fold(0, |value, limb| value << 32 | u64::from(*limb));
    high.iter().all(|limb| *limb == 0).then_some(value)
}

fn remainder(number: &[u32], divisor: u32) -> u32 {
    let step = |rest: u64, limb: &u32| (rest << 32 | u64::from(*limb)) % u64::from(divisor);
    number.iter().rev().fold(0, step) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_decided() {
        let numbers: Vec<u32> = (0..PROVED as u32 + 2).collect();
        let sieve = |n: u32| n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        for (number, found) in numbers.iter().zip(numbers.iter().map(|number| verdict(&[*number, 0, 0]))) {
            let expected = (u64::from(*number) != PROVED).then(|| sieve(*number));
            assert_eq!(found, expected, "{number}");
        }
    }

    #[test]
    fn wide_multiples_are_found() {
        // 97·(2^64 + 1) and 101·(2^64 + 1); 2^64 + 1 has no prime factor below 100.
        assert_eq!(verdict(&[97, 0, 97]), Some(false));
        assert_eq!(verdict(&[101, 0, 101]), None);
        // 2^64 + 2^32 + 1 is a multiple of 3, whose own limbs are not.
        assert_eq!(verdict(&[1, 1, 1]), Some(false));
        // 2^127 − 1
        assert_eq!(verdict(&[u32::MAX, u32::MAX, u32::MAX, 0x7fff_ffff]), None);
    }
}
