//! The tables of the kernels, as words.
//!
//! Logarithms are doubles: c·log2(3) for c < 200 is right to 2⁻⁴⁰, far below the margins that the roundings leave.

use crate::{
    dfs::{MARGIN, Walk},
    error::Result,
    kernels::{
        delay_pools::INDEX_BITS,
        lookahead::{Lookahead, NINE_WORDS, RHO_BIAS, RHO_SHIFT},
    },
    power::{LOG2_3, inverse_pow3, pow3},
    tables::SmallDelays,
};

/// Rounding down takes off at least this: it covers an exact value and the double's error.
const ROUNDING: f64 = 1e-9;

/// Rounding ρ up adds at least this, in its units of 1/256. So ρ grows by itself, and no lane goes on for ever.
const EXCESS: f64 = 1.0 / 16.0;

/// The least start for which the thresholds' margin is proven to suffice.
pub const LEAST_START: u128 = 1 << 32;

/// Tables B and C of d bits, as pairs of words: d up to 20.
pub fn base_table(bits: u32) -> Vec<u32> {
    let pair = |low| {
        let Walk { odd, value, .. } = Walk::of(low, bits);
        [3_u32.pow(odd), value as u32]
    };
    (0..1 << bits).flat_map(pair).collect()
}

/// 3ᶜ modulo 2⁶⁴, for c below 64, as pairs of words.
pub fn powers() -> Vec<u32> {
    words((0..64).map(|exponent| pow3(exponent) as u64))
}

/// 3⁻ᶜ modulo 2⁶⁴, for c below 64, as pairs of words.
pub fn inverses() -> Vec<u32> {
    words((0..64).map(inverse_pow3))
}

/// 64-bit values as words, the low one first.
pub fn words(values: impl Iterator<Item = u64>) -> Vec<u32> {
    values.flat_map(|value| [value as u32, (value >> 32) as u32]).collect()
}

/// The look-ahead kernel's tables for jumps of d steps and leaves of L bits: jumps, thresholds, factors, pattern.
pub fn lookahead(jump_bits: u32, leaf_bits: u32) -> Vec<u32> {
    let size = 1_usize << jump_bits;
    let mut table = Vec::with_capacity(size + size / 2 + NINE_WORDS as usize + 32);
    let shift = 32 - Lookahead::rest_bits(jump_bits);
    let walk = |low| Walk::of(low, jump_bits);
    table.extend((0..size as u64).map(walk).map(|Walk { odd, value, .. }| (value as u32) << shift | odd << 3));
    let mut halves = (0..size as u64).map(walk).map(|walk| threshold_word(walk.threshold));
    while let (Some(low), Some(high)) = (halves.next(), halves.next()) {
        table.push(low | high << 16);
    }
    for odd in 0..16 {
        table.extend([3_u32.pow(odd), rho_units(f64::from(odd) * LOG2_3 - f64::from(jump_bits)) << RHO_SHIFT]);
    }
    let step = (0..leaf_bits).fold(1, |power, _| power * 2 % 9);
    for row in 0..17 {
        table.extend((0..32).map(|word| {
            let kept = |bit: &u32| !matches!((row + step * (32 * word + bit)) % 9, 2 | 4 | 5 | 8);
            (0..32).filter(kept).fold(0, |bits, bit| bits | 1 << bit)
        }));
    }
    table
}

/// Tables B, C and J of d bits, four words an entry.
pub fn delay(bits: u32) -> Vec<u32> {
    let entry = |low| {
        let Walk { odd, value, .. } = Walk::of(low, bits);
        [3_u32.pow(odd), value as u32, bits + odd, 0]
    };
    (0..1 << bits).flat_map(entry).collect()
}

/// The tables of the delay kernel with pools: jumps, factors.
pub fn delay_pools(bits: u32) -> Vec<u32> {
    delay_jumps(bits, INDEX_BITS)
}

/// Jumps of d steps as the look-ahead's, and factors: 3ᶜ, and the jump's standard steps, shifted up.
pub fn delay_jumps(bits: u32, step_shift: u32) -> Vec<u32> {
    let shift = 32 - Lookahead::rest_bits(bits);
    let entry = |low| {
        let Walk { odd, value, .. } = Walk::of(low, bits);
        (value as u32) << shift | odd << 3
    };
    let factors = (0..16).flat_map(|odd| [3_u32.pow(odd), (bits + odd) << step_shift]);
    (0..1 << bits).map(entry).chain(factors).collect()
}

/// Table A: the delays of the numbers below 2ᵗ, in standard steps; 0 for 0.
///
/// # Errors
/// [`crate::Error::Parameter`].
pub fn known_delays(bits: u32) -> Result<Vec<u32>> {
    Ok(SmallDelays::new(bits)?.delays().iter().copied().map(u32::from).collect())
}

/// ρ in 1/256, rounded up; modulo 2³² if it is negative.
fn rho_units(rho: f64) -> u32 {
    ((rho * 256.0 + EXCESS).ceil() as i64) as u32
}

/// ρ of leaves of L bits with c odd steps, as the kernel has it.
pub fn leaf_rho(leaf_bits: u32, odd: u32) -> u32 {
    (rho_units(f64::from(odd) * LOG2_3 - f64::from(leaf_bits)) + RHO_BIAS) << RHO_SHIFT
}

/// The most that ρ may be, in the kernel's form, for starts below `end` and values of `limbs` words.
pub fn rho_limit(end: u128, limbs: u32) -> u32 {
    rho_below((32 * limbs) as f64 - 0.5 - (end as f64).log2())
}

/// The most that ρ may be for `bits` bits, rounded down, in the kernel's form.
pub fn rho_below(bits: f64) -> u32 {
    (((bits.clamp(0.0, 54.5)) * 256.0).floor() as u32 + RHO_BIAS) << RHO_SHIFT
}

/// The most that ρ can be after some unconditional jumps from leaves with c odd steps, as the kernel has it.
pub fn highest_rho(leaf_bits: u32, odd: u32, jump_bits: u32, jumps: u32) -> u64 {
    let climb = rho_units(f64::from(jump_bits) * (LOG2_3 - 1.0));
    u64::from(leaf_rho(leaf_bits, odd)) + (u64::from(climb * jumps + 1) << RHO_SHIFT)
}

/// A threshold in 1/1024, with ρ's bias, less the margin, rounded down.
fn threshold_word(threshold: f64) -> u32 {
    let biased = threshold + f64::from(RHO_BIAS) / 256.0;
    ((biased - MARGIN) * 1024.0 - ROUNDING).floor() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST_EXCESS: f64 = 2.4e-4;

    /// The bounds on roundings that the proof in the kernel's contract needs.
    #[test]
    fn every_jump_adds_more_than_it_is() {
        for bits in 4..=14_u32 {
            for odd in 0..=bits {
                let exact = f64::from(odd) * LOG2_3 - f64::from(bits);
                let excess = f64::from(rho_units(exact) as i32) / 256.0 - exact;
                assert!(excess > LEAST_EXCESS && excess <= 1.1 / 256.0, "{bits} {odd}: {excess}");
            }
        }
        // The most jumps before ρ is over any limit, of at most 14 odd steps; their increments from the least start on.
        let odd_steps = 64.0 / LEAST_EXCESS * 14.0;
        let increments = odd_steps / (3.0 * LEAST_START as f64) / std::f64::consts::LN_2;
        assert!(increments < MARGIN, "{increments}");
    }
}
