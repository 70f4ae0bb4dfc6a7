//! The published checksum: `Σ α` over all tested starts, where the walk is "add 1; strip `α` factors 2, multiply by `3^α`; subtract 1;
//! strip factors 2; until below the start".
//!
//! A start is tested if its residue mod `2^k` survives rule 1 and rule 2 (descent, same-level merge) at `k` bits, and if the modulus
//! leaves it: 1 leaves all starts, 3 removes `n ≡ 2 mod 3`, 9 removes `n ≡ 2, 4, 5, 8 mod 9`.
//!
//! Stripping `α = ctz(n + 1)` factors and multiplying by `3^α` takes the `α` odd steps of a run at once: with `n + 1 = 2^α·u`,
//! `T^α(n) + 1 = 3^α·u`. So `α` is the length of the odd run, and the walk sees every local maximum of `T`, also the highest value of the
//! window.
//!
//! Source: D. Barina, whose published work units `[t·2^40, (t+1)·2^40)` this reproduces.

mod sieve;

use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use sieve::Sieve;

use crate::{
    engine::{Control, Engine, Outcome},
    error::{Allowed, Error, Result},
    heights::Peak,
    kernels::alpha::UNIT_BITS,
    number::descend,
    power::{MAX_EXPONENT, pow3},
    reference,
    rules::FLOOR,
    scheme::Method,
    window::Window,
};

/// The moduli that a sieve can have.
pub(crate) const MODULI: Allowed = Allowed::OneOf(&[1, 3, 9]);

/// The sieve's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `k`, 3 to 34.
    pub sieve_bits: u32,
    /// 1, 3 or 9.
    pub modulus: u32,
}

impl Plan {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(sieve_bits: u32, modulus: u32) -> Result<Self> {
        Error::parameter("sieve bits", sieve_bits.into(), 3, 34)?;
        if !matches!(modulus, 1 | 3 | 9) {
            return Err(Error::Parameter { name: "sieve modulus", value: modulus.into(), allowed: MODULI });
        }
        Ok(Self { sieve_bits, modulus })
    }

    /// Does the modulus leave this start?
    pub(crate) fn leaves(self, start: u128) -> bool {
        match self.modulus {
            1 => true,
            3 => start % 3 != 2,
            _ => !crate::rules::mod9_removes((start % 9) as u32),
        }
    }
}

impl Method for Plan {
    fn check(&self) -> Result<()> {
        Self::new(self.sieve_bits, self.modulus).map(drop)
    }

    /// The sieve is not proven below the floor.
    fn admits(&self, window: &Window) -> Result<()> {
        if window.from() < FLOOR {
            let allowed = Allowed::AtLeast(FLOOR);
            return Err(Error::Parameter { name: "the first start", value: window.from(), allowed });
        }
        Ok(())
    }

    fn run(&self, engine: &mut dyn Engine, window: &Window, control: &Control) -> Result<Outcome> {
        engine.alpha(self, window, control)
    }

    fn recompute(&self, window: &Window, control: &Control) -> Result<Outcome> {
        reference::recompute(*self, window, control)
    }

    fn window_count(&self, gpu_share: Option<u128>) -> u128 {
        1 << if gpu_share.is_some() { UNIT_BITS } else { 36 }
    }

    /// As it is published.
    fn checksum(&self, sum: u64) -> [String; 2] {
        ["alpha".into(), sum.to_string()]
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "alpha: sieve bits {}, modulus {}", self.sieve_bits, self.modulus)
    }
}

/// Residues of a piece, which one core does.
const PIECE: usize = 1 << 10;

/// Tests the window's starts under a sieve.
///
/// # Errors
/// [`Error::NoDescent`], [`Error::Stopped`]; [`Error::Parameter`] for a start below the floor, where the sieve is not proven.
pub fn run(sieve: &Sieve, window: &Window, control: &Control) -> Result<Outcome> {
    let plan = sieve.plan();
    plan.admits(window)?;
    let modulus = 1u128 << plan.sieve_bits;
    let (base, low) = (window.from() & !(modulus - 1), window.from() & (modulus - 1));
    let pieces = sieve.residues().len().div_ceil(PIECE) as u64;
    sieve
        .residues()
        .par_chunks(PIECE)
        .map(|residues| {
            let mut sum = Sum { outcome: Outcome::none(), highest: None };
            for residue in residues {
                control.check()?;
                let residue = u128::from(*residue);
                let mut start = base + residue + if residue < low { modulus } else { 0 };
                while start < window.end() {
                    if plan.leaves(start) {
                        sum.test(start)?;
                    }
                    start += modulus;
                }
            }
            control.advance(1, pieces);
            Ok(sum.finish())
        })
        .try_reduce(Outcome::none, |mut sum, part| {
            sum.add(&part);
            Ok(sum)
        })
}

/// Two factors below this have a product within 128 bits.
const NARROW: u128 = 1 << 64;

fn pow3_of(run: u32) -> Option<u128> {
    (run as usize <= MAX_EXPONENT).then(|| pow3(run as usize))
}

/// The sums of a piece.
struct Sum {
    outcome: Outcome,
    /// The highest value of the starts that stay within 128 bits, and the least start that has it.
    highest: Option<(u128, u128)>,
}

impl Sum {
    fn test(&mut self, start: u128) -> Result<()> {
        self.outcome.tested += 1;
        let mut value = start;
        let mut sum = 0u64;
        let mut highest = start;
        while value >= start {
            let next = value + 1;
            let run = next.trailing_zeros();
            let rest = next >> run;
            let raised = match pow3_of(run) {
                Some(power) if rest < NARROW && power < NARROW => Some(rest * power),
                Some(power) => rest.checked_mul(power),
                None => None,
            };
            let Some(raised) = raised else {
                return self.wide(start);
            };
            sum += u64::from(run);
            value = raised - 1;
            highest = highest.max(value);
            value >>= value.trailing_zeros();
        }
        self.outcome.checksum = self.outcome.checksum.wrapping_add(sum);
        if self.highest.is_none_or(|(value, first)| highest > value || highest == value && start < first) {
            self.highest = Some((highest, start));
        }
        Ok(())
    }

    /// The same in unbounded arithmetic.
    fn wide(&mut self, start: u128) -> Result<()> {
        self.outcome.overflowed += 1;
        let descent = descend(start)?;
        self.outcome.checksum = self.outcome.checksum.wrapping_add(descent.odd_steps);
        self.outcome.finished += 1;
        self.outcome.heights.see(Peak { start, value: descent.highest.to_ubig() });
        Ok(())
    }

    fn finish(mut self) -> Outcome {
        if let Some((value, start)) = self.highest {
            self.outcome.heights.see(Peak { start, value: value.into() });
        }
        self.outcome
    }
}
