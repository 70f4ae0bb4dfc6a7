//! Factors in bulk: P−1, P+1 and elliptic curves (ECM), both stages, many integers and curves at a time.
//!
//! ```text
//! search ─► stages: jobs ─► lanes ─► first stage ─► divisor, or residue ─► second stage ─► verdicts
//!
//! curve      curves by GMP-ECM's families          exponent   lcm(1 … B1), the same for all lanes
//! line       doubling and adding by x alone        pairing    baby steps, giant steps, pairs
//! first      the first stage of a group            second     the second stage of a group
//! ring       residues in vectors or words          cpu        groups on all cores
//! engine     the cores, or a device                gpu        both stages on a device
//! save       GMP-ECM's save lines                  search     many curves on many integers
//! levels     bounds and curves for D digits        trial      small factors
//! jobs       jobs as a run reads them              places     jobs by kind
//! meter      progress of a stage                   whole      whole factorisations by rising bounds
//! explain    the plan of a curve                   campaign   curves in a directory
//! draw       parameters of curves from a seed
//! ```
//!
//! All three methods compute on a *line*, where a point is known by its `x`. The first stage multiplies a start by `lcm(1, …, B1)`. It
//! finds a prime factor `p` if the order of the start modulo `p` divides this number. The second stage also finds `p` if one
//! prime of `(B1, B2]` is missing.
//!
//! source: Pollard 1974 (P−1); Williams 1982 (P+1); Lenstra 1987, Montgomery 1987 (ECM); Montgomery, Kruppa 2008 (second stages).

pub mod campaign;
mod cpu;
mod curve;
mod draw;
mod engine;
mod explain;
mod exponent;
mod first;
mod gpu;
mod jobs;
mod lane;
mod levels;
mod line;
mod meter;
mod modular;
mod pairing;
mod places;
mod primes;
mod ring;
mod save;
mod search;
mod second;
mod stages;
mod trial;
mod whole;

use num_bigint::BigUint;

use crate::error::Result;
use crate::watch::Watch;
use lane::Line;
use stages::Stages;

pub use curve::{Family, Sigma, SigmaError};
pub use engine::{Engine, device_kernels};
pub use explain::{CurveLayout, CurvePlan, SecondStage};
pub use gpu::LostDevice;
pub use levels::{Effort, LEVELS, Level, RATIO, expected_curves, probability};
pub use modular::common_divisor;
pub use save::{SaveLine, SaveLineError};
pub use search::{Attempts, Factorisation, Find, Outcome, Plan, Told, resume_on, search_on};
pub use whole::{Composite, Depth, Factors, Known, Origin, Prime, factor, factor_on};

/// The bounds of both stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    b1: u64,
    b2: u64,
}

/// Why two numbers are no bounds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// The least bound is 3.
    #[error("B1 is 3 or more, not {0}")]
    TooSmall(u64),
    /// See [`Bounds::MOST`].
    #[error("B2 is at most 2^44, not {0}")]
    TooLarge(u64),
    /// See [`Bounds::MOST_FIRST`].
    #[error("B1 is at most 2^34, not {0}: the exponent of the first stage is held in memory")]
    FirstTooLarge(u64),
}

impl Bounds {
    /// The largest bound of a second stage.
    pub const MOST: u64 = 1 << 44;
    /// The largest bound of a first stage: its exponent has 1.44 bits for each unit, and the primes for it take twice as much memory.
    pub const MOST_FIRST: u64 = 1 << 34;

    /// Bounds of the first and the second stage. A `b2` up to `b1` means no second stage.
    ///
    /// # Errors
    /// [`BoundsError`].
    pub fn new(b1: u64, b2: u64) -> Result<Self, BoundsError> {
        if b1 < 3 {
            return Err(BoundsError::TooSmall(b1));
        }
        match (b1, b2) {
            (large, _) if large > Self::MOST_FIRST => Err(BoundsError::FirstTooLarge(large)),
            (_, large) if large > Self::MOST => Err(BoundsError::TooLarge(large)),
            _ => Ok(Self { b1, b2: b2.max(b1) }),
        }
    }

    /// The first stage's bound.
    pub const fn b1(self) -> u64 {
        self.b1
    }

    /// The second stage's bound; the first one's if there is no second stage.
    pub const fn b2(self) -> u64 {
        self.b2
    }
}

/// A method, and the group in which it looks for a factor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The elliptic curve of a family.
    Ecm(Sigma),
    /// The curve `B·y² = x³ + A·x² + x` with this `A`. Its start must be given.
    Curve(BigUint),
    /// Pollard's P−1.
    Pm1,
    /// Williams' P+1; P−1 in about half of all cases.
    Pp1,
}

impl Method {
    /// Its usual name: ECM, P-1, P+1.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ecm(_) | Self::Curve(_) => "ECM",
            Self::Pm1 => "P-1",
            Self::Pp1 => "P+1",
        }
    }

    const fn line(&self) -> Line {
        match self {
            Self::Ecm(_) | Self::Curve(_) => Line::Curve,
            Self::Pm1 => Line::Power,
            Self::Pp1 => Line::Lucas,
        }
    }
}

/// An integer and one attempt to find a factor of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The integer: odd, above 1.
    pub n: BigUint,
    /// The method.
    pub method: Method,
    /// Where the first stage begins; none for the start of a family's curve.
    pub start: Option<BigUint>,
    /// The first stage is done up to this bound; 1 for a new start.
    pub done: u64,
}

impl Job {
    /// A curve of a family, from its start.
    pub const fn ecm(n: BigUint, sigma: Sigma) -> Self {
        Self { n, method: Method::Ecm(sigma), start: None, done: 1 }
    }

    /// P−1 from a base.
    pub const fn pm1(n: BigUint, base: BigUint) -> Self {
        Self { n, method: Method::Pm1, start: Some(base), done: 1 }
    }

    /// P+1 from a start.
    pub const fn pp1(n: BigUint, start: BigUint) -> Self {
        Self { n, method: Method::Pp1, start: Some(start), done: 1 }
    }
}

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A divisor that is neither 1 nor N.
    Divisor {
        /// The divisor, which need not be prime.
        divisor: BigUint,
        /// The stage that found it.
        stage: Stage,
    },
    /// All primes of N were found at once: smaller bounds or another curve separate them.
    Whole(Stage),
    /// No divisor. The residue of the first stage goes on with larger bounds.
    Nothing(BigUint),
    /// The parameter or the start gives no group modulo this N: take another one.
    NoGroup,
    /// The first stage's check failed: the processor made a mistake. Repeat the job.
    Slipped,
    /// N is even or below 3.
    Unsuitable,
}

/// Runs jobs: a verdict for each.
///
/// ```
/// use warpmp_numtheory::factor::{Bounds, Job, Stage, Verdict, run};
///
/// let n = 14_517_577_769_892_627_371_u64;
/// let job = Job::ecm(n.into(), "3:2227979599".parse()?);
/// let verdict = run(&[job], Bounds::new(200, 10_000)?, &())?;
/// assert_eq!(verdict, [Verdict::Divisor { divisor: 858_109_519_u64.into(), stage: Stage::Second }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub fn run(jobs: &[Job], bounds: Bounds, watch: &dyn Watch) -> Result<Vec<Verdict>> {
    run_on(&Engine::cpu(), jobs, bounds, watch)
}

/// [`run`] on an engine.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped), [`Error::Engine`](crate::Error::Engine).
pub fn run_on(engine: &Engine, jobs: &[Job], bounds: Bounds, watch: &dyn Watch) -> Result<Vec<Verdict>> {
    Stages::new(engine, bounds).run(jobs, watch)
}

/// The verdicts other than [`Verdict::Nothing`], each with the place of its job, rising.
///
/// A GPU computes tens of millions of short curves a second. Of a curve that finds nothing it then brings back one word, and the host makes
/// nothing: use [`run_on`] only for residues that are to be kept.
///
/// ```
/// use warpmp_numtheory::factor::{Bounds, Engine, Job, Stage, Verdict, finds_on};
///
/// let n = 14_517_577_769_892_627_371_u64;
/// let jobs = ["3:5", "3:2227979599"].map(|sigma| Ok(Job::ecm(n.into(), sigma.parse()?)));
/// let jobs: Vec<Job> = jobs.into_iter().collect::<Result<_, Box<dyn std::error::Error>>>()?;
/// let finds = finds_on(&Engine::cpu(), &jobs, Bounds::new(200, 10_000)?, &())?;
/// assert_eq!(finds, [(1, Verdict::Divisor { divisor: 858_109_519_u64.into(), stage: Stage::Second })]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`run_on`].
pub fn finds_on(engine: &Engine, jobs: &[Job], bounds: Bounds, watch: &dyn Watch) -> Result<Vec<(usize, Verdict)>> {
    Stages::new(engine, bounds).finds(jobs, watch)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rayon::prelude::*;

    use super::cpu::Instructions;
    use super::*;

    /// A row of the known answers.
    pub(super) struct Known {
        pub(super) job: Job,
        pub(super) bounds: Bounds,
        factor: BigUint,
        stage: u32,
        /// The residue of the first stage, if it finds nothing.
        pub(super) residue: Option<BigUint>,
    }

    /// The rows with integers of at most `bits` bits.
    pub(super) fn known(bits: u64) -> Vec<Known> {
        let text = include_str!("../../tests/data/ecm_known.csv");
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let row = |row: &str| {
            let fields: Vec<&str> = row.split(',').collect();
            let number = |i: usize| fields[i].parse::<BigUint>().unwrap();
            let bound = |i: usize| fields[i].parse().unwrap();
            let n = number(1);
            let job = match fields[3] {
                "ecm" => Job::ecm(n, format!("{}:{}", fields[4], fields[5]).parse().unwrap()),
                "pm1" => Job::pm1(n, number(5)),
                _ => Job::pp1(n, number(5)),
            };
            Known {
                job,
                bounds: Bounds::new(bound(6), bound(7)).unwrap(),
                factor: number(2),
                stage: fields[8].parse().unwrap(),
                residue: fields[10].strip_prefix("0x").and_then(|hex| BigUint::parse_bytes(hex.as_bytes(), 16)),
            }
        };
        rows.map(row).filter(|row| row.job.n.bits() <= bits).collect()
    }

    pub(super) fn expected(known: &Known) -> Verdict {
        match known.stage {
            0 => Verdict::Nothing(known.residue.clone().unwrap()),
            1 => Verdict::Divisor { divisor: known.factor.clone(), stage: Stage::First },
            2 => Verdict::Divisor { divisor: known.factor.clone(), stage: Stage::Second },
            _ => Verdict::Whole(Stage::First),
        }
    }

    /// Every row in the stage that it names, with the residue that GMP-ECM saves, by all instructions of this processor. Rows with the same bounds run beside each other.
    #[test]
    fn known_answers() {
        let mut runs: BTreeMap<[u64; 2], Vec<Known>> = BTreeMap::new();
        for row in known(1024) {
            runs.entry([row.bounds.b1, row.bounds.b2]).or_default().push(row);
        }
        let instructions: Vec<Instructions> = Instructions::available(1024).into_iter().collect();
        runs.into_par_iter().for_each(|([b1, _], rows)| {
            // The fastest instructions do all rows.
            for &instructions in instructions.iter().take(if b1 <= 2000 { usize::MAX } else { 1 }) {
                let all: Vec<_> = rows.iter().map(|row| (row, expected(row))).collect();
                let residue = |row: &Known| row.residue.clone().map(Verdict::Nothing);
                let first: Vec<_> = rows.iter().filter_map(|row| Some((row, residue(row)?))).collect();
                for (cases, bounds) in [(all, rows[0].bounds), (first, Bounds::new(b1, 0).unwrap())] {
                    let jobs: Vec<Job> = cases.iter().map(|(row, _)| row.job.clone()).collect();
                    let mut stages = Stages::new(&Engine::cpu(), bounds);
                    stages.instructions = Some(instructions);
                    for ((row, expected), verdict) in cases.into_iter().zip(stages.run(&jobs[..], &()).unwrap()) {
                        assert_eq!(verdict, expected, "{instructions:?} {:?}", row.job);
                    }
                }
            }
        });
    }

    /// Lanes of different lengths, lines and bounds do not disturb each other, in any number.
    #[test]
    fn many_lanes_are_as_single_ones() {
        let rows: Vec<Known> = known(256).into_iter().filter(|row| row.bounds.b1 <= 2000).collect();
        let bounds = Bounds::new(300, 15_000).unwrap();
        let alone: Vec<Verdict> =
            rows.iter().map(|row| run(std::slice::from_ref(&row.job), bounds, &()).unwrap().remove(0)).collect();
        for lanes in [1, 7, 8, 9, 31, 33] {
            let jobs: Vec<Job> = rows.iter().cycle().take(lanes).map(|row| row.job.clone()).collect();
            let verdicts: Vec<Verdict> = alone.iter().cycle().take(lanes).cloned().collect();
            assert_eq!(run(&jobs, bounds, &()).unwrap(), verdicts, "{lanes} lanes");
        }
    }

    /// A first stage in two parts has the residue of the whole one.
    #[test]
    fn residues_go_on() {
        for row in known(256).into_iter().filter(|row| row.residue.is_some() && row.bounds.b1 <= 2000) {
            let half = Bounds::new(row.bounds.b1 / 2, 0).unwrap();
            let Verdict::Nothing(x) = run(std::slice::from_ref(&row.job), half, &()).unwrap().remove(0) else {
                continue;
            };
            let line = SaveLine { method: row.job.method.clone(), b1: half.b1, n: row.job.n.clone(), x, x0: None };
            let read: SaveLine = line.to_string().parse().unwrap();
            assert_eq!(read, line);
            assert_eq!(run(&[read.job()], row.bounds, &()).unwrap(), [expected(&row)], "{line}");
        }
    }

    #[test]
    fn jobs_without_a_group() {
        let bounds = Bounds::new(100, 1000).unwrap();
        let verdict = |job: Job| run(&[job], bounds, &()).unwrap().remove(0);
        let sigma: Sigma = "3:7".parse().unwrap();
        for n in [0_u32, 1, 2, 1000] {
            assert_eq!(verdict(Job::ecm(n.into(), sigma.clone())), Verdict::Unsuitable, "{n}");
        }
        // 2·1009·… as a start shares 1009 with N; a start that is 0 has no group.
        let n = BigUint::from(1009_u32 * 10_007);
        let divisor = BigUint::from(1009_u32);
        assert_eq!(verdict(Job::pm1(n.clone(), &divisor * 2_u32)), Verdict::Divisor { divisor, stage: Stage::First });
        assert_eq!(verdict(Job::pm1(n.clone(), n.clone())), Verdict::NoGroup);
        // sigma = 2^32 gives d = 1.
        assert_eq!(
            verdict(Job {
                method: Method::Curve(2_u32.into()),
                start: Some(3_u32.into()),
                ..Job::pm1(n, 2_u32.into())
            }),
            Verdict::NoGroup
        );
        assert_eq!(Bounds::new(2, 5), Err(BoundsError::TooSmall(2)));
        assert_eq!(Bounds::new(3, 1 << 50), Err(BoundsError::TooLarge(1 << 50)));
    }

    #[test]
    fn stopped_work() {
        struct Never;
        impl Watch for Never {
            fn go_on(&self) -> bool {
                false
            }
        }
        let row = known(128).remove(0);
        assert!(matches!(run(&[row.job], row.bounds, &Never), Err(crate::Error::Stopped)));
    }
}
