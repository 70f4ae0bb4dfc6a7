//! `cpu-words`: modular arithmetic of few words of 64 bits, a lane at a time, without vectors.
//!
//! computes   quotients, remainders and modular products; powers and strong tests; for moduli of up to [`DIVISOR_BITS`]; square roots
//! cost       see [`warpmp_simd::words`]; a function is compiled for each number of words
//!
//! ```text
//! division.rs  quotients, remainders, modular products
//! power.rs     powers and strong tests
//! root.rs      square roots
//! ```
#![allow(clippy::inline_always, reason = "an instruction is compiled where its caller has the features")]

mod division;
mod power;
mod root;

pub(super) use division::run as divide;
pub(super) use power::run as power;
pub(super) use root::{LIMIT_BITS as ROOT_BITS, run as sqrt};

/// Words of the longest modulus.
pub(super) const MAX_WORDS: usize = 8;

/// Bits of the widest modulus.
pub(super) const DIVISOR_BITS: usize = 64 * MAX_WORDS;

/// Bits of the widest dividend.
pub(super) const DIVIDEND_BITS: usize = 2 * DIVISOR_BITS;

/// Calls a function that is generic over the number of words for rows of so many limbs, at most twice [`MAX_WORDS`].
macro_rules! by_words {
    ($limbs:expr, $function:ident($($argument:expr),*)) => {
        match $limbs.div_ceil(2) {
            0..=2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 => $function::<7>($($argument),*),
            _ => $function::<{ $crate::cpu::words::MAX_WORDS }>($($argument),*),
        }
    };
}

pub(super) use by_words;
