//! Newton's iteration: an inverse of short numbers, then of numbers about twice as long each time.

use super::sequence::Steps;
use super::source::Number;

/// An inverse, as Newton's iteration computes it.
pub(super) trait Inverse {
    /// The longest number that kernels of short numbers invert, in limbs.
    fn short_limbs(steps: &Steps) -> u32;

    /// The limbs of the inverse that a step makes an inverse of `limbs` limbs from.
    fn limbs_before(limbs: u32) -> u32;

    /// The limbs of the number that decide about an inverse of `limbs` limbs.
    fn deciding(number: Number, limbs: u32) -> Number;

    /// The inverse of a short number, which has a row of its own.
    fn first(steps: &mut Steps, number: Number, to: Number);

    /// The inverse of `number` from the shorter inverse `known`.
    fn step(steps: &mut Steps, number: Number, known: Number, to: Number);

    /// The inverse of a number.
    fn of(steps: &mut Steps, number: Number) -> Number {
        let mut lengths = vec![number.limbs];
        while let Some(&length) = lengths.last().filter(|&&length| length > Self::short_limbs(steps)) {
            lengths.push(Self::limbs_before(length));
        }
        let result = steps.reserve(number.limbs);
        let mark = steps.mark();
        let mut known: Option<Number> = None;
        for &length in lengths.iter().rev() {
            let is_last = length == number.limbs;
            let to = if is_last { result } else { steps.reserve(length) };
            let part = Self::deciding(number, length);
            match known {
                None => {
                    let part = steps.row(part);
                    Self::first(steps, part, to);
                }
                Some(known) => Self::step(steps, part, known, to),
            }
            known = Some(to);
        }
        steps.release(mark);
        result
    }
}
