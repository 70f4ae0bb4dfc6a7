//! The independent path: the sieve's definition start by start, the walk step by step.

use super::{Found, Plan};
use crate::{
    engine::{Control, Outcome},
    error::Result,
    number::{Value, descend},
    window::Window,
};

/// What [`super::run`] must find, for short windows: some microseconds a start.
///
/// # Errors
/// [`crate::Error::NoDescent`], [`crate::Error::Stopped`].
pub fn recompute(plan: &Plan, window: &Window, control: &Control) -> Result<Found> {
    let mut found = Found::default();
    for start in window.from()..window.end() {
        control.check()?;
        let modulus_leaves = match plan.modulus {
            1 => true,
            3 => start % 3 != 2,
            _ => start % 3 != 2 && start % 9 != 4,
        };
        if !modulus_leaves || removed(start % (1 << plan.sieve_bits), plan.sieve_bits) {
            continue;
        }
        let descent = descend(start)?;
        let mut value = Value::Narrow(start);
        let mut odd_steps = 0;
        for _ in 0..descent.steps {
            let (next, odd) = value.step();
            odd_steps += u64::from(odd);
            value = next;
        }
        let outcome = Outcome { tested: 1, checksum: odd_steps, ..Outcome::default() };
        let highest = match descent.highest {
            Value::Narrow(value) => value,
            Value::Wide(_) => u128::MAX,
        };
        found = found.add(&Found { outcome, highest: Some((start, highest)) });
    }
    Ok(found)
}

/// Does rule 1 or rule 2 remove the residue? Merges are sought backwards: all numbers that reach its state in as many steps, as
/// many of them odd.
fn removed(residue: u128, bits: u32) -> bool {
    let mut value = residue;
    let mut odd_steps = 0;
    for step in 1..=bits {
        if value % 2 == 1 {
            value += value / 2 + 1;
            odd_steps += 1;
        } else {
            value /= 2;
        }
        if 3u128.pow(odd_steps) < 1 << step {
            return true;
        }
    }
    smaller_reaches(value, bits, odd_steps, residue)
}

fn smaller_reaches(state: u128, steps: u32, odd_steps: u32, residue: u128) -> bool {
    if steps == 0 {
        return odd_steps == 0 && state < residue;
    }
    let odd = odd_steps > 0
        && (2 * state) % 3 == 1
        && smaller_reaches((2 * state - 1) / 3, steps - 1, odd_steps - 1, residue);
    // With no even step left all the others must be odd.
    odd || odd_steps < steps && smaller_reaches(2 * state, steps - 1, odd_steps, residue)
}
