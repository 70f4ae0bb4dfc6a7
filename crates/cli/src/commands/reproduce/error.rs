//! What can go wrong in `warpmp bench --reproduce`.

use crate::error::{FAILED, USAGE};

/// A table that cannot be reproduced, or an experiment whose results are wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReproduceError {
    #[error("no table is called '{name}'; there are {known}, and all")]
    UnknownTable { name: String, known: String },
    #[error("several documents have a table '{name}': give one of {meant}")]
    AmbiguousTable { name: String, meant: String },
    #[error(
        "{table} holds times, and the simulator has none: use --device cuda or cpu, or reproduce counts: \
             candar:I, dissertation:3.1, dissertation:3.2, dissertation:4.1 to 4.3, epfl"
    )]
    SimulatorTime { table: String },
    #[error("lane {lane}: {kernel} is wrong\n  found {found}, expected {expected}")]
    WrongExperiment { kernel: String, lane: u64, found: String, expected: String },
}

impl ReproduceError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownTable { .. } | Self::AmbiguousTable { .. } | Self::SimulatorTime { .. } => USAGE,
            Self::WrongExperiment { .. } => FAILED,
        }
    }
}
