//! The units of a campaign, made one after the other.

use std::path::Path;
use std::time::Instant;

use num_bigint::BigUint;
use warpmp_campaign::{Aside, Lock, Restored};

use super::super::levels::{Effort, expected_curves};
use super::super::search::Factorisation;
use super::super::stages::Stages;
use super::super::{Bounds, Engine, Family, Job, Method, Sigma, Stage, Verdict};
use super::specification::{Certificate, Found, Made, Specification, Unit};
use super::{Campaign, Contents};
use crate::error::{Error, Result};
use crate::watch::{Share, Watch, check};

/// What all certificates tell together.
#[derive(Clone, Debug)]
pub struct Known {
    /// The integers.
    pub numbers: Vec<Factorisation>,
    /// Divisors.
    pub divisors: u64,
}

impl Known {
    /// The integers before any curve.
    fn new(specification: &Specification) -> Self {
        let numbers = specification.numbers().iter().map(Factorisation::new).collect();
        Self { numbers, divisors: 0 }
    }

    /// A certificate's divisors. Files are not trusted: what divides nothing changes nothing.
    fn take(&mut self, certificate: &Certificate) {
        for found in &certificate.made.found {
            let place = self.numbers.get_mut(found.number as usize);
            let (Some(number), Ok(sigma), Ok(divisor)) =
                (place, found.sigma.parse::<Sigma>(), found.divisor.parse::<BigUint>())
            else {
                continue;
            };
            let job = Job::ecm(number.n.clone(), sigma);
            number.take(&job, &Verdict::Divisor { divisor, stage: found.stage() });
            self.divisors += 1;
        }
    }

    /// Are all integers factored?
    pub fn is_complete(&self) -> bool {
        self.numbers.iter().all(Factorisation::is_complete)
    }
}

/// How far a campaign is.
#[derive(Clone, Debug)]
pub struct Status {
    /// Units that are done, and all units.
    pub units: [u64; 2],
    /// Attempts, and those whose check failed.
    pub attempts: u64,
    /// Attempts whose check failed.
    pub slips: u64,
    /// The curves that each integer has had.
    pub effort: Effort,
    /// Seconds of all units that are done.
    pub seconds: f64,
    /// What is known of the integers.
    pub known: Known,
}

impl Status {
    /// The status of a directory.
    pub fn new(specification: &Specification, contents: &Contents) -> Self {
        let mut known = Known::new(specification);
        contents.done.iter().for_each(|certificate| known.take(certificate));
        let sum = |of: &dyn Fn(&Made) -> u64| contents.done.iter().map(|it| of(&it.made)).sum();
        let all = warpmp_campaign::Work::units(specification) as u64;
        let units = [contents.done.len() as u64, all];
        let mut effort = Effort::default();
        let curves = (u128::from(specification.curves()) * u128::from(units[0]) / u128::from(all.max(1))) as u64;
        if let (Some(bounds), Some(sigma)) = (specification.bounds(), specification.sigma()) {
            effort.add(bounds, sigma.family(), curves);
        }
        let seconds = contents.done.iter().map(|it| it.made.seconds).sum();
        Self { units, attempts: sum(&|it| it.attempts), slips: sum(&|it| it.slips), effort, seconds, known }
    }

    /// The expected number of curves that find a factor of so many digits.
    pub fn expected(specification: &Specification, digits: u32) -> f64 {
        let bounds = specification.bounds().unwrap_or(Bounds { b1: 3, b2: 3 });
        let family = specification.sigma().map_or(Family::Suyama, |sigma| sigma.family());
        expected_curves(f64::from(digits), bounds, family)
    }

    /// Seconds that the missing units take, as fast as the ones before.
    pub fn seconds_left(&self) -> Option<f64> {
        let [done, all] = self.units;
        match done {
            _ if self.known.is_complete() => Some(0.0),
            0 => None,
            _ => Some(self.seconds / done as f64 * (all - done) as f64),
        }
    }
}

/// A directory in which this process works alone.
#[derive(Debug)]
pub struct Opened {
    campaign: Campaign,
    contents: Contents,
    lock: Lock,
}

impl Opened {
    /// Opens a directory for work on a campaign, and makes it if it is not there. Broken files are moved aside.
    ///
    /// # Errors
    /// [`Error::Campaign`].
    pub fn new(folder: &Path, specification: &Specification) -> Result<(Self, Vec<Aside>)> {
        let (campaign, lock) = Campaign::create(folder, specification)?;
        let contents = campaign.contents()?;
        let aside = campaign.clear(&contents, false)?;
        Ok((Self { campaign, contents, lock }, aside))
    }

    /// The process that worked here and was killed.
    pub fn stale(&self) -> Option<&str> {
        self.lock.stale()
    }

    /// How the specification was written again, if it was.
    pub fn restored(&self) -> Option<&Restored> {
        self.campaign.restored()
    }

    /// The status when the directory was opened.
    pub fn status(&self) -> Status {
        Status::new(self.campaign.specification(), &self.contents)
    }

    /// Makes the units that are missing and stores their certificates, until all integers are factored. `each` gets every attempt.
    ///
    /// # Errors
    /// [`Error::Stopped`]: the unit that was stopped does not count. [`Error::Campaign`].
    pub fn run(
        &self,
        engine: &Engine,
        watch: &dyn Watch,
        each: &mut dyn FnMut(Bounds, &Job, &Verdict),
    ) -> Result<Status> {
        let specification = self.campaign.specification();
        let mut status = self.status();
        let (Some(bounds), Some(first)) = (specification.bounds(), specification.sigma()) else { return Ok(status) };
        let mut stages = Stages::new(engine, bounds);
        let missing: Vec<Unit> = self.campaign.missing(&self.contents).collect();
        for (done, unit) in missing.iter().enumerate() {
            if status.known.is_complete() {
                break;
            }
            check(watch)?;
            let share = |units: usize| units as f64 / missing.len() as f64;
            let share = Share { watch, from: share(done), of: share(1) };
            let made = make(specification, *unit, &first, &status.known, &mut stages, &share)?;
            let (made, verdicts) = made;
            for (job, verdict) in &verdicts {
                each(bounds, job, verdict);
            }
            let certificate = specification.certificate(*unit, made);
            self.campaign.store(&certificate)?;
            status.known.take(&certificate);
            status.attempts += certificate.made.attempts;
            status.slips += certificate.made.slips;
            status.seconds += certificate.made.seconds;
            status.units[0] += 1;
        }
        watch.progress(1.0);
        let contents = self.campaign.contents()?;
        Ok(Status::new(specification, &contents))
    }
}

/// Makes a unit: its result, and each job with its verdict.
fn make(
    specification: &Specification,
    unit: Unit,
    first: &Sigma,
    known: &Known,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<(Made, Vec<(Job, Verdict)>)> {
    let begin = Instant::now();
    let places = specification.places(&unit);
    let divisors = known.numbers[places.clone()].iter().map(|it| (it.primes.len() + it.composites.len()) as u64).sum();
    let mut jobs = Vec::new();
    let mut owners = Vec::new();
    for place in places {
        for composite in &known.numbers[place].composites {
            for curve in unit.curve..unit.curve + specification.unit_curves() {
                let sigma = first.after(curve).unwrap_or_else(|_| first.clone());
                jobs.push(Job::ecm(composite.clone(), sigma));
                owners.push(place as u64);
            }
        }
    }
    let verdicts = stages.run(&jobs, watch)?;
    let mut made = Made { known: divisors, attempts: jobs.len() as u64, slips: 0, found: Vec::new(), seconds: 0.0 };
    for ((job, number), verdict) in jobs.iter().zip(owners).zip(&verdicts) {
        match (verdict, &job.method) {
            (Verdict::Divisor { divisor, stage }, Method::Ecm(sigma)) => made.found.push(Found {
                number,
                divisor: divisor.to_string(),
                sigma: sigma.to_string(),
                stage: if *stage == Stage::First { 1 } else { 2 },
            }),
            (Verdict::Slipped, _) => made.slips += 1,
            _ => {}
        }
    }
    made.seconds = begin.elapsed().as_secs_f64();
    Ok((made, jobs.into_iter().zip(verdicts).collect()))
}

impl From<warpmp_campaign::Error> for Error {
    fn from(error: warpmp_campaign::Error) -> Self {
        Self::Campaign(Box::new(error))
    }
}
