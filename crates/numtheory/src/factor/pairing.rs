//! The plan of a second stage: baby steps, giant steps, and the pairs of both that meet every prime.
//!
//! A prime `p` of `(B1, B2]` is `m·w ± j` for a giant step `m·w` and a baby step `j`. The pair `(m, j)` serves `m·w + j` and
//! `m·w − j`, so two primes whose sum is `2·m·w` share a pair. With baby steps up to `reach` two primes can share one if their
//! distance is at most `2·reach`. In each class modulo `2w` the primes of the class and of the opposite class are
//! matched from the lowest up, which matches as many as possible.
//!
//! source: Montgomery 1987; pairs over a larger reach as in FACTOR's counts: 0.59 to 0.86 products a prime.

use super::primes::each_prime;

/// Giant steps of a section: the primes of a section are matched together.
const SECTION: u64 = 1 << 11;
/// Products of a baby step, of a giant step, and of a pair, with the way to `x = X/Z`.
const BABY: u64 = 9;
const GIANT: u64 = 10;

/// Widths: products of the first primes.
const WIDTHS: [u64; 5] = [6, 30, 210, 2310, 30030];

/// The plan, which is the same for all lanes.
#[derive(Clone, Debug)]
pub(super) struct Pairing {
    /// The distance of giant steps.
    pub(super) width: u64,
    /// Baby steps, rising: the numbers up to the reach that have no factor in common with the width.
    pub(super) babies: Vec<u64>,
    /// The place of each odd number among the babies: `place[j / 2]`.
    places: Vec<u32>,
    b1: u64,
    b2: u64,
}

/// How many points and pairs a plan has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// Odd numbers up to the last baby step.
    pub(super) passed: f64,
    pub(super) babies: f64,
    pub(super) giants: f64,
    /// From the pairs of the first section; those of later ones are fewer by little.
    pub(super) pairs: f64,
}

/// The pairs of some giant steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    /// The number of the first giant step, above 0.
    pub(super) first: u64,
    /// For each giant step the places of the baby steps that it meets.
    pub(super) giants: Vec<Vec<u32>>,
}

impl Pairing {
    /// The plan with the fewest products, estimated; `b1` is 3 or more.
    pub(super) fn new(b1: u64, b2: u64) -> Self {
        let span = b2.saturating_sub(b1);
        let cost = |(width, reach): (u64, u64)| {
            // Nearly all numbers up to the reach are passed by additions of two.
            BABY * reach / 2 + GIANT * span / width + span / 16 * width / (width + reach)
        };
        // A width is at most 2·B1, so that no prime lies beside the giant step 0, and has no prime above B1.
        let widths =
            WIDTHS.into_iter().zip([3, 5, 7, 11, 13]).filter(|(width, prime)| *width <= 2 * b1 && *prime <= b1);
        let choices =
            widths.flat_map(|(width, _)| [width / 2, width, 2 * width, 4 * width].map(|reach| (width, reach)));
        let (width, reach) = choices.min_by_key(|choice| cost(*choice)).unwrap_or((6, 3));
        Self::with(b1, b2, width, reach)
    }

    /// The plan with this width and reach.
    pub(super) fn with(b1: u64, b2: u64, width: u64, reach: u64) -> Self {
        let divisors: Vec<u64> = [3, 5, 7, 11, 13].into_iter().filter(|prime| width.is_multiple_of(*prime)).collect();
        let is_baby = |j: &u64| !divisors.iter().any(|prime| j.is_multiple_of(*prime));
        let babies: Vec<u64> = (1..=reach).step_by(2).filter(is_baby).collect();
        let mut places = vec![u32::MAX; reach as usize / 2 + 1];
        for (place, baby) in babies.iter().enumerate() {
            places[*baby as usize / 2] = place as u32;
        }
        Self { width, babies, places, b1, b2 }
    }

    /// The number of the first giant step, above 0.
    pub(super) const fn first_giant(&self) -> u64 {
        let first = self.b1 / self.width;
        if first == 0 { 1 } else { first }
    }

    /// How many points and pairs there are; none without a second stage.
    pub(super) fn counts(&self) -> Counts {
        if self.sections() == 0 {
            return Counts { passed: 0.0, babies: 0.0, giants: 0.0, pairs: 0.0 };
        }
        let first = self.section(0);
        let pairs: usize = first.giants.iter().map(Vec::len).sum();
        let giants = (self.b2 / self.width + 2 - self.first_giant()) as f64;
        let passed = self.babies.last().map_or(0.0, |last| *last as f64 / 2.0);
        Counts {
            passed,
            babies: self.babies.len() as f64,
            giants,
            pairs: pairs as f64 * giants / first.giants.len() as f64,
        }
    }

    /// The number of sections.
    pub(super) fn sections(&self) -> u64 {
        self.b2.saturating_sub(self.b1).div_ceil(SECTION * self.width)
    }

    /// The pairs for the primes of a section.
    pub(super) fn section(&self, number: u64) -> Section {
        let from = self.b1 + number * SECTION * self.width;
        let to = self.b2.min(from + SECTION * self.width);
        let (width, reach) = (self.width, self.babies.last().copied().unwrap_or(1));
        let mut classes = vec![Vec::new(); 2 * width as usize];
        each_prime(from + 1..=to, |prime| classes[(prime % (2 * width)) as usize].push(prime));
        let first = (from / width).max(1);
        let mut section = Section { first, giants: vec![Vec::new(); (to / width + 1 - first + 1) as usize] };
        let mut meet = |low: u64, high: u64| {
            let (giant, baby) = ((low + high) / (2 * width), (high - low) / 2);
            section.giants[(giant - first) as usize].push(self.places[baby as usize / 2]);
        };
        // A prime alone: the nearest giant step, and the number on its other side.
        let alone = |prime: u64| {
            let giant = (prime + width / 2) / width * width;
            (prime.min(2 * giant - prime), prime.max(2 * giant - prime))
        };
        for class in 1..width as usize {
            let [mut these, mut those] = [&classes[class][..], &classes[2 * width as usize - class][..]];
            while let (Some((a, rest_a)), Some((b, rest_b))) = (these.split_first(), those.split_first()) {
                if a.abs_diff(*b) <= 2 * reach {
                    meet(*a.min(b), *a.max(b));
                    (these, those) = (rest_a, rest_b);
                } else if a < b {
                    let (low, high) = alone(*a);
                    meet(low, high);
                    these = rest_a;
                } else {
                    let (low, high) = alone(*b);
                    meet(low, high);
                    those = rest_b;
                }
            }
            for prime in these.iter().chain(those) {
                let (low, high) = alone(*prime);
                meet(low, high);
            }
        }
        section
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every prime of the interval is met, and only by baby steps that exist.
    #[test]
    fn pairs_meet_every_prime() {
        let known = [(3, 100), (5, 30), (20, 20), (200, 10_000), (500, 20_000), (2000, 200_000), (50_000, 5_000_000)];
        for (b1, b2) in known {
            let mut plans = vec![Pairing::new(b1, b2)];
            if b1 >= 500 {
                plans.extend([105, 210, 420, 840].map(|reach| Pairing::with(b1, b2, 210, reach)));
            }
            for plan in plans {
                let (mut met, mut pairs) = (BTreeSet::new(), 0_usize);
                for section in (0..plan.sections()).map(|number| plan.section(number)) {
                    for (giant, babies) in (section.first..).zip(&section.giants) {
                        pairs += babies.len();
                        for baby in babies {
                            let baby = plan.babies[*baby as usize];
                            met.extend([giant * plan.width - baby, giant * plan.width + baby]);
                        }
                    }
                }
                let mut primes = 0_usize;
                each_prime(b1 + 1..=b2, |prime| {
                    primes += 1;
                    assert!(
                        met.contains(&prime),
                        "{prime} of {b1} to {b2} with {} and {:?}",
                        plan.width,
                        plan.babies.last()
                    );
                });
                assert!(pairs <= primes, "{pairs} pairs for {primes} primes");
                if (b1, plan.width, plan.babies.last()) == (500, 210, Some(&209)) {
                    // The matching is the best one: 0.665 products a prime, counted beforehand.
                    assert_eq!(primes, 2167);
                    assert!((0.66..0.67).contains(&(pairs as f64 / primes as f64)), "{pairs}");
                }
            }
        }
    }
}
