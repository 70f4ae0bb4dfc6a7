//! What can go wrong in `warpmp bench --reproduce`.

use warpmp_papers::Error as PapersError;

use crate::error::{FAILED, USAGE};

/// A table that was not reproduced.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReproduceError {
    #[error(
        "{table} holds times, and the simulator has none: use --device cuda or cpu, or reproduce counts: \
             candar:I, dissertation:3.1, dissertation:3.2, dissertation:4.1 to 4.3, epfl"
    )]
    SimulatorTime { table: String },
    #[error(transparent)]
    Papers(Box<PapersError>),
}

impl ReproduceError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::SimulatorTime { .. } => USAGE,
            Self::Papers(error) => match **error {
                PapersError::UnknownTable { .. } | PapersError::AmbiguousTable { .. } => USAGE,
                _ => FAILED,
            },
        }
    }
}
