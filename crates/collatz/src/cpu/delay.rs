//! Algorithm 6: delays by tables B, C, J and A.
//!
//! Two jumps of eleven steps are taken between two looks: from a value of at least `2^22` the value is at least 2 for 22
//! steps, as it at most halves each time, so the walk cannot run past 1 unseen.

use rayon::prelude::*;

use crate::{
    engine::Control,
    error::{Error, Result},
    number::trace,
    tables::{Base, SmallDelays},
    window::LIMIT,
};

const BASE_BITS: u32 = 11;
const ENTRIES: usize = 1 << BASE_BITS;
/// `t = 2^22` of table A.
const SMALL_BITS: u32 = 2 * BASE_BITS;
/// Numbers that are under way at once.
const LANES: usize = 256;
/// A jump multiplies by less than `(3/2)^11 < 2^7`: one from below this fits 64 bits.
const NARROW: u64 = 1 << 57;
/// Values below this go on in 64 bits: lower than need be, so that few come back.
const ENTRY: u128 = 1 << 54;
/// Two jumps from below this fit 128 bits.
const WIDE: u128 = 1 << 114;

/// The tables.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// B in bits 0–17, C in 18–35, J from 36 on.
    jumps: Box<[u64; ENTRIES]>,
    small: SmallDelays,
}

impl Prepared {
    pub(crate) fn new() -> Result<Self> {
        let base = Base::new(BASE_BITS)?;
        let mut jumps = Box::new([0; ENTRIES]);
        for (low, jump) in jumps.iter_mut().enumerate() {
            let (factor, addend, steps) = (base.factors()[low], base.addends()[low], base.steps()[low]);
            *jump = u64::from(factor) | u64::from(addend) << 18 | u64::from(steps) << 36;
        }
        Ok(Self { jumps, small: SmallDelays::new(SMALL_BITS)? })
    }

    /// Delays of `from`, `from + 1`, …
    pub(super) fn run(&self, from: u128, delays: &mut [u32], control: &Control) -> Result<()> {
        let count = delays.len() as u128;
        match from.checked_add(count) {
            _ if from == 0 => return Err(Error::ZeroStart),
            Some(end) if end <= LIMIT => {}
            _ => return Err(Error::PastLimit { from, count }),
        }
        let chunks = delays.len().div_ceil(CHUNK) as u64;
        delays.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, places)| {
            control.check()?;
            let mut first = from + (chunk * CHUNK) as u128;
            for batch in places.chunks_mut(LANES) {
                Lanes::new(self).run(|place| first + place as u128, batch)?;
                first += batch.len() as u128;
            }
            control.advance(1, chunks);
            Ok(())
        })
    }

    /// Starts that [`Self::delays`] takes at a time.
    pub(crate) const BATCH: usize = LANES;

    /// The delays of up to [`Self::BATCH`] starts of at least 1.
    pub(crate) fn delays(&self, starts: &[u128], delays: &mut [u32; LANES]) -> Result<()> {
        let count = starts.len().min(LANES);
        Lanes::new(self).run(|place| starts[place], &mut delays[..count])
    }

    #[inline]
    fn jump128(&self, value: u128, steps: &mut u32) -> u128 {
        let jump = self.jumps[value as usize & (ENTRIES - 1)];
        *steps += (jump >> 36) as u32;
        let (factor, addend) = (jump & 0x3_ffff, jump >> 18 & 0x3_ffff);
        let high = value >> BASE_BITS;
        let low = u128::from(high as u64) * u128::from(factor) + u128::from(addend);
        low + (u128::from(((high >> 64) as u64) * factor) << 64)
    }

    #[inline]
    fn jump64(&self, value: u64, steps: &mut u32) -> u64 {
        let jump = self.jumps[value as usize & (ENTRIES - 1)];
        *steps += (jump >> 36) as u32;
        (value >> BASE_BITS) * (jump & 0x3_ffff) + (jump >> 18 & 0x3_ffff)
    }
}

/// Numbers of a task.
const CHUNK: usize = 1 << 14;

struct Lanes<'a> {
    tables: &'a Prepared,
    wide: [(u128, u32, u16); LANES],
    narrow: [(u64, u32, u16); LANES],
    done: [(u64, u32, u16); LANES],
}

impl<'a> Lanes<'a> {
    fn new(tables: &'a Prepared) -> Self {
        Self { tables, wide: [(0, 0, 0); LANES], narrow: [(0, 0, 0); LANES], done: [(0, 0, 0); LANES] }
    }

    fn run(mut self, start: impl Fn(usize) -> u128, delays: &mut [u32]) -> Result<()> {
        let small = 1 << SMALL_BITS;
        let mut wide = 0;
        let mut narrow = 0;
        for place in 0..delays.len().min(LANES) {
            let value = start(place);
            if value < small {
                delays[place] = self.tables.small.delays()[value as usize].into();
            } else if value < ENTRY {
                self.narrow[narrow] = (value as u64, 0, place as u16);
                narrow += 1;
            } else {
                self.wide[wide] = (value, 0, place as u16);
                wide += 1;
            }
        }
        // Where a lane goes next is written to both places and one of the counters moved: a branch would be guessed wrong
        // once or twice a number, which costs as much as the jumps.
        while wide + narrow > 0 {
            let mut kept = 0;
            for lane in 0..wide.min(LANES) {
                let (value, mut steps, place) = self.wide[lane];
                if value >= WIDE {
                    delays[usize::from(place)] = trace(start(usize::from(place)), |_| true)?.delay() as u32;
                    continue;
                }
                let value = self.tables.jump128(value, &mut steps);
                let value = self.tables.jump128(value, &mut steps);
                // Values come from at least 2^54: after 22 steps they are not small yet.
                let leaves = value < ENTRY;
                self.narrow[narrow & (LANES - 1)] = (value as u64, steps, place);
                narrow += usize::from(leaves);
                self.wide[kept & (LANES - 1)] = (value, steps, place);
                kept += usize::from(!leaves);
            }
            wide = kept;
            kept = 0;
            let mut done = 0;
            for lane in 0..narrow.min(LANES) {
                let (value, mut steps, place) = self.narrow[lane];
                let first = self.tables.jump64(value, &mut steps);
                let mut value = first;
                if first < NARROW {
                    value = self.tables.jump64(first, &mut steps);
                }
                if value >= NARROW {
                    self.wide[wide & (LANES - 1)] = (value.into(), steps, place);
                    wide += 1;
                    continue;
                }
                let alive = u128::from(value) >= small;
                self.done[done & (LANES - 1)] = (value, steps, place);
                done += usize::from(!alive);
                self.narrow[kept & (LANES - 1)] = (value, steps, place);
                kept += usize::from(alive);
            }
            narrow = kept;
            for (value, steps, place) in &self.done[..done.min(LANES)] {
                delays[usize::from(*place)] = steps + u32::from(self.tables.small.delays()[*value as usize]);
            }
        }
        Ok(())
    }
}
