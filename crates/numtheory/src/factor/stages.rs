//! Both stages of jobs with the same bounds: jobs become lanes, lanes go through the stages, and verdicts come out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::cpu::{self, Instructions};
use super::curve::{Curve, no_group};
use super::exponent::Exponent;
use super::gpu::{Cards, End, Kind, Source};
use super::jobs::{Jobs, View, Way};
use super::lane::{Ended, Lane, Line};
use super::meter::Meter;
use super::modular;
use super::pairing::Pairing;
use super::places::{Run, runs_by};
use super::{Bounds, Engine, Method, Stage, Verdict};
use crate::error::Result;
use crate::watch::Watch;

/// What all jobs with the same bounds have in common.
pub(super) struct Stages {
    bounds: Bounds,
    /// The first stage's exponents, by the bound up to which it was done before.
    exponents: BTreeMap<u64, Exponent>,
    pairing: Pairing,
    engine: Engine,
    /// None: the fastest ones.
    pub(super) instructions: Option<Instructions>,
}

impl Stages {
    pub(super) fn new(engine: &Engine, bounds: Bounds) -> Self {
        let pairing = Pairing::new(bounds.b1, bounds.b2);
        Self { bounds, exponents: BTreeMap::new(), pairing, engine: engine.clone(), instructions: None }
    }

    /// A verdict for each job.
    pub(super) fn run(&mut self, jobs: &(impl Jobs + ?Sized), watch: &dyn Watch) -> Result<Vec<Verdict>> {
        let mut verdicts: Vec<Verdict> = (0..jobs.count()).into_par_iter().map(|_| Verdict::Slipped).collect();
        for (place, verdict) in self.sort(jobs, Some(&mut verdicts), watch)? {
            verdicts[place] = verdict;
        }
        Ok(verdicts)
    }

    /// The verdicts other than [`Verdict::Nothing`], each with the place of its job, rising. Residues stay on the device.
    pub(super) fn finds(&mut self, jobs: &(impl Jobs + ?Sized), watch: &dyn Watch) -> Result<Vec<Placed>> {
        self.sort(jobs, None, watch)
    }

    /// Writes each verdict that is [`Verdict::Nothing`] to its place, if verdicts are wanted, and gives the others back, their places rising.
    fn sort(
        &mut self,
        jobs: &(impl Jobs + ?Sized),
        mut verdicts: Option<&mut [Verdict]>,
        watch: &dyn Watch,
    ) -> Result<Vec<Placed>> {
        let engine = self.engine.clone();
        let has_devices = engine.device().is_some();
        let runs = jobs.ways(has_devices);
        let count = |line: Line| -> usize {
            runs.iter().filter(|(_, way)| way.line() == line).map(|(places, _)| places.len()).sum()
        };
        let counts = [Line::Curve, Line::Power, Line::Lucas].map(|line| (line, count(line)));
        let cards = |line: Line| {
            let count = counts.iter().find(|(it, _)| *it == line).map_or(0, |(_, count)| *count);
            engine.cards(line, 0, count)
        };
        let mut read: BTreeMap<u64, Vec<Run<Kind>>> = BTreeMap::new();
        let mut made: BTreeMap<(Line, u64, bool), Vec<Range<usize>>> = BTreeMap::new();
        for (places, way) in runs {
            match way {
                Way::Read { done, kind } => read.entry(done).or_default().push((places, kind)),
                Way::Made { done, line, fits } => {
                    let on_devices = fits && cards(line).is_some();
                    made.entry((line, done, on_devices)).or_default().push(places);
                }
            }
        }
        let all = jobs.count().max(1) as f64;
        let (mut before, mut finds) = (0.0, Vec::new());
        let (instructions, bounds) = (self.instructions, self.bounds);
        let mut part = |line: Line, lanes: usize| {
            let from = before;
            before += lanes as f64 / all;
            Part { instructions, line, bounds, watch, from, to: before }
        };
        for (done, runs) in read {
            let Some(cards) = cards(Line::Curve) else { continue };
            let part = part(Line::Curve, runs.iter().map(|(places, _)| places.len()).sum());
            let exponent = self.exponents.entry(done).or_insert_with(|| Exponent::new(done, bounds.b1));
            let lane = |place: usize| match jobs.lane(place) {
                Some(lane) => lane,
                None => unreachable!("the job's lane has been read before"),
            };
            let verdicts = verdicts.as_deref_mut();
            finds.extend(part.on_devices(cards, Source { runs, lane: &lane }, exponent, &self.pairing, verdicts)?);
        }
        for ((line, done, on_devices), runs) in made {
            let cards = cards(line).filter(|_| on_devices);
            let places: Vec<usize> = runs.into_iter().flatten().collect();
            let part = part(line, places.len());
            let exponent = self.exponents.entry(done).or_insert_with(|| Exponent::new(done, bounds.b1));
            let lane = |place: &usize| made_lane(jobs.view(*place));
            let lanes: Vec<Result<Lane<'_>, Verdict>> = places.par_iter().map(lane).collect();
            let good: Vec<&Lane<'_>> = lanes.iter().filter_map(|lane| lane.as_ref().ok()).collect();
            let mut of_part = part.run(cards, &good, exponent, &self.pairing)?.into_iter();
            for (place, lane) in places.into_iter().zip(lanes) {
                let verdict = match lane {
                    Ok(_) => of_part.next().unwrap_or(Verdict::Slipped),
                    Err(verdict) => verdict,
                };
                match (&mut verdicts, verdict) {
                    (Some(verdicts), verdict @ Verdict::Nothing(_)) => verdicts[place] = verdict,
                    (None, Verdict::Nothing(_)) => {}
                    (_, verdict) => finds.push((place, verdict)),
                }
            }
        }
        finds.par_sort_unstable_by_key(|(place, _)| *place);
        Ok(finds)
    }
}

/// The lane of a job; a verdict if there is none.
fn made_lane(job: View<'_>) -> Result<Lane<'_>, Verdict> {
    let n = job.n;
    if !n.bit(0) || n.bits() < 2 {
        return Err(Verdict::Unsuitable);
    }
    let one = BigUint::from(1_u32);
    let start = job.start.map(|start| &*start % n);
    let curve = match &*job.method {
        Method::Ecm(sigma) => Curve::of(sigma, n).map_err(|reason| no_group(reason, n))?,
        Method::Curve(a) => {
            let quarter = modular::inverse(&(BigUint::from(4_u32) % n), n).map_err(|_| Verdict::NoGroup)?;
            let d = (a + 2_u32) * quarter % n;
            if d <= one {
                return Err(Verdict::NoGroup);
            }
            Curve { d, x: BigUint::ZERO }
        }
        Method::Pm1 | Method::Pp1 => Curve { d: BigUint::ZERO, x: BigUint::ZERO },
    };
    let x = start.unwrap_or(curve.x);
    match modular::common_divisor(&x, n) {
        divisor if divisor == one => Ok(Lane::new(n, curve.d, Cow::Owned(x))),
        divisor if divisor == *n => Err(Verdict::NoGroup),
        divisor => Err(Verdict::Divisor { divisor, stage: Stage::First }),
    }
}

/// A verdict other than [`Verdict::Nothing`], with the place of its job.
pub(super) type Placed = (usize, Verdict);

/// Lanes of one line that start at the same bound.
struct Part<'w> {
    instructions: Option<Instructions>,
    line: Line,
    bounds: Bounds,
    watch: &'w dyn Watch,
    /// The share of the work before and after this part.
    from: f64,
    to: f64,
}

impl Part<'_> {
    /// The verdicts of lanes that are made: on devices, or on the cores.
    fn run(
        &self,
        cards: Option<&Cards>,
        lanes: &[&Lane<'_>],
        exponent: &Exponent,
        pairing: &Pairing,
    ) -> Result<Vec<Verdict>> {
        let Some(cards) = cards else { return self.on_cores(lanes, exponent, pairing) };
        let runs = runs_by(lanes.len(), |place| Kind::of(lanes[place], self.line));
        let lane = |place: usize| lanes[place].borrowed();
        let mut verdicts = vec![Verdict::Slipped; lanes.len()];
        let finds = self.on_devices(cards, Source { runs, lane: &lane }, exponent, pairing, Some(&mut verdicts))?;
        for (place, verdict) in finds {
            verdicts[place] = verdict;
        }
        Ok(verdicts)
    }

    fn on_cores(&self, lanes: &[&Lane<'_>], exponent: &Exponent, pairing: &Pairing) -> Result<Vec<Verdict>> {
        let has_second = self.bounds.b2 > self.bounds.b1;
        let middle = if has_second { f64::midpoint(self.from, self.to) } else { self.to };
        let meter = Meter::new(self.watch, self.from, middle);
        let ended = cpu::first_stage(self.instructions(lanes), self.line, lanes, exponent, &meter)?;
        let mut verdicts: Vec<Verdict> =
            lanes.iter().zip(&ended).map(|(lane, ended)| self.after_first(lane, ended)).collect();
        if !has_second {
            return Ok(verdicts);
        }
        let residue = |(place, verdict): (usize, &Verdict)| match verdict {
            Verdict::Nothing(residue) => Some((place, residue.clone())),
            _ => None,
        };
        let left: Vec<(usize, BigUint)> = verdicts.iter().enumerate().filter_map(residue).collect();
        let meter = Meter::new(self.watch, middle, self.to);
        let after: Vec<Lane<'_>> = left.iter().map(|(place, residue)| lanes[*place].after(residue)).collect();
        for ((place, _), verdict) in left.iter().zip(self.second_stage(&after, pairing, &meter)?) {
            if let Some(verdict) = verdict {
                verdicts[*place] = verdict;
            }
        }
        Ok(verdicts)
    }

    fn on_devices(
        &self,
        cards: &Cards,
        source: Source<'_, '_>,
        exponent: &Exponent,
        pairing: &Pairing,
        verdicts: Option<&mut [Verdict]>,
    ) -> Result<Vec<Placed>> {
        let meter = Meter::new(self.watch, self.from, self.to);
        let lane = source.lane;
        let ends = cards.run(self.line, source, exponent, pairing, &meter, verdicts)?;
        let (mut finds, mut open) = (Vec::new(), Vec::new());
        for (place, end) in ends {
            match end {
                End::Done(verdict) => finds.push((place, verdict)),
                // Where all primes were met at once, the cores look whether one of them was met alone.
                End::AllAtOnce(residue) => open.push((place, lane(place), residue)),
            }
        }
        if !open.is_empty() {
            let meter = Meter::new(self.watch, self.to, self.to);
            let after: Vec<Lane<'_>> = open.iter().map(|(_, lane, residue)| lane.after(residue)).collect();
            let found = self.second_stage(&after, pairing, &meter)?;
            // The cores must find what the device has found.
            let verdict = |verdict: Option<Verdict>| verdict.unwrap_or(Verdict::Slipped);
            finds.extend(open.iter().map(|(place, ..)| *place).zip(found.into_iter().map(verdict)));
        }
        Ok(finds)
    }

    /// The second stage of lanes on the cores: a verdict where it finds something.
    fn second_stage(&self, lanes: &[Lane<'_>], pairing: &Pairing, meter: &Meter<'_>) -> Result<Vec<Option<Verdict>>> {
        let lanes: Vec<&Lane<'_>> = lanes.iter().collect();
        let found = cpu::second_stage(self.instructions(&lanes), self.line, &lanes, pairing, meter)?;
        let verdict = |(lane, divisor): (&&Lane<'_>, BigUint)| match divisor {
            divisor if divisor == *lane.n => Some(Verdict::Whole(Stage::Second)),
            divisor if divisor == BigUint::from(1_u32) => None,
            divisor => Some(Verdict::Divisor { divisor, stage: Stage::Second }),
        };
        Ok(lanes.iter().zip(found).map(verdict).collect())
    }

    /// The fastest instructions for some lanes.
    fn instructions(&self, lanes: &[&Lane<'_>]) -> Instructions {
        let bits = lanes.iter().map(|lane| lane.n.bits() as usize).max().unwrap_or(1);
        self.instructions.unwrap_or_else(|| Instructions::available(bits)[0])
    }

    /// The verdict after the first stage.
    fn after_first(&self, lane: &Lane<'_>, ended: &Ended) -> Verdict {
        let (n, one) = (lane.n, BigUint::from(1_u32));
        if !ended.consistent {
            return Verdict::Slipped;
        }
        // What is zero modulo a prime where the start has become the neutral element.
        let (vanishing, residue) = match self.line {
            Line::Curve => match modular::inverse(&ended.z, n) {
                Ok(inverse) => return Verdict::Nothing(&ended.x * inverse % n),
                Err(divisor) => (divisor, one.clone()),
            },
            Line::Power => ((n + &ended.x - 1_u32) % n, ended.x.clone()),
            Line::Lucas => ((n + &ended.x - 2_u32) % n, ended.x.clone()),
        };
        match modular::common_divisor(&vanishing, n) {
            divisor if divisor == one => Verdict::Nothing(residue),
            divisor if divisor == *n => Verdict::Whole(Stage::First),
            divisor => Verdict::Divisor { divisor, stage: Stage::First },
        }
    }
}
