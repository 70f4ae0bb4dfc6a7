//! Many attempts on many integers: until each integer is factored or its attempts are used up.

use num_bigint::BigUint;
use rand::Rng as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::modular::common_divisor;
use super::{Bounds, Job, Method, Sigma, SigmaError, Stage, Verdict, run};
use crate::error::Result;
use crate::primality::is_bpsw_prime;
use crate::watch::{Watch, check};

/// Jobs of each thread that run together.
const JOBS_OF_A_THREAD: usize = 16;

/// The attempts on each integer.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The bounds of both stages.
    pub bounds: Bounds,
    /// The attempts.
    pub attempts: Attempts,
    /// Is an integer done after its first divisor?
    pub one: bool,
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
    /// P−1 once.
    Pm1 {
        /// The base.
        base: BigUint,
    },
    /// P+1 from each of these starts.
    Pp1 {
        /// The starts.
        starts: Vec<BigUint>,
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

    /// The number of attempts.
    pub fn count(&self) -> u64 {
        match self {
            Self::CurvesFrom { count, .. } | Self::Curves { count, .. } => *count,
            Self::Pm1 { .. } => 1,
            Self::Pp1 { starts } => starts.len() as u64,
        }
    }

    /// An attempt on an integer.
    fn job(&self, n: &BigUint, number: u64) -> Job {
        match self {
            Self::CurvesFrom { first, .. } => {
                // The last one was tried when the attempts were made.
                let sigma = first.after(number).unwrap_or_else(|_| first.clone());
                Job::ecm(n.clone(), sigma)
            }
            Self::Curves { seed, .. } => {
                let own = n % u64::MAX;
                let own = own.iter_u64_digits().next().unwrap_or(0);
                let mut random = ChaCha8Rng::seed_from_u64(seed.rotate_left(32) ^ own);
                random.set_stream(number);
                Job::ecm(n.clone(), Sigma::suyama(random.next_u64() >> 1))
            }
            Self::Pm1 { base } => Job::pm1(n.clone(), base.clone()),
            Self::Pp1 { starts } => Job::pp1(n.clone(), starts[number as usize].clone()),
        }
    }
}

/// A factor and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// The factor.
    pub factor: BigUint,
    /// Is it prime, by the test of Baillie and Wagstaff?
    pub is_prime: bool,
    /// The job that found it; none for factors that are seen without a job: 2, and roots of powers.
    pub by: Option<(Method, Stage)>,
}

/// What is known of an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factorisation {
    /// The integer.
    pub n: BigUint,
    /// The factors that were found, each as often as it divides.
    pub finds: Vec<Find>,
    /// The integer over these factors.
    pub rest: BigUint,
    /// Is the rest prime?
    pub rest_is_prime: bool,
    /// Attempts that were made.
    pub attempts: u64,
    /// Attempts whose check failed: the processor made a mistake.
    pub slips: u64,
}

impl Factorisation {
    /// The integer, and the factors that are seen without a search.
    fn new(n: &BigUint) -> Self {
        let mut new =
            Self { n: n.clone(), finds: Vec::new(), rest: n.clone(), rest_is_prime: false, attempts: 0, slips: 0 };
        if *n > BigUint::from(1_u32) {
            let two = BigUint::from(2_u32);
            if !n.bit(0) && *n != two {
                new.divide(&two, None);
            }
            new.take_root();
        }
        new
    }

    /// Are all factors prime?
    pub fn is_complete(&self) -> bool {
        self.finds.iter().all(|find| find.is_prime) && (self.rest_is_prime || self.rest == BigUint::from(1_u32))
    }

    /// Divides the rest by a divisor as often as it goes.
    fn divide(&mut self, divisor: &BigUint, by: Option<&(Method, Stage)>) {
        let is_prime = is_bpsw_prime(divisor);
        while &self.rest % divisor == BigUint::ZERO && self.rest != *divisor {
            self.rest /= divisor;
            self.finds.push(Find { factor: divisor.clone(), is_prime, by: by.cloned() });
        }
        self.rest_is_prime = is_bpsw_prime(&self.rest);
    }

    /// A rest that is a power gives its root.
    fn take_root(&mut self) {
        self.rest_is_prime = is_bpsw_prime(&self.rest);
        if self.rest_is_prime {
            return;
        }
        let exponents = (2..=self.rest.bits() as u32).filter(|k| (2..*k).all(|divisor| !k.is_multiple_of(divisor)));
        for exponent in exponents {
            let root = self.rest.nth_root(exponent);
            if root.pow(exponent) == self.rest && root > BigUint::from(1_u32) {
                self.divide(&root, None);
                return;
            }
        }
    }

    /// A job's verdict.
    fn take(&mut self, job: &Job, verdict: &Verdict) {
        self.attempts += 1;
        match verdict {
            Verdict::Divisor { divisor, stage } => {
                // Another job may have found a part of it.
                let divisor = common_divisor(divisor, &self.rest);
                if divisor != BigUint::from(1_u32) && divisor != self.rest {
                    self.divide(&divisor, Some(&(job.method.clone(), *stage)));
                }
            }
            Verdict::Slipped => self.slips += 1,
            Verdict::Whole(_) | Verdict::Nothing(_) | Verdict::NoGroup | Verdict::Unsuitable => {}
        }
    }
}

/// Looks for factors of integers. `each` gets every job with the number of its integer and its verdict, in their order.
///
/// An integer with a divisor goes on with what is left of it, until that is prime or all attempts are made.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub fn search(
    numbers: &[BigUint],
    plan: &Plan,
    watch: &dyn Watch,
    each: &mut dyn FnMut(usize, &Job, &Verdict),
) -> Result<Vec<Factorisation>> {
    let mut all: Vec<Factorisation> = numbers.iter().map(Factorisation::new).collect();
    let mut next = vec![0; all.len()];
    let count = plan.attempts.count();
    let together = JOBS_OF_A_THREAD * rayon::current_num_threads();
    let total = (count * all.len() as u64).max(1) as f64;
    loop {
        check(watch)?;
        let goes_on = |it: &Factorisation| {
            it.rest > BigUint::from(2_u32)
                && !it.rest_is_prime
                && !(plan.one && it.finds.iter().any(|find| find.by.is_some()))
        };
        let active: Vec<usize> = (0..all.len()).filter(|i| next[*i] < count && goes_on(&all[*i])).collect();
        if active.is_empty() {
            watch.progress(1.0);
            return Ok(all);
        }
        let own = (together / active.len()).max(1) as u64;
        let mut jobs = Vec::new();
        for &place in active.iter().take(together) {
            let numbers = next[place]..count.min(next[place] + own);
            next[place] = numbers.end;
            jobs.extend(numbers.map(|number| (place, plan.attempts.job(&all[place].rest, number))));
        }
        let before = total_done(&all, &next, count) - jobs.len() as f64;
        let part = Share { watch, from: before.max(0.0) / total, of: jobs.len() as f64 / total };
        let (places, jobs): (Vec<usize>, Vec<Job>) = jobs.into_iter().unzip();
        let verdicts = run(&jobs, plan.bounds, &part)?;
        for (place, (job, verdict)) in places.iter().zip(jobs.iter().zip(&verdicts)) {
            all[*place].take(job, verdict);
            each(*place, job, verdict);
        }
    }
}

/// Attempts that are done or not needed any more.
fn total_done(all: &[Factorisation], next: &[u64], count: u64) -> f64 {
    all.iter().zip(next).map(|(it, next)| if it.rest_is_prime { count } else { *next }).sum::<u64>() as f64
}

/// The part of the progress that some jobs are.
struct Share<'w> {
    watch: &'w dyn Watch,
    from: f64,
    of: f64,
}

impl Watch for Share<'_> {
    fn go_on(&self) -> bool {
        self.watch.go_on()
    }

    fn progress(&self, share: f64) {
        self.watch.progress(self.from + share * self.of);
    }
}
