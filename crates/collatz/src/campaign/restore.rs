//! The description of a campaign, and the way back when it is lost.
//!
//! Certificates hold everything but the range: window, scheme, program and rules. Who goes on with a campaign names its range again. So a
//! description that is not there, or is broken, is written anew, on one condition: every certificate in the directory that is in good order is
//! one of the campaign that was named. No certificate counts for more than it did, and the broken file is kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Campaign, SPECIFICATION, Specification, json_files, name, named};
use crate::{
    certificate::{Certificate, Damage, load, unseal},
    error::{Error, Result},
};

/// What a directory has of a campaign.
#[derive(Debug)]
pub enum Begun {
    /// Nothing.
    Nothing,
    /// A campaign.
    Campaign(Specification),
    /// The description is lost or broken; these trusted certificates are there.
    Certificates(Vec<Certificate>),
}

/// How a description was written anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Certificates that were there, all of the campaign.
    pub certificates: usize,
    /// Where the broken file is now; none if it was lost.
    pub aside: Option<PathBuf>,
}

/// Trusted certificates without a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    /// How many.
    pub certificates: usize,
    /// The first start that they cover.
    pub from: u128,
    /// The last one.
    pub last: u128,
    /// Starts of the largest window.
    pub window_count: u128,
}

/// Why there is no description.
pub(super) enum Lost {
    /// It is not there.
    Missing(io::Error),
    /// It is of no use.
    Broken(Damage),
}

/// Reads the description.
///
/// # Errors
/// [`Error::File`] if there is no reading it, [`Error::NotTrusted`] if it is in good order, but another program's or another rule set's.
pub(super) fn description(folder: &Path) -> Result<Result<Specification, Lost>> {
    let path = folder.join(SPECIFICATION);
    let read = match unseal::<Specification>(&path) {
        Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Err(Lost::Missing(source)));
        }
        read => read?,
    };
    match read.and_then(|specification| specification.is_ours().map(|()| specification)) {
        Ok(specification) => Ok(Ok(specification)),
        Err(damage) if damage.is_broken() => Ok(Err(Lost::Broken(damage))),
        Err(damage) => Err(Error::NotTrusted { path, damage }),
    }
}

impl Campaign {
    /// What a directory has of a campaign; nothing if there is no directory.
    ///
    /// # Errors
    /// As [`Campaign::open`], but for what is lost.
    pub fn begun(folder: &Path) -> Result<Begun> {
        Ok(match description(folder)? {
            Ok(specification) => Begun::Campaign(specification),
            Err(_) if !folder.try_exists().map_err(Error::file(folder))? => Begun::Nothing,
            Err(_) => match certificates(folder)?.trusted {
                none if none.is_empty() => Begun::Nothing,
                certificates => Begun::Certificates(certificates),
            },
        })
    }
}

impl Lost {
    /// What to tell somebody who only looks.
    pub(super) fn error(self, folder: &Path) -> Result<Error> {
        let path = folder.join(SPECIFICATION);
        let found = if folder.is_dir() { certificates(folder)?.trusted } else { Vec::new() };
        let windows = || found.iter().map(|certificate| certificate.window);
        let (Some(first), Some(end)) = (windows().min(), windows().map(|window| window.end()).max()) else {
            return Ok(match self {
                Self::Missing(source) => Error::File { path, source },
                Self::Broken(damage) => Error::NotTrusted { path, damage },
            });
        };
        let reason = match self {
            Self::Missing(_) => "not there".into(),
            Self::Broken(damage) => damage.to_string(),
        };
        Ok(Error::LostDescription {
            path,
            reason,
            remains: Box::new(Remains {
                certificates: found.len(),
                from: first.from(),
                last: end - 1,
                window_count: windows().map(|window| window.count()).max().unwrap_or(0),
            }),
        })
    }

    /// Makes place for the campaign's description, if the certificates are all of this campaign. None: there was nothing before.
    pub(super) fn restore(self, campaign: &Campaign) -> Result<Option<Restored>> {
        let path = campaign.folder.join(SPECIFICATION);
        let Found { trusted: found, foreign } = certificates(&campaign.folder)?;
        if let Some((path, damage)) = foreign {
            return Err(Error::NotTrusted { path, damage });
        }
        if let Some(other) = found.iter().find(|certificate| !campaign.specification.has(certificate)) {
            return Err(Error::OtherCertificates {
                certificate: campaign.path(&other.window),
                range: campaign.specification.range,
                window_count: campaign.specification.window_count.clone(),
            });
        }
        let aside = match self {
            Self::Missing(_) if found.is_empty() => return Ok(None),
            Self::Missing(_) => None,
            Self::Broken(_) => Some(set_aside(&path)?),
        };
        Ok(Some(Restored { certificates: found.len(), aside }))
    }
}

/// Certificates of a directory in good order.
#[derive(Default)]
struct Found {
    /// Trusted ones, each under its own name, whatever campaign they are of.
    trusted: Vec<Certificate>,
    /// The first one that is not to be trusted.
    foreign: Option<(PathBuf, Damage)>,
}

fn certificates(folder: &Path) -> Result<Found> {
    let mut found = Found::default();
    for path in json_files(folder)?.into_iter().filter(|path| named(path).is_some()) {
        match load(&path)? {
            Ok(certificate) if path.ends_with(name(&certificate.window)) => found.trusted.push(certificate),
            Err(damage) if !damage.is_broken() => found.foreign = found.foreign.or(Some((path, damage))),
            _ => {}
        }
    }
    Ok(found)
}

/// Moves a file to a name that no file has; that name.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut aside = path.with_file_name(format!("{name}.aside"));
    let mut number = 1_u64;
    loop {
        // A link that leads nowhere has its name, too.
        match fs::symlink_metadata(&aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(source) => return Err(Error::File { path: aside, source }),
            Ok(_) => {}
        }
        number += 1;
        aside = path.with_file_name(format!("{name}.aside-{number}"));
    }
    fs::rename(path, &aside).map_err(Error::file(path))?;
    Ok(aside)
}
