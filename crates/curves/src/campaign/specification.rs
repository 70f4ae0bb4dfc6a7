//! The definition of a campaign, and the sealed files of its directory.

use std::fmt;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use warpmp_campaign::{Damage, Work};

use crate::challenges;
use crate::error::Result;
use crate::meetings::Distinguished;
use crate::problem::Problem;
use crate::search::Definition;
use crate::walk::Settings;

/// The program of the files. It has no version: the checksum of the definition tells whether the walk is the same.
const PROGRAM: &str = "warpmp-curves";
/// The version of the files' form.
const FORMAT: u32 = 1;

/// Everything that defines a campaign: all its points are points of one walk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    program: String,
    format: u32,
    curve: serde_json::Value,
    settings: Settings,
    /// [`Definition::checksum`].
    definition: String,
}

impl Specification {
    /// The campaign of a problem's walk.
    pub fn new(problem: &Problem, definition: &Definition) -> Self {
        Self {
            program: PROGRAM.into(),
            format: FORMAT,
            curve: serde_json::from_str(&problem.to_json()).unwrap_or_default(),
            settings: definition.settings(),
            definition: definition.checksum(),
        }
    }

    /// The settings of the walk.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The problem, its parameters checked again. It has the name of the built-in curve, if it is one.
    ///
    /// # Errors
    /// As [`Problem::from_json`].
    pub fn problem(&self) -> Result<Problem> {
        let problem = Problem::from_json("", &self.curve.to_string())?;
        let same = |name: &&str| {
            challenges::named(name).is_ok_and(|known| Problem { name: String::new(), ..known } == problem)
        };
        let name = challenges::names().into_iter().find(same).unwrap_or_default();
        Ok(Problem { name: name.into(), ..problem })
    }

    /// Tells this campaign's certificates and records from others'.
    pub(super) fn checksum(&self) -> &str {
        &self.definition
    }

    /// A certificate of this campaign.
    pub(super) fn certificate(&self, part: Part) -> Certificate {
        Certificate { program: PROGRAM.into(), format: FORMAT, campaign: self.definition.clone(), part }
    }
}

/// A part of a campaign with a sealed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// The logarithm.
    Solution,
    /// The stay of one engine.
    Session(u32),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solution => f.write_str("solution"),
            Self::Session(number) => write!(f, "session-{number:08x}"),
        }
    }
}

/// A sealed file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    program: String,
    format: u32,
    /// The campaign's checksum.
    campaign: String,
    /// What it says.
    pub part: Part,
}

/// The content of a sealed file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The logarithm.
    Solution(Found),
    /// The stay of one engine.
    Session(Session),
}

/// The logarithm and its proof: two walks that met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// `k`, in decimal.
    pub k: String,
    /// The starts of the walks.
    pub starts: [u64; 2],
    /// The hash of their common end.
    pub hash: u64,
}

impl Found {
    /// The logarithm of a meeting.
    pub(super) fn new(k: &BigUint, points: [Distinguished; 2]) -> Self {
        Self { k: k.to_string(), starts: points.map(|point| point.start), hash: points[0].hash }
    }

    /// The logarithm, if it is one: files are not trusted.
    pub fn logarithm(&self, problem: &Problem) -> Option<BigUint> {
        self.k.parse().ok().filter(|k| problem.is_solution(k))
    }
}

/// What one engine has done, from its start to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its number: the upper half of the numbers of its starts.
    pub number: u32,
    /// The engine.
    pub device: String,
    /// The machine, by [`warpmp_campaign::host`]; sessions of version 0.1 do not have it. Nothing hangs on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Walks at once.
    pub walks: u64,
    /// When it began: seconds since 1970.
    pub begun: u64,
    /// Seconds of work.
    pub seconds: f64,
    /// Steps of all walks.
    pub steps: u64,
    /// Points in its file.
    pub points: u64,
    /// Did it end in order?
    pub ended: bool,
}

impl Work for Specification {
    type Unit = Unit;
    type Certificate = Certificate;

    const PROGRAM: &'static str = PROGRAM;
    const FORMAT: u32 = FORMAT;

    fn units(&self) -> u128 {
        1 + (1 << 32)
    }

    fn unit(&self, number: u128) -> Option<Unit> {
        match number {
            0 => Some(Unit::Solution),
            number => u32::try_from(number - 1).ok().map(Unit::Session),
        }
    }

    fn number(&self, unit: &Unit) -> Option<u128> {
        match unit {
            Unit::Solution => Some(0),
            Unit::Session(number) => Some(1 + u128::from(*number)),
        }
    }

    fn name(unit: &Unit) -> String {
        unit.to_string()
    }

    fn named(name: &str) -> Option<Unit> {
        if name == "solution" {
            return Some(Unit::Solution);
        }
        u32::from_str_radix(name.strip_prefix("session-")?, 16).ok().map(Unit::Session)
    }

    fn unit_of(certificate: &Certificate) -> Unit {
        match &certificate.part {
            Part::Solution(_) => Unit::Solution,
            Part::Session(session) => Unit::Session(session.number),
        }
    }

    fn check(&self) -> Result<(), Damage> {
        let bits = self.problem().map_err(|error| Damage::foreign("curve:", error.to_string()))?.group.p.bits();
        self.settings.check(bits).map_err(|error| Damage::foreign("settings:", error.to_string()))
    }

    fn check_certificate(_: &Certificate) -> Result<(), Damage> {
        Ok(())
    }

    fn fits(&self, certificate: &Certificate) -> Result<(), Damage> {
        if certificate.campaign == self.definition {
            return Ok(());
        }
        Err(Damage::Misplaced { what: format!("walk {}", certificate.campaign) })
    }

    fn agree(one: &Certificate, other: &Certificate) -> bool {
        match (&one.part, &other.part) {
            (Part::Solution(one), Part::Solution(other)) => one.k == other.k,
            (one, other) => one == other,
        }
    }

    fn describe(&self) -> String {
        let Settings { branch_bits, distinguished_bits, seed } = self.settings;
        let name = match self.problem() {
            Ok(problem) if problem.name.is_empty() => format!("a curve of {} bits", problem.group.p.bits()),
            Ok(problem) => problem.name,
            Err(error) => error.to_string(),
        };
        let walk = self.definition.get(..8).unwrap_or_default();
        format!("{name}, seed {seed}, {branch_bits} branch bits, {distinguished_bits} distinguished bits, walk {walk}…")
    }

    fn describe_certificates(certificates: &[Certificate]) -> String {
        let mut walks: Vec<&str> = certificates.iter().map(|certificate| certificate.campaign.as_str()).collect();
        walks.sort_unstable();
        walks.dedup();
        format!("walk {}", walks.join(", "))
    }
}
