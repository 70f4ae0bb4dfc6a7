//! A lane: a modulus and a point on a line.

use num_bigint::BigUint;

use super::modular::inverse;

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
    /// `(A + 2)/4` of a curve; 0 if the word tells it and no core asks for it.
    pub(super) d: BigUint,
    /// The point.
    pub(super) x: BigUint,
    /// The word `σ` of a curve with `d = σ/2³²`.
    pub(super) word: Option<u32>,
}

impl Lane {
    /// The same with `d`, whatever tells it.
    pub(super) fn with_d(&self) -> Self {
        let mut lane = self.clone();
        if let Some(word) = self.word
            && let Ok(inverse) = inverse(&((BigUint::from(1_u32) << 32) % &self.n), &self.n)
        {
            lane.d = inverse * word % &self.n;
        }
        lane
    }
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
