//! Ranges of starts.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Every start is below this.
pub const LIMIT: u128 = 1 << 127;

/// The starts `from … from + count − 1`, at least 1, below [`LIMIT`]; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Window {
    from: u128,
    count: u128,
}

/// A window in three parts. The middle part consists of whole units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The starts before the first whole unit.
    pub head: Option<Window>,
    /// Whole units: the starts `u·2^bits … (u+1)·2^bits − 1` of these `u`. Empty if there is none.
    pub units: Range<u128>,
    /// The starts after the last whole unit. Without a whole unit all starts are in the head.
    pub tail: Option<Window>,
}

impl Window {
    /// `count` starts from `from` on.
    ///
    /// # Errors
    /// [`Error::ZeroStart`], [`Error::ZeroCount`], [`Error::PastLimit`].
    pub fn new(from: u128, count: u128) -> Result<Self> {
        if from == 0 {
            return Err(Error::ZeroStart);
        }
        if count == 0 {
            return Err(Error::ZeroCount);
        }
        match from.checked_add(count) {
            Some(end) if end <= LIMIT => Ok(Self { from, count }),
            _ => Err(Error::PastLimit { from, count }),
        }
    }

    /// The first start.
    pub const fn from(&self) -> u128 {
        self.from
    }

    /// How many starts.
    pub const fn count(&self) -> u128 {
        self.count
    }

    /// The first start after the window.
    pub const fn end(&self) -> u128 {
        self.from + self.count
    }

    /// The window of `range`, if it is not empty.
    pub(crate) fn of(range: Range<u128>) -> Option<Self> {
        (range.start < range.end).then(|| Self { from: range.start, count: range.end - range.start })
    }

    /// The starts of this window below `bound`, and the starts from `bound` on.
    pub fn split_at(&self, bound: u128) -> (Option<Self>, Option<Self>) {
        let bound = bound.clamp(self.from, self.end());
        (Self::of(self.from..bound), Self::of(bound..self.end()))
    }

    /// Cuts the window at multiples of `2^bits`.
    pub fn units(&self, bits: u32) -> Parts {
        let first = (self.from >> bits) + u128::from(self.from & ((1 << bits) - 1) != 0);
        let last = self.end() >> bits;
        if first >= last {
            return Parts { head: Some(*self), units: first..first, tail: None };
        }
        Parts { head: Self::of(self.from..first << bits), units: first..last, tail: Self::of(last << bits..self.end()) }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.from, self.count)
    }
}

/// The form in files: numbers are text, since other programs would round them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    from: String,
    count: String,
}

impl Serialize for Window {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Text { from: self.from.to_string(), count: self.count.to_string() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = Text::deserialize(deserializer)?;
        let from = text.from.parse().map_err(D::Error::custom)?;
        let count = text.count.parse().map_err(D::Error::custom)?;
        Self::new(from, count).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_window() {
        assert!(matches!(Window::new(0, 5), Err(Error::ZeroStart)));
        assert!(matches!(Window::new(5, 0), Err(Error::ZeroCount)));
        assert!(matches!(Window::new(LIMIT, 1), Err(Error::PastLimit { .. })));
        assert!(matches!(Window::new(5, u128::MAX), Err(Error::PastLimit { .. })));
        assert!(Window::new(LIMIT - 1, 1).is_ok());
    }

    #[test]
    fn parts_cover_the_window_once() {
        for bits in [0, 1, 3, 5] {
            for from in 1..40 {
                for count in 1..40 {
                    let window = Window::new(from, count).unwrap();
                    let parts = window.units(bits);
                    let mut next = from;
                    if let Some(head) = parts.head {
                        assert_eq!(head.from(), next);
                        next = head.end();
                    }
                    if !parts.units.is_empty() {
                        assert_eq!(parts.units.start << bits, next);
                        next = parts.units.end << bits;
                    }
                    if let Some(tail) = parts.tail {
                        assert_eq!(tail.from(), next);
                        next = tail.end();
                    }
                    assert_eq!(next, window.end());
                }
            }
        }
    }
}
