//! Algorithm 6 as in the dissertation: one start after the other, with tables of any size. It serves comparisons; the engine's delays
//! are faster.

use crate::{
    error::{Error, Result},
    number::trace,
    tables::{Base, SmallDelays},
};

/// Tables B, C, J of `d` base bits and A of `t = 2^a` delays.
#[derive(Debug)]
pub struct PaperDelays {
    bits: u32,
    /// B, C and J of the same low bits beside each other.
    jumps: Vec<(u32, u32, u32)>,
    small: SmallDelays,
}

impl PaperDelays {
    /// Makes the tables: `base_bits` = `d`, `known_bits` = `a`.
    ///
    /// # Errors
    /// [`Error::Parameter`]: `d` from 4 to 20, `a` from `d` to 26, so that no jump passes 1.
    pub fn new(base_bits: u32, known_bits: u32) -> Result<Self> {
        Error::parameter("base bits", base_bits.into(), 4, 20)?;
        Error::parameter("bits of table A", known_bits.into(), base_bits.into(), 26)?;
        let base = Base::new(base_bits)?;
        let pairs = base.factors().iter().zip(base.addends()).zip(base.steps());
        let jumps = pairs.map(|((&factor, &addend), &steps)| (factor, addend, steps.into())).collect();
        Ok(Self { bits: base_bits, jumps, small: SmallDelays::new(known_bits)? })
    }

    /// The delay of a start.
    ///
    /// # Errors
    /// [`Error::ZeroStart`], [`Error::NoDescent`].
    pub fn delay(&self, start: u64) -> Result<u32> {
        if start == 0 {
            return Err(Error::ZeroStart);
        }
        let small = self.small.delays();
        let mut value = u128::from(start);
        let mut delay = 0;
        while value >= small.len() as u128 {
            // A jump multiplies by less than 2^12: this fits 128 bits.
            if value >> 96 != 0 {
                return Ok(trace(start.into(), |_| true)?.delay() as u32);
            }
            let (factor, addend, steps) = self.jumps[value as usize & (self.jumps.len() - 1)];
            value = (value >> self.bits) * u128::from(factor) + u128::from(addend);
            delay += steps;
        }
        Ok(delay + u32::from(small[value as usize]))
    }
}
