//! The errors of this crate.

use std::path::PathBuf;

use num_bigint::BigUint;

/// The result of what may fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a problem is refused, or a search ends without a logarithm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a curve file.
    #[error("not a curve file: {reason}; expected an object with p, a, b, n, P and Q, numbers or strings")]
    Text {
        /// What is wrong, with its place.
        reason: String,
    },
    /// A name that no built-in curve has.
    #[error("no built-in curve is called '{name}'; there are {known}")]
    UnknownCurve {
        /// The name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The parameters do not describe a logarithm that can be searched for.
    #[error("the curve is refused: {0}")]
    Refused(#[from] Refusal),
    /// The settings of a walk do not fit the curve.
    #[error("{what} is {found}; it may be {least} to {most}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The least value.
        least: u64,
        /// The largest value.
        most: u64,
    },
    /// Two batches have different numbers of lanes.
    #[error("one batch has {left} lanes and the other one {right}; both need the same number")]
    Lanes {
        /// Lanes of the first batch.
        left: usize,
        /// Lanes of the second batch.
        right: usize,
    },
    /// A batch of points belongs to another curve.
    #[error("the points belong to another curve; make them by the curve's own method `points`")]
    OtherCurve,
    /// A lane of a sum is not on the curve.
    #[error("the point of lane {lane} is not on the curve, so the sum of all lanes has no value")]
    Lane {
        /// The lane.
        lane: usize,
    },
    /// A device failed.
    #[error(transparent)]
    Device(#[from] warpmp_device::Error),
    /// A search has no engine.
    #[error("a search needs at least one engine")]
    NoEngine,
    /// A walk on a device differs from its replay.
    #[error(
        "the walk of start {start} was reported at another point than its replay reaches; the device computes wrongly"
    )]
    Replay {
        /// The number of the start.
        start: u64,
    },
    /// A file of a campaign, or the directory.
    #[error(transparent)]
    Campaign(#[from] warpmp_campaign::Error),
    /// A run of the index is damaged or lost. The index is made again from the points.
    #[error("{}: damaged", path.display())]
    IndexDamaged {
        /// The run.
        path: PathBuf,
    },
    /// Directories that hold different points of one session.
    #[error("{} and {} hold different points of one session; one of them is damaged", one.display(), other.display())]
    Differs {
        /// A file.
        one: PathBuf,
        /// The other file.
        other: PathBuf,
    },
    /// A thread of the search panicked.
    #[error("a part of the search stopped unexpectedly; please report this as a bug")]
    Bug,
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

/// What a curve's parameters violate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The field is too small or too large.
    #[error("p has {bits} bits; it may have {least} to {most}")]
    FieldSize {
        /// Bits of `p`.
        bits: u64,
        /// The fewest bits.
        least: u64,
        /// The most bits.
        most: u64,
    },
    /// The modulus is composite.
    #[error("p = {p} is not prime")]
    FieldNotPrime {
        /// The modulus.
        p: BigUint,
    },
    /// The discriminant is zero.
    #[error("the curve is singular: 4a³ + 27b² = 0 modulo p")]
    Singular,
    /// A point is not on the curve.
    #[error("{name} is not on the curve")]
    NotOnCurve {
        /// The point's name.
        name: &'static str,
    },
    /// The order is composite.
    #[error("n = {n} is not prime; solve in the subgroup of each prime factor by itself (Pohlig and Hellman)")]
    OrderNotPrime {
        /// The order.
        n: BigUint,
    },
    /// A point's order is not `n`.
    #[error("n·{name} is not the point at infinity")]
    WrongOrder {
        /// The point's name.
        name: &'static str,
    },
    /// No multiple of `n` is a possible number of points.
    #[error("no multiple of n = {n} is a possible number of points: Hasse's bound is |N − p − 1| ≤ 2√p")]
    Hasse {
        /// The order.
        n: BigUint,
    },
    /// The base point is the point at infinity.
    #[error("P is the point at infinity")]
    NoBase,
    /// The order is the field's prime.
    #[error(
        "the curve is anomalous, n = p: the logarithm is found in polynomial time by the method of Smart, Satoh, Araki and Semaev"
    )]
    Anomalous,
}
