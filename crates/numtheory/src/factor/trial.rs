//! Trial division: the prime factors below a bound, of single integers.

use std::sync::LazyLock;

use num_bigint::BigUint;

use super::primes::each_prime;

/// All primes below are tried.
const BOUND: u64 = 10_000;

/// A product of primes in a word, and the primes.
struct Word {
    product: u64,
    primes: Vec<u32>,
}

/// All primes below the bound, as many to a word as it holds: one remainder of a long integer serves them all.
static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let mut words = vec![Word { product: 1, primes: Vec::new() }];
    each_prime(2..=BOUND, |prime| {
        let last = words.len() - 1;
        match words[last].product.checked_mul(prime) {
            Some(product) => words[last].product = product,
            None => words.push(Word { product: prime, primes: Vec::new() }),
        }
        let last = words.len() - 1;
        words[last].primes.push(prime as u32);
    });
    words
});

/// The prime factors below the bound of an integer above 0, each as often as it divides; and the cofactor.
pub(super) fn divide(n: &BigUint) -> (Vec<u32>, BigUint) {
    let (mut found, mut rest) = (Vec::new(), n.clone());
    for word in WORDS.iter() {
        let remainder = &rest % word.product;
        let remainder = remainder.iter_u64_digits().next().unwrap_or(0);
        for &prime in word.primes.iter().filter(|prime| remainder.is_multiple_of(u64::from(**prime))) {
            while (&rest % prime) == BigUint::ZERO {
                rest /= prime;
                found.push(prime);
            }
        }
    }
    (found, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_factors_are_found() {
        let large = BigUint::from(10_007_u32) * 1_000_000_007_u64;
        let small = [2, 2, 2, 3, 53, 53, 9967, 9973];
        let n = small.iter().fold(large.clone(), |product, prime| product * u32::to_owned(prime));
        assert_eq!(divide(&n), (small.to_vec(), large.clone()));
        assert_eq!(divide(&large), (vec![], large));
        // π(10⁴) = 1229, each prime in one word.
        let one = BigUint::from(1_u32);
        let all: BigUint = WORDS.iter().map(|word| BigUint::from(word.product)).product();
        let (found, rest) = divide(&all);
        assert_eq!((found.len(), found.is_sorted(), rest), (1229, true, one.clone()));
        assert_eq!(divide(&one), (vec![], one));
    }
}
