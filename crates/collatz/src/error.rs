//! The errors of this crate, with their numbers as numbers.

use std::fmt;

use warpmp_campaign::Stopped;

use crate::{certificate::Figures, window::Window};

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A start of zero: zero never reaches 1. Begin at 1.
    #[error("the first start must be at least 1")]
    ZeroStart,
    /// A window without numbers. Ask for at least one.
    #[error("the count must be at least 1")]
    ZeroCount,
    /// A window that ends past `2^127`. Ask for fewer numbers.
    #[error("the range from {from} with {count} numbers ends past 2^127")]
    PastLimit {
        /// First start of the window.
        from: u128,
        /// Numbers in it.
        count: u128,
    },
    /// A parameter that the scheme does not support.
    #[error("{name} must be {allowed}, not {}", Plain(*value))]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: u128,
        /// The values that are supported.
        allowed: Allowed,
    },
    /// A start whose trajectory did not come below it. It is a bug, or news: trace it.
    #[error("start {start} did not come below itself in {steps} steps: trace it, and tell the world")]
    NoDescent {
        /// The start.
        start: u128,
        /// Steps of `T` that were taken.
        steps: u64,
    },
    /// The work was told to stop.
    #[error("stopped")]
    Stopped,
    /// A campaign's directory, or a file in it.
    #[error(transparent)]
    Campaign(#[from] warpmp_campaign::Error),
    /// The engine and the independent path found different figures. One of both is wrong, and nothing is certified.
    #[error(
        "window {window}: {found_tested} tested with checksum {found_checksum}, \
         the independent path finds {expected_tested} with {expected_checksum}"
    )]
    Disagreement {
        /// The window, or the sample of one.
        window: Window,
        /// Tested starts as claimed.
        found_tested: u64,
        /// Checksum as claimed.
        found_checksum: String,
        /// Tested starts as recomputed.
        expected_tested: u64,
        /// Checksum as recomputed.
        expected_checksum: String,
    },
    /// The engine and the independent path found different highest values. One of both is wrong, and nothing is certified.
    #[error("window {window}: the highest value is {found}, the independent path finds {expected}")]
    OtherHighest {
        /// The window, or the sample of one.
        window: Window,
        /// As claimed.
        found: String,
        /// As recomputed.
        expected: String,
    },
    /// An engine left overflowed starts unfinished.
    #[error("window {window}: {open} overflowed starts were not finished; please report this as a bug")]
    Unfinished {
        /// The window.
        window: Window,
        /// How many.
        open: u64,
    },
    /// Too many windows: their certificates would fill a directory that nobody can list. Ask for larger windows.
    #[error("{windows} windows, but a directory holds at most {limit}: choose larger windows")]
    TooManyWindows {
        /// How many there would be.
        windows: u128,
        /// The most that a campaign has.
        limit: u128,
    },
    /// The CPU's memory is too small for the tables of this plan. Go on with the device that began the campaign, or begin another one
    /// with fewer look-ahead bits.
    #[error(
        "the look-ahead of this plan takes {required_bytes} bytes of memory, of which {available_bytes} are free: \
         use the device that began the campaign, or begin another one with fewer look-ahead bits"
    )]
    PlanMemory {
        /// For the tables.
        required_bytes: u64,
        /// Free memory.
        available_bytes: u64,
    },
    /// The GPU or the simulator failed; the window it worked on is not done.
    #[error(transparent)]
    Device(#[from] warpmp_device::Error),
}

/// The values that a parameter may have; bounds are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Allowed {
    /// From the first number to the second.
    Between(u128, u128),
    /// This or more.
    AtLeast(u128),
    /// This or less.
    AtMost(u128),
    /// One of these.
    OneOf(&'static [u128]),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Between(low, high) if low == high => write!(f, "{}", Plain(low)),
            Self::Between(low, high) => write!(f, "from {} to {}", Plain(low), Plain(high)),
            Self::AtLeast(low) => write!(f, "at least {}", Plain(low)),
            Self::AtMost(high) => write!(f, "at most {}", Plain(high)),
            Self::OneOf(values) => {
                for (place, value) in values.iter().enumerate() {
                    let between = match place {
                        0 => "",
                        _ if place + 1 == values.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{between}{}", Plain(*value))?;
                }
                Ok(())
            }
        }
    }
}

/// A number in a message. Large powers of two are written as powers.
struct Plain(u128);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >> 20 > 0 && self.0.is_power_of_two() {
            return write!(f, "2^{}", self.0.ilog2());
        }
        write!(f, "{}", self.0)
    }
}

impl Error {
    /// [`Error::Parameter`] unless `low ≤ value ≤ high`.
    pub(crate) fn parameter(name: &'static str, value: u64, low: u64, high: u64) -> Result<()> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let (low, value) = (low.into(), value.into());
        let allowed = if high == u64::MAX { Allowed::AtLeast(low) } else { Allowed::Between(low, high.into()) };
        Err(Self::Parameter { name, value, allowed })
    }

    /// [`Error::Disagreement`] about a window.
    pub(crate) fn disagreement(window: &Window, found: &Figures, expected: &Figures) -> Self {
        Self::Disagreement {
            window: *window,
            found_tested: found.tested,
            found_checksum: found.checksum.clone(),
            expected_tested: expected.tested,
            expected_checksum: expected.checksum.clone(),
        }
    }
}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_said() {
        let words = |value, allowed| Error::Parameter { name: "sieve modulus", value, allowed }.to_string();
        assert_eq!(words(4, Allowed::OneOf(&[1, 3, 9])), "sieve modulus must be 1, 3 or 9, not 4");
        assert_eq!(words(99, Allowed::Between(3, 37)), "sieve modulus must be from 3 to 37, not 99");
        assert_eq!(words(99, Allowed::Between(3, 3)), "sieve modulus must be 3, not 99");
        assert_eq!(words(1 << 70, Allowed::AtMost(1 << 64)), "sieve modulus must be at most 2^64, not 2^70");
        assert_eq!(words(5, Allowed::AtLeast(1 << 16)), "sieve modulus must be at least 65536, not 5");
    }

    #[test]
    fn a_bound_without_end_is_none() {
        assert!(Error::parameter("bits", 7, 3, 7).is_ok() && Error::parameter("bits", 2, 3, 7).is_err());
        let error = Error::parameter("bits", 2, 3, u64::MAX).unwrap_err();
        assert_eq!(error.to_string(), "bits must be at least 3, not 2");
    }
}
