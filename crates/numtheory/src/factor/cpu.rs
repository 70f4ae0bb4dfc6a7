//! Both stages on the processor's cores: groups of lanes in vectors, or a lane at a time in words.

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_simd::{Avx2, Fma, Ifma, Simd, ring as lazy};

use super::exponent::Exponent;
use super::first;
use super::lane::{Ended, Lane, Line};
use super::meter::Meter;
use super::pairing::{Pairing, Section};
use super::ring::{Arithmetic, Words};
use super::second::Walk;
use crate::error::Result;

/// Lanes that one ring computes.
pub(super) struct Group<'l> {
    /// The places of the lanes; the last one is repeated where there are too few.
    pub(super) places: Vec<usize>,
    pub(super) lanes: Vec<&'l Lane<'l>>,
}

impl Group<'_> {
    /// Bits of the longest modulus.
    fn bits(&self) -> usize {
        self.lanes.iter().map(|lane| lane.n.bits() as usize).max().unwrap_or(1)
    }

    /// The ring of the group.
    pub(super) fn ring<A: Arithmetic>(&self, arithmetic: A) -> A::Ring {
        let bits = self.bits();
        let radix = BigUint::from(1_u32) << (2 * arithmetic.radix_bits(bits));
        let moduli = self.rows(|lane| lane.n.clone());
        let squares = self.rows(|lane| &radix % lane.n);
        arithmetic.ring(bits, &views(&moduli), &views(&squares))
    }

    /// A number of each lane as limbs.
    pub(super) fn rows(&self, number: impl Fn(&Lane<'_>) -> BigUint) -> Vec<Vec<u32>> {
        self.lanes.iter().map(|lane| number(lane).to_u32_digits()).collect()
    }
}

/// Rows as slices.
pub(super) fn views(rows: &[Vec<u32>]) -> Vec<&[u32]> {
    rows.iter().map(Vec::as_slice).collect()
}

/// The instructions that a stage is computed with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instructions {
    Ifma(Ifma),
    Fma(Fma),
    Avx2(Avx2),
    Words,
}

impl Instructions {
    /// The instructions that this processor has for moduli of so many bits, the fastest first.
    pub(super) fn available(bits: usize) -> Vec<Self> {
        let ifma = Ifma::detect().filter(|_| bits <= lazy::Ring::<Ifma>::MOST_BITS).map(Self::Ifma);
        let fma = Fma::detect().filter(|_| bits <= lazy::Ring::<Fma>::MOST_BITS).map(Self::Fma);
        let avx2 = Avx2::detect().filter(|_| bits <= lazy::Ring::<Avx2>::MOST_BITS).map(Self::Avx2);
        ifma.into_iter().chain(fma).chain(avx2).chain([Self::Words]).collect()
    }

    /// Their name, and the lanes of a vector.
    pub(super) fn describe(self) -> (&'static str, usize) {
        match self {
            Self::Ifma(s) => ("AVX-512 IFMA", Arithmetic::lanes(s)),
            Self::Fma(s) => ("AVX2 and FMA", Arithmetic::lanes(s)),
            Self::Avx2(s) => ("AVX2", Arithmetic::lanes(s)),
            Self::Words => ("words", Arithmetic::lanes(Words)),
        }
    }
}

/// Work that is written for any arithmetic.
trait Work {
    type Output;

    fn with<A: Arithmetic>(self, arithmetic: A) -> Result<Vec<Self::Output>>;
}

impl Instructions {
    fn run<W: Work>(self, work: W) -> Result<Vec<W::Output>> {
        match self {
            Self::Ifma(s) => work.with(s),
            Self::Fma(s) => work.with(s),
            Self::Avx2(s) => work.with(s),
            Self::Words => work.with(Words),
        }
    }
}

/// The first stage: `x` becomes its multiple (or power) by the exponent.
pub(super) fn first_stage(
    instructions: Instructions,
    line: Line,
    lanes: &[&Lane<'_>],
    exponent: &Exponent,
    meter: &Meter<'_>,
) -> Result<Vec<Ended>> {
    instructions.run(First { line, lanes, exponent, meter })
}

struct First<'w> {
    line: Line,
    lanes: &'w [&'w Lane<'w>],
    exponent: &'w Exponent,
    meter: &'w Meter<'w>,
}

impl Work for First<'_> {
    type Output = Ended;

    fn with<A: Arithmetic>(self, arithmetic: A) -> Result<Vec<Ended>> {
        let Self { line, lanes, exponent, meter } = self;
        let groups = groups(arithmetic, lanes);
        let total = (groups.len() * exponent.bits().max(1)) as u64;
        let stage = |group| first::run(arithmetic, line, group, exponent, &|bits| meter.step(bits, total));
        let ended: Vec<Vec<Ended>> = groups.par_iter().map(stage).collect();
        meter.check()?;
        Ok(in_order(&groups, ended, lanes.len()))
    }
}

/// The second stage: a divisor of each modulus, 1 if there is none. `x` is the residue of the first stage.
pub(super) fn second_stage(
    instructions: Instructions,
    line: Line,
    lanes: &[&Lane<'_>],
    pairing: &Pairing,
    meter: &Meter<'_>,
) -> Result<Vec<BigUint>> {
    instructions.run(Second { line, lanes, pairing, meter })
}

struct Second<'w> {
    line: Line,
    lanes: &'w [&'w Lane<'w>],
    pairing: &'w Pairing,
    meter: &'w Meter<'w>,
}

impl Work for Second<'_> {
    type Output = BigUint;

    fn with<A: Arithmetic>(self, arithmetic: A) -> Result<Vec<BigUint>> {
        let Self { line, lanes, pairing, meter } = self;
        let groups = groups(arithmetic, lanes);
        let mut walks: Vec<Walk<A::Ring>> =
            groups.par_iter().map(|group| Walk::new(group.ring(arithmetic), line, group, pairing)).collect();
        let sections = pairing.sections();
        let mut section = pairing.section(0);
        for number in 0..sections {
            // The next section's pairs are made beside the products of this one.
            let next = || if number + 1 < sections { pairing.section(number + 1) } else { Section::default() };
            let steps = || {
                walks.par_iter_mut().for_each(|walk| {
                    if meter.goes_on() {
                        walk.section(&section);
                        meter.step(1, sections * groups.len() as u64);
                    }
                });
            };
            let (made, ()) = rayon::join(next, steps);
            meter.check()?;
            section = made;
        }
        Ok(in_order(&groups, walks.into_iter().map(Walk::divisors).collect(), lanes.len()))
    }
}

/// The results of the groups in the order of the lanes.
fn in_order<T>(groups: &[Group<'_>], results: Vec<Vec<T>>, lanes: usize) -> Vec<T> {
    let mut all: Vec<Option<T>> = (0..lanes).map(|_| None).collect();
    for (group, results) in groups.iter().zip(results) {
        for (place, result) in group.places.iter().zip(results) {
            all[*place] = Some(result);
        }
    }
    all.into_iter().flatten().collect()
}

/// The lanes in groups; lanes of one group have moduli of nearly the same length.
fn groups<'l, A: Arithmetic>(arithmetic: A, lanes: &[&'l Lane<'l>]) -> Vec<Group<'l>> {
    let mut places: Vec<usize> = (0..lanes.len()).collect();
    places.sort_by_key(|place| lanes[*place].n.bits());
    let group = |places: &[usize]| {
        let mut places = places.to_vec();
        places.resize(arithmetic.lanes(), places[places.len() - 1]);
        Group { lanes: places.iter().map(|place| lanes[*place]).collect(), places }
    };
    places.chunks(arithmetic.lanes()).map(group).collect()
}
