//! What can go wrong in `warpmp tune`.

use crate::error::{FAILED, USAGE};

/// Nothing to measure, or wrong results among the candidates.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TuneError {
    #[error("nothing to tune {place}")]
    Nothing { place: String },
    #[error("{faults} candidate{} left out because of wrong results; please report this as a bug",
            if *faults == 1 { " was" } else { "s were" })]
    WrongCandidates { faults: usize },
}

impl TuneError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Nothing { .. } => USAGE,
            Self::WrongCandidates { .. } => FAILED,
        }
    }
}
