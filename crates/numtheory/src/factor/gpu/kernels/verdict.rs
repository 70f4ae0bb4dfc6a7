//! `ecm_verdict`: the end of each lane as a word.
//!
//! computes   a word of [`mark`] from the divisors of both stages, the status of the curve and the status of the check. The first reason counts: no
//!            curve, a slip, the first stage, the second one
//! requires   divisors of at least 1; where there was no second stage, those of the first one again
//! cost       `8·L + 8` bytes are read and 4 are written
//!
//! Most lanes find nothing. With their words alone, the host reads 4 bytes of such a lane in place of two divisors and a status, and
//! compares no limbs.

use warpmp_kernel::build::{Builder, Emit};
use warpmp_launch::Frame;

use super::mark;

pub(super) fn body(b: &mut Builder, frame: &Frame) {
    let unit = frame.spread.small(b, 1);
    let mut word = b.copy(mark::NOTHING);
    // The last reason first: an earlier one takes its place.
    for (operand, mark) in [(1, mark::SECOND), (0, mark::FIRST)] {
        let divisor = frame.load(b, operand);
        let different: Vec<_> = divisor.iter().zip(&unit).map(|(&limb, &unit)| b.xor(limb, unit)).collect();
        let nothing = frame.spread.is_zero(b, &different);
        word = b.select(word, mark, nothing);
    }
    for (operand, mark) in [(3, mark::SLIP), (2, mark::FAULT)] {
        let status = frame.load(b, operand);
        let fine = frame.spread.is_zero(b, &status);
        word = b.select(word, mark, fine);
    }
    frame.store_status(b, word);
}
