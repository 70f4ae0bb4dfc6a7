//! `warpmp resume`: a campaign goes on. Its directory says which one it is.

use std::path::Path;

use warpmp_collatz::campaign::program;

use super::{collatz, ecdlp};
use crate::{
    args::Resume,
    error::{Error, Result},
};

/// A directory whose campaign cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResumeError {
    #[error("{folder}: no campaign; `warpmp collatz verify` and `warpmp ecdlp solve` begin one with -o {folder}")]
    NoCampaign { folder: String },
    #[error("{folder}/campaign.json is broken; the command that began the campaign writes it again")]
    Broken { folder: String },
}

/// Runs the command.
pub(super) fn run(args: &Resume) -> Result<()> {
    let folder = args.folder.to_string_lossy();
    let found = program(Path::new(&args.folder)).map_err(|error| match error {
        error if error.is_not_found() => ResumeError::NoCampaign { folder: folder.to_string() }.into(),
        error => Error::from(error),
    })?;
    match found.as_deref().and_then(|program| program.split(' ').next()) {
        Some("warpmp-collatz") => collatz::resume(Path::new(&args.folder), args.device, args.summary),
        Some("warpmp-curves") => ecdlp::resume(&folder, args.device, args.summary),
        _ => Err(ResumeError::Broken { folder: folder.into() }.into()),
    }
}
