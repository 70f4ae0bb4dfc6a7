//! The first stage on a device.

use std::time::{Duration, Instant};

use warpmp_launch::At;

use super::chunk::Chunk;
use super::kernels::Job;
use crate::error::Result;
use crate::factor::Verdict;
use crate::factor::curve::{Curve, no_group};
use crate::factor::lane::{Lane, Parameter};

/// The time of a launch: long against the time of its start, short against the patience of a user and of a system's watchdog.
const SLICE: Duration = Duration::from_millis(100);
/// The same of launches that take turns: the last one may have few lanes.
const SHORT_SLICE: Duration = Duration::from_millis(20);
/// Bits of the first slice.
const FIRST_BITS: u32 = 64;

/// The verdict of a lane whose parameter gives no curve: the processor repeats the computation.
pub(super) fn fault(lane: &Lane<'_>) -> Verdict {
    match &lane.parameter {
        Parameter::Suyama(sigma) => match Curve::of(sigma, lane.n) {
            Err(reason) => no_group(reason, lane.n),
            Ok(_) => Verdict::Slipped,
        },
        Parameter::D(_) | Parameter::Word(_) => Verdict::Slipped,
    }
}

impl Chunk<'_> {
    /// The ladder of an exponent, words and bits, in slices; `each` gets the bits that are left.
    pub(super) fn ladder(&self, (words, bits): (&[u32], u32), mut each: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let words = self.upload(words)?;
        let time = if self.window < self.lanes { SHORT_SLICE } else { SLICE };
        // A slice: the bits that are left, how many of them to do, is it the first one?
        let mut here = [bits, FIRST_BITS.min(bits), 1];
        let (mut first, mut slice) = (0, FIRST_BITS);
        while let [left, bits, _] = here
            && bits > 0
        {
            let next = [left - bits, slice.min(left - bits), 0];
            let lanes = self.turn(first, next[1] > 0);
            let start = Instant::now();
            let control = self.turn_control(&lanes, [here, next])?;
            let rows = [&*self.constants, &control, &words, &self.state].map(At::from);
            self.launch_lanes(Job::Ladder, lanes.end - lanes.start, &rows)?;
            self.device.synchronize(&self.stream)?;
            let ratio = time.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-6);
            slice = (f64::from(bits) * ratio.clamp(0.25, 4.0)).clamp(1.0, 1e9) as u32;
            first = lanes.end;
            if first >= self.lanes {
                (first, here) = (first - self.lanes, next);
                each(here[0])?;
            }
        }
        Ok(())
    }

    /// The residues, divisors and checks after a ladder.
    pub(super) fn close(&self) -> Result<()> {
        self.launch(Job::Check, &[&*self.constants, &self.state, &self.total, &self.status].map(At::from))?;
        self.invert()?;
        self.launch(Job::Quotient, &[&*self.constants, &self.state, &self.total, &self.residue].map(At::from))
    }
}
