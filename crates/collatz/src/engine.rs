//! The seam between engines: the task of an engine, and its report.

use dashu_int::{UBig, ops::BitTest as _};
pub use warpmp_campaign::Control;

use crate::{
    alpha, dfs,
    error::Result,
    heights::{Heights, Peak},
    honda,
    window::Window,
};

/// The result of a window. Every field is a sum over its starts, or their highest value: parts add up, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Starts that were tested, without the starts below the floor.
    pub tested: u64,
    /// Starts below [`crate::rules::FLOOR`], followed step by step.
    pub plain: u64,
    /// Tested starts whose values leave 128 bits, or a narrower width of the engine. They are tested like all other starts.
    pub overflowed: u64,
    /// Tested starts that were finished in unbounded arithmetic: starts that overflow or may overflow, and starts that may have the
    /// window's highest value. Their number depends on the engine and on the places where windows are cut.
    pub finished: u64,
    /// The scheme's checksum mod `2^64`: `Σ T^L(n)` for `dfs`, the sum of the values at which the jumps stop for `honda`, the published
    /// sum for `alpha`. Starts below the floor add nothing.
    pub checksum: u64,
    /// The highest value of the tested starts, as far as the engine saw it.
    pub heights: Heights,
}

impl Outcome {
    /// The outcome of no start. The sums of an engine that sees the highest values begin with it.
    pub fn none() -> Self {
        Self { heights: Heights::none(), ..Self::default() }
    }

    /// The outcome of one start that is followed step by step. The engine has already counted it as tested.
    ///
    /// # Errors
    /// [`crate::Error::NoDescent`].
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

/// Does the work of a window. An engine makes the tables and leaves of a plan at its first window, and keeps them.
pub trait Engine: Send {
    /// The device and everything else that decides the speed, for people and certificates.
    fn name(&self) -> String;

    /// Convergence of every start of the window by the depth-first scheme.
    ///
    /// # Errors
    /// [`crate::Error::Stopped`], [`crate::Error::NoDescent`], and the engine's own. Nothing of the window counts then.
    fn dfs(&mut self, plan: &dfs::Plan, window: &Window, control: &Control) -> Result<Outcome>;

    /// Convergence of every start of the window by the dissertation's scheme.
    ///
    /// # Errors
    /// As for [`Engine::dfs`].
    fn honda(&mut self, plan: &honda::Plan, window: &Window, control: &Control) -> Result<Outcome>;

    /// The published checksum over every start of the window; on the CPU, unless the engine has a kernel for it.
    ///
    /// # Errors
    /// As for [`Engine::dfs`], and [`crate::Error::Parameter`] for a start below the floor.
    fn alpha(&mut self, plan: &alpha::Plan, window: &Window, control: &Control) -> Result<Outcome> {
        alpha::run(&*alpha::Sieve::shared(plan)?, window, control)
    }

    /// The delays of `from`, `from + 1`, …, one for each place of `delays`.
    ///
    /// # Errors
    /// As for [`Engine::dfs`], and [`crate::Error::PastLimit`].
    fn delays(&mut self, from: u128, delays: &mut [u32], control: &Control) -> Result<()>;
}

/// Tables that are kept from window to window: the old ones if they fit, else new ones.
pub(crate) fn kept<T>(
    kept: &mut Option<T>,
    fits: impl Fn(&T) -> bool,
    make: impl FnOnce() -> Result<T>,
) -> Result<&mut T> {
    // The old tables go first: both may not fit in memory.
    let tables = match kept.take().filter(fits) {
        Some(tables) => tables,
        None => make()?,
    };
    Ok(kept.insert(tables))
}
