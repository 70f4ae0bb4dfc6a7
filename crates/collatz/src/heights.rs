//! How high tested starts climb.

use dashu_int::UBig;
use rayon::prelude::*;

use crate::{error::Result, number::descend};

/// A start, and the highest value of `T` from it on until it is below itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The start.
    pub start: u128,
    /// The value.
    pub value: UBig,
}

impl Peak {
    /// Follows a start, as wide as it takes.
    ///
    /// # Errors
    /// [`crate::Error::ZeroStart`], [`crate::Error::NoDescent`].
    pub fn of(start: u128) -> Result<Self> {
        Ok(Self { start, value: descend(start)?.highest.to_ubig() })
    }

    /// The higher one; of equals, that of the smaller start.
    fn or(self, other: Self) -> Self {
        let later = (&other.value, self.start) > (&self.value, other.start);
        if later { other } else { self }
    }
}

/// What is known of the highest value of some tested starts. Parts of a window add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heights {
    /// The highest one that was seen.
    seen: Option<Peak>,
    /// All starts that are higher than this were seen; none: who made the figures did not look.
    complete_above: Option<UBig>,
}

impl Heights {
    /// Of no start at all: what sums begin with. [`Heights::default`] is of starts at which nobody looked.
    pub fn none() -> Self {
        Self::of(None, UBig::ZERO)
    }

    /// The highest start that was seen, where all above a value were.
    pub fn of(seen: Option<Peak>, complete_above: UBig) -> Self {
        Self { seen, complete_above: Some(complete_above) }
    }

    /// Follows all of these starts.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: u128, value: u32, complete_above: u32) -> Heights {
        Heights::of(Some(Peak { start, value: value.into() }), complete_above.into())
    }

    fn start(parts: &[Heights]) -> Option<u128> {
        let mut sum = Heights::none();
        parts.iter().for_each(|part| sum.add(part));
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
