//! The published checksum: `Σ α` over all tested starts, where the walk is "add 1; strip `α` factors 2, multiply by `3^α`; subtract 1;
//! strip factors 2; until below the start".
//!
//! A residue mod `2^k` is tested if it survives rule 1 and rule 2 (descent, same-level merge) at `k` bits; of the starts, those that the
//! modulus leaves: 1 leaves all, 3 removes `n ≡ 2 mod 3`, 9 removes `n ≡ 2, 4, 5, 8 mod 9`.
//!
//! Stripping `α = ctz(n + 1)` factors and multiplying by `3^α` takes the `α` odd steps of a run at once: with `n + 1 = 2^α·u`, `T^α(n) + 1 = 3^α·u`.
//! So `α` is the length of the odd run, and the walk sees every local maximum of `T`: it gives the highest value of the window, too.
//!
//! Source: D. Barina, whose published work units `[t·2^40, (t+1)·2^40)` this reproduces.

mod reference;
mod sieve;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use reference::recompute;
pub use sieve::Sieve;

use crate::{
    engine::{Control, Outcome},
    error::{Error, Result},
    number::{Value, descend},
    power::{MAX_EXPONENT, pow3},
    rules::FLOOR,
    window::Window,
};

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
            return Err(Error::Parameter { name: "sieve modulus (1, 3 or 9)", value: modulus.into(), low: 1, high: 9 });
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

/// What was found in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The figures; the checksum is `Σ α`.
    pub outcome: Outcome,
    /// The highest value of `T` over the tested starts, and the first start that has it.
    pub highest: Option<(u128, u128)>,
}

impl Found {
    /// Adds another part.
    pub(crate) fn add(mut self, other: &Self) -> Self {
        self.outcome.add(&other.outcome);
        self.highest = match (self.highest, other.highest) {
            (Some(a), Some(b)) => Some(if (b.1, a.0) > (a.1, b.0) { b } else { a }),
            (a, b) => a.or(b),
        };
        self
    }
}

/// Lower bits of a task: residues are dealt in pieces.
const PIECE: usize = 1 << 10;

/// Is the window one that the sieve is proven for?
///
/// # Errors
/// [`Error::Parameter`] for a start below the floor.
pub fn above_floor(window: &Window) -> Result<()> {
    if window.from() < FLOOR {
        let value = window.from() as u64;
        return Err(Error::Parameter { name: "first start", value, low: FLOOR as u64, high: u64::MAX });
    }
    Ok(())
}

/// Tests the window's starts under a sieve.
///
/// # Errors
/// [`Error::NoDescent`], [`Error::Stopped`]; [`Error::Parameter`] for a start below the floor, where the sieve is not proven.
pub fn run(sieve: &Sieve, window: &Window, control: &Control) -> Result<Found> {
    above_floor(window)?;
    let plan = sieve.plan();
    let modulus = 1u128 << plan.sieve_bits;
    let (base, low) = (window.from() & !(modulus - 1), window.from() & (modulus - 1));
    let pieces = sieve.residues().len().div_ceil(PIECE) as u64;
    sieve
        .residues()
        .par_chunks(PIECE)
        .map(|residues| {
            let mut found = Found::default();
            for residue in residues {
                control.check()?;
                let residue = u128::from(*residue);
                let mut start = base + residue + if residue < low { modulus } else { 0 };
                while start < window.end() {
                    if plan.leaves(start) {
                        test(start, &mut found)?;
                    }
                    start += modulus;
                }
            }
            control.advance(1, pieces);
            Ok(found)
        })
        .try_reduce(Found::default, |sum, part| Ok(sum.add(&part)))
}

/// Two factors below this have a product within 128 bits.
const NARROW: u128 = 1 << 64;

fn pow3_of(run: u32) -> Option<u128> {
    (run as usize <= MAX_EXPONENT).then(|| pow3(run as usize))
}

fn test(start: u128, found: &mut Found) -> Result<()> {
    found.outcome.tested += 1;
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
            return wide(start, found);
        };
        sum += u64::from(run);
        value = raised - 1;
        highest = highest.max(value);
        value >>= value.trailing_zeros();
    }
    found.outcome.checksum = found.outcome.checksum.wrapping_add(sum);
    see(start, highest, found);
    Ok(())
}

fn see(start: u128, highest: u128, found: &mut Found) {
    if found.highest.is_none_or(|(first, value)| highest > value || highest == value && start < first) {
        found.highest = Some((start, highest));
    }
}

/// The same, as wide as it takes.
fn wide(start: u128, found: &mut Found) -> Result<()> {
    found.outcome.overflowed += 1;
    let descent = descend(start)?;
    let mut value = Value::Narrow(start);
    let mut odd_steps = 0u64;
    for _ in 0..descent.steps {
        let (next, odd) = value.step();
        odd_steps += u64::from(odd);
        value = next;
    }
    found.outcome.checksum = found.outcome.checksum.wrapping_add(odd_steps);
    found.outcome.finished += 1;
    // A value past 128 bits counts as the highest there is; trace tells it exactly.
    let highest = match descent.highest {
        Value::Narrow(value) => value,
        Value::Wide(_) => u128::MAX,
    };
    see(start, highest, found);
    Ok(())
}
