//! Both stages of a chunk, one after the other: its numbers stay on the device.

use num_bigint::BigUint;
use rayon::prelude::*;

use super::Gpu;
use super::cards::Places;
use super::chunk::{Chunk, PIECE, is_one};
use super::first::fault;
use super::kernels::Job;
use super::second::Slots;
use crate::error::Result;
use crate::factor::exponent::Exponent;
use crate::factor::lane::{Lane, Line};
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
    /// Both stages of a chunk. `each` gets the share of the chunk's work that is done.
    pub(super) fn run(
        &self,
        task: &Task<'_>,
        lanes: &[&Lane<'_>],
        places: &Places,
        meter: &Meter<'_>,
        each: &dyn Fn(f64) -> Result<()>,
    ) -> Result<Vec<End>> {
        let mut chunk = Chunk::new(self, places, lanes, task.slots())?;
        let share = |left: u32| task.first * (1.0 - f64::from(left) / f64::from(task.bits.max(1)));
        chunk.ladder((&task.exponent, task.bits), |left| each(share(left)))?;
        let ends = chunk.ends()?;
        let found = match task.pairing {
            Some(pairing) => chunk.second_stage(pairing, meter, |sections| {
                each(task.first + (1.0 - task.first) * sections as f64 / pairing.sections() as f64)
            })?,
            None => Vec::new(),
        };
        each(1.0)?;
        let lane = |place: usize| lanes[places.places[place]];
        let limbs = places.kind.class.limbs as usize;
        let end = |place: usize| {
            let n = lane(place).n;
            let verdict = ends.verdict(place, n);
            // Empty without a second stage.
            match (verdict, found.get(place * limbs..(place + 1) * limbs)) {
                (Verdict::Nothing(residue), Some(found)) if !is_one(found) => match BigUint::from_slice(found) {
                    divisor if divisor == *n => End::AllAtOnce(residue),
                    divisor => End::Done(Verdict::Divisor { divisor, stage: Stage::Second }),
                },
                (verdict, _) => End::Done(verdict),
            }
        };
        let mut ends: Vec<End> = (0..places.places.len()).into_par_iter().with_min_len(PIECE).map(end).collect();
        for &place in &chunk.faults {
            ends[place] = End::Done(fault(lane(place)));
        }
        Ok(ends)
    }
}
