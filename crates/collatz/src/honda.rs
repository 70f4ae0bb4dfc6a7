//! The dissertation's convergence scheme (Algorithm 5): starts whose low bits are mandatory, jumps by tables B and C
//! until below the start.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    certificate,
    engine::{Control, Engine, Outcome},
    error::{Error, Result},
    number::{PATIENCE, Value},
    reference,
    scheme::Method,
    window::Window,
};

/// Base bits of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `k`: base bits of table S, 3 to 37.
    pub sieve_bits: u32,
    /// `d`: base bits of tables B and C, 4 to 20.
    pub base_bits: u32,
}

impl Plan {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(sieve_bits: u32, base_bits: u32) -> Result<Self> {
        Error::parameter("sieve bits", sieve_bits.into(), 3, 37)?;
        Error::parameter("base bits", base_bits.into(), 4, 20)?;
        Ok(Self { sieve_bits, base_bits })
    }
}

impl Method for Plan {
    fn check(&self) -> Result<()> {
        Self::new(self.sieve_bits, self.base_bits).map(drop)
    }

    fn run(&self, engine: &mut dyn Engine, window: &Window, control: &Control) -> Result<Outcome> {
        engine.honda(self, window, control)
    }

    fn recompute(&self, window: &Window, control: &Control) -> Result<Outcome> {
        reference::recompute(*self, window, control)
    }

    /// Tables B and C.
    fn tables(&self) -> Result<Vec<(String, String)>> {
        let bits = self.base_bits;
        Ok(vec![(format!("B, C of {bits} bits"), certificate::base(bits)?)])
    }

    fn window_count(&self, gpu_share: Option<u128>) -> u128 {
        1 << if gpu_share.is_some() { 45 } else { 36 }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "honda: sieve bits {}, base bits {}", self.sieve_bits, self.base_bits)
    }
}

/// The first value below `start` after whole jumps of `base_bits` steps, in unbounded arithmetic: how overflowed starts are
/// finished.
///
/// # Errors
/// [`Error::NoDescent`].
pub fn descend_by_jumps(start: u128, base_bits: u32) -> Result<u128> {
    let mut value = Value::Narrow(start);
    for _ in 0..PATIENCE / u64::from(base_bits.max(1)) {
        for _ in 0..base_bits {
            value = value.step().0;
        }
        if let Value::Narrow(value) = value
            && value < start
        {
            return Ok(value);
        }
    }
    Err(Error::NoDescent { start, steps: PATIENCE })
}
