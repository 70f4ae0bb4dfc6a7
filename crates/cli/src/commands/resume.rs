//! `warpmp resume` and `warpmp status`: a campaign goes on, or tells how far it is. Its directory says which one it is.

use std::path::Path;

use warpmp_collatz::campaign::program;

use super::{collatz, ecdlp, factor};
use crate::{
    args::{Resume, Status},
    error::{Error, Result},
};

/// A directory whose campaign cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResumeError {
    #[error(
        "{folder}: no campaign; `warpmp ecm` begins one with --campaign {folder}, `warpmp collatz verify` and `warpmp ecdlp solve` with -o {folder}"
    )]
    NoCampaign { folder: String },
    #[error("{folder}/campaign.json is broken; the command that began the campaign writes it again")]
    Broken { folder: String },
    #[error("--part: a search for a logarithm has no parts; every process draws its own starts")]
    NoParts,
}

/// The kinds of campaigns.
pub(super) enum Kind {
    Curves,
    Collatz,
    Logarithm,
}

/// The kind of a directory's campaign.
pub(super) fn kind(folder: &Path) -> Result<Kind> {
    let shown = folder.to_string_lossy();
    let found = program(folder).map_err(|error| match error {
        error if error.is_not_found() => ResumeError::NoCampaign { folder: shown.to_string() }.into(),
        error => Error::from(error),
    })?;
    match found.as_deref().and_then(|program| program.split(' ').next()) {
        Some("warpmp-collatz") => Ok(Kind::Collatz),
        Some("warpmp-curves") => Ok(Kind::Logarithm),
        Some("warpmp-numtheory") => Ok(Kind::Curves),
        _ => Err(ResumeError::Broken { folder: shown.into() }.into()),
    }
}

/// Goes on with a campaign.
pub(super) fn run(args: &Resume) -> Result<()> {
    match kind(&args.folder)? {
        Kind::Curves => {
            factor::campaign::resume(&args.folder, args.device.selector, args.sharing.mode(None)?, args.summary)
        }
        Kind::Collatz => collatz::verify::resume(&args.folder, args.device, args.sharing, args.summary),
        Kind::Logarithm if args.sharing.part.is_some() => Err(ResumeError::NoParts.into()),
        Kind::Logarithm => ecdlp::resume(&args.folder.to_string_lossy(), args.device, args.summary),
    }
}

/// Tells how far a campaign is.
pub(super) fn status(args: &Status) -> Result<()> {
    match kind(&args.folder)? {
        Kind::Curves => factor::campaign::status(&args.folder, args.object.json),
        Kind::Collatz => collatz::status(&args.folder, args.object),
        Kind::Logarithm => ecdlp::status(&args.folder.to_string_lossy(), args.object),
    }
}
