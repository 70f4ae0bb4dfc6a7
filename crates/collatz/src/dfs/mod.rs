//! The default convergence scheme.
//!
//! 1. A depth-first walk over the low `L` bits under rules 1, 3 and 4 gives *leaves*: residue `B`, state `v = T^L(B)`, odd
//!    steps `c`. Every start is `n = B + a·2^L` with `T^L(n) = v + a·3^c`. ([`Leaf`], [`leaves`])
//! 2. For each `c` there is one bit for every `i` mod `2^S`: does a value `≡ 3^c·i mod 2^S` survive `S` further steps? As
//!    `v + a·3^c ≡ 3^c·(v·3^(−c) + a)`, the bits of the candidates `a, a + 1, …` are *neighbours*, from index `v·3^(−c) mod 2^S`
//!    on. ([`Lookahead`])
//! 3. Rule 5 is a pattern of bits with period 9 in `a`.
//! 4. A start whose bit is set in both is *tested* by table jumps of `d` steps from `T^L(n)`. The first `⌊S/d⌋` jumps need no check:
//!    the look-ahead has shown that the start survives them. Then a lane carries `ρ ≥ log2(y/n)`, and a threshold for the low `d` bits
//!    of `y` tells whether the start can survive the next `d` steps under rules 1, 3 and 4. ([`Jumps`])
//!
//! The walk for the look-ahead starts afresh at depth `L`: it remembers neither the even run nor the odd run in which it begins.
//!
//! Source: depth-first search and rules 3, 4: V. Angeltveit (2026); look-ahead by bit vectors: ours.

mod leaves;
mod lookahead;
mod thresholds;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use leaves::{Class, Leaf, leaves};
pub use lookahead::{Lookahead, OVERLAP_WORDS};
pub(crate) use thresholds::Walk;
pub use thresholds::{Jump, Jumps, MARGIN, RHO_ONE, log2_up};

use crate::{
    engine::{Control, Engine, Outcome},
    error::{Error, Result},
    power::min_odd,
    reference,
    scheme::Method,
    window::Window,
};

/// Starts of a window on the CPU: some seconds on two cores.
const CPU_WINDOW: u128 = 1 << 38;
/// Starts of a window on a GPU: a few seconds' work, and a multiple of the units that it works in. Each GPU shall have several.
const GPU_WINDOW: u128 = 1 << 50;
const LEAST_GPU_WINDOW: u128 = 1 << 44;
const WINDOWS_A_GPU: u128 = 4;

/// Starts of a window that suits an engine: see [`Method::window_count`]. It depends on no plan; plans depend on it.
pub fn window_count(gpu_share: Option<u128>) -> u128 {
    let gpu_window = |share: u128| 1 << (share / WINDOWS_A_GPU).max(1).ilog2();
    gpu_share.map_or(CPU_WINDOW, |share| gpu_window(share).clamp(LEAST_GPU_WINDOW, GPU_WINDOW))
}

/// Main classes on a GPU: together they have nearly all leaves.
const MAIN_CLASSES: u64 = 9;
/// Memory of a GPU for tables, reports and modules.
const RESERVED_BYTES: u64 = 1 << 28;
/// Seconds in which an H200 makes the vectors of 36 bits; each bit less halves them.
const MAKING_SECONDS: f64 = 22.0;

/// Numbers a second of an H200 below 2⁶⁴ with leaves of 34 bits, measured at these look-aheads. Only the proportions matter; they are the
/// same at 2⁷¹. At 36 bits a third jump needs no check: hence the last step.
const GPU_RATES: [(f64, f64); 6] =
    [(24.0, 2.40e14), (28.0, 2.69e14), (31.0, 2.88e14), (33.0, 2.99e14), (35.0, 3.08e14), (36.0, 3.70e14)];

/// The rate on straight lines between the measured points.
fn gpu_rate(ahead: u32) -> f64 {
    let ahead = f64::from(ahead);
    let after = GPU_RATES.iter().position(|point| point.0 >= ahead).unwrap_or(GPU_RATES.len() - 1).max(1);
    let ((x0, y0), (x1, y1)) = (GPU_RATES[after - 1], GPU_RATES[after]);
    y0 + (ahead - x0) / (x1 - x0) * (y1 - y0)
}

/// The parameters that define the set of tested starts. Nothing else does.
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

    /// The plan that suits the CPU engine for windows of about `count` numbers.
    pub fn for_cpu(count: u128) -> Self {
        // A few hundred upper numbers a leaf: fewer, and making the leaves takes longer than testing.
        let bits = 127 - count.max(1).leading_zeros().min(127);
        let leaf_bits = bits.saturating_sub(8).min(32);
        let lookahead_bits = bits.saturating_sub(14).clamp(12, 26);
        Self { leaf_bits, lookahead_bits, rare_lookahead_bits: lookahead_bits.min(18), main_classes: 5 }
    }

    /// The plan that suits a GPU with `free_bytes` of free memory for windows of about `window` numbers, `total` in all.
    ///
    /// A longer look-ahead tests fewer starts, but its vectors must be made first. This plan takes the least time for both. On
    /// an H200 that is `S` = 24 for a window of 2⁴⁴, 31 for 2⁵², and 36 from 2⁵⁷ on.
    pub fn for_gpu(window: u128, total: u128, free_bytes: u64) -> Self {
        let bits = 127 - window.max(1).leading_zeros().min(127);
        let leaf_bits = bits.saturating_sub(10).clamp(6, 34);
        // Each main class has 2^S bits; of the residues about 1/190 are leaves of 24 bytes.
        let fits = |ahead: u32| (MAIN_CLASSES << (ahead - 3)) + (1 << leaf_bits >> 3) + RESERVED_BYTES <= free_bytes;
        let most = (6..=36.min(leaf_bits + 2)).rev().find(|&ahead| fits(ahead)).unwrap_or(6);
        let seconds = |ahead: u32| total as f64 / gpu_rate(ahead) + MAKING_SECONDS * 2_f64.powi(ahead as i32 - 36);
        let quickest = (24.min(most)..=most).min_by(|&a, &b| seconds(a).total_cmp(&seconds(b)));
        let lookahead_bits = quickest.unwrap_or(most);
        let rare_lookahead_bits = lookahead_bits.min(24);
        Self { leaf_bits, lookahead_bits, rare_lookahead_bits, main_classes: MAIN_CLASSES as u32 }
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

impl Method for Plan {
    fn check(&self) -> Result<()> {
        Self::new(self.leaf_bits, self.lookahead_bits, self.rare_lookahead_bits, self.main_classes).map(drop)
    }

    fn run(&self, engine: &mut dyn Engine, window: &Window, control: &Control) -> Result<Outcome> {
        engine.dfs(self, window, control)
    }

    fn recompute(&self, window: &Window, control: &Control) -> Result<Outcome> {
        reference::recompute(*self, window, control)
    }

    /// The look-ahead's vectors of all classes.
    fn cpu_bytes(&self) -> u64 {
        (self.least_odd_steps()..=self.leaf_bits).map(|odd_steps| 1 << (self.lookahead(odd_steps) - 3)).sum()
    }

    fn window_count(&self, gpu_share: Option<u128>) -> u128 {
        window_count(gpu_share)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { leaf_bits, lookahead_bits, rare_lookahead_bits, main_classes } = self;
        write!(
            f,
            "dfs: leaf bits {leaf_bits}, look-ahead bits {lookahead_bits} for {main_classes} main classes, \
             else {rare_lookahead_bits}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Method as _, Plan};

    #[test]
    fn what_vectors_take() {
        // c from 7 to 10 at depth 10, two of them main classes.
        assert_eq!(Plan::new(10, 20, 12, 2).unwrap().cpu_bytes(), (2 << 17) + (2 << 9));
        // A GPU's plan of 77 GB is none for most machines.
        let plan = Plan::new(34, 36, 24, 9).unwrap();
        assert_eq!(plan.cpu_bytes(), (9 << 33) + (4 << 21));
    }

    #[test]
    fn plans_fit_memory_and_work() {
        const H200: u64 = 140_000_000_000;
        let plan = |window: u32, total: u32, bytes| {
            let plan = Plan::for_gpu(1 << window, 1 << total, bytes);
            (plan.leaf_bits, plan.lookahead_bits)
        };
        // The fastest plan by measurement, for work that pays for the vectors, and the least memory for it.
        assert_eq!([plan(50, 60, H200), plan(50, 60, 80_000_000_000)], [(34, 36); 2]);
        assert_eq!(plan(50, 60, 79_000_000_000), (34, 35));
        assert_eq!([plan(44, 44, H200), plan(52, 52, H200), plan(57, 57, H200)], [(34, 24), (34, 31), (34, 36)]);
        assert_eq!([plan(30, 60, H200), plan(10, 60, H200)], [(20, 22), (6, 8)]);
        // With little memory the vectors are short.
        assert_eq!(plan(50, 60, 1 << 32).1, 30);
        assert_eq!(plan(50, 60, 0).1, 6);
    }
}
