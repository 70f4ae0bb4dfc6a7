//! Balanced digits of a number, read from its bytes.
//!
//! A number `Σ uⱼ·2^(bj)` with digits `0 ≤ uⱼ < 2^b` is `Σ eⱼ·2^(bj)` with
//! `eⱼ = uⱼ − 2^b·[uⱼ ≥ 2^(b−1)] + [uⱼ₋₁ ≥ 2^(b−1)]`, so `|eⱼ| ≤ 2^(b−1)`: a digit needs one bit of its neighbour, and
//! no carry runs. The top digit keeps its value, so nothing is carried out of it: `0 ≤ e ≤ 2^b`.
//!
//! Eight digits are `b` bytes. A window of four bytes holds a digit and the bit below it, as `b + 1 + 7 ≤ 32`.

/// Bits of the longest digits.
pub(super) const MAX_DIGIT_BITS: usize = 20;

/// Zero bytes before a number.
const BEFORE: usize = 1;
/// Bytes that may be read from the beginning of eight digits on, and then some.
const BEHIND: usize = 64;

/// Where the digits are in `b` bytes and the byte before them.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Bits of a digit.
    pub(super) bits: usize,
    /// The first byte of the first and of the fifth digit's window.
    pub(super) first: [usize; 2],
    /// For four digits each: the bytes of their windows, counted from the first one.
    pub(super) bytes: [[u8; 16]; 2],
    /// How far a window is moved up, such that its digit is at the top of 32 bits.
    pub(super) up: [u32; 8],
    /// The place of the bit below the digit in its window.
    pub(super) below: [u32; 8],
}

impl Window {
    /// For digits of `bits` bits, 4 to [`MAX_DIGIT_BITS`].
    pub(super) fn new(bits: usize) -> Self {
        let start = |i: usize| 7 + i * bits;
        let first = [start(0) / 8, start(4) / 8];
        let mut window = Self { bits, first, bytes: [[0; 16]; 2], up: [0; 8], below: [0; 8] };
        for i in 0..8 {
            for byte in 0..4 {
                window.bytes[i / 4][4 * (i % 4) + byte] = (start(i) / 8 - first[i / 4] + byte) as u8;
            }
            window.below[i] = (start(i) % 8) as u32;
            window.up[i] = 32 - window.below[i] - bits as u32 - 1;
        }
        window
    }
}

/// The bytes of a number with room around them.
#[derive(Debug)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    pub(super) fn new(limbs: &[u32]) -> Self {
        let mut bytes = Vec::with_capacity(BEFORE + 4 * limbs.len() + BEHIND);
        bytes.resize(BEFORE, 0);
        bytes.extend(limbs.iter().flat_map(|limb| limb.to_le_bytes()));
        bytes.resize(bytes.len() + BEHIND, 0);
        Self(bytes)
    }

    /// The bytes from the one before digit `8·chunk` on; none if these digits are all zero.
    #[inline(always)]
    pub(super) fn chunk(&self, window: &Window, chunk: usize) -> Option<&[u8; 32]> {
        self.0.get(chunk * window.bits..)?.first_chunk()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digits of a chunk by the formula of this page.
    fn by_windows(bytes: &[u8; 32], window: &Window) -> Vec<i64> {
        let digit = |i: usize| {
            let from = window.first[i / 4];
            let four = |byte: usize| bytes[from + usize::from(window.bytes[i / 4][4 * (i % 4) + byte])];
            let word = u32::from_le_bytes([four(0), four(1), four(2), four(3)]);
            let digit = ((word << window.up[i]) as i32) >> (32 - window.bits);
            i64::from(digit) + i64::from(word >> window.below[i] & 1)
        };
        (0..8).map(digit).collect()
    }

    #[test]
    fn digits_sum_to_the_number() {
        for bits in 4..=MAX_DIGIT_BITS {
            let window = Window::new(bits);
            for limbs in [vec![u32::MAX; 9], vec![0x8000_0000; 9], vec![0x5555_5555; 9], vec![0x9e37_79b9; 9], vec![0]]
            {
                let bytes = Bytes::new(&limbs);
                let chunks = (32 * limbs.len() + 1).div_ceil(8 * bits);
                let mut sum = num_bigint::BigInt::ZERO;
                for chunk in (0..chunks).rev() {
                    for digit in by_windows(bytes.chunk(&window, chunk).unwrap(), &window).into_iter().rev() {
                        assert!(digit.abs() <= 1 << (bits - 1));
                        sum = (sum << bits) + digit;
                    }
                }
                assert_eq!(sum, num_bigint::BigUint::new(limbs).into());
            }
        }
    }
}
