//! Both stages of a chunk, one after the other: its numbers stay on the device.

use num_bigint::BigUint;

use super::Gpu;
use super::chunk::Chunk;
use super::first::fault;
use super::kernels::{Job, mark};
use super::lanes::{Places, Read};
use super::second::Slots;
use crate::error::Result;
use crate::factor::exponent::Exponent;
use crate::factor::lane::Line;
use crate::factor::meter::Meter;
use crate::factor::pairing::{Counts, Pairing};
use crate::factor::{Stage, Verdict};

/// Both stages on a line.
pub(super) struct Task<'t> {
    line: Line,
    exponent: Vec<u32>,
    bits: u32,
    /// None: no second stage.
    pairing: Option<&'t Pairing>,
    /// Products of a lane.
    pub(super) products: f64,
    /// The share of the first stage.
    first: f64,
}

/// The end of a lane.
#[derive(Clone, Debug)]
pub(in crate::factor) enum End {
    /// Its verdict.
    Done(Verdict),
    /// The second stage, from this residue of the first one, has met all primes of the modulus at once.
    AllAtOnce(BigUint),
}

impl<'t> Task<'t> {
    pub(super) fn new(line: Line, exponent: &Exponent, pairing: &'t Pairing) -> Self {
        let Counts { passed, giants, pairs, .. } = pairing.counts();
        // Products of a bit, and of a point.
        let (bit, point) = match line {
            Line::Curve => (8.0, 10.0),
            Line::Lucas => (2.0, 1.0),
            Line::Power => (1.5, 1.0),
        };
        let [first, second] = [bit * exponent.bits() as f64, point * (passed + giants) + pairs];
        Self {
            line,
            exponent: exponent.words(),
            bits: exponent.bits() as u32,
            pairing: Some(pairing).filter(|pairing| pairing.sections() > 0),
            products: first + second,
            first: first / (first + second).max(1.0),
        }
    }

    /// The points of a lane in memory.
    pub(super) fn slots(&self) -> u32 {
        self.pairing.map_or(0, |pairing| Slots::of(self.line, pairing).all())
    }

    /// The kernels of the first stage, and of the second one.
    pub(super) fn jobs(&self) -> [&'static [Job]; 2] {
        [Job::first(self.line), if self.pairing.is_some() { Job::second(self.line) } else { &[] }]
    }
}

impl Gpu {
    /// Both stages of a chunk: the ends of lanes that found something, with their places. `each` gets the share of the chunk's work that is done.
    pub(super) fn run(
        &self,
        task: &Task<'_>,
        lane: Read<'_, '_>,
        places: &mut Places<'_>,
        meter: &Meter<'_>,
        each: &dyn Fn(f64) -> Result<()>,
    ) -> Result<Vec<(usize, End)>> {
        let mut chunk = Chunk::new(self, places, lane, task.slots())?;
        let share = |left: u32| task.first * (1.0 - f64::from(left) / f64::from(task.bits.max(1)));
        chunk.ladder((&task.exponent, task.bits), |left| each(share(left)))?;
        chunk.close()?;
        if let Some(pairing) = task.pairing {
            chunk.second_stage(pairing, meter, |sections| {
                each(task.first + (1.0 - task.first) * sections as f64 / pairing.sections() as f64)
            })?;
        }
        each(1.0)?;
        if places.want_verdicts() {
            let residues = chunk.numbers(&chunk.residue)?;
            places.write_verdicts(&residues, chunk.class.limbs as usize);
        }
        Found::new(&chunk)?.ends(&chunk, places, lane)
    }
}

/// The lanes of a chunk that found something, as rising numbers, by their ends.
struct Found {
    faults: Vec<usize>,
    slips: Vec<usize>,
    first: Vec<usize>,
    second: Vec<usize>,
}

impl Found {
    fn new(chunk: &Chunk<'_>) -> Result<Self> {
        let [mut faults, mut slips, mut first, mut second] = [(); 4].map(|()| Vec::new());
        for (number, mark) in chunk.marks()?.iter().enumerate() {
            match *mark {
                mark::NOTHING => {}
                mark::FAULT => faults.push(number),
                mark::FIRST => first.push(number),
                mark::SECOND => second.push(number),
                // Another word than these is a mistake of the device, too.
                _ => slips.push(number),
            }
        }
        Ok(Self { faults, slips, first, second })
    }

    fn ends(&self, chunk: &Chunk<'_>, places: &Places<'_>, lane: Read<'_, '_>) -> Result<Vec<(usize, End)>> {
        let mut ends = Vec::new();
        for place in places.places(&self.faults) {
            ends.push((place, End::Done(fault(&lane(place)))));
        }
        ends.extend(places.places(&self.slips).into_iter().map(|place| (place, End::Done(Verdict::Slipped))));
        let divisors = chunk.divisors(Stage::First, &self.first)?;
        for (place, divisor) in places.places(&self.first).into_iter().zip(divisors) {
            let verdict = match divisor {
                divisor if divisor == *lane(place).n => Verdict::Whole(Stage::First),
                divisor => Verdict::Divisor { divisor, stage: Stage::First },
            };
            ends.push((place, End::Done(verdict)));
        }
        let divisors = chunk.divisors(Stage::Second, &self.second)?;
        let mut whole = Vec::new();
        for ((number, place), divisor) in self.second.iter().zip(places.places(&self.second)).zip(divisors) {
            if divisor == *lane(place).n {
                whole.push(*number);
            } else {
                ends.push((place, End::Done(Verdict::Divisor { divisor, stage: Stage::Second })));
            }
        }
        let residues = chunk.residues_of(&whole)?.into_iter().map(End::AllAtOnce);
        ends.extend(places.places(&whole).into_iter().zip(residues));
        Ok(ends)
    }
}
