//! How high tested starts climb.
//!
//! Engines see values at the ends of jumps only, by upper bounds `ρ` of `log2(z/n)`. They report the starts whose `ρ` exceeds a limit,
//! the *climb*, and the host follows these starts step by step. A bound holds for the values of all other starts (`bound`). So if a
//! reported start is above the bound, the highest value of the reported starts is the highest of all.
//!
//! **The bound.** Let `n` be tested, by leaves of `L` bits and jumps of `d` steps, and not reported.
//!
//! * In the first `L` steps values are at most `(3/2)^L·(n + 1)`, as `T(z) + 1 ≤ (3/2)·(z + 1)`.
//! * Let `z` and `z'` be the values before and after a jump, and `y` the value `j` steps after `z`. Then `y ≤ (3/2)^j·(z + 1)`, and
//!   `z' ≥ y/2^(d−j)`. If neither `z` nor `z'` is above `2^climb·n`, then `log2(y/n) ≤ climb + min(0.585·j, d − j)` up to roundings. The
//!   minimum is largest, `0.37·d`, where both terms are equal.
//! * A start is dropped when a rule ends it within the next `d` steps: at a value below `n` (rule 1) or below `3n/2` (rule 3), or
//!   after an odd run with a value below `2n` and two halvings (rule 4). Each of the `d` steps at most halves the value, or makes it
//!   half as large again. So all values until then are below `2^(d+1)·n`.

use dashu_int::UBig;
use rayon::prelude::*;

use crate::{
    error::{Error, Result},
    number::{PATIENCE, Value},
};

/// A start, and the highest value of `T` on its way. The way ends below the start, or on the trajectory of a smaller number by rule 3 or
/// 4 of [`crate::rules`]: later values belong to the smaller number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The start.
    pub start: u128,
    /// The value.
    pub value: UBig,
}

impl Peak {
    /// Follows a start in unbounded arithmetic. Each rule is tested on the values themselves: is the other number smaller?
    ///
    /// # Errors
    /// [`Error::ZeroStart`], [`Error::NoDescent`].
    pub fn of(start: u128) -> Result<Self> {
        if start == 0 {
            return Err(Error::ZeroStart);
        }
        let first = UBig::from(start);
        let (twice, thrice) = (&first * 2_u8, &first * 3_u8);
        let mut value = Value::Narrow(start);
        let mut highest = first;
        // Halvings since the last odd step, if there was one; and was (y − 1)/2 smaller for an odd y of that run?
        let (mut halvings, mut seen, mut smaller) = (0, false, false);
        for _ in 0..PATIENCE {
            let before = value.to_ubig();
            let (next, odd) = value.step();
            let after = next.to_ubig();
            value = next;
            if odd {
                smaller = (halvings == 0 && smaller) || before <= twice;
                (halvings, seen) = (0, true);
            } else {
                halvings += 1;
            }
            let ended = value.is_below(start)
                || halvings == 2 && smaller
                || seen && halvings > 0 && halvings % 2 == 0 && &after * 2_u8 <= thrice;
            if ended || start == 1 {
                return Ok(Self { start, value: highest });
            }
            highest = highest.max(after);
        }
        Err(Error::NoDescent { start, steps: PATIENCE })
    }

    /// The higher peak; of equal ones, the peak of the smaller start.
    fn or(self, other: Self) -> Self {
        let later = (&other.value, self.start) > (&self.value, other.start);
        if later { other } else { self }
    }
}

/// The knowledge about the highest value of some tested starts. Parts of a window add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heights {
    /// The highest peak that was seen.
    seen: Option<Peak>,
    /// All starts with a higher value than this were seen; none: the engine did not look.
    complete_above: Option<UBig>,
}

impl Heights {
    /// Without any start: sums begin with this. [`Heights::default`] stands for starts at which no engine looked.
    pub fn none() -> Self {
        Self::of(None, UBig::ZERO)
    }

    /// The highest start that was seen, where all starts above a value were seen.
    pub fn of(seen: Option<Peak>, complete_above: UBig) -> Self {
        Self { seen, complete_above: Some(complete_above) }
    }

    /// Follows all these starts.
    ///
    /// # Errors
    /// As [`Peak::of`].
    pub fn follow(starts: impl ParallelIterator<Item = u128>) -> Result<Self> {
        let heights = starts.map(|start| Ok(Self::of(Some(Peak::of(start)?), UBig::ZERO)));
        heights.try_reduce(Self::none, |mut sum, part| {
            sum.add(&part);
            Ok(sum)
        })
    }

    /// One start that was seen.
    pub fn see(&mut self, peak: Peak) {
        self.seen = Some(match self.seen.take() {
            Some(seen) => seen.or(peak),
            None => peak,
        });
    }

    /// Adds another part.
    pub fn add(&mut self, other: &Self) {
        if let Some(peak) = &other.seen {
            self.see(peak.clone());
        }
        self.complete_above = match (self.complete_above.take(), &other.complete_above) {
            (Some(one), Some(other)) => Some(one.max(other.clone())),
            _ => None,
        };
    }

    /// The highest value of all these starts, if it is known.
    pub fn highest(&self) -> Option<&Peak> {
        let bound = self.complete_above.as_ref()?;
        self.seen.as_ref().filter(|peak| peak.value >= *bound)
    }
}

/// Bits that cover all roundings.
pub(crate) const SLACK: f64 = 0.1;
/// The most that a step adds: a little more than `log2(3/2)`.
const STEP: f64 = 0.6;
/// Of `2^b` starts about `2^9` climb by `b − 9` bits. This is enough: the highest one is among them, and above the bound.
const SEEN_BITS: f64 = 9.0;

/// The most bits by which a value within a jump is above both of its ends.
pub(crate) fn peak(jump_bits: u32) -> f64 {
    f64::from(jump_bits) * 0.37 + SLACK
}

/// The climb from which on engines report the starts of a window of `count` numbers, so that the highest one is seen.
pub(crate) fn climb(count: u128, leaf_bits: u32) -> f64 {
    ((count as f64).log2() - SEEN_BITS).max(f64::from(leaf_bits) * STEP)
}

/// No value of a tested start up to `last` that is not reported exceeds this, for limits of at least `leaf_bits·0.6` bits.
pub(crate) fn bound(last: u128, climb: f64, jump_bits: u32) -> UBig {
    UBig::from(last) << (climb + peak(jump_bits)).max(f64::from(jump_bits) + 1.0 + SLACK).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: u128, value: u32, complete_above: u32) -> Heights {
        Heights::of(Some(Peak { start, value: value.into() }), complete_above.into())
    }

    fn start(parts: &[Heights]) -> Option<u128> {
        let mut sum = Heights::none();
        for part in parts {
            sum.add(part);
        }
        sum.highest().map(|peak| peak.start)
    }

    #[test]
    fn sums_know_what_their_parts_know() {
        assert_eq!(start(&[]), None);
        assert_eq!(start(&[seen(5, 70, 70)]), Some(5));
        // Something between 70 and 71 may not have been seen.
        assert_eq!(start(&[seen(5, 70, 71)]), None);
        assert_eq!(start(&[seen(5, 70, 20), seen(9, 90, 30)]), Some(9));
        assert_eq!(start(&[seen(5, 70, 20), seen(9, 60, 80)]), None);
        // The least start of equals, in any order.
        assert_eq!(start(&[seen(9, 70, 20), seen(5, 70, 30)]), Some(5));
        assert_eq!(start(&[seen(5, 70, 30), seen(9, 70, 20)]), Some(5));
        // One part at which nobody looked.
        assert_eq!(start(&[seen(5, 70, 20), Heights::default()]), None);
        assert_eq!(start(&[Heights::default(), seen(5, 70, 20)]), None);
    }
}
