//! Jobs as a run reads them: place by place, when their lanes are needed.
//!
//! A device computes tens of millions of short curves a second, so the host has some hundred cycles of a core for each. Memory for a lane that is
//! written once and read twice takes more. Hence nothing is kept of a job that a device can begin at once: its lane is read from the job
//! when a chunk is filled, and again if the curve finds something.

use std::borrow::Cow;

use num_bigint::BigUint;

use super::curve::{Family, Sigma};
use super::gpu::Kind;
use super::lane::{Lane, Line, Parameter, TWO};
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

    /// How the job is run on an engine that has devices, or has none.
    fn way(&self, place: usize, has_devices: bool) -> Way;
}

impl Jobs for [Job] {
    fn count(&self) -> usize {
        self.len()
    }

    fn view(&self, place: usize) -> View<'_> {
        let Job { n, method, start, done: _ } = &self[place];
        View { n, method: Cow::Borrowed(method), start: start.as_ref().map(Cow::Borrowed) }
    }

    fn way(&self, place: usize, has_devices: bool) -> Way {
        let Job { n, method, start, done } = &self[place];
        Way::of(n, method, start.is_some(), *done, has_devices)
    }
}

/// The least bits of moduli for which a device computes a curve from its parameter.
const BITS_FOR_PARAMETERS: u64 = 40;

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
        match Start::of(n, &sigma)? {
            Start::Word(word) => Some(Lane { n, parameter: Parameter::Word(word), x: Cow::Owned(TWO.into()) }),
            Start::Suyama => Some(Lane { n, parameter: Parameter::Suyama(sigma), x: Cow::Owned(BigUint::ZERO) }),
        }
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
        if !n.bit(0) || n.bits() < BITS_FOR_PARAMETERS {
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
