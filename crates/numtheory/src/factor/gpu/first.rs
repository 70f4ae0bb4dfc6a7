//! The first stage on a device.

use std::time::{Duration, Instant};

use warpmp_launch::At;

use super::chunk::Chunk;
use super::kernels::Job;
use super::{Ended, Gpu};
use crate::error::Result;
use crate::factor::exponent::Exponent;
use crate::factor::lane::Lane;
use crate::factor::meter::Meter;

/// The time of a launch: long against the time of its start, short against the patience of a user and of a system's watchdog.
const SLICE: Duration = Duration::from_millis(100);
/// Bits of the first slice.
const FIRST_BITS: u32 = 64;

impl Gpu {
    /// The first stage of curves: their points become multiples by the exponent.
    pub(in crate::factor) fn first_stage(
        &self,
        lanes: &[Lane],
        exponent: &Exponent,
        meter: &Meter<'_>,
    ) -> Result<Vec<Ended>> {
        self.prepare(lanes, true, Job::FIRST)?;
        let chunks = self.chunks(lanes, true, 0)?;
        let bits = exponent.bits() as u32;
        let total = chunks.iter().map(|chunk| chunk.weight() * u64::from(bits)).sum();
        let mut all = vec![None; lanes.len()];
        for places in &chunks {
            meter.check()?;
            let chunk = Chunk::new(self, places, lanes, 0)?;
            chunk.ladder(exponent, |bits| {
                meter.step(places.weight() * u64::from(bits), total);
                meter.check()
            })?;
            for (place, ended) in places.places.iter().zip(chunk.ends()?) {
                all[*place] = Some(ended);
            }
        }
        Ok(all.into_iter().flatten().collect())
    }
}

impl Chunk<'_> {
    /// The ladder of an exponent in slices; `each` gets the bits of a slice.
    pub(super) fn ladder(&self, exponent: &Exponent, mut each: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let words = self.upload(&exponent.words())?;
        let (mut left, mut slice) = (exponent.bits() as u32, FIRST_BITS);
        let mut begins = 1;
        while left > 0 {
            let bits = slice.min(left);
            let start = Instant::now();
            let control = self.control([left, bits, begins, 0, 0])?;
            self.launch(Job::Ladder, &[&self.constants, &control.0, &words.0, &self.state].map(At::from))?;
            self.device.synchronize(&self.stream)?;
            let ratio = SLICE.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-6);
            slice = (f64::from(bits) * ratio.clamp(0.25, 4.0)).clamp(1.0, 1e9) as u32;
            left -= bits;
            begins = 0;
            each(bits)?;
        }
        Ok(())
    }

    /// The ends of the lanes after a ladder.
    pub(super) fn ends(&self) -> Result<Vec<Ended>> {
        self.launch(Job::Check, &[&self.constants, &self.state, &self.total, &self.status].map(At::from))?;
        self.invert()?;
        self.launch(Job::Quotient, &[&self.constants, &self.state, &self.total, &self.residue].map(At::from))?;
        let (residues, divisors) = (self.numbers(&self.residue)?, self.numbers(&self.found)?);
        let ends = residues.into_iter().zip(divisors).zip(self.statuses()?);
        Ok(ends.map(|((residue, divisor), status)| Ended { residue, divisor, consistent: status == 0 }).collect())
    }
}
