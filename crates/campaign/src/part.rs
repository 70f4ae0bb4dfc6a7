//! A part of the units of a campaign, and how a process takes part in it.

use std::{fmt, str::FromStr};

/// Every `of`-th unit, the first being the unit of this number.
///
/// The parts `0/N`, `1/N`, …, `(N−1)/N` have every unit once. So machines that share no directory divide a campaign without a word to
/// one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0 on, below `of`.
    number: u64,
    of: u64,
}

/// Text that names no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("I/N with I below N is needed")]
pub struct NoPart;

/// How a process takes part in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Do other processes work in the directory at the same time? Then each unit is claimed first.
    pub is_shared: bool,
    /// The units of this process.
    pub part: Part,
}

impl Mode {
    /// One process does everything.
    pub const ALONE: Self = Self { is_shared: false, part: Part::ALL };
}

impl Part {
    /// All units.
    pub const ALL: Self = Self { number: 0, of: 1 };

    /// Part `number` of `of`; none unless `number` is below `of`.
    pub const fn new(number: u64, of: u64) -> Option<Self> {
        if number < of { Some(Self { number, of }) } else { None }
    }

    /// The parts of a campaign that has so many, in their order.
    pub fn each(of: u64) -> impl Iterator<Item = Self> {
        (0..of).map(move |number| Self { number, of })
    }

    /// Its share of all units.
    pub fn share(self) -> f64 {
        1.0 / self.of as f64
    }

    /// Has the part the unit with this number?
    pub fn has(self, unit: u128) -> bool {
        unit % u128::from(self.of) == u128::from(self.number)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Part {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Self, NoPart> {
        let (number, of) = text.split_once('/').ok_or(NoPart)?;
        let parsed = (number.parse(), of.parse());
        if let (Ok(number), Ok(of)) = parsed { Self::new(number, of).ok_or(NoPart) } else { Err(NoPart) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_unit_once() {
        let parts: Vec<Part> = Part::each(7).collect();
        assert!((0..100).all(|unit| parts.iter().filter(|part| part.has(unit)).count() == 1));
        assert!((0..100).all(|unit| Part::ALL.has(unit)));
    }

    #[test]
    fn parts_as_text() {
        assert_eq!("3/8".parse(), Ok(Part { number: 3, of: 8 }));
        assert_eq!("3/8".parse::<Part>().map(|it| it.to_string()), Ok("3/8".into()));
        for text in ["8/8", "0/0", "3", "/8", "3/", "-1/8", "3/8/2", ""] {
            assert_eq!(text.parse::<Part>(), Err(NoPart), "{text}");
        }
    }
}
