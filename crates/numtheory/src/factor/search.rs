//! Many attempts on many integers: until each integer is factored or its attempts are used up.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::draw::Draw;
use super::jobs::{Jobs as _, Part, Tries};
use super::modular::{common_divisor, inverse};
use super::{Bounds, Engine, Job, Method, SaveLine, Sigma, SigmaError, Stage, Stages, Verdict};
use crate::error::{Error, Result};
use crate::primality::is_bpsw_prime;
use crate::watch::{Share, Watch};

/// The attempts on each integer.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The bounds of both stages.
    pub bounds: Bounds,
    /// The attempts.
    pub attempts: Attempts,
    /// Is an integer done after its first divisor?
    pub one: bool,
    /// The attempts that the search tells of.
    pub told: Told,
}

/// The attempts that a search tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// All, with their residues: for save lines.
    All,
    /// Those with another verdict than [`Verdict::Nothing`]. A GPU then makes short curves several times as fast: no job and no residue is made of
    /// the others.
    Finds,
}

/// A method's starts.
#[derive(Clone, Debug)]
pub enum Attempts {
    /// Curves from a parameter on: `σ`, `σ + 1`, …
    CurvesFrom {
        /// The first parameter.
        first: Sigma,
        /// The number of curves.
        count: u64,
    },
    /// Suyama's curves with parameters that depend on a seed, on the integer and on the curve's number.
    Curves {
        /// The seed.
        seed: u64,
        /// The number of curves.
        count: u64,
    },
    /// P−1 once, and again for the parts of an integer that it divides.
    Pm1 {
        /// The base, numerator and denominator.
        base: [BigUint; 2],
    },
    /// P+1 from each of these starts, and again for the parts of an integer that it divides.
    Pp1 {
        /// The starts, numerators and denominators.
        starts: Vec<[BigUint; 2]>,
    },
}

impl Attempts {
    /// Curves from a parameter on.
    ///
    /// # Errors
    /// [`SigmaError::TooLarge`] if the family has fewer.
    pub fn curves_from(first: Sigma, count: u64) -> Result<Self, SigmaError> {
        first.after(count.saturating_sub(1))?;
        Ok(Self::CurvesFrom { first, count })
    }

    /// P−1 with the base 3.
    pub fn pm1() -> Self {
        Self::Pm1 { base: [3_u32, 1].map(BigUint::from) }
    }

    /// P+1 from 2/7, 6/5 and 5: the orders of the first two are more often divisible by 6 and by 4.
    pub fn pp1() -> Self {
        Self::Pp1 { starts: [[2_u32, 7], [6, 5], [5, 1]].map(|start| start.map(BigUint::from)).to_vec() }
    }

    /// The number of attempts.
    pub fn count(&self) -> u64 {
        match self {
            Self::CurvesFrom { count, .. } | Self::Curves { count, .. } => *count,
            Self::Pm1 { .. } => 1,
            Self::Pp1 { starts } => starts.len() as u64,
        }
    }

    /// Are there so few attempts that the parts of an integer need each of them again? A small prime ends an attempt in its first stage, and the second stage would
    /// find another one. Curves go on with new parameters.
    const fn are_few(&self) -> bool {
        match self {
            Self::CurvesFrom { .. } | Self::Curves { .. } => false,
            Self::Pm1 { .. } | Self::Pp1 { .. } => true,
        }
    }

    /// The numbers that starts are made of. An attempt on an integer that shares a divisor with one of them finds this divisor and no other.
    fn starts(&self) -> Vec<&BigUint> {
        match self {
            Self::CurvesFrom { .. } | Self::Curves { .. } => Vec::new(),
            Self::Pm1 { base } => base.iter().collect(),
            Self::Pp1 { starts } => starts.iter().flatten().collect(),
        }
    }

    /// An attempt on an integer.
    pub(super) fn job(&self, n: &BigUint, number: u64) -> Job {
        let (method, start) = self.method(n, number);
        Job { n: n.clone(), method, start, done: 1 }
    }

    /// A method as all attempts have it, but for the parameter, and whether they have a start of their own.
    pub(super) fn example(&self) -> (Method, bool) {
        match self {
            Self::CurvesFrom { first, .. } => (Method::Ecm(first.clone()), false),
            Self::Curves { .. } => (Method::Ecm(Sigma::suyama(0)), false),
            Self::Pm1 { .. } => (Method::Pm1, true),
            Self::Pp1 { .. } => (Method::Pp1, true),
        }
    }

    /// The parameter of a curve on an integer; none for other methods.
    pub(super) fn sigma(&self, n: &BigUint, number: u64) -> Option<Sigma> {
        match self {
            // The last one was tried when the attempts were made.
            Self::CurvesFrom { first, .. } => Some(first.after(number).unwrap_or_else(|_| first.clone())),
            Self::Curves { seed, .. } => Some(Draw::new(*seed, n).sigma(number)),
            Self::Pm1 { .. } | Self::Pp1 { .. } => None,
        }
    }

    /// The method and the start of an attempt on an integer.
    pub(super) fn method(&self, n: &BigUint, number: u64) -> (Method, Option<BigUint>) {
        if let Some(sigma) = self.sigma(n, number) {
            return (Method::Ecm(sigma), None);
        }
        match self {
            Self::Pp1 { starts } => (Method::Pp1, Some(quotient(&starts[number as usize], n))),
            Self::Pm1 { base } => (Method::Pm1, Some(quotient(base, n))),
            Self::CurvesFrom { .. } | Self::Curves { .. } => unreachable!("a curve has a parameter"),
        }
    }
}

/// A fraction modulo `n`. If the denominator has a divisor in common with `n`, this divisor: a start that shares it with `n` finds it.
fn quotient([top, bottom]: &[BigUint; 2], n: &BigUint) -> BigUint {
    if *bottom == BigUint::from(1_u32) {
        return top.clone();
    }
    inverse(bottom, n).map_or_else(|divisor| divisor, |inverse| top * inverse % n)
}

/// A prime factor and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// The factor, prime by the test of Baillie and Wagstaff.
    pub prime: BigUint,
    /// The job that found it; none for 2, for divisors of a start, for roots of powers, and for what is left after other finds.
    pub by: Option<(Method, Stage)>,
}

/// What is known of an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factorisation {
    /// The integer.
    pub n: BigUint,
    /// The prime factors that are known, each as often as it divides.
    pub primes: Vec<Find>,
    /// The other factors: composite, and no powers.
    pub composites: Vec<BigUint>,
    /// Has a job found a divisor?
    pub divided: bool,
    /// Attempts that were made.
    pub attempts: u64,
    /// Attempts whose check failed: the processor made a mistake.
    pub slips: u64,
}

impl Factorisation {
    /// The integer, and the factors that are seen without a search.
    pub(super) fn new(n: &BigUint) -> Self {
        let (primes, composites) = (Vec::new(), Vec::new());
        let mut new = Self { n: n.clone(), primes, composites, divided: false, attempts: 0, slips: 0 };
        if *n != BigUint::ZERO {
            new.sort_in(n.clone(), None);
        }
        new
    }

    /// The factors that are known.
    const fn factors(&self) -> usize {
        self.primes.len() + self.composites.len()
    }

    /// Are all factors prime?
    pub fn is_complete(&self) -> bool {
        self.composites.is_empty()
    }

    /// Takes a factor: a prime, a power, or another composite.
    fn sort_in(&mut self, mut factor: BigUint, by: Option<&(Method, Stage)>) {
        let one = BigUint::from(1_u32);
        let twos = factor.trailing_zeros().unwrap_or(0);
        factor >>= twos;
        let two = || Find { prime: BigUint::from(2_u32), by: by.cloned() };
        self.primes.extend((0..twos).map(|_| two()));
        if factor == one {
            return;
        }
        let (root, exponent) = root(&factor);
        if is_bpsw_prime(&root) {
            self.primes.extend((0..exponent).map(|_| Find { prime: root.clone(), by: by.cloned() }));
        } else {
            self.composites.extend((0..exponent).map(|_| root.clone()));
        }
    }

    /// Takes common divisors with this number out of the composite factors, unless it is a multiple of one.
    fn split_off(&mut self, number: &BigUint) {
        let one = BigUint::from(1_u32);
        let mut others = std::mem::take(&mut self.composites);
        while let Some(composite) = others.pop() {
            let part = common_divisor(&(number % &composite), &composite);
            if part == one || part == composite {
                self.composites.push(composite);
                continue;
            }
            let rest = composite / &part;
            let before = std::mem::take(&mut self.composites);
            self.sort_in(part, None);
            self.sort_in(rest, None);
            others.append(&mut self.composites);
            self.composites = before;
        }
    }

    /// A job's verdict.
    pub(super) fn take(&mut self, job: &Job, verdict: &Verdict) {
        self.attempts += 1;
        self.learn(job, verdict);
    }

    /// What a job's verdict tells; the attempt is counted elsewhere.
    fn learn(&mut self, job: &Job, verdict: &Verdict) {
        match verdict {
            Verdict::Divisor { divisor, stage } => {
                let by = (job.method.clone(), *stage);
                for composite in std::mem::take(&mut self.composites) {
                    // Another job may have found a part of the divisor.
                    let part = common_divisor(divisor, &composite);
                    if part == BigUint::from(1_u32) || part == composite {
                        self.composites.push(composite);
                    } else {
                        let rest = composite / &part;
                        self.sort_in(part, Some(&by));
                        self.sort_in(rest, None);
                        self.divided = true;
                    }
                }
            }
            Verdict::Slipped => self.slips += 1,
            Verdict::Whole(_) | Verdict::Nothing(_) | Verdict::NoGroup | Verdict::Unsuitable => {}
        }
    }
}

/// The least number of which an odd number above 1 is a power, and the exponent.
pub(super) fn root(number: &BigUint) -> (BigUint, u32) {
    let (mut root, mut exponent) = (number.clone(), 1);
    let mut next = 2;
    // A root of an odd number is 3 at the least.
    while u64::from(next) * 19 <= 12 * root.bits() {
        let base = if may_be_power(&root, next) { root.nth_root(next) } else { BigUint::ZERO };
        if base.pow(next) == root {
            (root, exponent) = (base, exponent * next);
        } else {
            next += 1;
        }
    }
    (root, exponent)
}

/// False shows that a number is no power with this exponent: it is none modulo two primes `q = 1` modulo the exponent. Such primes have
/// few residues that are powers.
fn may_be_power(number: &BigUint, exponent: u32) -> bool {
    let is_prime = |q: &u64| (2..=q.isqrt()).all(|divisor| !q.is_multiple_of(divisor));
    let primes = (1..).map(|i| u64::from(exponent) * 2 * i + 1).filter(is_prime).take(2);
    primes.into_iter().all(|q| {
        let power = (number % q).modpow(&((q - 1) / u64::from(exponent)).into(), &q.into());
        power <= BigUint::from(1_u32)
    })
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The integers, in their order.
    pub numbers: Vec<Factorisation>,
    /// Did the watch stop the search before its end?
    pub stopped: bool,
}

/// Looks for factors of integers. `each` gets the jobs that the plan tells of and their verdicts, in their order.
///
/// An integer with a divisor goes on with its composite parts, until all are prime or all attempts are made. If the watch stops the
/// search, its finds count all the same.
///
/// # Errors
/// [`Error::Engine`](crate::Error::Engine).
pub fn search_on(
    engine: &Engine,
    numbers: &[BigUint],
    plan: &Plan,
    watch: &dyn Watch,
    each: &mut dyn FnMut(&Job, &Verdict),
) -> Result<Outcome> {
    let mut stages = Stages::new(engine, plan.bounds);
    let starts = plan.attempts.starts();
    let factored = |n: &BigUint| {
        let mut factorisation = Factorisation::new(n);
        for start in &starts {
            factorisation.split_off(start);
        }
        factorisation
    };
    let mut all: Vec<Factorisation> = numbers.par_iter().map(factored).collect();
    let mut next = vec![0; all.len()];
    let count = plan.attempts.count();
    let total = count.saturating_mul(all.len() as u64).max(1) as f64;
    loop {
        let goes_on = |it: &Factorisation| !(it.is_complete() || plan.one && it.divided);
        let active: Vec<usize> = (0..all.len()).filter(|i| next[*i] < count && goes_on(&all[*i])).collect();
        if active.is_empty() {
            watch.progress(1.0);
            return Ok(Outcome { numbers: all, stopped: false });
        }
        let lengths = active.iter().flat_map(|place| &all[*place].composites).map(BigUint::bits);
        let together = engine.together(plan, lengths);
        let own = (together / active.len()).max(1) as u64;
        let share = total_done(&all, &next, count) / total;
        let (mut parts, mut begun) = (Vec::new(), Vec::new());
        for &place in active.iter().take(together) {
            let numbers = next[place]..count.min(next[place] + own);
            next[place] = numbers.end;
            begun.push((place, numbers.start, all[place].factors()));
            let composites = &all[place].composites[..];
            // Few attempts are for each part, many for one after the other.
            let size = if plan.attempts.are_few() { 1 } else { composites.len().max(1) };
            parts.extend(composites.chunks(size).map(|composites| Part {
                place,
                composites,
                numbers: numbers.clone(),
            }));
        }
        let tries = Tries::new(&plan.attempts, parts);
        let share = Share { watch, from: share, of: tries.count() as f64 / total };
        match plan.told {
            Told::All => {
                let jobs = (0..tries.count()).into_par_iter().map(|place| tries.job(place));
                let (places, jobs): (Vec<usize>, Vec<Job>) = jobs.unzip();
                let Some(verdicts) = unless_stopped(stages.run(&*jobs, &share))? else {
                    return Ok(Outcome { numbers: all, stopped: true });
                };
                for (place, (job, verdict)) in places.iter().zip(jobs.iter().zip(&verdicts)) {
                    all[*place].take(job, verdict);
                    each(job, verdict);
                }
                // Giving back the memory of millions of jobs takes time.
                jobs.into_par_iter().zip(verdicts).for_each(drop);
            }
            Told::Finds => {
                let Some(finds) = unless_stopped(stages.finds(&tries, &share))? else {
                    return Ok(Outcome { numbers: all, stopped: true });
                };
                let counts = tries.counts();
                let job = |(place, verdict)| (tries.job(place), verdict);
                let finds: Vec<((usize, Job), Verdict)> = finds.into_par_iter().map(job).collect();
                for (place, count) in counts {
                    all[place].attempts += count;
                }
                for ((place, job), verdict) in &finds {
                    all[*place].learn(job, verdict);
                    each(job, verdict);
                }
            }
        }
        if plan.attempts.are_few() {
            for (place, start, _) in begun.into_iter().filter(|&(place, _, factors)| all[place].factors() > factors) {
                next[place] = start;
            }
        }
    }
}

/// Goes on from save lines, each with its own bounds, as [`search_on`] does: an attempt for each line.
///
/// # Errors
/// As [`search_on`].
///
/// # Panics
/// With another number of bounds than of lines.
pub fn resume_on(
    engine: &Engine,
    lines: &[SaveLine],
    bounds: &[Bounds],
    watch: &dyn Watch,
    each: &mut dyn FnMut(Bounds, &Job, &Verdict),
) -> Result<Outcome> {
    assert_eq!(lines.len(), bounds.len(), "each line has its bounds");
    let mut all: Vec<Factorisation> = lines.iter().map(|line| Factorisation::new(&line.n)).collect();
    let mut parts: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (place, bounds) in bounds.iter().enumerate() {
        parts.entry((bounds.b1(), bounds.b2())).or_default().push(place);
    }
    let mut done = 0;
    for places in parts.values() {
        let bounds = bounds[places[0]];
        let jobs: Vec<Job> = places.iter().map(|place| lines[*place].job()).collect();
        let total = lines.len() as f64;
        let share = Share { watch, from: f64::from(done) / total, of: places.len() as f64 / total };
        let Some(verdicts) = unless_stopped(Stages::new(engine, bounds).run(&*jobs, &share))? else {
            return Ok(Outcome { numbers: all, stopped: true });
        };
        for (place, (job, verdict)) in places.iter().zip(jobs.iter().zip(&verdicts)) {
            all[*place].take(job, verdict);
            each(bounds, job, verdict);
        }
        done += places.len() as u32;
    }
    Ok(Outcome { numbers: all, stopped: false })
}

/// The result; none if the watch stopped the work.
fn unless_stopped<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Error::Stopped) => Ok(None),
        result => result.map(Some),
    }
}

/// Attempts that are done or not needed any more.
fn total_done(all: &[Factorisation], next: &[u64], count: u64) -> f64 {
    all.iter().zip(next).map(|(it, next)| if it.is_complete() { count } else { *next }).sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use super::super::Family;
    use super::*;

    #[test]
    fn roots() {
        for (base, exponent) in
            [(3_u32, 1), (3, 2), (3, 7), (5, 6), (15, 12), (999_983, 5), (1_000_001, 4), (3, 64), (7, 97)]
        {
            assert_eq!(root(&BigUint::from(base).pow(exponent)), (base.into(), exponent), "{base}^{exponent}");
        }
    }

    /// A search that tells of finds alone makes the same attempts, with the same finds, on integers of several parts, too.
    #[test]
    fn finds_alone_are_those_of_all() -> Result<()> {
        // Products of primes of 12 to 24 bits that go on with their parts, and two integers that are done at once.
        let primes = [4099_u32, 8209, 16_411, 65_537, 1_000_003, 8_388_617, 16_777_259].map(BigUint::from);
        let long = BigUint::from((1_u64 << 61) - 1);
        let product = |from: usize, to: usize| primes[from..to].iter().product::<BigUint>();
        let numbers =
            [product(0, 4), long.clone(), product(2, 7) * &long, product(0, 7), product(5, 7), BigUint::from(9_u32)];
        let bounds = Bounds { b1: 30, b2: 300 };
        let words = Sigma::new(Family::Word, 1000_u32.into()).expect("a word");
        let starts = [[2_u32, 7], [5, 1]].map(|start| start.map(BigUint::from)).to_vec();
        let attempts = [
            Attempts::CurvesFrom { first: words, count: 45 },
            Attempts::Curves { seed: 5, count: 37 },
            Attempts::pm1(),
            Attempts::Pp1 { starts },
        ];
        for attempts in attempts {
            for one in [false, true] {
                let [all, finds] = [Told::All, Told::Finds].map(|told| {
                    let plan = Plan { bounds, attempts: attempts.clone(), one, told };
                    let mut seen = Vec::new();
                    let mut each = |job: &Job, verdict: &Verdict| seen.push((job.clone(), verdict.clone()));
                    let outcome = search_on(&Engine::on(warpmp_device::open_sim()), &numbers, &plan, &(), &mut each);
                    (outcome.map(|outcome| outcome.numbers), seen)
                });
                assert_eq!(all.0?, finds.0?, "{attempts:?}");
                let is_find = |(_, verdict): &&(Job, Verdict)| !matches!(verdict, Verdict::Nothing(_));
                assert!(all.1.iter().filter(is_find).eq(&finds.1), "{attempts:?}");
                assert!(all.1.len() > finds.1.len() && !finds.1.is_empty(), "{attempts:?}");
            }
        }
        Ok(())
    }

    /// Divisors that overlap, come late, or bring nothing new.
    /// An integer that shares primes with the start has its attempts all the same: 3 with the base of P−1, 5 and 7 with starts of P+1. So has one with a small prime.
    #[test]
    fn a_divisor_of_the_start_costs_no_attempt() -> Result<()> {
        let p = BigUint::from(193_707_721_u32);
        let q = BigUint::from(761_838_257_287_u64);
        let bounds = Bounds { b1: 1000, b2: 100_000 };
        // 5 and 73 end attempts in their first stage.
        for (attempts, small) in [(Attempts::pm1(), 9_u32), (Attempts::pp1(), 35), (Attempts::pm1(), 365)] {
            let n = &p * &q * small;
            let plan = Plan { bounds, attempts, one: false, told: Told::All };
            let outcome = search_on(&Engine::cpu(), &[n], &plan, &(), &mut |_, _| {})?;
            let primes: Vec<&BigUint> = outcome.numbers[0].primes.iter().map(|it| &it.prime).collect();
            assert!(primes.contains(&&p), "{small}: {:?}", outcome.numbers[0]);
            let product: BigUint = primes.into_iter().chain(&outcome.numbers[0].composites).product();
            assert_eq!(product, &p * &q * small);
        }
        // A multiple of a composite factor stays: it has no group.
        let mut number = Factorisation::new(&BigUint::from(3_u32 * 25 * 1009));
        number.split_off(&BigUint::from(2_u32 * 3 * 1009));
        assert_eq!(number.composites, [BigUint::from(3_u32 * 1009)]);
        assert_eq!(number.primes.len(), 2);
        Ok(())
    }

    #[test]
    fn divisors_split_what_is_left() {
        let [p, q, r] = [1009_u32, 10_007, 100_003].map(BigUint::from);
        let mut number = Factorisation::new(&(&p * &q * &r * 12_u32));
        assert_eq!((number.primes.len(), number.composites.len()), (2, 1));
        let job = Job::pm1(number.n.clone(), 3_u32.into());
        let mut take = |divisor: BigUint| {
            number.take(&job, &Verdict::Divisor { divisor, stage: Stage::First });
            (number.primes.len(), number.composites.clone())
        };
        assert_eq!(take(&p * &q), (2, vec![&p * &q, &r * 3_u32]));
        assert_eq!(take(&q * &r), (6, vec![]));
        assert_eq!(take(p.clone()), (6, vec![]));
        let product: BigUint = number.primes.iter().map(|find| &find.prime).product();
        assert_eq!(product, number.n);
        assert!(number.is_complete() && number.attempts == 3);
        // Nothing is known of 0 and 1, and nothing more can be.
        assert!([0_u32, 1].iter().all(|n| Factorisation::new(&(*n).into()).is_complete()));
    }
}
