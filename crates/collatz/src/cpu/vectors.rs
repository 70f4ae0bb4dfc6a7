//! The input and the output of vectors, and their limits: the same whether the processor has vectors or not.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only vectors read"))]

/// Bits of a value in vectors: two digits of 52.
pub(super) const VALUE_BITS: u32 = 104;

/// `d` of the delays' table of jumps.
pub(super) const DELAY_BASE_BITS: u32 = 12;
/// Delays of a call at most: places have 16 bits.
pub(super) const MOST_DELAYS: usize = 0xf000;
/// Values from here on may exceed [`VALUE_BITS`] in two of these jumps, which multiply by less than `(3/2)^24 < 2^15`.
pub(super) const DELAY_LIMIT_BITS: u32 = 89;

/// Starts on their way below themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent<'a> {
    /// B in the low half, C in the high half of each of `2^base_bits` words.
    pub(super) jumps: &'a [u64],
    /// `d`, 4 to 20.
    pub(super) base_bits: u32,
    /// Bits of the largest start. Values from here on may exceed [`VALUE_BITS`] in two jumps.
    pub(super) limit_bits: u32,
}

impl Descent<'_> {
    /// The limit for jumps that multiply by less than `2^growth`.
    pub(super) const fn limit(growth: u32) -> u32 {
        VALUE_BITS - 2 * growth
    }
}

/// Jumps that a start of the depth-first scheme may have taken when it is given back.
pub(super) const MOST_JUMPS: u32 = 64;

/// A start that was given back: its value, its height and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    pub(super) value: u128,
    pub(super) rho: i32,
    pub(super) offset: u64,
}

/// The largest heights `ρ` at which starts may go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Highest {
    /// Two jumps from there stay within [`VALUE_BITS`]. A start above is given back.
    pub(super) width: i32,
    /// A start above that survives the next jump is reported.
    pub(super) report: i32,
}
