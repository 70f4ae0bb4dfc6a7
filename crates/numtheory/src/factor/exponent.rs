//! The exponent of a first stage: one for all lanes.

use dashu_int::{UBig, ops::BitTest};
use rayon::prelude::*;

use super::primes::each_prime;

/// Primes whose powers are multiplied one after the other; these products are multiplied by a tree.
const LEAF: usize = 256;

/// `lcm(1, …, to) / lcm(1, …, from)`: about `1.4427·(to − from)` bits.
#[derive(Clone, Debug)]
pub(super) struct Exponent(UBig);

impl Exponent {
    pub(super) fn new(from: u64, to: u64) -> Self {
        let mut powers = Vec::new();
        each_prime(2..=to, |prime| {
            let times = largest_power(prime, to) / largest_power(prime, from);
            if times > 1 {
                powers.push(times);
            }
        });
        let mut parts: Vec<UBig> =
            powers.par_chunks(LEAF).map(|leaf| leaf.iter().map(|it| UBig::from(*it)).product()).collect();
        while parts.len() > 1 {
            parts = parts.par_chunks(2).map(|pair| pair.iter().product()).collect();
        }
        Self(parts.pop().unwrap_or(UBig::ONE))
    }

    /// The number of bits.
    pub(super) fn bits(&self) -> usize {
        self.0.bit_len()
    }

    /// The words of 32 bits, the lowest first.
    pub(super) fn words(&self) -> Vec<u32> {
        let bytes = self.0.to_le_bytes();
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        bytes.chunks(4).map(word).collect()
    }

    /// A bit, the lowest is 0.
    pub(super) fn bit(&self, place: usize) -> bool {
        self.0.bit(place)
    }
}

/// The largest power of a prime that is at most `bound`; 1 if there is none.
fn largest_power(prime: u64, bound: u64) -> u64 {
    let mut power = 1;
    while power <= bound / prime {
        power *= prime;
    }
    power
}

#[cfg(test)]
mod tests {
    use dashu_int::ops::Gcd;

    use super::*;

    #[test]
    fn least_common_multiples() {
        let lcm = |to: u64| (1..=to).map(UBig::from).fold(UBig::ONE, |lcm, n| &lcm / (&lcm).gcd(&n) * n);
        for (from, to) in [(1, 1), (1, 2), (1, 100), (1, 5000), (10, 100), (27, 5000), (100, 100)] {
            assert_eq!(Exponent::new(from, to).0, lcm(to) / lcm(from), "{from} to {to}");
        }
    }
}
