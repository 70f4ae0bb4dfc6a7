//! Whole factorisations: from trial division to elliptic curves with rising bounds.
//!
//! ```text
//! integers ─► trial division ─► roots of powers ─► primality ─► level by level: P−1, P+1, curves ─► primes, composites
//! ```
//!
//! Before each step the composites that are left are sorted by length, so that a vector has integers of about equal length.

use num_bigint::BigUint;
use rayon::prelude::*;

use super::levels::{Effort, LEVELS, Level};
use super::search::{Attempts, Factorisation, Plan, Told, root, search_on};
use super::trial::divide;
use super::{Bounds, Engine, Family, Method, Stage};
use crate::error::Result;
use crate::primality::is_bpsw_prime;
use crate::watch::{Share, Watch};

/// Composites that a step takes at a time.
const PIECE: usize = 1 << 14;
/// P−1 and P+1 belong to the levels from this one on. Below, some more curves take less time.
const FIRST_WITH_ALL_METHODS: u32 = 20;
/// B1 of P−1 and of P+1, in units of the level's: they then take as long as a few curves.
const PM1_RATIO: u64 = 10;
const PP1_RATIO: u64 = 5;
/// The last level is repeated at most so often for a composite whose least prime cannot be above the level.
const REPETITIONS: u64 = 30;

/// How far a factorisation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// The decimal digits of the factors that are looked for, at most 65. A composite of at most twice as many digits is factored
    /// completely.
    pub digits: u32,
    /// The seed of the curves.
    pub seed: u64,
}

/// How a prime factor became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By trial division.
    Trial,
    /// An attempt found it.
    Attempt {
        /// The method, with its parameter.
        method: Method,
        /// The bounds.
        bounds: Bounds,
        /// The stage.
        stage: Stage,
    },
    /// It was left after other factors; or the integer is a prime or the power of a prime.
    Left,
}

/// A prime factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prime {
    /// The factor, prime by the test of Baillie and Wagstaff.
    pub prime: BigUint,
    /// How it became known.
    pub origin: Origin,
}

/// A factor that is composite, and no power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composite {
    /// The factor.
    pub number: BigUint,
    /// The curves that were made on it, or on a multiple of it, and found nothing of it.
    pub effort: Effort,
}

/// What is known of an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// The integer.
    pub n: BigUint,
    /// The prime factors, rising, each as often as it divides.
    pub primes: Vec<Prime>,
    /// The other factors, rising.
    pub composites: Vec<Composite>,
    /// Attempts that were made.
    pub attempts: u64,
    /// Attempts whose check failed: the processor made a mistake.
    pub slips: u64,
}

/// What a factorisation of many integers has found.
#[derive(Clone, Debug)]
pub struct Known {
    /// The integers, in their order.
    pub numbers: Vec<Factors>,
    /// Did the watch stop the work before its end?
    pub stopped: bool,
}

impl Factors {
    /// The integer, and the factors that are seen without a search.
    fn new(n: &BigUint) -> Self {
        let mut new = Self { n: n.clone(), primes: Vec::new(), composites: Vec::new(), attempts: 0, slips: 0 };
        let one = BigUint::from(1_u32);
        if *n <= one {
            return new;
        }
        let (small, rest) = divide(n);
        new.primes = small.into_iter().map(|prime| Prime { prime: prime.into(), origin: Origin::Trial }).collect();
        if rest == one {
            return new;
        }
        let (root, exponent) = root(&rest);
        for _ in 0..exponent {
            if is_bpsw_prime(&root) {
                new.primes.push(Prime { prime: root.clone(), origin: Origin::Left });
            } else {
                new.composites.push(Composite { number: root.clone(), effort: Effort::default() });
            }
        }
        new
    }

    /// Are all factors prime?
    pub fn is_complete(&self) -> bool {
        self.composites.is_empty()
    }

    /// A step's finds about the composite at `place`.
    fn take(&mut self, place: usize, found: Factorisation, step: &Step) {
        let old = self.composites.swap_remove(place);
        self.attempts += found.attempts;
        self.slips += found.slips;
        let primes = found.primes.into_iter().map(|find| {
            let origin = find.by.map_or(Origin::Left, |(method, stage)| Origin::Attempt {
                method,
                bounds: step.plan.bounds,
                stage,
            });
            Prime { prime: find.prime, origin }
        });
        self.primes.extend(primes);
        let parts = found.composites.len() as u64;
        let curves = if step.is_ecm { found.attempts.saturating_sub(found.slips) } else { 0 };
        for number in found.composites {
            let mut effort = old.effort.clone();
            // The parts have taken turns, so each has at least its share.
            effort.add(step.plan.bounds, Family::Suyama, curves / parts);
            self.composites.push(Composite { number, effort });
        }
    }

    fn sort(&mut self) {
        self.primes.sort_by(|one, other| one.prime.cmp(&other.prime));
        self.composites.sort_by(|one, other| one.number.cmp(&other.number));
    }
}

/// Attempts of one kind on all composites.
struct Step {
    plan: Plan,
    is_ecm: bool,
    /// Composites with more decimal digits are left out.
    most_digits: Option<u32>,
}

impl Step {
    /// About the time that it takes for an integer, without a unit.
    fn cost(&self) -> f64 {
        self.plan.attempts.count() as f64 * self.plan.bounds.b1() as f64
    }

    fn takes(&self, composite: &BigUint) -> bool {
        self.most_digits.is_none_or(|digits| composite.bits() as f64 <= f64::from(digits) * std::f64::consts::LOG2_10)
    }
}

impl Depth {
    /// The steps, the cheap ones first.
    fn steps(self) -> Vec<Step> {
        let last = Level::of_digits(self.digits).unwrap_or(LEVELS[LEVELS.len() - 1]);
        let mut steps = Vec::new();
        let step = |attempts, bounds, is_ecm| Step {
            plan: Plan { bounds, attempts, one: false, told: Told::Finds },
            is_ecm,
            most_digits: None,
        };
        let curves = |level: Level, number: u64| {
            // Another seed for each step: the same sigma again finds little.
            let seed = self.seed.wrapping_add(number << 32);
            step(Attempts::Curves { seed, count: level.curves }, level.bounds(), true)
        };
        for level in LEVELS.into_iter().filter(|level| level.digits <= last.digits) {
            if level.digits >= FIRST_WITH_ALL_METHODS {
                let bounds = |ratio| Level { b1: level.b1 * ratio, ..level }.bounds();
                steps.push(step(Attempts::pm1(), bounds(PM1_RATIO), false));
                steps.push(step(Attempts::pp1(), bounds(PP1_RATIO), false));
            }
            steps.push(curves(level, u64::from(level.digits)));
        }
        let again = (1..REPETITIONS).map(|number| Step {
            most_digits: Some(2 * self.digits),
            ..curves(last, number << 16 | u64::from(last.digits))
        });
        steps.extend(again);
        steps
    }
}

/// Factors integers, as far as [`Depth`] says: trial division, roots of powers, primality, then for each level P−1, P+1 and curves.
///
/// If the watch stops the work, its finds count all the same.
///
/// ```
/// use warpmp_numtheory::factor::{Depth, factor};
///
/// let n = (num_bigint::BigUint::from(1_u32) << 128) + 1_u32;
/// let known = factor(&[n], Depth { digits: 20, seed: 1 }, &())?;
/// let primes: Vec<String> = known.numbers[0].primes.iter().map(|it| it.prime.to_string()).collect();
/// assert_eq!(primes, ["59649589127497217", "5704689200685129054721"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`search_on`].
pub fn factor(numbers: &[BigUint], depth: Depth, watch: &dyn Watch) -> Result<Known> {
    factor_on(&Engine::cpu(), numbers, depth, watch)
}

/// [`factor`] on an engine.
///
/// # Errors
/// As [`search_on`].
pub fn factor_on(engine: &Engine, numbers: &[BigUint], depth: Depth, watch: &dyn Watch) -> Result<Known> {
    let mut all: Vec<Factors> = numbers.par_iter().map(Factors::new).collect();
    let steps = depth.steps();
    // The repetitions are not expected.
    let total: f64 = steps.iter().filter(|step| step.most_digits.is_none()).map(Step::cost).sum();
    let (mut done, mut stopped) = (0.0, false);
    for step in &steps {
        let from = (done / total).min(1.0);
        done += step.cost();
        stopped = !run(engine, step, &mut all, &Share { watch, from, of: (done / total).min(1.0) - from })?;
        if stopped || all.iter().all(Factors::is_complete) {
            break;
        }
    }
    all.iter_mut().for_each(Factors::sort);
    watch.progress(1.0);
    Ok(Known { numbers: all, stopped })
}

/// Does a step; false if the watch stops it.
fn run(engine: &Engine, step: &Step, all: &mut [Factors], watch: &dyn Watch) -> Result<bool> {
    let parts = |place: usize| (0..all[place].composites.len()).map(move |part| (place, part));
    let number = |(place, part): &(usize, usize)| &all[*place].composites[*part].number;
    let mut open: Vec<(usize, usize)> = (0..all.len()).flat_map(parts).collect();
    open.retain(|part| step.takes(number(part)));
    open.sort_by_key(|part| number(part).bits());
    let (mut found, mut stopped) = (Vec::new(), false);
    for piece in open.chunks(PIECE) {
        let numbers: Vec<BigUint> = piece.iter().map(|part| number(part).clone()).collect();
        let share = |parts: usize| parts as f64 / open.len() as f64;
        let share = Share { watch, from: share(found.len()), of: share(piece.len()) };
        let outcome = search_on(engine, &numbers, &step.plan, &share, &mut |_, _| {})?;
        found.extend(outcome.numbers);
        stopped = outcome.stopped;
        if stopped {
            break;
        }
    }
    let mut found: Vec<_> = open.into_iter().zip(found).collect();
    // Taking a part moves those behind it: the last one comes first.
    found.sort_by_key(|(part, _)| std::cmp::Reverse(*part));
    for ((place, part), found) in found {
        all[place].take(part, found, step);
    }
    Ok(!stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> BigUint {
        text.parse().unwrap()
    }

    /// The factors multiply to the integer, none is 1, and each attempt finds its prime again.
    fn check(known: &Factors) {
        let parts = known.primes.iter().map(|it| &it.prime).chain(known.composites.iter().map(|it| &it.number));
        assert_eq!(parts.clone().product::<BigUint>(), known.n);
        assert!(parts.clone().all(|part| *part > BigUint::from(1_u32)));
        assert!(known.primes.iter().all(|it| is_bpsw_prime(&it.prime)));
        assert!(known.composites.iter().all(|it| !is_bpsw_prime(&it.number)));
        for prime in &known.primes {
            let Origin::Attempt { method: method @ Method::Ecm(_), bounds, .. } = &prime.origin else { continue };
            // The prime times a large one that the curve does not find.
            let n = &prime.prime * ((BigUint::from(1_u32) << 127) - 1_u32);
            let job = super::super::Job { n, method: method.clone(), start: None, done: 1 };
            let verdict = super::super::run(&[job], *bounds, &()).unwrap().remove(0);
            let found = matches!(&verdict, super::super::Verdict::Divisor { divisor, .. } if *divisor == prime.prime);
            assert!(found, "{prime:?}: {verdict:?}");
        }
    }

    #[test]
    fn integers_of_every_kind() {
        let mersenne = |bits: u32| (BigUint::from(1_u32) << bits) - 1_u32;
        let [p, q] = [1_000_003_u32, 99_999_989].map(BigUint::from);
        let numbers = [
            BigUint::ZERO,
            1_u32.into(),
            97_u32.into(),
            1024_u32.into(),
            mersenne(127),
            // Powers, of primes and of composites, with small factors.
            mersenne(61).pow(3) * 9_u32,
            (&p * &q).pow(2) * 49_u32,
            &p * &p * &q,
            mersenne(67),
            mersenne(128),
            number("14517577769892627371"),
        ];
        let known = factor(&numbers, Depth { digits: 20, seed: 7 }, &()).unwrap();
        assert!(!known.stopped && known.numbers.iter().map(|it| &it.n).eq(&numbers));
        assert!(known.numbers[..2].iter().all(|it| it.primes.is_empty() && it.is_complete()));
        known.numbers[2..].iter().for_each(check);
        assert!(known.numbers.iter().all(Factors::is_complete), "{known:?}");
        let count = |place: usize| known.numbers[place].primes.len();
        assert_eq!([2, 3, 4, 5, 6, 7, 8, 9, 10].map(count), [1, 10, 1, 5, 6, 3, 2, 9, 2]);
        assert_eq!(known.numbers[3].primes[0].origin, Origin::Trial);
        assert_eq!(known.numbers[4].primes[0].origin, Origin::Left);
        assert!(matches!(known.numbers[10].primes[0].origin, Origin::Attempt { .. }));
    }

    /// Composites beyond the depth stay, with the curves that were made.
    #[test]
    fn a_composite_beyond_the_depth() {
        let [p, q] = [number("1000000000000000000000000000057"), number("1000000000000000000000000000099")];
        let n = &p * &q * 1_000_003_u32 * 15_u32;
        let known = factor(&[n.clone(), n], Depth { digits: 10, seed: 1 }, &()).unwrap();
        for it in &known.numbers {
            check(it);
            assert_eq!((it.primes.len(), it.composites.len()), (3, 1));
            let composite = &it.composites[0];
            assert_eq!(composite.number, &p * &q);
            assert_eq!(composite.effort.curves(), 10);
            assert!((9.5..10.5).contains(&composite.effort.level()), "{}", composite.effort.level());
        }
    }

    /// Bulk: semiprimes of 40 to 64 bits, all factored, whatever their order.
    #[test]
    fn many_small_semiprimes() {
        let mut random = 12_345_u64;
        let mut prime = |bits: u32| loop {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let candidate = random >> (64 - bits) | 1 << (bits - 1) | 1;
            if is_bpsw_prime(&candidate.into()) {
                return candidate;
            }
        };
        let numbers: Vec<BigUint> = (0..300).map(|i| BigUint::from(prime(20 + i % 13)) * prime(32 - i % 7)).collect();
        let known = factor(&numbers, Depth { digits: 20, seed: 3 }, &()).unwrap();
        known.numbers.iter().for_each(check);
        assert!(known.numbers.iter().all(|it| it.is_complete() && it.primes.len() == 2));
    }

    #[test]
    fn a_stopped_factorisation_keeps_its_finds() {
        struct Never;
        impl Watch for Never {
            fn go_on(&self) -> bool {
                false
            }
        }
        let n = number("14517577769892627371") * 6_u32;
        let known = factor(&[n], Depth { digits: 20, seed: 7 }, &Never).unwrap();
        assert!(known.stopped && !known.numbers[0].is_complete());
        check(&known.numbers[0]);
        assert_eq!(known.numbers[0].primes.len(), 2);
    }
}
