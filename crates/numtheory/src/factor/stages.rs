//! Both stages of jobs with the same bounds: jobs become lanes, lanes go through the stages, and verdicts come out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::cpu::{self, Instructions};
use super::curve::{Curve, Family, no_group};
use super::exponent::Exponent;
use super::gpu::{Cards, End};
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
        let count = |line: Line| jobs.par_iter().filter(|job| job.method.line() == line).count();
        let counts = [Line::Curve, Line::Power, Line::Lucas].map(|line| (line, count(line)));
        let count = |line: Line| counts.iter().find(|(it, _)| *it == line).map_or(0, |(_, count)| *count);
        let on_device = |job: &Job| {
            let line = job.method.line();
            self.engine.cards(line, job.n.bits(), count(line)).is_some()
        };
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
            let cards = self.engine.cards(line, 0, count(line)).filter(|_| on_device);
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
        if let Some(cards) = self.cards {
            return self.on_devices(cards, lanes, exponent, pairing);
        }
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
        self.second_stage(lanes, &left, pairing, &meter, &mut verdicts)?;
        Ok(verdicts)
    }

    fn on_devices(
        &self,
        cards: &Cards,
        lanes: &[&Lane<'_>],
        exponent: &Exponent,
        pairing: &Pairing,
    ) -> Result<Vec<Verdict>> {
        let meter = Meter::new(self.watch, self.from, self.to);
        let ends = cards.run(self.line, lanes, exponent, pairing, &meter)?;
        // Where all primes were met at once, the cores look whether one of them was met alone.
        let is_open = |(place, end): (usize, &End)| match end {
            End::AllAtOnce(residue) => Some((place, residue.clone())),
            End::Done(_) => None,
        };
        let open: Vec<(usize, BigUint)> = ends.par_iter().enumerate().filter_map(is_open).collect();
        let verdict = |end| match end {
            End::Done(verdict) => verdict,
            // Unless the cores find what the device has found.
            End::AllAtOnce(_) => Verdict::Slipped,
        };
        let mut verdicts: Vec<Verdict> = ends.into_par_iter().map(verdict).collect();
        if !open.is_empty() {
            let meter = Meter::new(self.watch, self.to, self.to);
            self.second_stage(lanes, &open, pairing, &meter, &mut verdicts)?;
        }
        Ok(verdicts)
    }

    /// The second stage of some lanes on the cores, from these residues.
    fn second_stage(
        &self,
        lanes: &[&Lane<'_>],
        left: &[(usize, BigUint)],
        pairing: &Pairing,
        meter: &Meter<'_>,
        verdicts: &mut [Verdict],
    ) -> Result<()> {
        let after: Vec<Lane<'_>> = left.iter().map(|(place, residue)| lanes[*place].after(residue)).collect();
        let after: Vec<&Lane<'_>> = after.iter().collect();
        let found = cpu::second_stage(self.instructions(&after), self.line, &after, pairing, meter)?;
        for ((place, _), divisor) in left.iter().zip(found) {
            if divisor == *lanes[*place].n {
                verdicts[*place] = Verdict::Whole(Stage::Second);
            } else if divisor != BigUint::from(1_u32) {
                verdicts[*place] = Verdict::Divisor { divisor, stage: Stage::Second };
            }
        }
        Ok(())
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
