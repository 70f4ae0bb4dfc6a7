//! Delays on any processor: jumps over arrays, so that many multiplications are in flight.
//!
//! It takes two jumps of eleven steps between two look-ups in table A. A step at most halves: from a value of at least `2^22` the value is
//! at least 2 for 22 steps, so the walk cannot run past 1 unseen.

use super::{SMALL_BITS, jumps};
use crate::{error::Result, number::trace};

const BASE_BITS: u32 = SMALL_BITS / 2;
const ENTRIES: usize = 1 << BASE_BITS;
/// Numbers in flight.
const LANES: usize = 256;
/// A jump multiplies by less than `(3/2)^11 < 2^7`: a jump from below this fits 64 bits.
const NARROW: u64 = 1 << 57;
/// Values below this go on in 64 bits. A lower bound than necessary: so few values come back.
const ENTRY: u128 = 1 << 54;
/// Two jumps from below this fit 128 bits.
const WIDE: u128 = 1 << 114;

/// The table of jumps.
#[derive(Debug)]
pub(super) struct Portable {
    jumps: Box<[u64; ENTRIES]>,
}

impl Portable {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { jumps: jumps()? })
    }

    /// The delays of `start(0)`, `start(1)`, …, all at least 1. `small` is table A.
    pub(super) fn run(&self, small: &[u16], start: impl Fn(usize) -> u128, delays: &mut [u32]) -> Result<()> {
        for (batch, delays) in delays.chunks_mut(LANES).enumerate() {
            Lanes::new(self, small).run(|place| start(batch * LANES + place), delays)?;
        }
        Ok(())
    }

    #[inline]
    fn jump128(&self, value: u128, steps: &mut u32) -> u128 {
        let jump = self.jumps[value as usize & (ENTRIES - 1)];
        *steps += (jump >> 48) as u32;
        let (factor, addend) = (jump & 0xff_ffff, jump >> 24 & 0xff_ffff);
        let high = value >> BASE_BITS;
        let low = u128::from(high as u64) * u128::from(factor) + u128::from(addend);
        low + (u128::from(((high >> 64) as u64) * factor) << 64)
    }

    #[inline]
    fn jump64(&self, value: u64, steps: &mut u32) -> u64 {
        let jump = self.jumps[value as usize & (ENTRIES - 1)];
        *steps += (jump >> 48) as u32;
        (value >> BASE_BITS) * (jump & 0xff_ffff) + (jump >> 24 & 0xff_ffff)
    }
}

struct Lanes<'a> {
    tables: &'a Portable,
    small: &'a [u16],
    wide: [(u128, u32, u16); LANES],
    narrow: [(u64, u32, u16); LANES],
    done: [(u64, u32, u16); LANES],
}

impl<'a> Lanes<'a> {
    fn new(tables: &'a Portable, small: &'a [u16]) -> Self {
        Self { tables, small, wide: [(0, 0, 0); LANES], narrow: [(0, 0, 0); LANES], done: [(0, 0, 0); LANES] }
    }

    fn run(mut self, start: impl Fn(usize) -> u128, delays: &mut [u32]) -> Result<()> {
        let small = 1 << SMALL_BITS;
        let mut wide = 0;
        let mut narrow = 0;
        for place in 0..delays.len().min(LANES) {
            let value = start(place);
            if value < small {
                delays[place] = self.small[value as usize].into();
            } else if value < ENTRY {
                self.narrow[narrow] = (value as u64, 0, place as u16);
                narrow += 1;
            } else {
                self.wide[wide] = (value, 0, place as u16);
                wide += 1;
            }
        }
        // The processor would mispredict a branch here once or twice a number, which costs as much as the jumps. So the next
        // place of a lane is written to both lists, and one of the counters moves.
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
                delays[usize::from(*place)] = steps + u32::from(self.small[*value as usize]);
            }
        }
        Ok(())
    }
}
