//! Both stages of jobs with the same bounds: jobs become lanes, lanes go through the stages, and verdicts come out.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::cpu::{self, Instructions};
use super::curve::{Curve, NoCurve};
use super::exponent::Exponent;
use super::gpu::{self, Gpu};
use super::lane::{Ended, Lane, Line};
use super::meter::Meter;
use super::modular;
use super::pairing::Pairing;
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
        let mut verdicts = vec![Verdict::Unsuitable; jobs.len()];
        let mut parts: BTreeMap<(Line, u64, bool), Vec<(usize, Lane)>> = BTreeMap::new();
        let on_device = |job: &Job| self.engine.gpu(job.method.line(), job.n.bits()).is_some();
        let lanes: Vec<_> = jobs.par_iter().map(|job| lane(job, on_device(job))).collect();
        for (place, (job, lane)) in jobs.iter().zip(lanes).enumerate() {
            let line = job.method.line();
            match lane {
                Ok(lane) => parts.entry((line, job.done, on_device(job))).or_default().push((place, lane)),
                Err(verdict) => verdicts[place] = verdict,
            }
        }
        let (all, mut before) = (parts.values().map(Vec::len).sum::<usize>().max(1) as f64, 0.0);
        for ((line, done, on_device), lanes) in parts {
            let share = lanes.len() as f64 / all;
            let (instructions, bounds) = (self.instructions, self.bounds);
            let gpu = self.engine.gpu(line, 0).filter(|_| on_device);
            let part = Part { gpu, instructions, line, bounds, watch, from: before, to: before + share };
            let (places, lanes): (Vec<usize>, Vec<Lane>) = lanes.into_iter().unzip();
            let exponent = self.exponents.entry(done).or_insert_with(|| Exponent::new(done, bounds.b1));
            for (place, verdict) in places.into_iter().zip(part.run(&lanes, exponent, &self.pairing)?) {
                verdicts[place] = verdict;
            }
            before += share;
        }
        Ok(verdicts)
    }
}

/// The least bits of moduli that have a curve for each word.
const BITS_FOR_WORDS: u64 = 40;

/// The lane of a job; a verdict if there is none. On a device a word tells `d`.
fn lane(job: &Job, on_device: bool) -> Result<Lane, Verdict> {
    let (one, n) = (BigUint::from(1_u32), job.n.clone());
    if !n.bit(0) || n <= one {
        return Err(Verdict::Unsuitable);
    }
    let word = match &job.method {
        Method::Ecm(sigma) => sigma.word(),
        Method::Curve(_) | Method::Pm1 | Method::Pp1 => None,
    };
    if on_device && word.is_some() && job.start.is_none() && n.bits() >= BITS_FOR_WORDS {
        // d = σ/2³² is neither 0, 1 nor −1/8, since σ, 2³² − σ and 8σ + 2³² are below n; 2 is prime to n.
        return Ok(Lane { d: BigUint::ZERO, x: BigUint::from(2_u32), n, word });
    }
    let no_curve = |reason| match reason {
        NoCurve::Divisor(divisor) if divisor != n => Verdict::Divisor { divisor, stage: Stage::First },
        NoCurve::Divisor(_) | NoCurve::Singular => Verdict::NoGroup,
    };
    let start = job.start.as_ref().map(|start| start % &n);
    let curve = match &job.method {
        Method::Ecm(sigma) => Curve::of(sigma, &n).map_err(no_curve)?,
        Method::Curve(a) => {
            let quarter = modular::inverse(&(BigUint::from(4_u32) % &n), &n).map_err(|_| Verdict::NoGroup)?;
            let d = (a + 2_u32) * quarter % &n;
            if d <= one {
                return Err(Verdict::NoGroup);
            }
            Curve { d, x: BigUint::ZERO }
        }
        Method::Pm1 | Method::Pp1 => Curve { d: BigUint::ZERO, x: BigUint::ZERO },
    };
    let x = start.unwrap_or(curve.x);
    match modular::common_divisor(&x, &n) {
        divisor if divisor == one => Ok(Lane { d: curve.d, x, n, word }),
        divisor if divisor == n => Err(Verdict::NoGroup),
        divisor => Err(Verdict::Divisor { divisor, stage: Stage::First }),
    }
}

/// Lanes of one line that start at the same bound.
struct Part<'w> {
    /// None: the cores.
    gpu: Option<&'w Gpu>,
    instructions: Option<Instructions>,
    line: Line,
    bounds: Bounds,
    watch: &'w dyn Watch,
    /// The share of the work before and after this part.
    from: f64,
    to: f64,
}

impl Part<'_> {
    fn run(&self, lanes: &[Lane], exponent: &Exponent, pairing: &Pairing) -> Result<Vec<Verdict>> {
        let middle = if self.bounds.b2 > self.bounds.b1 { f64::midpoint(self.from, self.to) } else { self.to };
        let meter = Meter::new(self.watch, self.from, middle);
        let mut verdicts = self.first_stage(lanes, exponent, &meter)?;
        if self.bounds.b2 == self.bounds.b1 {
            return Ok(verdicts);
        }
        let left = |(place, verdict): (usize, &Verdict)| match verdict {
            Verdict::Nothing(residue) => {
                let Lane { d, n, word, .. } = &lanes[place];
                Some((place, Lane { d: d.clone(), x: residue.clone(), n: n.clone(), word: *word }))
            }
            _ => None,
        };
        let (places, left): (Vec<usize>, Vec<Lane>) = verdicts.par_iter().enumerate().filter_map(left).unzip();
        let meter = Meter::new(self.watch, middle, self.to);
        let divisors = self.second_stage(&left, pairing, &meter)?;
        for (place, (lane, divisor)) in places.into_iter().zip(left.iter().zip(divisors)) {
            if divisor == lane.n {
                verdicts[place] = Verdict::Whole(Stage::Second);
            } else if divisor != BigUint::from(1_u32) {
                verdicts[place] = Verdict::Divisor { divisor, stage: Stage::Second };
            }
        }
        Ok(verdicts)
    }

    /// The fastest instructions for some lanes.
    fn instructions(&self, lanes: &[Lane]) -> Instructions {
        let bits = lanes.iter().map(|lane| lane.n.bits() as usize).max().unwrap_or(1);
        self.instructions.unwrap_or_else(|| Instructions::available(bits)[0])
    }

    fn first_stage(&self, lanes: &[Lane], exponent: &Exponent, meter: &Meter<'_>) -> Result<Vec<Verdict>> {
        if let Some(gpu) = self.gpu {
            let ended = gpu.first_stage(lanes, exponent, meter)?;
            return Ok(lanes.par_iter().zip(ended).map(|(lane, ended)| after_device(lane, ended)).collect());
        }
        let ended = cpu::first_stage(self.instructions(lanes), self.line, lanes, exponent, meter)?;
        Ok(lanes.iter().zip(&ended).map(|(lane, ended)| self.after_first(lane, ended)).collect())
    }

    /// A divisor of each modulus, 1 if there is none.
    fn second_stage(&self, lanes: &[Lane], pairing: &Pairing, meter: &Meter<'_>) -> Result<Vec<BigUint>> {
        let Some(gpu) = self.gpu else {
            return cpu::second_stage(self.instructions(lanes), self.line, lanes, pairing, meter);
        };
        let mut divisors = gpu.second_stage(lanes, pairing, meter)?;
        // Where all primes were met at once, the cores look whether one of them was met alone.
        let whole: Vec<usize> = (0..lanes.len()).filter(|place| divisors[*place] == lanes[*place].n).collect();
        if !whole.is_empty() {
            let again: Vec<Lane> = whole.iter().map(|place| lanes[*place].with_d()).collect();
            let found = cpu::second_stage(self.instructions(&again), self.line, &again, pairing, meter)?;
            for (place, divisor) in whole.into_iter().zip(found) {
                divisors[place] = divisor;
            }
        }
        Ok(divisors)
    }

    /// The verdict after the first stage.
    fn after_first(&self, lane: &Lane, ended: &Ended) -> Verdict {
        let (n, one) = (&lane.n, BigUint::from(1_u32));
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

/// The verdict after the first stage on a device.
fn after_device(lane: &Lane, ended: gpu::Ended) -> Verdict {
    if !ended.consistent {
        return Verdict::Slipped;
    }
    match ended.divisor {
        divisor if divisor == BigUint::from(1_u32) => Verdict::Nothing(ended.residue),
        divisor if divisor == lane.n => Verdict::Whole(Stage::First),
        divisor => Verdict::Divisor { divisor, stage: Stage::First },
    }
}
