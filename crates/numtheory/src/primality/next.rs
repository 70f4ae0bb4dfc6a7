//! The next prime after each of many integers.
//!
//! All integers take a window of the numbers after them. A sieve by small primes leaves a few candidates of each window, and all candidates of
//! all windows are tested together. Integers without a prime in their window take the next one.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp::{Batch, Session, Shape};

use super::Tester;
use crate::{
    error::Result,
    watch::{Watch, check},
};

/// A sieve's primes are below this.
const SIEVE_PRIMES: u32 = 2000;
/// Integers whose windows are tested together.
const TOGETHER: usize = 1 << 12;

/// For each integer the least prime above it, by the test of [`Tester::bpsw`].
///
/// ```
/// use warpmp::Session;
/// use warpmp_numtheory::primality::next_primes;
///
/// let primes = next_primes(&Session::cpu(), &[0_u32, 7, 90, 1_000_000].map(Into::into), &())?;
/// assert_eq!(primes, [2_u32, 11, 97, 1_000_003].map(Into::into));
/// # Ok::<(), warpmp_numtheory::Error>(())
/// ```
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); [`Error::Threads`](crate::Error::Threads); [`Error::Engine`](crate::Error::Engine).
pub fn next_primes(session: &Session, numbers: &[BigUint], watch: &dyn Watch) -> Result<Vec<BigUint>> {
    let sieve: Vec<u32> = (3..SIEVE_PRIMES)
        .step_by(2)
        .filter(|n| (3..45).step_by(2).take_while(|d| d * d <= *n).all(|d| n % d != 0))
        .collect();
    let mut primes = vec![BigUint::ZERO; numbers.len()];
    let mut by_limbs: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, number) in numbers.iter().enumerate() {
        by_limbs.entry(number.bits().div_ceil(32)).or_default().push(place);
    }
    let mut done = 0;
    for places in by_limbs.values().flat_map(|places| places.chunks(TOGETHER)) {
        // The first odd number above, and 2 for 0 and 1.
        let first = |number: &BigUint| {
            if number.bits() < 2 { BigUint::from(2_u32) } else { (number + 1_u32) | BigUint::from(1_u32) }
        };
        let mut left: Vec<(usize, BigUint)> = places.iter().map(|place| (*place, first(&numbers[*place]))).collect();
        while !left.is_empty() {
            check(watch)?;
            left = window(session, &sieve, left, &mut primes)?;
            watch.progress((done + places.len() - left.len()) as f64 / numbers.len() as f64);
        }
        done += places.len();
    }
    Ok(primes)
}

/// Looks for primes from each of these numbers on, and gives the numbers where the search goes on.
fn window(
    session: &Session,
    sieve: &[u32],
    starts: Vec<(usize, BigUint)>,
    primes: &mut [BigUint],
) -> Result<Vec<(usize, BigUint)>> {
    let widest = starts.iter().map(|(_, start)| start).max().cloned().unwrap_or_default();
    // Odd numbers; a prime is among them with a probability of about 5 in 8.
    let length = widest.bits().div_ceil(3).max(16) as usize;
    let bits = (widest + 2 * length).bits() as usize;
    let candidates: Vec<Vec<BigUint>> = starts.par_iter().map(|(_, start)| survivors(start, sieve, length)).collect();
    let shape = Shape::new(candidates.iter().map(Vec::len).sum(), bits);
    let mut limbs = vec![0; shape.words()];
    for (out, number) in limbs.chunks_exact_mut(shape.limbs()).zip(candidates.iter().flatten()) {
        let digits = number.to_u32_digits();
        out[..digits.len()].copy_from_slice(&digits);
    }
    // The inner test reports no progress: the share of integers with a prime tells more.
    let verdicts = Tester::bpsw(session, &()).test(&Batch::from_limbs(shape, limbs)?)?;
    let mut verdicts = verdicts.into_iter();
    let mut left = Vec::new();
    for ((place, start), candidates) in starts.into_iter().zip(candidates) {
        let mut found = None;
        for candidate in candidates {
            if verdicts.next() == Some(true) {
                found.get_or_insert(candidate);
            }
        }
        match found {
            Some(prime) => primes[place] = prime,
            None => left.push((place, (start + 2 * length) | BigUint::from(1_u32))),
        }
    }
    Ok(left)
}

/// The numbers `start`, `start + 2`, … without a small factor, or small themselves; `start` is odd, or 2.
fn survivors(start: &BigUint, sieve: &[u32], length: usize) -> Vec<BigUint> {
    if *start == BigUint::from(2_u32) {
        return vec![start.clone()];
    }
    let mut composite = vec![false; length];
    // Multiples of a prime below its square may be the prime itself; the test tells.
    let is_small = start.bits() <= 24;
    for prime in sieve.iter().filter(|_| !is_small) {
        let rest = (start % *prime).iter_u32_digits().next().unwrap_or(0);
        // start + 2i is a multiple for i = −start/2 modulo the prime.
        let first = u64::from(prime - rest) % u64::from(*prime) * u64::from(prime.div_ceil(2)) % u64::from(*prime);
        composite.iter_mut().skip(first as usize).step_by(*prime as usize).for_each(|composite| *composite = true);
    }
    (0..length).filter(|i| !composite[*i]).map(|i| start + 2 * i).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::is_bpsw_prime, *};

    #[test]
    fn no_prime_is_left_out() {
        let mut numbers: Vec<BigUint> = (0..300_u32).map(BigUint::from).collect();
        // Before and after 2^24, where the sieve begins; before a gap of 113 odd numbers; of several widths.
        numbers.extend([(1 << 24) - 40, (1 << 24) + 40, 20_831_323, 436_273_009_u64].map(BigUint::from));
        numbers.extend(
            (60..64).flat_map(|bits| [(BigUint::from(1_u32) << bits) - 60_u32, BigUint::from(1_u32) << (3 * bits)]),
        );
        let found = next_primes(&Session::cpu(), &numbers, &()).unwrap();
        for (number, prime) in numbers.iter().zip(found) {
            let mut expected = number + 1_u32;
            while !is_bpsw_prime(&expected) {
                expected += 1_u32;
            }
            assert_eq!(prime, expected, "{number}");
        }
    }
}
