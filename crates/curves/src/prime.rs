//! Primality of the parameters.

use num_bigint::BigUint;
use sha2::{Digest, Sha256};

/// Rounds of the test. A composite passes one with a probability of at most 1/4.
const ROUNDS: u32 = 40;

/// The test of Miller and Rabin. The bases are hashes of the number and the round, so that no composite is made for them.
pub(crate) fn is_prime(n: &BigUint) -> bool {
    let (one, two) = (BigUint::from(1_u32), BigUint::from(2_u32));
    if n < &two {
        return false;
    }
    for small in [2_u32, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
        if (n % small) == BigUint::ZERO {
            return *n == BigUint::from(small);
        }
    }
    let last = n - &one;
    let twos = last.trailing_zeros().unwrap_or(0);
    let odd = &last >> twos;
    (0..ROUNDS).all(|round| {
        let mut hash = Sha256::new();
        hash.update(n.to_bytes_le());
        hash.update(round.to_le_bytes());
        let base = BigUint::from_bytes_le(&hash.finalize()) % (n - 3_u32) + &two;
        let mut power = base.modpow(&odd, n);
        if power == one || power == last {
            return true;
        }
        (1..twos).any(|_| {
            power = &power * &power % n;
            power == last
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_below_a_thousand() {
        let listed: Vec<u32> = (0..1000).filter(|n| is_prime(&BigUint::from(*n))).collect();
        let sieved: Vec<u32> = (2_u32..1000).filter(|n| (2..*n).all(|d| !n.is_multiple_of(d))).collect();
        assert_eq!(listed, sieved);
    }

    #[test]
    fn strong_pseudoprimes_are_composite() {
        // Arnault's number passes the bases 2 to 31 (a product of two primes of 23 digits).
        for text in ["3825123056546413051", "318665857834031151167461", "3317044064679887385961981"] {
            assert!(!is_prime(&text.parse().unwrap()), "{text}");
        }
        assert!(is_prime(&((BigUint::from(1_u32) << 127_u32) - 1_u32)));
    }
}
