//! Both stages of jobs with the same bounds: jobs become lanes, lanes go through the stages, and verdicts come out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::cpu::{self, Instructions};
use super::curve::{Curve, Family, no_group};
use super::exponent::Exponent;
use super::gpu::Cards;
use super::lane::{Ended, Lane, Line, Parameter, TWO};
use super::meter::Meter;
use super::modular;
use super::pairing::Pairing;
use super::places::{in_order, places_by};
use super::{Bounds, Engine, Job, Method, Stage, Verdict};
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

    pub(super) fn run(&mut self, jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Verdict>> {
        let on_device = |job: &Job| self.engine.cards(job.method.line(), job.n.bits()).is_some();
        let lanes: Vec<Result<Lane<'_>, Verdict>> = jobs.par_iter().map(|job| lane(job, on_device(job))).collect();
        let part = |(job, lane): (&Job, &Result<Lane<'_>, Verdict>)| {
            lane.is_ok().then(|| (job.method.line(), job.done, on_device(job)))
        };
        let parts: Vec<Option<(Line, u64, bool)>> = jobs.par_iter().zip(&lanes).map(part).collect();
        let parts = places_by(&parts);
        let (all, mut before) = (parts.values().map(Vec::len).sum::<usize>().max(1) as f64, 0.0);
        let mut verdicts = Vec::new();
        for (part, places) in parts {
            let share = places.len() as f64 / all;
            let (from, to) = (before, before + share);
            before = to;
            let Some((line, done, on_device)) = part else {
                let refused = places.iter().filter_map(|place| lanes[*place].as_ref().err().cloned());
                verdicts.push((places.clone(), refused.collect()));
                continue;
            };
            let (instructions, bounds) = (self.instructions, self.bounds);
            let cards = self.engine.cards(line, 0).filter(|_| on_device);
            let exponent = self.exponents.entry(done).or_insert_with(|| Exponent::new(done, bounds.b1));
            let part = Part { cards, instructions, line, bounds, watch, from, to };
            let of_part: Vec<&Lane<'_>> = places.par_iter().filter_map(|place| lanes[*place].as_ref().ok()).collect();
            let of_part = part.run(&of_part, exponent, &self.pairing)?;
            verdicts.push((places, of_part));
        }
        lanes.into_par_iter().for_each(drop);
        Ok(in_order(verdicts))
    }
}

/// The least bits of moduli for which a device computes a curve from its parameter.
const BITS_FOR_PARAMETERS: u64 = 40;

/// The lane of a job; a verdict if there is none. On a device a parameter may tell the curve.
fn lane(job: &Job, on_device: bool) -> Result<Lane<'_>, Verdict> {
    let n = &job.n;
    if !n.bit(0) || n.bits() < 2 {
        return Err(Verdict::Unsuitable);
    }
    if let Method::Ecm(sigma) = &job.method
        && on_device
        && n.bits() >= BITS_FOR_PARAMETERS
    {
        match (sigma.family(), sigma.word()) {
            // d = σ/2³² is neither 0, 1 nor −1/8, since σ, 2³² − σ and 8σ + 2³² are below n; 2 is prime to n.
            (_, Some(word)) if job.start.is_none() => {
                return Ok(Lane { n, parameter: Parameter::Word(word), x: Cow::Borrowed(&TWO) });
            }
            // The device says so if the parameter gives no curve.
            (Family::Suyama, _) if job.start.is_none() => {
                return Ok(Lane { n, parameter: Parameter::Suyama(sigma), x: Cow::Owned(BigUint::ZERO) });
            }
            _ => {}
        }
    }
    let one = BigUint::from(1_u32);
    let start = job.start.as_ref().map(|start| start % n);
    let curve = match &job.method {
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

/// Lanes of one line that start at the same bound.
struct Part<'w> {
    /// None: the cores.
    cards: Option<&'w Cards>,
    instructions: Option<Instructions>,
    line: Line,
    bounds: Bounds,
    watch: &'w dyn Watch,
    /// The share of the work before and after this part.
    from: f64,
    to: f64,
}

impl Part<'_> {
    fn run(&self, lanes: &[&Lane<'_>], exponent: &Exponent, pairing: &Pairing) -> Result<Vec<Verdict>> {
        let middle = if self.bounds.b2 > self.bounds.b1 { f64::midpoint(self.from, self.to) } else { self.to };
        let meter = Meter::new(self.watch, self.from, middle);
        let mut verdicts = self.first_stage(lanes, exponent, &meter)?;
        if self.bounds.b2 == self.bounds.b1 {
            return Ok(verdicts);
        }
        let places: Vec<usize> =
            (0..lanes.len()).into_par_iter().filter(|place| matches!(verdicts[*place], Verdict::Nothing(_))).collect();
        let left = places.par_iter().filter_map(|place| match &verdicts[*place] {
            Verdict::Nothing(residue) => Some(lanes[*place].after(residue)),
            _ => None,
        });
        let left: Vec<Lane<'_>> = left.collect();
        let meter = Meter::new(self.watch, middle, self.to);
        let left: Vec<&Lane<'_>> = left.par_iter().collect();
        let divisors = self.second_stage(&left, pairing, &meter)?;
        let finds = divisors.into_par_iter().enumerate().filter_map(|(place, divisor)| Some((place, divisor?)));
        let find = |(place, divisor): (usize, BigUint)| {
            let is_whole = divisor == *left[place].n;
            let verdict = Verdict::Divisor { divisor, stage: Stage::Second };
            (places[place], if is_whole { Verdict::Whole(Stage::Second) } else { verdict })
        };
        let finds: Vec<(usize, Verdict)> = finds.map(find).collect();
        for (place, verdict) in finds {
            verdicts[place] = verdict;
        }
        Ok(verdicts)
    }

    /// The fastest instructions for some lanes.
    fn instructions(&self, lanes: &[&Lane<'_>]) -> Instructions {
        let bits = lanes.iter().map(|lane| lane.n.bits() as usize).max().unwrap_or(1);
        self.instructions.unwrap_or_else(|| Instructions::available(bits)[0])
    }

    fn first_stage(&self, lanes: &[&Lane<'_>], exponent: &Exponent, meter: &Meter<'_>) -> Result<Vec<Verdict>> {
        if let Some(cards) = self.cards {
            return cards.first_stage(lanes, exponent, meter);
        }
        let ended = cpu::first_stage(self.instructions(lanes), self.line, lanes, exponent, meter)?;
        Ok(lanes.iter().zip(&ended).map(|(lane, ended)| self.after_first(lane, ended)).collect())
    }

    /// A divisor of each modulus; none if it is 1.
    fn second_stage(&self, lanes: &[&Lane<'_>], pairing: &Pairing, meter: &Meter<'_>) -> Result<Vec<Option<BigUint>>> {
        let on_cores = |lanes: &[&Lane<'_>]| -> Result<Vec<Option<BigUint>>> {
            let found = cpu::second_stage(self.instructions(lanes), self.line, lanes, pairing, meter)?;
            Ok(found.into_iter().map(|divisor| Some(divisor).filter(|it| *it != BigUint::from(1_u32))).collect())
        };
        let Some(cards) = self.cards else { return on_cores(lanes) };
        let mut divisors = cards.second_stage(lanes, pairing, meter)?;
        // Where all primes were met at once, the cores look whether one of them was met alone.
        let is_whole = |place: &usize| divisors[*place].as_ref().is_some_and(|divisor| divisor == lanes[*place].n);
        let whole: Vec<usize> = (0..lanes.len()).into_par_iter().filter(is_whole).collect();
        if !whole.is_empty() {
            let again: Vec<&Lane<'_>> = whole.iter().map(|place| lanes[*place]).collect();
            for (place, divisor) in whole.into_iter().zip(on_cores(&again)?) {
                divisors[place] = divisor;
            }
        }
        Ok(divisors)
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
