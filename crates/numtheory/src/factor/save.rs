//! GMP-ECM's save lines: the residue of a first stage, with all that is needed to go on.
//!
//! ```text
//! METHOD=ECM; PARAM=3; SIGMA=974277738; B1=200; N=15329478340397551129; X=0x1b7d…; CHECKSUM=…; PROGRAM=…; X0=0x2;
//! ```
//!
//! source: the README of GMP-ECM 7; the checksum is the product of the fields modulo the largest prime below 2³².

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;

use super::{Family, Job, Method, Sigma, SigmaError};

const CHECKSUM_MODULUS: u32 = 4_294_967_291;

/// The residue of a first stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveLine {
    /// The method.
    pub method: Method,
    /// The first stage's bound.
    pub b1: u64,
    /// The integer.
    pub n: BigUint,
    /// The residue.
    pub x: BigUint,
    /// The start of the first stage, if it is known.
    pub x0: Option<BigUint>,
}

/// Why a text is no save line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaveLineError {
    /// A part without `=`.
    #[error("'{0}' is not NAME=VALUE")]
    Field(String),
    /// A field that every line has.
    #[error("there is no {0}=")]
    Missing(&'static str),
    /// A field that is no number.
    #[error("{0}={1} is not a number")]
    Number(&'static str, String),
    /// A method that is not known.
    #[error("METHOD={0} is not ECM, P-1 or P+1")]
    Method(String),
    /// Neither `SIGMA=` nor `A=`.
    #[error("a line of ECM has SIGMA= or A=")]
    NoCurve,
    /// A parameter of no curve.
    #[error(transparent)]
    Sigma(#[from] SigmaError),
    /// Curves of other forms.
    #[error("ETYPE={0}: only curves in Montgomery's form, ETYPE=1, can be read")]
    CurveType(String),
    /// The line ends within a field.
    #[error(
        "there is neither CHECKSUM= nor a ';' at its end: it may be cut off; a ';' at the end says that it is whole"
    )]
    CutOff,
    /// The line was changed.
    #[error("CHECKSUM={found} is wrong: the fields have {expected}; the line was changed")]
    Checksum {
        /// The checksum of the fields.
        expected: u32,
        /// The line's.
        found: BigUint,
    },
}

impl SaveLine {
    /// The job that goes on.
    pub fn job(&self) -> Job {
        Job { n: self.n.clone(), method: self.method.clone(), start: Some(self.x.clone()), done: self.b1 }
    }

    /// The product of the fields modulo the largest prime below 2³².
    fn checksum(&self) -> u32 {
        let own = match &self.method {
            Method::Ecm(sigma) => sigma.value() * (sigma.family().number() + 1),
            Method::Curve(a) => a.clone(),
            Method::Pm1 | Method::Pp1 => BigUint::from(1_u32),
        };
        let product = own * self.b1 % CHECKSUM_MODULUS * &self.n % CHECKSUM_MODULUS * &self.x % CHECKSUM_MODULUS;
        product.iter_u32_digits().next().unwrap_or(0)
    }
}

impl fmt::Display for SaveLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "METHOD={}; ", self.method.name())?;
        match &self.method {
            Method::Ecm(sigma) => write!(f, "PARAM={}; SIGMA={}; ", sigma.family().number(), sigma.value())?,
            Method::Curve(a) => write!(f, "ETYPE=1; A={a}; ")?,
            Method::Pm1 | Method::Pp1 => {}
        }
        write!(f, "B1={}; N={}; X=0x{:x}; CHECKSUM={}; ", self.b1, self.n, self.x, self.checksum())?;
        write!(f, "PROGRAM=WarpMP {};", env!("CARGO_PKG_VERSION"))?;
        self.x0.as_ref().map_or(Ok(()), |x0| write!(f, " X0=0x{x0:x};"))
    }
}

impl FromStr for SaveLine {
    type Err = SaveLineError;

    fn from_str(text: &str) -> Result<Self, SaveLineError> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let fields = parts.map(|part| part.split_once('=').ok_or_else(|| SaveLineError::Field(part.to_owned())));
        let fields: Vec<(&str, &str)> = fields.collect::<Result<_, _>>()?;
        let field = |name: &str| fields.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
        let number = |name: &'static str| {
            let parse = |text: &str| number(text).ok_or_else(|| SaveLineError::Number(name, text.to_owned()));
            field(name).map(parse).transpose()
        };
        let needed = |name: &'static str| number(name)?.ok_or(SaveLineError::Missing(name));
        let word = |name: &'static str| {
            let value = needed(name)?;
            u64::try_from(&value).map_err(|_| SaveLineError::Number(name, value.to_string()))
        };
        let method = match field("METHOD").ok_or(SaveLineError::Missing("METHOD"))? {
            "ECM" => {
                if let Some(other) = field("ETYPE").filter(|etype| *etype != "1") {
                    return Err(SaveLineError::CurveType(other.to_owned()));
                }
                match (number("SIGMA")?, number("A")?) {
                    (Some(sigma), _) => {
                        let family = if field("PARAM").is_some() { word("PARAM")? } else { 0 };
                        let family = u32::try_from(family).unwrap_or(u32::MAX);
                        let known = Family::of_number(family).ok_or(SigmaError::Family(family))?;
                        Method::Ecm(Sigma::new(known, sigma)?)
                    }
                    (None, Some(a)) => Method::Curve(a),
                    (None, None) => return Err(SaveLineError::NoCurve),
                }
            }
            "P-1" => Method::Pm1,
            "P+1" => Method::Pp1,
            other => return Err(SaveLineError::Method(other.to_owned())),
        };
        let line = Self { method, b1: word("B1")?, n: needed("N")?, x: needed("X")?, x0: number("X0")? };
        match number("CHECKSUM")? {
            Some(found) if found != line.checksum().into() => {
                Err(SaveLineError::Checksum { expected: line.checksum(), found })
            }
            None if !text.trim_end().ends_with(';') => Err(SaveLineError::CutOff),
            _ => Ok(line),
        }
    }
}

/// A number: decimal, with `0x`, or as `1e6`.
fn number(text: &str) -> Option<BigUint> {
    if let Some(digits) = text.strip_prefix("0x") {
        return BigUint::parse_bytes(digits.as_bytes(), 16);
    }
    if let Some((digits, zeros)) = text.split_once('e') {
        let zeros: u32 = zeros.parse().ok().filter(|zeros| *zeros < 20)?;
        return Some(BigUint::parse_bytes(digits.as_bytes(), 10)? * BigUint::from(10_u32).pow(zeros));
    }
    BigUint::parse_bytes(text.as_bytes(), 10)
}
