//! Limbs of 32 bits as digits of 30 bits, and back.
//!
//! 16 digits have the bits of 15 limbs: one block.

/// The bits of a digit.
pub(crate) const DIGIT_BITS: usize = 30;

const DIGIT: u32 = u32::MAX >> 2;
const LIMBS: usize = 15;
const DIGITS: usize = LIMBS + 1;

/// The digits of a block of limbs. Digit `k` has the upper `2 k` bits of limb `k − 1` and the lower `30 − 2 k` of limb `k`.
fn to_digits(limbs: &[u32; LIMBS]) -> [u32; DIGITS] {
    let mut digits = [0; DIGITS];
    digits[0] = limbs[0] & DIGIT;
    for k in 1..LIMBS {
        digits[k] = (limbs[k - 1] >> (32 - 2 * k) | limbs[k] << (2 * k)) & DIGIT;
    }
    digits[LIMBS] = limbs[LIMBS - 1] >> 2;
    digits
}

/// The limbs of a block of digits.
fn to_limbs(digits: &[u32; DIGITS]) -> [u32; LIMBS] {
    let mut limbs = [0; LIMBS];
    for k in 0..LIMBS {
        limbs[k] = digits[k] >> (2 * k) | digits[k + 1] << (30 - 2 * k);
    }
    limbs
}

/// The first elements of a slice, and zeros.
fn padded<const N: usize>(part: &[u32]) -> [u32; N] {
    let mut block = [0; N];
    block[..part.len()].copy_from_slice(part);
    block
}

/// Writes the digits of a number with these limbs. Digits and limbs that one side has no room for must be zero.
pub(crate) fn write_digits(digits: &mut [u32], limbs: &[u32]) {
    convert(digits, limbs, to_digits);
}

/// Writes the limbs of a number with these digits. Limbs and digits that one side has no room for must be zero.
pub(crate) fn write_limbs(limbs: &mut [u32], digits: &[u32]) {
    convert(limbs, digits, to_limbs);
}

fn convert<const FROM: usize, const TO: usize>(
    to: &mut [u32],
    from: &[u32],
    block: impl Fn(&[u32; FROM]) -> [u32; TO],
) {
    let whole = (to.len() / TO).min(from.len() / FROM);
    let (whole_to, to) = to.split_at_mut(TO * whole);
    let (whole_from, from) = from.split_at(FROM * whole);
    for (to, from) in whole_to.as_chunks_mut().0.iter_mut().zip(whole_from.as_chunks().0) {
        *to = block(from);
    }
    for (to, from) in to.chunks_mut(TO).zip(from.chunks(FROM)) {
        to.copy_from_slice(&block(&padded(from))[..to.len()]);
    }
}
