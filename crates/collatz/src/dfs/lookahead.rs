//! Look-ahead: one bit for every value mod `2^S`, in the order in which candidates come.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::{
    power::inverse_pow3,
    rules::{Origin, Path, RuleSet, prefixes},
};

/// Words after the last one that repeat the first ones, so that a run of candidates is read without a wrap.
pub const OVERLAP_WORDS: usize = 17;

/// The look-ahead bits of one class of leaves.
///
/// Bit `i` (of word `i / 64`, from the least significant) is set if a value `≡ 3^c·i mod 2^S`, reached after `L` steps of which
/// `c` were odd, survives `S` further steps under rules 1, 3 and 4, the walk started afresh.
#[derive(Debug)]
pub struct Lookahead {
    bits: u32,
    inverse: u64,
    words: Vec<u64>,
}

impl Lookahead {
    /// The bits for leaves of depth `leaf_bits` with `odd_steps` odd steps; `bits` is `S`, 6 to 37. `2^S / 8` bytes.
    pub fn new(leaf_bits: u32, odd_steps: u32, bits: u32) -> Self {
        let origin = Origin { depth: leaf_bits as usize, odd_steps: odd_steps as usize };
        let inverse = inverse_pow3(odd_steps as usize);
        let mask = (1u64 << bits) - 1;
        // With room for the overlap: vectors may be as large as memory allows, and must not be moved.
        let mut words: Vec<AtomicU64> = Vec::with_capacity((1 << (bits - 6)) + OVERLAP_WORDS);
        words.extend((0..1usize << (bits - 6)).map(|_| AtomicU64::new(0)));
        let set = |path: &Path| {
            let index = path.residue.wrapping_mul(inverse) & mask;
            words[(index >> 6) as usize].fetch_or(1 << (index & 63), Ordering::Relaxed);
        };
        prefixes(bits as usize, origin, RuleSet::ALL)
            .par_iter()
            .for_each(|prefix| prefix.walk(bits as usize, origin, RuleSet::ALL, &mut |path| set(path)));
        let mut words: Vec<u64> = words.into_iter().map(AtomicU64::into_inner).collect();
        for word in 0..OVERLAP_WORDS {
            words.push(words[word % (1 << (bits - 6))]);
        }
        Self { bits, inverse, words }
    }

    /// `S`.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// `2^S / 64` words, and [`OVERLAP_WORDS`] that repeat the first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The index of the bit that belongs to a value: `value·3^(−c) mod 2^S`. Only the value's low `S` bits matter.
    #[inline]
    pub fn index(&self, value: u64) -> u64 {
        value.wrapping_mul(self.inverse) & ((1 << self.bits) - 1)
    }
}
