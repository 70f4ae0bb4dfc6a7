//! What the lanes of a chunk have in common.

use super::kernels::{Class, Given};
use crate::factor::lane::{Lane, Line, Parameter};

/// The kind of a lane: lanes of one kind have the same kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::factor) struct Kind {
    pub(super) class: Class,
    /// Does the device compute the curve from Suyama's parameter?
    pub(super) suyama: bool,
}

impl Kind {
    /// The kind of a lane on a line.
    pub(in crate::factor) fn of(lane: &Lane<'_>, line: Line) -> Self {
        let bits = lane.n.bits();
        match line {
            Line::Curve => {
                let two = lane.x.bits() == 2 && !lane.x.bit(0);
                match lane.parameter {
                    Parameter::D(_) => Self { class: Class::of(bits, false, two), suyama: false },
                    Parameter::Word(_) => Self::of_word(bits),
                    Parameter::Suyama(_) => Self::of_suyama(bits),
                }
            }
            Line::Power | Line::Lucas => Self { class: Class::of_line(bits, line), suyama: false },
        }
    }

    /// The kind of curves of family 3 from their words.
    pub(in crate::factor) const fn of_word(bits: u64) -> Self {
        Self { class: Class::of(bits, true, true), suyama: false }
    }

    /// The kind of Suyama's curves from their parameters.
    pub(in crate::factor) const fn of_suyama(bits: u64) -> Self {
        Self { class: Class::of(bits, false, false), suyama: true }
    }

    /// What the rows of the lanes have beside the modulus.
    pub(super) const fn given(&self) -> Given {
        match (self.suyama, self.class.word) {
            (true, _) => Given::Sigma,
            (false, true) => Given::Word,
            (false, false) => Given::Point,
        }
    }

    /// What a step of a lane weighs: the square of its limbs.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.class.limbs).pow(2)
    }

    /// The kind of new attempts on a line; of curves those of family 3.
    pub(super) const fn of_new(bits: u64, line: Line) -> Self {
        match line {
            Line::Curve => Self::of_word(bits),
            Line::Power | Line::Lucas => Self { class: Class::of_line(bits, line), suyama: false },
        }
    }
}
