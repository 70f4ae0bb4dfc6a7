//! The default convergence scheme.
//!
//! 1. A depth-first walk over the low `L` bits under rules 1, 3 and 4 gives *leaves*: residue `B`, state `v = T^L(B)`, odd
//!    steps `c`. Every start is `n = B + a·2^L` with `T^L(n) = v + a·3^c`. ([`Leaf`], [`leaves`])
//! 2. For each `c` one bit for every `i` mod `2^S`: does a value `≡ 3^c·i mod 2^S` survive `S` further steps? As
//!    `v + a·3^c ≡ 3^c·(v·3^(−c) + a)`, the bits of the candidates `a, a + 1, …` are *neighbours*, from index `v·3^(−c) mod 2^S` on.
//!    ([`Lookahead`])
//! 3. Rule 5 is a pattern of bits with period 9 in `a`.
//! 4. Bits that are set in both are *tested*: table jumps of `d` steps from `T^L(n)`. The first `⌊S/d⌋` are taken without a question: the
//!    look-ahead promised survival. Then a lane carries `ρ ≥ log2(y/n)`, and a threshold for the low `d` bits of `y`
//!    tells whether the next `d` steps can survive under rules 1, 3 and 4. ([`Jumps`])
//!
//! The walk for the look-ahead starts afresh at depth `L`: it remembers neither the even run nor the odd run it begins in.
//!
//! Source: depth-first search and rules 3, 4: V. Angeltveit (2026); look-ahead by bit vectors: ours.

mod leaves;
mod lookahead;
mod thresholds;

use serde::{Deserialize, Serialize};

pub use leaves::{Class, Leaf, leaves};
pub use lookahead::{Lookahead, OVERLAP_WORDS};
pub use thresholds::{Jump, Jumps, RHO_ONE, log2_up};

use crate::{
    error::{Error, Result},
    power::min_odd,
};

/// What defines the set of tested starts: nothing else does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `L`: depth of the leaves, 0 to 37.
    pub leaf_bits: u32,
    /// `S` of the main classes, 6 to 37.
    pub lookahead_bits: u32,
    /// `S` of all other classes, 6 to 37.
    pub rare_lookahead_bits: u32,
    /// The classes `c = c0 … c0 + main_classes − 1` are the main ones, where `c0` is the least possible `c` at depth `L`.
    pub main_classes: u32,
}

impl Plan {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn new(leaf_bits: u32, lookahead_bits: u32, rare_lookahead_bits: u32, main_classes: u32) -> Result<Self> {
        Error::parameter("leaf bits", leaf_bits.into(), 0, 37)?;
        Error::parameter("look-ahead bits", lookahead_bits.into(), 6, 37)?;
        Error::parameter("look-ahead bits of rare classes", rare_lookahead_bits.into(), 6, 37)?;
        Error::parameter("main classes", main_classes.into(), 0, 64)?;
        Ok(Self { leaf_bits, lookahead_bits, rare_lookahead_bits, main_classes })
    }

    /// What suits the CPU engine for windows of about `count` numbers.
    pub fn for_cpu(count: u128) -> Self {
        // A few hundred upper numbers a leaf: fewer, and making the leaves takes longer than testing.
        let bits = 127 - count.max(1).leading_zeros().min(127);
        let leaf_bits = bits.saturating_sub(8).min(32);
        let lookahead_bits = bits.saturating_sub(14).clamp(12, 26);
        Self { leaf_bits, lookahead_bits, rare_lookahead_bits: lookahead_bits.min(18), main_classes: 5 }
    }

    /// What suits a GPU with so much free memory for windows of about `count` numbers.
    pub fn for_gpu(count: u128, free_bytes: u64) -> Self {
        let bits = 127 - count.max(1).leading_zeros().min(127);
        let leaf_bits = bits.saturating_sub(10).clamp(6, 34);
        // Of each of nine main classes 2^S bits; half of the memory is enough for everything else.
        let room = (free_bytes / 2 / 9).max(1 << 16).ilog2() + 3;
        let lookahead_bits = room.min(36).min(leaf_bits + 2).max(6);
        Self { leaf_bits, lookahead_bits, rare_lookahead_bits: lookahead_bits.min(24), main_classes: 9 }
    }

    /// `S` for the class of leaves with `odd_steps` odd steps.
    pub fn lookahead(&self, odd_steps: u32) -> u32 {
        let first = self.least_odd_steps();
        if odd_steps < first + self.main_classes { self.lookahead_bits } else { self.rare_lookahead_bits }
    }

    /// The least `c` that a leaf can have: `3^c ≥ 2^L`.
    pub fn least_odd_steps(&self) -> u32 {
        min_odd(self.leaf_bits as usize) as u32
    }
}
