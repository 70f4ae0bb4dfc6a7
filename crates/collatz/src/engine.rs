//! The seam between engines: what an engine is asked, and what it reports.

use dashu_int::{UBig, ops::BitTest as _};
pub use warpmp_campaign::Control;

use crate::{
    alpha, dfs,
    error::Result,
    heights::{Heights, Peak},
    honda,
    window::Window,
};

/// What was done with a window. Every field is a sum over its starts, or their highest: parts add up, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Starts that were tested, those below the floor not counted.
    pub tested: u64,
    /// Starts below [`crate::rules::FLOOR`], followed step by step.
    pub plain: u64,
    /// Tested starts whose values leave 128 bits, or a narrower width of the engine that it tells apart. They are tested like all
    /// others.
    pub overflowed: u64,
    /// Tested starts that were finished in unbounded arithmetic: those that overflowed, and those that may, or that climb so high
    /// that the window's highest value may be theirs. Which ones these are depends on the engine and on where windows are cut.
    pub finished: u64,
    /// The scheme's checksum mod `2^64`: of `dfs`, `Σ T^L(n)`; of `honda`, the sum of the values at which the
    /// jumps stopped; of `alpha`, the published sum. Starts below the floor add nothing.
    pub checksum: u64,
    /// The highest value of the tested starts, as far as the engine saw it.
    pub heights: Heights,
}

impl Outcome {
    /// Of no start at all: what the sums of an engine begin with that sees the highest values.
    pub fn none() -> Self {
        Self { heights: Heights::none(), ..Self::default() }
    }

    /// Of one start that is followed step by step, for an engine that counts it as tested already.
    ///
    /// # Errors
    /// [`Error::NoDescent`].
    pub(crate) fn finished(start: u128) -> Result<Self> {
        let peak = Peak::of(start)?;
        let overflowed = u64::from(peak.value.bit_len() > 128);
        let heights = Heights::of(Some(peak), UBig::ZERO);
        Ok(Self { finished: 1, overflowed, heights, ..Self::default() })
    }

    /// Adds another part.
    pub fn add(&mut self, other: &Self) {
        self.tested += other.tested;
        self.plain += other.plain;
        self.overflowed += other.overflowed;
        self.finished += other.finished;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.heights.add(&other.heights);
    }
}

/// Does the work of a window. Tables and leaves of a plan are made at its first window and kept for the next ones.
pub trait Engine: Send {
    /// For people and certificates: the device and what else decides the speed.
    fn name(&self) -> String;

    /// Convergence of every start of the window by the depth-first scheme.
    ///
    /// # Errors
    /// [`Error::Stopped`], [`Error::NoDescent`], and the engine's own. Nothing of the window counts then.
    fn dfs(&mut self, plan: &dfs::Plan, window: &Window, control: &Control) -> Result<Outcome>;

    /// Convergence of every start of the window by the dissertation's scheme.
    ///
    /// # Errors
    /// As for [`Engine::dfs`].
    fn honda(&mut self, plan: &honda::Plan, window: &Window, control: &Control) -> Result<Outcome>;

    /// The published checksum over every start of the window; on the CPU, unless the engine has a kernel for it.
    ///
    /// # Errors
    /// As for [`Engine::dfs`], and [`Error::Parameter`] for a start below the floor.
    fn alpha(&mut self, plan: &alpha::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        alpha::run(&*alpha::Sieve::shared(plan)?, window, control)
    }

    /// The delays of `from`, `from + 1`, …, one for each place of `delays`.
    ///
    /// # Errors
    /// As for [`Engine::dfs`], and [`Error::PastLimit`].
    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> Result<()>;
}
