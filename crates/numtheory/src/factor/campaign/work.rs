//! The units of a campaign, made one after the other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_campaign::{Aside, Claimed, Error as FolderError, Lock, Mode, Restored, Stored};

use super::super::jobs::{Jobs as _, Part, Tries};
use super::super::levels::{Effort, expected_curves};
use super::super::meter::Meter;
use super::super::search::{Attempts, Factorisation};
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
}

impl Known {
    /// The integers before any curve, in parallel: roots and primality of a long integer take their time.
    fn new(specification: &Specification, watch: &dyn Watch) -> Result<Self> {
        let numbers = specification.numbers();
        let meter = Meter::new(watch, 0.0, 1.0);
        let number = |n: &BigUint| {
            meter.check()?;
            let number = Factorisation::new(n);
            meter.step(1, numbers.len() as u64);
            Ok(number)
        };
        Ok(Self { numbers: numbers.par_iter().map(number).collect::<Result<_>>()? })
    }

    /// Divisors of a certificate. Files are not trusted: a number that divides nothing changes nothing.
    fn take(&mut self, found: &[Found]) {
        for found in found {
            let place = self.numbers.get_mut(found.number as usize);
            let (Some(number), Ok(sigma), Ok(divisor)) =
                (place, found.sigma.parse::<Sigma>(), found.divisor.parse::<BigUint>())
            else {
                continue;
            };
            let job = Job::ecm(number.n.clone(), sigma);
            number.take(&job, &Verdict::Divisor { divisor, stage: found.stage() });
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
    /// Units that are done, and all units. A unit with an attempt whose check failed is not done.
    pub units: [u64; 2],
    /// Attempts.
    pub attempts: u64,
    /// Attempts whose check failed, and that were not made again.
    pub slips: u64,
    /// Seconds of all units that are done.
    pub seconds: f64,
    /// What is known of the integers.
    pub known: Known,
    /// Second certificates of a unit with another result. One of both is wrong.
    pub disputed: Vec<PathBuf>,
}

impl Status {
    /// The status of a directory. The watch sees the integers pass that are looked at.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn new(specification: &Specification, contents: &Contents, watch: &dyn Watch) -> Result<Self> {
        let known = Known::new(specification, watch)?;
        let units = [0, warpmp_campaign::Work::units(specification) as u64];
        let disputed = contents.disputed.clone();
        let mut status = Self { units, attempts: 0, slips: 0, seconds: 0.0, known, disputed };
        for certificate in &contents.done {
            status.count(&certificate.made);
            status.known.take(&certificate.made.found);
        }
        Ok(status)
    }

    /// A certificate more.
    fn count(&mut self, made: &Made) {
        self.units[0] += u64::from(made.slips == 0);
        self.attempts += made.attempts;
        self.slips += made.slips;
        self.seconds += made.seconds;
    }

    /// The curves that each integer has had.
    pub fn effort(&self, specification: &Specification) -> Effort {
        let [done, all] = self.units.map(u128::from);
        let curves = (u128::from(specification.curves()) * done / all.max(1)) as u64;
        let mut effort = Effort::default();
        if let (Some(bounds), Some(sigma)) = (specification.bounds(), specification.sigma()) {
            effort.add(bounds, sigma.family(), curves);
        }
        effort
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

/// A unit to make, its certificate if it is made again, and the claim where processes share the directory.
type Task<'a> = (Unit, Option<&'a Certificate>, Option<Claimed<Unit>>);

/// A directory in which this process works.
#[derive(Debug)]
pub struct Opened {
    pub(super) campaign: Campaign,
    pub(super) contents: Contents,
    mode: Mode,
    lock: Lock,
}

impl Opened {
    /// Opens a directory for work on a campaign, and makes it if it is not there. Broken files are moved aside, unless processes share
    /// the directory.
    ///
    /// # Errors
    /// [`Error::Campaign`].
    pub fn new(folder: &Path, specification: &Specification, mode: Mode) -> Result<(Self, Vec<Aside>)> {
        let (campaign, lock) = Campaign::enter(folder, specification, mode)?;
        let contents = campaign.contents()?;
        let aside = if mode.is_shared { Vec::new() } else { campaign.clear(&contents, false)? };
        Ok((Self { campaign, contents, mode, lock }, aside))
    }

    /// Do other processes work in the directory, too?
    pub const fn is_shared(&self) -> bool {
        self.mode.is_shared
    }

    /// Files with the name of a unit that are not trusted. Where processes share the directory, they are in the way of their units.
    pub fn damaged(&self) -> &[(PathBuf, warpmp_campaign::Damage)] {
        &self.contents.damaged
    }

    /// The process that worked here and was killed.
    pub fn stale(&self) -> Option<&str> {
        self.lock.stale()
    }

    /// How the specification was written again, if it was.
    pub fn restored(&self) -> Option<&Restored> {
        self.campaign.restored()
    }

    /// The specification before this one, which has more curves; none if the directory had the same one.
    pub fn extended(&self) -> Option<&Specification> {
        self.campaign.extended()
    }

    /// The units that are made again, since the check of an attempt failed.
    pub fn slipped(&self) -> usize {
        self.contents.done.iter().filter(|certificate| certificate.made.slips > 0).count()
    }

    /// The status when the directory was opened. The watch sees the integers pass that are looked at.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn status(&self, watch: &dyn Watch) -> Result<Status> {
        Status::new(self.campaign.specification(), &self.contents, watch)
    }

    /// Makes the units that are missing and those with a slip, and stores their certificates, until all integers are factored. `status`
    /// is the status when the directory was opened. `each` gets every attempt with another verdict than
    /// [`Verdict::Nothing`].
    ///
    /// Where processes share the directory, the units are those that this one claims, units with a slip are left alone, and divisors of
    /// the other processes count from the next unit on.
    ///
    /// # Errors
    /// [`Error::Stopped`]: the unit that was stopped does not count. [`Error::Campaign`].
    pub fn run(
        &self,
        mut status: Status,
        engine: &Engine,
        watch: &dyn Watch,
        each: &mut dyn FnMut(Bounds, &Job, &Verdict),
    ) -> Result<Status> {
        let specification = self.campaign.specification();
        let (Some(bounds), Some(first)) = (specification.bounds(), specification.sigma()) else { return Ok(status) };
        let mut stages = Stages::new(engine, bounds);
        let again = self.contents.done.iter().filter(|it| it.made.slips > 0 && !self.mode.is_shared);
        let again: Vec<&Certificate> = again.collect();
        let mut known: BTreeSet<Unit> = self.contents.done.iter().map(|it| it.unit).collect();
        let all = again.len() + self.campaign.missing(&self.contents, self.mode.part).count();
        let go_on = || watch.go_on();
        let units = self.campaign.units(&self.contents, self.mode, &go_on)?;
        let again = again.into_iter().map(|it| Ok((it.unit, Some(it), None)));
        let units = units.map(|claimed| claimed.map(|it| (it.unit, None, Some(it))));
        let mut done = 0;
        for task in again.chain(units) {
            let (unit, before, _claim): Task<'_> = task.map_err(|error: FolderError| Error::from(error))?;
            if self.mode.is_shared {
                for certificate in self.campaign.news(&known)? {
                    known.insert(certificate.unit);
                    status.count(&certificate.made);
                    status.known.take(&certificate.made.found);
                    done += 1;
                }
            }
            if status.known.is_complete() {
                break;
            }
            check(watch)?;
            let share = |done: usize| done as f64 / all.max(1) as f64;
            let share = Share { watch, from: share(done.min(all.saturating_sub(1))), of: share(1) };
            let (mut made, verdicts) = make(specification, unit, &first, &status.known, &mut stages, &share)?;
            made.device = name_of(engine);
            for (job, verdict) in &verdicts {
                each(bounds, job, verdict);
            }
            done += 1;
            known.insert(unit);
            status.count(&made);
            status.known.take(&made.found);
            match before {
                None => match self.campaign.store(&specification.certificate(unit, made))? {
                    Stored::New | Stored::Again => {}
                    Stored::Differs(path) => status.disputed.push(path),
                },
                Some(before) => {
                    status.slips -= before.made.slips;
                    let certificate = specification.joined(before, made);
                    warpmp_campaign::store::<Specification>(&self.campaign.path(&unit), &certificate)?;
                }
            }
        }
        // A process that waits for the units of others stops there, too.
        if self.mode.is_shared && !status.known.is_complete() {
            for certificate in self.campaign.news(&known)? {
                status.count(&certificate.made);
                status.known.take(&certificate.made.found);
            }
            check(watch)?;
        }
        watch.progress(1.0);
        Ok(status)
    }
}

/// The engine, for certificates: its GPUs, or `cpu`.
fn name_of(engine: &Engine) -> String {
    let names: Vec<String> = engine.devices().map(|device| device.info().to_string()).collect();
    if names.is_empty() { "cpu".into() } else { names.join("; ") }
}

/// Makes a unit: its result, and each job that found something with its verdict.
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
    let numbers = unit.curve..unit.curve + specification.unit_curves();
    let attempts = Attempts::CurvesFrom { first: first.clone(), count: numbers.end };
    let part = |(place, composites)| Part { place, composites, numbers: numbers.clone() };
    // Each composite has all curves of the unit.
    let composites =
        places.flat_map(|place| known.numbers[place].composites.chunks(1).map(move |composite| (place, composite)));
    let tries = Tries::new(&attempts, composites.map(part).collect());
    let finds = stages.finds(&tries, watch)?;
    let mut made = Made {
        known: divisors,
        attempts: tries.count() as u64,
        slips: 0,
        found: Vec::new(),
        seconds: 0.0,
        device: String::new(),
        host: warpmp_campaign::host(),
        at: 0,
    };
    let mut told = Vec::new();
    for (place, verdict) in finds {
        let (number, job) = tries.job(place);
        match (&verdict, &job.method) {
            (Verdict::Divisor { divisor, stage }, Method::Ecm(sigma)) => made.found.push(Found {
                number: number as u64,
                divisor: divisor.to_string(),
                sigma: sigma.to_string(),
                stage: if *stage == Stage::First { 1 } else { 2 },
            }),
            (Verdict::Slipped, _) => made.slips += 1,
            _ => {}
        }
        told.push((job, verdict));
    }
    made.seconds = begin.elapsed().as_secs_f64();
    made.at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    Ok((made, told))
}

impl From<warpmp_campaign::Error> for Error {
    fn from(error: warpmp_campaign::Error) -> Self {
        Self::Campaign(Box::new(error))
    }
}
