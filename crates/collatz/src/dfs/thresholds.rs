//! Jumps of `d` steps, and how much height they need to survive.
//!
//! A lane carries `ρ`, an upper bound of `log2(3^c/2^i)` after `i` steps, and adds `log2(3)·o − d`, rounded up, for a jump with `o`
//! odd steps. `threshold` of the low `d` bits is the height below which rule 1, 3 or 4 removes the start within the next `d`
//! steps: it is the largest of
//!
//! * `j − o_j·log2(3)` after `j` steps with `o_j` odd ones (rule 1);
//! * `(j − 1) − (o_j − 1)·log2(3)` where an even run that was seen to begin has even length (rule 3);
//! * `(j + 1) − o_j·log2(3)` at an odd step whose run is seen to end in two even steps (rule 4).
//!
//! **Why `ρ < threshold` proves it.** Thresholds are lowered by a margin of `2^-10` and rounded down, and `ρ` is rounded up. So
//! `ρ < threshold` means that the true ratio is below the rule's ratio by more than the factor `2^(-2^-10)`: for rule 1,
//! `3^c·2^(−i) < 1 − 6.7e-4`, and the other rules likewise. By (∗) of [`crate::rules`], `y = (3^c·n + r)/2^i` with `r/3^c ≤ c/3`, up to
//! a factor below 1.03: a lane that went on has true heights down to −0.03 at worst, by rounding. So the rule holds for `n ≥ 520·c`. A
//! lane takes at most [`Jumps::LIMIT`] jumps before it is reported and finished in unbounded arithmetic. So `c < 2000`, and
//! `n ≥ 2^20`, [`crate::rules::FLOOR`], suffices.

use crate::power::{LOG2_3, pow3};

/// `ρ` in units of `2^-20`.
pub const RHO_ONE: i32 = 1 << 20;

/// Every threshold is lowered by this, in bits, for the increments of the odd steps.
pub const MARGIN: f64 = 1.0 / 1024.0;
/// Thresholds in units of `2^-12`.
const THRESHOLD_SHIFT: u32 = 8;

/// `log2(3^odd_steps / 2^steps)` in units of [`RHO_ONE`], rounded up by at least a hundredth of a unit.
pub fn log2_up(odd_steps: u32, steps: u32) -> i32 {
    let height = f64::from(odd_steps) * LOG2_3 - f64::from(steps);
    (height * f64::from(RHO_ONE) + 0.01).ceil() as i32
}

/// A jump in 64 bits: 20 bits of `3^c`, 21 of `T^d`, 18 of the threshold, 5 of `c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Jump(u64);

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for vectors"))]
impl Jump {
    /// Of `3^c`, and of `T^d` above it.
    pub(crate) const NUMBER_MASK: i64 = 0x1f_ffff;
    pub(crate) const ADDEND_PLACE: u32 = 21;
    /// Of the threshold in units of [`RHO_ONE`].
    pub(crate) const THRESHOLD_PLACE: u32 = 42 - THRESHOLD_SHIFT;
    pub(crate) const THRESHOLD_MASK: i64 = 0x3_ffff << THRESHOLD_SHIFT;
    pub(crate) const ODD_PLACE: u32 = 60;

    /// The same jump with another threshold, in units of `2^8`.
    #[cfg(test)]
    pub(crate) fn with_threshold(self, units: u64) -> Self {
        Self(self.0 & !(0x3_ffff << 42) | units << 42)
    }

    /// `3^c`: table B.
    #[inline]
    pub fn factor(self) -> u64 {
        self.0 & 0x1f_ffff
    }

    /// `T^d` of the low bits: table C.
    #[inline]
    pub fn addend(self) -> u64 {
        self.0 >> 21 & 0x1f_ffff
    }

    /// `c`.
    #[inline]
    pub fn odd_steps(self) -> u32 {
        (self.0 >> 60) as u32
    }

    /// The least `ρ`, in units of [`RHO_ONE`], that a value with these low bits needs to survive the next `d` steps.
    #[inline]
    pub fn threshold(self) -> i32 {
        ((self.0 >> 42 & 0x3_ffff) << THRESHOLD_SHIFT) as i32
    }
}

/// The jumps of `d` steps for all low bits.
#[derive(Debug)]
pub struct Jumps {
    base_bits: u32,
    entries: Vec<Jump>,
}

impl Jumps {
    /// Jumps that a lane may take after the look-ahead before it is reported.
    pub const LIMIT: u32 = 140;

    /// `base_bits` is `d`, 4 to 13.
    pub fn new(base_bits: u32) -> Self {
        let base_bits = base_bits.clamp(4, 13);
        let entries = (0..1u64 << base_bits).map(|low| entry(low, base_bits)).collect();
        Self { base_bits, entries }
    }

    /// `d`.
    pub fn base_bits(&self) -> u32 {
        self.base_bits
    }

    /// `2^d` jumps.
    pub fn entries(&self) -> &[Jump] {
        &self.entries
    }
}

fn entry(low: u64, base_bits: u32) -> Jump {
    let Walk { odd, value, threshold } = Walk::of(low, base_bits);
    let units = ((threshold - MARGIN) * f64::from(RHO_ONE >> THRESHOLD_SHIFT)).floor().max(0.0) as u64;
    Jump(pow3(odd as usize) as u64 | value << 21 | units << 42 | u64::from(odd) << 60)
}

/// Steps from the low bits of a value.
pub(crate) struct Walk {
    /// Odd steps.
    pub(crate) odd: u32,
    /// The value after the steps.
    pub(crate) value: u64,
    /// The height `log2(3^c/2^i)`, in bits, below which rule 1, 3 or 4 removes a start within these steps. No margin is taken off.
    pub(crate) threshold: f64,
}

impl Walk {
    /// Takes as many steps as there are bits.
    pub(crate) fn of(low: u64, bits: u32) -> Self {
        let mut value = low;
        let (mut odd, mut even_run, mut seen) = (0u32, 0u32, false);
        let mut threshold = 0.0f64;
        let mut of_run = f64::NEG_INFINITY;
        for step in 0..bits {
            let height = |steps: u32, odd: u32| f64::from(steps) - f64::from(odd) * LOG2_3;
            if value & 1 == 1 {
                if even_run > 0 {
                    of_run = f64::NEG_INFINITY;
                }
                of_run = of_run.max(height(step + 1, odd));
                value = (3 * value + 1) >> 1;
                (odd, even_run, seen) = (odd + 1, 0, true);
            } else {
                value >>= 1;
                even_run += 1;
                threshold = threshold.max(height(step + 1, odd));
                if even_run == 2 {
                    threshold = threshold.max(of_run);
                }
                if seen && even_run.is_multiple_of(2) {
                    threshold = threshold.max(height(step, odd - 1));
                }
            }
        }
        Self { odd, value, threshold }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{number::Affine, power::min_odd};

    #[test]
    fn jumps_are_affine_steps() {
        for base_bits in [4, 11, 12, 13] {
            for (low, jump) in Jumps::new(base_bits).entries().iter().enumerate() {
                let affine = Affine::of(low as u128, base_bits).unwrap();
                assert_eq!(jump.factor(), pow3(affine.odd_steps as usize) as u64);
                assert_eq!(u128::from(jump.addend()), affine.value);
                assert_eq!(jump.odd_steps(), affine.odd_steps);
            }
        }
    }

    #[test]
    fn heights_are_rounded_up() {
        for (odd, steps) in [(0u32, 1u32), (1, 1), (5, 8), (12, 19), (41, 65), (53, 84)] {
            let up = f64::from(log2_up(odd, steps)) / f64::from(RHO_ONE);
            let true_height = f64::from(odd) * LOG2_3 - f64::from(steps);
            assert!(up > true_height && up < true_height + 2e-6);
            assert_eq!(true_height < 0.0, (odd as usize) < min_odd(steps as usize));
        }
    }
}
