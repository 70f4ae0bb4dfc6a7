//! Trial division by small primes.
//!
//! Of all odd numbers, the share `∏ (1 − 1/p)`, about `1.12 / ln y`, has no prime factor below `y`: 24 in 100 for
//! `y = 100`. Primes stand in groups whose product is below 2²⁶. A number modulo such a product is a sum of its limbs
//! times powers of 2³²; the sum of 32 products fits in 64 bits, so one division serves 32 limbs.
//!
//! A group is tried if it saves more time in strong tests than it takes itself.

use rayon::prelude::*;
use warpmp::{Batch, EngineKind};

/// No prime is larger: its square is below 2²⁶.
const LARGEST: u32 = 8191;
/// A group's product is below this.
const PRODUCT_LIMIT: u64 = 1 << 26;
/// Limbs between two divisions: `32·2³²·2²⁶ + 2⁵²` is below 2⁶⁴.
const BLOCK: usize = 32;
/// All these primes are always tried.
const LEAST: u32 = 97;
/// 101²: a smaller number without a prime factor below 100 is prime.
const PROVED: u64 = 101 * 101;

/// Steps of a core in a second. A step is a limb in a group, about.
const STEPS_PER_SECOND: f64 = 1.2e9;
/// Steps for a group besides its limbs.
const GROUP_STEPS: usize = 40;
/// Products of limbs in a second in the strong tests: of a GPU, and of a core, whose limbs are twice as long.
const GPU_PRODUCTS_PER_SECOND: f64 = 6e12;
const CPU_PRODUCTS_PER_SECOND: f64 = 0.5e9;

/// The primes, in groups.
#[derive(Debug)]
pub(super) struct Trial {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    primes: Vec<Prime>,
    product: u64,
    /// `2^(32·i)` modulo the product.
    weights: [u32; BLOCK],
    /// The power after the last weight.
    step: u64,
}

/// An odd prime.
#[derive(Debug)]
struct Prime {
    value: u32,
    /// The inverse modulo 2³².
    inverse: u32,
}

impl Trial {
    /// All groups.
    pub(super) fn new() -> Self {
        let mut groups: Vec<Vec<u32>> = vec![Vec::new()];
        let mut product = 1;
        for prime in (3..=LARGEST).step_by(2).filter(|n| (3..91).take_while(|d| d * d <= *n).all(|d| n % d != 0)) {
            product *= u64::from(prime);
            if product >= PRODUCT_LIMIT {
                groups.push(Vec::new());
                product = prime.into();
            }
            if let Some(group) = groups.last_mut() {
                group.push(prime);
            }
        }
        Self { groups: groups.iter().map(|primes| Group::new(primes)).collect() }
    }

    /// Is each lane prime? None where trial division does not tell: the lane is odd then, and at least [`PROVED`], and
    /// goes to the strong tests of an engine of this kind.
    pub(super) fn divide(&self, batch: &Batch, kind: EngineKind) -> Vec<Option<bool>> {
        let limbs = batch.shape().limbs();
        let groups = &self.groups[..self.worthwhile(limbs, kind)];
        batch.limbs().par_chunks_exact(limbs.max(1)).map(|number| verdict(number, groups)).collect()
    }

    /// The number of groups that save more time than they take.
    fn worthwhile(&self, limbs: usize, kind: EngineKind) -> usize {
        let cores = rayon::current_num_threads() as f64;
        let group_seconds = (limbs + GROUP_STEPS) as f64 / (STEPS_PER_SECOND * cores);
        let products = 48.0 * (limbs as f64).powi(3);
        let test_seconds = match kind {
            EngineKind::Cpu => products / 4.0 / (CPU_PRODUCTS_PER_SECOND * cores),
            _ => products / GPU_PRODUCTS_PER_SECOND,
        };
        let saves = |group: &Group| group.primes.iter().map(|prime| 1.0 / f64::from(prime.value)).sum::<f64>();
        let pays = |group: &Group| saves(group) * test_seconds > group_seconds;
        self.groups.iter().take_while(|group| group.primes[0].value <= LEAST || pays(group)).count()
    }
}

/// What trial division does before the strong tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialDivision {
    /// The largest prime that is tried.
    pub largest_prime: u32,
    /// The share of the odd integers that is left.
    pub survivors: f64,
}

/// Trial division of integers of so many bits, before strong tests on an engine of this kind.
pub fn trial_division(bits: usize, kind: EngineKind) -> TrialDivision {
    let trial = Trial::new();
    let primes = trial.groups[..trial.worthwhile(bits.div_ceil(32), kind)].iter().flat_map(|group| &group.primes);
    let none = TrialDivision { largest_prime: 2, survivors: 1.0 };
    primes.fold(none, |all, prime| TrialDivision {
        largest_prime: prime.value,
        survivors: all.survivors * (1.0 - 1.0 / f64::from(prime.value)),
    })
}

impl Group {
    fn new(primes: &[u32]) -> Self {
        let product = primes.iter().map(|prime| u64::from(*prime)).product();
        let mut power = 1;
        let weights = std::array::from_fn(|_| {
            let weight = power;
            power = (power << 32) % product;
            weight as u32
        });
        let prime = |value: &u32| {
            // 3p xor 2 is right in 5 bits, and each step doubles their number.
            let start = value.wrapping_mul(3) ^ 2;
            let step = |x: u32, _| x.wrapping_mul(2_u32.wrapping_sub(value.wrapping_mul(x)));
            Prime { value: *value, inverse: (0..3).fold(start, step) }
        };
        Self { primes: primes.iter().map(prime).collect(), product, weights, step: power }
    }

    fn remainder(&self, number: &[u32]) -> u32 {
        let block = |rest: u64, limbs: &[u32]| {
            let products = limbs.iter().zip(&self.weights).map(|(limb, weight)| u64::from(*limb) * u64::from(*weight));
            (rest * self.step + products.sum::<u64>()) % self.product
        };
        number.chunks(BLOCK).rev().fold(0, block) as u32
    }
}

impl Prime {
    /// A multiple of the prime times its inverse is the quotient. Any other number gives more than the largest quotient.
    const fn divides(&self, number: u32) -> bool {
        number.wrapping_mul(self.inverse) <= u32::MAX / self.value
    }
}

fn verdict(number: &[u32], groups: &[Group]) -> Option<bool> {
    let small = small(number);
    if let Some(number @ 0..=2) = small {
        return Some(number == 2);
    }
    if number[0].is_multiple_of(2) {
        return Some(false);
    }
    for group in groups {
        let rest = group.remainder(number);
        if let Some(prime) = group.primes.iter().find(|prime| prime.divides(rest)) {
            return Some(small == Some(u64::from(prime.value)));
        }
    }
    small.is_some_and(|number| number < PROVED).then_some(true)
}

/// The number, if it fits in 64 bits.
fn small(number: &[u32]) -> Option<u64> {
    let (low, high) = number.split_at(number.len().min(2));
    let value = low.iter().rev().fold(0, |value, limb| value << 32 | u64::from(*limb));
    high.iter().all(|limb| *limb == 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_decided() {
        let trial = Trial::new();
        let least = trial.worthwhile(1, EngineKind::Cuda);
        let numbers: Vec<u32> = (0..PROVED as u32 + 2).collect();
        let sieve = |n: u32| n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        for number in numbers {
            for count in [least, trial.groups.len()] {
                let found = verdict(&[number, 0, 0], &trial.groups[..count]);
                let expected = (u64::from(number) != PROVED).then(|| sieve(number));
                // More primes than below 100 find 101.
                let all = if count > least { Some(sieve(number)) } else { expected };
                assert_eq!(found, all, "{number}");
            }
        }
    }

    #[test]
    fn wide_multiples_are_found() {
        let trial = Trial::new();
        let few = |number: &[u32]| verdict(number, &trial.groups[..5]);
        // 97·(2^64 + 1) and 101·(2^64 + 1); 2^64 + 1 has no prime factor below 100.
        assert_eq!(few(&[97, 0, 97]), Some(false));
        assert_eq!(few(&[101, 0, 101]), None);
        // 2^64 + 2^32 + 1 is a multiple of 3; its limbs are not.
        assert_eq!(few(&[1, 1, 1]), Some(false));
        // 2^127 − 1
        assert_eq!(few(&[u32::MAX, u32::MAX, u32::MAX, 0x7fff_ffff]), None);
    }

    /// Remainders against division limb by limb, over several blocks.
    #[test]
    fn remainders() {
        let trial = Trial::new();
        let mut state = 1_u64;
        for limbs in [1, 2, 31, 32, 33, 64, 100] {
            let ones = vec![u32::MAX; limbs];
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 32) as u32
            };
            let drawn: Vec<u32> = (0..limbs).map(|_| random()).collect();
            for number in [ones, drawn] {
                for group in &trial.groups {
                    let step = |rest: u64, limb: &u32| (rest << 32 | u64::from(*limb)) % group.product;
                    let rest = number.iter().rev().fold(0, step) as u32;
                    assert_eq!(group.remainder(&number), rest);
                    for prime in &group.primes {
                        assert_eq!(prime.divides(rest), rest.is_multiple_of(prime.value));
                    }
                }
            }
        }
    }

    #[test]
    fn more_is_tried_for_longer_numbers() {
        let trial = Trial::new();
        let count = |limbs, kind| trial.worthwhile(limbs, kind);
        assert!(trial.groups[count(2, EngineKind::Cuda) - 1].primes.iter().any(|prime| prime.value == LEAST));
        assert!(count(128, EngineKind::Cuda) > count(8, EngineKind::Cuda));
        assert!(count(22, EngineKind::Cpu) > count(22, EngineKind::Cuda));
        assert_eq!(count(2048, EngineKind::Cpu), trial.groups.len());
    }
}
