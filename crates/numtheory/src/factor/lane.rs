//! A lane: a modulus and a point on a line.

use std::borrow::Cow;

use num_bigint::BigUint;

use super::curve::{Curve, Sigma};
use super::modular::inverse;

/// The groups in which a stage computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Line {
    /// Montgomery curves: ECM.
    Curve,
    /// Powers: P−1.
    Power,
    /// Lucas sequences: P+1.
    Lucas,
}

/// Where the curve of a lane comes from.
#[derive(Clone, Debug)]
pub(super) enum Parameter<'j> {
    /// `d = (A + 2)/4` of a curve; 0 for the other lines.
    D(Cow<'j, BigUint>),
    /// `d = σ/2³²` with a word `σ`. A device divides.
    Word(u32),
    /// Suyama's curve of this `σ` below the modulus. A device computes `d` and, for the first stage, the start.
    Suyama(Cow<'j, Sigma>),
}

/// The start of the curves with a word.
pub(super) const TWO: u32 = 2;

/// A modulus and a point. It borrows the numbers of its job: there are millions a second.
#[derive(Clone, Debug)]
pub(super) struct Lane<'j> {
    /// Odd, above 1.
    pub(super) n: &'j BigUint,
    pub(super) parameter: Parameter<'j>,
    /// The point; 0 if the device computes it.
    pub(super) x: Cow<'j, BigUint>,
}

impl<'j> Lane<'j> {
    /// A lane of which everything is known.
    pub(super) fn new(n: &'j BigUint, d: BigUint, x: Cow<'j, BigUint>) -> Self {
        Self { n, parameter: Parameter::D(Cow::Owned(d)), x }
    }

    /// The curve of a word. A device divides.
    pub(super) fn of_word(n: &'j BigUint, word: u32) -> Self {
        Self { n, parameter: Parameter::Word(word), x: Cow::Owned(TWO.into()) }
    }

    /// The same lane, which borrows its numbers from this one.
    pub(super) fn borrowed(&self) -> Lane<'_> {
        self.after(&self.x)
    }

    /// The lane of the second stage, from the residue of the first one.
    pub(super) fn after<'l>(&'l self, residue: &'l BigUint) -> Lane<'l> {
        let parameter = match &self.parameter {
            Parameter::D(d) => Parameter::D(Cow::Borrowed(d)),
            Parameter::Word(word) => Parameter::Word(*word),
            Parameter::Suyama(sigma) => Parameter::Suyama(Cow::Borrowed(sigma)),
        };
        Lane { n: self.n, parameter, x: Cow::Borrowed(residue) }
    }

    /// `d`, which the cores need. A device has found no fault of the curve before.
    pub(super) fn d(&self) -> Cow<'_, BigUint> {
        match &self.parameter {
            Parameter::D(d) => Cow::Borrowed(d),
            Parameter::Word(word) => {
                let radix = (BigUint::from(1_u32) << 32) % self.n;
                Cow::Owned(inverse(&radix, self.n).map_or_else(|_| BigUint::ZERO, |inverse| inverse * *word % self.n))
            }
            Parameter::Suyama(sigma) => Cow::Owned(Curve::of(sigma, self.n).map_or(BigUint::ZERO, |curve| curve.d)),
        }
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
