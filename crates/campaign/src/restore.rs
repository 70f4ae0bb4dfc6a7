//! A lost specification, written again.
//!
//! Certificates hold everything but the extent of the campaign, and the next call names that again. So a specification that is lost or
//! broken is written again, on one condition: every certificate in good order belongs to the campaign that is asked for. No certificate
//! counts for more than before, and the broken file is kept.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::{
    campaign::{Campaign, SPECIFICATION, file_name, files, is_certificate, load, named, set_aside},
    error::{Damage, Error, Result},
    seal::unseal,
    work::Work,
};

/// The traces of a campaign in a directory.
#[derive(Debug)]
pub enum Begun<W: Work> {
    /// Nothing.
    Nothing,
    /// A campaign.
    Campaign(W),
    /// The specification is lost or broken; these trusted certificates are there.
    Certificates(Vec<W::Certificate>),
}

/// How a specification was written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Certificates of the campaign that are there.
    pub certificates: usize,
    /// The new name of the broken file; none if it was lost.
    pub aside: Option<PathBuf>,
}

impl fmt::Display for Restored {
    /// A sentence without its subject, the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.aside {
            Some(aside) => write!(f, "was broken (now {})", aside.display())?,
            None => f.write_str("was lost")?,
        }
        let certificates = self.certificates;
        write!(
            f,
            "; written anew, {certificates} certificate{}",
            if certificates == 1 { " fits it" } else { "s fit it" }
        )
    }
}

/// Trusted certificates without a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// How many there are.
    pub certificates: usize,
    /// Their campaign in words.
    pub summary: String,
}

/// Why there is no specification.
pub(crate) enum Lost {
    /// It is not there.
    Missing(io::Error),
    /// It is of no use.
    Broken(Damage),
}

/// Reads the specification.
///
/// # Errors
/// [`Error::File`] if it cannot be read, [`Error::NotTrusted`] if it is in good order, but of another program version or rule set.
pub(crate) fn specification<W: Work>(folder: &Path) -> Result<Result<W, Lost>> {
    let path = folder.join(SPECIFICATION);
    let read = match unseal::<W, W>(&path) {
        Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Err(Lost::Missing(source)));
        }
        read => read?,
    };
    match read.and_then(|specification| specification.check().map(|()| specification)) {
        Ok(specification) => Ok(Ok(specification)),
        Err(damage) if damage.is_broken() => Ok(Err(Lost::Broken(damage))),
        Err(damage) => Err(Error::NotTrusted { path, damage }),
    }
}

impl<W: Work> Campaign<W> {
    /// Looks for a campaign in a directory, which may not exist.
    ///
    /// # Errors
    /// As [`Campaign::open`], except that a lost specification is no error.
    pub fn begun(folder: &Path) -> Result<Begun<W>> {
        Ok(match specification(folder)? {
            Ok(specification) => Begun::Campaign(specification),
            Err(_) if !folder.try_exists().map_err(Error::file(folder))? => Begun::Nothing,
            Err(_) => match certificates::<W>(folder)?.trusted {
                none if none.is_empty() => Begun::Nothing,
                certificates => Begun::Certificates(certificates),
            },
        })
    }
}

impl Lost {
    /// Is there no file and no certificate: does the campaign begin now?
    pub(crate) fn is_new<W: Work>(&self, folder: &Path) -> Result<bool> {
        Ok(matches!(self, Self::Missing(_)) && certificates::<W>(folder)?.trusted.is_empty())
    }

    /// The error for a call that does not restore the specification.
    pub(crate) fn error<W: Work>(self, folder: &Path) -> Result<Error> {
        let path = folder.join(SPECIFICATION);
        let found = if folder.is_dir() { certificates::<W>(folder)?.trusted } else { Vec::new() };
        if found.is_empty() {
            return Ok(match self {
                Self::Missing(source) => Error::File { path, source },
                Self::Broken(damage) => Error::NotTrusted { path, damage },
            });
        }
        let reason = match self {
            Self::Missing(_) => "not there".into(),
            Self::Broken(damage) => damage.to_string(),
        };
        let remains = Remains { certificates: found.len(), summary: W::describe_certificates(&found) };
        Ok(Error::LostSpecification { path, reason, remains, if_extended: W::IF_EXTENDED })
    }

    /// Makes place for the campaign's specification, if all certificates are of this campaign. None: there was nothing before.
    pub(crate) fn restore<W: Work>(self, campaign: &Campaign<W>) -> Result<Option<Restored>> {
        let Found { trusted: found, foreign } = certificates::<W>(&campaign.folder)?;
        if let Some((path, damage)) = foreign {
            return Err(Error::NotTrusted { path, damage });
        }
        let work = &campaign.specification;
        let fits = |certificate: &W::Certificate| work.fits(certificate).is_ok() && work.has(&W::unit_of(certificate));
        if let Some(other) = found.iter().find(|certificate| !fits(certificate)) {
            let certificate = campaign.path(&W::unit_of(other));
            return Err(Error::OtherCertificates { certificate, asked: work.describe(), if_extended: W::IF_EXTENDED });
        }
        let aside = match self {
            Self::Missing(_) if found.is_empty() => return Ok(None),
            Self::Missing(_) => None,
            Self::Broken(_) => Some(set_aside(&campaign.folder.join(SPECIFICATION))?),
        };
        Ok(Some(Restored { certificates: found.len(), aside }))
    }
}

/// Certificates of a directory in good order.
struct Found<W: Work> {
    /// Trusted ones, each under its own name, of whatever campaign.
    trusted: Vec<W::Certificate>,
    /// The first one that is not trusted.
    foreign: Option<(PathBuf, Damage)>,
}

fn certificates<W: Work>(folder: &Path) -> Result<Found<W>> {
    let mut found = Found { trusted: Vec::new(), foreign: None };
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !is_certificate(&name) || named::<W>(&path).is_none() {
            continue;
        }
        match load::<W>(&path)? {
            Ok(certificate) if path.ends_with(file_name::<W>(&W::unit_of(&certificate))) => {
                found.trusted.push(certificate);
            }
            Err(damage) if !damage.is_broken() => found.foreign = found.foreign.or(Some((path, damage))),
            _ => {}
        }
    }
    Ok(found)
}
