//! A lane: a modulus and a point on a line.

use num_bigint::BigUint;

/// The groups in which a stage computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Line {
    /// Montgomery curves: ECM.
    Curve,
    /// Powers: P−1.
    Power,
    /// Lucas sequences: P+1.
    Lucas,
}

/// A modulus and a point.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Odd, above 1.
    pub(super) n: BigUint,
    /// `(A + 2)/4` of a curve.
    pub(super) d: BigUint,
    /// The point.
    pub(super) x: BigUint,
    /// The word `σ` of a curve with `d = σ/2³²` whose point is 2.
    pub(super) word: Option<u32>,
}

/// The end of a first stage.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) x: BigUint,
    /// The denominator; 1 for powers and sequences.
    pub(super) z: BigUint,
    /// Do the ladder's two points still differ by the start?
    pub(super) consistent: bool,
}
