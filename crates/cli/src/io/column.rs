//! Results as integers with a sign, to be written or to be compared with a file. A lane at fault has no result.

use std::borrow::Cow;

use super::text;
use crate::numbers::Numbers;

/// Text that stands in place of a result if the lane has none.
pub(crate) const NO_RESULT: &[u8] = b"-";

/// Results, lane by lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'n> {
    pub(crate) numbers: &'n Numbers,
    /// Are they two's complements?
    pub(crate) signed: bool,
}

/// Has this lane no results, as its status says?
pub(crate) fn is_at_fault(status: Option<&Numbers>, lane: usize) -> bool {
    status.is_some_and(|status| status.lane(lane)[0] != 0)
}

/// Negates limbs that hold a two's complement.
pub(crate) fn negate(limbs: &mut [u32]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
    }
}

/// The negative of limbs that hold a two's complement.
pub(crate) fn negated(mut limbs: Vec<u32>) -> Vec<u32> {
    negate(&mut limbs);
    limbs
}

impl<'n> Column<'n> {
    /// All ones if the lane is a negative two's complement, else zero.
    fn sign(&self, lane: usize) -> u32 {
        let (limbs, bits) = self.numbers.sized_lane(lane);
        let negative = self.signed && limbs[(bits - 1) / 32] >> ((bits - 1) % 32) & 1 == 1;
        if negative { u32::MAX } else { 0 }
    }

    /// The limbs of a lane, with the sign in the bits above its width, and the sign.
    pub(crate) fn extended(&self, lane: usize) -> (Vec<u32>, u32) {
        let ((limbs, bits), sign) = (self.numbers.sized_lane(lane), self.sign(lane));
        let mut limbs = limbs.to_vec();
        if let (1.., Some(top)) = (bits % 32, limbs.last_mut()) {
            *top |= sign << (bits % 32);
        }
        (limbs, sign)
    }

    /// Is the lane negative, and its magnitude.
    pub(crate) fn magnitude(&self, lane: usize) -> (bool, Cow<'n, [u32]>) {
        if self.sign(lane) == 0 {
            return (false, self.numbers.lane(lane).into());
        }
        (true, negated(self.extended(lane).0).into())
    }

    /// Writes a lane as a line of text, with a minus if it is negative.
    pub(crate) fn write(&self, lane: usize, hex: bool, lines: &mut Vec<u8>) {
        let (is_negative, magnitude) = self.magnitude(lane);
        if is_negative {
            lines.push(b'-');
        }
        text::write_line(&magnitude, hex, lines);
    }
}
