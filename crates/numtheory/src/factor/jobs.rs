//! Jobs as a run reads them: place by place, when their lanes are needed.
//!
//! A device computes tens of millions of short curves a second, so the host has some hundred cycles of a core for each. Memory for a lane that is
//! written once and read twice takes more. Hence nothing is kept of a job that a device can begin at once: its lane is read from the job
//! when a chunk is filled, and again if the curve finds something.

use std::borrow::Cow;
use std::ops::Range;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::curve::{Family, Sigma};
use super::draw::Draw;
use super::gpu::Kind;
use super::lane::{Lane, Line, Parameter};
use super::places::{PIECE, Run, joined, push, runs_by};
use super::search::Attempts;
use super::{Engine, Job, Method};

/// A job, or all that is known of one.
pub(super) struct View<'j> {
    pub(super) n: &'j BigUint,
    pub(super) method: Cow<'j, Method>,
    pub(super) start: Option<Cow<'j, BigUint>>,
}

/// Jobs of a run.
pub(super) trait Jobs: Sync {
    fn count(&self) -> usize;

    fn view(&self, place: usize) -> View<'_>;

    /// The lane of a job that is [read](Way::Read); none of others.
    fn lane(&self, place: usize) -> Option<Lane<'_>> {
        self.view(place).lane()
    }

    /// How the jobs are run on an engine that has devices, or has none.
    fn ways(&self, has_devices: bool) -> Vec<Run<Way>>;
}

impl Jobs for [Job] {
    fn count(&self) -> usize {
        self.len()
    }

    fn view(&self, place: usize) -> View<'_> {
        let Job { n, method, start, done: _ } = &self[place];
        View { n, method: Cow::Borrowed(method), start: start.as_ref().map(Cow::Borrowed) }
    }

    fn ways(&self, has_devices: bool) -> Vec<Run<Way>> {
        runs_by(self.len(), |place| {
            let Job { n, method, start, done } = &self[place];
            Way::of(n, method, start.is_some(), *done, has_devices)
        })
    }
}

/// Attempts on integers: an integer and the numbers of its attempts.
pub(super) struct Part<'t> {
    /// The integer's place among all.
    pub(super) place: usize,
    /// Its composite factors, at least one: they take turns.
    pub(super) composites: &'t [BigUint],
    pub(super) numbers: Range<u64>,
}

/// Attempts as jobs that nobody has written: of curves on one integer there is nothing to read but their number.
pub(super) struct Tries<'t> {
    attempts: &'t Attempts,
    parts: Vec<Part<'t>>,
    /// The jobs before each part, and of all.
    before: Vec<usize>,
    /// The jobs of each part, if all have as many.
    each: Option<usize>,
    /// For curves by a seed, the parameters of each composite of each part.
    draws: Option<Vec<Vec<Draw>>>,
}

impl<'t> Tries<'t> {
    pub(super) fn new(attempts: &'t Attempts, parts: Vec<Part<'t>>) -> Self {
        let mut before = vec![0];
        let length = |part: &Part<'_>| (part.numbers.end - part.numbers.start) as usize;
        for part in &parts {
            before.push(before[before.len() - 1] + length(part));
        }
        let first = parts.first().map_or(1, length).max(1);
        let each = parts.iter().all(|part| length(part) == first).then_some(first);
        let draws = match attempts {
            Attempts::Curves { seed, .. } => {
                let draws = |part: &Part<'_>| part.composites.iter().map(|n| Draw::new(*seed, n)).collect();
                Some(parts.par_iter().map(draws).collect())
            }
            Attempts::CurvesFrom { .. } | Attempts::Pm1 { .. } | Attempts::Pp1 { .. } => None,
        };
        Self { attempts, parts, before, each, draws }
    }

    /// A job's part, the number of its modulus there, and the number of the attempt.
    fn attempt(&self, place: usize) -> (usize, usize, u64) {
        let part = match self.each {
            Some(each) => place / each,
            None => self.before.partition_point(|before| *before <= place) - 1,
        };
        let Part { composites, numbers, .. } = &self.parts[part];
        let offset = place - self.before[part];
        (part, if composites.len() == 1 { 0 } else { offset % composites.len() }, numbers.start + offset as u64)
    }

    /// A job, and the place of its integer.
    pub(super) fn job(&self, place: usize) -> (usize, Job) {
        let (part, composite, number) = self.attempt(place);
        let part = &self.parts[part];
        (part.place, self.attempts.job(&part.composites[composite], number))
    }

    /// Jobs of each integer, by its place.
    pub(super) fn counts(&self) -> Vec<(usize, u64)> {
        self.parts.iter().map(|part| (part.place, part.numbers.end - part.numbers.start)).collect()
    }
}

impl Jobs for Tries<'_> {
    fn count(&self) -> usize {
        self.before[self.parts.len()]
    }

    fn view(&self, place: usize) -> View<'_> {
        let (part, composite, number) = self.attempt(place);
        let n = &self.parts[part].composites[composite];
        let (method, start) = self.attempts.method(n, number);
        View { n, method: Cow::Owned(method), start: start.map(Cow::Owned) }
    }

    fn lane(&self, place: usize) -> Option<Lane<'_>> {
        let (part, composite, number) = self.attempt(place);
        let n = &self.parts[part].composites[composite];
        // A view takes longer than the row that is written from it. Of words, nothing but the word differs from curve to curve.
        if let Attempts::CurvesFrom { first, .. } = self.attempts
            && let Some(first) = first.word()
        {
            let word = u32::try_from(number).ok().and_then(|number| first.checked_add(number));
            return begins_on_device(n).then(|| Lane::of_word(n, word.unwrap_or(first)));
        }
        let sigma = match &self.draws {
            Some(draws) => draws[part][composite].sigma(number),
            None => self.attempts.sigma(n, number)?,
        };
        Start::of(n, &sigma).map(|start| start.lane(n, Cow::Owned(sigma)))
    }

    fn ways(&self, has_devices: bool) -> Vec<Run<Way>> {
        let (method, has_start) = self.attempts.example();
        let of_piece = |(parts, before): (&[Part<'_>], &[usize])| {
            let mut runs = Vec::new();
            for (part, before) in parts.iter().zip(before) {
                let way = |n: &BigUint| Way::of(n, &method, has_start, 1, has_devices);
                let end = before + (part.numbers.end - part.numbers.start) as usize;
                let mut ways = part.composites.iter().map(way);
                if let Some(first) = ways.next()
                    && ways.all(|way| way == first)
                {
                    push(&mut runs, (*before..end, first));
                    continue;
                }
                for (place, n) in (*before..end).zip(part.composites.iter().cycle()) {
                    push(&mut runs, (place..place + 1, way(n)));
                }
            }
            runs
        };
        let before = self.before[..self.parts.len()].par_chunks(PIECE);
        joined(self.parts.par_chunks(PIECE).zip(before).map(of_piece).collect())
    }
}

/// The least bits of moduli for which a device computes a curve from its parameter.
const BITS_FOR_PARAMETERS: u64 = 40;

/// May a device compute curves modulo this integer from their parameters?
fn begins_on_device(n: &BigUint) -> bool {
    n.bit(0) && n.bits() >= BITS_FOR_PARAMETERS
}

impl<'j> View<'j> {
    /// The lane of a curve whose parameter is all that a device needs; none for other jobs.
    pub(super) fn lane(self) -> Option<Lane<'j>> {
        let Self { n, method, start } = self;
        if start.is_some() {
            return None;
        }
        let sigma = match method {
            Cow::Borrowed(Method::Ecm(sigma)) => Cow::Borrowed(sigma),
            Cow::Owned(Method::Ecm(sigma)) => Cow::Owned(sigma),
            Cow::Borrowed(Method::Curve(_) | Method::Pm1 | Method::Pp1)
            | Cow::Owned(Method::Curve(_) | Method::Pm1 | Method::Pp1) => return None,
        };
        Start::of(n, &sigma).map(|start| start.lane(n, sigma))
    }
}

/// Where a device begins a curve.
enum Start {
    Word(u32),
    Suyama,
}

impl Start {
    /// None: the host makes the curve.
    fn of(n: &BigUint, sigma: &Sigma) -> Option<Self> {
        if !begins_on_device(n) {
            return None;
        }
        match sigma.family() {
            // d = σ/2³² is neither 0, 1 nor −1/8, since σ, 2³² − σ and 8σ + 2³² are below n; 2 is prime to n.
            Family::Word => sigma.word().map(Self::Word),
            // The device says so if the parameter gives no curve.
            Family::Suyama => Some(Self::Suyama),
            Family::SquareWord => None,
        }
    }

    fn lane<'j>(self, n: &'j BigUint, sigma: Cow<'j, Sigma>) -> Lane<'j> {
        match self {
            Self::Word(word) => Lane::of_word(n, word),
            Self::Suyama => Lane { n, parameter: Parameter::Suyama(sigma), x: Cow::Owned(BigUint::ZERO) },
        }
    }
}

/// How a job is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// On devices, its lane [read](View::lane) from it.
    Read { done: u64, kind: Kind },
    /// From a lane that is made before: on the cores, or on devices that take so long integers.
    Made { done: u64, line: Line, fits: bool },
}

impl Way {
    /// The way of a job, without its lane: this is asked of every job.
    pub(super) fn of(n: &BigUint, method: &Method, has_start: bool, done: u64, has_devices: bool) -> Self {
        let (line, bits) = (method.line(), n.bits());
        let fits = bits <= Engine::MOST_DEVICE_BITS;
        let start = match method {
            Method::Ecm(sigma) if has_devices && fits && !has_start => Start::of(n, sigma),
            Method::Ecm(_) | Method::Curve(_) | Method::Pm1 | Method::Pp1 => None,
        };
        match start {
            Some(Start::Word(_)) => Self::Read { done, kind: Kind::of_word(bits) },
            Some(Start::Suyama) => Self::Read { done, kind: Kind::of_suyama(bits) },
            None => Self::Made { done, line, fits },
        }
    }

    pub(super) const fn line(self) -> Line {
        match self {
            Self::Read { .. } => Line::Curve,
            Self::Made { line, .. } => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts are in the order of integers and numbers, and their composites take turns, whether integers have equal numbers of attempts or not.
    #[test]
    fn attempts_without_jobs() {
        let words = Sigma::new(Family::Word, u32::MAX.into()).map(|first| Attempts::CurvesFrom { first, count: 100 });
        let suyama = Attempts::CurvesFrom { first: Sigma::suyama(1000), count: 100 };
        for attempts in words.into_iter().chain([suyama, Attempts::Curves { seed: 3, count: 100 }, Attempts::pm1()]) {
            check(&attempts);
        }
    }

    fn check(attempts: &Attempts) {
        // The host makes the curves of short integers.
        let composites = [3_u32, 15, 9].map(BigUint::from);
        let [short, long, longest] = [1, 50, 600].map(|bits| BigUint::from(2_u32).pow(bits) + 1_u32);
        let composites = [composites.to_vec(), vec![long.clone()], vec![short, long, longest]];
        for ends in [[7, 7, 7], [1, 1, 1], [8, 1, 5], [0, 3, 3]] {
            let part = |(place, end): (usize, u64)| Part { place, composites: &composites[place], numbers: 4..4 + end };
            let tries = Tries::new(attempts, ends.into_iter().enumerate().map(part).collect());
            let expected = ends.into_iter().enumerate().flat_map(|(part, end)| {
                (4..4 + end).zip((0..composites[part].len()).cycle()).map(move |(number, n)| (part, n, number))
            });
            assert!((0..tries.count()).map(|place| tries.attempt(place)).eq(expected), "{ends:?}");
            assert!(tries.counts().into_iter().eq(ends.into_iter().enumerate()));
            let jobs: Vec<Job> = (0..tries.count()).map(|place| tries.job(place).1).collect();
            for has_devices in [false, true] {
                assert_eq!(tries.ways(has_devices), jobs.ways(has_devices), "{ends:?}");
            }
            let same = |(place, job): (usize, &Job)| {
                let View { n, method, start } = tries.view(place);
                *n == job.n && *method == job.method && start.as_deref() == job.start.as_ref()
            };
            assert!(jobs.iter().enumerate().all(same));
            let lane = |lane: Option<Lane<'_>>| lane.map(|lane| format!("{lane:?}"));
            assert!((0..tries.count()).all(|place| lane(tries.lane(place)) == lane(jobs.lane(place))), "{ends:?}");
        }
    }
}
