//! What the lanes of a chunk have in common.

use super::kernels::Class;
use crate::factor::lane::{Lane, Line, Parameter};

/// The kind of a lane: lanes of one kind have the same kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) class: Class,
    /// Does the device compute the curve from Suyama's parameter?
    pub(super) suyama: bool,
}

impl Kind {
    /// The kind of a lane on a line.
    pub(super) fn of(lane: &Lane<'_>, line: Line) -> Self {
        let bits = lane.n.bits();
        match line {
            Line::Curve => {
                let two = lane.x.bits() == 2 && !lane.x.bit(0);
                let word = matches!(lane.parameter, Parameter::Word(_));
                let suyama = matches!(lane.parameter, Parameter::Suyama(_));
                Self { class: Class::of(bits, word, two), suyama }
            }
            Line::Power | Line::Lucas => Self { class: Class::of_line(bits, line), suyama: false },
        }
    }

    /// What a step of a lane weighs: the square of its limbs.
    pub(super) fn weight(&self) -> u64 {
        u64::from(self.class.limbs).pow(2)
    }

    /// The kind of new attempts on a line; of curves those of family 3.
    pub(super) const fn of_new(bits: u64, line: Line) -> Self {
        let class = match line {
            Line::Curve => Class::of(bits, true, true),
            Line::Power | Line::Lucas => Class::of_line(bits, line),
        };
        Self { class, suyama: false }
    }
}
