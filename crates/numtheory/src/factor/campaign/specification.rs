//! The definition of a campaign, and its certificates.

use std::fmt;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use warpmp_campaign::{Damage, Work};

use super::super::{Attempts, Bounds, Sigma, SigmaError, Stage};

/// The program of the files. It has no version: a curve is the same in all of them.
const PROGRAM: &str = "warpmp-numtheory";
/// The version of the files' form.
const FORMAT: u32 = 1;
/// Integers of a unit, at most.
const MOST_INTEGERS: u64 = 256;

/// Everything that defines a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    program: String,
    format: u32,
    /// The integers, in decimal.
    numbers: Vec<String>,
    /// Their checksum.
    checksum: String,
    b1: u64,
    b2: u64,
    /// The first curve of each integer.
    sigma: String,
    /// Curves on each integer.
    curves: u64,
    /// Integers and curves of a unit.
    unit_numbers: u64,
    unit_curves: u64,
}

impl Specification {
    /// Curves from `first` on, `curves` on each integer: so many more that all units have `unit_curves`.
    ///
    /// # Errors
    /// [`SigmaError::TooLarge`] if the family has fewer curves.
    pub fn new(
        numbers: &[BigUint],
        bounds: Bounds,
        first: &Sigma,
        curves: u64,
        unit_curves: u64,
    ) -> Result<Self, SigmaError> {
        let unit_curves = unit_curves.clamp(1, curves.max(1));
        let curves = curves.max(1).next_multiple_of(unit_curves);
        Attempts::curves_from(first.clone(), curves)?;
        let decimal: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        Ok(Self {
            program: PROGRAM.into(),
            format: FORMAT,
            checksum: checksum(&decimal),
            numbers: decimal,
            b1: bounds.b1(),
            b2: bounds.b2(),
            sigma: first.to_string(),
            curves,
            unit_numbers: MOST_INTEGERS.min(numbers.len() as u64),
            unit_curves,
        })
    }

    /// The integers. Files are not trusted: an integer that is none is 0.
    pub fn numbers(&self) -> Vec<BigUint> {
        self.numbers.iter().map(|number| number.parse().unwrap_or_default()).collect()
    }

    /// The bounds of both stages; none if the file has others than [`Bounds`] takes.
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::new(self.b1, self.b2).ok()
    }

    /// The first curve.
    pub fn sigma(&self) -> Option<Sigma> {
        self.sigma.parse().ok()
    }

    /// Curves on each integer.
    pub const fn curves(&self) -> u64 {
        self.curves
    }

    /// Curves of a unit on each of its integers.
    pub const fn unit_curves(&self) -> u64 {
        self.unit_curves
    }

    /// The places of a unit's integers.
    pub fn places(&self, unit: &Unit) -> std::ops::Range<usize> {
        let end = (unit.number + self.unit_numbers).min(self.numbers.len() as u64);
        unit.number as usize..end as usize
    }

    /// A certificate with the work of both: of a unit that was made again after a slip.
    pub(super) fn joined(&self, before: &Certificate, again: Made) -> Certificate {
        let Certificate { unit, made, .. } = before;
        let made = Made {
            known: made.known,
            attempts: made.attempts + again.attempts,
            slips: again.slips,
            found: made.found.iter().chain(&again.found).cloned().collect(),
            seconds: made.seconds + again.seconds,
            ..again
        };
        self.certificate(*unit, made)
    }

    /// Blocks of integers.
    fn blocks(&self) -> u64 {
        (self.numbers.len() as u64).div_ceil(self.unit_numbers.max(1))
    }

    /// A unit's certificate.
    pub(super) fn certificate(&self, unit: Unit, made: Made) -> Certificate {
        Certificate {
            program: PROGRAM.into(),
            format: FORMAT,
            numbers: self.checksum.clone(),
            b1: self.b1,
            b2: self.b2,
            sigma: self.sigma.clone(),
            unit,
            unit_curves: self.unit_curves,
            made,
        }
    }
}

/// A checksum of integers: FNV-1a of their decimal text.
fn checksum(numbers: &[String]) -> String {
    let bytes = numbers.iter().flat_map(|number| number.bytes().chain([b'\n']));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// Some curves on some integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unit {
    /// The first curve, from 0 on.
    pub curve: u64,
    /// The place of the first integer.
    pub number: u64,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}-c{}", self.number, self.curve)
    }
}

/// A unit's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    program: String,
    format: u32,
    /// The checksum of the campaign's integers.
    numbers: String,
    b1: u64,
    b2: u64,
    sigma: String,
    pub(super) unit: Unit,
    unit_curves: u64,
    /// What the unit has done and found.
    pub made: Made,
}

impl Certificate {
    /// The first curve of the campaign.
    pub fn sigma(&self) -> Option<Sigma> {
        self.sigma.parse().ok()
    }

    /// Curves of a unit on each of its integers.
    pub const fn unit_curves(&self) -> u64 {
        self.unit_curves
    }

    /// The number of the curve after the unit's last one.
    pub const fn end(&self) -> u64 {
        self.unit.curve.saturating_add(self.unit_curves)
    }
}

/// What a unit has done and found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// Divisors that were known before, of all its integers.
    pub known: u64,
    /// Attempts.
    pub attempts: u64,
    /// Attempts whose check failed. A unit with such attempts is made again.
    pub slips: u64,
    /// The divisors.
    pub found: Vec<Found>,
    /// The time that it took.
    pub seconds: f64,
    /// The engine. Units of version 0.1 do not tell the engine, the machine and the time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// The machine, by [`warpmp_campaign::host`]. Nothing hangs on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// When it was done: seconds since 1970, UTC, by the machine's clock. Nothing hangs on it.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub at: u64,
}

/// Does the certificate tell no time?
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_unknown(at: &u64) -> bool {
    *at == 0
}

/// A divisor and how it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The place of the integer.
    pub number: u64,
    /// The divisor, in decimal.
    pub divisor: String,
    /// The curve.
    pub sigma: String,
    /// The stage, 1 or 2.
    pub stage: u32,
}

impl Found {
    /// The stage.
    pub const fn stage(&self) -> Stage {
        if self.stage == 1 { Stage::First } else { Stage::Second }
    }
}

impl Work for Specification {
    type Unit = Unit;
    type Certificate = Certificate;

    const PROGRAM: &'static str = PROGRAM;
    const FORMAT: u32 = FORMAT;

    fn units(&self) -> u128 {
        u128::from(self.blocks()) * u128::from(self.curves / self.unit_curves.max(1))
    }

    fn unit(&self, number: u128) -> Option<Unit> {
        if number >= self.units() {
            return None;
        }
        let blocks = u128::from(self.blocks());
        let (range, block) = ((number / blocks) as u64, (number % blocks) as u64);
        Some(Unit { curve: range * self.unit_curves, number: block * self.unit_numbers })
    }

    fn number(&self, unit: &Unit) -> Option<u128> {
        let [curves, numbers] = [self.unit_curves, self.unit_numbers].map(|size| size.max(1));
        let is_unit = unit.curve < self.curves
            && unit.curve.is_multiple_of(curves)
            && unit.number < self.numbers.len() as u64
            && unit.number.is_multiple_of(numbers);
        let number = || u128::from(unit.curve / curves) * u128::from(self.blocks()) + u128::from(unit.number / numbers);
        is_unit.then(number)
    }

    fn name(unit: &Unit) -> String {
        unit.to_string()
    }

    fn named(name: &str) -> Option<Unit> {
        let (number, curve) = name.strip_prefix('n')?.split_once("-c")?;
        Some(Unit { curve: curve.parse().ok()?, number: number.parse().ok()? })
    }

    fn unit_of(certificate: &Certificate) -> Unit {
        certificate.unit
    }

    fn check(&self) -> Result<(), Damage> {
        let number = |text: &String| text.parse::<BigUint>().is_ok();
        let is_whole = self.unit_curves > 0 && self.curves.is_multiple_of(self.unit_curves) && self.unit_numbers > 0;
        match () {
            () if self.program != PROGRAM => Err(Damage::foreign("program", &self.program)),
            () if self.format != FORMAT => Err(Damage::foreign("format", self.format.to_string())),
            () if self.bounds().is_none() => Err(Damage::foreign("B1", self.b1.to_string())),
            () if self.sigma().is_none() => Err(Damage::foreign("sigma", &self.sigma)),
            () if self.checksum != checksum(&self.numbers) => Err(Damage::foreign("checksum", &self.checksum)),
            () if !is_whole => Err(Damage::foreign("curves", self.curves.to_string())),
            () => match self.numbers.iter().find(|text| !number(text)) {
                Some(text) => Err(Damage::foreign("integer", text)),
                None => Ok(()),
            },
        }
    }

    fn check_certificate(certificate: &Certificate) -> Result<(), Damage> {
        let number = |found: &Found| found.divisor.parse::<BigUint>().is_ok() && found.sigma.parse::<Sigma>().is_ok();
        match certificate.made.found.iter().find(|found| !number(found)) {
            Some(found) => Err(Damage::foreign("divisor", &found.divisor)),
            None if certificate.program != PROGRAM => Err(Damage::foreign("program", &certificate.program)),
            None => Ok(()),
        }
    }

    fn fits(&self, certificate: &Certificate) -> Result<(), Damage> {
        let own = self.certificate(certificate.unit, certificate.made.clone());
        if own == *certificate {
            return Ok(());
        }
        let what = format!(
            "integers {}, B1 {}, B2 {}, sigma {}",
            certificate.numbers, certificate.b1, certificate.b2, certificate.sigma
        );
        Err(Damage::Misplaced { what })
    }

    fn extends(&self, found: &Self) -> bool {
        self.curves > found.curves && Self { curves: found.curves, ..self.clone() } == *found
    }

    fn agree(one: &Certificate, other: &Certificate) -> bool {
        // With other divisors known before, a unit finds others; with a mistake of the processor, fewer.
        let slipped = one.made.slips > 0 || other.made.slips > 0;
        slipped || one.made.known != other.made.known || one.made.found == other.made.found
    }

    fn describe(&self) -> String {
        let Self { numbers, b1, b2, sigma, curves, .. } = self;
        format!("{curves} curves from sigma {sigma} on, B1 {b1}, B2 {b2}, on each of {} integers", numbers.len())
    }

    fn describe_certificates(certificates: &[Certificate]) -> String {
        certificates
            .first()
            .map_or_else(String::new, |it| format!("curves from sigma {} on with B1 {}, B2 {}", it.sigma, it.b1, it.b2))
    }
}
