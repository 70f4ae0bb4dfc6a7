//! What the lanes of a chunk have in common.

use super::kernels::Class;
use crate::factor::lane::{Lane, Parameter};

/// The kind of a lane: lanes of one kind have the same kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) class: Class,
    /// Does the device compute the curve from Suyama's parameter?
    pub(super) suyama: bool,
}

impl Kind {
    /// The kind of a lane. `first`: is it for the first stage, where curves may start at 2?
    pub(super) fn of(lane: &Lane<'_>, first: bool) -> Self {
        let two = first && lane.x.bits() == 2 && !lane.x.bit(0);
        let word = matches!(lane.parameter, Parameter::Word(_));
        let suyama = matches!(lane.parameter, Parameter::Suyama(_));
        Self { class: Class::of(lane.n.bits(), word, two), suyama }
    }

    /// The kind of new curves of family 3.
    pub(super) const fn of_word(bits: u64) -> Self {
        Self { class: Class::of(bits, true, true), suyama: false }
    }
}
