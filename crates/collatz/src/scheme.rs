//! The schemes of verification: a scheme decides which starts are tested, and defines the checksum.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    alpha, dfs,
    engine::{Control, Engine, Outcome},
    error::Result,
    honda,
    window::Window,
};

/// A scheme. Its plan implements this beside the algorithm. The plan's text, for people, names the parameters.
pub trait Method: fmt::Display {
    /// Are the parameters in range? Files are not trusted.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`].
    fn check(&self) -> Result<()>;

    /// Is the scheme proven for all starts of this window?
    ///
    /// # Errors
    /// [`crate::Error::Parameter`].
    fn admits(&self, _window: &Window) -> Result<()> {
        Ok(())
    }

    /// The outcome that an engine finds.
    ///
    /// # Errors
    /// The engine's.
    fn run(&self, engine: &mut dyn Engine, window: &Window, control: &Control) -> Result<Outcome>;

    /// The outcome that the independent path finds.
    ///
    /// # Errors
    /// [`crate::Error::NoDescent`], [`crate::Error::Stopped`].
    fn recompute(&self, window: &Window, control: &Control) -> Result<Outcome>;

    /// The tables that the figures depend on: their names, and their SHA-256.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`].
    fn tables(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// Memory for tables on the CPU, in bytes, as far as it can be too much for a machine.
    fn cpu_bytes(&self) -> u64 {
        0
    }

    /// Starts of a window that takes an engine some seconds. `gpu_share`: starts of the whole range for each GPU; none on the CPU.
    fn window_count(&self, gpu_share: Option<u128>) -> u128;

    /// The checksum as people know it, after its name.
    fn checksum(&self, sum: u64) -> [String; 2] {
        ["checksum".into(), format!("{sum:016x}")]
    }
}

/// A scheme with all its parameters. They define which starts are tested, and the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Scheme {
    /// The default scheme.
    Dfs(dfs::Plan),
    /// The dissertation's scheme.
    Honda(honda::Plan),
    /// The scheme of the published checksum.
    Alpha(alpha::Plan),
}

impl std::ops::Deref for Scheme {
    type Target = dyn Method;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Dfs(plan) => plan,
            Self::Honda(plan) => plan,
            Self::Alpha(plan) => plan,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
