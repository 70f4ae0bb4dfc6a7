//! The plan of a second stage: baby steps, giant steps, and the pairs of both that meet every prime.
//!
//! A prime `p` of `(B1, B2]` is `m·w ± j` for a giant step `m·w` and a baby step `j`. The pair `(m, j)` serves `m·w + j` and
//! `m·w − j`, so two primes whose sum is `2·m·w` share a pair. With baby steps up to `reach` two primes can share one if their
//! distance is at most `2·reach`. In each class modulo `2w` the primes of the class and of the opposite class are
//! matched from the lowest up, which matches as many as possible.
//!
//! The plan is the one with the fewest products among those whose baby steps a device has memory for. Multiples of a product of the first primes
//! are widths, too: 4620 has half the giant steps of 2310, and the same baby steps.
//!
//! source: Montgomery 1987; pairs over a larger reach as in FACTOR's counts: 0.53 to 0.86 products a prime.

use super::primes::each_prime;

/// Giant steps of a section: the primes of a section are matched together.
const SECTION: u64 = 1 << 11;
/// Baby steps, and giant steps, that share an inversion. All engines have the same: the divisors that inversions show depend on it.
pub(super) const BABIES: usize = 128;
pub(super) const GIANTS: usize = 64;
/// Products of an addition of points, and of the way to `x = X/Z`.
const ADDITION: f64 = 6.0;
const QUOTIENT: f64 = 4.0;

/// Widths: products of the first primes, and small multiples.
const WIDTHS: [u64; 12] = [6, 12, 30, 60, 90, 210, 420, 630, 2310, 4620, 6930, 30030];
/// Reaches, in halves of a width.
const REACHES: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Odd primes of widths.
const PRIMES: [u64; 5] = [3, 5, 7, 11, 13];
/// The most baby steps: half a MiB a curve modulo integers of 1024 bits. With as many, a device has memory for so many curves that they keep it busy,
/// and those of a processor are near its caches: twice as many take a tenth fewer products there, and as long.
const MOST_BABIES: f64 = 4096.0;

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
    /// From the pairs of the first section, and the primes of all.
    pub(super) pairs: f64,
}

/// What a plan costs, about. All hosts choose the same plan: its numbers come from operations that round alike everywhere.
struct Cost {
    babies: f64,
    products: f64,
}

impl Cost {
    fn new(b1: u64, b2: u64, width: u64, reach: u64) -> Self {
        // Numbers for each that has no factor in common with the width.
        let ratio = primes_of(width).fold(2.0, |ratio, prime| ratio * prime as f64 / (prime - 1) as f64);
        let [span, width, reach] = [b2.saturating_sub(b1), width, reach].map(|it| it as f64);
        // The logarithm of B2, within 6 %: linear between powers of two.
        let bits = b2.max(2).ilog2();
        let logarithm = std::f64::consts::LN_2 * (f64::from(bits) - 1.0 + b2 as f64 / (1_u64 << bits) as f64);
        let babies = reach / ratio;
        // Primes of the opposite class within the reach of a prime. With none each prime takes a product, with many a half; the 3.1 is measured.
        let partners = reach / width * ratio / logarithm;
        let pairs = span / logarithm * (0.5 + 0.5 / (1.0 + 3.1 * partners));
        let points = ADDITION * reach / 2.0 + QUOTIENT * babies + (ADDITION + QUOTIENT) * span / width;
        Self { babies, products: points + pairs }
    }
}

/// Widths with their reaches. A width is at most 2·B1, so that no prime lies beside the giant step 0, and has no prime above B1.
fn choices(b1: u64) -> impl Iterator<Item = (u64, u64)> {
    let is_fitting = move |width: &u64| *width <= 2 * b1 && primes_of(*width).all(|prime| prime <= b1);
    let widths = WIDTHS.into_iter().filter(is_fitting);
    widths.flat_map(|width| REACHES.map(|halves| (width, halves * width / 2)))
}

/// The odd primes of a width.
fn primes_of(width: u64) -> impl Iterator<Item = u64> {
    PRIMES.into_iter().filter(move |prime| width.is_multiple_of(*prime))
}

/// Primes of an interval above 2, about: the integral of the density `1/ln x`.
fn primes_about(from: u64, to: u64) -> f64 {
    const PARTS: u32 = 64;
    let (from, length) = (from as f64, to.saturating_sub(from) as f64 / f64::from(PARTS));
    (0..PARTS).map(|part| length / (from + (f64::from(part) + 0.5) * length).ln()).sum()
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
        let costs = choices(b1).map(|(width, reach)| (Cost::new(b1, b2, width, reach), width, reach));
        let fitting = costs.filter(|(cost, ..)| cost.babies <= MOST_BABIES);
        let best = fitting.min_by(|(one, ..), (other, ..)| one.products.total_cmp(&other.products));
        let (width, reach) = best.map_or((6, 3), |(_, width, reach)| (width, reach));
        Self::with(b1, b2, width, reach)
    }

    /// The plan with this width and reach.
    pub(super) fn with(b1: u64, b2: u64, width: u64, reach: u64) -> Self {
        let divisors: Vec<u64> = primes_of(width).collect();
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
        let pairs: usize = self.section(0).giants.iter().map(Vec::len).sum();
        let primes = |to: u64| primes_about(self.b1, to);
        let giants = (self.b2 / self.width + 2 - self.first_giant()) as f64;
        let passed = self.babies.last().map_or(0.0, |last| *last as f64 / 2.0);
        Counts {
            passed,
            babies: self.babies.len() as f64,
            giants,
            pairs: pairs as f64 * primes(self.b2) / primes(self.b2.min(self.b1 + SECTION * self.width)),
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

    /// Pairs of all sections.
    fn pairs(plan: &Pairing) -> usize {
        (0..plan.sections()).flat_map(|number| plan.section(number).giants).map(|giant| giant.len()).sum()
    }

    #[test]
    fn counts_are_near() {
        for (b1, b2, width, reach) in
            [(500, 20_000, 210, 420), (1000, 1_000_000, 210, 840), (20_000, 6_000_000, 420, 840)]
        {
            let plan = Pairing::with(b1, b2, width, reach);
            let (counted, all) = (plan.counts().pairs, pairs(&plan) as f64);
            assert!((counted / all - 1.0).abs() < 0.05, "{b1} {b2}: {counted}, {all} expected");
        }
    }

    /// The plan that is chosen takes little more products than any.
    #[test]
    fn the_plan_is_near_the_best() {
        for (b1, b2) in [(100, 3000), (500, 20_000), (8192, 820_000)] {
            let products = |plan: &Pairing| {
                let Counts { passed, babies, giants, .. } = plan.counts();
                ADDITION * passed + QUOTIENT * babies + (ADDITION + QUOTIENT) * giants + pairs(plan) as f64
            };
            let chosen = Pairing::new(b1, b2);
            let all = choices(b1).map(|(width, reach)| Pairing::with(b1, b2, width, reach));
            let best = all.map(|plan| products(&plan)).fold(f64::INFINITY, f64::min);
            let (own, ratio) =
                (products(&chosen), chosen.babies.last().copied().unwrap_or(1) as f64 / chosen.width as f64);
            assert!(own < 1.04 * best, "{b1} {b2}: w {} U {ratio:.1}: {own}, {best} is possible", chosen.width);
        }
    }
}
