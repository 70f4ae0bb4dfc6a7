//! Table A: the delays of small numbers.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// Delays of all numbers below `t`; the place of 0 holds 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallDelays(Vec<u16>);

impl SmallDelays {
    /// Table A for `t = 2^bits`, 1 to 28 bits: two bytes an entry.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(bits: u32) -> Result<Self> {
        Error::parameter("bits of table A", bits.into(), 1, 28)?;
        let mut delays = vec![0u16; 1 << bits];
        // Numbers of one bit length depend on shorter ones only: each walks until it is shorter itself.
        for length in 1..bits {
            let (known, rest) = delays.split_at_mut(1 << length);
            rest[..1 << length].par_iter_mut().enumerate().for_each(|(place, delay)| {
                let mut value = (1u64 << length) + place as u64;
                let mut steps = 0;
                while value >= 1 << length {
                    let odd = value & 1;
                    value = if odd == 1 { value + (value >> 1) + 1 } else { value >> 1 };
                    steps += 1 + odd as u16;
                }
                *delay = steps + known[value as usize];
            });
        }
        Ok(Self(delays))
    }

    /// A.
    pub fn delays(&self) -> &[u16] {
        &self.0
    }
}
