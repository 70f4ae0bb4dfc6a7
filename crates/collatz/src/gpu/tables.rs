//! The tables of the kernels, as words.
//!
//! Logarithms are doubles: c·log2(3) for c < 200 is right to 2⁻⁴⁰, far below the margins that the roundings leave.

use crate::kernels::delay_pools::INDEX_BITS;
use crate::kernels::lookahead::{Lookahead, NINE_WORDS, RHO_BIAS, RHO_SHIFT};

/// log2(3).
pub const LOG2_3: f64 = 1.584_962_500_721_156;

/// What the thresholds leave for the increments of the odd steps, in bits: see [`crate::kernels::lookahead`].
pub const MARGIN: f64 = 1.0 / (1 << 10) as f64;

/// What rounding down takes at least, so that an exact value and the double's error are covered.
const ROUNDING: f64 = 1e-9;

/// What rounding ρ up adds at least, in its units of 1/256: so that ρ grows by itself, and no lane goes on for ever.
const EXCESS: f64 = 1.0 / 16.0;

/// The least start for which the thresholds' margin is proven to suffice.
pub const LEAST_START: u128 = 1 << 32;

/// The least c with 3ᶜ ≥ 2ⁱ, for i up to 126.
pub fn need(i: u32) -> u32 {
    let mut power = 1_u128;
    let mut c = 0;
    while power < 1 << i {
        power *= 3;
        c += 1;
    }
    c
}

/// d steps from a low part: the odd ones among them, and the value.
pub fn steps(mut value: u64, count: u32) -> (u32, u64) {
    let mut odd = 0;
    for _ in 0..count {
        if value % 2 == 1 {
            value += value / 2 + 1;
            odd += 1;
        } else {
            value /= 2;
        }
    }
    (odd, value)
}

/// Tables B and C of d bits, as pairs of words: d up to 20.
pub fn base_table(bits: u32) -> Vec<u32> {
    let pair = |low| {
        let (odd, value) = steps(low, bits);
        [3_u32.pow(odd), value as u32]
    };
    (0..1 << bits).flat_map(pair).collect()
}

/// 3ᶜ modulo 2⁶⁴, for c below 64, as pairs of words.
pub fn powers() -> Vec<u32> {
    words((0..64).scan(1_u64, |power, _| Some(std::mem::replace(power, power.wrapping_mul(3)))))
}

/// 3⁻ᶜ modulo 2⁶⁴, for c below 64, as pairs of words.
pub fn inverses() -> Vec<u32> {
    let third = 0xAAAA_AAAA_AAAA_AAAB_u64;
    words((0..64).scan(1_u64, |power, _| Some(std::mem::replace(power, power.wrapping_mul(third)))))
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
    table.extend((0..size as u64).map(|low| {
        let (odd, value) = steps(low, jump_bits);
        (value as u32) << shift | odd << 3
    }));
    let mut halves = (0..size as u64).map(|low| threshold_word(threshold(low, jump_bits)));
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
        let (odd, value) = steps(low, bits);
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
        let (odd, value) = steps(low, bits);
        (value as u32) << shift | odd << 3
    };
    let factors = (0..16).flat_map(|odd| [3_u32.pow(odd), (bits + odd) << step_shift]);
    (0..1 << bits).map(entry).chain(factors).collect()
}

/// Table A: the delays of the numbers below 2ᵗ, in standard steps; 0 for 0.
pub fn known_delays(bits: u32) -> Vec<u32> {
    let mut known = vec![0_u32; 1 << bits];
    for n in 2..known.len() {
        let (mut y, mut steps) = (n as u64, 0);
        while y >= n as u64 {
            steps += if y % 2 == 1 { 2 } else { 1 };
            y = if y % 2 == 1 { y + y / 2 + 1 } else { y / 2 };
        }
        known[n] = steps + known[y as usize];
    }
    known
}

/// ρ in 1/256, rounded up; modulo 2³² if it is negative.
fn rho_units(rho: f64) -> u32 {
    ((rho * 256.0 + EXCESS).ceil() as i64) as u32
}

/// ρ of leaves of L bits with c odd steps, as the kernel has it.
pub fn leaf_rho(leaf_bits: u32, odd: u32) -> u32 {
    (rho_units(f64::from(odd) * LOG2_3 - f64::from(leaf_bits)) + RHO_BIAS) << RHO_SHIFT
}

/// The most that ρ may be, as the kernel has it, if all starts are below `end` and values have so many words.
pub fn rho_limit(end: u128, limbs: u32) -> u32 {
    rho_below((32 * limbs) as f64 - 0.5 - (end as f64).log2())
}

/// The most that ρ may be for so many bits, rounded down, as the kernel has it.
pub fn rho_below(bits: f64) -> u32 {
    (((bits.clamp(0.0, 54.5)) * 256.0).floor() as u32 + RHO_BIAS) << RHO_SHIFT
}

/// The most that ρ can be after some unconditional jumps from leaves with c odd steps, as the kernel has it.
pub fn highest_rho(leaf_bits: u32, odd: u32, jump_bits: u32, jumps: u32) -> u64 {
    let climb = rho_units(f64::from(jump_bits) * (LOG2_3 - 1.0));
    u64::from(leaf_rho(leaf_bits, odd)) + (u64::from(climb * jumps + 1) << RHO_SHIFT)
}

/// The least log2(3ᶜ/2ⁱ) with which no prefix of the next d steps from these low bits is dead by rules 1, 3 or 4.
fn threshold(low: u64, jump_bits: u32) -> f64 {
    let (mut y, mut odd) = (low, 0);
    let (mut need, mut run, mut halvings) = (0_f64, f64::MIN, 0);
    for step in 0..jump_bits {
        let before = f64::from(step) - f64::from(odd) * LOG2_3;
        if y % 2 == 1 {
            if halvings > 0 {
                run = f64::MIN;
            }
            // Rule 4 asks for 3ᶜ ≥ 2^(i+1) at every odd y of a run.
            run = run.max(before + 1.0);
            halvings = 0;
            y += y / 2 + 1;
            odd += 1;
        } else {
            y /= 2;
            halvings += 1;
            if halvings == 2 {
                need = need.max(run);
            }
            // Rule 3 asks for 3^(c−1) ≥ 2^(i−1), if an odd step was seen.
            if odd > 0 && halvings % 2 == 0 {
                need = need.max(f64::from(step) - f64::from(odd - 1) * LOG2_3);
            }
        }
        need = need.max(f64::from(step + 1) - f64::from(odd) * LOG2_3);
    }
    need
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

    /// What the proof in the kernel's contract needs of the roundings.
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

    #[test]
    fn needs_are_exact() {
        for i in 0..=126 {
            let c = need(i);
            assert!((f64::from(c) * LOG2_3 >= f64::from(i)) && (c == 0 || f64::from(c - 1) * LOG2_3 < f64::from(i)));
        }
    }
}
