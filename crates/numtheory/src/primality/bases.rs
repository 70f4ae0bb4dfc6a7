//! The bases of an integer's strong tests.
//!
//! Below ψ₁₃ the bases are primes, as many as prove the integer prime. Above, the first base is 2, and the others are
//! random: each from 2 to n − 2 with the same probability. A composite passes the test to at most a quarter of these
//! bases (Rabin 1980), so it passes `K` tests with a probability of at most `4^(1−K)`. Prime bases alone give no such
//! bound: composites are known that pass for all prime bases below 307 (Arnault 1995).

use std::hash::{BuildHasher as _, RandomState};

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The least strong pseudoprimes to the first 1, 2, … 13 primes together: OEIS A014233. Jaeschke, *On strong
/// pseudoprimes to several bases*, 1993; Jiang and Deng 2014; Sorenson and Webster, *Strong pseudoprimes to twelve
/// prime bases*, 2017.
const PSI: [u128; 13] = [
    2047,
    1_373_653,
    25_326_001,
    3_215_031_751,
    2_152_302_898_747,
    3_474_749_660_383,
    341_550_071_728_321,
    341_550_071_728_321,
    3_825_123_056_546_413_051,
    3_825_123_056_546_413_051,
    3_825_123_056_546_413_051,
    318_665_857_834_031_151_167_461,
    3_317_044_064_679_887_385_961_981,
];
const PRIMES: [u32; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];

/// Chooses the bases of strong tests.
#[derive(Clone, Debug)]
pub struct Bases {
    most: u32,
    random: ChaCha8Rng,
}

impl Bases {
    /// At most `most` bases for an integer, at least one. The random ones differ from call to call.
    pub fn new(most: u32) -> Self {
        let mut seed = [0; 32];
        for (number, bytes) in seed.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&RandomState::new().hash_one(number).to_le_bytes());
        }
        Self { most: most.max(1), random: ChaCha8Rng::from_seed(seed) }
    }

    /// As [`Bases::new`], with random bases that depend on `seed` alone.
    pub fn seeded(most: u32, seed: u64) -> Self {
        Self { most: most.max(1), random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The number of strong tests that an integer has to pass.
    pub(super) fn count(&self, number: &[u32]) -> u32 {
        proof(number).map_or(self.most, |enough| self.most.min(enough))
    }

    /// Writes the base of test `round` to `base`, which is as long as `number`: an odd integer above the 13 primes.
    pub(super) fn write(&mut self, round: u32, number: &[u32], base: &mut [u32]) {
        base.fill(0);
        if round == 0 || proof(number).is_some() {
            base[0] = PRIMES[round as usize % PRIMES.len()];
            return;
        }
        let Some(top) = number.iter().rposition(|limb| *limb != 0) else { return };
        let mask = u32::MAX >> number[top].leading_zeros();
        // At least half of the draws fit, because n has its top bit.
        loop {
            base[..=top].fill_with(|| self.random.next_u32());
            base[top] &= mask;
            if fits(&base[..=top], &number[..=top]) {
                return;
            }
        }
    }
}

/// The number of prime bases that prove an integer prime, if these 13 can.
fn proof(number: &[u32]) -> Option<u32> {
    let (low, high) = number.split_at(number.len().min(4));
    let value = low.iter().rev().fold(0, |value, limb| value << 32 | u128::from(*limb));
    let enough = PSI.iter().position(|least| value < *least).filter(|_| high.iter().all(|limb| *limb == 0));
    enough.map(|place| place as u32 + 1)
}

/// Is `1 < base < n − 1`, for an odd `n`?
fn fits(base: &[u32], number: &[u32]) -> bool {
    let small = base[0] <= 1 && base[1..].iter().all(|limb| *limb == 0);
    // n is odd, so n − 1 differs from it in the lowest limb only.
    let below = number.iter().rev().cmp(base.iter().rev()).is_gt();
    let minus_one = base[1..] == number[1..] && base[0] == number[0] - 1;
    below && !small && !minus_one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_end_at_the_pseudoprimes() {
        let limbs = |value: u128| [0, 32, 64, 96].map(|shift| (value >> shift) as u32);
        assert_eq!(proof(&limbs(2045)), Some(1));
        assert_eq!(proof(&limbs(2047)), Some(2));
        assert_eq!(proof(&limbs(3_825_123_056_546_413_051)), Some(12));
        assert_eq!(proof(&limbs(PSI[12] - 2)), Some(13));
        assert_eq!(proof(&limbs(PSI[12])), None);
        assert_eq!(proof(&[1, 0, 0, 0, 1]), None);
    }

    #[test]
    fn random_bases_are_in_range() {
        assert!([[0, 0], [1, 0], [4, 9], [5, 9], [6, 9], [0, 10]].iter().all(|base| !fits(base, &[5, 9])));
        assert!([[2, 0], [0, 1], [3, 9], [9, 8]].iter().all(|base| fits(base, &[5, 9])));
        let number = [1, 0, 0, 0, 2, 0];
        let (mut bases, mut base) = (Bases::seeded(9, 1), [7; 6]);
        let mut tops = [0; 3];
        for _ in 0..100 {
            bases.write(1, &number, &mut base);
            tops[base[4] as usize] += 1;
            assert!(fits(&base, &number));
        }
        assert!(tops[0] > 20 && tops[1] > 20 && tops[2] == 0, "{tops:?}");
        bases.write(0, &number, &mut base);
        assert_eq!(base, [2, 0, 0, 0, 0, 0]);
    }
}
