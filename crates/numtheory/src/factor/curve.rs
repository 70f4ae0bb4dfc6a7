//! Montgomery curves `B·y² = x³ + A·x² + x` with a point, by the families of GMP-ECM.
//!
//! | family | curve | point | order divisible by |
//! |---|---|---|---|
//! | 0 (Suyama) | `u = σ² − 5`, `v = 4σ`, `A = (v−u)³(3u+v)/(4u³v) − 2` | `x = u³/v³` | 12 |
//! | 1 | `A = 4σ²/2⁶⁴ − 2` | `x = 2` | 4 |
//! | 3 | `A = 4σ/2³² − 2` | `x = 2` | 4 |
//!
//! source: Montgomery 1987; the README of GMP-ECM 7 for the families.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;

use super::modular::inverse;
use super::{Stage, Verdict};

/// The parameter of a curve, with its family: `0:17`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sigma {
    family: Family,
    value: BigUint,
}

/// A family of curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Suyama's, GMP-ECM's 0: of every family here it finds a factor with the fewest curves.
    Suyama,
    /// GMP-ECM's 1: the square of a word.
    SquareWord,
    /// GMP-ECM's 3: a word.
    Word,
}

impl Family {
    /// The number that GMP-ECM gives it.
    pub const fn number(self) -> u32 {
        match self {
            Self::Suyama => 0,
            Self::SquareWord => 1,
            Self::Word => 3,
        }
    }

    /// The family with GMP-ECM's number.
    pub const fn of_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Suyama),
            1 => Some(Self::SquareWord),
            3 => Some(Self::Word),
            _ => None,
        }
    }
}

/// Why a text or a number is no [`Sigma`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigmaError {
    /// Not `FAMILY:SIGMA` or `SIGMA`.
    #[error("'{0}' is not FAMILY:SIGMA, two numbers, or a sigma of family 0")]
    Text(String),
    /// A family that does not exist here.
    #[error("there is no family {0} of curves here; there are 0, 1 and 3")]
    Family(u32),
    /// The families 1 and 3 take words.
    #[error("a sigma of the families 1 and 3 is from 1 to 2^32 - 1; {0} is not")]
    TooLarge(BigUint),
    /// Suyama's curves begin at 6.
    #[error("a sigma of family 0 is 6 or more; {0} gives no curve")]
    TooSmall(BigUint),
}

impl Sigma {
    /// A parameter of a family.
    ///
    /// # Errors
    /// [`SigmaError::TooLarge`], [`SigmaError::TooSmall`].
    pub fn new(family: Family, value: BigUint) -> Result<Self, SigmaError> {
        match family {
            Family::Suyama if value.bits() < 4 && value < BigUint::from(6_u32) => Err(SigmaError::TooSmall(value)),
            Family::SquareWord | Family::Word if value.bits() == 0 || value.bits() > 32 => {
                Err(SigmaError::TooLarge(value))
            }
            Family::Suyama | Family::SquareWord | Family::Word => Ok(Self { family, value }),
        }
    }

    /// One of Suyama's curves for each number.
    pub fn suyama(number: u64) -> Self {
        Self { family: Family::Suyama, value: BigUint::from(number) + 6_u32 }
    }

    /// The parameter that stands `count` after this one.
    ///
    /// # Errors
    /// [`SigmaError::TooLarge`] after the last word.
    pub fn after(&self, count: u64) -> Result<Self, SigmaError> {
        Self::new(self.family, &self.value + count)
    }

    /// The family.
    pub const fn family(&self) -> Family {
        self.family
    }

    /// The word `σ` of a curve with `d = σ/2³²`.
    pub(super) fn word(&self) -> Option<u32> {
        match self.family {
            // A sigma of this family is a word.
            Family::Word => self.value.iter_u64_digits().next().map(|digit| digit as u32),
            Family::Suyama | Family::SquareWord => None,
        }
    }

    /// The number.
    pub const fn value(&self) -> &BigUint {
        &self.value
    }
}

impl fmt::Display for Sigma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.family.number(), self.value)
    }
}

impl FromStr for Sigma {
    type Err = SigmaError;

    fn from_str(text: &str) -> Result<Self, SigmaError> {
        let (family, value) = text.split_once(':').unwrap_or(("0", text));
        let (Ok(family), Ok(value)) = (family.parse(), value.parse()) else {
            return Err(SigmaError::Text(text.to_owned()));
        };
        Self::new(Family::of_number(family).ok_or(SigmaError::Family(family))?, value)
    }
}

/// A curve modulo N, with a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Curve {
    /// `(A + 2)/4`.
    pub(super) d: BigUint,
    /// The point's `x`.
    pub(super) x: BigUint,
}

/// Why a parameter gives no curve modulo N.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoCurve {
    /// The curve is singular modulo N, or its point has a small order.
    Singular,
    /// A denominator has this divisor in common with N.
    Divisor(BigUint),
}

/// The verdict without a curve.
pub(super) fn no_group(reason: NoCurve, n: &BigUint) -> Verdict {
    match reason {
        NoCurve::Divisor(divisor) if divisor != *n => Verdict::Divisor { divisor, stage: Stage::First },
        NoCurve::Divisor(_) | NoCurve::Singular => Verdict::NoGroup,
    }
}

impl Curve {
    /// The curve of a parameter modulo an odd `n`.
    pub(super) fn of(sigma: &Sigma, n: &BigUint) -> Result<Self, NoCurve> {
        let (zero, one) = (BigUint::ZERO, BigUint::from(1_u32));
        let invert = |a: &BigUint| inverse(a, n).map_err(NoCurve::Divisor);
        let s = &sigma.value % n;
        let curve = match sigma.family {
            Family::Suyama => {
                let u = (&s * &s + n * 5_u32 - 5_u32) % n;
                let v = &s * 4_u32 % n;
                if u == zero || v == zero {
                    return Err(NoCurve::Singular);
                }
                let [cube_u, cube_v] = [&u, &v].map(|it| it * it % n * it % n);
                let difference = (n + &v - &u) % n;
                let top = &difference * &difference % n * &difference % n * (&u * 3_u32 + &v) % n;
                // d = (A + 2)/4 = (v − u)³(3u + v)/(16u³v)
                let bottom = &cube_u * &v % n * 16_u32 % n;
                let d = top * invert(&bottom)? % n;
                Self { d, x: cube_u * invert(&cube_v)? % n }
            }
            Family::SquareWord => {
                Self { d: &s * &s % n * invert(&((&one << 64) % n))? % n, x: BigUint::from(2_u32) % n }
            }
            Family::Word => Self { d: s * invert(&((&one << 32) % n))? % n, x: BigUint::from(2_u32) % n },
        };
        // A = ±2 is singular. With 8d + 1 = 0 the point 2 has a small order.
        let of_small_order = sigma.family != Family::Suyama && (&curve.d * 8_u32 + 1_u32) % n == zero;
        if curve.d == zero || curve.d == one || of_small_order { Err(NoCurve::Singular) } else { Ok(curve) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_as_text() {
        for text in ["0:17", "1:5", "3:4294967295"] {
            assert_eq!(text.parse::<Sigma>().unwrap().to_string(), text);
        }
        assert_eq!("17".parse::<Sigma>().unwrap().to_string(), "0:17");
        assert_eq!("2:17".parse::<Sigma>(), Err(SigmaError::Family(2)));
        assert_eq!("0:5".parse::<Sigma>(), Err(SigmaError::TooSmall(5_u32.into())));
        for text in ["3:0", "1:4294967296"] {
            assert!(matches!(text.parse::<Sigma>(), Err(SigmaError::TooLarge(_))), "{text}");
        }
        for text in ["", "3:", ":5", "3:x", "-1:7", "3:4:5"] {
            assert_eq!(text.parse::<Sigma>(), Err(SigmaError::Text(text.to_owned())));
        }
        assert!("3:4294967295".parse::<Sigma>().unwrap().after(1).is_err());
    }

    /// Each start lies on its curve or on its twist, and Suyama's point `x = u³/v³` has `A` as the family says.
    #[test]
    fn curves_of_suyama() {
        let n = BigUint::from(1_000_003_u32);
        for value in 6..200_u32 {
            let sigma = Sigma::new(Family::Suyama, value.into()).unwrap();
            let Ok(Curve { d, x }) = Curve::of(&sigma, &n) else { continue };
            let (u, v) = (i128::from(value).pow(2) - 5, 4 * i128::from(value));
            let m = 1_000_003_i128;
            let (d, x) = (i128::try_from(d).unwrap(), i128::try_from(x).unwrap());
            let cube = |it: i128| (it % m * it % m * it).rem_euclid(m);
            assert_eq!(x * cube(v) % m, cube(u), "{value}");
            assert_eq!(d * 16 % m * cube(u) % m * v % m, cube(v - u) * ((3 * u + v) % m) % m, "{value}");
        }
    }
}
